# SPDX-License-Identifier: Apache-2.0
"""Kubernetes' own view of pods in the collector, against a stand-in for its API server. TAP on the output."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # noqa: E402
from kit import WORK, finish, now_ms, ok, until, write  # noqa: E402
from kube_watch import WatchServer  # noqa: E402
from wire_client import Client, epoch, hello, sample  # noqa: E402


def certificates():
    run = lambda *a: subprocess.run(["openssl", *a], check=True, capture_output=True, cwd=WORK)  # noqa: E731
    run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
        "-addext", "subjectAltName=DNS:localhost", "-keyout", "api.key", "-out", "api.pem")


def pod(name, uid, node="node-a", namespace="streaming", **status):
    return {"kind": "Pod", "metadata": {"name": name, "namespace": namespace, "uid": uid}, "spec": {"nodeName": node},
            "status": {"phase": "Running", **status}}


def ended(reason, code, at_ms, where="lastState", container="taskmanager", **more):
    import datetime
    at = datetime.datetime.fromtimestamp(at_ms / 1000, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"containerStatuses": [{"name": container, "state": {"running": {}}, where: {
        "terminated": {"exitCode": code, "reason": reason, "finishedAt": at, **more}}}]}


class Agent:
    def __init__(self, collector, name, uid, namespace="streaming"):
        self.client, self.epoch, self.seq = Client(collector.port), epoch(), 0
        greeting = hello(name, [(self.epoch, 1, 0)], now_ms(), namespace)
        greeting["subject"].update(pod_uid=uid, container="taskmanager", node="node-a")
        self.client.send(greeting)
        self.client.receive()
        self.sample()

    def put(self, message):
        self.seq += 1
        self.client.send({**message, "epoch": self.epoch, "seq": self.seq})
        return self.client.until_ack(self.epoch, self.seq)

    def sample(self, **more):
        self.put(sample(self.epoch, 0, now_ms(), **more))

    def finding(self, number, edge="opened", severity="warning", title="4 % of the limit are left", rule="freeboard-low"):
        self.put({"type": "finding", "mono_ms": 1, "wall_ms": now_ms(), "id": "%s.7.100.%d" % (rule, number), "edge": edge,
                  "rule": rule, "severity": severity, "owner": "java-heap", "opened_ms": now_ms(),
                  **({} if edge == "cleared" else {"title": title, "finding": {"rule": rule, "title": title}})})


def options(api, *more):
    return ["--kube-url", "https://localhost:%d" % api.port, "--kube-ca", WORK + "/api.pem", "--kube-token", WORK + "/token", *more]


def events_of(api, reason):
    return [e for e in list(api.events.values()) if e["reason"] == reason]


def posts(api):
    return len([a for a in api.asked if a["kind"] == "event"])


def findings_become_events(api):
    api.put(pod("tm-1", "uid-1"))
    api.put(pod("other", "uid-9", namespace="kube-system"))
    collector = kit.Collector("events", *options(api, "--kube-events", "--kube-pods", "--public-url", "https://b.example.com/"))
    ok(until(20, lambda: collector.metric("bankfull_collector_kube_pods") == 2), "the pods are known")
    ok(api.asked[0]["authorization"] == "Bearer first-token" and "allowWatchBookmarks=true" in api.asked[0]["path"]
       and "resourceVersion" not in api.asked[0]["path"], "by one watch, as the service account", api.asked[0])
    agent = Agent(collector, "tm-1", "uid-1")
    agent.finding(1)
    agent.finding(2, severity="notice", rule="managed-idle")
    ok(until(20, lambda: events_of(api, "FreeboardLow")), "a warning becomes an Event", api.asked[-3:])
    event = (events_of(api, "FreeboardLow") or [{}])[0]
    ok(event.get("path") == "/apis/events.k8s.io/v1/namespaces/streaming/events" and event.get("type") == "Warning"
       and event["regarding"] == {"apiVersion": "v1", "kind": "Pod", "namespace": "streaming", "name": "tm-1", "uid": "uid-1",
                                  "fieldPath": "spec.containers{taskmanager}"}, "of events.k8s.io/v1, about the pod's container", event)
    ok(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", event["eventTime"]) and event["reportingController"]
       and event["reportingInstance"] and event["action"] and len(event["note"]) <= 1024
       and "4 % of the limit are left" in event["note"] and "https://b.example.com/#/findings/" in event["note"], "as the API wants it", event)
    agent.finding(1, "updated")
    agent.finding(1, "updated", title="3 % of the limit are left")
    write("token", "second-token\n")
    agent.finding(1, "updated", "critical")
    ok(until(20, lambda: len(events_of(api, "FreeboardLow")) == 2), "a severity that rises is one more")
    ok(api.asked[-1]["authorization"] == "Bearer second-token", "a token that was rotated is read again")
    ok(not events_of(api, "ManagedIdle"), "a notice is none")
    # Whoever says it is somebody else: no Event under that name.
    liar = Agent(collector, "other", "uid-1", "kube-system")
    liar.finding(3, rule="native-growth")
    nobody = Agent(collector, "tm-7", "uid-7")
    nobody.finding(4, rule="native-growth")
    ok(until(10, lambda: collector.metric("bankfull_collector_kube_findings_unvouched") == 2) and not events_of(api, "NativeGrowth"),
       "no Event for whom nobody vouches", list(api.events))
    api.refuse["event"] = 500
    agent.finding(5, rule="thread-growth")
    ok(until(10, lambda: collector.metric("bankfull_collector_kube_event_failures_total") >= 2), "an API server that fails is asked again")
    ok("kube-event-failing" in collector.said() and "first-token" not in collector.said(), "and it is said, without the token")
    api.refuse.pop("event")
    ok(until(20, lambda: events_of(api, "ThreadGrowth")), "the Event comes when it can")
    agent.finding(8, rule="metaspace-growth")
    agent.finding(8, "cleared", rule="metaspace-growth")
    until(5, lambda: False)
    names, n = set(api.events), posts(api)
    collector.stop()
    collector.start()
    ok(until(20, lambda: posts(api) == n + 2) and set(api.events) == names and collector.metric("bankfull_collector_kube_events_total") == 0,
       "what was open is told by the next run, under the names that are there", (n, posts(api), set(api.events) ^ names))
    agent = Agent(collector, "tm-1", "uid-1")
    agent.finding(6, rule="heap-pressure")
    ok(until(20, lambda: events_of(api, "HeapPressure")) and posts(api) == n + 3, "each once", api.asked[-4:])
    collector.stop()
    api.events.clear()  # as after an hour, when Kubernetes forgets them
    gone = api.pods.pop("uid-1")
    collector.start()
    until(5, lambda: False)
    ok(not api.events and collector.metric("bankfull_collector_kube_pods") == 1, "nothing of a pod that nobody has word of", list(api.events))
    api.put(gone)
    ok(until(20, lambda: len(api.events) == 3) and {e["reason"] for e in api.events.values()} == {"FreeboardLow", "ThreadGrowth", "HeapPressure"},
       "what Kubernetes forgot it has again, the gravest of each", list(api.events))
    ok([e["note"].split("(")[1].split(",")[0] for e in api.events.values()][0] == "critical", "the gravest first", [e["note"] for e in api.events.values()])
    ok(collector.stop() == 0, "it ends well with a watch under way")
    api.events.clear()


def watches_that_break(api):
    collector = kit.Collector("watch", *options(api, "--kube-pods", "--kube-namespaces", "streaming"))
    ok(until(20, lambda: collector.metric("bankfull_collector_kube_pods") == 1)
       and api.asked[-1]["path"].startswith("/api/v1/namespaces/streaming/pods?"), "one namespace's alone", api.asked[-1])
    api.cut()
    api.put(pod("tm-2", "uid-2"))
    ok(until(20, lambda: collector.metric("bankfull_collector_kube_pods") == 2)
       and "&resourceVersion=" in api.asked[-1]["path"], "it goes on where a cut left it", api.asked[-1])
    del api.pods["uid-2"]  # while nobody watches, and nobody remembers
    api.cut(forget=True)
    ok(until(20, lambda: collector.metric("bankfull_collector_kube_pods") == 1)
       and "resourceVersion=" not in api.asked[-1]["path"], "410: it begins anew, and who is not named is gone", api.asked[-2:])
    api.raw = [b"no JSON at all\n", b'{"type":"ADDED","object":' + b"[" * 5000 + b"\n", b"x" * (600 * 1024) + b"\n",
               b'{"type":"ADDED","object":{"metadata":{"name":"\\u001b","namespace":"a","uid":"b","resourceVersion":"5"}}}\n']
    api.cut()
    api.put(pod("tm-3", "uid-3"))
    ok(until(20, lambda: collector.metric("bankfull_collector_kube_pods") == 2), "lines that are none are left out")
    api.refuse["watch"] = 403
    api.cut()
    ok(until(20, lambda: "rbac.pods" in collector.said()) and collector.metric("bankfull_collector_kube_watch_failures_total") >= 1
       and collector.metric("bankfull_collector_kube_pod_news_skipped_total") == 4,
       "403: the right that is missing is named", collector.said()[-800:])
    n = len(api.asked)
    until(3, lambda: False)
    ok(len(api.asked) - n <= 3 and collector.alive(), "and it is not hammered", len(api.asked) - n)
    api.refuse.clear()
    ok(until(30, lambda: "kube-pods-well" in collector.said()), "until it is allowed")
    collector.stop()


def deaths_are_told(api):
    collector = kit.Collector("deaths", *options(api, "--kube-pods"))
    until(20, lambda: collector.metric("bankfull_collector_kube_pods"))
    agents = {}

    def dies(name, cause, floor=0):
        agent = agents[name] = Agent(collector, name, "uid-" + name)
        agent.put({"type": "postmortem", "mono_ms": 1, "wall_ms": now_ms(), "id": "pm-" + name, "part": 0, "parts": 1, "cause": cause,
                   "pid": 7, "died_ms": now_ms(), "title": "it died",
                   "body": {"cause": cause, "limit_bytes": 1 << 30, "floor_bytes": floor}})

    def told(name):
        import json
        rows = json.loads(collector.get("/api/v1/postmortems?pod=" + name)[1])["items"]
        whole = json.loads(collector.get("/api/v1/postmortems/" + rows[0]["id"])[1]) if rows else {"bodies": []}
        return whole, next((b["kubernetes"] for b in whole["bodies"] if "kubernetes" in b), None)

    api.put(pod("full", "uid-full", **ended("OOMKilled", 137, now_ms())))  # before its post-mortem
    dies("full", "unknown", (1 << 30) - 1000)
    dies("limit", "container-limit")
    dies("evicted", "sigkill")
    dies("else", "sigkill")
    dies("liar", "unknown")
    api.put(pod("limit", "uid-limit", **ended("OOMKilled", 137, now_ms())))
    api.put(pod("evicted", "uid-evicted", reason="Evicted", message="The node was low on resource: memory. Threshold"))
    api.put(pod("evicted", "uid-evicted", reason="Evicted", message="The node was low on resource: memory. Threshold",
                **ended("Error", 137, now_ms(), "state")), "DELETED")
    api.put(pod("else", "uid-else", **ended("Error", 143, now_ms(), container="log")))  # another container, and another time
    api.put(pod("else", "uid-else", **ended("Error", 1, now_ms() - 600000)))
    api.put(pod("other", "uid-liar", namespace="kube-system", **ended("OOMKilled", 137, now_ms())))
    for name, effect, cause in [("full", "corrects", "container-limit"), ("limit", "confirms", "container-limit"),
                                ("evicted", "corrects", "node")]:
        ok(until(30, lambda: told(name)[1]), "%s: Kubernetes tells of its death" % name, told(name))
        whole, by = told(name)
        ok(by and by["effect"] == effect and whole["cause"] == cause and whole["whole"] and whole["parts_here"] == 1,
           "and %s it to %s" % (effect, cause), whole)
    until(6, lambda: False)
    ok(told("else")[1] is None and told("else")[0]["cause"] == "sigkill", "another container's, another time's is not its", told("else"))
    ok(told("liar")[1] is None, "nor is that of a pod of another name", told("liar"))
    ok(collector.metric("bankfull_collector_kube_postmortems_total") == 3, "each is told once")
    collector.stop()
    ok(collector.whole()[0], "the store is whole", collector.whole())


def settings_that_are_none(api):
    for name, arguments, part in [
            ("a namespace that is none", options(api, "--kube-pods", "--kube-namespaces", "a,B"), "names of namespaces"),
            ("nine namespaces", options(api, "--kube-pods", "--kube-namespaces", "a,b,c,d,e,f,g,h,i"), "more than 8"),
            ("no pod, and no URL", ["--kube-pods"], "this is no pod of Kubernetes")]:
        done = subprocess.run([kit.PROGRAM, "--listen", "127.0.0.1:%d" % kit.free_port(), "--data", WORK + "/none", *arguments],
                              capture_output=True, text=True, timeout=30,
                              env={k: v for k, v in os.environ.items() if not k.startswith("KUBERNETES_")})
        ok(done.returncode != 0 and part in done.stdout + done.stderr, "refused: " + name, done.stdout + done.stderr)


def main():
    certificates()
    os.makedirs(WORK + "/none")
    write("token", "first-token\n")
    api = WatchServer(WORK + "/api.pem", WORK + "/api.key")
    try:
        findings_become_events(api)
        watches_that_break(api)
        deaths_are_told(api)
        settings_that_are_none(api)
        api.close()
    finally:
        kit.end_all()
    finish()


main()
