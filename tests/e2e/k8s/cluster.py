# SPDX-License-Identifier: Apache-2.0
"""
A real etcd and kube-apiserver on loopback, with certificates of their own, and how they are asked. No controller and no
kubelet runs beside them: what those would do, hands.py does.
"""
import base64
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import time

START_S = 120
ISSUER = "https://kubernetes.default.svc"


class Failed(Exception):
    """The cluster cannot be had: nothing can be said of what was to be proved."""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def until(seconds, condition, step=0.1):
    """What `condition` returns once it is true; else its last answer."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(step)


def openssl(*args, cwd):
    done = subprocess.run(["openssl", *args], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"openssl {args[0]}: {done.stderr.strip()}")


def make_certificates(where):
    """An authority, the server's certificate, an administrator's (the group system:masters), and the key of the tokens."""
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key", "-out", "ca.crt",
            "-subj", "/CN=cluster", "-days", "2", cwd=where)
    for name, subject, extra in (("server", "/CN=kube-apiserver", "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc"),
                                 ("admin", "/O=system:masters/CN=admin", "extendedKeyUsage=clientAuth")):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr",
                "-subj", subject, cwd=where)
        with open(os.path.join(where, f"{name}.ext"), "w", encoding="ascii") as f:
            f.write(extra + "\n")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                "-extfile", f"{name}.ext", "-out", f"{name}.crt", cwd=where)
    openssl("genrsa", "-out", "tokens.key", "2048", cwd=where)
    openssl("rsa", "-in", "tokens.key", "-pubout", "-out", "tokens.pub", cwd=where)


class Cluster:
    def __init__(self, programs, where):
        self.programs, self.where = programs, where
        self.processes = []
        self.kinds = {}
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.kubeconfig = os.path.join(where, "kubeconfig")
        self.ca = os.path.join(where, "ca.crt")

    # --- life ---

    def begin(self, name, *args):
        log = open(os.path.join(self.where, f"{name}.log"), "wb")
        process = subprocess.Popen([os.path.join(self.programs, name), *args], cwd=self.where, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=log, start_new_session=True)
        log.close()
        self.processes.append(process)
        return process

    def start(self):
        make_certificates(self.where)
        etcd, peer = free_port(), free_port()
        self.begin("etcd", "--data-dir", "etcd", "--unsafe-no-fsync", "--listen-client-urls", f"http://127.0.0.1:{etcd}",
                   "--advertise-client-urls", f"http://127.0.0.1:{etcd}", "--listen-peer-urls", f"http://127.0.0.1:{peer}",
                   "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}", "--initial-cluster", f"default=http://127.0.0.1:{peer}")
        self.begin("kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{etcd}", "--bind-address", "127.0.0.1", "--secure-port",
                   str(self.port), "--advertise-address", "127.0.0.1", "--endpoint-reconciler-type", "none", "--tls-cert-file", "server.crt",
                   "--tls-private-key-file", "server.key", "--client-ca-file", "ca.crt", "--service-account-key-file", "tokens.pub",
                   "--service-account-signing-key-file", "tokens.key", "--service-account-issuer", ISSUER, "--authorization-mode", "RBAC",
                   "--enable-admission-plugins", "MutatingAdmissionPolicy,PodSecurity,ServiceAccount",
                   "--allow-privileged", "--service-cluster-ip-range", "10.0.0.0/24", "--profiling=false")
        self.context = ssl.create_default_context(cafile=self.ca)
        self.context.load_cert_chain(os.path.join(self.where, "admin.crt"), os.path.join(self.where, "admin.key"))
        self.plain = ssl.create_default_context(cafile=self.ca)
        if not until(START_S, self.is_ready, 0.3):
            raise Failed(f"the API server is not ready after {START_S} s: {self.last_words('kube-apiserver')}")
        self.write_kubeconfig()
        self.discover()

    def is_ready(self):
        for process in self.processes:
            if process.poll() is not None:
                name = os.path.basename(process.args[0])
                raise Failed(f"{name} ended with {process.returncode}: {self.last_words(name)}")
        try:
            return self.ask("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def last_words(self, name):
        with open(os.path.join(self.where, f"{name}.log"), encoding="utf-8", errors="replace") as f:
            return " | ".join(line.strip() for line in f.readlines()[-5:])

    def stop(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(5)  # it drains its connections for longer than anybody waits for
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self.processes.clear()

    def write_kubeconfig(self):
        data = {}
        for name in ("ca.crt", "admin.crt", "admin.key"):
            with open(os.path.join(self.where, name), "rb") as f:
                data[name] = base64.b64encode(f.read()).decode()
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "k", "contexts": [{"name": "k", "context": {"cluster": "k", "user": "k"}}],
                  "clusters": [{"name": "k", "cluster": {"server": self.url, "certificate-authority-data": data["ca.crt"]}}],
                  "users": [{"name": "k", "user": {"client-certificate-data": data["admin.crt"], "client-key-data": data["admin.key"]}}]}
        with open(self.kubeconfig, "w", encoding="ascii") as f:
            json.dump(config, f)

    # --- asking ---

    def ask(self, method, path, body=None, token=None, kind="application/json"):
        """Status and what was answered; as the administrator, or with a token."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.plain if token else self.context, timeout=30)
        headers = {"Accept": "application/json", **({"Content-Type": kind} if body is not None else {}),
                   **({"Authorization": f"Bearer {token}"} if token else {})}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
        except http.client.HTTPException as e:
            raise OSError(str(e)) from e
        finally:
            connection.close()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, {"message": text.decode(errors="replace")}

    def discover(self):
        """Which path is whose."""
        groups = self.ask("GET", "/apis")[1]["groups"]
        versions = ["v1"] + [v["groupVersion"] for g in groups for v in g["versions"]]
        for version in versions:
            base = f"/api/{version}" if version == "v1" else f"/apis/{version}"
            for r in self.ask("GET", base)[1].get("resources", []):
                if "/" not in r["name"]:
                    self.kinds[version, r["kind"]] = (base, r["name"], r["namespaced"], r["verbs"])

    def path(self, thing, namespace=None, named=True):
        """Of an object, or of a kind: ("v1", "Pod", NAME)."""
        if isinstance(thing, dict):
            version, kind, name = thing["apiVersion"], thing["kind"], thing["metadata"].get("name")
            namespace = thing["metadata"].get("namespace") or namespace or "default"
        else:
            version, kind, name = thing
        base, plural, namespaced, _ = self.kinds[version, kind]
        where = f"{base}/namespaces/{namespace}/{plural}" if namespaced and namespace else f"{base}/{plural}"
        return f"{where}/{name}" if named and name else where

    def create(self, thing, namespace=None, dry=False):
        return self.ask("POST", self.path(thing, namespace, named=False) + ("?dryRun=All" if dry else ""), thing)

    def get(self, version, kind, name, namespace=None):
        status, found = self.ask("GET", self.path((version, kind, name), namespace))
        return found if status == 200 else None

    def items(self, version, kind, namespace=None):
        return self.ask("GET", self.path((version, kind, None), namespace, named=False))[1].get("items", [])

    def delete(self, version, kind, name, namespace=None):
        """At once, with nothing left that waits for a kubelet."""
        status, _ = self.ask("DELETE", self.path((version, kind, name), namespace), {"gracePeriodSeconds": 0, "propagationPolicy": "Background"})
        return status

    def patch(self, version, kind, name, namespace, body, below="", how="merge"):
        return self.ask("PATCH", self.path((version, kind, name), namespace) + below, body, kind=f"application/{how}-patch+json")

    # --- what every cluster has ---

    def namespace(self, name, level="restricted", **labels):
        """With what its controllers would put there: the account `default` and the ConfigMap kube-root-ca.crt."""
        labels = {"pod-security.kubernetes.io/enforce": level, **{k.replace("__", "/").replace("_", "."): v for k, v in labels.items()}}
        status, said = self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        if status != 201:
            raise Failed(f"namespace {name}: {said.get('message')}")
        self.account("default", name)
        with open(self.ca, encoding="ascii") as f:
            self.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": f.read()}}, name)

    def account(self, name, namespace):
        self.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}, namespace)

    def token(self, account, namespace, audience=None, pod=None, seconds=3600):
        """As a kubelet asks for it: bound to the pod, where there is one."""
        spec = {"audiences": [audience or ISSUER], "expirationSeconds": seconds}
        if pod:
            spec["boundObjectRef"] = {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
        status, said = self.ask("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token",
                                {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
        if status != 201:
            raise Failed(f"a token of {namespace}/{account}: {said.get('message')}")
        return said["status"]["token"]

    def may(self, account, namespace, verb, resource, group="", name="", where=None):
        """What the authorizer itself says: its caches follow a change of roles a moment later."""
        spec = {"user": f"system:serviceaccount:{namespace}:{account}",
                "resourceAttributes": {"verb": verb, "resource": resource, "group": group, "name": name, "namespace": namespace if where is None else where}}
        return self.ask("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                        {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec})[1]["status"]["allowed"]
