# SPDX-License-Identifier: Apache-2.0
"""What the chart renders is what an API server takes: strictly, by server-side apply, and each pod under PodSecurity restricted."""
from bench import NAMESPACE
from cluster import until

EVERYTHING = ("--set", "injection.force=true,prePull.enabled=true,viewers.existingSecret=v,viewers.publicUrl=https://b.example.com,"
              "ingress.enabled=true,ingress.host=b.example.com,ingress.tlsSecret=t,collector.config.alertmanager=http://am:9093,"
              "monitoring.dashboards.enabled=true")
VALUES = {
    "default": (),
    "everything": EVERYTHING,
    "not durable": ("--set", "persistence.enabled=false"),
    "a certificate of one's own": ("--set", "tls.existingSecret=mine,injection.enabled=false"),
    "OpenShift": ("-f", "manifests/values-openshift.yaml"),
    "EKS Fargate": ("-f", "manifests/values-eks-fargate.yaml"),
}
# Of operators that are not here.
FOREIGN = ("monitoring.coreos.com", "cert-manager.io")


def template(thing):
    """The pod that a controller would make of it; None: it makes none."""
    if thing["kind"] == "Pod":
        return {"metadata": thing["metadata"], "spec": thing["spec"]}
    return thing.get("spec", {}).get("template") if thing["kind"] in ("StatefulSet", "Deployment", "DaemonSet", "Job", "ReplicaSet") else None


def pod_refused(b, thing, namespace):
    """Why its pod is; None: it is taken."""
    pod = b.hands.pod_of({"metadata": {"namespace": namespace}}, template(thing), "try")
    for claim in thing["spec"].get("volumeClaimTemplates", []):
        pod["spec"].setdefault("volumes", []).append({"name": claim["metadata"]["name"], "persistentVolumeClaim": {"claimName": "c"}})
    pod["metadata"].pop("annotations", None)
    account = pod["spec"].get("serviceAccountName", "default")
    if not b.cluster.get("v1", "ServiceAccount", account, namespace):
        b.cluster.account(account, namespace)
    status, said = b.cluster.create(pod, namespace, dry=True)
    return None if status == 201 else said.get("message")


def rendered(b):
    """Every object strictly: a field that the server does not know would be dropped without a word."""
    for i, (name, options) in enumerate(VALUES.items()):
        bad, pods, n = [], [], 0
        space = f"rendered-{i}"
        b.cluster.namespace(space)
        for thing in b.render(*options, namespace=space):
            if thing["apiVersion"].startswith(FOREIGN):
                continue
            n += 1
            status, said = b.cluster.ask("POST", b.cluster.path(thing, space, named=False) + "?dryRun=All&fieldValidation=Strict", thing)
            if status != 201:
                bad.append(f"{thing['kind']} {thing['metadata']['name']}: {said.get('message')}")
            if template(thing):
                pods.append(thing["kind"])
                refused = pod_refused(b, thing, space)
                if refused:
                    bad.append(f"a pod of {thing['kind']} {thing['metadata']['name']}: {refused}")
        b.ok(n > 5 and "StatefulSet" in pods and not bad, f"{name}: {n} objects are taken strictly, their {len(pods)} pods under restricted", "\n".join(bad))


def taken(b, things, space):
    """What the server refuses of them, strictly, and of their pods."""
    bad = []
    for thing in things:
        if thing["kind"] == "Namespace":
            continue
        thing["metadata"]["namespace"] = space
        status, said = b.cluster.ask("POST", b.cluster.path(thing, space, named=False) + "?dryRun=All&fieldValidation=Strict", thing)
        if status not in (201, 409):
            bad.append(f"{thing['kind']} {thing['metadata']['name']}: {said.get('message')}")
        if template(thing):
            refused = pod_refused(b, thing, space)
            if refused:
                bad.append(f"a pod of {thing['kind']} {thing['metadata']['name']}: {refused}")
    return bad


def node_mode(b):
    """It wants a privileged namespace, as is said of it, and no right at the API server."""
    if "node" not in b.load("charts/bankfull/values.yaml")[0]:
        return
    things = b.render("--set", "node.enabled=true", namespace="node-mode")
    daemon = [t for t in things if t["kind"] == "DaemonSet"]
    b.cluster.namespace("node-mode", level="privileged")
    bad = taken(b, things, "node-mode")
    b.ok(daemon and not bad, "node.enabled: its DaemonSet's pods are taken in a privileged namespace", "\n".join(bad))
    b.cluster.namespace("node-restricted")
    refused = pod_refused(b, daemon[0], "node-restricted") if daemon else None
    b.ok(refused and "hostPID" in refused and "hostPath" in refused, "and refused under restricted, which says why", refused)
    account = daemon[0]["spec"]["template"]["spec"].get("serviceAccountName", "default")
    bound = [t["metadata"]["name"] for t in things if t["kind"].endswith("RoleBinding") and any(s["name"] == account for s in t["subjects"])]
    b.ok(not bound, "its account has no right", bound)
    for path in ("manifests/examples/node-mode.yaml",):
        found = b.load(path)
        bad = taken(b, found, "node-mode")
        b.ok(found and not bad, f"{path}: taken strictly, its pods in a privileged namespace", "\n".join(bad))


def renders_alike(b):
    for name, options in VALUES.items():
        b.ok(b.render(*options, version=3) == b.render(*options, version=4), f"{name}: Helm 3 and 4 render the same")
    for version in (3, 4):
        done = b.helm(version, "lint", b.chart)
        b.ok(done.good and "1 chart(s) linted, 0 chart(s) failed" in done.both, f"helm lint of Helm {version}", done.both)


def applied(b):
    """As manifests/README.md says."""
    b.cluster.namespace(NAMESPACE)
    steps = (("-n", NAMESPACE, "-f", "manifests/init-tls.yaml"), ("-k", "manifests"), ("-f", "manifests/injection.yaml"))
    for step in steps:
        done = b.kubectl("apply", "--server-side", *step)
        b.ok(done.good, f"kubectl apply --server-side {' '.join(step)}", done.both)
        again = b.kubectl("diff", "--server-side", *step)
        b.ok(again.returncode == 0, f"kubectl apply {' '.join(step)} again would change nothing", again.both)
    job = until(60, lambda: b.hands.jobs.get(f"{NAMESPACE}/bankfull-init-tls"))
    b.ok(job and job[0] == 0, "the Job of init-tls.yaml makes the authority", job)
    config = until(5, lambda: b.cluster.get("v1", "ConfigMap", "bankfull-ca", NAMESPACE))
    b.ok(config and "BEGIN CERTIFICATE" in config["data"]["ca.crt"] and "PRIVATE" not in str(config), "its certificate stands in the ConfigMap")
    b.ok(until(30, lambda: injects(b)), "the policy of injection.yaml injects")
    for step in reversed(steps):
        done = b.kubectl("delete", "--ignore-not-found", *step)
        b.ok(done.good, f"kubectl delete {' '.join(step)}", done.both)
    for kind in ("Secret", "ConfigMap"):
        b.cluster.delete("v1", kind, "bankfull-ca", NAMESPACE)


def injects(b):
    if not b.cluster.get("v1", "Namespace", "by-manifests"):
        b.cluster.namespace("by-manifests", bankfull_io__inject="enabled")
    return b.injects("by-manifests")


def run(b):
    renders_alike(b)
    rendered(b)
    node_mode(b)
    applied(b)
