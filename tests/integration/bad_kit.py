# SPDX-License-Identifier: Apache-2.0
"""What bad_dashboard.py and bad_alerts.py share: a collector, agents, receivers, TAP. argv: BUILD DIRECTORY [TEST...]"""
import json
import os
import re
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # noqa: E402
from kit import BUILD, end_all, now_ms, ok, write  # noqa: E402
from wire_client import Client, epoch, sample  # noqa: E402

LIMIT = 1 << 30
TOKENS = {"wide": "viewer-of-all-0123456789", "ops": "operator-of-all-0123456789", "a": "viewer-of-alpha-0123456789",
          "opa": "operator-of-alpha-0123456789", "b": "operator-of-bravo-0123456789"}
VIEWERS = """viewer wide %(wide)s
operator ops %(ops)s
viewer ann %(a)s alpha
operator anna %(opa)s alpha
operator bob %(b)s bravo
""" % TOKENS
API = "/api/v1/silences"
LIVE = "/api/v1/live"
ALERTS = "alerts:\n  receivers:\n    - {name: hook, type: webhook, url: 'http://127.0.0.1:%d/', timeout: 2s}\n  group-wait: 0s\n  hold: 1s\n"
SLOW = 6 if "asan" in BUILD else 1  # a sanitizer's share of time


class Collector(kit.Collector):
    def __init__(self, name, *options, cluster="prod"):
        super().__init__(name, "--cluster", cluster, *options)

    def ask(self, method, path, who=None, body=None, **headers):
        """Status, headers, text."""
        if body is not None:
            headers.setdefault("Content_Type", "application/json")
        return super().ask(path, TOKENS[who] if who else None, method, body, **headers)

    def json(self, path, who=None):
        status, _, text = self.ask("GET", path, who)
        return json.loads(text) if status == 200 else {"status": status, "items": [], "text": text}

    def live(self, who=None, **options):
        return Client(self.port, path=LIVE, protocol="bankfull.live.v1", token=TOKENS[who] if who else None, **options)


class Agent:
    """One pod of which everything has a name; `word` is in all of them."""

    def __init__(self, c, word, namespace, skew_ms=0, said=None):
        self.epoch, self.seq, self.word, self.skew_ms = epoch(), 0, word, skew_ms
        self.client = Client(c.port)
        subject = {"namespace": namespace, "workload": "job-" + word, "role": "taskmanager", "pod": "pod-" + word,
                   "pod_uid": "uid-" + word, "node": "node-" + word, "container": "main-" + word, "jobs": ["etl-" + word],
                   "labels": {"app": "app-" + word}}
        hello = {"type": "hello", "subject": subject, "program": "0.1-" + word, "jdk": "17-" + word, "engine": "flink " + word,
                 "mono_ms": 1, "wall_ms": self.wall(), "epochs": [{"epoch": self.epoch, "first": 1, "last": 0}]}
        for key, value in (said or {}).items():
            (subject if key in ("pod", "workload", "node", "jobs", "labels", "container", "namespace") else hello)[key] = value
        self.client.send(hello)
        self.welcome = self.client.receive()

    def wall(self):
        return now_ms() + self.skew_ms

    def say(self, message, wait=True):
        self.seq += 1
        self.client.send({"epoch": self.epoch, "seq": self.seq, "mono_ms": self.seq * 1000, "wall_ms": self.wall(), **message})
        if wait:
            self.client.until_ack(self.epoch, self.seq)

    def sample(self, floor, wait=True, **more):
        s = sample(self.epoch, 0, self.wall(), charge_bytes=floor, floor_bytes=floor, freeboard_bytes=LIMIT - floor,
                   freeboard_level="container", limit_bytes=LIMIT, **more)
        self.say({k: v for k, v in s.items() if k not in ("epoch", "seq", "mono_ms", "wall_ms")}, wait)

    def finding(self, rule="native-growth", edge="opened", severity="warning", title=None, wait=True):
        title = title or "grows " + self.word
        self.say({"type": "finding", "id": rule + "/" + self.word, "edge": edge, "rule": rule, "severity": severity,
                  "opened_ms": self.wall(), "owner": "native-" + self.word, "title": title,
                  "finding": {"rule": rule, "title": title}}, wait)

    def postmortem(self):
        self.say({"type": "postmortem", "id": "death/" + self.word, "part": 0, "parts": 1, "cause": "container-limit",
                  "owner": "native-" + self.word, "pid": 8, "died_ms": self.wall(), "title": "killed " + self.word,
                  "body": {"why": self.word}})


def silence(matchers, ms=3600000, **others):
    return {"kind": "silence", "matchers": matchers, "reason": "known", "until_ms": now_ms() + ms, **others}


def viewers(name="viewers"):
    return "--viewer-tokens", write(name, VIEWERS)


# --- receivers of alerts -----------------------------------------------------------------------------------------------

class Peer:
    """A receiver that does to each connection what `act` does: act(socket, request)."""

    def __init__(self, act):
        self.act, self.requests, self.listener = act, [], socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        try:
            with s:
                s.settimeout(30)
                data = b""
                while b"\r\n\r\n" not in data:
                    piece = s.recv(65536)
                    if not piece:
                        break
                    data += piece
                head, _, body = data.partition(b"\r\n\r\n")
                length = re.search(rb"content-length: *(\d+)", head.lower())
                while length and len(body) < int(length.group(1)):
                    body += s.recv(65536)
                self.requests.append((head, body, time.monotonic()))
                self.act(s, head)
        except OSError:
            pass


def answering(text):
    return lambda s, _: s.sendall(text if isinstance(text, bytes) else text.encode())


def run(*tests):
    """Those that are asked for; whatever happens in one, the others are run."""
    for test in tests:
        if len(sys.argv) > 3 and test.__name__ not in sys.argv[3:]:
            continue
        began = time.monotonic()
        try:
            test()
        except Exception as error:  # whatever it is: the others are still run
            frames, at = [], error.__traceback__
            while at:
                frames.append(at.tb_lineno)
                at = at.tb_next
            ok(False, test.__name__, "%s: %s (lines %s)" % (type(error).__name__, error, frames))
        finally:
            end_all()
        print("# %s: %.1f s" % (test.__name__, time.monotonic() - began), flush=True)
    return kit.failures > 0
