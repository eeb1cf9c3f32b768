# SPDX-License-Identifier: Apache-2.0
"""Receivers that mean no good, configurations that make no sense, disks without room, ends at the worst moment. TAP on the output.

    bad_alerts.py BUILD DIRECTORY [TEST...]
"""
import json
import os
import resource
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from bad_kit import ALERTS, API, SLOW, TOKENS, Agent, Collector, Peer, answering, run, silence, viewers  # noqa: E402
from kit import PROGRAM, WORK, free_port, ok, until, write  # noqa: E402

NO_CONTENT = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


# --- configuration -----------------------------------------------------------------------------------------------------

def refusal(*options):
    """Status and what was said; "runs" where it starts."""
    os.makedirs(os.path.join(WORK, "refusals"), exist_ok=True)
    process = subprocess.Popen([PROGRAM, "--listen", "127.0.0.1:%d" % free_port(), "--data", os.path.join(WORK, "refusals"), *options],
                               stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = b""
    while line := process.stderr.readline():
        said += line
        if b'"listening"' in line:
            process.kill()
            process.wait()
            return "runs", said.decode(errors="replace")
    return process.wait(), said.decode(errors="replace")


def receiver(url="http://127.0.0.1:9/", kind="webhook", more="", rest=""):
    return "alerts:\n  receivers:\n    - {name: h, type: %s, url: '%s'%s}\n%s" % (kind, url, more, rest)


def settings():
    fifo, folder = os.path.join(WORK, "fifo"), os.path.join(WORK, "folder")
    os.mkfifo(fifo, 0o600)
    os.mkdir(folder, 0o700)
    laughs = "a: &a [x]\n" + "".join("%s: &%s [%s]\n" % (b, b, ",".join(["*" + a] * 10)) for a, b in zip("abcdefgh", "bcdefghi"))
    many = "alerts:\n  receivers:\n" + "".join("    - {name: h%d, type: webhook, url: 'http://127.0.0.1:9/'}\n" % i for i in range(10000))
    files = {
        "a title of 1 MB": (receiver(rest="  title: '%s'\n" % ("x" * 1000000)), "larger than"),
        "a title of 10 kB": (receiver(rest="  title: '%s'\n" % ("x" * 10000)), "1 to 1023 bytes"),
        "10,000 names in a title": (receiver(rest="  title: '%s'\n" % ("{{pods}}" * 10000)), "1 to 1023 bytes"),
        "a name that is none": (receiver(rest="  title: '{{password}}'\n"), "there is no {{password}}"),
        "a name that is not closed": (receiver(rest="  title: '{{pods'\n"),
        "is not closed"),
        "a name in a name": (receiver(rest="  title: '{{{{pods}}}}'\n"),
        "not closed"),
        "a text of itself": (receiver(rest="  description: '{{description}}'\n"), "there is no {{description}}"),
        "10,000 receivers": (many, "larger than"), "17 receivers": ("\n".join(many.split("\n")[:19]), "more than 16 receivers"),
        "65 routes": (receiver(rest="  routes:\n" + "    - {receivers: [h]}\n" * 65), "more than 64 routes"),
        "a route to nobody known": (receiver(rest="  routes:\n    - {receivers: [x]}\n"), "there is no receiver 'x'"),
        "two of one name": (receiver(rest="    - {name: h, type: webhook, url: 'http://x'}\n"),
        "already"),
        "receivers twice": (receiver(rest=receiver()[8:]),
        "already"),
        "receivers that are a text": ("alerts:\n  receivers: h\n", "not a text"),
        "anchors": (laughs, "anchor"),
        "a depth of 5,000": ("alerts: " + "[" * 5000 + "]" * 5000, "nested deeper"),
        "bytes of chance": (bytes(range(256)) * 20, ""),
        "8 MB": ("# " + "x" * 8000000, "larger than"),
        "a user in the address": (receiver("http://user:s3cret@127.0.0.1/"),
        "must not hold"),
        "a token in the address": (receiver("http://s3cret@127.0.0.1/"),
        "must not hold"),
        "a backslash in it": (receiver("http://127.0.0.1\\@evil"),
        "must not hold"),
        "a file": (receiver("file:///etc/passwd"),
        "no URL"),
        "gopher": (receiver("gopher://127.0.0.1/"),
        "only http and https"),
        "a script": (receiver("javascript:alert(1)"),
        "no URL"),
        "no scheme": (receiver("127.0.0.1:9093"),
        "no URL"),
        "port 65536": (receiver("http://127.0.0.1:65536/"),
        "no URL"),
        "a blank in the address": (receiver("http://127.0.0.1/a b"),
        "blanks"),
        "10 kB of address": (receiver("http://127.0.0.1/" + "x" * 10000),
        "1 to 1023"),
        "a query at Alertmanager": (receiver("http://127.0.0.1:9/?x=y", "alertmanager"),
        "is its base"),
        "a line end in the address": ('alerts:\n  receivers:\n    - {name: h, type: webhook, url: "http://127.0.0.1/\\r\\nX: y"}\n', "blanks"),
        "no time": (receiver(more=", timeout: 1e9"),
        "no time"),
        "a timeout of 0": (receiver(more=", timeout: 0s"),
        "100 ms to 60 s"),
        "a wait of -1 s": (receiver(rest="  group-wait: -1s\n"),
        "no time"),
        "a hold of 2 h": (receiver(rest="  hold: 2h\n"),
        "0 to 3600 s"),
        "a label that is taken": (receiver(rest="  labels: {severity: x}\n"),
        "by itself"),
        "a key that is none": (receiver(more=", urll: x"),
        "'url'"),
        "a severity that is none": (receiver(rest="  routes:\n    - {severity: none, receivers: [h]}\n"), "severity"),
    }
    cases = [(name, ["--config", write("file-%d.yaml" % i, text)], says) for i, (name, (text, says)) in enumerate(files.items())]
    cases += [("a file that is " + path, ["--config", path], says) for path, says in ((fifo, "not a regular file"), (folder, "directory"), ("/dev/zero", "not a regular file"))]
    cases += [("Alertmanager at " + url, ["--alertmanager", url], says) for url, says in (("http://u:s3cret@127.0.0.1", "must not hold"), ("file:///x", "no URL"), ("http://127.0.0.1/#x", "is its base"))]
    cases += [("a public URL of %r" % url[:30], ["--public-url", url], "--public-url")
              for url in ("", "http://", "https://x:0", "https://x:99999", "https://u:s3cret@x", "javascript:alert(1)", "https://x?y", "https://x#y", "https://x y",
                          "https://x\r\nSet-Cookie: y", "https://[::1", "https://*", "https://" + "x" * 300, "https://\u00fc.example", "//x", "https://x,https://y")]
    roles = write("roles", "viewer *\n", 0o644)
    cases += [("peers %r" % peers[:30], ["--proxy-viewers", roles, "--proxy-peers", peers], "--proxy-peers")
              for peers in ("", ",", "127.0.0.1/", "127.0.0.1/-1", "127.0.0.1/+8", "127.0.0.1/33", "1.2.3", "1.2.3.4.5", "::1%lo", "[::1]", "10.0.0.0/8,,::1", "*", "010.0.0.1", "localhost",
                            ",".join("10.0.0.%d" % i for i in range(99)))]
    cases += [("a proxy's header %r" % header[:30], ["--proxy-viewers", roles, "--proxy-peers", "127.0.0.1", "--proxy-user-header", header], "--proxy-user-header")
              for header in ("", "X:", "a b", "x\r\ny", "x" * 300, "Cookie", "authorization", "Host", "ORIGIN", "\u00fc", ":path")]
    wrong = []
    for name, options, says in cases:
        status, said = refusal(*options)
        lines = [line for line in said.splitlines() if not line.startswith("{")]
        if status != 2 or says not in said or len(lines) != 1 or len(said) > 700 or "s3cret" in said:
            wrong.append((name, status, said[:300]))
    ok(not wrong, "%d configurations that make no sense: one line, status 2, no secret" % len(cases), wrong)
    wrong = [(text, status) for text in (receiver(rest="  title: '%s%n {{ pods }}'\n"), receiver("http://[::1]:9/"), receiver("HTTP://127.0.0.1:9/"),
    "alerts:\n", "alerts: []\n", "alerts:\n  receivers: []\n", "")
             for status in [refusal("--config", write("good.yaml", text))] if status[0] != "runs"]
    ok(not wrong, "and some that do are taken", wrong)


# --- receivers ---------------------------------------------------------------------------------------------------------

def drip(s, _):
    for c in b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"x" * 100:
        s.sendall(bytes([c]))
        time.sleep(0.2)


def huge(s, _):
    s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (100 << 20))
    for _ in range(1600):
        s.sendall(b"x" * 65536)


def endless(s, _):
    s.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        s.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")


def endless_headers(s, _):
    s.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        s.sendall(b"X-A: " + b"x" * 1000 + b"\r\n")


def receivers():
    """Each is told of one alert: it delays no other, costs no memory, gets no token that it should not."""
    good, elsewhere = Peer(answering(NO_CONTENT)), Peer(answering(NO_CONTENT))
    moved = "HTTP/1.1 %s\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n"
    peers = {
        "drips": (drip, "within 2000 ms"),
        "huge": (huge, None),
        "endless": (endless, None),
        "headers": (endless_headers, None),
        "closes": (lambda s, _: None, "does not speak HTTP"),
        "file": (answering(moved % ("302 Found", "file:///etc/passwd")),
        "a redirect"),
        "away": (answering(moved % ("307 Away", "http://127.0.0.1:%d/stolen" % elsewhere.port)),
        "a redirect"),
        "informs": (answering("HTTP/1.1 100 Continue\r\n\r\n" * 1000 + NO_CONTENT), None),
        "noise": (lambda s, _: s.sendall(os.urandom(10000)),
        "does not speak HTTP"),
        "asks": (answering("HTTP/1.1 401 No\r\nWWW-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n"), "401"),
        "later": (answering("HTTP/1.1 429 No\r\nRetry-After: 99999999\r\nContent-Length: 0\r\n\r\n"), "429"),
        "switches": (answering("HTTP/1.1 101 Yes\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"), "101")}
    token = write("receiver.token", "s3cret-of-a-hook-0123\n")
    listening = {name: Peer(act) for name, (act, _) in peers.items()}
    text = "alerts:\n  receivers:\n"
    row = "    - {name: %s, type: webhook, url: '%s://%s/p4th', timeout: 2s, token-file: '%s'}\n"
    for name, peer in [*listening.items(), ("good", good)]:
        text += row % (name, "http", "127.0.0.1:%d" % peer.port, token)
    text += row % ("tls", "https", "127.0.0.1:%d" % good.port, token) + row % ("plain", "http", "example.invalid", token)
    c = Collector("receivers", "--config", write("receivers.yaml", text + "  group-wait: 0s\n  hold: 1s\n"))
    rss = c.rss()
    agent = Agent(c, "x", "alpha")
    agent.sample(5)
    agent.finding()
    began = time.monotonic()
    ok(until(10, lambda: good.requests) and time.monotonic() - began < 6 * SLOW, "beside %d bad ones the good one is told" % len(peers), time.monotonic() - began)
    expected = {**{name: says for name, (_, says) in peers.items()}, "good": None, "tls": "127.0.0.1", "plain": "over https, or to loopback"}

    def wrong():
        rows = {r["receiver"]: r for r in c.json("/api/v1/alerts")["receivers"]}
        return [(r, expected[name]) for name, r in rows.items()
                if (r["told"] == 1) != (expected[name] is None) or (expected[name] or "") not in (r["last_error"] or "")]
    until(20, lambda: not wrong())
    ok(not wrong(), "of each it is said what is wrong with it", wrong())
    ok(not elsewhere.requests, "no redirect is followed", elsewhere.requests)
    ok(c.rss() - rss < 30 << 20 or SLOW > 1, "100 MB and endless answers cost no memory", c.rss() - rss)
    ok("s3cret" not in c.said() and "p4th" not in c.said() and "p4th" not in c.ask("GET", "/api/v1/alerts")[2], "no token and no path is shown")
    began = time.monotonic()
    ok(c.stop() == 0 and time.monotonic() - began < 6 * SLOW, "it ends in time", time.monotonic() - began)


def token_files():
    """What should hold a token to send with, and does not: nothing is sent, and why is said."""
    files = {"lines": (b"abcdefghijklmnopqrst\nX-Evil: s3cret\n", "visible ASCII"), "binary": (bytes(range(256)), "visible ASCII"), "latin": (b"abcdefghijklmnop\xff\n", "visible ASCII"),
             "nul": (b"abcdefghijklmnop\0qrst\n", "visible ASCII"),
             "empty": (b"", "is empty"),
             "blank": (b" \n", "is empty"),
             "long": (b"x" * 1000000, "larger than"),
             "crlf": (b"abcdefghijklmnopqrst\r\n", None)}
    paths = {name: write("token-" + name, data) for name, (data, _) in files.items()}
    says = {name: said for name, (_, said) in files.items()}
    os.mkfifo(os.path.join(WORK, "token-fifo"), 0o600)
    for name, path, said in (("fifo", os.path.join(WORK, "token-fifo"),
    ""), ("folder", WORK, "directory"), ("zero", "/dev/zero", ""), ("missing", "/nowhere/x", "No such file")):
        paths[name], says[name] = path, said
    hooks = {name: Peer(answering(NO_CONTENT)) for name in paths}
    text = "alerts:\n  receivers:\n" + "".join("    - {name: %s, type: webhook, url: 'http://127.0.0.1:%d/', timeout: 2s, token-file: '%s'}\n" % (n, hooks[n].port, p)
                                              for n, p in paths.items())
    c = Collector("tokens", "--config", write("tokens.yaml", text + "  group-wait: 0s\n  hold: 1s\n"))
    Agent(c, "x", "alpha").finding()

    def rows():
        return {r["receiver"]: r["last_error"] for r in c.json("/api/v1/alerts")["receivers"] if r["told"] or r["failed"]}
    until(15, lambda: len(rows()) == len(paths))
    wrong = [(name, error) for name, error in rows().items() if (error is None) != (says[name] is None) or (says[name] or "") not in (error or "")]
    ok(not wrong and len(rows()) == len(paths), "files that hold no token: why is said", wrong)
    sent = [name for name, hook in hooks.items() if hook.requests]
    ok(sent == ["crlf"] and b"Bearer abcdefghijklmnopqrst\r\n" in hooks["crlf"].requests[0][0], "and nothing is sent with them", sent)
    ok("s3cret" not in c.said() and c.alive() and c.stop() == 0, "it ends well")


# --- the store ---------------------------------------------------------------------------------------------------------

def full_disk():
    """No room while people silence: nothing is half done, and what can be read is shown."""
    hook = Peer(answering(NO_CONTENT))
    c = Collector("full", *viewers(), "--config", write("full.yaml", ALERTS % hook.port))
    agent = Agent(c, "x", "alpha")
    agent.sample(5)
    kept = json.loads(c.ask("POST", API, "ops", silence({"pod": "kept"}))[2])
    brief = json.loads(c.ask("POST", API, "ops", silence({"pod": "brief"}, 3000))[2])
    before = resource.prlimit(c.process.pid, resource.RLIMIT_FSIZE)
    audit = c.json("/api/v1/audit", "ops")["items"]
    listed = c.json(API, "ops")["items"]
    resource.prlimit(c.process.pid, resource.RLIMIT_FSIZE, (1, before[1]))
    got = [c.ask("POST", API, "ops", silence({"pod": "n-%d" % i})) for i in range(20)]
    ok({g[0] for g in got} == {503} and all("retry-after" in g[1] for g in got), "a full disk: no silence, 503 and Retry-After", got[:2])
    got = [c.ask("DELETE", API + "/" + kept["id"], "ops") for _ in range(3)]
    ok({g[0] for g in got} == {503}, "so is an end", got)
    ok(c.json(API, "ops")["items"] == listed and c.json("/api/v1/audit", "ops")["items"] == audit, "nothing is made, ended or noted")
    got = c.ask("POST", "/login", None, {"token": TOKENS["ops"]})
    ok(got[0] == 200, "a login works", got)
    for path in ("/api/v1/alerts", "/api/v1/pods", "/api/v1/fleet", "/metrics", API, "/api/v1/findings"):
        ok(c.ask("GET", path, "ops")[0] == 200, "%s can be read" % path)
    try:
        agent.finding(wait=False)
        time.sleep(3)
    except OSError:
        pass
    ok(not hook.requests, "nobody is told of what is not stored", hook.requests)
    status = c.json(API + "/" + brief["id"], "ops")
    ok(not status["active"], "what expires meanwhile is over", status)
    resource.prlimit(c.process.pid, resource.RLIMIT_FSIZE, before)
    got = until(10, lambda: (lambda g: g if g[0] == 201 else None)(c.ask("POST", API, "ops", silence({"pod": "again"}))))
    ok(got, "with room again it is made", got)
    ok(c.ask("DELETE", API + "/" + kept["id"], "ops")[0] == 200, "and ended")
    listed = c.json(API, "ops")["items"]
    c.kill()
    ok(c.whole()[0], "kill -9: the store is whole", c.whole())
    c.start()
    again = c.json(API, "ops")["items"]
    ok(again == listed, "and the silences are what they were", (listed, again))
    ok(c.stop() == 0, "it ends well")


def again(c):
    c.kill()
    c.start()


def killed():
    """kill -9 in each state of an alert: each edge arrives, in order, and what comes twice has the same id."""
    slow = {"seconds": 0}

    def act(s, _):
        time.sleep(slow["seconds"])
        s.sendall(NO_CONTENT.encode())
    hook = Peer(act)
    c = Collector("killed", "--config", write("killed.yaml", (ALERTS % hook.port).replace("group-wait: 0s", "group-wait: 1s")))
    rules = ["native-growth", "oom-kill", "freeboard-low", "heap-pressure"]

    def told(rule, least=1):
        """(state, id) of all that was sent about it, once there are so many."""
        def of():
            events = [json.loads(body) for _, body, _ in hook.requests]
            return [(e["data"]["state"], e["id"]) for e in events if "data" in e and e["data"]["labels"].get("rule") == rule]
        until(20, lambda: len(of()) >= least)
        return of()
    agent = Agent(c, "first", "alpha")
    agent.sample(5)
    agent.finding(rules[0])
    time.sleep(0.2)
    again(c)
    ok([state for state, _ in told(rules[0])] == ["firing"], "killed between finding and telling: it is told", told(rules[0]))
    slow["seconds"] = 1.5
    Agent(c, "second", "alpha").finding(rules[1])
    told(rules[1])
    again(c)
    slow["seconds"] = 0
    got = told(rules[1], 2)
    ok(got[0][0] == "firing" and len(got) == 2 and len(set(got)) == 1, "killed while it is told: told again, with the same id", got)
    time.sleep(1.5)
    n = len(hook.requests)
    again(c)
    time.sleep(4)
    ok(len(hook.requests) == n, "killed after it was told: not again", [body for _, body, _ in hook.requests[n:]])
    agent = Agent(c, "third", "alpha")
    agent.finding(rules[2])
    told(rules[2])
    time.sleep(1.5)
    agent.finding(rules[2], "cleared")
    again(c)
    ok([state for state, _ in told(rules[2], 2)] == ["firing", "resolved"], "killed after the clear: its end is told", told(rules[2]))
    Agent(c, "fourth", "alpha").finding(rules[3])
    for _ in range(3):
        again(c)
    told(rules[3])
    time.sleep(2)
    ok([state for state, _ in told(rules[3])] == ["firing"], "killed three times before: told once", told(rules[3]))
    ok(c.stop() == 0 and c.whole()[0], "and the store is whole", c.whole())


if __name__ == "__main__":
    sys.exit(run(settings, receivers, token_files, full_disk, killed))
