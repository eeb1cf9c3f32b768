# SPDX-License-Identifier: Apache-2.0
"""What of a Kubernetes API server a TokenReview needs, over HTTPS; and tokens that look like a kubelet's."""
import base64
import http.server
import json
import ssl
import threading
import time


def _part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def make_token(audience, lives_s, pod_uid, name="known", namespace="streaming", account="flink", ends_s=None):
    """The name is what ReviewServer judges by; the signature is not one. ends_s: to the second; else the same for some time."""
    ends_s = ends_s or (int(time.time() / 7200) * 7200 + 7200 + lives_s if lives_s > 0 else 1000)
    claims = {"aud": [audience], "exp": ends_s, "name": name,
              "kubernetes.io": {"namespace": namespace, "pod": {"name": "tm-1", "uid": pod_uid},
                                "serviceaccount": {"name": account, "uid": "1"}}}
    return ".".join([_part({"alg": "RS256"}), _part(claims), "c2lnbmF0dXJl"])


class ReviewServer:
    """Every token is good but "unknown"; "unbound" has no pod, "liar" another account. `hold` delays answers until it is set, `deleted` has pods whose tokens are good no more."""

    def __init__(self, certificate, key):
        outer = self
        self.reviews = []
        self.hold = None
        self.deleted, self.status = set(), None  # UIDs of pods that are gone; what every answer is instead

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.reviews.append({"path": self.path, "authorization": self.headers["Authorization"], "body": body})
                if outer.hold:
                    outer.hold.wait(5)
                payload = body["spec"]["token"].split(".")[1]
                claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
                if outer.status:
                    self.send_response(outer.status)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                answer = json.dumps({**body, "status": outer.judge(claims, body["spec"]["audiences"])}).encode()
                self.send_response(201)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # who asked has gone: that is what some tests are about
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def judge(self, claims, audiences):
        if claims["name"] == "unknown" or claims["kubernetes.io"]["pod"]["uid"] in self.deleted:
            return {"authenticated": False, "error": "token\x1b[31m is not known"}
        extra = {"authentication.kubernetes.io/pod-name": ["tm-1"],
                 "authentication.kubernetes.io/pod-uid": [claims["kubernetes.io"]["pod"]["uid"]]}
        bound = claims["kubernetes.io"]
        account = "other" if claims["name"] == "liar" else bound["serviceaccount"]["name"]
        return {"authenticated": True, "audiences": audiences,
                "user": {"username": f"system:serviceaccount:{bound['namespace']}:{account}", "uid": "1",
                         "extra": {} if claims["name"] == "unbound" else extra}}

    def close(self):
        self.server.shutdown()
        self.server.server_close()
