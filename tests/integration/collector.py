# SPDX-License-Identifier: Apache-2.0
"""bankfull-collector as its peers meet it: a foreign client, bad input, full disks, restarts. TAP on the output."""
import os
import resource
import signal
import sqlite3
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # noqa: E402
from kit import PROGRAM, WORK, finish, free_port, now_ms, ok, write  # noqa: E402
from token_review import ReviewServer, make_token  # noqa: E402
from wire_client import Client, Closed, Refused, epoch, hello, sample  # noqa: E402


def directory(name):
    path = os.path.join(WORK, name)
    os.makedirs(path, exist_ok=True)
    return path


class Collector(kit.Collector):
    def __init__(self, data, *options):
        super().__init__(os.path.basename(data), *options)

    def get(self, path, headers=None):
        return super().get(path, **(headers or {}))


def refusal(*arguments, user=None):
    """How a start that must fail ends: status and what it said."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=30, user=user)
    return done.returncode, done.stderr


def stored(data):
    """Agent id and acked position of every epoch, read by another SQLite."""
    with sqlite3.connect(f"file:{data}/bankfull.db?mode=ro", uri=True) as db:
        tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")}
        return {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}


def agent(collector, pod, epoch_, first=1, last=0, **options):
    client = Client(collector.port, **options)
    client.send(hello(pod, [(epoch_, first, last)], now_ms()))
    return client, client.receive()


def a_foreign_client():
    data = directory("foreign")
    collector = Collector(data)
    e = epoch()
    client, welcome = agent(collector, "tm-1", e)
    ok(welcome["type"] == "welcome" and welcome["acked"] == [{"epoch": e, "seq": 0}] and welcome["window"] == 256
       and welcome["max_frame"] == 65536 and welcome["min_interval_ms"] == 1000, "hello is welcomed", welcome)
    for seq in range(1, 51):
        client.send(sample(e, seq, now_ms()))
    ok(client.until_ack(e, 50) == 50, "fifty samples are acked")
    client.send({"type": "gap", "epoch": e, "from": 51, "to": 60, "reason": "spool-full"})
    ok(client.until_ack(e, 60) == 60, "a gap is acked")
    client.send({**sample(e, 61, now_ms()), "from_the_future": {"x": [1, 2, 3]}})
    ok(client.until_ack(e, 61) == 61, "members of a later version are ignored")
    client.send(sample(e, 1, now_ms()))
    ok(client.until_ack(e, 61) == 61, "a duplicate is acked again")
    ok(collector.metric("bankfull_collector_duplicates_total") == 1, "and counted")
    status, body = collector.get("/api/v1/pods")
    ok(status == 200 and "tm-1" in body, "the API shows it", body)
    client.send({"type": "bye", "reason": "terminated"})
    ok(client.until_closed()[1] == 1000, "bye ends it with 1000")
    ok(collector.get("/healthz")[0] == 200 and collector.get("/readyz")[0] == 200, "it is healthy and ready")
    ok(collector.get("/agent")[0] == 426, "/agent without an upgrade is 426")
    ok(collector.get("/api/v1/pods", {"Host": "rebound.example"})[0] == 403, "a name that was bound to loopback is refused")
    ok(collector.stop() == 0, "SIGTERM ends it with 0")


def what_is_refused():
    collector = Collector(directory("refused"))
    e = epoch()
    good, _ = agent(collector, "good", e)
    good.send(sample(e, 1, now_ms()))
    good.until_ack(e, 1)
    for name, options, status in [("an Origin", {"origin": "http://evil.example"}, 403),
                                  ("another path", {"path": "/api/v1/live"}, 404),
                                  ("another subprotocol", {"protocol": "bankfull.v2"}, 400)]:
        try:
            Client(collector.port, **options)
            ok(False, f"{name} is refused")
        except Refused as refused:
            ok(refused.status == status, f"{name} is refused with {status}", refused)
    deep = '{"type":"bye","reason":"x","y":' + "[" * 40 + "]" * 40 + "}"
    for name, frames, code, error in [
            ("no hello", [sample(epoch(), 1, 1)], 4400, "state"),
            ("an unknown type", [None, {"type": "shutdown"}], 4400, "type"),
            ("an ack", [None, {"type": "ack", "epoch": "E", "seq": 9}], 4400, "type"),
            ("a number left out", [None, sample("E", 2, 1)], 4400, "sequence"),
            ("a gap past the next", [None, {"type": "gap", "epoch": "E", "from": 2, "to": 3, "reason": "x"}], 4400,
             "sequence"),
            ("an epoch that hello did not name", [None, sample(epoch(7), 1, 1)], 4400, "sequence"),
            ("no JSON", ["{]"], 4400, "malformed"),
            ("an array", ["[1]"], 4400, "malformed"),
            ("too deep", [None, deep], 4400, "malformed"),
            ("a negative number", [None, {**sample("E", 1, 1), "seq": -1}], 4400, "malformed"),
            ("a second hello", [None, hello("x", [(epoch(), 1, 0)], 1)], 4400, "state"),
            ("another's live epoch", [hello("thief", [(e, 1, 1)], 1)], 4400, "sequence")]:
        client, mine = Client(collector.port), epoch()
        for frame in frames:
            frame = hello(f"bad-{mine}", [(mine, 1, 0)], now_ms()) if frame is None else frame
            if isinstance(frame, dict):
                frame = {k: mine if v == "E" else v for k, v in frame.items()}
            client.send(frame)
        messages, ended = client.until_closed()
        said = [m["code"] for m in messages if m["type"] == "error"]
        ok(ended == code and said == [error], f"{name}: {error}, closed with {code}", f"{said} {ended}")
    for name, act, codes in [
            ("a frame past the cap", lambda c: c.frame(b'"' + b"x" * 70000 + b'"'), (1009, 4413, None)),
            ("a message past the cap, in fragments", lambda c: [c.frame(b"x" * 30000, 1 if i == 0 else 0, False)
                                                               for i in range(3)], (1009, None)),
            ("bytes that are no UTF-8", lambda c: c.frame(b'{"type":"\xff\xfe"}'), (1007,)),
            ("a binary frame", lambda c: c.frame(b"\x00\x01", 2), (1003,)),
            ("a frame of a reserved kind", lambda c: c.frame(b"", 5), (1002, None))]:
        client = Client(collector.port)
        try:
            act(client)
        except OSError:
            pass
        ended = client.until_closed()[1]
        ok(ended in codes, f"{name} ends its connection", ended)
    good.send(sample(e, 2, now_ms()))
    ok(good.until_ack(e, 2) == 2, "the others are unharmed")
    collector.stop()


def duplicate_identity():
    collector = Collector(directory("duplicate"))
    e1, e2 = epoch(), epoch()
    older, _ = agent(collector, "tm-1", e1)
    other, _ = agent(collector, "tm-2", e2)
    older.send(sample(e1, 1, now_ms()))
    older.until_ack(e1, 1)
    newer, welcome = agent(collector, "tm-1", e1, 1, 1)
    messages, code = older.until_closed()
    ok(code == 4409 and messages[-1]["code"] == "replaced", "of two sessions the older is closed with 4409",
       f"{messages} {code}")
    ok(welcome["acked"] == [{"epoch": e1, "seq": 1}], "the newer goes on where it was")
    newer.send(sample(e1, 2, now_ms()))
    other.send(sample(e2, 1, now_ms()))
    ok(newer.until_ack(e1, 2) == 2 and other.until_ack(e2, 1) == 1, "both that are left are served")
    ok(collector.metric("bankfull_collector_sessions_replaced_total") == 1, "it is counted")
    collector.stop()


def a_client_that_never_reads():
    collector = Collector(directory("slow"))
    e1, e2 = epoch(), epoch()
    slow, _ = agent(collector, "slow", e1)
    good, _ = agent(collector, "good", e2)
    slow.send(sample(e1, 1, now_ms()))
    slow.sock.settimeout(0.5)
    sent = 0
    try:
        for sent in range(20000):
            slow.send(sample(e1, 1, now_ms()))  # each would be acked again
    except OSError:
        pass  # it is not read any more, or was closed
    good.send(sample(e2, 1, now_ms()))
    ok(good.until_ack(e2, 1) == 1, f"after {sent} frames of one that never reads, another is served")
    memory = collector.metric("process_resident_memory_bytes")
    ok(memory is not None and memory < 64 << 20, "and memory stays small", memory)
    collector.stop()


def nothing_is_lost_by_an_end():
    data = directory("ends")
    e, seq, acked = epoch(), 0, 0
    for how in ("term", "kill", "term", "kill"):
        collector = Collector(data)
        client, welcome = agent(collector, "tm-1", e, 1, max(seq, 1))
        position = welcome["acked"][0]["seq"]
        ok(position >= acked, f"what was acked is there ({position} >= {acked})")
        seq = position
        for _ in range(200):
            seq += 1
            client.send(sample(e, seq, now_ms()))
        acked = client.until_ack(e, position + 100)
        if how == "term":
            collector.process.send_signal(signal.SIGTERM)
            messages, code = client.until_closed()
            acked = max([acked] + [m["seq"] for m in messages if m["type"] == "ack"])
            ok(code == 1001 and collector.process.wait(30) == 0, "SIGTERM: agents get 1001, the status is 0", code)
        else:
            collector.kill()
        client.close()
    collector = Collector(data)
    client, welcome = agent(collector, "tm-1", e, 1, seq)
    ok(welcome["acked"][0]["seq"] >= acked, "after the last kill, too")
    collector.stop()
    done = subprocess.run([PROGRAM, "check", data], capture_output=True, text=True)
    ok(done.returncode == 0, "and the database is whole", done.stderr + done.stdout)
    backup = os.path.join(WORK, "backup.db")
    done = subprocess.run([PROGRAM, "backup", data, backup], capture_output=True, text=True)
    ok(done.returncode == 0 and os.path.exists(backup), "it can be backed up", done.stderr)
    done = subprocess.run([PROGRAM, "restore", backup, directory("restored")], capture_output=True, text=True)
    ok(done.returncode == 0 and stored(data) == stored(os.path.join(WORK, "restored")), "and restored", done.stderr)
    done = subprocess.run([PROGRAM, "restore", backup, data], capture_output=True, text=True)
    ok(done.returncode != 0, "but not over one that is there")


def a_full_disk():
    collector = Collector(directory("full"))
    e = epoch()
    client, _ = agent(collector, "tm-1", e)
    client.send(sample(e, 1, now_ms()))
    client.until_ack(e, 1)
    before = resource.prlimit(collector.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(collector.process.pid, resource.RLIMIT_FSIZE, (1024, before[1]))
    client.send(sample(e, 2, now_ms()))
    messages, code = client.until_closed()
    ok(code == 4503 and [m["code"] for m in messages if m["type"] == "error"] == ["store"]
       and not any(m["type"] == "ack" for m in messages), "a full disk: no ack, closed with 4503", f"{messages} {code}")
    time.sleep(1.2)
    ok(collector.get("/readyz")[0] == 503 and collector.get("/healthz")[0] == 200, "it is alive, and not ready")
    resource.prlimit(collector.process.pid, resource.RLIMIT_FSIZE, before)
    client, welcome = agent(collector, "tm-1", e, 1, 2)
    ok(welcome["acked"] == [{"epoch": e, "seq": 1}], "with room again the agent comes back")
    client.send(sample(e, 2, now_ms()))
    ok(client.until_ack(e, 2) == 2, "and is acked")
    time.sleep(1.2)
    ok(collector.get("/readyz")[0] == 200, "ready again")
    ok(collector.stop() == 0, "and ends well")


def starts_that_fail():
    data = directory("start")
    collector = Collector(data)
    other, readonly, newer, corrupt = directory("other"), directory("readonly"), directory("newer"), directory("corrupt")
    for path in (newer, corrupt):
        Collector(path).stop()
    with sqlite3.connect(os.path.join(newer, "bankfull.db")) as db:
        db.execute("PRAGMA user_version = 4711")
    with open(os.path.join(corrupt, "bankfull.db"), "r+b") as f:
        f.write(b"this is no database at all, whatever its name says" * 20)
    listen = ["--listen", f"127.0.0.1:{free_port()}"]
    tokens = write("agents", "# ours\npod-1 0123456789abcdef-one\n")
    cases = [
        ("no data directory", 2, ["--data"], listen),
        ("nowhere to listen", 2, ["--listen"], ["--data", other]),
        ("a port in use", 3, [str(collector.port)], ["--listen", f"127.0.0.1:{collector.port}", "--data", other]),
        ("a directory that is missing", 3, ["missing"], [*listen, "--data", os.path.join(WORK, "missing")]),
        ("a directory that is a file", 3, ["agents"], [*listen, "--data", tokens]),
        ("a database that another collector uses", 3, [], [*listen, "--data", data]),
        ("a database of a later version", 3, ["version"], [*listen, "--data", newer]),
        ("a database that is none", 3, [], [*listen, "--data", corrupt]),
        ("an address that is none", 2, ["nowhere"], ["--listen", "nowhere:1", "--data", other]),
        ("beyond loopback in the open", 2, ["--tls-cert", "--agent-tokens", "--viewer-tokens", "--insecure"],
         ["--listen", "0.0.0.0:0", "--data", other]),
        ("beyond loopback without TLS", 2, ["--tls-cert"],
         ["--listen-agents", ":0", "--agent-tokens", tokens, "--data", other]),
        ("a certificate without a key", 2, ["tls-key"], [*listen, "--tls-cert", tokens, "--data", other]),
        ("a certificate that is none", 2, [], [*listen, "--tls-cert", tokens, "--tls-key", tokens, "--data", other]),
        ("tokens that are missing", None, ["missing"],
         [*listen, "--agent-tokens", os.path.join(WORK, "missing"), "--data", other]),
        ("tokens that others can read", 2, ["0644", "0600"],
         [*listen, "--agent-tokens", write("loose", "pod-1 0123456789abcdef-one\n", 0o644), "--data", other]),
        ("a line of tokens that is none", 2, ["line 2", "AGENT-ID TOKEN"],
         [*listen, "--agent-tokens", write("lines", "a 0123456789abcdef\n0123456789abcdef-secret\n"), "--data", other]),
        ("an option that is none", 2, ["--lisen"], ["--lisen", "127.0.0.1:1", "--data", other]),
        ("a command without its arguments", 2, ["wants DIR FILE"], ["backup", other]),
    ]
    for name, status, words, arguments in cases:
        rc, err = refusal(*arguments)
        lines = [line for line in err.splitlines() if not line.startswith("{")]
        ok((rc == status or (status is None and rc in (2, 3))) and all(word in err for word in words)
           and (len(lines) == 1 or "usage" in err) and "secret" not in err, f"{name}: one line, status {status}",
           f"{rc} {err}")
    if os.getuid() == 0:
        os.chmod(readonly, 0o555)
        os.chmod(WORK, 0o711)
        rc, err = refusal(*listen, "--data", readonly, user=65534)
        ok(rc == 3 and readonly in err, "a directory that may not be written: status 3", f"{rc} {err}")
    else:
        os.chmod(readonly, 0o555)
        rc, err = refusal(*listen, "--data", readonly)
        ok(rc == 3 and readonly in err, "a directory that may not be written: status 3", f"{rc} {err}")
    ok(collector.get("/healthz")[0] == 200, "the one that runs is unharmed")
    collector.stop()


def tokens():
    path = write("agent-tokens", "pod-1 first-token-0123456789\npod-2 second-token-0123456789\n")
    viewers = write("viewers", "viewer ann viewer-token-0123456789 streaming\n")
    collector = Collector(directory("tokensdata"), "--agent-tokens", path, "--viewer-tokens", viewers)
    for name, token in [("no token", None), ("a wrong token", "wrong-token-0123456789"), ("a viewer's token",
                                                                                         "viewer-token-0123456789")]:
        try:
            Client(collector.port, token=token)
            ok(False, f"{name} is refused")
        except Refused as refused:
            ok(refused.status == 401, f"{name} is refused with 401", refused)
    e = epoch()
    client, _ = agent(collector, "who-it-says-it-is", e, token="first-token-0123456789")
    client.send(sample(e, 1, now_ms()))
    client.until_ack(e, 1)
    second, _ = agent(collector, "who-it-says-it-is", epoch(), token="first-token-0123456789")
    ok(client.until_closed()[1] == 4409, "the token is the identity, whatever hello says")
    other, _ = agent(collector, "who-it-says-it-is", epoch(), token="second-token-0123456789")
    other.send({"type": "bye", "reason": "x"})
    ok(other.until_closed()[1] == 1000, "and another token another one")
    viewer = {"Authorization": "Bearer viewer-token-0123456789"}
    ok(collector.get("/api/v1/pods")[0] == 401 and collector.get("/api/v1/pods", viewer)[0] == 200,
       "people need a token of theirs")
    ok(collector.get("/api/v1/pods", {"Authorization": "Bearer first-token-0123456789"})[0] == 401,
       "an agent's is not one")
    ok(collector.get("/api/v1/pods", {"Cookie": "a=b; __Host-bankfull=viewer-token-0123456789"})[0] == 200,
       "the cookie is as good")
    write("agent-tokens", "pod-3 third-token-0123456789\n")
    collector.process.send_signal(signal.SIGHUP)
    ok(second.until_closed()[1] == 4401, "SIGHUP: whose token is gone is closed with 4401")
    third, welcome = agent(collector, "x", epoch(), token="third-token-0123456789")
    ok(welcome["type"] == "welcome", "and a new token is taken")
    try:
        Client(collector.port, token="second-token-0123456789")
        ok(False, "and an old one refused")
    except Refused as refused:
        ok(refused.status == 401, "and an old one refused")
    write("agent-tokens", "pod-3\n")
    collector.process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    third, welcome = agent(collector, "x", epoch(), token="third-token-0123456789")
    ok(welcome["type"] == "welcome", "a file that is broken leaves what held before")
    write("agent-tokens", "pod-4 fourth-token-0123456789\n")
    ok(third.until_closed()[1] == 4401, "the same without a signal, when the file changes")
    fourth, welcome = agent(collector, "x", epoch(), token="fourth-token-0123456789")
    ok(welcome["type"] == "welcome", "a file that changed is read without a signal")
    ok("token-0123" not in collector.said(), "no token stands in the log", collector.said())
    ok(collector.stop() == 0, "it ends well")


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=WORK)


def certificates():
    """A CA, a server's certificate for localhost, an agent's, an expired one, and one of another CA."""
    for ca in ("ca", "otherca"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                f"/CN={ca}", "-keyout", f"{ca}.key", "-out", f"{ca}.pem")
    for name, san, ca, days in [("server", "DNS:localhost,IP:127.0.0.1", "ca", 2), ("agent", "URI:spiffe://lab/tm-1", "ca", 2),
                                ("expired", "URI:spiffe://lab/tm-1", "ca", -1),
                                ("foreign", "URI:spiffe://lab/tm-1", "otherca", 2)]:
        write(f"{name}.ext", f"subjectAltName={san}\n")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}", "-keyout",
                f"{name}.key", "-out", f"{name}.csr")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{ca}.pem", "-CAkey", f"{ca}.key", "-CAcreateserial", "-days",
                str(days), "-extfile", f"{name}.ext", "-out", f"{name}.pem")


def trusting(certificate=None):
    context = ssl.create_default_context(cafile=os.path.join(WORK, "ca.pem"))
    if certificate:
        context.load_cert_chain(os.path.join(WORK, f"{certificate}.pem"), os.path.join(WORK, f"{certificate}.key"))
    return context


def client_certificates():
    path = write("tlstokens", "pod-9 ninth-token-0123456789\n")
    collector = Collector(directory("tls"), "--tls-cert", f"{WORK}/server.pem", "--tls-key", f"{WORK}/server.key",
                          "--client-ca", f"{WORK}/ca.pem", "--agent-tokens", path)
    first, welcome = agent(collector, "x", epoch(), tls=trusting("agent"))
    ok(welcome["type"] == "welcome", "a client certificate is an identity")
    second, _ = agent(collector, "y", epoch(), tls=trusting("agent"))
    ok(first.until_closed()[1] == 4409, "that of its SAN")
    third, welcome = agent(collector, "z", epoch(), tls=trusting(), token="ninth-token-0123456789")
    ok(welcome["type"] == "welcome", "without one a token serves")
    for name in ("expired", "foreign", None):
        try:
            Client(collector.port, tls=trusting(name))
            ok(False, f"certificate {name}: refused")
        except (Refused, Closed, ssl.SSLError, ConnectionError) as refused:
            ok(not isinstance(refused, Refused) or refused.status == 401, f"certificate {name}: refused", refused)
    try:
        Client(collector.port)
        ok(False, "plain text on a TLS port is refused")
    except (Refused, Closed, OSError, IndexError, ValueError):
        ok(True, "plain text on a TLS port is refused")
    second.send({"type": "bye", "reason": "x"})
    ok(second.until_closed()[1] == 1000, "the others are unharmed")
    collector.stop()


def token_reviews():
    reviewer = ReviewServer(f"{WORK}/server.pem", f"{WORK}/server.key")
    own = write("own-token", "the-collectors-own-token\n")
    data = directory("reviews")
    options = ["--review-url", f"https://localhost:{reviewer.port}/apis/authentication.k8s.io/v1/tokenreviews",
               "--review-ca", f"{WORK}/ca.pem", "--review-token", own, "--audience", "bankfull.lab"]
    collector = Collector(data, *options)

    def attempt(token):
        """Status of an upgrade, tried again while the answer is 503."""
        for _ in range(100):
            try:
                client, _ = agent(collector, "x", epoch(), token=token)
                return 101, client
            except Refused as refused:
                if refused.status != 503:
                    return refused.status, None
                if "retry-after" not in refused.headers:
                    return "503 without Retry-After", None
            time.sleep(0.05)
        return 503, None

    good = make_token("bankfull.lab", 3600, "uid-1")
    ok(attempt(good)[0] == 101, "a token that the API server knows is taken")
    review = reviewer.reviews[-1]
    ok(review["body"]["spec"] == {"token": good, "audiences": ["bankfull.lab"]}
       and review["authorization"] == "Bearer the-collectors-own-token", "it was asked about, for our audience", review)
    n = len(reviewer.reviews)
    ok(attempt(good)[0] == 101 and len(reviewer.reviews) == n, "it is not asked about twice")
    ok(attempt(make_token("bankfull.lab", 3600, "uid-1", "unknown"))[0] == 401, "one that it does not know is refused")
    n = len(reviewer.reviews)
    ok(attempt(make_token("bankfull.lab", 3600, "uid-1", "unknown"))[0] == 401 and len(reviewer.reviews) == n,
       "and that is remembered")
    ok(attempt(make_token("bankfull.lab", 3600, None, "unbound"))[0] == 401, "one bound to no pod is refused")
    n = len(reviewer.reviews)
    ok(attempt(make_token("other", 3600, "uid-1"))[0] == 401 and attempt(make_token("bankfull.lab", -1, "uid-1"))[0] == 401
       and attempt("no.jwt")[0] == 401 and attempt("x" * 8000)[0] == 401 and len(reviewer.reviews) == n,
       "another audience, an expired one and what is no token are refused without asking")
    reviewer.hold = threading.Event()
    shed = 0
    for i in range(40):
        try:
            Client(collector.port, token=make_token("bankfull.lab", 3600, f"uid-{i}", f"many-{i}"))
        except Refused as refused:
            shed += refused.status == 503 and int(refused.headers["retry-after"]) >= 5
    ok(shed == 24, "sixteen are asked about at once, the others come later", shed)
    ok(collector.get("/healthz")[0] == 200, "and the collector serves on")
    reviewer.hold.set()
    ok(attempt(make_token("bankfull.lab", 3600, "uid-39", "many-39"))[0] == 101, "all of them in the end")
    time.sleep(1.5)
    reviewer.hold = threading.Event()
    for i in range(16):
        try:
            Client(collector.port, token=make_token("bankfull.lab", 3600, "uid-1", f"late-{i}"))
        except Refused:
            pass
    began = time.monotonic()
    ok(collector.stop() == 0 and time.monotonic() - began < 4, "it ends well with sixteen reviews under way",
       f"{collector.process.returncode} {collector.said()[-300:]}")
    reviewer.hold.set()
    collector = Collector(data, *options)
    n = len(reviewer.reviews)
    ok(attempt(good)[0] == 101 and len(reviewer.reviews) == n, "what was reviewed is known after a restart")
    reviewer.close()
    late = make_token("bankfull.lab", 3600, "uid-77", "late")
    ok(attempt(late)[0] == 503, "without the API server a new token has to wait")
    ok(attempt(good)[0] == 101, "and a known one has not")
    said = collector.said()
    ok(good not in said and late not in said and "own-token" not in said.replace(own, ""), "no token stands in the log")
    collector.stop()
    with open(os.path.join(data, "bankfull.db"), "rb") as f:
        ok(good.encode() not in f.read(), "nor in the database")


if __name__ == "__main__":
    certificates()
    tests = [a_foreign_client, what_is_refused, duplicate_identity, a_client_that_never_reads, nothing_is_lost_by_an_end,
             a_full_disk, starts_that_fail, tokens, client_certificates, token_reviews]
    for test in tests:
        if len(sys.argv) > 3 and test.__name__ not in sys.argv[3:]:
            continue
        try:
            test()
        except Exception as error:  # whatever it is: the others are still run
            ok(False, test.__name__, f"{type(error).__name__}: {error} (line {error.__traceback__.tb_next.tb_lineno})")
    finish()
