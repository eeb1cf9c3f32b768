# SPDX-License-Identifier: Apache-2.0
"""hostile_http.py LOG: two servers on loopback that answer badly. Prints their ports; each request's path goes to LOG.

The first answers by its path (below); nothing may ever reach the second, which redirects point to and proxies are set to.
"""
import gzip
import http.server
import socketserver
import sys
import threading
import time

log = open(sys.argv[1], "a", buffering=1)
GAUGE = 'jvm_buffer_pool_used_bytes{pool="direct"} '
PAGES = {
    "/good": GAUGE + "1048576\n",
    "/nan": GAUGE + "NaN\n",
    "/inf": GAUGE + "+Inf\n",
    "/minf": GAUGE + "-Inf\n",
    "/negative": GAUGE + "-4096\n",
    "/huge": GAUGE + "1e300\n",
    "/overflow": GAUGE + "18446744073709551616\n",
    "/long": GAUGE + "9" * 400 + "\n",
    "/twice": GAUGE + "1048576\n" + GAUGE + "1048576\n",
    "/differ": GAUGE + "1048576\n" + GAUGE + "3145728\n",
    "/half": GAUGE + "10485",
    "/words": GAUGE + "many\n",
    "/nul": GAUGE + "1048576\0\n",
    "/binary": "\x00\x01\x02\xff\xfe\n" * 100,
    "/escape": '\x1b[2J{a="\x1b]0;owned\x07"} 1\n' + 'jvm_buffer_pool_used_bytes{pool="direct\x1b[2J"} 1\n',
    "/empty": "",
    "/line": "a" * 3000000 + "\n",
    "/labels": "x{" + ",".join(f'l{i}="v"' for i in range(5000)) + "} 1\n",
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, body, status=200, kind="text/plain; version=0.0.4", length=None, extra=()):
        body = body if isinstance(body, bytes) else body.encode("latin-1")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for key, value in extra:
            self.send_header(key, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = self.path.split("?")[0]
        log.write(f"{self.server.server_address[1]} {self.path} {self.headers.get('Authorization', '-')}\n")
        self.close_connection = True
        if path in PAGES:
            self.answer(PAGES[path])
        elif path.startswith("/hang"):
            time.sleep(30)
        elif path.startswith("/drip"):
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
            for _ in range(30):
                self.wfile.write(b"#")
                time.sleep(1)
        elif path == "/dripheader":
            for _ in range(30):
                self.wfile.write(b"H")
                time.sleep(1)
        elif path == "/redirect":
            self.answer("", 302, extra=[("Location", f"http://127.0.0.1:{second.server_address[1]}/stolen")])
        elif path == "/metadata":
            self.answer("", 307, extra=[("Location", "http://169.254.169.254/latest/meta-data/")])
        elif path == "/html":
            self.answer("<!DOCTYPE html><html>metrics</html>", kind="text/html")
        elif path == "/hiddenhtml":
            self.answer("\n\n<html>metrics</html>")
        elif path == "/json":
            self.answer('{"metrics": 1}', kind="application/json")
        elif path == "/large":
            self.answer(b"", length=100 << 20)
        elif path == "/flood":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
            for i in range(1600):
                self.wfile.write(b"some_metric_name{label=\"value\"} 1234567890\n" * 1500)
        elif path == "/headers":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for i in range(100000):
                self.wfile.write(b"X-Header: " + b"a" * 1000 + b"\r\n")
        elif path == "/gzip":
            self.answer(gzip.compress(PAGES["/good"].encode()), extra=[("Content-Encoding", "gzip")])
        elif path == "/short":
            self.answer(PAGES["/good"], length=5000)
        elif path == "/cut":
            self.answer(PAGES["/good"], length=20)
        elif path == "/forbidden":
            self.answer("", 403)
        elif path == "/cookie":
            self.answer(PAGES["/good"], extra=[("Set-Cookie", "a=b")])
        elif path == "/garbage":
            self.wfile.write(b"\x1b[2Jnot http at all\r\n\r\n")
        elif path == "/nothing":
            pass
        elif path == "/status":
            self.wfile.write(b"HTTP/1.1 999 \x1b[2J\r\n\r\n")
        else:
            self.answer("", 404)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass


first, second = Server(("127.0.0.1", 0), Handler), Server(("127.0.0.1", 0), Handler)
threading.Thread(target=second.serve_forever, daemon=True).start()
threading.Thread(target=first.serve_forever, daemon=True).start()
print(first.server_address[1], second.server_address[1], flush=True)
time.sleep(100)
