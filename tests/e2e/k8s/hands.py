# SPDX-License-Identifier: Apache-2.0
"""
What controllers and a kubelet would do, done by hand, for none of them runs: pods of Jobs are made, and the real programs are
started as a pod's description says (environment, fields, mounts, tokens that are bound to it), without containers: a mount's path is
a directory of ours in arguments and environment. An image that is not ours is never run.
"""
import base64
import copy
import os
import subprocess
import threading
import time

PROGRAM_S = 60
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def say(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o600)


def field(pod, path):
    meta, spec = pod["metadata"], pod["spec"]
    for kind in ("labels", "annotations"):
        if path.startswith(f"metadata.{kind}['"):
            return meta.get(kind, {}).get(path.split("'")[1], "")
    return {"metadata.name": meta["name"], "metadata.namespace": meta["namespace"], "metadata.uid": meta.get("uid", ""),
            "spec.nodeName": spec.get("nodeName", ""), "spec.serviceAccountName": spec.get("serviceAccountName", "default")}.get(path, "")


SUFFIX = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "k": 10**3, "M": 10**6, "G": 10**9}


def amount(text):
    """Bytes, and whole processors: what a resourceFieldRef gives."""
    text = str(text)
    for suffix, factor in SUFFIX.items():
        if text.endswith(suffix):
            return str(int(float(text[:-len(suffix)]) * factor))
    return str(-(-int(text[:-1]) // 1000)) if text.endswith("m") else text


class Hands:
    def __init__(self, cluster, build, where):
        self.cluster, self.build, self.where = cluster, build, where
        self.instead = [("https://kubernetes.default.svc", cluster.url)]  # addresses that are the cluster's alone
        self.running = []
        self.jobs = {}      # what a Job's program said, by namespace/name
        self.count = 0
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)

    # --- a container's world ---

    def volume(self, pod, volume, where):
        namespace = pod["metadata"]["namespace"]
        os.makedirs(where, exist_ok=True)

        def config(source, secret):
            name = source.get("secretName") or source["name"]
            found = self.cluster.get("v1", "Secret" if secret else "ConfigMap", name, namespace)
            if found is None:
                raise KeyError(f"{'Secret' if secret else 'ConfigMap'} {namespace}/{name} is not there: the pod would wait for it")
            items = source.get("items") or [{"key": k, "path": k} for k in found.get("data", {})]
            for item in items:
                text = found["data"][item["key"]]
                say(os.path.join(where, item["path"]), base64.b64decode(text).decode() if secret else text)

        if "secret" in volume:
            config(volume["secret"], True)
        elif "configMap" in volume:
            config(volume["configMap"], False)
        for source in volume.get("projected", {}).get("sources", []):
            if "serviceAccountToken" in source:
                s = source["serviceAccountToken"]
                say(os.path.join(where, s["path"]),
                    self.cluster.token(pod["spec"].get("serviceAccountName", "default"), namespace, s.get("audience"), pod, s.get("expirationSeconds", 3600)))
            elif "configMap" in source:
                config(source["configMap"], False)
            elif "secret" in source:
                config(source["secret"], True)
            elif "downwardAPI" in source:
                for item in source["downwardAPI"]["items"]:
                    say(os.path.join(where, item["path"]), field(pod, item["fieldRef"]["fieldPath"]))

    def mounts(self, pod, container, where):
        volumes = {v["name"]: v for v in pod["spec"].get("volumes", [])}
        out = {}
        for m in container.get("volumeMounts", []):
            volume = volumes.get(m["name"], {})
            directory = os.path.join(where, "volumes", m["name"])
            if "persistentVolumeClaim" in volume:  # outlives the pod
                directory = os.path.join(self.where, "claims", pod["metadata"]["namespace"], volume["persistentVolumeClaim"]["claimName"])
            if not os.path.isdir(directory):
                self.volume(pod, volume, directory)
            out[m["mountPath"]] = directory
        return out

    def value(self, pod, container, item):
        if "valueFrom" not in item:
            return item.get("value", "")
        source = item["valueFrom"]
        if "fieldRef" in source:
            return field(pod, source["fieldRef"]["fieldPath"])
        if "configMapKeyRef" in source:
            ref = source["configMapKeyRef"]
            return (self.cluster.get("v1", "ConfigMap", ref["name"], pod["metadata"]["namespace"]) or {"data": {}})["data"].get(ref["key"], "")
        if "resourceFieldRef" in source:
            ref = source["resourceFieldRef"]
            owner = next(c for c in pod["spec"]["containers"] if c["name"] == ref.get("containerName", container["name"]))
            kind, name = ref["resource"].split(".", 1)
            return amount(owner.get("resources", {}).get(kind, {}).get(name, 0))
        return ""

    def here(self, text, mounts):
        for path in sorted(mounts, key=len, reverse=True):
            text = text.replace(path, mounts[path])
        for there, ours in self.instead:
            text = text.replace(there, ours)
        return text

    def start(self, pod, name=None, more_env=None, more_args=(), change=None):
        """The container's program; its `log` is a file of what it said. `change` may alter the arguments."""
        every = pod["spec"]["containers"] + pod["spec"].get("initContainers", [])
        container = next(c for c in every if name in (None, c["name"]))
        self.count += 1
        where = os.path.join(self.where, f"{pod['metadata']['namespace']}.{pod['metadata']['name']}.{container['name']}.{self.count}")
        mounts = self.mounts(pod, container, where)
        env = {"PATH": "/usr/bin:/bin", "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.cluster.port)}
        for item in container.get("env", []):
            env[item["name"]] = self.here(self.value(pod, container, item), mounts)
        account = mounts.get(ACCOUNT)
        if account:  # a path that is the program's own
            env.update(BANKFULL_API_URL=self.cluster.url, BANKFULL_API_CA_FILE=f"{account}/ca.crt", BANKFULL_API_TOKEN_FILE=f"{account}/token",
                       BANKFULL_API_NAMESPACE=pod["metadata"]["namespace"])
        env.update(more_env or {})
        words = [self.here(w, mounts) for w in container.get("command", ["/usr/bin/bankfull"]) + container.get("args", [])]
        words[0] = os.path.join(self.build, os.path.basename(words[0]))
        if account and any(w.startswith("--kube-url=") for w in words):  # the same for the collector
            words += [f"--kube-ca={account}/ca.crt", f"--kube-token={account}/token"]
        words = (change(words) if change else words) + list(more_args)
        log = os.path.join(where, "log")
        os.makedirs(where, exist_ok=True)
        with open(log, "wb") as out:
            process = subprocess.Popen(words, env=env, cwd=where, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
        process.log, process.mounts = log, mounts
        self.running.append(process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if process in self.running:
            self.running.remove(process)
        return process.returncode

    def said(self, process):
        with open(process.log, encoding="utf-8", errors="replace") as f:
            return f.read()

    # --- Jobs, and pods of `helm test` ---

    def pod_of(self, owner, template, name):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": copy.deepcopy(template.get("metadata", {})), "spec": copy.deepcopy(template["spec"])}
        pod["metadata"].update(name=name, namespace=owner["metadata"]["namespace"])
        return pod

    def run(self, pod):
        """To its end: (status, what it said)."""
        try:
            process = self.start(pod)
        except (KeyError, OSError) as e:
            return 1, str(e)
        try:
            process.wait(PROGRAM_S)
        except subprocess.TimeoutExpired:
            pass
        return self.end(process), self.said(process)

    def do_job(self, job):
        namespace, name = job["metadata"]["namespace"], job["metadata"]["name"]
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        status, pod = self.cluster.create(self.pod_of(job, job["spec"]["template"], f"{name}-x"))
        if status == 201:
            code, said = self.run(pod)
            self.cluster.delete("v1", "Pod", f"{name}-x", namespace)
        else:
            code, said = 1, f"the pod is refused: {pod.get('message')}"
        self.jobs[f"{namespace}/{name}"] = (code, said)
        how = ("SuccessCriteriaMet", "Complete") if code == 0 else ("FailureTarget", "Failed")
        conditions = [{"type": t, "status": "True", "lastTransitionTime": now, "reason": "ByHand", "message": said[:200]} for t in how]
        done = {"startTime": now, "conditions": conditions, **({"succeeded": 1, "completionTime": now} if code == 0 else {"failed": 1})}
        status, said = self.cluster.patch("batch/v1", "Job", name, namespace, {"status": done}, "/status")
        if status != 200:
            self.jobs[f"{namespace}/{name}"] = (1, f"the Job's status is refused: {said.get('message')}")

    def do_test(self, pod):
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        code, said = self.run(pod)
        self.jobs[f"{namespace}/{name}"] = (code, said)
        phase = "Succeeded" if code == 0 else "Failed"
        self.cluster.patch("v1", "Pod", name, namespace, {"status": {"phase": phase, "conditions": [
            {"type": "Ready", "status": "False", "reason": "PodCompleted"}]}}, "/status")

    def work(self):
        seen = set()
        while not self.ending.wait(0.2):
            try:
                for job in self.cluster.items("batch/v1", "Job"):
                    if job["metadata"]["uid"] not in seen and not job.get("status", {}).get("conditions"):
                        seen.add(job["metadata"]["uid"])
                        job.update(apiVersion="batch/v1", kind="Job")
                        self.do_job(job)
                for pod in self.cluster.items("v1", "Pod"):
                    if pod["metadata"].get("annotations", {}).get("helm.sh/hook") == "test" and pod["metadata"]["uid"] not in seen:
                        seen.add(pod["metadata"]["uid"])
                        self.do_test(pod)
            except OSError:
                pass  # the server is being ended

    def stop(self):
        self.ending.set()
        if self.thread.is_alive():
            self.thread.join(PROGRAM_S)
        for process in list(self.running):
            self.end(process)
