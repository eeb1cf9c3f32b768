# SPDX-License-Identifier: Apache-2.0
"""See alerts.sh.    alerts.py BUILD DIRECTORY [TEST...]"""
import http.server
import json
import os
import re
import resource
import ssl
import subprocess
import sys
import threading
import time
import urllib.request

sys.path.insert(0, os.path.dirname(__file__))
import kit  # noqa: E402
from kit import WORK, end_all, finish, free_port, now_ms, ok, running, until, write  # noqa: E402
from wire_client import Client, epoch, hello, sample  # noqa: E402


# --- whoever is called ---------------------------------------------------------------------------------------------

class Hook:
    """A receiver that does what it is told: status, or a hang. Keeps every request."""

    def __init__(self, tls=None):
        self.requests, self.statuses, self.hang, self.lock = [], [], threading.Event(), threading.Condition()
        self.hanging = False
        self.poison = None  # what has this in it is answered with 400
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with hook.lock:
                    hook.requests.append((dict(self.headers), json.loads(body), time.monotonic()))
                    status = hook.statuses.pop(0) if hook.statuses else 200
                    if hook.poison and hook.poison in body:
                        status = 400
                if hook.hanging:
                    hook.hang.wait(60)
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", "2")
                    self.end_headers()
                    self.wfile.write(b"{}")
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def bodies(self):
        with self.lock:
            return [body for _, body, _ in self.requests]

    def edges(self, rule=None):
        """("firing" or "resolved", workload) of CloudEvents, in order."""
        return [(b["data"]["state"], b["data"]["labels"]["workload"]) for b in self.bodies()
                if "data" in b and (rule is None or b["data"]["labels"]["rule"] == rule)]

    def calls(self, alertname):
        """Of Alertmanager's own webhook: each notification of this alert, as (status, pods)."""
        return [(b["status"], a["annotations"].get("pods")) for b in self.bodies() for a in b["alerts"]
                if a["labels"]["alertname"] == alertname]


class Alertmanager:
    """The packaged one. It calls `hook` at once, and again only after an hour."""

    def __init__(self, name, hook, port=None):
        self.port, self.home = port or free_port(), os.path.join(WORK, name)
        os.makedirs(self.home, exist_ok=True)
        config = write(name + ".yml", json.dumps({
            "route": {"receiver": "hook", "group_by": ["alertname", "workload"], "group_wait": "100ms",
                      "group_interval": "300ms", "repeat_interval": "1h"},
            "receivers": [{"name": "hook", "webhook_configs": [{"url": "http://127.0.0.1:%d/" % hook.port,
                                                                "send_resolved": True}]}]}))
        self.log = open(os.path.join(WORK, name + ".log"), "ab")
        self.arguments = ["prometheus-alertmanager", "--config.file", config, "--storage.path", self.home,
                          "--web.listen-address", "127.0.0.1:%d" % self.port, "--cluster.listen-address="]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.arguments, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        running.append(self.process)
        if not until(20, self.is_ready):
            with open(self.log.name) as log:
                sys.exit("not ok - Alertmanager starts\n# " + log.read()[-2000:])

    def is_ready(self):
        try:
            return self.get("/-/ready") is not None
        except OSError:
            return False

    def get(self, path):
        with urllib.request.urlopen("http://127.0.0.1:%d%s" % (self.port, path), timeout=5) as reply:
            return reply.read().decode()

    def alerts(self, rule=None):
        alerts = json.loads(self.get("/api/v2/alerts"))
        return [a for a in alerts if rule is None or a["labels"].get("rule") == rule]

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


# --- the collector and its agents ------------------------------------------------------------------------------------

class Collector(kit.Collector):
    def __init__(self, name, config, *options):
        super().__init__(name, "--cluster", "prod", "--public-url", "https://bankfull.example", "--config", write(name + ".yaml", config), *options)

    def ask(self, path, method="GET", body=None, token=None):
        """What a request that must succeed is answered with, decoded where it is JSON."""
        status, _, content = self.request(method, path, token, body)
        text = content.decode()
        if status >= 300:
            raise ValueError("%s %s: %d %s" % (method, path, status, text[:300]))
        return json.loads(text) if text and text[0] in "{[" else text

    def alerts(self, query=""):
        return self.ask("/api/v1/alerts?limit=1000" + query)


class Agent:
    """One pod. Its findings are open until they are cleared."""

    def __init__(self, collector, pod, workload="fraud", namespace="streaming"):
        self.epoch, self.seq = epoch(), 0
        self.client = Client(collector.port)
        message = hello(pod, [(self.epoch, 1, 0)], now_ms(), namespace)
        message["subject"]["workload"] = workload
        self.client.send(message)
        self.client.receive()
        self.say({**sample(self.epoch, self.next(), now_ms()), "freeboard_bytes": (1 << 20) * (self.seq + 1)})

    def next(self):
        self.seq += 1
        return self.seq

    def say(self, message):
        self.client.send(message)

    def finding(self, rule, edge="opened", severity="warning", title="little is left", wait_ack=True, **more):
        seq = self.next()
        self.say({"type": "finding", "epoch": self.epoch, "seq": seq, "mono_ms": seq, "wall_ms": now_ms(),
                  "id": rule + "/1", "edge": edge, "rule": rule, "severity": severity, "opened_ms": now_ms(),
                  **({} if edge == "cleared" else {"title": title, "finding": {"rule": rule, "title": title}}), **more})
        if wait_ack:
            self.client.until_ack(self.epoch, seq)

    def close(self):
        self.client.close()


def config(receivers, rest="  group-wait: 1s\n  hold: 2s\n"):
    return "alerts:\n  receivers:\n" + "".join("    - {%s}\n" % r for r in receivers) + rest


# --- tests -----------------------------------------------------------------------------------------------------------

def three_hundred_pods():
    """One job in trouble is one call, at a real Alertmanager and at a webhook, and one end."""
    hook, people = Hook(), Hook()
    manager = Alertmanager("am300", people)
    collector = Collector("c300", config(["name: am, type: alertmanager, url: 'http://127.0.0.1:%d'" % manager.port,
                                          "name: hook, type: webhook, url: 'http://127.0.0.1:%d/x'" % hook.port])
                          + "  labels: {team: streaming}\n")
    agents = [Agent(collector, "fraud-taskmanager-1-%d" % i) for i in range(300)]
    for agent in agents:
        agent.finding("freeboard-low", wait_ack=False)
    for agent in agents:
        agent.client.until_ack(agent.epoch, agent.seq)
    until(20, lambda: people.calls("BankfullFreeboardLow") and hook.edges())
    alerts = manager.alerts("freeboard-low")
    ok(len(alerts) == 1 and alerts[0]["labels"] == {
        "alertname": "BankfullFreeboardLow", "cluster": "prod", "namespace": "streaming", "workload": "fraud",
        "rule": "freeboard-low", "severity": "warning", "team": "streaming"}, "300 pods are one alert", alerts)
    notes = alerts[0]["annotations"] if alerts else {}
    ok(notes.get("pods") == "300" and "and 295 more" in notes.get("worst_pods", "")
       and notes.get("runbook_url") == "https://bankfull.example/docs/rules/freeboard-low"
       and notes.get("title") == "warning: freeboard-low at fraud, 300 of 300 pods", "its annotations say how many and which", notes)
    ok("BankfullWatchdog" in [a["labels"]["alertname"] for a in manager.alerts()], "the watchdog fires")
    time.sleep(4)  # several looks, and Alertmanager's group_interval
    ok(people.calls("BankfullFreeboardLow") == [("firing", "300")], "Alertmanager calls once",
       people.calls("BankfullFreeboardLow"))
    ok(hook.edges() == [("firing", "fraud")], "and so does the webhook", hook.edges())
    event = hook.bodies()[0]
    ok(event["specversion"] == "1.0" and event["type"] == "io.bankfull.alert.firing"
       and event["source"] == "https://bankfull.example" and event["subject"] == "streaming/fraud/freeboard-low"
       and re.fullmatch(r"\d+-\d+-firing", event["id"]) and len(event["data"]["figures"]["worst"]) == 5
       and hook.requests[0][0]["Content-Type"].startswith("application/cloudevents+json"), "it is a CloudEvent", event)
    shown = collector.alerts()
    ok([d["state"] for d in shown["items"][0]["deliveries"]] == ["told", "told"] and shown["items"][0]["pods"] == 300
       and [r["state"] for r in shown["receivers"]] == ["idle", "idle"], "the API says who was told", shown)
    for agent in agents[:299]:
        agent.finding("freeboard-low", "cleared", wait_ack=False)
    time.sleep(4)
    ok(len(hook.edges()) == 1, "it goes on while one pod has it", hook.edges())
    agents[299].finding("freeboard-low", "cleared")
    until(20, lambda: len(people.calls("BankfullFreeboardLow")) > 1 and len(hook.edges()) > 1)
    ok([s for s, _ in people.calls("BankfullFreeboardLow")] == ["firing", "resolved"]
       and hook.edges() == [("firing", "fraud"), ("resolved", "fraud")], "its end is told once",
       (people.calls("BankfullFreeboardLow"), hook.edges()))
    ok(collector.stop() == 0, "the collector stops cleanly")
    manager.stop()


def severities_and_routes():
    hook, batch = Hook(), Hook()
    collector = Collector("routes", config(
        ["name: all, type: webhook, url: 'http://127.0.0.1:%d'" % hook.port,
         "name: batch, type: webhook, url: 'http://127.0.0.1:%d', send-resolved: false" % batch.port],
        "  routes:\n    - {workload: 'sandbox-*', severity: info, receivers: []}\n"
        "    - {namespace: batch, severity: critical, receivers: [batch]}\n"
        "    - {namespace: batch, receivers: []}\n  default: [all]\n  group-wait: 0s\n  hold: 2s\n"))
    agents = [Agent(collector, "a"), Agent(collector, "b", namespace="batch"), Agent(collector, "c", "sandbox-x")]
    for agent in agents:
        agent.finding("freeboard-low")
    until(20, lambda: hook.edges())
    agents[0].finding("freeboard-low", "updated", "critical")
    agents[1].finding("freeboard-low", "updated", "critical")
    until(20, lambda: len(hook.edges()) >= 3 and batch.edges())
    said = [(b["data"]["state"], b["data"]["labels"]["severity"]) for b in hook.bodies()]
    ok(said == [("firing", "warning"), ("firing", "critical"), ("resolved", "warning")],
       "a severity that rises is told before the other ends", said)
    ok([b["data"]["labels"]["severity"] for b in batch.bodies()] == ["critical"], "routes by namespace and severity",
       batch.bodies())
    quiet = collector.alerts("&workload=sandbox-x")["items"]
    ok(len(quiet) == 1 and quiet[0]["deliveries"] == [] and quiet[0]["route"] == 1, "and to nobody", quiet)
    agents[1].finding("freeboard-low", "cleared")
    until(20, lambda: not collector.alerts("&active=true&namespace=batch")["items"])
    time.sleep(1)
    ok(len(batch.bodies()) == 1, "who wants no resolved gets none", batch.bodies())
    collector.stop()


def whom_a_viewer_of_one_namespace_sees():
    """The receivers of his alerts, whether they are reached, and no word of what others are told."""
    hook, other = Hook(), Hook()
    tokens = write("alert-viewers", "viewer all %s\nviewer few %s shop\n" % ("a" * 40, "f" * 40))
    collector = Collector("viewers", config(
        ["name: shops, type: webhook, url: 'http://127.0.0.1:%d'" % hook.port,
         "name: others, type: webhook, url: 'http://127.0.0.1:%d'" % other.port],
        "  routes:\n    - {namespace: shop, receivers: [shops]}\n  default: [others]\n  group-wait: 0s\n  hold: 2s\n"),
        "--viewer-tokens", tokens)
    for name, namespace in (("a", "shop"), ("b", "bank")):
        Agent(collector, name, namespace=namespace).finding("freeboard-low")
    until(20, lambda: hook.edges() and other.edges())
    every = collector.ask("/api/v1/alerts", token="a" * 40)
    mine = collector.ask("/api/v1/alerts", token="f" * 40)
    ok([r["receiver"] for r in every["receivers"]] == ["shops", "others"] and every["receivers"][0]["told"] == 1, "who sees all sees all receivers", every)
    ok([a["namespace"] for a in mine["items"]] == ["shop"] and mine["receivers"] == [
        {"receiver": "shops", "type": "webhook", "state": "idle", "queue": None, "told": None, "failed": None, "dropped": None, "last_error": None}],
       "who sees one namespace sees whom it calls", mine)
    ok('receiver="others"' in collector.ask("/metrics", token="a" * 40) and "receiver=" not in collector.ask("/metrics", token="f" * 40),
       "in the metrics, too")
    collector.stop()


def a_receiver_that_is_away():
    """Alertmanager down, the collector killed and started again meanwhile: nothing is lost, and nothing comes twice."""
    people, hook = Hook(), Hook()
    manager = Alertmanager("away", people)
    collector = Collector("away-c", config(["name: am, type: alertmanager, url: 'http://127.0.0.1:%d'" % manager.port,
                                            "name: hook, type: webhook, url: 'http://127.0.0.1:%d'" % hook.port]))
    agent, other = Agent(collector, "a", "first"), Agent(collector, "b", "second")
    agent.finding("freeboard-low")
    until(20, lambda: people.calls("BankfullFreeboardLow") and hook.edges())
    manager.stop()
    agent.finding("freeboard-low", "cleared")
    other.finding("freeboard-low")
    other.finding("thread-growth")
    until(20, lambda: len(hook.edges()) >= 4)
    other.finding("thread-growth", "cleared")
    until(20, lambda: len(hook.edges()) >= 5)
    until(20, lambda: collector.metric("bankfull_collector_alert_queue") == 3)
    ok(collector.metric("bankfull_collector_alert_queue") == 3, "what is due is counted",
       collector.ask("/metrics"))
    receivers = collector.alerts()["receivers"]
    ok(receivers[0]["state"] == "failing" and "nobody listens" in receivers[0]["last_error"]
       and receivers[1]["state"] == "idle", "the API says that it is not reached, and why", receivers)
    time.sleep(1.2)  # what the webhook took is stored within a second
    collector.kill()
    collector.start()
    time.sleep(2)
    manager.start()
    until(70, lambda: len(people.calls("BankfullFreeboardLow")) > 2 or not until(30, lambda: collector.metric(
        "bankfull_collector_alert_queue") == 0))
    until(20, lambda: "second" in [a["labels"]["workload"] for a in manager.alerts("freeboard-low")])
    active = [a["labels"]["workload"] for a in manager.alerts("freeboard-low")]
    ok(active == ["second"], "when it is back it knows what goes on, and what does not", active)
    until(10, lambda: len(people.calls("BankfullFreeboardLow")) > 2)
    calls = [s for s, _ in people.calls("BankfullFreeboardLow")]
    ok(sorted(calls) == ["firing", "firing", "resolved"], "each is called once", people.bodies())
    ok(people.calls("BankfullThreadGrowth") == [], "nobody is called for what was over by then", people.bodies())
    expected = [("firing", "first"), ("firing", "second"), ("firing", "second"), ("resolved", "first"), ("resolved", "second")]
    ok(sorted(hook.edges()) == expected, "the webhook, which was never away, heard all of it once", hook.edges())
    ok(collector.metric("bankfull_collector_alert_queue") == 0, "nothing is due any more")
    collector.stop()
    manager.stop()


def receivers_that_misbehave():
    hanging, failing, refusing, good = Hook(), Hook(), Hook(), Hook()
    hanging.hanging = True
    failing.statuses = [500, 503, 500]
    refusing.statuses = [400, 422, 400]
    token = write("hook.token", "t0ken-of-a-webhook\n")
    collector = Collector("bad", config(
        ["name: hanging, type: webhook, url: 'http://127.0.0.1:%d', timeout: 2s" % hanging.port,
         "name: failing, type: webhook, url: 'http://127.0.0.1:%d/s3cret-path?q=1', token-file: %s" % (failing.port, token),
         "name: refusing, type: webhook, url: 'http://127.0.0.1:%d'" % refusing.port,
         "name: good, type: webhook, url: 'http://127.0.0.1:%d'" % good.port], "  group-wait: 0s\n  hold: 0s\n"))
    agent = Agent(collector, "a")
    began = time.monotonic()
    agent.finding("freeboard-low")
    until(20, lambda: good.edges())
    ok(good.edges() == [("firing", "fraud")] and time.monotonic() - began < 8, "one that hangs delays no other", good.edges())
    began = time.monotonic()
    ok(collector.ask("/healthz") == "ok\n" and time.monotonic() - began < 1, "nor the collector")
    agent.finding("freeboard-low", "cleared")
    until(20, lambda: len(good.edges()) == 2)
    until(30, lambda: len(failing.edges("freeboard-low")) >= 4)
    events = [(b["data"]["state"], b["id"]) for b in failing.bodies() if b["data"]["labels"]["rule"] == "freeboard-low"]
    states = [state for state, _ in events]
    ok(len(events) >= 4 and states == sorted(states) and states[-1] == "resolved" and len(set(events)) == len(set(states)),
       "what fails is sent again with the same id, and its end after it", events)
    ok(all(h.get("Authorization") == "Bearer t0ken-of-a-webhook" for h, _, _ in failing.requests), "with its token")
    until(30, lambda: (collector.alerts()["receivers"][2]["dropped"]) == 1)
    receivers = {r["receiver"]: r for r in collector.alerts()["receivers"]}
    ok(receivers["refusing"]["dropped"] == 1 and len(refusing.edges("freeboard-low")) == 3,
       "what is refused three times is dropped", (receivers["refusing"], refusing.edges()))
    until(30, lambda: len(hanging.requests) >= 2)
    ok(collector.alerts()["receivers"][0]["state"] == "failing"
       and "2000 ms" in collector.alerts()["receivers"][0]["last_error"], "one that hangs is ended at its timeout",
       collector.alerts()["receivers"])
    finding = until(20, lambda: [f for f in collector.ask("/api/v1/findings?open=true")["items"]
                            if f["rule"] == "alert-delivery-failing"])
    ok(len(finding) == 1 and "'refusing'" in finding[0]["title"], "and a finding says what was dropped", finding)
    began = time.monotonic()
    ok(collector.stop() == 0 and time.monotonic() - began < 6, "the collector stops while one hangs")
    hanging.hang.set()
    ok("t0ken" not in collector.said() and "s3cret" not in collector.said(), "no token and no path is logged")


def a_batch_that_is_refused():
    """One alert of many that Alertmanager would not take: it is found and dropped, the others arrive."""
    manager = Hook()
    manager.poison = b'"bad"'
    collector = Collector("batch", config(["name: am, type: alertmanager, url: 'http://127.0.0.1:%d/am/'" % manager.port],
                                          "  group-wait: 1s\n  hold: 0s\n"))
    for workload in ("good-1", "bad", "good-2"):
        Agent(collector, workload, workload).finding("freeboard-low")

    def taken():
        return {a["labels"].get("workload", a["labels"]["alertname"]) for batch in manager.bodies() for a in batch
                if manager.poison not in json.dumps(batch).encode()}
    until(30, lambda: taken() >= {"good-1", "good-2"})
    ok(taken() >= {"good-1", "good-2", "BankfullWatchdog"}, "the others of a refused batch arrive", manager.bodies())
    until(20, lambda: collector.alerts()["receivers"][0]["dropped"] == 1)
    shown = collector.alerts()
    states = {a["workload"]: a["deliveries"][0]["state"] for a in shown["items"] if a["rule"] == "freeboard-low"}
    ok(states == {"good-1": "told", "bad": "excused", "good-2": "told"}, "and what was refused is dropped", shown)
    collector.stop()


def over_tls():
    """An authority of its own, which the receiver's certificate comes from or does not."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=WORK)
    for ca in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=" + ca, "-keyout", ca + ".key", "-out", ca + ".crt")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-keyout",
            "hook.key", "-out", "hook.csr")
    write("hook.ext", "subjectAltName=DNS:localhost\n")
    openssl("x509", "-req", "-in", "hook.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-days", "2", "-extfile", "hook.ext",
            "-out", "hook.crt")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(os.path.join(WORK, "hook.crt"), os.path.join(WORK, "hook.key"))
    hook = Hook(tls)
    receivers = ["name: %s, type: webhook, url: 'https://localhost:%d', ca-file: %s" % (name, hook.port, os.path.join(WORK, ca))
                 for name, ca in (("trusting", "ca.crt"), ("doubting", "other.crt"))]
    collector = Collector("tls", config(receivers, "  group-wait: 0s\n"))
    agent = Agent(collector, "a")
    agent.finding("freeboard-low")
    until(20, lambda: hook.edges())
    until(20, lambda: collector.alerts()["receivers"][1]["state"] == "failing")
    shown = collector.alerts()["receivers"]
    ok(len(hook.edges()) == 1 and shown[0]["told"] == 1, "over TLS, by an authority of its own", shown)
    ok(shown[1]["told"] == 0 and "certificate" in shown[1]["last_error"], "and not by another", shown)
    collector.stop()


def hostile_names():
    """What an agent may name: marks, control bytes, 4 kB. A real Alertmanager takes it, and it turns no line around."""
    people = Hook()
    manager = Alertmanager("hostile", people)
    hook = Hook()
    collector = Collector("hostile-c", config(["name: am, type: alertmanager, url: 'http://127.0.0.1:%d'" % manager.port,
                                               "name: hook, type: webhook, url: 'http://127.0.0.1:%d'" % hook.port],
                                              "  group-wait: 0s\n  hold: 0s\n"))
    nasty = "a\u202eb\x1b[31m\u0085<script>alert(1)</script>\r\n{{rule}}\u2066"
    agents = [Agent(collector, (nasty + "x" * 253)[:100], nasty, "ns\u202e"),
              Agent(collector, "y" * 200, "w" * 250)]
    agents[0].finding("freeboard-low", title=(nasty + "t" * 4096)[:150])
    agents[1].finding("../../etc/passwd", title="z" * 159)
    until(20, lambda: len(hook.edges()) == 2 and len(manager.alerts()) == 3)
    texts = [json.dumps(b, ensure_ascii=False) for b in hook.bodies()] + [json.dumps(manager.alerts(), ensure_ascii=False)]
    ok(len(manager.alerts()) == 3 and len(hook.edges()) == 2, "hostile names arrive", manager.alerts())
    ok(not any(re.search("[\u202a-\u202e\u2066-\u2069\u0080-\u009f]|\\\\u00[01]", t) for t in texts)
       and all(len(t) < 20000 for t in texts), "escaped and cut",
       [(re.findall("[\u202a-\u202e\u2066-\u2069\u0080-\u009f]|\\\\u00[01].", t), len(t)) for t in texts])
    ok("passwd" not in "".join(a["annotations"].get("runbook_url", "") for a in manager.alerts()),
       "no link is made of a rule that is none")
    for agent in agents:
        agent.finding("freeboard-low" if agent is agents[0] else "../../etc/passwd", "cleared")
    until(20, lambda: len(hook.edges()) == 4)
    ok(len(hook.edges()) == 4, "and end", hook.edges())
    collector.stop()
    manager.stop()


def silences():
    hook = Hook()
    collector = Collector("silences", config(["name: hook, type: webhook, url: 'http://127.0.0.1:%d'" % hook.port],
                                             "  group-wait: 1s\n  hold: 0s\n"))
    agents = [Agent(collector, "a", "quiet"), Agent(collector, "b", "loud"), Agent(collector, "c", "loud")]

    def silence(**matchers):
        return collector.ask("/api/v1/silences", "POST", {"kind": "silence", "matchers": matchers, "reason": "known",
                                                          "until_ms": now_ms() + 600000})["id"]
    whole = silence(workload="quiet")
    silence(workload="loud", pod="b")
    for agent in agents:
        agent.finding("freeboard-low")
    until(20, lambda: hook.edges())
    time.sleep(3)
    ok(hook.edges() == [("firing", "loud")], "what is silenced calls nobody", hook.edges())
    ok(hook.bodies()[0]["data"]["figures"]["pods"] == 1, "a pod that is silenced by name is left out of the others",
       hook.bodies())
    shown = collector.alerts("&workload=quiet")["items"][0]
    ok(shown["silenced"]["reason"] == "known" and shown["deliveries"][0]["state"] == "silenced", "the API says why", shown)
    agents[2].finding("freeboard-low", "cleared")
    until(20, lambda: collector.alerts("&workload=loud")["items"][0]["pods_silenced"])
    ok(collector.alerts("&workload=loud")["items"][0]["pods_silenced"], "the pod that is left is silenced")
    collector.ask("/api/v1/silences/" + whole, "DELETE")
    until(20, lambda: ("firing", "quiet") in hook.edges())
    ok(hook.edges() == [("firing", "loud"), ("firing", "quiet")], "when the silence ends it is told", hook.edges())
    silence(workload="quiet")
    agents[0].finding("freeboard-low", "cleared")
    until(20, lambda: ("resolved", "quiet") in hook.edges())
    ok(hook.edges()[-1] == ("resolved", "quiet"), "an end is told even so", hook.edges())
    collector.stop()


def same_shape(a, b, path=""):
    """Where two JSON values differ in members; lists and the values themselves are not looked at."""
    if not isinstance(a, dict) or not isinstance(b, dict):
        return []
    return [path + "/" + k for k in set(a) ^ set(b)] + [d for k in set(a) & set(b) for d in same_shape(a[k], b[k], path + "/" + k)]


def the_documentation():
    """Its configuration is one, and its event is what comes."""
    with open("docs/alerts.md") as book:
        text = book.read()
    whole = re.search(r"^```yaml\n(.*?)^```", text, re.M | re.S).group(1)
    collector = Collector("book", whole)
    ok([r["receiver"] for r in collector.alerts()["receivers"]] == ["oncall", "tickets"], "the book's configuration is taken")
    collector.stop()
    hook = Hook()
    collector = Collector("event", config(["name: hook, type: webhook, url: 'http://127.0.0.1:%d'" % hook.port], "  group-wait: 0s\n"))
    Agent(collector, "a").finding("freeboard-low")
    until(20, lambda: hook.edges())
    written = json.loads(re.search(r"^```json\n(.*?)^```", text, re.M | re.S).group(1))
    optional = {"/data/annotations/" + k for k in ("description", "worst_pods", "runbook_url", "dashboard_url")}
    differ = set(same_shape(written, hook.bodies()[0])) - optional
    ok(not differ, "the book's event is what comes", (differ, hook.bodies()[0]))
    collector.stop()


TESTS = [the_documentation, three_hundred_pods, severities_and_routes, whom_a_viewer_of_one_namespace_sees, a_receiver_that_is_away, receivers_that_misbehave, a_batch_that_is_refused, over_tls, hostile_names,
         silences]


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    try:
        for test in TESTS:
            if sys.argv[3:] and test.__name__ not in sys.argv[3:]:
                continue
            try:
                test()
            except (AssertionError, OSError, KeyError, IndexError, ValueError) as error:
                ok(False, test.__name__, repr(error))
    finally:
        end_all()
    finish()


main()
