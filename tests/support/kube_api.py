# SPDX-License-Identifier: Apache-2.0
"""As much of the API of Kubernetes as kubectl needs to get a pod and to add an ephemeral container to it, on loopback.
Prints its URL; writes what was patched to the file of its second argument. A stand-in for tests of what kubectl is told."""
import json
import sys

import kube_http

pod = json.load(open(sys.argv[1]))
patched = sys.argv[2]


class Api(kube_http.Handler):
    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/api":
            return self.answer(200, {"kind": "APIVersions", "versions": ["v1"]})
        if path == "/apis":
            return self.answer(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
                {"name": group, "versions": [{"groupVersion": f"{group}/v1", "version": "v1"}]}
                for group in pod.get("apis", [])]})
        if path == "/version":
            return self.answer(200, {"major": "1", "minor": pod.get("minor", "36"), "gitVersion": "v1.%s.0" % pod.get("minor", "36")})
        if path == "/api/v1":
            return self.answer(200, {"kind": "APIResourceList", "groupVersion": "v1", "resources": [
                {"name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod", "shortNames": ["po"],
                 "verbs": ["get", "list", "patch"]},
                {"name": "pods/ephemeralcontainers", "singularName": "", "namespaced": True, "kind": "Pod",
                 "verbs": ["get", "patch", "update"]}]})
        if path == "/api/v1/namespaces/%s/pods/%s" % (pod["metadata"]["namespace"], pod["metadata"]["name"]):
            return self.answer(200, pod)
        return self.answer(404, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404,
                                 "reason": "NotFound", "message": "%s not found" % path})

    def do_PATCH(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(patched, "wb") as f:
            f.write(body)
        return self.answer(200, pod)


kube_http.serve(Api)
