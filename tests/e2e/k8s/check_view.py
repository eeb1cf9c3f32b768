# SPDX-License-Identifier: Apache-2.0
"""Kubernetes' own view (rbac.events, rbac.pods): pods watched at a real server, findings as Events of it, ends of containers beside
post-mortems, and each of these rights taken away."""
import os
import ssl
import sys
import time

from bench import NAMESPACE, RELEASE
from check_identity import NODE, pod
from cluster import until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../integration"))
from wire_client import Client, epoch, hello, sample  # noqa: E402

SPACE = "labelled"
RBAC = "rbac.authorization.k8s.io/v1"


class Agent:
    """Says what no JVM is here to say, by the token of a real pod."""

    def __init__(self, b, made):
        self.epoch, self.seq = epoch(), 0
        token = b.cluster.token("default", SPACE, f"bankfull.{RELEASE}.{NAMESPACE}", made)
        context = ssl.create_default_context(cadata=b.cluster.get("v1", "ConfigMap", f"{RELEASE}-ca", NAMESPACE)["data"]["ca.crt"])

        def connect():
            try:
                return Client(int(b.ports["8480"]), token=token, tls=context, timeout=20)
            except Exception as e:  # 503: it is being reviewed
                self.why = e
                return None

        self.client = until(20, connect, 1)
        if not self.client:
            raise self.why
        greeting = hello(made["metadata"]["name"], [(self.epoch, 1, 0)], now_ms(), SPACE)
        greeting["subject"].update(pod_uid=made["metadata"]["uid"], container="app", node=NODE)
        self.client.send(greeting)
        self.client.receive()
        self.put(sample(self.epoch, 0, now_ms()))

    def put(self, message):
        self.seq += 1
        self.client.send({**message, "epoch": self.epoch, "seq": self.seq})
        return self.client.until_ack(self.epoch, self.seq)

    def finding(self, number, rule, edge="opened", severity="warning"):
        title = f"4 % of the limit are left ({rule})"
        self.put({"type": "finding", "mono_ms": 1, "wall_ms": now_ms(), "id": f"{rule}.7.100.{number}", "edge": edge, "rule": rule, "severity": severity,
                  "owner": "java-heap", "opened_ms": now_ms(), "title": title, "finding": {"rule": rule, "title": title}})


def now_ms():
    return int(time.time() * 1000)


def events(b, name, reason=None):
    return [e for e in b.cluster.items("events.k8s.io/v1", "Event", SPACE) if e["regarding"]["name"] == name and reason in (None, e["reason"])]


def metric(b, name):
    done = b.run("curl", "-sS", "--max-time", "10", "-k", f"https://127.0.0.1:{b.ports['8482']}/metrics")
    if not done.good:
        done = b.run("curl", "-sS", "--max-time", "10", f"http://127.0.0.1:{b.ports['8482']}/metrics")
    return next((float(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith(name + " ") or line.startswith(name + "{")), None)


def watched(b):
    def same():
        return metric(b, "bankfull_collector_kube_pods") == len(b.cluster.items("v1", "Pod"))

    b.ok(until(20, same), "every pod of the cluster is known", (metric(b, "bankfull_collector_kube_pods"), b.hands.said(b.collector)[-1500:]))
    made = pod(b, "view")
    b.ok(until(20, same), "and one that comes")
    b.cluster.patch("v1", "Pod", "view", SPACE, {"metadata": {"annotations": {"changed": "1"}}})
    b.cluster.delete("v1", "Pod", "view", SPACE)
    b.ok(until(20, same), "and no more when it is gone")
    return made


def told(b):
    made = pod(b, "tm-view")
    agent = Agent(b, made)
    agent.finding(1, "freeboard-low")
    agent.finding(2, "managed-idle", severity="notice")
    found = until(20, lambda: events(b, "tm-view", "FreeboardLow"))
    b.ok(found, "a warning becomes an Event that the server takes", b.hands.said(b.collector)[-1500:])
    if found:
        event = found[0]
        b.ok(event["regarding"]["uid"] == made["metadata"]["uid"] and event["type"] == "Warning" and event["metadata"]["namespace"] == SPACE, "of the pod, by its UID", event)
        listed = b.kubectl("events", "-n", SPACE, "--for", "pod/tm-view")
        b.ok("FreeboardLow" in listed.stdout and "4 % of the limit are left" in listed.stdout, "kubectl events --for pod/tm-view shows it", listed.both)
    agent.finding(1, "freeboard-low", "updated", "critical")
    b.ok(until(20, lambda: len(events(b, "tm-view", "FreeboardLow")) == 2), "one more when it gets worse", events(b, "tm-view"))
    b.ok(not events(b, "tm-view", "ManagedIdle"), "none for a notice")
    before = len(events(b, "tm-view"))
    b.stop_collector()
    b.start_collector()
    agent = Agent(b, made)
    agent.finding(3, "heap-pressure")
    b.ok(until(20, lambda: events(b, "tm-view", "HeapPressure")) and len(events(b, "tm-view")) == before + 1, "a restart of the collector repeats none", events(b, "tm-view"))
    return agent


def ended(b, name, where, code, reason, started_s=600):
    """As the kubelet writes it, into the subresource that is its own: state.terminated, or lastState.terminated of one that was begun again."""
    now = time.time()
    stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))  # noqa: E731
    end = {"terminated": {"exitCode": code, "reason": reason, "startedAt": stamp(now - started_s), "finishedAt": stamp(now), "containerID": "containerd://" + "a" * 64}}
    state = {"lastState": end, "state": {"running": {"startedAt": stamp(now)}}} if where == "lastState" else {"state": end}
    status = {"phase": "Running" if where == "lastState" else "Failed",
              "containerStatuses": [{"name": "app", "image": "app:1", "imageID": "", "ready": False, "restartCount": int(where == "lastState"), **state}]}
    code, said = b.cluster.patch("v1", "Pod", name, SPACE, {"status": status}, "/status")
    b.ok(code == 200, f"{name}: the server takes the status that says {reason} by {where}.terminated", said)
    return int(now) * 1000


def told_of(b, name):
    """The post-mortems of a pod, whole, and what Kubernetes says in each."""
    rows = b.dashboard(f"/api/v1/postmortems?pod={name}")["items"]
    whole = [b.dashboard(f"/api/v1/postmortems/{row['id']}") for row in rows]
    return [(w, next((body["kubernetes"] for body in w["bodies"] if "kubernetes" in body), None)) for w in whole]


def deaths(b, agent):
    """One that the agent tells of, one of a pod that vanishes at once, and one that nobody tells of but the server."""
    def dies(one, name):
        one.put({"type": "postmortem", "mono_ms": 1, "wall_ms": now_ms(), "id": f"pm-{name}", "part": 0, "parts": 1, "cause": "unknown", "pid": 7, "died_ms": now_ms(),
                 "title": "it died", "body": {"cause": "unknown", "limit_bytes": 1 << 30, "floor_bytes": (1 << 30) - 4096}})

    def is_told(name):
        return [by for _, by in told_of(b, name) if by]

    alone = Agent(b, pod(b, "tm-alone"))
    alone.put(sample(alone.epoch, 0, now_ms(), charge_bytes=(1 << 30) - 4096, floor_bytes=(1 << 30) - 8192, freeboard_bytes=8192))
    alone.client.send({"type": "bye", "reason": "terminated"})
    alone.client.close()
    died = ended(b, "tm-alone", "lastState", 137, "OOMKilled")
    dies(agent, "tm-view")
    ended(b, "tm-view", "lastState", 137, "OOMKilled")
    b.ok(until(30, lambda: is_told("tm-view")), "lastState.terminated of a real watch stands beside the agent's post-mortem", (told_of(b, "tm-view"), b.hands.said(b.collector)[-1500:]))
    found = told_of(b, "tm-view")
    b.ok(len(found) == 1 and found[0][0]["cause"] == "container-limit" and not found[0][0]["inferred"] and found[0][1]["exit_code"] == 137 and found[0][1]["reason"] == "OOMKilled"
         and found[0][1]["effect"] == "corrects", "and makes its unknown cause the container's limit", found)
    gone = Agent(b, pod(b, "tm-gone"))
    dies(gone, "tm-gone")
    ended(b, "tm-gone", "state", 137, "OOMKilled")
    b.cluster.delete("v1", "Pod", "tm-gone", SPACE)
    b.ok(until(30, lambda: is_told("tm-gone")), "so does state.terminated of a pod that is deleted at once", (told_of(b, "tm-gone"), b.hands.said(b.collector)[-1500:]))
    b.ok(not told_of(b, "tm-alone"), "an end that no agent told of waits for one")

    def told_by_now():
        agent.put(sample(agent.epoch, 0, now_ms()))  # who says nothing for long is cut off
        return is_told("tm-alone")

    b.ok(until(240, told_by_now, 2), "and is told by Kubernetes' word alone", (told_of(b, "tm-alone"), b.hands.said(b.collector)[-1500:]))
    found = told_of(b, "tm-alone")
    b.ok(len(found) == 1 and found[0][0]["inferred"] and found[0][0]["cause"] == "container-limit" and found[0][0]["died_ms"] == died
         and metric(b, "bankfull_collector_kube_postmortems_alone_total") == 1, "once, at the time that the server says, with what was stored of it", found)


def each_right(b, agent):
    roles = [r for r in b.cluster.items(RBAC, "ClusterRole") if r["metadata"]["name"] == f"{RELEASE}-{NAMESPACE}-view"]
    have = sorted((verb, r) for role in roles for rule in role["rules"] for r in rule["resources"] for verb in rule["verbs"])
    b.ok(have == [("create", "events"), ("watch", "pods")], "its role has no right but these two", have)
    if len(roles) != 1:
        return
    name, rules = roles[0]["metadata"]["name"], roles[0]["rules"]

    def give(given, group, verb, resource, want):
        b.cluster.patch(RBAC, "ClusterRole", name, None, {"rules": given})
        return until(10, lambda: b.cluster.may(RELEASE, NAMESPACE, verb, resource, group, where=SPACE) == want)

    b.ok(give([r for r in rules if r["resources"] != ["events"]], "events.k8s.io", "create", "events", False), "'create events' is taken away")
    agent.finding(4, "thread-growth")
    b.ok(until(20, lambda: "rbac.events" in b.hands.said(b.collector)) and not events(b, "tm-view", "ThreadGrowth"), "no Event comes, and the log names the value",
         b.hands.said(b.collector)[-1500:])
    give(rules, "events.k8s.io", "create", "events", True)
    b.ok(give([r for r in rules if r["resources"] != ["pods"]], "", "watch", "pods", False), "'watch pods' is taken away")
    b.stop_collector()
    b.start_collector()
    b.ok(until(20, lambda: "rbac.pods" in b.hands.said(b.collector)) and not metric(b, "bankfull_collector_kube_pods"), "no pod is known, and the log names the value",
         b.hands.said(b.collector)[-1500:])
    give(rules, "", "watch", "pods", True)


def one_namespace(b):
    """By a Role, where rbac.namespaces says so."""
    b.upgrade("rbac.events=true", "rbac.pods=true", "rbac.namespaces={" + SPACE + "}")
    b.ok(not [r for r in b.cluster.items(RBAC, "ClusterRole") if r["metadata"]["name"] == f"{RELEASE}-{NAMESPACE}-view"] and b.cluster.get(RBAC, "Role", f"{RELEASE}-{NAMESPACE}-view", SPACE),
         "a Role in the namespace, and no ClusterRole",
         ([r["metadata"]["name"] for r in b.cluster.items(RBAC, "ClusterRole") if "bankfull" in r["metadata"]["name"]], [(r["metadata"]["namespace"], r["metadata"]["name"]) for r in b.cluster.items(RBAC, "Role")]))
    b.ok(until(20, lambda: metric(b, "bankfull_collector_kube_pods") == len(b.cluster.items("v1", "Pod", SPACE))), "its pods are known, and no others",
         (metric(b, "bankfull_collector_kube_pods"), b.hands.said(b.collector)[-1500:]))


def run(b):
    b.installed()
    b.upgrade("rbac.events=true", "rbac.pods=true")
    watched(b)
    agent = told(b)
    deaths(b, agent)
    each_right(b, agent)
    one_namespace(b)
    b.upgrade()
    b.ok(not b.cluster.items(RBAC, "Role", SPACE) and "kube-" not in str(b.hands.said(b.collector)), "without these values the rights are gone, and nobody misses them")
    for name in ("tm-view", "tm-alone"):
        b.cluster.delete("v1", "Pod", name, SPACE)
