# SPDX-License-Identifier: Apache-2.0
"""What `bankfull inject` writes is taken under restricted; `bankfull debug` and `bankfull doctor` by the real kubectl."""
import glob
import os
import subprocess
import time

import yaml

from bench import plain_pod, sidecar
from check_manifests import pod_refused, template
from cluster import until

SPACE = "incident"


# --- inject ---

def flink_pod(thing):
    """What Flink or its operator makes of a pod template, as far as the server minds: the image and the resources of the main container."""
    made = thing if thing["kind"] == "Pod" else thing["spec"]["podTemplate"]
    for c in made["spec"]["containers"]:
        if c["name"] == "flink-main-container":
            c.setdefault("image", thing["spec"].get("image", "flink:2"))
            c["resources"] = {"limits": {"cpu": "1", "memory": "4Gi"}, "requests": {"cpu": "1", "memory": "4Gi"}}
    return {"kind": "Deployment", "metadata": thing["metadata"], "spec": {"template": made}}


def examples(b):
    for path in sorted(glob.glob(os.path.join(b.top, "manifests/examples/*.yaml"))):
        name = os.path.basename(path)
        if ".src." in name or "node" in name:
            continue
        with open(path, encoding="utf-8") as f:
            things = [d for d in yaml.safe_load_all(f) if d]
        bad, pods = [], 0
        for thing in things:
            namespace = thing["metadata"].get("namespace", "default")
            if thing["kind"] == "FlinkDeployment" or thing["kind"] == "Pod" and not all("image" in c for c in thing["spec"]["containers"]):
                thing = flink_pod(thing)
            elif (thing["apiVersion"], thing["kind"]) in b.cluster.kinds:
                space(b, namespace)
                status, said = b.cluster.ask("POST", b.cluster.path(thing, namespace, named=False) + "?dryRun=All&fieldValidation=Strict", thing)
                if status != 201:
                    bad.append(f"{thing['kind']}: {said.get('message')}")
            made = template(thing)
            if made:
                pods += 1
                space(b, namespace)
                if not sidecar(made):
                    bad.append(f"{thing['kind']} has no sidecar")
                refused = pod_refused(b, thing, namespace)
                if refused:
                    bad.append(f"a pod of {thing['kind']}: {refused}")
        b.ok(pods and not bad, f"manifests/examples/{name}: taken strictly, its {pods} pods with their sidecar under restricted", "\n".join(bad))


def space(b, namespace):
    if not b.cluster.get("v1", "Namespace", namespace):
        b.cluster.namespace(namespace)
    elif not b.cluster.get("v1", "ServiceAccount", "default", namespace):
        b.cluster.account("default", namespace)


def added_and_removed(b):
    """The server sees the same object before, and after adding and removing."""
    thing = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "orders"}, "spec": {
        "selector": {"matchLabels": {"app": "orders"}}, "template": {**{k: v for k, v in plain_pod("x").items() if k == "spec"}, "metadata": {"labels": {"app": "orders"}}}}}
    text = yaml.safe_dump(thing)
    done = b.bankfull("inject", "-f", "-", text=text)
    applied = b.kubectl("apply", "--server-side", "-n", SPACE, "-f", "-", text=done.stdout)
    first = b.cluster.get("apps/v1", "Deployment", "orders", SPACE)
    b.ok(done.good and applied.good and sidecar(first["spec"]["template"]), "bankfull inject | kubectl apply", done.stderr + applied.both)
    again = b.kubectl("diff", "--server-side", "-n", SPACE, "-f", "-", text=b.bankfull("inject", "-f", "-", text=done.stdout).stdout)
    b.ok(again.returncode == 0, "injected again it would change nothing", again.both)
    bare = b.bankfull("inject", "-f", "-", "--remove", text=done.stdout)
    applied = b.kubectl("apply", "--server-side", "-n", SPACE, "-f", "-", text=bare.stdout)
    last = b.cluster.get("apps/v1", "Deployment", "orders", SPACE)
    b.ok(applied.good and "bankfull" not in str(last["spec"]), "bankfull inject --remove | kubectl apply: no trace is left", last["spec"])


# --- a running pod ---

def running(b, name, thing=None, namespace=SPACE):
    """As its kubelet would report it."""
    b.cluster.create(thing or plain_pod(name), namespace)
    b.cluster.ask("POST", f"/api/v1/namespaces/{namespace}/pods/{name}/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                                                                                "target": {"apiVersion": "v1", "kind": "Node", "name": "node-1"}})
    made = b.cluster.get("v1", "Pod", name, namespace)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def status(containers):
        return [{"name": c["name"], "image": c["image"], "imageID": c["image"], "ready": True, "restartCount": 0, "started": True,
                 "state": {"running": {"startedAt": now}}} for c in containers]

    body = {"phase": "Running", "startTime": now, "containerStatuses": status(made["spec"]["containers"]),
            "initContainerStatuses": status(made["spec"].get("initContainers", []))}
    b.cluster.patch("v1", "Pod", name, namespace, {"status": body}, "/status")
    return b.cluster.get("v1", "Pod", name, namespace)


def ephemeral(b, name):
    return (b.cluster.get("v1", "Pod", name, SPACE) or {"spec": {}})["spec"].get("ephemeralContainers", [])


def debugged(b, words, name, env=None):
    """It waits for a kubelet that never comes; what matters is what it told the server."""
    log = os.path.join(b.where, f"debug.{name}.log")
    with open(log, "wb") as out:
        process = subprocess.Popen(words, env=env or b.env, cwd=b.where, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
        try:
            until(20, lambda: ephemeral(b, name) or process.poll() is not None)
        finally:
            process.kill()
            process.wait()
    with open(log, encoding="utf-8", errors="replace") as f:
        return ephemeral(b, name), f.read()


def debug(b):
    program = os.path.join(b.build, "bankfull")
    for name, thing, user in (("said", None, (9999, 9999)),
                              ("silent", plain_pod("silent", securityContext={"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}), (None, None))):
        running(b, name, thing)
        found, said = debugged(b, [program, "debug", name, "-n", SPACE, "--image", "bankfull:0.1.0"], name)
        security = found[0].get("securityContext", {}) if found else {}
        b.ok(found and found[0]["targetContainerName"] == "app" and found[0]["command"] == ["bankfull", "report"], f"bankfull debug: its container is taken under restricted (a pod whose user is {name})",
             f"{said}\n{found}")
        b.ok((security.get("runAsUser"), security.get("runAsGroup")) == user and security.get("capabilities", {}).get("drop") == ["ALL"],
             f"and runs as the pod does ({name})", security)
    running(b, "printed")
    done = b.bankfull("debug", "printed", "-n", SPACE, "--image", "bankfull:0.1.0", "--print")
    found, said = debugged(b, ["/bin/bash", "-c", done.stdout], "printed")
    b.ok(done.good and found and found[0]["securityContext"]["runAsUser"] == 9999, "what bankfull debug --print prints does the same", done.both + said)
    done = b.bankfull("debug", "none-of-these", "-n", SPACE)
    b.ok(done.returncode == 3 and "not found" in done.both, "a pod that is not there", done.both)
    root = plain_pod("root", securityContext={})
    root["spec"]["containers"][0]["securityContext"] = {"runAsUser": 0}
    if not b.cluster.get("v1", "Namespace", "open"):
        b.cluster.namespace("open", level="privileged")
    running(b, "root", root, "open")
    done = b.bankfull("debug", "root", "-n", "open", "--print")
    b.ok(done.good and "--profile=general" in done.stdout, "a JVM that runs as root takes the profile general", done.both)


def debug_rights(b):
    """What docs/kubernetes.md says it takes: tried with each left out."""
    group = "rbac.authorization.k8s.io/v1"
    rights = [("get", "pods"), ("patch", "pods/ephemeralcontainers")]
    b.cluster.account("engineer", SPACE)
    b.cluster.create({"apiVersion": group, "kind": "RoleBinding", "metadata": {"name": "engineer"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "engineer"},
                      "subjects": [{"kind": "ServiceAccount", "name": "engineer", "namespace": SPACE}]}, SPACE)
    b.cluster.create({"apiVersion": group, "kind": "Role", "metadata": {"name": "engineer"}, "rules": []}, SPACE)
    config = os.path.join(b.where, "engineer.kubeconfig")
    b.run("kubectl", "config", "--kubeconfig", config, "set-cluster", "k", "--server", b.cluster.url, "--certificate-authority", b.cluster.ca)
    b.run("kubectl", "config", "--kubeconfig", config, "set-credentials", "e", "--token", b.cluster.token("engineer", SPACE))
    b.run("kubectl", "config", "--kubeconfig", config, "set-context", "k", "--cluster", "k", "--user", "e")
    b.run("kubectl", "config", "--kubeconfig", config, "use-context", "k")
    env = {**b.env, "KUBECONFIG": config}
    for left_out in (None, *rights):
        rules = [{"apiGroups": [""], "resources": [r], "verbs": [v]} for v, r in rights if (v, r) != left_out]
        b.cluster.patch(group, "Role", "engineer", SPACE, {"rules": rules})
        for verb, resource in rights:
            until(10, lambda: may(b, verb, resource) == ((verb, resource) != left_out))
        name = "engineer" + (f"-{rights.index(left_out)}" if left_out else "")
        running(b, name)
        found, said = debugged(b, [os.path.join(b.build, "bankfull"), "debug", name, "-n", SPACE, "--image", "bankfull:0.1.0"], name, env)
        if left_out is None:
            b.ok(found, f"an account that may {' and '.join(f'{v} {r}' for v, r in rights)} can add the container", said)
        else:
            b.ok(not found and "forbidden" in said, f"without '{left_out[0]} {left_out[1]}' it cannot, and is told", said)


def may(b, verb, resource):
    base, _, below = resource.partition("/")
    spec = {"user": f"system:serviceaccount:{SPACE}:engineer", "resourceAttributes": {"verb": verb, "resource": base, "subresource": below, "namespace": SPACE}}
    return b.cluster.ask("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                         {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec})[1]["status"]["allowed"]


def doctor(b):
    def said_of(name, namespace, *parts, bad=()):
        done = b.bankfull("doctor", name, "-n", namespace)
        missing = [p for p in parts if p not in done.stdout] + [f"not: {p}" for p in bad if p in done.stdout]
        b.ok(done.returncode == 1 and not missing, f"bankfull doctor {name}: {'; '.join(parts)}", f"{missing}\n{done.both}")

    running(b, "bare")
    said_of("bare", SPACE, "ok    Kubernetes: 1.37 has native sidecars", "ok    injection by label: the server has MutatingAdmissionPolicy v1", "bad   sidecar: the pod has no container bankfull")
    running(b, "watched", namespace="labelled")
    # There is no kubelet that could be asked for the sidecar's own word.
    said_of("watched", "labelled", "ok    sidecar: it runs", "ok    process namespace", "ok    user and group: both run as 9999:9999", "bad   asking the sidecar")
    thing = plain_pod("late")
    b.cluster.create(thing, SPACE)
    b.kubectl("label", "pod", "late", "-n", SPACE, "bankfull.io/inject=enabled")
    said_of("late", SPACE, "bad   sidecar: the pod has the label bankfull.io/inject=enabled and no container bankfull")
    done = b.bankfull("doctor", "none-of-these", "-n", SPACE)
    b.ok(done.returncode == 3 and "not found" in done.both, "bankfull doctor of a pod that is not there", done.both)


def run(b):
    b.installed()
    b.cluster.namespace(SPACE)
    if not b.cluster.get("v1", "Node", "node-1"):
        b.cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}})
    examples(b)
    added_and_removed(b)
    debug(b)
    debug_rights(b)
    doctor(b)
