# SPDX-License-Identifier: Apache-2.0
"""Who gets the sidecar by label, who does not, and that what the policy adds is what `bankfull inject` adds."""
import copy
import json

import yaml

from bench import NAMESPACE, RELEASE, env_of, n_sidecars, plain_pod, sidecar
from cluster import until

LABEL = "bankfull.io/inject"


def labelled(pod, value="enabled"):
    pod = copy.deepcopy(pod)
    pod["metadata"].setdefault("labels", {})[LABEL] = value
    return pod


def bare(name):
    """With none of the lists that the policy adds to, nor labels or annotations; of no security context either."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [{"name": "app", "image": "app:1"}], "automountServiceAccountToken": False}}


def asked(b, name, pod, namespace, want):
    """It is made for real, and has `want` sidecars."""
    pod = copy.deepcopy(pod)
    status, made = b.cluster.create(pod, namespace)
    have = n_sidecars(made) if status == 201 else None
    b.ok(have == want, name, made.get("message") or json.dumps(made.get("spec"), indent=1))
    if status == 201:
        b.cluster.delete("v1", "Pod", pod["metadata"]["name"], namespace)
    return made


def who(b):
    asked(b, "a pod with the label, where its namespace has none", labelled(plain_pod("a")), "plain", 1)
    made = asked(b, "a pod of a namespace with the label", plain_pod("b"), "labelled", 1)
    b.ok(made["spec"].get("shareProcessNamespace") is True and made["spec"]["initContainers"][0]["restartPolicy"] == "Always",
         "it is a native sidecar in a shared process namespace", made["spec"])
    asked(b, "both labels: two bindings, one sidecar", labelled(plain_pod("c")), "labelled", 1)
    made = asked(b, "a pod that has none of the lists", bare("d"), "trusted", 1)
    b.ok([v["name"] for v in made["spec"].get("volumes", [])] == ["bankfull-state", "bankfull-token"], "it gets its volumes", made["spec"])
    full = plain_pod("e", volumes=[{"name": "v", "emptyDir": {}}], initContainers=[{**plain_pod("x")["spec"]["containers"][0], "name": "first"}])
    made = asked(b, "a pod that has the lists", full, "labelled", 1)
    b.ok([c["name"] for c in made["spec"]["initContainers"]] == ["first", "bankfull"] and made["spec"]["volumes"][0]["name"] == "v",
         "what was in them stays where it was", made["spec"])
    asked(b, "no label anywhere", plain_pod("f"), "plain", 0)
    for value in ("disabled", "false"):
        asked(b, f"{LABEL}: {value} in a namespace with the label", labelled(plain_pod("g"), value), "labelled", 0)
    asked(b, "another pod's word for it: Enabled", labelled(plain_pod("h"), "Enabled"), "plain", 0)
    asked(b, "hostPID", plain_pod("i", hostPID=True), "trusted", 0)
    asked(b, "shareProcessNamespace: false on purpose", plain_pod("j", shareProcessNamespace=False), "trusted", 0)
    asked(b, "the pod runs as root", plain_pod("k", securityContext={"runAsUser": 0}), "trusted", 0)
    root = plain_pod("l")
    root["spec"]["containers"][0]["securityContext"]["runAsUser"] = 0
    root["spec"]["securityContext"] = {}
    asked(b, "its container runs as root", root, "trusted", 0)
    windows = plain_pod("m", os={"name": "windows"}, securityContext={})
    windows["spec"]["containers"][0].pop("securityContext")
    asked(b, "Windows", windows, "trusted", 0)
    asked(b, "a container of that name is there already",
          plain_pod("n", initContainers=[{**plain_pod("x")["spec"]["containers"][0], "name": "bankfull"}]), "labelled", 1)
    ordinary = plain_pod("s")
    ordinary["spec"]["containers"].append({**ordinary["spec"]["containers"][0], "name": "bankfull"})
    asked(b, "as an ordinary container as well", ordinary, "labelled", 1)
    two = plain_pod("o")
    two["metadata"]["annotations"] = {"bankfull.io/container": "none-of-these"}
    asked(b, "an annotation that names no container: the pod starts as it is", two, "labelled", 0)


def once(b):
    """Neither an update nor another policy that comes after it adds a second one."""
    b.cluster.create(labelled(plain_pod("once")), "plain")
    done = b.kubectl("label", "pod", "once", "-n", "plain", "more=1")
    again = b.cluster.get("v1", "Pod", "once", "plain")
    b.ok(done.good and n_sidecars(again) == 1, "an update of an injected pod adds nothing", done.both)
    b.cluster.create(plain_pod("late"), "plain")
    done = b.kubectl("label", "pod", "late", "-n", "plain", f"{LABEL}=enabled")
    b.ok(done.good and n_sidecars(b.cluster.get("v1", "Pod", "late", "plain")) == 0, "a label that comes later adds nothing, and does no harm", done.both)
    for name in ("once", "late"):
        b.cluster.delete("v1", "Pod", name, "plain")
    group = "admissionregistration.k8s.io/v1"
    b.cluster.create({"apiVersion": group, "kind": "MutatingAdmissionPolicy", "metadata": {"name": "zz-after.example"}, "spec": {
        "failurePolicy": "Fail", "reinvocationPolicy": "IfNeeded",
        "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]},
        "matchConditions": [{"name": "once", "expression": "!has(object.metadata.annotations) || !('after' in object.metadata.annotations)"}],
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {
            "expression": "Object{metadata: Object.metadata{annotations: {'after': string(has(object.spec.initContainers))}}}"}}]}})
    b.cluster.create({"apiVersion": group, "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": "zz-after.example"},
                      "spec": {"policyName": "zz-after.example", "matchResources": {"namespaceSelector": {"matchLabels": {LABEL: "enabled"}}}}})

    def both():
        _, made = b.cluster.create(labelled(plain_pod("again")), "labelled", dry=True)
        return made if "after" in made.get("metadata", {}).get("annotations", {}) else None

    made = until(30, both)
    b.ok(made and n_sidecars(made) == 1, "another policy changes the pod, ours is invoked again: one sidecar", made)
    for kind in ("MutatingAdmissionPolicyBinding", "MutatingAdmissionPolicy"):
        b.cluster.delete(group, kind, "zz-after.example")


def told(b, made, labels, limit):
    """Labels and the limit of the pod stand in the sidecar's environment, and the class there is the server's own."""
    env = env_of(sidecar(made))
    b.ok(env.get("BANKFULL_LABELS") == labels and env.get("BANKFULL_POD_LIMIT") == limit
         and f"qos={made['status']['qosClass']}" in labels.split(","), f"its sidecar is told {labels}", (env, made["status"]))


def details(b):
    """Annotations, Guaranteed pods, and the user."""
    pod = plain_pod("details")
    pod["metadata"]["annotations"] = {"bankfull.io/metrics-url": "http://127.0.0.1:9249/", "bankfull.io/flink-rest": "http://127.0.0.1:8081", "bankfull.io/config": "mine"}
    made = asked(b, "annotations", pod, "labelled", 1)
    env = env_of(sidecar(made))
    b.ok(env.get("BANKFULL_METRICS") == "http://127.0.0.1:9249/" and env.get("BANKFULL_FLINK_REST") == "http://127.0.0.1:8081"
         and any(m["mountPath"] == "/etc/bankfull" for m in sidecar(made)["volumeMounts"]), "they reach the sidecar", env)
    same = {"cpu": "1", "memory": "1Gi"}
    pod = plain_pod("guaranteed")
    pod["spec"]["containers"][0]["resources"] = {"limits": same, "requests": same}
    made = asked(b, "a Guaranteed pod", pod, "labelled", 1)
    b.ok(made["status"]["qosClass"] == "Guaranteed" and sidecar(made)["resources"]["limits"]["cpu"] == "250m", "it stays Guaranteed", made["status"])
    told(b, made, "qos=Guaranteed", None)
    pod = plain_pod("burstable")
    pod["metadata"]["labels"] = {"team": "a", "component": "taskmanager", "app": "fraud"}
    made = asked(b, "a Burstable pod", pod, "labelled", 1)
    told(b, made, "app=fraud,component=taskmanager,qos=Burstable", None)
    resources = sidecar(made)["resources"]
    b.ok("cpu" not in resources["limits"] and resources["limits"]["memory"] == resources["requests"]["memory"], "its sidecar has no limit of CPU", resources)
    own = {"cpu": "2", "memory": "3Gi"}
    made = asked(b, "a pod with resources of its own", plain_pod("own", resources={"limits": own, "requests": own}), "labelled", 1)
    told(b, made, "qos=Guaranteed", str(3 << 30))
    own = {"memory": "3G"}
    made = asked(b, "a pod with a limit of its own", plain_pod("half", resources={"limits": own}), "labelled", 1)
    told(b, made, "qos=Burstable", str(3 * 10 ** 9))
    pod = plain_pod("user", securityContext={"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}})
    pod["spec"]["containers"][0]["securityContext"].update(runAsUser=1000, runAsGroup=1001)
    made = asked(b, "user and group of the watched container", pod, "labelled", 1)
    b.ok((sidecar(made)["securityContext"]["runAsUser"], sidecar(made)["securityContext"]["runAsGroup"]) == (1000, 1001), "they are the sidecar's", sidecar(made))
    pod = plain_pod("openshift", securityContext={"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}})
    made = asked(b, "a pod that says neither user nor group", pod, "labelled", 1)
    b.ok("runAsUser" not in sidecar(made)["securityContext"], "nor does the sidecar", sidecar(made)["securityContext"])


def classes(b):
    """What the sidecar is told of its pod's class is what the server says of it."""
    limits = {"cpu": "1", "memory": "1Gi"}
    whole = plain_pod("q3", resources={"limits": {"cpu": "2", "memory": "2Gi"}, "requests": {"cpu": "2", "memory": "2Gi"}})
    pods = [plain_pod("q1"), plain_pod("q2"), whole, plain_pod("q4", resources={"limits": {"memory": "2Gi"}}), plain_pod("q5")]
    pods[1]["spec"]["containers"][0]["resources"] = {"limits": limits}  # the server makes them the requests
    pods[4]["spec"]["containers"][0].pop("resources")
    for pod in pods:
        status, made = b.cluster.create(pod, "labelled", dry=True)
        env = env_of(sidecar(made)) if status == 201 and sidecar(made) else {}
        want = made.get("status", {}).get("qosClass")
        b.ok(f"qos={want}" in env.get("BANKFULL_LABELS", "").split(","), f"a pod with {pod['spec'].get('resources', pod['spec']['containers'][0].get('resources'))}: the sidecar knows its class, {want}",
             made.get("message") or env)
    _, made = b.cluster.create(whole, "labelled", dry=True)
    b.ok(env_of(sidecar(made)).get("BANKFULL_POD_LIMIT") == str(2 << 30), "and the pod's own limit", env_of(sidecar(made)))


def essence(pod):
    """What both ways add, in an order of its own; and none of what only a file can know."""
    s = copy.deepcopy(sidecar(pod))
    env = {e["name"]: e for e in s.pop("env")}
    env = {n: e for n, e in env.items() if e.get("value", "") or "valueFrom" in e}
    env = {n: e for n, e in env.items() if (n, e.get("value")) != ("BANKFULL_GRACE", "27s")}  # the agent's default
    env.pop("BANKFULL_WORKLOAD", None)  # a file names it by its object, the server by the pod's labels
    volumes = {v["name"]: v for v in pod["spec"]["volumes"] if v["name"].startswith("bankfull-")}
    s["volumeMounts"] = sorted(s["volumeMounts"], key=lambda m: m["name"])
    return {"sidecar": s, "env": env, "volumes": volumes, "shared": pod["spec"].get("shareProcessNamespace")}


def differences(one, other, path=""):
    if isinstance(one, dict) and isinstance(other, dict):
        return [d for k in sorted({*one, *other}) for d in differences(one.get(k), other.get(k), f"{path}.{k}")]
    return [] if one == other else [f"{path[1:]}: by the policy {one}, by bankfull inject {other}"]


def as_inject_does(b):
    """The same pods, once labelled and once through `bankfull inject`, both as the server made them."""
    config = b.cluster.get("v1", "ConfigMap", f"{RELEASE}-ca", NAMESPACE)["data"]["ca.crt"]
    ca = f"{b.where}/ca-of-collector.crt"
    with open(ca, "w", encoding="ascii") as f:
        f.write(config)
    flink = plain_pod("tm")
    flink["metadata"]["labels"] = {"type": "flink-native-kubernetes", "app": "fraud", "component": "taskmanager"}
    flink["spec"]["containers"][0]["name"] = "flink-main-container"
    flink["spec"]["containers"].append({**plain_pod("x")["spec"]["containers"][0], "name": "other"})
    flink["spec"]["terminationGracePeriodSeconds"] = 90
    guaranteed = plain_pod("guaranteed")
    guaranteed["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "2", "memory": "4Gi"}, "requests": {"cpu": "2", "memory": "4Gi"}}
    named = plain_pod("named")
    named["metadata"].update(labels={"app.kubernetes.io/name": "orders"}, annotations={"bankfull.io/metrics-url": "http://127.0.0.1:9249/", "bankfull.io/config": "mine"})
    short = plain_pod("short", terminationGracePeriodSeconds=4, volumes=[{"name": "v", "emptyDir": {}}])
    for name, pod in (("a plain pod", plain_pod("plain")), ("Flink's", flink), ("a Guaranteed one", guaranteed), ("one with annotations", named), ("one with little grace", short),
                      ("one with resources of its own", plain_pod("whole", resources={"limits": {"cpu": "2", "memory": "2Gi"}, "requests": {"cpu": "2", "memory": "2Gi"}}))):
        status, by_policy = b.cluster.create(labelled(pod), "plain", dry=True)
        done = b.bankfull("inject", "-f", "-", "--image", "bankfull:0.1.0", "--collector", f"wss://{RELEASE}.{NAMESPACE}.svc:8480/agent", "--audience",
                          f"bankfull.{RELEASE}.{NAMESPACE}", "--ca-file", ca, text=yaml.safe_dump(pod))
        if status != 201 or not done.good:
            b.ok(False, f"{name}: the same by label and by bankfull inject", f"{by_policy.get('message')}\n{done.both}")
            continue
        status, by_file = b.cluster.create(yaml.safe_load(done.stdout), "plain", dry=True)
        if status != 201:
            b.ok(False, f"{name}: what bankfull inject writes is taken", by_file.get("message"))
            continue
        found = differences(essence(by_policy), essence(by_file))
        b.ok(not found, f"{name}: the same by label and by bankfull inject", "\n".join(found))


def without_parameters(b):
    """A pod must start whatever became of the installation."""
    path = ("v1", "ConfigMap", f"{RELEASE}-ca", NAMESPACE)
    kept = b.cluster.get(*path)
    b.cluster.delete(*path)
    b.ok(until(20, lambda: not b.injects("labelled")), "the policy's ConfigMap is gone: nothing is injected")
    asked(b, "and pods start as they are", plain_pod("p"), "labelled", 0)
    thing = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{RELEASE}-ca"}, "data": {"other": "x"}}
    b.cluster.create(thing, NAMESPACE)
    asked(b, "a ConfigMap without the authority: they start as well", plain_pod("q"), "labelled", 0)
    b.cluster.patch(*path, {"data": {"other": None, **kept["data"]}})
    b.ok(until(20, lambda: b.injects("labelled")), "it is back: they are injected again")


def two_installations(b):
    """Both policies fit every labelled pod."""
    b.cluster.namespace("second")
    done = b.helm(4, "install", "other", b.chart, "--namespace", "second")
    b.ok(done.good and b.cluster.get("v1", "ConfigMap", "other-bankfull-ca", "second"), "a second installation beside the first", done.both)

    def injected():
        _, made = b.cluster.create(plain_pod("u"), "labelled", dry=True)
        return made.get("spec") and n_sidecars(made) == 1

    b.ok(all(until(5, injected) for _ in range(10)), "a pod gets one sidecar all the same")
    path = ("v1", "ConfigMap", f"{RELEASE}-ca", NAMESPACE)
    kept = b.cluster.get(*path)
    b.cluster.delete(*path)
    found = until(20, lambda: [s for s in [sidecar(b.cluster.create(plain_pod("u"), "labelled", dry=True)[1])] if s and "other-bankfull.second" in str(s)])
    b.ok(found, "and that of the other, where the first has lost its parameters")
    b.cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{RELEASE}-ca"}, "data": kept["data"]}, NAMESPACE)
    done = b.helm(4, "uninstall", "other", "--namespace", "second")
    b.ok(done.good and until(20, lambda: env_of(sidecar(b.cluster.create(plain_pod("u"), "labelled", dry=True)[1]) or {}).get("BANKFULL_COLLECTOR", "").startswith(f"wss://{RELEASE}.{NAMESPACE}.")),
         "uninstalled, the first goes on", done.both)


def kill_switch(b):
    done = b.helm(4, "upgrade", RELEASE, b.chart, "--namespace", NAMESPACE, "--set", "injection.enabled=false")
    b.ok(done.good and until(20, lambda: not b.injects("labelled")), "injection.enabled=false: nothing is injected", done.both)
    asked(b, "and pods start", labelled(plain_pod("r")), "labelled", 0)
    done = b.helm(4, "upgrade", RELEASE, b.chart, "--namespace", NAMESPACE, "--set", "injection.enabled=true")
    b.ok(done.good and until(20, lambda: b.injects("labelled")), "true again: they are", done.both)


def run(b):
    b.installed()
    who(b)
    once(b)
    details(b)
    classes(b)
    as_inject_does(b)
    without_parameters(b)
    two_installations(b)
    kill_switch(b)
