# SPDX-License-Identifier: Apache-2.0
"""Secrets and ConfigMaps of one namespace as the API server keeps them, on loopback: what init-tls is told and does.
Wants the token of its first argument; writes what it holds to the file of its second after each change; prints its URL."""
import base64
import json
import sys

import kube_http

token, path = sys.argv[1:3]
objects = {}


class Api(kube_http.Handler):
    def serve(self):
        if self.headers.get("Authorization") != "Bearer " + token:
            return self.answer(401, {"kind": "Status", "code": 401})
        key = self.path.split("/api/v1/namespaces/mon/")[1]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.command in ("POST", "PUT"):
            new = json.loads(body)
            name = new["metadata"]["name"]
            kind = key.split("/")[0]
            if self.command == "POST" and kind + "/" + name in objects:
                return self.answer(409, {"kind": "Status", "code": 409})
            for field, text in new.pop("stringData", {}).items():
                new.setdefault("data", {})[field] = base64.b64encode(text.encode()).decode()
            objects[kind + "/" + name] = new
            self.save()
            return self.answer(201, new)
        if key not in objects:
            return self.answer(404, {"kind": "Status", "code": 404})
        if self.command == "DELETE":
            objects.pop(key)
            self.save()
            return self.answer(200, {"kind": "Status"})
        return self.answer(200, objects[key])

    def save(self):
        with open(path, "w") as f:
            json.dump(objects, f, indent=1)

    do_GET = do_POST = do_PUT = do_DELETE = serve


kube_http.serve(Api)
