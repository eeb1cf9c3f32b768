# SPDX-License-Identifier: Apache-2.0
"""What all parts share: TAP lines, kubectl and the helms against the cluster, and the chart as it is installed once for those that need it."""
import json
import os
import subprocess

import yaml

from cluster import Failed, free_port, until

RELEASE = NAMESPACE = "bankfull"
SIDECAR = "bankfull"


def sidecar(pod):
    """The injected container; None: there is none."""
    found = [c for c in pod["spec"].get("initContainers", []) if c["name"] == SIDECAR]
    return found[0] if found else None


def n_sidecars(pod):
    return sum(c["name"] == SIDECAR for c in pod["spec"]["containers"] + pod["spec"].get("initContainers", []))


def env_of(container):
    return {e["name"]: e.get("value", e.get("valueFrom", "")) for e in container.get("env", [])}


def plain_pod(name, **spec):
    """That `restricted` takes, of a workload nobody prepared."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {}},
            "spec": {"securityContext": {"runAsNonRoot": True, "runAsUser": 9999, "runAsGroup": 9999, "seccompProfile": {"type": "RuntimeDefault"}},
                     "automountServiceAccountToken": False,
                     "containers": [{"name": "app", "image": "app:1", "resources": {"limits": {"memory": "1Gi"}},
                                     "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}], **spec}}


class Bench:
    def __init__(self, top, build, cluster, hands, where):
        self.top, self.build, self.cluster, self.hands, self.where = top, build, cluster, hands, where
        self.chart = os.path.join(top, "charts/bankfull")
        self.part = ""
        self.passed = self.failed = 0
        self.collector = None
        self.is_installed = False
        self.env = {"PATH": f"{cluster.programs}:/usr/bin:/bin", "HOME": os.path.join(where, "home"), "KUBECONFIG": cluster.kubeconfig}

    def ok(self, good, name, note=""):
        """A TAP line, and below it what is known of a failure."""
        good = bool(good)
        self.passed, self.failed = self.passed + good, self.failed + (not good)
        print(("ok - " if good else "not ok - ") + f"{self.part}: {name}", flush=True)
        if not good:
            for line in str(note).splitlines()[-25:]:
                print("#   " + line[:1200], flush=True)
        return good

    # --- programs ---

    def run(self, *words, text=None, seconds=120, env=None):
        done = subprocess.run(words, input=text, env=env or self.env, cwd=self.top, capture_output=True, text=True, timeout=seconds,
                              **({"stdin": subprocess.DEVNULL} if text is None else {}))
        done.both = done.stdout + done.stderr
        done.good = done.returncode == 0
        return done

    def kubectl(self, *words, **how):
        return self.run("kubectl", *words, **how)

    def helm(self, version, *words, **how):
        done = self.run(f"helm{version}", *words, **how)
        done.both = "\n".join(line for line in done.both.splitlines() if "found symbolic link" not in line)
        return done

    def bankfull(self, *words, **how):
        return self.run(os.path.join(self.build, "bankfull"), *words, **how)

    def render(self, *options, version=3, release=RELEASE, namespace=NAMESPACE):
        """Objects, as helm renders them for this server."""
        done = self.helm(version, "template", release, self.chart, "--namespace", namespace, "--kube-version", "1.37.0", *options)
        if not done.good:
            raise Failed(f"helm template: {done.both}")
        return [d for d in yaml.safe_load_all(done.stdout) if d]

    def load(self, *path):
        with open(os.path.join(self.top, *path), encoding="utf-8") as f:
            return [d for d in yaml.safe_load_all(f) if d]

    # --- one installation, for the parts that come after its own ---

    def installed(self):
        """The chart in its namespace, which enforces `restricted`; its policy is at work."""
        if self.is_installed:
            return
        if not self.cluster.get("v1", "Namespace", NAMESPACE):
            self.cluster.namespace(NAMESPACE)
        done = self.helm(4, "install", RELEASE, self.chart, "--namespace", NAMESPACE)
        if not done.good:
            raise Failed(f"helm install: {done.both}")
        self.is_installed = True
        self.cluster.namespace("labelled", bankfull_io__inject="enabled")
        self.cluster.namespace("plain")
        self.cluster.namespace("trusted", level="privileged", bankfull_io__inject="enabled")
        if not until(30, lambda: self.injects("labelled")):
            raise Failed("the policy does nothing 30 s after it was installed")

    def injects(self, namespace):
        status, pod = self.cluster.create(plain_pod("probe"), namespace, dry=True)
        return status == 201 and sidecar(pod) is not None

    def collector_pod(self):
        """The pod of the StatefulSet, made as its controller would."""
        name = f"{RELEASE}-0"
        found = self.cluster.get("v1", "Pod", name, NAMESPACE)
        if found:
            return found
        owner = self.cluster.get("apps/v1", "StatefulSet", RELEASE, NAMESPACE)
        pod = self.hands.pod_of(owner, owner["spec"]["template"], name)
        for claim in owner["spec"].get("volumeClaimTemplates", []):
            pod["spec"].setdefault("volumes", []).append({"name": claim["metadata"]["name"], "persistentVolumeClaim": {"claimName": f"{claim['metadata']['name']}-{name}"}})
        status, pod = self.cluster.create(pod)
        if status != 201:
            raise Failed(f"the collector's pod is refused: {pod.get('message')}")
        return pod

    def start_collector(self, instead=None, env=None):
        """The real program with the arguments of the chart, on ports of its own; `instead`: (a piece of an argument, what it is to be)."""
        if self.collector and self.collector.poll() is None:
            return
        self.ports = {name: free_port() for name in ("8480", "8481", "8482")}
        self.hands.instead = [p for p in self.hands.instead if "8480" not in p[0]]
        self.hands.instead.append((f"wss://{RELEASE}.{NAMESPACE}.svc:8480/", f"wss://127.0.0.1:{self.ports['8480']}/"))
        self.collector = self.hands.start(self.collector_pod(), "collector", more_env=env,
                                          change=lambda words: [w.replace(*instead) if instead else w for w in self.local_ports(words)])
        if not until(30, lambda: '"event":"listening"' in self.hands.said(self.collector) or self.collector.poll() is not None) or self.collector.poll() is not None:
            raise Failed(f"the collector does not start: {self.hands.said(self.collector)[-2000:]}")

    def upgrade(self, *values):
        """And the collector's pod made anew, as its controller would."""
        done = self.helm(4, "upgrade", RELEASE, self.chart, "--namespace", NAMESPACE, "--reset-values", *(w for v in values for w in ("--set", v)))
        self.ok(done.good, f"helm upgrade{' --set ' if values else ''}{','.join(values)}", done.both)
        self.stop_collector()
        self.cluster.delete("v1", "Pod", f"{RELEASE}-0", NAMESPACE)
        self.start_collector()

    def stop_collector(self):
        if self.collector:
            self.hands.end(self.collector)
        self.collector = None

    def local_ports(self, words):
        out = []
        for word in words:
            for there, ours in self.ports.items():
                for form in (f"=:{there}", f"=127.0.0.1:{there}"):
                    if word.endswith(form):
                        word = word[:-len(form)] + f"=127.0.0.1:{ours}"
            out.append(word)
        return out

    def dashboard(self, path):
        """The collector's API: what it believes."""
        ca = self.cluster.get("v1", "ConfigMap", f"{RELEASE}-ca", NAMESPACE)["data"]["ca.crt"]
        where = os.path.join(self.where, "collector-ca.crt")
        with open(where, "w", encoding="ascii") as f:
            f.write(ca)
        done = self.run("curl", "-sS", "--max-time", "10", "--cacert", where, f"https://127.0.0.1:{self.ports['8481']}{path}")
        try:
            return json.loads(done.stdout)
        except ValueError as e:
            raise Failed(f"the collector answers {path} with {done.both[:300]}") from e
