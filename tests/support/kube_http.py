# SPDX-License-Identifier: Apache-2.0
"""What the stand-ins of an API server have in common: JSON over HTTP on loopback, and nothing in the log."""
import http.server
import json


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def serve(handler):
    """On a free port; prints the URL first."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    print("http://127.0.0.1:%d" % server.server_port, flush=True)
    server.serve_forever()
