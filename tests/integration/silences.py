# SPDX-License-Identifier: Apache-2.0
"""See silences.sh.    silences.py BUILD DIRECTORY PID-OF-A-JVM (DIRECTORY has the program bankfull)"""
import http.client
import json
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # noqa: E402
import openapi  # noqa: E402
from kit import WORK, end_all, finish, free_port, now_ms, ok, until, write  # noqa: E402
from wire_client import Client, epoch  # noqa: E402

PID = sys.argv[3]
TOKENS = {"ops": "o" * 40, "team0": "a" * 40, "team1": "b" * 40, "eye": "v" * 40}
API = "/api/v1/silences"


class Collector(kit.Collector):
    def ask(self, method, path, who=None, body=None, cookie=None, **headers):
        """Status, headers, and the decoded body, which must be what docs/openapi.json says."""
        if cookie:
            headers["Cookie"] = "__Host-bankfull=" + TOKENS[cookie]
        if body is not None:
            headers.setdefault("Content_Type", "application/json")
        status, got, content = self.request(method, path, TOKENS[who] if who else None, body, **headers)
        text = content.decode()
        if path.startswith("/api/v1") and method in ("GET", "POST", "DELETE"):
            template = openapi.template_of(path.split("?")[0])
            if template and method.lower() in openapi.DOCUMENT["paths"][template]:
                trouble = openapi.trouble(path.split("?")[0], status, got["content-type"], text, method.lower())
                if trouble:
                    ok(False, "%s %s is as documented" % (method, path), trouble + " " + text[:300])
        try:
            return status, got, json.loads(text) if text else None
        except ValueError:
            return status, got, text


class Agent:
    """One that is connected, with one open finding."""

    def __init__(self, collector, n):
        self.n, self.epoch, self.seq = n, epoch(), 0
        self.collector = collector
        self.connect(1, 0)
        self.say({"type": "finding", "id": "f-%d" % n, "edge": "opened", "rule": "native-growth", "severity": "warning",
                  "opened_ms": now_ms(), "title": "grows", "finding": {"rule": "native-growth", "title": "grows"}})

    def connect(self, first, last):
        self.client = Client(self.collector.port)
        self.client.send({"type": "hello", "subject": {"namespace": "team-%d" % self.n, "workload": "job-%d" % self.n,
                                                       "pod": "pod-%d" % self.n, "role": "taskmanager"},
                          "mono_ms": 1, "wall_ms": now_ms(),
                          "epochs": [{"epoch": self.epoch, "first": first, "last": last}]})
        self.welcome = self.client.receive()

    def say(self, message):
        self.seq += 1
        self.client.send({"epoch": self.epoch, "seq": self.seq, "mono_ms": self.seq, "wall_ms": now_ms(), **message})
        self.client.until_ack(self.epoch, self.seq)

    def hears(self, seconds=5):
        """The policy of a further welcome, or None where none comes."""
        self.client.sock.settimeout(seconds)
        try:
            message = self.client.receive()
            return message["policy"] if message["type"] == "welcome" and not message.get("acked") else message
        except TimeoutError:
            return None
        finally:
            self.client.sock.settimeout(10)


def silence(matchers, ms=3600000, **others):
    return {"kind": "silence", "matchers": matchers, "reason": "known", "until_ms": now_ms() + ms, **others}


# --- who may, and from where -----------------------------------------------------------------------------------------

def roles(c):
    status, _, me = c.ask("GET", "/api/v1/me", "team0")
    ok(status == 200 and me["role"] == "operator" and me["namespaces"] == ["team-0"] and not me["open"], "/me", me)
    body = silence({"rule": "oom-kill"})
    ok(c.ask("POST", API, body=body)[0] == 401, "nobody without a token")
    status, _, reply = c.ask("POST", API, "eye", body)
    ok(status == 403 and "operator" in reply["error"]["message"], "a viewer may not silence, and reads why", reply)
    ok(c.ask("DELETE", API + "/1", "eye")[0] == 403, "nor end")
    ok(c.ask("GET", "/api/v1/audit", "eye")[0] == 403, "nor read the audit")
    for _ in range(3):
        c.ask("POST", "/login", body={"token": TOKENS["eye"]})
    c.ask("POST", "/login", body={"token": "wrong" * 8})
    deeds = [(d["what"], d["who"], d["peer"]) for d in c.ask("GET", "/api/v1/audit", "ops")[2]["items"]]
    ok(deeds == [("login", "eye", "127.0.0.1")], "a login is in it, once an hour, and one that failed is not", deeds)
    ok(c.ask("GET", "/api/v1/audit", "team0")[2]["items"] == [], "for those who see all")
    here = "http://127.0.0.1:%d" % c.port
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", here + ".evil.example"):
        ok(c.ask("POST", API, cookie="ops", body=body, Origin=origin)[0] == 403, "not from the page " + origin)
    ok(c.ask("POST", API, "ops", body, Origin="http://evil.example")[0] == 403, "not from a foreign page with a token either")
    ok(c.ask("POST", API, cookie="ops", body=body)[0] == 403, "a cookie without an Origin is not enough")
    ok(c.ask("DELETE", API + "/1", cookie="ops")[0] == 403, "nor to end one")
    ok(c.ask("GET", API, "ops")[2]["items"] == [], "nothing was made by any of them")
    status, headers, made = c.ask("POST", API, cookie="ops", body=body, Origin=here)
    ok(status == 201 and made["author"] == "ops" and headers["location"] == API + "/" + made["id"], "this site's own page may", made)
    status, headers, _ = c.ask("DELETE", headers["location"], cookie="ops", Origin=here)
    ok(status == 200, "and end it")
    status, headers, _ = c.ask("DELETE", API, "ops")
    ok(status == 405 and headers["allow"] == "GET, HEAD, POST", "405 says what the list takes", headers)
    status, headers, _ = c.ask("POST", API + "/1", "ops", {})
    ok(status == 405 and headers["allow"] == "GET, HEAD, DELETE", "and one of them", headers)
    ok(c.ask("HEAD", API, "ops")[0] == 200, "HEAD works")


def bodies(c):
    good = silence({"rule": "oom-kill"})
    for name, body, status in (
            ("not JSON", "nonsense", 400), ("no body", "", 400), ("a list", [], 400), ("20 kB", json.dumps({"x": "y" * 20000}), 413),
            ("100 kB", json.dumps({"x": "y" * 100000}), 413), ("deep", "[" * 5000 + "]" * 5000, 400),
            ("an end in the past", {**good, "until_ms": now_ms() - 1}, 400), ("one in two years", silence({"rule": "oom-kill"}, 2 * 366 * 86400000), 400),
            ("no reason", {k: v for k, v in good.items() if k != "reason"}, 400), ("a reason of 201 bytes", {**good, "reason": "x" * 201}, 400),
            ("a reason turned around", {**good, "reason": "a \u202e b"}, 400), ("two lines", {**good, "reason": "a\nb"}, 400),
            ("NUL", '{"kind":"silence","matchers":{"rule":"oom\\u0000"},"reason":"x"}', 400), ("no UTF-8", b'{"kind":"\xff"}', 400),
            ("nothing to match", {**good, "matchers": {}}, 400), ("an unknown matcher", {**good, "matchers": {"node": "x"}}, 400),
            ("an author", {**good, "author": "somebody else"}, 400), ("an unknown kind", {**good, "kind": "hush"}, 400)):
        got, _, reply = c.ask("POST", API, "ops", body)
        ok(got == status and reply["error"]["message"], "refused: " + name, (got, reply))
    ok(c.ask("POST", API, "ops", json.dumps(good), Content_Type="text/plain")[0] == 415, "refused: a form's type")
    ok(c.ask("GET", API + "?active=true", "ops")[2]["items"] == [], "none of them was made")


# --- whose it is -----------------------------------------------------------------------------------------------------

def namespaces(c):
    """What an operator of team-0 may do, and see of others'."""
    for matchers in ({"rule": "native-growth"}, {"namespace": "team-*"}, {"namespace": "team-1"}, {"namespace": ""}):
        status, _, reply = c.ask("POST", API, "team0", silence(matchers))
        ok(status == 403 and "namespace" in reply["error"]["message"], "not beyond one's namespace: %s" % matchers, reply)
    status, _, own = c.ask("POST", API, "team0", silence({"namespace": "team-0", "rule": "heap-pressure"}))
    ok(status == 201, "in it", own)
    _, _, wide = c.ask("POST", API, "ops", silence({"workload": "job-*", "rule": "native-growth"}, reason="a secret of ops"))
    _, _, other = c.ask("POST", API, "ops", silence({"namespace": "team-1", "pod": "hidden"}))
    ids = [item["id"] for item in c.ask("GET", API + "?active=true", "team0")[2]["items"]]
    ok(ids == [own["id"]], "lists hold one's own alone", ids)
    for id_ in (wide["id"], other["id"]):
        ok(c.ask("GET", API + "/" + id_, "team0")[0] == 404 and c.ask("DELETE", API + "/" + id_, "team0")[0] == 404,
           "another's is not there")
    deeds = c.ask("GET", "/api/v1/audit", "team0")[2]["items"]
    ok(deeds and all(deed["namespace"] == "team-0" for deed in deeds), "the audit holds one's own alone", deeds)
    everything = json.dumps(deeds) + json.dumps(c.ask("GET", API, "team0")[2])
    ok("hidden" not in everything and "secret" not in everything, "and nothing of others is in either")
    whole = c.ask("GET", "/api/v1/audit", "ops")[2]["items"]
    ok([d["who"] for d in whole[:3]] == ["ops", "ops", "zero"] and whole[2]["peer"] == "127.0.0.1" and whole[2]["after"]["id"] == own["id"],
       "who, from where and what", whole[:3])
    preview = c.ask("POST", API + "/preview", "team1", {"matchers": {"rule": "native-growth"}})[2]
    ok(preview["pods"] == 1 and preview["findings"] == 1 and not preview["allowed"], "a preview counts what one sees", preview)
    finding = c.ask("GET", "/api/v1/findings", "team1")[2]["items"][0]
    ok(finding["silenced"] and finding["silenced"]["id"] == wide["id"] and finding["silenced"]["author"] == "ops",
       "beside a finding stands who silenced it, whoever that is", finding)
    return own, wide, other


# --- agents ----------------------------------------------------------------------------------------------------------

def agents(c, zero, one):
    _, _, made = c.ask("POST", API, "ops", silence({"namespace": "team-0", "rule": "native-*"}, reason="déjà vu"))
    policy = zero.hears()
    ok(policy and [(s["rule"], s["reason"], s["quiet"]) for s in policy["silences"]] == [("native-growth", "déjà vu", True)] or
       policy and {"native-growth"} <= {s["rule"] for s in policy["silences"]}, "a session that runs hears of it", policy)
    ok(one.hears(1.5) is None, "another one does not")
    status, _, first = c.ask("DELETE", API + "/" + made["id"], "ops")
    again = c.ask("DELETE", API + "/" + made["id"], "ops")
    ok(status == 200 and again[0] == 200 and again[2] == first and not first["active"], "ended twice is ended", (first, again))
    policy = zero.hears()
    ok(policy and not policy.get("silences"), "and the agent hears of the end", policy)
    ok(c.ask("DELETE", API + "/999", "ops")[0] == 404, "what is not there cannot be ended")


def at_once(c):
    replies = []
    threads = [threading.Thread(target=lambda: replies.append(c.ask("POST", API, "ops", silence({"pod": "the-same"})))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ok(sorted(reply[0] for reply in replies) == [201, 409], "of two at once one is made", replies)


def times(c):
    _, _, made = c.ask("POST", API, "ops", silence({"pod": "brief"}, 3000))
    ok(made["active"], "a brief one")
    ended = until(15, lambda: (lambda s: s if s["ended_by"] else None)(c.ask("GET", API + "/" + made["id"], "ops")[2]))
    ok(ended and ended["ended_by"] == "expired" and ended["ended_ms"] == made["until_ms"], "ends at its time", ended)
    ok(made["id"] in [s["id"] for s in c.ask("GET", API + "?active=false", "ops")[2]["items"]], "and is kept among those that ended")
    _, _, ack = c.ask("POST", API, "ops", {"kind": "acknowledgement", "reason": "at it",
                                           "matchers": {"namespace": "team-1", "workload": "job-1", "rule": "native-growth"}})
    ok(ack["matchers"]["cluster"] == "prod" and abs(ack["until_ms"] - now_ms() - 86400000) < 60000, "an acknowledgement has a day", ack)
    item = c.ask("GET", "/api/v1/findings", "team1")[2]["items"][0]
    ok(item["silenced"] and item["silenced"]["kind"] == "acknowledgement", "and stands beside its finding", item)
    pod = c.ask("GET", "/api/v1/pods/" + item["pod"], "team1")[2]
    ok(pod["findings"][0]["silenced"]["id"] == ack["id"], "and at its pod", pod["findings"])


def restarted(c, zero):
    before = c.ask("GET", API, "ops")[2]
    _, _, kept = c.ask("POST", API, "ops", silence({"namespace": "team-0", "rule": "native-growth"}))
    c.stop()
    c.start()
    after = c.ask("GET", API, "ops")[2]
    ok(after["items"] and after["items"][0] == kept and after["items"][1:] == before["items"], "all of them outlive a restart")
    zero.connect(zero.seq + 1, zero.seq)
    ok([s["rule"] for s in zero.welcome["policy"]["silences"]] == ["native-growth"], "and reach agents with the first welcome",
       zero.welcome)
    page = c.ask("GET", API + "?limit=2", "ops")[2]
    ids = [s["id"] for s in page["items"]]
    while page["next"]:
        page = c.ask("GET", API + "?limit=2&cursor=" + page["next"], "ops")[2]
        ids += [s["id"] for s in page["items"]]
    ok(ids == [s["id"] for s in after["items"]], "page by page they are the same", ids)


class RealAgent:
    def __init__(self, c):
        self.port = free_port()
        self.log = os.path.join(WORK, "agent.log")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [os.path.join(WORK, "bankfull"), "agent", "--pid", PID, "--limit", "20m", "--interval", "1s", "--smaps-interval", "5s",
                 "--listen", "127.0.0.1:%d" % self.port, "--collector", "ws://127.0.0.1:%d/agent" % c.port, "--namespace", "real",
                 "--workload", "probe", "--pod", "probe-1", "--no-metrics", "--grace", "4s"], stdout=subprocess.DEVNULL, stderr=log)

    def series(self, name):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            connection.request("GET", "/metrics")
            text = connection.getresponse().read().decode()
            connection.close()
            return any(line.startswith(name) for line in text.splitlines())
        except OSError:
            return None


def real(c):
    """Past its limit from the first sample on: freeboard-low is open."""
    agent = RealAgent(c)
    try:
        def finding():
            items = c.ask("GET", "/api/v1/findings?namespace=real&rule=freeboard-low&open=true", "ops")[2]["items"]
            return items[0] if items else None
        ok(until(30, finding) is not None, "a real agent has a finding", open(agent.log).read()[-700:])
        ok(until(5, lambda: agent.series('bankfull_finding_open{rule="freeboard-low"')), "and shows it itself")
        _, _, made = c.ask("POST", API, "ops", silence({"namespace": "real", "workload": "pro*", "rule": "freeboard-low"}))
        ok(until(6, lambda: agent.series('bankfull_finding_silenced{rule="freeboard-low"')) and
           not agent.series('bankfull_finding_open{rule="freeboard-low"'), "silenced here it is still within seconds",
           open(agent.log).read()[-700:])
        time.sleep(3)
        item = finding()
        ok(item and item["open"] and item["silenced"]["id"] == made["id"], "the collector goes on showing it, silenced", item)
        c.ask("DELETE", API + "/" + made["id"], "ops")
        ok(until(6, lambda: agent.series('bankfull_finding_open{rule="freeboard-low"')), "ended here it speaks again",
           open(agent.log).read()[-700:])
        ok(finding()["silenced"] is None, "and nothing is silenced")
        ok("spoke-out-of-turn" not in open(agent.log).read(), "to the agent this was no surprise")
    finally:
        agent.process.terminate()
        agent.process.wait(20)


def main():
    tokens = write("viewers", "operator ops %(ops)s\noperator zero %(team0)s team-0\nviewer one %(team1)s team-1\nviewer eye %(eye)s\n" % TOKENS)
    c = Collector("data", "--cluster", "prod", "--viewer-tokens", tokens)
    try:
        roles(c)
        bodies(c)
        zero, one = Agent(c, 0), Agent(c, 1)
        made = namespaces(c)
        for agent in (zero, one):
            while agent.hears(1.2):
                pass
        for item in made:
            c.ask("DELETE", API + "/" + item["id"], "ops")
        for agent in (zero, one):
            while agent.hears(1.2):
                pass
        agents(c, zero, one)
        at_once(c)
        times(c)
        restarted(c, zero)
        real(c)
        ok(c.stop() == 0, "ends well")
        ok(c.whole()[0], "and its store is whole", c.whole())
    finally:
        end_all()
    finish()


main()
