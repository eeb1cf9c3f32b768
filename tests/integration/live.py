# SPDX-License-Identifier: Apache-2.0
"""bankfull.live.v1 as its viewers meet it; docs/live.md is held against what comes. TAP on the output.

    live.py BUILD DIRECTORY
"""
import json
import os
import random
import re
import signal
import socket
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(__file__))
import kit  # noqa: E402
from kit import end_all, finish, now_ms, ok, write  # noqa: E402
from wire_client import Client, Closed, Refused, epoch, hello, sample  # noqa: E402

LIMIT = 1 << 30
TOKENS = {"ann": "viewer-token-of-ann-0123", "bob": "viewer-token-of-bob-0123", "all": "operator-token-0123456789"}
VIEWERS = {"ann": "viewer ann %s red", "bob": "viewer bob %s blue", "all": "operator all %s"}


class Collector(kit.Collector):
    def live(self, **options):
        return Client(self.port, path="/api/v1/live", protocol="bankfull.live.v1", **options)


class Agent:
    def __init__(self, collector, pod, namespace="red", workload="fraud", engine="flink 1.20.0"):
        self.epoch, self.seq, self.client = epoch(), 0, Client(collector.port)
        first = hello(pod, [(self.epoch, 1, 0)], now_ms(), namespace)
        first["subject"].update(workload=workload, cluster="x", node="node-1", jobs=["job of " + workload])
        first["engine"] = engine
        self.client.send(first)
        self.client.receive()

    def say(self, freeboard, **more):
        self.seq += 1
        self.client.send(sample(self.epoch, self.seq, now_ms(), charge_bytes=LIMIT - freeboard,
                                floor_bytes=LIMIT - freeboard, freeboard_bytes=freeboard, freeboard_level="container",
                                **more))

    def acked(self):
        self.client.until_ack(self.epoch, self.seq)

    def finding(self, edge, severity="warning"):
        self.seq += 1
        self.client.send({"type": "finding", "epoch": self.epoch, "seq": self.seq, "mono_ms": self.seq, "wall_ms": now_ms(),
                          "id": "f-1", "edge": edge, "rule": "freeboard-low", "severity": severity, "title": "little is left",
                          "opened_ms": now_ms(), "finding": {}})


class Viewer:
    """Replays what comes, as docs/live.md says."""

    def __init__(self, collector, ask, **options):
        self.client = collector.live(**options)
        self.ask, self.frames, self.bytes = {"subscribe": "fleet", "n": 1, **ask}, [], 0
        self.rows = self.state = None
        self.client.send(self.ask)

    def hear(self, seconds=5):
        self.client.sock.settimeout(seconds)
        m = self.client.receive()
        self.frames.append(m)
        if m["type"] == "fleet":
            self.state, self.rows = {**(self.state or {}), **m}, m["rows"]
        elif m["type"] == "rows":
            if "order" in m:
                self.rows = [None if at is None else self.rows[at] for at in m["order"]]
            for at, row in m["rows"]:
                self.rows[at] = row
            self.state.update({k: v for k, v in m.items() if k != "rows"})
        return m

    def settle(self, quiet=0.7):
        """Until nothing has come for a while."""
        try:
            while True:
                self.hear(quiet)
        except socket.timeout:
            return self


def refused(make):
    try:
        make()
    except Refused as end:
        return end.status
    return 101


def moving(row):
    """What of a row goes on by the clock."""
    return {k: v for k, v in row.items() if k not in ("age_ms", "spark")}


def documented(heading):
    """Members that docs/live.md names in the table behind this heading, and in the text that follows it."""
    with open("docs/live.md") as f:
        text = f.read().split(heading, 1)[1].split("\n\n## ", 1)[0].split("\n**", 1)[0]
    return set(re.findall(r"`([a-z_]+)`", text))


def examples():
    with open("docs/live.md") as f:
        return [line.strip() for line in f if line.startswith('    {"subscribe"')]


# --- the stream ------------------------------------------------------------------------------------------------------


def a_fleet_that_moves():
    collector = Collector("fleet", "--cluster", "prod-eu")
    agents = [Agent(collector, f"pod-{i}", workload=f"job-{i // 5}", namespace="streaming") for i in range(30)]
    asks = [{"view": "pods", "count": 10, "moves": True}, {"view": "pods", "count": 10}, {"count": 4, "moves": True},
            {"view": "pods", "sort": "freeboard", "descending": True, "from": 5, "count": 7, "moves": True},
            {"view": "pods", "filter": {"severity": "warning"}, "sort": "name", "moves": True},
            {"view": "pods", "filter": {"q": "POD-1", "engine": "flink"}, "sort": "charge", "count": 200}]
    for a in agents:
        a.say(random.randrange(LIMIT))
    viewers = [Viewer(collector, ask) for ask in asks]
    end = time.time() + 6
    while time.time() < end:
        a = random.choice(agents)
        a.say(random.randrange(LIMIT), forecast={"kind": "linear", "likely_s": random.randrange(9000), "earliest_s": 1})
        if random.random() < 0.1:
            a.finding(random.choice(["opened", "cleared"]))
        time.sleep(0.01)
        for v in viewers:
            if random.random() < 0.05:
                v.settle(0.001)
    agents[3].client.close()
    for v in viewers:
        v.settle()
    for v, ask in zip(viewers, asks):
        words = {k: str(w).lower() if isinstance(w, bool) else w for k, w in {**ask, **ask.get("filter", {})}.items()
                 if k not in ("filter", "moves")}
        status, body = collector.get("/api/v1/fleet?" + urllib.parse.urlencode(words))
        shown = json.loads(body)
        what = json.dumps(ask)
        if status != 200 or "rows" not in shown:
            ok(False, f"the API shows {what}", body)
            continue
        ok([moving(r) for r in v.rows] == [moving(r) for r in shown["rows"]], f"replayed frames are the whole: {what}",
           (v.rows, shown["rows"]))
        ok(all(v.state[m] == shown[m] for m in ("total", "matching", "summary", "facets", "from")),
           f"and what stands above them: {what}", (v.state, shown))
        kinds = {m["type"] for m in v.frames}
        wholes = sum(m["type"] == "fleet" for m in v.frames)
        if "moves" in ask:
            ok("rows" in kinds and wholes < len(v.frames) / 2, f"as differences: {what}", [m["type"] for m in v.frames])
        else:
            ok(not any("order" in m for m in v.frames), f"without moves, which it did not ask for: {what}")
    pod, workload = viewers[0].rows[0], viewers[2].rows[0]
    ok(set(pod) <= documented("**A row of a pod.**"), "docs/live.md has each member of a pod's row",
       set(pod) - documented("**A row of a pod.**"))
    named = documented("**A row of a workload**") | documented("**A row of a pod.**")
    ok(set(workload) <= named, "and of a workload's", set(workload) - named)
    ok(pod["likely_s"] is not None and all(r["likely_s"] is None or r["likely_s"] >= pod["likely_s"] or r["state"] == "gone"
                                           for r in viewers[0].rows), "the first row is the first to reach its limit")
    ok([r["state"] for r in collector_rows(collector, "view=pods&state=gone")] == ["gone"], "who left is gone")
    documented_requests(collector)
    one_pod(collector, agents)
    collector_stops(collector, agents)


def collector_rows(collector, query):
    return json.loads(collector.get("/api/v1/fleet?" + query)[1])["rows"]


def documented_requests(collector):
    asked = examples()
    ok(len(asked) >= 4, "docs/live.md has examples", asked)
    for text in asked:
        client = collector.live()
        client.send(text)
        m = client.receive()
        ok(m["type"] in ("fleet", "pod", "gone") and m["n"] == json.loads(text)["n"], f"an example of the page: {text}", m)
        client.close()


def one_pod(collector, agents):
    ids = {r["pod"]: r["id"] for r in collector_rows(collector, "view=pods&count=200")}
    client = collector.live()
    client.send({"subscribe": "pod", "n": 5, "pod": ids["pod-7"]})
    first = client.receive()
    whole = json.loads(collector.get("/api/v1/pods/" + ids["pod-7"])[1])
    ok(first["type"] == "pod" and set(first["pod"]) == set(whole), "a pod is what the API shows of it",
       set(first["pod"]) ^ set(whole))
    agents[7].say(12345)
    began = time.time()
    second = client.receive()
    ok(second["pod"]["sample"]["freeboard_bytes"] == 12345, "a sample is a frame", second)
    ok(time.time() - began < 3, "at once", time.time() - began)
    workload = whole["workload_id"]
    client.send({"subscribe": "workload", "n": 6, "workload": workload})
    m = client.receive()
    shown = json.loads(collector.get("/api/v1/workloads/" + workload)[1])
    ok(m["type"] == "workload" and m["workload"] == shown, "a workload likewise", (m, shown))
    client.send({"subscribe": "pod", "n": 7, "pod": "999999"})
    m = client.receive()
    ok(m["type"] == "gone" and m["n"] == 7, "who is not there is gone", m)
    client.close()


def collector_stops(collector, agents):
    client = collector.live()
    client.send({"subscribe": "fleet"})
    client.receive()
    collector.process.send_signal(signal.SIGTERM)
    ok(client.until_closed()[1] == 1001, "a collector that stops says so: 1001")
    ok(collector.process.wait(timeout=30) == 0, "and ends well", collector.said()[-400:])
    # On the old store: the line of the last hour is there at once, without a new sample.
    again = Collector("fleet", "--cluster", "prod-eu")
    viewer = Viewer(again, {"view": "pods", "count": 200})
    viewer.settle(1.5)
    sparks = [r["spark"] for r in viewer.rows]
    ok(len(sparks) == 30 and all(s.strip(".") for s in sparks), "after a start the last hour comes from the store", sparks)
    ok(all(r["state"] == "gone" for r in viewer.rows), "and nobody is connected")
    again.stop()


# --- what a viewer should not do ---------------------------------------------------------------------------------------


def bad_frames():
    collector = Collector("bad")
    agent = Agent(collector, "pod-1")
    agent.say(5)
    agent.acked()
    client = collector.live()
    for text, code in [("", "not-json"), ("not json", "not-json"), ('{"subscribe":"fleet"', "not-json"),
                       ("[" * 3000, "bad-request"), ('{"subscribe":"fleet","sort":"beauty"}', "bad-request"),
                       ('{"subscribe":"fleet","count":1000000000}', "bad-request"),
                       ('{"subscribe":"fleet","from":-1}', "bad-request"), ('{"subscribe":["fleet"]}', "bad-request"),
                       ('{"subscribe":"pod","pod":"' + "9" * 3000 + '"}', "bad-request"),
                       ('{"subscribe":"fleet","filter":{"namespace":"' + "x" * 3000 + '"}}', "bad-request")]:
        client.send(text)
        m = client.receive()
        ok(m["type"] == "error" and m["code"] == code and m["message"], f"an error for {text[:50]}", m)
    client.send({"subscribe": "fleet", "n": 3})
    ok(client.receive()["n"] == 3, "and the connection stays")
    for name, payload, opcode, code in [("5 kB", b'{"subscribe":"fleet"}' + b" " * 5000, 1, 1009),
                                        ("5 MB", b"x" * 5000000, 1, 1009),
                                        ("binary", b'{"subscribe":"fleet"}', 2, 1003),
                                        ("no UTF-8", b'{"subscribe":"\xff"}', 1, 1007)]:
        other = collector.live()
        try:
            other.frame(payload, opcode)
        except OSError:
            pass  # it closed while we wrote
        end = other.until_closed()[1]
        ok(end == code or (end is None and len(payload) > 100000), f"a frame of {name} closes with {code}", end)
    worst = collector.live()
    for _ in range(25):
        worst.send("?")
    ok(worst.until_closed()[1] == 4400, "after twenty errors it is closed with 4400")
    fast = collector.live()
    for i in range(60):
        fast.send({"subscribe": "fleet", "n": i})
    codes = set()
    fast.sock.settimeout(1)
    try:
        while True:
            codes.add(fast.receive().get("code"))
    except (socket.timeout, Closed):
        pass
    ok("too-fast" in codes, "who asks without end is told", codes)
    client.send({"subscribe": "fleet", "n": 4})
    ok(client.receive()["type"] == "fleet", "others are served meanwhile")
    ok(collector.get("/api/v1/live")[0] == 426, "a plain GET is told what is spoken")
    for name, options, status in [
            ("another subprotocol", {"path": "/api/v1/live", "protocol": "bankfull.live.v9"}, 400),
            ("that of agents", {"path": "/api/v1/live"}, 404),
            ("at the path of agents", {"path": "/agent", "protocol": "bankfull.live.v1"}, 404)]:
        got = refused(lambda: Client(collector.port, **options))
        ok(got == status, f"{name} is refused with {status}", got)
    collector.stop()


def many():
    collector = Collector("many", "--max-viewers", "70")
    open_ones, codes = [], {}
    for _ in range(500):
        try:
            open_ones.append(collector.live())
        except Refused as end:
            codes[end.status] = codes.get(end.status, 0) + 1
            said = end
    ok(len(open_ones) == 64 and codes == {429: 436}, "of 500 streams from one address 64 are let in", (len(open_ones), codes))
    ok("--max-viewers-per-address" in said.body and "retry-after" in said.headers, "and the others are told why", said.body)
    ok(collector.get("/api/v1/fleet")[0] == 200, "the API answers beside them")
    ok(collector.metric("bankfull_collector_live_viewers") == 64 and
       collector.metric("bankfull_collector_live_refused_total") == 436, "the metrics count them")
    for c in open_ones:
        c.close()
    collector.stop()
    collector = Collector("many2", "--max-viewers", "3")
    kept = [collector.live() for _ in range(3)]
    ok(refused(collector.live) == 503, "past --max-viewers it is 503")
    kept[0].close()
    for _ in range(100):
        if refused(lambda: kept.append(collector.live())) == 101:
            break
        time.sleep(0.02)
    ok(len(kept) == 4, "who leaves makes room")
    collector.stop()


def one_that_does_not_read():
    collector = Collector("slow")
    agents = [Agent(collector, f"pod-with-a-name-that-is-rather-long-{i:04d}" + "x" * 150) for i in range(200)]
    for a in agents:
        a.say(1000)
    ask = {"view": "pods", "count": 200, "sort": "name"}
    slow, quick = Viewer(collector, ask), Viewer(collector, ask)
    slow.client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    rss = collector.rss()
    quick.hear()
    began = time.time()
    ended, n = None, 0
    while time.time() - began < 45:
        for a in agents:
            a.say(random.randrange(LIMIT))
        try:
            while True:
                quick.hear(0.05)
                n += 1
        except socket.timeout:
            pass
        # Whoever is cut is counted, by the server, among those that were too slow.
        if not ended and collector.metric("bankfull_collector_live_viewers") == 1:
            ended = time.time() - began
            break
    ok(n > 20, "another viewer hears all the while", n)
    ok(ended is not None and ended > 20, "who does not read for half a minute is cut", ended)
    # AddressSanitizer keeps what was freed, by default 256 MiB of it.
    with open(kit.PROGRAM, "rb") as f:
        most = (512 if b"__asan_init" in f.read() else 40) << 20
    ok(collector.rss() - rss < most, "and until then costs no memory without bound", (rss, collector.rss()))
    collector.stop()
    collector = Collector("slow2")
    agent = Agent(collector, "pod" + "y" * 200)
    viewer = Viewer(collector, ask)
    viewer.hear()
    collector.process.send_signal(signal.SIGSTOP)
    collector.process.send_signal(signal.SIGCONT)
    agent.say(77)
    while viewer.hear()["type"] != "rows" or viewer.rows[0]["freeboard"] != 77:
        pass
    ok(viewer.rows[0]["freeboard"] == 77, "a collector that was stopped goes on")
    collector.stop()


# --- who may look ------------------------------------------------------------------------------------------------------


def tokens_file(*names):
    return write("viewers", "".join(VIEWERS[n] % TOKENS[n] + "\n" for n in names))


def who_may_look():
    path = tokens_file("ann", "bob", "all")
    collector = Collector("who", "--viewer-tokens", path, "--public-url", "https://bankfull.example.com")
    host = f"127.0.0.1:{collector.port}"
    cookie = "__Host-bankfull=" + TOKENS["ann"]
    for name, options, status in [
            ("no token", {}, 401), ("a wrong token", {"token": "wrong-token-0123456789"}, 401),
            ("a token", {"token": TOKENS["ann"]}, 101),
            ("a token and this site's own page", {"token": TOKENS["ann"], "origin": f"http://{host}"}, 101),
            ("the public page", {"token": TOKENS["ann"], "origin": "https://bankfull.example.com",
                                 "host_header": "bankfull.example.com"}, 101),
            ("a foreign page", {"token": TOKENS["ann"], "origin": "https://evil.example"}, 403),
            ("a foreign page with the cookie", {"cookie": cookie, "origin": "https://evil.example"}, 403),
            ("a page without a name", {"cookie": cookie, "origin": "null"}, 403),
            ("another port's page", {"cookie": cookie, "origin": "http://127.0.0.1:1"}, 403),
            ("the cookie without an Origin", {"cookie": cookie}, 403),
            ("the cookie with its page", {"cookie": cookie, "origin": f"http://{host}"}, 101)]:
        got = refused(lambda: collector.live(**options))
        ok(got == status, f"{name}: {status}", got)
    red, blue = Agent(collector, "red-pod", "red", "red-job"), Agent(collector, "blue-pod", "blue", "blue-job")
    for a in (red, blue):
        a.say(1000)
        a.finding("opened", "critical")
        a.acked()
    for ask in ({"view": "pods"}, {}, {"view": "pods", "filter": {"q": "blue"}}, {"view": "pods", "filter": {"namespace": "blue"}},
                {"view": "pods", "filter": {"job": "job of blue-job"}}):
        ann = Viewer(collector, ask, token=TOKENS["ann"])
        ann.hear()
        blue.say(random.randrange(LIMIT))
        red.say(random.randrange(LIMIT))
        ann.settle(0.5)
        ok("blue" not in json.dumps(ann.frames), f"nothing of another namespace: {json.dumps(ask)}", ann.frames)
        ok(ann.state["summary"]["pods"] == 1 and ann.state["summary"]["critical"] == 1, "no figure either", ann.state)
        ann.client.close()
    blue_id = collector_row(collector, "blue")
    peeping = collector.live(token=TOKENS["ann"])
    for i, ask in enumerate([{"subscribe": "pod", "pod": blue_id}, {"subscribe": "workload", "workload": "default:blue:blue-job"}]):
        peeping.send({**ask, "n": i})
        m = peeping.receive()
        ok(m["type"] == "gone" and "blue" not in json.dumps(m), f"who asks for it by id is told that it is gone: {ask}", m)
    what_vanishes(collector, blue)
    for token in TOKENS.values():
        ok(token not in collector.said(), "no token stands in the log")
    collector.stop()
    open_one = Collector("open")
    ok(refused(lambda: open_one.live(host_header="evil.example")) == 403, "open on loopback: not under a foreign name")
    ok(refused(lambda: open_one.live(origin="http://evil.example")) == 403, "nor for a foreign page")
    ok(refused(open_one.live) == 101, "but for a tool")
    open_one.stop()


def collector_row(collector, q):
    body = collector.get("/api/v1/fleet?view=pods&q=" + q, TOKENS["all"])[1]
    return json.loads(body)["rows"][0]["id"]


def what_vanishes(collector, blue):
    bob, everything = (Viewer(collector, {"view": "pods"}, token=TOKENS[n]) for n in ("bob", "all"))
    bob.settle()
    everything.settle()
    ok(len(everything.rows) == 2 and len(bob.rows) == 1, "each sees his own")
    # bob's token goes; that of the operator is of a viewer of red now.
    write("viewers", VIEWERS["ann"] % TOKENS["ann"] + "\nviewer all " + TOKENS["all"] + " red\n")
    bob.client.sock.settimeout(10)
    ok(bob.client.until_closed()[1] == 4401, "a token that is gone ends the stream with 4401")
    for _ in range(30):
        if everything.hear()["type"] == "fleet" and len(everything.rows) == 1:
            break
    ok([r["namespace"] for r in everything.rows] == ["red"], "one that may see less sees less at once", everything.rows)
    everything.frames.clear()
    blue.say(4711)
    everything.settle(0.7)
    ok("blue" not in json.dumps(everything.frames), "and nothing more of the rest", everything.frames)
    ok(everything.state["facets"]["namespace"] == ["red"], "no facet of it", everything.state)


try:
    for part in (a_fleet_that_moves, bad_frames, many, who_may_look, one_that_does_not_read):
        if len(sys.argv) < 4 or part.__name__ in sys.argv[3:]:
            part()
finally:
    end_all()
finish()
