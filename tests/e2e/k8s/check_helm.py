# SPDX-License-Identifier: Apache-2.0
"""Both helms: install, test, upgrade, the kill switch, uninstall. The hooks' Jobs are run by hands.py, the real program as the real account."""
from bench import NAMESPACE, RELEASE
from cluster import until

LEFT_OUT = ("Event", "Lease", "ComponentStatus", "PodMetrics", "NodeMetrics")


def everything(b):
    """All objects of the cluster, by UID: an object has one name in each version of its kind."""
    out = {}
    for (version, kind), (_, _, _, verbs) in b.cluster.kinds.items():
        if "list" in verbs and kind not in LEFT_OUT:
            for thing in b.cluster.items(version, kind):
                out[thing["metadata"]["uid"]] = (kind, thing["metadata"].get("namespace", ""), thing["metadata"]["name"])
    return out


def authority(b):
    """Secret and ConfigMap, as they stand."""
    found = [b.cluster.get("v1", kind, f"{RELEASE}-ca", NAMESPACE) for kind in ("Secret", "ConfigMap")]
    return [f and f["data"] for f in found]


def claim(b):
    """What the controller of the StatefulSet would make of its claim template."""
    owner = b.cluster.get("apps/v1", "StatefulSet", RELEASE, NAMESPACE)
    made = owner["spec"]["volumeClaimTemplates"][0]
    name = f"{made['metadata']['name']}-{RELEASE}-0"
    status, said = b.cluster.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": made["spec"]}, NAMESPACE)
    return status == 201 and ("PersistentVolumeClaim", NAMESPACE, said["metadata"]["name"])


def policies(b):
    return [p["metadata"]["name"] for p in b.cluster.items("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy")]


def one(b, version):
    def helm(*words):
        return b.helm(version, *words, "--namespace", NAMESPACE)

    before = everything(b)
    done = helm("install", RELEASE, b.chart)
    said = b.hands.jobs.get(f"{NAMESPACE}/{RELEASE}-init-tls")
    b.ok(done.good, f"Helm {version}: install", f"{done.both}\n{said}")
    b.ok("kubectl label namespace NAMESPACE bankfull.io/inject=enabled" in done.both and "NOT DURABLE" not in done.both,
         f"Helm {version}: its notes say the next step", done.both)
    first = authority(b)
    b.ok(all(first) and said[0] == 0, f"Helm {version}: the hook made the authority", said)
    b.ok(not b.cluster.items("batch/v1", "Job", NAMESPACE) and not b.cluster.get("rbac.authorization.k8s.io/v1", "Role", f"{RELEASE}-init-tls", NAMESPACE),
         f"Helm {version}: and left neither Job nor right")
    kept = claim(b)
    b.start_collector()
    b.hands.jobs.clear()
    done = helm("test", RELEASE, "--timeout", "90s")
    b.ok(done.good, f"Helm {version}: test has a session with the collector, by the pod's own token",
         f"{done.both}\n{b.hands.jobs}\n{b.hands.said(b.collector)[-1500:]}")
    b.ok(policies(b), f"Helm {version}: the policy is there, for the server has its API")
    done = helm("upgrade", RELEASE, b.chart, "--set", "collector.logDebug=true")
    b.ok(done.good and authority(b) == first, f"Helm {version}: an upgrade keeps the authority, byte for byte", done.both)
    b.ok(b.hands.jobs.get(f"{NAMESPACE}/{RELEASE}-init-tls", (1, ""))[1].find("it is kept") >= 0, f"Helm {version}: and its hook says so", b.hands.jobs)
    done = helm("upgrade", RELEASE, b.chart, "--set", "injection.enabled=false")
    b.ok(done.good and not policies(b), f"Helm {version}: injection.enabled=false takes the policy away", done.both)
    done = helm("rollback", RELEASE, "1")
    b.ok(done.good and policies(b) and authority(b) == first, f"Helm {version}: a rollback brings it back, and keeps the authority", done.both)
    b.stop_collector()
    b.cluster.delete("v1", "Pod", f"{RELEASE}-0", NAMESPACE)  # its controller's
    done = helm("uninstall", RELEASE)
    said = b.hands.jobs.get(f"{NAMESPACE}/{RELEASE}-remove-tls")
    b.ok(done.good and said and said[0] == 0, f"Helm {version}: uninstall", f"{done.both}\n{said}")
    after = until(15, lambda: list(new(b, before)) == [kept]) and [kept] or new(b, before)
    b.ok(after == [kept], f"Helm {version}: it leaves nothing but the claim", "\n".join(map(str, after)))
    b.cluster.patch("v1", "PersistentVolumeClaim", kept[2], NAMESPACE, {"metadata": {"finalizers": None}})
    b.cluster.delete("v1", "PersistentVolumeClaim", kept[2], NAMESPACE)


def new(b, before):
    now = everything(b)
    return sorted(now[uid] for uid in now if uid not in before)


def refused(b):
    """Before anything is made."""
    before = everything(b)
    for version in (3, 4):
        done = b.helm(version, "install", RELEASE, b.chart, "--namespace", NAMESPACE, "--set", "tls.enabled=false")
        b.ok(not done.good and "agents show a token" in done.both, f"Helm {version}: tls.enabled=false is refused with the reason", done.both)
        done = b.helm(version, "install", RELEASE, b.chart, "--namespace", NAMESPACE, "--set", "colector.replicas=1")
        b.ok(not done.good and "colector" in done.both, f"Helm {version}: a value misspelt is refused by its name", done.both)
    b.ok(not new(b, before), "what was refused has left nothing", new(b, before))


def run(b):
    if not b.cluster.get("v1", "Namespace", NAMESPACE):
        b.cluster.namespace(NAMESPACE)
    refused(b)
    for version in (3, 4):
        one(b, version)
