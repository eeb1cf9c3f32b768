# SPDX-License-Identifier: Apache-2.0
"""See plan_collector.sh.    plan_collector.py BUILD DIRECTORY"""
import http.server
import json
import os
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # noqa: E402
from kit import BUILD, WORK, end_all, finish, now_ms, ok, until, write  # noqa: E402
from wire_client import Client  # noqa: E402

MIB = 1 << 20
TOKEN, OTHER = "viewer-token-of-everything", "viewer-token-of-another-team"
# 4096m as Flink 2.3 derives it, with RocksDB.
BUDGETS = {"heap": (1664299798, ["java-heap"]), "direct": (493921243, ["direct-buffers"]),
           "managed": (1438814063, ["rocksdb-block-cache", "rocksdb-memtables"]), "metaspace": (256 * MIB, ["metaspace"]),
           "jvm-overhead": (429496736, ["gc", "code-cache", "native-other"])}
USED = {"java-heap": 1500 * MIB, "direct-buffers": 370 * MIB, "rocksdb-block-cache": 1000 * MIB, "rocksdb-memtables": 200 * MIB,
        "metaspace": 180 * MIB, "gc": 50 * MIB, "code-cache": 60 * MIB, "native-other": 240 * MIB}


def plan(url, *options):
    """Status, standard output and standard error of one run."""
    run = subprocess.run([os.path.join(BUILD, "bankfull"), "plan", "--from-report", url, *options], capture_output=True,
                         timeout=60, stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C.UTF-8"})
    return run.returncode, run.stdout.decode(), run.stderr.decode()


class Agent:
    """One pod that tells a composition when it is asked to."""

    def __init__(self, port, n, role, workload, budgets, bounds=None, limit=4096 * MIB, **client):
        """client: how it connects, as wire_client.Client takes it."""
        self.epoch, self.seq, self.budgets, self.bounds, self.limit = "%032x" % (n + 1), 0, budgets, bounds or {}, limit
        self.client = Client(port, **client)
        engine = "kafka-streams 4.1.0" if role == "streams" else "flink 2.3.0"
        self.client.send({"type": "hello", "subject": {
            "namespace": "team", "workload": workload, "role": role, "pod": "%s-%d" % (workload, n),
            "pod_uid": "00000000-0000-4000-8000-%012d" % n, "node": "node", "container": "main", "jobs": []},
            "program": "0.1.0", "jdk": "17", "engine": engine, "mono_ms": 1, "wall_ms": now_ms(),
            "epochs": [{"epoch": self.epoch, "first": 1, "last": 1}]})
        assert self.client.receive()["type"] == "welcome"

    engine = None  # what its books tell of it; None: an older agent, which tells nothing

    def tell(self, owners, restarts=0, limit=None, floor=3600 * MIB):
        self.seq += 1
        limit = limit or self.limit
        budgets = []
        for name, (size, who, *told) in self.budgets.items():
            used = told[0] if told else sum(owners.get(o, 0) for o in who)
            budgets.append({"budget": name, "bytes": size, "owners": who, **({} if used is None else {"used_bytes": used})})
        self.client.send({
            "type": "sample", "epoch": self.epoch, "seq": self.seq, "mono_ms": 1000 * self.seq, "wall_ms": now_ms(),
            "interval_ms": 1000, "pid": 8, "start_ticks": 77, "access": "full", "limit_bytes": limit,
            "charge_bytes": floor + MIB, "floor_bytes": floor, "freeboard_bytes": limit - floor,
            "freeboard_level": "container", "groups_bytes": {"anon": floor},
            "composition": {"age_ms": 0, "owners_bytes": owners, "books": {"budgets": budgets, "bounds_bytes": self.bounds,
                                                                                     **({"engine": self.engine} if self.engine else {})}},
            "context": {"job_state": "running", "restarts": restarts}})
        while self.client.receive()["seq"] < self.seq:
            pass


def refused(name, status, part, url, *options):
    got = plan(url, *options)
    good = got[0] == status and got[1] == "" and got[2].count("\n") == 1 and part in got[2] and TOKEN not in got[2]
    ok(good, name, got)


def real(c, url):
    token = ("--token-file", write("viewer", TOKEN + "\n"))
    refused("an empty collector has no pod to size", 2, "no pod of the last day matches", url, *token)
    one = Agent(c.port, 1, "taskmanager", "fraud", BUDGETS)
    two = Agent(c.port, 2, "taskmanager", "fraud", BUDGETS)
    master = Agent(c.port, 3, "jobmanager", "fraud", {"heap": (1000 * MIB, ["java-heap"]), "jvm-overhead": (192 * MIB, ["gc"])})
    bare = Agent(c.port, 4, "taskmanager", "bare", {})
    streams = Agent(c.port, 5, "streams", "orders", {"heap": (512 * MIB, ["java-heap"])},
                    {"rocksdb-block-cache": 10 * 98 * MIB}, 2048 * MIB)
    streams_two = Agent(c.port, 6, "streams", "orders", {"heap": (512 * MIB, ["java-heap"])},
                        {"rocksdb-block-cache": 10 * 98 * MIB}, 2048 * MIB)
    gone = Agent(c.port, 9, "taskmanager", "fraud", dict(BUDGETS, heap=(900 * MIB, ["java-heap"])))
    gone.tell(USED)
    gone.client.sock.close()  # of an older configuration, and no pod of now
    for agent in (one, two):
        agent.tell(dict(USED, metaspace=2 * MIB), limit=8192 * MIB)  # another configuration: left out
    for round_ in range(4):
        time.sleep(1.3)
        one.tell(dict(USED, **({"native-other": 900 * MIB} if round_ == 1 else {})))
        two.tell(USED, restarts=round_ // 2)
        master.tell({"java-heap": 300 * MIB, "gc": 50 * MIB})
        bare.tell(USED)
        for agent in (streams, streams_two):
            agent.tell({"java-heap": 400 * MIB, "rocksdb-block-cache": 200 * MIB, "rocksdb-memtables": 100 * MIB,
                        "rocksdb-table-readers": 10 * MIB, "metaspace": 60 * MIB}, floor=900 * MIB)
    window = (*token, "--since", "10m")
    got = plan(url, *window, "--workload", "fraud", "--role", "taskmanager", "--format", "json")
    found = json.loads(got[1] or "{}")
    rows = {row["name"]: row for row in found.get("budgets", [])}
    ok(got[0] == 1 and found["pods"] == 2 and found["pods_left_out"] == 0 and found["readings"] == 8, "two pods, four readings each", got)
    ok(found["minutes_left_out"] == 2, "what had another limit is left out", got)
    over = rows["jvm-overhead"]
    ok(over["max_bytes"] == 1010 * MIB and over["p50_bytes"] == 350 * MIB and over["set_bytes"] == 429496736,
       "a peak of one pod is the highest of all, and the median is not", over)
    ok(all(rows[name]["set_bytes"] == size for name, (size, _) in BUDGETS.items()), "budgets are those that the agents told", rows)
    ok(rows["metaspace"]["max_bytes"] == 180 * MIB and rows["managed"]["max_bytes"] == 1200 * MIB, "sums of their owners", rows)
    ok(found["restored"] is True, "a restart of a job in the window is known", found)
    ok([s["budget"] for s in found["steps"]] == ["jvm-overhead"], "one change: what was overrun is raised", found["steps"])
    got = plan(url, *window, "--workload", "fraud", "--role", "taskmanager")
    ok("of 2 pods; 2 minutes of another limit left out" in got[1] and "jvm-overhead.max" in got[1], "the same for people", got)
    refused("JobManager and TaskManagers are not one configuration", 2, "size one at a time", url, *window, "--workload", "fraud")
    got = plan(url, *window, "--pod", "fraud-3")
    ok(got[0] == 0 and "flink-jobmanager" in got[1], "a JobManager alone, by its name", got)
    refused("a pod without budgets", 2, "team/bare-4: its budgets are not known", url, *window, "--workload", "bare")
    got = plan(url, *window, "--workload", "orders", "--format", "json")
    found = json.loads(got[1] or "{}")
    ok(got[0] == 1 and found["kind"] == "resize-streams" and found["pods_told"] == 2 and found["instances"] == 10 and
       found["instances_one_lost"] == 20, "Kafka Streams: the pods are counted, and one is lost", got)
    ok(found["proposed_cache_bytes"] >= 620 * MIB and found["needed_bytes"] <= 2048 * MIB,
       "the cache holds what both were seen to take, within the limit", found)
    refused("nobody of that name", 2, "no pod of the last day matches", url, *window, "--workload", "nobody")
    refused("a role that is none", 2, "does not take one of the filters", url, *window, "--role", "cook")
    refused("without a token", 3, "--token-file", url)
    refused("with another's", 3, "does not know the token", url, "--token-file", write("other", OTHER))


# --- the same as a report ----------------------------------------------------------------------------------------------

def report_of(case, change=None):
    """What a report says of a capture, as it is or as `change` makes it."""
    run = subprocess.run([os.path.join(BUILD, "bankfull"), "report", "--capture", "tests/fixtures/" + case, "--format", "json"],
                         capture_output=True, timeout=60)
    report = json.loads(run.stdout)
    if change:
        change(report)
    return report


def as_agent(port, n, workload, report):
    """An agent of this version that has read what stands in the report."""
    engine, facts = report["engine"], {}
    for name in ("batch", "python", "managed_reserved_bytes", "network_bytes", "framework_off_heap_bytes", "task_off_heap_bytes", "network_pool_bytes"):
        facts[name] = engine[name]
    facts["state_backend"] = report["target"]["state_backend"]
    facts["streams_instances"] = engine["streams"]["instances"]
    role = {"flink-taskmanager": "taskmanager", "flink-jobmanager": "jobmanager", "kafka-streams": "streams"}[report["target"]["engine"]]
    listed = {line["owner"] for line in report["ledger"]}
    budgets = {b["budget"]: (b["budget_bytes"], [o for o in b["owners"] if o in listed], b["actual_bytes"]) for b in report["budgets"]}
    bounds = {line["owner"]: line["bound_bytes"] for line in report["ledger"] if line["bound_bytes"] is not None}
    agent = Agent(port, n, role, workload, budgets, bounds, report["limit_bytes"])
    agent.engine = {name: value for name, value in facts.items() if value is not None} or None
    return agent


def proposals(name, url, reports, *options):
    """What each of both ways proposes: sizes, steps and parts; not where the figures are from."""
    files = []
    for i, report in enumerate(reports):
        files.append(write("same-%s-%d.json" % (name, i), json.dumps(dict(report, taken_ms=1000 * (i + 1)))))
    both = [plan(url, "--since", "10m", "--workload", name, "--format", "json", *options)]
    run = subprocess.run([os.path.join(BUILD, "bankfull"), "plan", "--from-report", *files, "--format", "json"], capture_output=True, timeout=60)
    both.append((run.returncode, run.stdout.decode(), run.stderr.decode()))
    shown = []
    for status, out, err in both:
        found = json.loads(out or "{}")
        shown.append((status, err, {key: found.get(key) for key in ("budgets", "rows", "steps", "direct_parts", "instances", "process_bytes")}))
    return shown


def older(report):
    """As an agent before this version tells it: nothing of the engine."""
    for name in ("batch", "python", "managed_reserved_bytes", "network_bytes", "framework_off_heap_bytes", "task_off_heap_bytes", "network_pool_bytes"):
        report["engine"][name] = None
    report["target"]["state_backend"] = None


def unread_batch(report):
    report["engine"]["batch"] = None


def by_pool(report):
    report["engine"].update(network_pool_bytes=report["engine"]["network_bytes"] // 32768 * 32768, framework_off_heap_bytes=None)


def same_as_report(c, url, *token):
    idle = "cases/c39_managed_idle"
    for n, (name, case, change) in enumerate((("idle", idle, None), ("used", "cases/c39_managed_used", None), ("unread", idle, unread_batch),
                                              ("older", idle, older), ("pool", idle, by_pool), ("rocksdb", "cases/f12_unmanaged", None))):
        report = report_of(case, change)
        agent = as_agent(c.port, 100 + n, name, report)
        owners = {line["owner"]: line["bytes"] for line in report["ledger"] if line["bytes"] is not None}
        for _ in range(4):
            agent.tell(owners, floor=report["floor_bytes"])
            time.sleep(1.2)
        of_url, of_file = proposals(name, url, [report] * 4, *token)
        ok(of_url == of_file and of_file[0] in (0, 1), "the collector's history proposes what the report proposes: " + name, "%s\n%s" % (of_url, of_file))
        managed = [step["to_bytes"] for step in of_url[2]["steps"] or [] if step["budget"] == "managed"]
        ok(managed == {"idle": [0], "pool": [0], "used": [960 * MIB]}.get(name, []), "managed memory goes to nothing where nobody takes it, and only there: " + name, of_url)
        source = {"pool": "measured", "older": "inferred"}.get(name, "configured")
        ok((of_url[2]["direct_parts"] or {}).get("source") == source, "the parts of direct memory are %s: %s" % (source, name), of_url)


# --- over TLS ----------------------------------------------------------------------------------------------------------

def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=WORK)


def certificates():
    """Two authorities, an intermediate one below the first, and below that a server's certificate, one that has expired and one of another host."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    for ca in ("ca", "otherca"):
        openssl("req", "-x509", *key, "-days", "2", "-subj", "/CN=" + ca, "-keyout", ca + ".key", "-out", ca + ".pem")
    for name, extension, ca, days in (("middle", "basicConstraints=critical,CA:TRUE", "ca", 2),
                                      ("server", "subjectAltName=DNS:localhost", "middle", 2),
                                      ("expired", "subjectAltName=DNS:localhost", "middle", -1),
                                      ("elsewhere", "subjectAltName=DNS:bankfull.example", "middle", 2)):
        write(name + ".ext", extension + "\n")
        openssl("req", *key, "-subj", "/CN=" + name, "-keyout", name + ".key", "-out", name + ".csr")
        openssl("x509", "-req", "-in", name + ".csr", "-CA", ca + ".pem", "-CAkey", ca + ".key", "-CAcreateserial", "-days",
                str(days), "-extfile", name + ".ext", "-out", name + ".leaf.pem" if ca == "middle" else name + ".pem")
    for name in ("server", "expired", "elsewhere"):
        write(name + ".pem", b"".join(open(os.path.join(WORK, part), "rb").read() for part in (name + ".leaf.pem", "middle.pem")))


def path(name):
    return os.path.join(WORK, name)


def tls_collector(name, certificate, viewers):
    return kit.Collector(name, "--tls-cert", path(certificate + ".pem"), "--tls-key", path(certificate + ".key"), "--agent-tokens",
                         write("agents", "\n".join("pod-%d agent-token-of-pod-%d-0123" % (n, n) for n in (1, 2)) + "\n"),
                         "--viewer-tokens", viewers, tls=ssl.create_default_context(cafile=path("ca.pem")))


def bad_authorities(url, token):
    refused("an authority that nobody knows: it says which option names one", 3, "--ca-file", url, *token)
    refused("another authority than the collector's", 3, "its certificate is not one that we trust", url, *token, "--ca-file", path("otherca.pem"))
    refused("a file of authorities that is not there", 2, "--ca-file: %s cannot be read" % path("none.pem"), url, *token, "--ca-file", path("none.pem"))
    for name, what in (("text", b"no certificate\n"), ("empty", b""),
                       ("broken", b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"), ("key", open(path("ca.key"), "rb").read())):
        file = write("bad-ca-" + name, what)
        refused("a file of authorities that holds none: " + name, 2, "--ca-file: %s holds no certificate" % file, url, *token, "--ca-file", file)
    refused("a directory in place of it", 2, "--ca-file: %s" % WORK, url, *token, "--ca-file", WORK)
    refused("plain http to where TLS is spoken", 3, "https://", url.replace("https", "http"), *token)


def bad_tokens(url, trusted, viewers):
    refused("over TLS, without a token", 3, "--token-file", url, *trusted)
    refused("over TLS, with a wrong one", 3, "does not know the token", url, *trusted, "--token-file", write("wrong", "x" * 40))
    refused("over TLS, with an agent's", 3, "does not know the token", url, *trusted, "--token-file", write("agents-own", "agent-token-of-pod-1-0123\n"))
    refused("a file of a token that is not there", 3, "--token-file", url, *trusted, "--token-file", path("no-token"))
    refused("an empty one", 2, "is empty", url, *trusted, "--token-file", write("empty-token", "\n"))
    refused("one with two tokens", 2, "more than one token", url, *trusted, "--token-file", write("two-tokens", TOKEN + "\n" + OTHER + "\n"))
    other = (*trusted, "--token-file", write("other", OTHER))
    refused("a viewer of another namespace has no pod to size", 2, "no pod of the last day matches", url, *other)
    write(viewers, "viewer other %s elsewhere\n" % OTHER)
    gone = until(10, lambda: plan(url, *trusted, "--token-file", path("viewer"))[0] == 3, 0.2)
    ok(gone, "a token that was taken out of the collector's file has ended")
    refused("and it says so", 3, "does not know the token", url, *trusted, "--token-file", path("viewer"))


def over_tls():
    certificates()
    viewers = write("tls-viewers", "viewer all %s\nviewer other %s elsewhere\n" % (TOKEN, OTHER))
    token, trusted = ("--token-file", write("viewer", TOKEN + "\n")), ("--ca-file", path("ca.pem"))
    c = tls_collector("tls", "server", viewers)
    url = "https://localhost:%d" % c.port
    refused("over TLS, an empty collector has no pod to size", 2, "no pod of the last day matches", url, *trusted, *token)
    agents = [Agent(c.port, n, "taskmanager", "fraud", BUDGETS, tls=c.tls, token="agent-token-of-pod-%d-0123" % n) for n in (1, 2)]
    for round_ in range(4):
        for agent in agents:
            agent.tell(dict(USED, **({"native-other": 900 * MIB} if round_ == 1 else {})))
        time.sleep(1.2)
    bad_authorities(url, token)
    bundle = write("bundle.pem", b"".join(open(path(ca), "rb").read() for ca in ("otherca.pem", "ca.pem")))
    for name, authorities in (("its authority", path("ca.pem")), ("a bundle of authorities", bundle)):
        got = plan(url, "--ca-file", authorities, *token, "--since", "10m", "--format", "json")
        found = json.loads(got[1] or "{}")
        ok(got[0] == 1 and found["pods"] == 2 and [s["budget"] for s in found["steps"]] == ["jvm-overhead"], "over TLS, with " + name, got)
    got = plan(url + "/", *trusted, *token, "--insecure", "--since", "10m")
    ok(got[0] == 1 and got[2] == "", "--insecure takes nothing from https", got)
    bad_tokens(url, trusted, viewers)
    ok(TOKEN not in c.said() and OTHER not in c.said(), "no token stands in the collector's log", c.said())
    for agent in agents:
        agent.client.sock.close()
    c.stop()
    for certificate in ("expired", "elsewhere"):
        c = tls_collector("tls-" + certificate, certificate, write("tls-viewers", "viewer all %s\n" % TOKEN))
        refused("a certificate that is %s" % certificate, 3, "its certificate", "https://localhost:%d" % c.port, *trusted, *token)
        c.stop()


class Liar(http.server.BaseHTTPRequestHandler):
    answers = {}

    def do_GET(self):  # noqa: N802
        path = self.path.split("?")[0]
        body = self.answers.get(path, b"{}")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def liars():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d" % server.server_port
    pods = "/api/v1/pods"
    pod = {"id": "7", "subject": {"role": "taskmanager", "pod": "a\x1b[2J"}, "heard_ms": 5000, "sample": {"limit_bytes": 9}, "ledger": [],
           "findings": [], "budgets": [{"budget": "heap", "bytes": 5, "used_bytes": 1, "owners": ["java-heap"]},
                                       {"budget": "jvm-overhead", "bytes": 5, "used_bytes": 1, "owners": ["gc"]}]}
    point = {"received_ms": 4000, "limit_bytes": 9, "owners": {"java-heap": 1}}
    for name, status, part, answers in (
            ("no list", 3, "is no list of pods", {pods: b"[]"}),
            ("no JSON", 3, "", {pods: b"{"}),
            ("an id that is a path", 3, "is no number", {pods: b'{"items":[{"id":"../../secret"}],"next":null}'}),
            ("too many pods", 2, "more than 64 pods match", {pods: json.dumps({"items": [{"id": "1"}] * 65}).encode()}),
            ("a pod that is none", 3, "without an id", {pods: b'{"items":[{"id":"7"}]}', pods + "/7": b"{}"}),
            ("a series that is none", 3, "without points", {pods: b'{"items":[{"id":"7"}]}', pods + "/7": json.dumps(pod).encode()}),
            ("an empty history", 2, "no history to size by",
             {pods: b'{"items":[{"id":"7"}]}', pods + "/7": json.dumps(pod).encode(), pods + "/7/samples": b'{"points":[]}'}),
    ):
        Liar.answers = answers
        refused("a server that answers with %s" % name, status, part, url)
    # A page that says to go on where it began must not be asked for ever.
    Liar.answers = {pods: b'{"items":[{"id":"7"}]}', pods + "/7": json.dumps(pod).encode(),
                    pods + "/7/samples": json.dumps({"points": [point], "next_ms": 1}).encode()}
    got = plan(url, "--since", "10m")
    ok(got[0] == 0 and "\x1b" not in got[1] + got[2], "a page that leads nowhere ends, and control bytes are not printed", got)
    server.shutdown()


def main():
    c = kit.Collector("data", "--viewer-tokens", write("viewers", "viewer all %s\n" % TOKEN))
    real(c, "http://127.0.0.1:%d" % c.port)
    same_as_report(c, "http://127.0.0.1:%d" % c.port, "--token-file", path("viewer"))
    c.stop()
    over_tls()
    liars()


try:
    main()
finally:
    end_all()
finish()
