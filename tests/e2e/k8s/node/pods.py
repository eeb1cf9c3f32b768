# SPDX-License-Identifier: Apache-2.0
"""
The pods of the node. What a team would write is text, and `bankfull inject` adds the sidecar to it. A static pod may name no
object of an API server, so one thing of the result is exchanged before a kubelet gets it: the projected token of a service
account, for a file of the node.
"""
import os
import subprocess

import yaml

VERSION = "0.1.0-dev"
IMAGE = f"bankfull.test/bankfull:{VERSION}"
PROBE = "bankfull.test/probe:1"
WORK = "/var/lab/node"
USER = 9999
AGENTS, API, PAGE = 8480, 8481, 9482
AGENT_TOKEN = "node-agent-token-0123456789abcdef0123456789abcdef"
VIEWER_TOKEN = "node-viewer-token-0123456789abcdef0123456789abcdef"

# A Kafka Streams application, as far as its command line says: a library that loses memory, beside what is no leak.
TEAM = """\
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  namespace: default
spec:
  hostNetwork: true # the node has no network of pods
  automountServiceAccountToken: false
  securityContext:
    runAsUser: 9999
    runAsGroup: 9999
    runAsNonRoot: true
    seccompProfile: {{type: RuntimeDefault}}
  containers:
  - name: streams
    image: {image}
    imagePullPolicy: Never
    args: {args}
    resources:
      requests: {{cpu: 200m, memory: {limit}}}
      limits: {{memory: {limit}}}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: {{drop: [ALL]}}
    volumeMounts:
    - {{name: tmp, mountPath: /tmp}}
  volumes:
  - name: tmp
    emptyDir: {{}}
"""


def team(name, limit, *options):
    args = ["-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", "/opt/probe:/none/kafka-streams-4.1.0.jar", "MemoryProbe", "--library",
            "/opt/libbankfullprobe.so", "--dir", "/tmp", "--seconds", "86400", *options]
    return TEAM.format(name=name, image=PROBE, limit=limit, args=yaml.safe_dump(args, default_flow_style=True, width=10000).strip())


def inject(program, text):
    """What the operator's command makes of it; and the same for a node without an API server."""
    done = subprocess.run([program, "inject", "-f", "-", "--image", IMAGE, "--collector", f"wss://127.0.0.1:{AGENTS}/agent", "--ca-file",
                           f"{WORK}/tls/ca.crt", "--audience", "bankfull.bankfull.bankfull"], input=text, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise RuntimeError(f"bankfull inject: {done.stderr}")
    pod = yaml.safe_load(done.stdout)
    exchanged = 0
    for volume in pod["spec"]["volumes"]:
        if any("serviceAccountToken" in source for source in volume.get("projected", {}).get("sources", [])):
            del volume["projected"]
            volume["hostPath"] = {"path": f"{WORK}/token", "type": "Directory"}
            exchanged += 1
    if exchanged != 1:
        raise RuntimeError(f"one token was to be exchanged, and {exchanged} were:\n{done.stdout}")
    return pod


def sidecar(pod):
    return next(c for c in pod["spec"]["initContainers"] if c["name"] == "bankfull")


def write(path, text, mode=0o644):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    os.chown(path, USER, USER)
    os.chmod(path, mode)


def make_secrets():
    """An authority that agents are told of, the collector's certificate by it, and the tokens."""
    for directory in ("tls", "token", "tokens"):
        os.makedirs(f"{WORK}/{directory}")
    tls = f"{WORK}/tls"

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=tls, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    openssl("req", "-x509", *key, "-subj", "/CN=node", "-keyout", "ca.key", "-out", "ca.crt")
    openssl("req", "-x509", *key, "-CA", "ca.crt", "-CAkey", "ca.key", "-subj", "/CN=collector", "-addext", "subjectAltName=IP:127.0.0.1",
            "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", "tls.key", "-out", "tls.crt")
    for name in ("tls.crt", "tls.key"):
        os.chown(f"{tls}/{name}", USER, USER)
    write(f"{WORK}/token/token", AGENT_TOKEN)
    write(f"{WORK}/tokens/agents", f"node-1 {AGENT_TOKEN}\n", 0o600)
    write(f"{WORK}/tokens/viewers", f"viewer node {VIEWER_TOKEN}\n", 0o600)


def collector():
    """Our image as the chart starts it, but for where its certificate and tokens come from."""
    def at_host(name):
        return {"name": name, "hostPath": {"path": f"{WORK}/{name}", "type": "Directory"}}

    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "collector", "namespace": "default"}, "spec": {
        "hostNetwork": True, "automountServiceAccountToken": False,
        "securityContext": {"runAsNonRoot": True, "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{
            "name": "collector", "image": IMAGE, "imagePullPolicy": "Never", "command": ["bankfull-collector"],
            "args": ["--data=/var/lib/bankfull", f"--listen=127.0.0.1:{API}", f"--listen-agents=127.0.0.1:{AGENTS}", "--tls-cert=/tls/tls.crt",
                     "--tls-key=/tls/tls.key", "--agent-tokens=/tokens/agents", "--viewer-tokens=/tokens/viewers", "--cluster=node"],
            "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "256Mi"}},
            "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
            "volumeMounts": [{"name": "data", "mountPath": "/var/lib/bankfull"}, {"name": "tls", "mountPath": "/tls", "readOnly": True},
                             {"name": "tokens", "mountPath": "/tokens", "readOnly": True}]}],
        "volumes": [{"name": "data", "emptyDir": {}}, at_host("tls"), at_host("tokens")]}}
