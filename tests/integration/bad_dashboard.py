# SPDX-License-Identifier: Apache-2.0
"""Viewers, pages and agents that mean no good, each towards a real collector. TAP on the output.

    bad_dashboard.py BUILD DIRECTORY [TEST...]
"""
import json
import os
import re
import signal
import socket
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(__file__))
import openapi  # noqa: E402
from bad_kit import ALERTS, API, LIMIT, LIVE, SLOW, TOKENS, Agent, Collector, Peer, answering, run, silence, viewers  # noqa: E402
from kit import now_ms, ok, until, write  # noqa: E402
from wire_client import Client, Closed, Refused  # noqa: E402


# --- who may see what ------------------------------------------------------------------------------------------------

def templates():
    return sorted(openapi.DOCUMENT["paths"])


def nobody():
    """Every path and every method without a token, or with one that is not right."""
    c = Collector("nobody", *viewers())
    agent = Agent(c, "7f3a", "alpha")
    agent.sample(123456789)
    agent.finding()
    open_paths = {"/healthz", "/readyz"}
    wrong = []
    cookie = "__Host-bankfull=" + TOKENS["wide"]
    for template in templates() + ["/api/v1/fleet", LIVE, "/api/v1", "/api/v1/", "/api/v2/pods", "/api", "/api//v1/pods",
                                   "/API/v1/pods", "/api/v1/pods/", "/api/v1/pods/1/", "/api/v1/pods//1", "/api/v1/%70ods",
                                   "/metrics/", "/metrics?x=y", "//api/v1/pods", "/./api/v1/pods", "/x/../api/v1/pods"]:
        path = template.replace("{id}", "1").replace("{rule}", "oom-kill")
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "post", "PROPFIND",
                       "GET\t", "X" * 100):
            for header in ("", "Authorization: Bearer wrong-token-0123456789", "Authorization: Bearer", "Authorization: Bearer ",
                           "Authorization: Basic " + TOKENS["wide"], "Authorization: " + TOKENS["wide"],
                           "Cookie: bankfull=" + TOKENS["wide"], "Cookie: __Host-bankfull=", "Cookie: x" + cookie,
                           "Authorization: Bearer wrong-token-0123456789\r\nCookie: " + cookie):
                if header and method not in ("GET", "POST", "DELETE"):
                    continue
                answer = c.raw(("%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s%sContent-Length: 0\r\n\r\n"
                                % (method, path, header, "\r\n" if header else "")).encode())
                status = answer[9:12]
                if b"7f3a" in answer or b"123456789" in answer.split(b"\r\n\r\n", 1)[-1] or \
                   (status in (b"200", b"201", b"204") and path.split("?")[0] not in open_paths and not path.startswith("/docs/")):
                    wrong.append((method, path, header, answer[:300]))
    ok(not wrong, "without a good token no path and no method says anything", wrong[:3])
    for options in ({}, {"token": "wrong-token-0123456789"}, {"origin": "http://127.0.0.1:%d" % c.port},
                    {"cookie": "__Host-bankfull=wrong-token-0123456789", "origin": "http://127.0.0.1:%d" % c.port}):
        try:
            Client(c.port, path=LIVE, protocol="bankfull.live.v1", **options)
            ok(False, "live without a good token: %s" % options)
        except Refused as end:
            ok(end.status == 401, "live without a good token: %s" % sorted(options), end)
    ok(c.alive() and c.stop() == 0, "and it serves on")


def queries(word):
    """Filters, sorts and pages that might tell of others."""
    common = ["?namespace=bravo", "?workload=job-" + word, "?pod=pod-" + word, "?node=node-" + word, "?job=etl-" + word,
              "?container=main-" + word, "?label=app=app-" + word, "?limit=1", "?limit=1000", "?cluster=prod", "?cluster=nowhere",
              "?severity=critical", "?role=taskmanager"]
    return {
        "/api/v1/workloads": common, "/api/v1/pods": common + ["?connected=true", "?connected=false"],
        "/api/v1/findings": common + ["?open=true", "?open=false", "?rule=native-growth"],
        "/api/v1/postmortems": common + ["?cause=container-limit"],
        "/api/v1/alerts": ["", "?namespace=bravo", "?workload=job-" + word, "?rule=native-growth", "?active=true", "?active=false"],
        API: ["?active=true", "?active=false"],
        "/api/v1/fleet": ["?view=%s&sort=%s&descending=%s" % (v, s, d) for v in ("pods", "workloads")
                          for s in ("danger", "freeboard", "severity", "name", "namespace", "charge", "heard") for d in ("true", "false")]
                         + ["?namespace=bravo", "?q=" + word, "?job=etl-" + word, "?engine=flink%20" + word, "?view=pods&from=1"],
        "/metrics": [""], "/api/v1/me": [""], "/api/v1/audit": ["", "?limit=1"]}


def everything(c, who, word):
    """(path, status, body) of all there is to ask, with ids guessed, and of live."""
    out = []
    for path, questions in queries(word).items():
        for question in [""] + questions:
            status, headers, text = c.ask("GET", path + question, who)
            out.append((path + question, status, text + str(headers)))
            cursor = json.loads(text).get("next") if status == 200 and text.startswith("{") else None
            for step in range(5):
                if not cursor:
                    break
                again = path + (question + "&" if question else "?") + "cursor=" + urllib.parse.quote(cursor)
                status, headers, text = c.ask("GET", again, who)
                out.append((again, status, text + str(headers)))
                cursor = json.loads(text).get("next") if status == 200 else None
    for template in templates():
        if "{id}" not in template:
            continue
        for n in list(range(1, 9)) + ["prod:bravo:job-" + word, "prod%3Abravo%3Ajob-" + word]:
            path = template.replace("{id}", str(n))
            status, headers, text = c.ask("GET", path, who)
            out.append((path, status, scrub(text + str(headers))))
    client = c.live(who)
    client.sock.settimeout(3)
    asks = [{"subscribe": "fleet", "view": v, "sort": s, "descending": d} for v in ("pods", "workloads")
            for s in ("danger", "freeboard", "charge", "heard") for d in (True, False)]
    asks += [{"subscribe": "fleet", "filter": f}
             for f in ({"namespace": "bravo"}, {"q": word}, {"job": "etl-" + word}, {"engine": "flink " + word})]
    asks += [{"subscribe": "pod", "pod": str(n)} for n in range(1, 6)]
    asks += [{"subscribe": "workload", "workload": "prod:%s:job-%s" % (n, word)} for n in ("alpha", "bravo")]
    for n, ask in enumerate(asks):
        time.sleep(0.11)
        client.send({**ask, "n": n})
        m = client.receive()
        while m.get("n") != n:
            m = client.receive()
        out.append(("live %s" % ask, m["type"], json.dumps(m)))
    client.close()
    return out


def scrub(text):
    """Without what changes from one moment to the next."""
    return re.sub(r"'content-length': '\d+'|'etag': '[^']*'|"
                  r'"([a-z_]*_ms|spark|tries|failed|last_error|n)": ?("[^"]*"|[0-9.]+|null)', "", text)


def world(seen):
    """What can be told apart; figures of the process itself are everybody's."""
    return {(p, s, scrub(t)) for p, s, t in seen if p != "/metrics"}


def difference(a, b):
    """The first lines, or stretches, in which they differ."""
    lines = [(x, y) for x, y in zip(a.split("\n"), b.split("\n")) if x != y]
    if not lines:
        return a[:200], b[:200]
    x, y = lines[0]
    at = next((i for i, (p, q) in enumerate(zip(x, y)) if p != q), 0)
    return x[max(0, at - 100):at + 100], y[max(0, at - 100):at + 100]


def namespaces():
    """Two namespaces; whoever is of one sees and hears nothing of the other, and finds the world as if there were no other."""
    word, secret = "7f3a", 777777777
    c = Collector("namespaces", *viewers(), "--config", write("ns.yaml", ALERTS % 9))
    mine = Agent(c, "mine", "alpha")
    mine.sample(LIMIT // 2)
    mine.finding()
    mine.postmortem()
    until(5, lambda: c.json("/api/v1/alerts", "a")["items"])
    c.ask("POST", API, "opa", silence({"namespace": "alpha", "rule": "oom-kill"}))
    before = {who: world(everything(c, who, word)) for who in ("a", "opa")}
    other = Agent(c, word, "bravo")
    other.sample(secret, composition={"age_ms": 0, "owners_bytes": {"java-heap": secret - 5, "native-other": 5}})
    other.finding(severity="critical", rule="freeboard-low")
    other.finding()
    other.postmortem()
    until(5, lambda: len(c.json("/api/v1/alerts", "b")["items"]) >= 1)
    made = [c.ask("POST", API, "b", silence({"namespace": "bravo", "pod": "pod-" + word}, reason="because " + word)),
            c.ask("POST", API, "ops", silence({"workload": "job-" + word}, reason="wide " + word)),
            c.ask("POST", API, "ops", silence({"namespace": "br*"}, reason="pattern " + word))]
    ok([m[0] for m in made] == [201] * 3, "there is something to hide", made)
    c.ask("DELETE", API + "/" + json.loads(made[2][2])["id"], "ops")
    seen = everything(c, "b", word)
    ok(sum(word in t for _, _, t in seen) > 50, "and it is there to be found", sum(word in t for _, _, t in seen))
    for who in ("a", "opa"):
        seen = everything(c, who, word)
        leaks = [(p, s, re.findall(".{0,80}(?:%s|777777|bravo).{0,80}" % word, t)) for p, s, t in seen
                 if (word in t or "777777" in t or "bravo" in t) and s not in (404, "gone", 400)]
        ok(not leaks, "%s: nothing of the other namespace is anywhere" % who, leaks[:4])
        now = world(seen)
        ok(now == before[who], "%s: the world is as it was before the other came" % who,
           [difference(t, u) for p, _, t in sorted(before[who] - now, key=str) for q, _, u in now - before[who] if p == q][:6])
    statuses = {c.ask("DELETE", API + "/" + json.loads(m[2])["id"], "opa")[0] for m in made}
    ok(statuses == {404}, "another's silence cannot be ended", statuses)
    rows = c.json("/api/v1/pods", "ops")["items"]
    theirs = [r["id"] for r in rows if r["subject"]["namespace"] == "bravo"][0]
    answers = {tuple(c.ask("GET", "/api/v1/pods/%s%s" % (id_, behind), "a")[::2]) for id_ in (theirs, "999983")
               for behind in ("", "/samples", "/events")}
    answers = {(status, re.sub(r"/pods/\d+[a-z/]*", "PATH", text)) for status, text in answers}
    ok(len(answers) == 1 and answers.pop()[0] == 404, "what is another's is answered as what is not there", answers)
    preview = [c.ask("POST", API + "/preview", "opa", {"matchers": m})[2]
               for m in ({"rule": "*"}, {"workload": "job-" + word}, {"namespace": "bravo"})]
    counts = [(json.loads(p)["pods"], json.loads(p)["findings"]) for p in preview]
    ok(counts == [(1, 1), (0, 0), (0, 0)], "a preview counts one's own", counts)
    ok(c.stop() == 0, "it ends well")


# --- requests ----------------------------------------------------------------------------------------------------------

def odd_bodies():
    c = Collector("bodies", *viewers())
    good = silence({"rule": "oom-kill"})
    until_ = lambda text: json.dumps(good).replace(str(good["until_ms"]), text)
    with_ = lambda **more: json.dumps({**good, **more})
    cases = [until_(t) for t in ("1e999", "-1e999", "-1", "0", "1.5", '"1"', "null", "true", "[]", "{}", "9223372036854775808",
                                 "-9223372036854775809", "18446744073709551616", "1e3", "NaN", "Infinity", "0x10", "1796041162386.0",
                                 "9007199254740993", "9" * 4000)]
    text = json.dumps(good)
    cases += [text[:-1] + ',"kind":"acknowledgement"}', text[:-1] + ',"matchers":{"pod":"x"}}', text + text, text + "x",
              text.replace('"rule": "oom-kill"', '"rule": "oom-kill", "rule": "limit-changed"'), "\ufeff" + text, "\x00" + text,
              text + "\x00", '{"a":' * 2500 + "1" + "}" * 2500, '{"matchers":' * 60 + "{}" + "}" * 60, "[" * 16000,
              '"' + "x" * 16000 + '"', " " * 16384, "{}", "null", "1", text[:-5], b"\xff\xfe" + text.encode("utf-16-le"),
              with_(x=1), with_(**{"": 1}), with_(kind=["silence"])]
    cases += [with_(matchers=m) for m in ([["rule", "oom-kill"]], "rule=oom-kill", {"rule": None}, {"rule": 5}, {"pod": "x" * 254},
                                          {"pod": "\ud800"}, {"pod": "a["}, {str(i): "x" for i in range(1000)})]
    cases += [with_(reason=r) for r in ("\ud800 x", "\udc00\ud800", " \t ", "a\u2028b", "\u200f", "\u061c x", "x\u0085y", "x\u2066y")]
    wrong = []
    for path in (API, API + "/preview"):
        for body in cases:
            status, _, reply = c.ask("POST", path, "ops", body.encode() if isinstance(body, str) else body)
            if status != 400 and not (status == 200 and path != API) or not json.loads(reply) or \
               re.search(r"[\x00-\x1f\u202a-\u202e\u2066-\u2069]", reply):
                wrong.append((path, str(body)[:120], status, reply[:200]))
    ok(not wrong, "%d bodies that are not right are refused as such" % len(cases), "\n".join(map(str, wrong)))
    ok(c.json(API, "ops")["items"] == [], "and nothing is made of them")
    lengths_that_lie(c)
    ok(c.alive() and c.stop() == 0, "it ends well")


def lengths_that_lie(c):
    body = json.dumps(silence({"pod": "raw"})).encode()
    n = len(body)
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (n, body)
    for name, head, sent, status in [
            ("no length", "", body, "411"), ("length 0", "Content-Length: 0\r\n", body, "400"),
            ("too short", "Content-Length: %d\r\n" % (n - 3), body, "400"), ("two", "Content-Length: %d\r\nContent-Length: 5\r\n" % n, body, "400"),
            ("negative", "Content-Length: -1\r\n", body, "400"), ("20 digits", "Content-Length: %s\r\n" % ("9" * 20), body, "400"),
            ("2^32", "Content-Length: 4294967296\r\n", body, "413"), ("2^32 more", "Content-Length: %d\r\n" % (n + (1 << 32)), body, "413"),
            ("hexadecimal", "Content-Length: 0x10\r\n", body, "400"), ("with a plus", "Content-Length: +%d\r\n" % n, body, "400"),
            ("chunked", "Transfer-Encoding: chunked\r\n", chunked, "411"), ("folded", "X-A: b\r\n c\r\nContent-Length: %d\r\n" % n, body, "411"),
            ("chunked with a length", "Content-Length: %d\r\nTransfer-Encoding: chunked\r\n" % n, chunked, "411"),
            ("200 headers", "".join("X-%d: y\r\n" % i for i in range(200)) + "Content-Length: %d\r\n" % n, body, "201"),
            ("64 KiB of header", "X-A: " + "y" * 65536 + "\r\nContent-Length: %d\r\n" % n, body, "")]:
        answer = c.raw(("POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
                        "Connection: close\r\n%s\r\n" % (API, TOKENS["ops"], head)).encode() + sent, seconds=4)
        made = [i["id"] for i in c.json(API + "?active=true", "ops")["items"]]
        ok(answer[9:12].decode() == status and len(made) == (status == "201"), "a length that is %s: %s" % (name, status or "closed"), answer[:300])
        for id_ in made:
            c.ask("DELETE", API + "/" + id_, "ops")


def odd_frames():
    """WebSocket as nobody speaks it."""
    c = Collector("frames", *viewers())
    agent = Agent(c, "x", "alpha")
    agent.sample(5)
    ask = b'{"subscribe":"fleet","n":9}'
    v = c.live("a")
    for i, b in enumerate(ask):
        v.frame(bytes([b]), 1 if i == 0 else 0, i == len(ask) - 1)
    ok(v.receive()["n"] == 9, "a request in fragments of a byte")
    v.frame(b"", 1, False)
    for i in range(3000):
        v.frame(b"", 0, False)
    v.frame(ask, 0, True)
    m = v.receive()
    ok(m.get("n") == 9, "3,000 empty fragments", m)
    v.frame(ask[:5], 1, False)
    v.frame(b"ping", 9)
    v.frame(ask[5:], 0)
    ok(v.receive().get("n") == 9, "a ping between fragments")
    for name, what, codes in [
            ("fragments without end", [(b"x" * 100, 1, False)] + [(b"x" * 100, 0, False)] * 100, {1009, None}),
            ("a continuation of nothing", [(ask, 0, True)], {1002}), ("a text within a text", [(ask, 1, False), (ask, 1, True)], {1002}),
            ("an opcode that is none", [(ask, 3, True)], {1002}), ("another", [(ask, 11, True)], {1002}), ("a long ping", [(b"x" * 200, 9, True)], {1002, None}),
            ("a fragmented ping", [(b"x", 9, False)], {1002}), ("a close of one byte", [(b"x", 8, True)], {1002, 1005}),
            ("close 999", [(b"\x03\xe7", 8, True)], {1002}), ("UTF-8 cut at the end", [(b'"\xe2\x82', 1, True)], {1007}),
            ("bad UTF-8 over fragments", [(b'{"subscribe":"\xe2', 1, False), (b'\x28\xa1"}', 0, True)], {1007}),
            ("a surrogate as UTF-8", [(b'{"subscribe":"\xed\xa0\x80"}', 1, True)], {1007}), ("overlong UTF-8", [(b'"\xc0\xaf"', 1, True)], {1007}),
            ("5,000 bytes in two", [(b" " * 2500, 1, False), (b" " * 2500, 0, True)], {1009}),
            ("4,096 bytes", [(ask + b" " * (4096 - len(ask)), 1, True)], {"alive"}), ("4,097 bytes", [(ask + b" " * (4097 - len(ask)), 1, True)], {1009})]:
        v = c.live("a")
        end = None
        try:
            for payload, opcode, final in what:
                v.frame(payload, opcode, final)
        except OSError:
            pass
        v.sock.settimeout(1.5)
        try:
            messages, end = v.until_closed()
        except TimeoutError:
            messages, end = [], "alive"
        v.close()
        ok(end in codes, "%s: %s" % (name, end), messages)
    floods(c)
    ok(c.alive() and c.stop() == 0, "it ends well")


def floods(c):
    """Requests and pings without end, from who reads nothing."""
    ask = b'{"subscribe":"fleet","n":9}'
    other = c.live("wide")
    for name, piece in (("requests", (b"\x81" + bytes([0x80 | len(ask)]) + b"\0\0\0\0" + ask) * 20),
                        ("pings", (b"\x89\xfd\0\0\0\0" + b"p" * 125) * 100), ("noise", os.urandom(5000)),
                        ("2^63 bytes", b"\x81\xff" + b"\xff" * 8 + b"\0\0\0\0" + ask)):
        v, rss, end = c.live("a"), c.rss(), time.monotonic() + 2
        try:
            while time.monotonic() < end:
                v.sock.sendall(piece)
        except OSError:
            pass  # it has closed
        ok(c.rss() - rss < 4 << 20 or SLOW > 1, "a flood of %s costs no memory" % name, c.rss() - rss)
        v.close()
    other.send({"subscribe": "fleet", "n": 2})
    ok(other.receive()["n"] == 2, "others are served")


def request(c, line, headers, body, version="1.1"):
    """The status of a write."""
    text = "%s HTTP/%s\r\n%s\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
    answer = c.raw((text % (line, version, "\r\n".join(headers), len(body), body)).encode(), seconds=4)
    return answer[9:12].decode() or "closed"


def hosts_and_origins():
    """Writes that a page somewhere made a browser send: by a cookie, where nobody logs in, under a public URL."""
    cookie = "Cookie: __Host-bankfull=" + TOKENS["ops"]
    at = ("cookie", "open", "public")
    collectors = dict(zip(at, (Collector("cookie", *viewers()), Collector("open"),
                               Collector("public", *viewers(), "--public-url", "https://Bankfull.example.com/"))))
    n = 0
    every, none, public = "201 201 201", "403 403 403", "403 403 201"
    for host, origin, statuses in [
            ("HERE", "http://HERE", every), ("HERE", "https://HERE", every), ("HERE", "HTTP://HERE", none), ("HERE", "http://HERE/", none),
            ("HERE", "http://user@HERE", none), ("HERE", "http://127.0.0.1", none), ("HERE", "ws://HERE", none), ("HERE", "null", none),
            ("HERE", "file://", none), ("HERE", "http://localhost:PORT", none), ("HERE", "http://[::1]:PORT", none),
            ("HERE", "http://HERE http://evil.example", none), ("HERE", "http://evil.example, http://HERE", none),
            ("HERE", "http://evil.example\r\nOrigin: http://HERE", none), ("HERE", "http://127.1:PORT", none), ("HERE", "http://2130706433:PORT", none),
            ("HERE", "http://127.0.0.1.:PORT", none), ("HERE", "http://:PORT", none), ("HERE", "http://HERE@evil.example", none),
            ("HERE", "http://evil.example#HERE", none), ("HERE", "http://HERE0", none), ("HERE", "http://" + "x" * 3000, none),
            ("HERE", "http://127.0.0.1:+PORT", none), ("HERE\r\nHost: evil.example", "http://HERE", "400 400 400"),
            ("evil.example\r\nHost: HERE", "http://HERE", "400 400 400"), ("HERE", "", "403 201 403"),
            ("localhost:PORT.", "http://localhost:PORT", none), ("LOCALHOST:PORT", "http://localhost:PORT", every),
            ("[::1]:PORT", "http://[::1]:PORT", every), ("[::1", "http://[::1", none), ("[::1]x", "http://[::1]x", none), ("::1", "http://::1", none),
            ("[::ffff:127.0.0.1]", "http://[::ffff:127.0.0.1]", every), ("evil.example:PORT", "http://evil.example:PORT", "201 403 403"),
            ("localhost.:PORT", "http://localhost.:PORT", "201 403 403"), ("evil.example", "https://bankfull.example.com", none),
            ("bankfull.example.com", "https://bankfull.example.com", "201 403 201"), ("bankfull.example.com:443", "https://BANKFULL.example.com", "201 403 201"),
            ("bankfull.example.com", "http://bankfull.example.com", "201 403 403"), ("bankfull.example.com.", "https://bankfull.example.com.", "201 403 403"),
            ("bankfull.example.com", "https://bankfull.example.com:444", none), ("HERE", "https://bankfull.example.com", public),
            ("HERE", "https://bankfull.example.com:443", public), ("HERE", "http://bankfull.example.com", none)]:
        n += 1
        got = []
        for who in at:
            c = collectors[who]
            fill = lambda text: text.replace("HERE", "127.0.0.1:%d" % c.port).replace("PORT", str(c.port))
            got.append(request(c, "POST " + API, ["Host: " + fill(host),
            "Origin: " + fill(origin), cookie], json.dumps(silence({"pod": "made-%d" % n}))))
        ok(" ".join(got) == statuses, "Host %s, Origin %s" % (host.split("\r")[0], origin[:40].split("\r")[0]), (got, statuses))
    unusual(collectors["cookie"])
    cookies(collectors["cookie"])
    for c in collectors.values():
        ok(c.alive() and c.stop() == 0, "it ends well")


def unusual(c):
    """Requests that are not quite right: none gets past what a write needs."""
    cookie, token = "Cookie: __Host-bankfull=" + TOKENS["ops"], "Authorization: Bearer " + TOKENS["ops"]
    host, n = "Host: 127.0.0.1:%d" % c.port, 0
    for name, line, headers, version, by_cookie, by_token in [
            ("no Host", "POST " + API, [], "1.1", "403", "201"), ("HTTP/1.0", "POST " + API, [host], "1.0", "403", "201"),
            ("an empty Host", "POST " + API, ["Host:"], "1.1", "403", "201"), ("an absolute target", "POST http://127.0.0.1:%d%s" % (c.port, API), [host], "1.1", "403", "403"),
            ("another's absolute target", "POST http://evil.example" + API, [host], "1.1", "403", "403"),
            ("another method by a header", "GET " + API, [host, "X-HTTP-Method-Override: POST"], "1.1", "200", "200"),
            ("a method in lower case", "post " + API, [host], "1.1", "403", "201"), ("another version", "POST " + API, [host], "2.0", "403", "201"),
            ("h2c", "POST " + API, [host, "Upgrade: h2c", "Connection: Upgrade"], "1.1", "400", "400"),
            ("a POST that upgrades", "POST " + LIVE, [host, "Upgrade: websocket", "Sec-WebSocket-Key: abc", "Sec-WebSocket-Protocol: bankfull.live.v1",
                                                      "Sec-WebSocket-Version: 13"], "1.1", "400", "400")]:
        got = []
        for credentials in ([cookie], [token], ["Authorization: Bearer  \t", cookie], ["Authorization: Bearer " + "x" * 600, cookie],
                            ["Authorization: Bearer " + "x" * 9000, cookie]):
            n += 1
            got.append(request(c, line, [*headers, *credentials], json.dumps(silence({"pod": "unusual-%d" % n})), version))
        ok(got[:3] == [by_cookie, by_token, by_cookie] and "201" not in got[2:], "%s: %s by a cookie, %s by a token" % (name, by_cookie, by_token), got)


def cookies(c):
    good = TOKENS["ops"]
    for name, cookie, status in [
            ("in quotes", '__Host-bankfull="%s"' % good, "401"), ("twice, the first good", "__Host-bankfull=%s; __Host-bankfull=x" % good, "200"),
            ("twice, the second good", "__Host-bankfull=x; __Host-bankfull=" + good, "401"), ("behind 100", "c=x; " * 100 + "__Host-bankfull=" + good, "200"),
            ("behind 3 KiB", "c=%s; __Host-bankfull=%s" % ("x" * 3000, good),
            "200"), ("behind 60 KiB", "c=%s; __Host-bankfull=%s" % ("x" * 60000, good),
            ""),
            ("behind a comma", "a=b,__Host-bankfull=" + good, "401"), ("with a NUL", "__Host-bankfull=%s%%00" % good, "401"),
            ("in other case", "__host-Bankfull=" + good, "401"), ("with a blank in its name", "__Host-bankfull =" + good, "401"),
            ("in a second header", "a=b\r\nCookie: __Host-bankfull=" + good, "401")]:
        answer = c.raw(("GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nCookie: %s\r\n\r\n" % cookie).encode(), seconds=4)
        ok(answer[9:12].decode() == status, "a cookie %s: %s" % (name, status or "closed"), answer[:200])


def proxies():
    """Whose word a header is."""
    roles = write("roles", "operator ann\nviewer group:sre alpha\nviewer * public\n", 0o644)
    options = (*viewers(), "--proxy-viewers", roles, "--proxy-groups-header", "X-Forwarded-Groups", "--proxy-peers")
    stranger, trusted = Collector("stranger", *options, "127.0.0.2"), Collector("trusted", *options, "127.0.0.1")
    token = "Authorization: Bearer " + TOKENS["a"]
    user, groups = "X-Forwarded-User: ", "X-Forwarded-Groups: "

    def me(c, headers):
        answer = c.raw("\r\n".join(["GET /api/v1/me HTTP/1.1", "Host: localhost", "Connection: close", *headers, "", ""]).encode("latin-1"))
        return answer[9:12].decode() if answer[9:12] != b"200" else json.loads(answer.split(b"\r\n\r\n", 1)[1])["name"]
    for name, headers, by_stranger, by_trusted in [
            ("a user", [user + "ann"], "401", "ann"), ("in upper case", ["X-FORWARDED-USER: ann"], "401", "ann"), ("underscores", ["X_Forwarded_User: ann"], "401", "401"),
            ("a blank before the colon", ["X-Forwarded-User : ann"], "401", "401"), ("another case", [user + "Ann"], "401", "Ann"),
            ("with a token", [user + "ann", token], "401", "ann"), ("empty, with a token", ["X-Forwarded-User:", token], "ann", "ann"),
            ("with others in it", [user + "bob, ann"], "401", "bob, ann"), ("the star", [user + "*"], "401", "*"), ("a group as a user", [user + "group:sre"], "401", "group:sre"),
            ("with a NUL", [user + "ann\0x"], "401", "403"), ("with an escape", [user + "a\x1b[2J"], "401", "403"), ("7,000 bytes", [user + "x" * 7000, token], "401", "403"),
            ("groups alone", [groups + "sre"], "401", "401"), ("groups with a token", [groups + "sre", token], "401", "ann"),
            ("behind 100 others", ["X-C%d: y" % i for i in range(100)] + [user + "ann"], "401", "ann"),
            ("as if from a peer", ["Forwarded: for=127.0.0.2", "X-Forwarded-For: 127.0.0.2", "X-Real-IP: 127.0.0.2", user + "ann"], "401", "ann")]:
        got = me(stranger, headers), me(trusted, headers)
        ok(got == (by_stranger, by_trusted), "a proxy's header, %s" % name, got)
    for c in (stranger, trusted):
        ok(c.alive() and c.stop() == 0, "it ends well")


def slow_ones():
    """900 connections that begin something and do not end it."""
    c = Collector("slow", *viewers())
    post = "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 16000\r\n\r\n{"
    begun = [b"GET /api/v1/pods HTT", (post % (API, TOKENS["ops"])).encode(), (post % ("/login", "x")).encode(), b"",
             b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20]
    rss, sockets = c.rss(), []
    for i in range(900):
        sockets.append(socket.create_connection(("127.0.0.1", c.port)))
        sockets[-1].sendall(begun[i % 5])
    at = time.monotonic()
    ok(c.alive() and time.monotonic() - at < SLOW, "beside 900 slow ones it answers", time.monotonic() - at)
    ok(c.rss() - rss < 30 << 20 or SLOW > 1, "and stays small", c.rss() - rss)

    def left():
        for s in sockets[1::5]:
            try:
                s.sendall(b" ")
            except OSError:
                pass
        time.sleep(0.5)
        return float(re.search(r"(?m)^bankfull_collector_connections (\d+)", c.ask("GET", "/metrics", "ops")[2]).group(1)) <= 1
    ok(until(40, left), "they are cut, those too who send a byte now and then")
    ok(c.alive() and c.stop() == 0, "it ends well")


# --- silences ----------------------------------------------------------------------------------------------------------

def patterns():
    """The worst patterns that there may be, as many as there may be, against long names with findings."""
    c = Collector("patterns", *viewers(), "--config", write("patterns.yaml", ALERTS % 9))
    agents = [Agent(c, "x", "alpha", said={"workload": "a" * 240 + str(i), "pod": "a" * 240 + str(i)}) for i in range(100)]
    for agent in agents:
        agent.sample(5, wait=False)
        for rule in ("native-growth", "oom-kill", "freeboard-low"):
            agent.finding(rule, wait=False)
    for agent in agents:
        agent.client.until_ack(agent.epoch, agent.seq)
    worst = ["*" + "[" * 249, "*[" * 120, "*" + "[[:alpha:]]" * 20 + "b", "*[" + "b" * 240 + "]b", "*a" * 120 + "*b", "*" + "a?" * 7 + "b",
             "*" + "a" * 50 + "?" + "a" * 50 + "b", "*a*a*a*a*a*a*a*b"]
    statuses, slowest = {}, 0
    for i in range(400):
        m = {"namespace": "alpha", "workload": worst[i % 8][:245] + "%03d" % i, "pod": worst[i % 8][:245] + "%03d" % i}
        at = time.monotonic()
        status = c.ask("POST", API, "opa", silence(m))[0]
        slowest = max(slowest, time.monotonic() - at)
        statuses[status] = statuses.get(status, 0) + 1
    ok(set(statuses) == {201, 400, 409} and statuses[201] < 100, "patterns that cost much are refused, or are few", statuses)
    ok(slowest < 2 * SLOW, "none keeps the collector for long", slowest)
    took = {}
    for path in ("/healthz", "/api/v1/pods?limit=1000", "/api/v1/findings?limit=1000", "/api/v1/alerts",
                 "/api/v1/fleet?view=pods&count=200"):
        at = time.monotonic()
        status = c.ask("GET", path, "ops")[0]
        took[path] = time.monotonic() - at if status == 200 else status
    ok(max(took.values()) < 2 * SLOW, "it answers", took)
    before, at = c.cpu(), time.monotonic()
    time.sleep(4)
    used = (c.cpu() - before) / (time.monotonic() - at)
    ok(used < 0.3 * SLOW, "and is idle", used)
    for i in range(1000):
        c.ask("POST", API, "opa", silence({"namespace": "alpha", "workload": "job-%d" % i}))
    status, _, text = c.ask("POST", API, "ops", silence({"namespace": "bravo"}))
    ok(status == 409 and "end some" in text, "a thousand hold, no more", text)
    at = time.monotonic()
    ok(c.alive() and c.stop() == 0 and time.monotonic() - at < 5 * SLOW, "it ends well", time.monotonic() - at)


def at_once():
    """Twenty end and make the same at once; SIGHUP rains on it."""
    c = Collector("once", *viewers())
    made = json.loads(c.ask("POST", API, "ops", silence({"pod": "one"}))[2])
    results = []

    def work():
        for i in range(20):
            results.append(("D", c.ask("DELETE", API + "/" + made["id"], "ops")[0]))
            results.append(("P", c.ask("POST", API, "ops", silence({"pod": "p%d" % i}))[0]))
    threads = [threading.Thread(target=work) for _ in range(10)]
    for t in threads:
        t.start()
    for _ in range(50):
        c.process.send_signal(signal.SIGHUP)
        time.sleep(0.01)
    for t in threads:
        t.join()
    counts = {r: results.count(r) for r in set(results)}
    ok(counts == {("D", 200): 200, ("P", 201): 20, ("P", 409): 180}, "200 ends of one, 200 makings of twenty", counts)
    audit = [deed["what"] for deed in c.json("/api/v1/audit?limit=100", "ops")["items"]]
    ok(audit.count("silence-end") == 1 and audit.count("silence-create") == 21, "each deed once in the audit", audit)
    ok(c.alive() and c.stop() == 0, "it ends well")


# --- what agents say -----------------------------------------------------------------------------------------------------

HOSTILE = ["<script>alert(1)</script>", "</style><img src=x onerror=alert(1)>", "javascript:alert(1)", "a\u202egpj.exe", "a\u200bb\u200d\ufeff",
           "\u0000", "a\u0007\u001b[2Jb", "x" * 250, "y" * 4096, "\U0001f4a9" * 60, "../../etc/passwd", "{{title}}", "%s%n", "a:b:c", "a/b?c=d#e",
           "'; DROP TABLE agent; --", " ", "\u2028\u2029", "\r\nSet-Cookie: x=y", "\"\\\"", "\ufffe\uffff", "Z\u0351\u036b\u0343" * 30, "\ud800"]
MARKS = "[\x00-\x1f\u202a-\u202e\u2028\u2029]"


def hostile_agents(c):
    """One for each name in each place; those that the wire takes."""
    agents, refused = [], 0
    for i, word in enumerate(HOSTILE):
        for field in ("pod", "workload", "namespace", "node", "container", "jobs", "labels", "engine", "jdk", "program"):
            value = [word] if field == "jobs" else {word: word} if field == "labels" else word
            try:
                agents.append(Agent(c, "w%d-%s" % (i, field), "alpha", said={field: value}))
                agents[-1].sample(5)
            except (Closed, KeyError):
                refused += 1
        try:
            agents.append(Agent(c, "t%d" % i, "alpha", said={"workload": "t%d" % i}))
            agents[-1].finding(title=word)
            agents[-1].say({"type": "finding", "id": word, "edge": "opened", "rule": word, "severity": "critical", "opened_ms": 5,
                            "owner": word, "title": word, "finding": {"rule": word, "title": word, "x": {word: word}}})
        except Closed:
            refused += 1
    ok(len(agents) > 150 and refused < 90, "nearly all of them are taken", (len(agents), refused))
    return agents


def hostile_names():
    hook = Peer(answering("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"))
    c = Collector("hostile", "--config", write("hostile.yaml", ALERTS % hook.port))
    agents = hostile_agents(c)
    wrong = []
    for path in ("pods?limit=1000", "workloads?limit=1000", "findings?limit=1000", "alerts?limit=1000", "fleet?view=pods&count=200", "fleet?count=200"):
        path = "/api/v1/" + path
        status, headers, text = c.ask("GET", path)
        documented = openapi.template_of(path.split("?")[0])
        why = documented and openapi.trouble(path.split("?")[0], status, headers["content-type"], text)
        if status != 200 or re.search(r"[\x00-\x1f]", text) or why:
            wrong.append((path, status, why or text[:300]))
    ok(not wrong, "lists are JSON, as documented", wrong)
    ok(not re.search(r"[\x00-\x09\x0b-\x1f]", c.ask("GET", "/metrics")[2]), "so are the metrics: no control bytes")
    wrong = []
    for w in c.json("/api/v1/workloads?limit=1000")["items"]:
        status, _, text = c.ask("GET", "/api/v1/workloads/" + urllib.parse.quote(w["id"], safe=""))
        if status != 200 or json.loads(text)["id"] != w["id"]:
            wrong.append((w["id"], status, text[:200]))
    ok(not wrong, "each workload is found by its id", wrong[:5])
    v = c.live()
    v.send({"subscribe": "fleet", "n": 1, "view": "pods", "count": 200})
    m = v.receive()
    ok(m["total"] > 150 and all(len(values) <= 100 for values in m["facets"].values()), "the live stream has them", m["total"])
    until(5, lambda: len(hook.requests) > 5)
    wrong = []
    for _, body, _ in hook.requests:
        data = json.loads(body).get("data", {"labels": {}, "annotations": {}})
        if re.search(rb"[\x00-\x1f]", body) or any(re.search(MARKS, text.replace("\n", "")) for text in [*data["labels"].values(), *data["annotations"].values()]):
            wrong.append(body[:600])
    ok(len(hook.requests) > 5 and not wrong, "what receivers get is plain", wrong[:3])
    lines = c.said().splitlines()
    ok(not [line for line in lines if not json.loads(line) or re.search(MARKS, line)], "the log is lines of JSON, without marks")
    ok(len(agents) > 0 and c.alive() and c.stop() == 0 and c.whole()[0], "it ends well, and the store is whole")


def clocks():
    """Agents whose clocks are wrong by up to fifty years, and one whose clock jumps: all that is shown is by the collector's."""
    c = Collector("clocks", "--config", write("clocks.yaml", ALERTS % 9))
    hour, day = 3600000, 86400000
    skews = {"now": 0, "hour-ahead": hour, "hour-behind": -hour, "day-ahead": day, "day-behind": -day, "year-ahead": 400 * day,
             "epoch": 5 - now_ms(), "past-30-s": 31000, "within-30-s": -29000}
    agents = []
    for name, skew in skews.items():
        agents.append(Agent(c, name, "alpha", skew_ms=skew))
        agents[-1].sample(500000000)
        agents[-1].finding()
        agents[-1].postmortem()
    jumping = Agent(c, "jumping", "alpha")
    for jumping.skew_ms in (0, day, -day, hour, 0):
        jumping.sample(6)
    until(10, lambda: len(c.json("/api/v1/alerts")["items"]) == len(skews))
    v = c.live()
    v.send({"subscribe": "fleet", "n": 1, "view": "pods"})
    rows = v.receive()["rows"]
    odd = [r for r in rows if r["state"] != "connected" or not 0 <= r["age_ms"] < 20000 or r["spark"][-2:] == ".."]
    ok(not odd and len(rows) == 10, "ages, states and sparklines", odd)
    now = now_ms()
    lists = {"findings": c.json("/api/v1/findings?limit=100"), "post-mortems": c.json("/api/v1/postmortems?limit=100"),
             "alerts": c.json("/api/v1/alerts?limit=100")}
    for pod in c.json("/api/v1/pods")["items"]:
        lists["events of " + pod["id"]] = c.json("/api/v1/pods/%s/events" % pod["id"])
        lists["samples of " + pod["id"]] = {"items": c.json("/api/v1/pods/%s/samples" % pod["id"])["points"]}
    odd = [(what, key, item[key] - now) for what, reply in lists.items() for item in reply["items"]
           for key in ("at_ms", "received_ms", "opened_ms", "updated_ms", "died_ms", "started_ms")
           if item.get(key) is not None and not now - 60000 < item[key] <= now + 2000]
    ok(not odd and all(reply["items"] for reply in lists.values()), "events, samples, findings, deaths and alerts stand at their time", odd[:5])
    ok(c.alive() and c.stop() == 0, "it ends well")


if __name__ == "__main__":
    sys.exit(run(nobody, namespaces, odd_bodies, odd_frames, hosts_and_origins, proxies, slow_ones, patterns, at_once, hostile_names, clocks))
