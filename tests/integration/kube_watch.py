# SPDX-License-Identifier: Apache-2.0
"""What of a Kubernetes API server a watch of pods and Events need, over HTTPS: a stand-in for tests of the collector."""
import http.server
import json
import os
import ssl
import sys
import threading
from urllib.parse import parse_qs, urlparse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import kube_http  # noqa: E402


class WatchServer:
    """Pods by put() and delete(); `refuse` a status for all requests of a kind; cut() ends the watches under way."""

    def __init__(self, certificate, key):
        outer = self
        self.lock = threading.Condition()
        self.version, self.oldest, self.round = 100, 0, 0
        self.pods, self.log, self.events, self.asked = {}, [], {}, []
        self.refuse = {}
        self.raw = []  # lines that are sent as they stand at the next beginning

        class Handler(kube_http.Handler):
            protocol_version = "HTTP/1.1"

            def note(self, kind):
                outer.asked.append({"kind": kind, "path": self.path, "authorization": self.headers["Authorization"]})
                return outer.refuse.get(kind)

            def line(self, text):
                data = text if isinstance(text, bytes) else (json.dumps(text) + "\n").encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()

            def do_GET(self):
                status = self.note("watch")
                if status:
                    return self.answer(status, {"kind": "Status", "code": status})
                outer.watch(self, urlparse(self.path))

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = self.note("event")
                if status:
                    return self.answer(status, {"kind": "Status", "code": status})
                name = body["metadata"]["name"]
                with outer.lock:
                    if name in outer.events:
                        return self.answer(409, {"kind": "Status", "code": 409})
                    outer.events[name] = {"path": self.path, **body}
                self.answer(201, body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def watch(self, handler, url):
        query = parse_qs(url.query)
        namespace = url.path.split("/")[4] if "/namespaces/" in url.path else None
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        with self.lock:
            mine = self.round
            at = int(query.get("resourceVersion", ["0"])[0])
            if at and at < self.oldest:
                handler.line({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}})
                handler.line(b"")
                return
            raw, self.raw = self.raw, []
            for line in raw:
                handler.line(line)
            if not at:
                for pod in self.pods.values():
                    if namespace in (None, pod["metadata"]["namespace"]):
                        handler.line({"type": "ADDED", "object": pod})
                at = self.version
                handler.line({"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {"resourceVersion": str(at)}}})
            while mine == self.round:
                for version, line in self.log:
                    if version > at and namespace in (None, line["object"]["metadata"]["namespace"]):
                        handler.line(line)
                at = self.version
                self.lock.wait(0.2)
        handler.line(b"")

    def put(self, pod, kind=None):
        with self.lock:
            self.version += 1
            uid = pod["metadata"]["uid"]
            pod = json.loads(json.dumps(pod))
            pod["metadata"]["resourceVersion"] = str(self.version)
            kind = kind or ("MODIFIED" if uid in self.pods else "ADDED")
            self.pods[uid] = pod
            if kind == "DELETED":
                del self.pods[uid]
            self.log.append((self.version, {"type": kind, "object": pod}))
            self.lock.notify_all()

    def cut(self, forget=False):
        with self.lock:
            self.round += 1
            if forget:
                self.oldest = self.version = self.version + 10
                self.log = []
            self.lock.notify_all()

    def close(self):
        self.cut()
        self.server.shutdown()
        self.server.server_close()
