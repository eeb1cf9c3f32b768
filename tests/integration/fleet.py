# SPDX-License-Identifier: Apache-2.0
"""See fleet.sh.    fleet.py BUILD DIRECTORY"""
import http.server
import json
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # noqa: E402
from kit import BUILD, WORK, end_all, finish, free_port, now_ms, ok, write  # noqa: E402
from wire_client import Client  # noqa: E402

TOKEN, OTHER = "viewer-token-of-everything", "viewer-token-of-team-one"
POD = "\u5831\u544a-\u202e\x1b[31m-" + "x" * 120


def fleet(url, *options, env=None):
    """Status, standard output and standard error of one run."""
    run = subprocess.run([os.path.join(BUILD, "bankfull"), "fleet", "--collector", url, *options], capture_output=True,
                         timeout=60, stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})})
    return run.returncode, run.stdout.decode(), run.stderr.decode()


class Collector(kit.Collector):
    def __init__(self, name, *options, tls=False):
        super().__init__(name, *options)
        self.url = "http%s://localhost:%d" % ("s" if tls else "", self.port)


def tell(port, n, floor, finding=None, pod=None, likely_s=None, token=None):
    """Agent n says one sample, and perhaps a finding; stays connected."""
    epoch, now = "%032x" % (n + 1), now_ms()
    client = Client(port, token=token)
    client.send({"type": "hello", "subject": {
        "namespace": "team-%d" % (n % 2), "workload": "job-%d" % (n % 3), "role": "taskmanager",
        "pod": pod or "job-%d-%d" % (n % 3, n), "pod_uid": "00000000-0000-4000-8000-%012d" % n, "node": "node",
        "container": "main", "jobs": ["fraud"]}, "program": "0.1.0", "jdk": "17", "engine": "flink 1.20.0", "mono_ms": 1,
        "wall_ms": now, "epochs": [{"epoch": epoch, "first": 1, "last": 2 if finding else 1}]})
    assert client.receive()["type"] == "welcome"
    sample = {"type": "sample", "epoch": epoch, "seq": 1, "mono_ms": 5000, "wall_ms": now, "interval_ms": 5000, "pid": 8,
              "start_ticks": 77, "access": "full", "limit_bytes": 4 << 30, "charge_bytes": floor + (64 << 20),
              "floor_bytes": floor, "freeboard_bytes": (4 << 30) - floor, "freeboard_level": "container",
              "groups_bytes": {"anon": floor, "file": 64 << 20}, "derived": ["floor_bytes"],
              "composition": {"age_ms": 0, "owners_bytes": {"java-heap": 1 << 30, "native-other": floor - (1 << 30)}}}
    if likely_s:
        sample["forecast"] = {"kind": "reaches", "earliest_s": likely_s, "likely_s": likely_s, "latest_s": likely_s,
                              "owner": "native-other"}
    client.send(sample)
    if finding:
        client.send({"type": "finding", "epoch": epoch, "seq": 2, "mono_ms": 9000, "wall_ms": now, "id": "f/%d" % n,
                     "edge": "opened", "rule": "native-growth", "severity": finding, "owner": "native-other",
                     "opened_ms": now, "title": "native memory \x1b[2Jgrows",
                     "finding": {"rule": "native-growth", "title": "x"}})
    acked = 0
    while acked < (2 if finding else 1):
        acked = client.receive()["seq"]
    return client


def one_line(text, part):
    return text.count("\n") == 1 and part in text and all(32 <= ord(c) < 127 or c == "\n" for c in text)


def refused(name, status, part, url, *options):
    got = fleet(url, *options)
    ok(got[0] == status and got[1] == "" and one_line(got[2], part), name, got)


# --- a real one ------------------------------------------------------------------------------------------------------

def real(c):
    got = fleet(c.url, "--format", "json")
    empty = json.loads(got[1])
    ok(got[0] == 0 and empty["rows"] == [] and empty["version"] == 1, "an empty fleet is nothing to worry about", got)
    ok("no agent has been heard of yet" in fleet(c.url)[1], "an empty fleet says what to do next")
    quiet = tell(c.port, 1, 2 << 30)
    got = fleet(c.url)
    ok(got[0] == 0 and "team-1/job-1" in got[1] and "2.00 GiB" in got[1], "a quiet fleet ends with 0", got)
    agents = [quiet, tell(c.port, 0, 3900 << 20, "critical", POD, 1800), tell(c.port, 2, 3 << 30, "warning")]
    got = fleet(c.url, "--view", "pods")
    lines = got[1].splitlines()
    ok(got[0] == 1 and "critical" in lines[3] and "30 min" in lines[3] and "native-other" not in lines[0],
       "who is in most danger stands first, and the status is 1", got)
    ok("\x1b" not in got[1] and "\u202e" not in got[1] and "\u5831\u544a" in got[1] and
       all(len(line) <= 110 for line in lines), "hostile names move nothing, wide ones are shown, lines stay short", got)
    plain = fleet(c.url, "--view", "pods", env={"LC_ALL": "C"})
    ok(all(ord(x) < 127 for x in plain[1]) and "\\u5831" in plain[1], "without UTF-8 all of it is ASCII", plain)
    return agents


def filters(c):
    for options, names in (
            (["--namespace", "team-0"], {"job-0", "job-2"}), (["--workload", "job-1"], {"job-1"}),
            (["--severity", "critical"], {"job-0"}), (["-q", "OB-2"], {"job-2"}), (["--job", "nobody's"], set()),
            (["--state", "gone"], set()), (["--engine", "flink"], {"job-0", "job-1", "job-2"}),
            (["--role", "streams"], set())):
        got = fleet(c.url, "--format", "json", *options)
        rows = {row["workload"] for row in json.loads(got[1])["rows"]}
        ok(rows == names, "filter: " + " ".join(options), got)
    got = fleet(c.url, "--job", "nobody's & <co>?#")
    ok(got[0] == 0 and "nothing matches" in got[1], "a filter of odd bytes goes over whole, and matches nothing", got)
    got = fleet(c.url, "--sort", "name", "--descending", "--limit", "1", "--format", "json")
    body = json.loads(got[1])
    ok([r["workload"] for r in body["rows"]] == ["job-2"] and body["matching"] == 3, "sorted, cut, and it says so", got)
    got = fleet(c.url, "--sort", "name", "--descending", "--limit", "1")
    ok("2 more match" in got[1], "the table says how many more there are", got)
    got = fleet(c.url, "--sort", "freeboard", "--descending", "--limit", "1", "--format", "json")
    ok(json.loads(got[1])["rows"][0]["workload"] == "job-1" and got[0] == 1 and json.loads(got[1])["alarming"],
       "what is grave counts for the status also where it is not among the rows", got)
    ok(fleet(c.url, "--workload", "job-1")[0] == 0, "what does not match does not count")
    rows = {r["id"]: r for r in json.loads(c.get("/api/v1/fleet?view=pods")[1])["rows"]}
    ours = {r["id"]: r for r in json.loads(fleet(c.url, "--view", "pods", "--format", "json")[1])["rows"]}
    moving = ("age_ms", "spark")
    ok(rows.keys() == ours.keys() and all({k: v for k, v in rows[i].items() if k not in moving} ==
                                          {k: v for k, v in ours[i].items() if k not in moving} for i in rows),
       "rows of the JSON are those of the API, figure by figure", (rows, ours))
    refused("a value that the collector refuses", 2, "answers 400", c.url, "--sort", "beauty")
    refused("a view that there is not", 2, "none of workloads|pods", c.url, "--view", "trees")


def silences(c):
    body = {"kind": "silence", "matchers": {"rule": "native-growth"}, "reason": "known", "until_ms": now_ms() + 600000}
    answer = c.ask("/api/v1/silences", method="POST", body=body, Origin="http://127.0.0.1:%d" % c.port)
    if answer[0] not in (200, 201):
        return ok(False, "a silence can be made", answer)
    got = fleet(c.url)
    return ok(got[0] == 0 and "silenced" in got[1], "what is silenced is shown so, and does not count", got)


# --- tokens, TLS -------------------------------------------------------------------------------------------------------

def tokens():
    for name, text in (("token", TOKEN + "\n"), ("one", OTHER), ("wrong", "x" * 20), ("two", "a b"), ("empty", "\n")):
        write(name, text)
    return write("agents", "agent-one agent-token-0123456789\n"), write("viewers", "viewer all %s\nviewer one %s team-1\n" % (TOKEN, OTHER))


def with_tokens():
    agents, viewers = tokens()
    c = Collector("tokened", "--agent-tokens", agents, "--viewer-tokens", viewers)
    here = [tell(c.port, 0, 3 << 30, "critical", token="agent-token-0123456789")]
    refused("without a token it says which option to give", 3, "--token-file FILE", c.url)
    refused("with a wrong one it says so", 3, "does not know the token", c.url, "--token-file", os.path.join(WORK, "wrong"))
    refused("no file", 3, "--token-file", c.url, "--token-file", os.path.join(WORK, "none"))
    refused("an empty file", 2, "is empty", c.url, "--token-file", os.path.join(WORK, "empty"))
    refused("more than a token in a file", 2, "more than one token", c.url, "--token-file", os.path.join(WORK, "two"))
    refused("a token as an argument", 2, "secrets come from files", c.url, "--token", TOKEN)
    got = fleet(c.url, "--token-file", os.path.join(WORK, "token"))
    ok(got[0] == 1 and "team-0" in got[1], "with a token it answers", got)
    got = fleet(c.url, "--token-file", os.path.join(WORK, "one"))
    ok(got[0] == 0 and "team-0" not in got[1], "another namespace's pods are not told, nor counted", got)
    refused("a token is not sent in the clear", 2, "--insecure", "http://192.0.2.1:8481", "--token-file",
            os.path.join(WORK, "token"))
    refused("but where somebody says so", 3, "192.0.2.1", "http://192.0.2.1:8481", "--token-file",
            os.path.join(WORK, "token"), "--insecure", "--timeout", "300ms")
    del here
    c.stop()


def with_tls():
    key, cert = os.path.join(WORK, "key.pem"), os.path.join(WORK, "cert.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                    "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    c = Collector("tls", "--tls-cert", cert, "--tls-key", key, tls=True)
    refused("an authority that nobody knows", 3, "--ca-file", c.url)
    ok(fleet(c.url, "--ca-file", cert)[0] == 0, "over TLS, with its authority named", fleet(c.url, "--ca-file", cert))
    refused("a file that is not there", 2, "cannot be read", c.url, "--ca-file", cert + ".none")
    refused("a directory", 2, "is a directory", c.url, "--ca-file", WORK)
    refused("a file without a certificate", 2, "holds no certificate", c.url, "--ca-file", key)
    refused("TLS is not plain http", 3, "", c.url.replace("https", "http"))
    c.stop()


# --- servers that are none ---------------------------------------------------------------------------------------------

class Odd(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind = self.path.split("/")[1]
        if kind == "hang":
            time.sleep(3)
            return
        body = {"text": b"hello", "html": b"<html></html>", "json": b"[1]", "fleet": b'{"type":"fleet","rows":[3],"matching":1}',
                "big": b'{"a":"' + b"x" * (6 << 20) + b'"}', "cut": b'{"type":'}.get(kind, b"{}")
        self.send_response({"missing": 404, "denied": 401, "busy": 503, "away": 302}.get(kind, 200))
        self.send_header("Content-Type", "text/html" if kind == "html" else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Location", "http://example.com/")
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass

    def log_message(self, *_):
        pass


def odd():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Odd)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = "http://127.0.0.1:%d/" % server.server_port
    for kind, part in (("text", "is no fleet"), ("html", "HTML"), ("json", "is no fleet"), ("fleet", "row 0"),
                       ("big", "more than"), ("cut", "is no fleet"), ("missing", "older than this program"), ("denied", "--token-file"),
                       ("busy", "ask again"), ("away", "redirect")):
        got = fleet(base + kind)
        ok(got[0] == 3 and got[1] == "" and one_line(got[2], part), "a server that answers: " + kind, got)
    refused("a server that hangs", 3, "300 ms", base + "hang", "--timeout", "300ms")
    server.shutdown()
    refused("nobody there", 3, "nobody listens", "http://127.0.0.1:%d" % free_port())
    refused("what agents speak", 2, "http://HOST:8481", "ws://localhost:8480/agent")
    refused("what agents speak, over TLS", 2, "https://HOST:8481", "wss://localhost:8480/agent")
    refused("no address", 2, "--collector", "localhost")
    refused("a query of one's own", 2, "without '?'", "http://localhost:1/?a=b")
    refused("a password in the address", 2, "must not hold a user or password", "http://me:secret@localhost:1")


def main():
    try:
        c = Collector("plain")
        agents = real(c)
        filters(c)
        silences(c)
        del agents
        c.stop()
        with_tokens()
        with_tls()
        odd()
    finally:
        end_all()
    finish()


main()
