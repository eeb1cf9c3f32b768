# SPDX-License-Identifier: Apache-2.0
"""A hostile world towards bankfull-collector: sockets, frames, files and limits of all kinds. TAP on the output.

All the while one well-behaved agent is connected (Keeper). What is tried may cost whoever tries it his connection; it
may cost the keeper nothing, and the collector neither memory nor descriptors for good.

    bad_wire.py BUILD WORK [TEST...]
"""
import contextlib
import json
import os
import random
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # noqa: E402
from kit import BUILD, finish, now_ms, ok  # noqa: E402
from wire_client import Client, Closed, Refused, epoch, hello, sample  # noqa: E402

asan = "asan" in BUILD
MIB = 1 << 20


class Collector(kit.Collector):
    def start(self):
        with contextlib.suppress(RuntimeError):  # one of whose files are damaged may say so and end
            super().start()

    def raw(self, data, timeout=5, shut=False):
        """Bytes as they stand, and all that is answered until the end."""
        got = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as s:
            with contextlib.suppress(OSError):
                s.sendall(data)
                if shut:
                    s.shutdown(socket.SHUT_WR)
                while piece := s.recv(65536):
                    got += piece
        return got

    def get(self, path, headers=""):
        reply = self.raw(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: close\r\n{headers}\r\n".encode())
        head, _, body = reply.partition(b"\r\n\r\n")
        return (int(head.split()[1]) if head else 0), body.decode(errors="replace")

    def metrics(self):
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in self.get("/metrics")[1].splitlines()
                if line and line[0] != "#"}

    def metric(self, name):
        return self.metrics().get("bankfull_collector_" + name, self.metrics().get(name))

    def fds(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def alive(self):
        return self.process.poll() is None

    def term(self):
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return "did not end"


class Keeper(threading.Thread):
    """The agent that does everything right: a sample each 50 ms, and a stopwatch on each ack."""

    def __init__(self, port, name="keeper", comes_back=False, **options):
        super().__init__(daemon=True)
        self.port, self.name_, self.options, self.comes_back = port, name, options, comes_back
        self.epoch, self.seq, self.acked, self.longest, self.failed, self.done = epoch(), 0, 0, 0.0, None, False
        self.sessions = 0
        self.start()

    def session(self):
        client = Client(self.port, timeout=30, **self.options)
        client.send(hello(self.name_, [(self.epoch, 1, self.seq)], now_ms()))
        welcome = client.receive()
        if welcome["type"] == "error":
            raise Closed(None, welcome["code"])
        if welcome["acked"][0]["seq"] < self.acked:
            raise AssertionError(f"what was acked is gone: {self.acked}, {welcome}")
        self.sessions += 1
        self.seq = self.acked = welcome["acked"][0]["seq"]
        while not self.done:
            began = time.monotonic()
            self.seq += 1
            client.send(sample(self.epoch, self.seq, now_ms()))
            self.acked = client.until_ack(self.epoch, self.seq)
            self.longest = max(self.longest, time.monotonic() - began)
            time.sleep(0.05)
        client.close()

    def run(self):
        while not self.done:
            try:
                self.session()
            except (OSError, Closed, Refused) as error:
                if not self.comes_back:
                    self.failed = repr(error)
                    return
                time.sleep(0.1)
            except Exception as error:
                self.failed = repr(error)
                return

    def end(self):
        self.done = True
        self.join(40)
        return self.failed is None and self.acked > 0 and self.acked == self.seq


@contextlib.contextmanager
def besieged(name, *options, patience=2.0, rss_mib=24, **more):
    """A collector with its keeper; afterwards it must be as it was."""
    collector = Collector(name, *options, **more)
    keeper = Keeper(collector.port)
    time.sleep(0.4)
    fds, rss = collector.fds(), collector.rss()
    yield collector, keeper
    good = keeper.end()
    ok(good and keeper.longest < patience * (5 if asan else 1), f"{name}: the well-behaved agent lost nothing and waited at most {patience} s for an ack",
       f"{keeper.failed} acked {keeper.acked} of {keeper.seq}, longest {keeper.longest:.3f}")
    for _ in range(50):
        if collector.fds() <= fds:
            break
        time.sleep(0.2)
    grown = (collector.rss() - rss) / MIB
    ok(collector.fds() <= fds and (asan or grown < rss_mib), f"{name}: descriptors are back, memory grew by less than {rss_mib} MiB",
       f"fds {fds} -> {collector.fds()}, rss +{grown:.1f} MiB")
    rc = collector.term()
    ok(rc == 0, f"{name}: and it ends well", f"{rc}\n{collector.said()[-1500:]}")
    right, said = collector.whole()
    ok(right, f"{name}: the books are right", said)
    print(f"# {name}: longest ack {keeper.longest * 1000:.0f} ms, rss +{grown:.1f} MiB", flush=True)


def agent(collector, pod, e=None, first=1, last=0, **options):
    client = Client(collector.port, **options)
    e = e or epoch()
    client.send(hello(pod, [(e, first, last)], now_ms()))
    return client, e, client.receive()


def http_shapes():
    with besieged("http") as (c, _):
        host = f"Host: 127.0.0.1:{c.port}\r\n"
        for name, request, wanted in [
            ("Content-Length and Transfer-Encoding", f"POST /api/v1/silences HTTP/1.1\r\n{host}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n{host}\r\n", (400, 411)),
            ("two lengths", f"POST /api/v1/silences HTTP/1.1\r\n{host}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde", (400,)),
            ("two equal lengths", f"POST /api/v1/silences HTTP/1.1\r\n{host}Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd", (400,)),
            ("a negative length", f"POST /x HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n", (400,)),
            ("a length with a sign", f"POST /x HTTP/1.1\r\n{host}Content-Length: +4\r\n\r\nabcd", (400,)),
            ("a length of lists", f"POST /x HTTP/1.1\r\n{host}Content-Length: 4, 4\r\n\r\nabcd", (400,)),
            ("a length past 2^64", f"POST /x HTTP/1.1\r\n{host}Content-Length: 18446744073709551620\r\n\r\nabcd", (400, 413)),
            ("chunked GET", f"GET /healthz HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", (400, 411)),
            ("a folded Transfer-Encoding", f"POST /x HTTP/1.1\r\n{host}Transfer-Encoding:\r\n chunked\r\nContent-Length: 4\r\n\r\nabcd", (400, 411)),
            ("a space before the colon", f"POST /x HTTP/1.1\r\n{host}Transfer-Encoding : chunked\r\nContent-Length: 4\r\n\r\nabcd", (400, 403, 404, 405, 411, 415)),
            ("GET with a body", f"GET /healthz HTTP/1.1\r\n{host}Connection: close\r\nContent-Length: 4\r\n\r\nabcd", (200, 400, 413)),
            ("an absolute target", f"GET http://evil.example/api/v1/pods HTTP/1.1\r\n{host}Connection: close\r\n\r\n", (200, 400, 403, 404)),
            ("traversal in escapes", f"GET /api/v1/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n{host}Connection: close\r\n\r\n", (400, 404)),
            ("traversal, double escapes", f"GET /%252e%252e/etc/passwd HTTP/1.1\r\n{host}Connection: close\r\n\r\n", (400, 404)),
            ("a NUL in the path", f"GET /healthz%00x HTTP/1.1\r\n{host}Connection: close\r\n\r\n", (400, 404, None)),
            ("a raw NUL", f"GET /health\0z HTTP/1.1\r\n{host}Connection: close\r\n\r\n", (400, 403, 404, None)),
            ("TRACE", f"TRACE /healthz HTTP/1.1\r\n{host}Connection: close\r\n\r\n", (400, 403, 405, 501, None)),
            ("CONNECT", f"CONNECT 127.0.0.1:22 HTTP/1.1\r\n{host}\r\n", (400, 403, 404, 405, 501, None)),
            ("OPTIONS", f"OPTIONS /api/v1/pods HTTP/1.1\r\n{host}Connection: close\r\n\r\n", (404, 405, 501)),
            ("OPTIONS *", f"OPTIONS * HTTP/1.1\r\n{host}Connection: close\r\n\r\n", (400, 403, 404, 405, 501, None)),
            ("DELETE", f"DELETE /api/v1/pods HTTP/1.1\r\n{host}Connection: close\r\n\r\n", (404, 405)),
            ("no Host", "GET /api/v1/pods HTTP/1.1\r\nConnection: close\r\n\r\n", (400, 403)),
            ("two Hosts, one ours", f"GET /api/v1/pods HTTP/1.1\r\n{host}Host: evil.example\r\nConnection: close\r\n\r\n", (400,)),
            ("two Hosts, ours last", f"GET /api/v1/pods HTTP/1.1\r\nHost: evil.example\r\n{host}Connection: close\r\n\r\n", (400, 403)),
            ("a Host of another name", "GET /api/v1/pods HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\nConnection: close\r\n\r\n", (403,)),
            ("a Host with a user", f"GET /api/v1/pods HTTP/1.1\r\nHost: 127.0.0.1@evil.example\r\nConnection: close\r\n\r\n", (400, 403)),
            ("a header of 100 KiB", f"GET /healthz HTTP/1.1\r\n{host}X: {'a' * 102400}\r\n\r\n", (400, 413, 431, None)),
            ("5,000 headers", f"GET /healthz HTTP/1.1\r\n{host}" + "A: b\r\n" * 5000 + "\r\n", (400, 413, 431, 200, None)),
            ("a path of 100 KiB", f"GET /{'a' * 102400} HTTP/1.1\r\n{host}\r\n", (400, 404, 413, 414, None)),
            ("a query of 7 KiB of escapes", f"GET /api/v1/pods?q={'%41' * 2300} HTTP/1.1\r\n{host}Connection: close\r\n\r\n", (200, 400, 413, 414, None)),
            ("bare LF", f"GET /healthz HTTP/1.1\n{host.strip()}\nConnection: close\n\n", (200, 400, None)),
            ("HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n", (200, 400, 403)),
            ("HTTP/0.9", "GET /healthz\r\n\r\n", (400, 403, None)),
            ("HTTP/9.9", f"GET /healthz HTTP/9.9\r\n{host}Connection: close\r\n\r\n", (200, 400, 505, None)),
            ("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", (400, 403, 404, 405, 501, None)),
            ("h2c upgrade", f"GET /healthz HTTP/1.1\r\n{host}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n", (200, 400, 403, 404, 426, None)),
            ("TLS where none is", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", (400, 403, None)),
            ("nothing but NULs", "\0" * 4096, (400, 403, None)),
            ("Connection: Upgrade without a key", f"GET /agent HTTP/1.1\r\n{host}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: bankfull.v1\r\n\r\n", (400, 426, None)),
            ("WebSocket version 8", f"GET /agent HTTP/1.1\r\n{host}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: bankfull.v1\r\n\r\n", (400, 426, None)),
            ("POST upgrade", f"POST /agent HTTP/1.1\r\n{host}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: bankfull.v1\r\nContent-Length: 0\r\n\r\n", (400, 404, 405, 426, None)),
            ("a thousand subprotocols", f"GET /agent HTTP/1.1\r\n{host}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: {', '.join('p%d' % i for i in range(1000))}\r\n\r\n", (400, None)),
        ]:
            before = time.monotonic()
            ends = "\r\n\r\n" in request or "\n\n" in request or "100 KiB" in name
            reply = c.raw(request.encode("latin-1"), timeout=4, shut=not ends)
            took = time.monotonic() - before
            status = int(reply.split()[1]) if reply.startswith(b"HTTP/") else None
            n = reply.count(b"HTTP/1.1 ")
            ok(status in wanted and n <= 1 and b"root:" not in reply and c.alive(), f"{name}: {status}", f"{reply[:300]} answers {n}, took {took:.1f}")
        reply = c.raw(f"HEAD /metrics HTTP/1.1\r\n{host}Connection: close\r\n\r\n".encode())
        ok(reply.split(b"\r\n\r\n", 1)[1] == b"" and b" 200 " in reply.split(b"\r\n")[0], "HEAD has no body", reply[:200])


def slowloris():
    """Headers, bodies, handshakes and frames that come a byte at a time, 300 of each; and clients that read nothing."""
    with besieged("slow") as (c, keeper):
        socks = []
        host = f"Host: 127.0.0.1:{c.port}\r\n".encode()
        up = b"GET /agent HTTP/1.1\r\n" + host + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        for i in range(300):
            for head in (b"", b"GET /healthz HTTP/1.1\r\nX: ", b"POST /api/v1/silences HTTP/1.1\r\n" + host + b"Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n{", up):
                s = socket.create_connection(("127.0.0.1", c.port))
                s.sendall(head)
                socks.append(s)
        upgraded = [Client(c.port) for _ in range(100)]  # never says hello
        partial = [Client(c.port) for _ in range(100)]
        for p in partial:
            p.sock.sendall(b"\x01\xfe\xff\xff\0\0\0\0{")  # begins a frame of 64 KiB, not its last
        deaf = [socket.create_connection(("127.0.0.1", c.port)) for _ in range(50)]
        for s in deaf:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.sendall(b"GET /metrics HTTP/1.1\r\n" + host + b"\r\n")
        began, cpu = time.monotonic(), c.cpu()
        while time.monotonic() - began < 13:
            for s in socks:
                with contextlib.suppress(OSError):
                    s.send(b"a")
            for p in partial:
                with contextlib.suppress(OSError):
                    p.sock.send(b"a")
            time.sleep(1)
        left = 0
        for s in socks:
            s.setblocking(False)
            try:
                while piece := s.recv(4096):
                    pass
            except BlockingIOError:
                left += 1
            except OSError:
                pass
        ok(left == 0, "whoever needs more than ten seconds for a request is cut", f"{left} of {len(socks)} left")
        print(f"# cpu {c.cpu() - cpu:.2f} s in {time.monotonic() - began:.0f} s, rss {c.rss() / MIB:.0f} MiB, timeouts {c.metric('connection_timeouts_total')}")
        ok(c.metric("connection_timeouts_total") >= 900, "and counted")
        for s in socks + deaf + [x.sock for x in upgraded + partial]:
            s.close()


def crowd():
    """2,000 connections from one address; agents that come and go; a cap by address."""
    with besieged("crowd", "--max-per-address", "600", rss_mib=30) as (c, _):
        socks = []
        for _ in range(2000):
            s = socket.create_connection(("127.0.0.1", c.port))
            socks.append(s)
        time.sleep(0.5)
        for s in socks:
            s.close()
        time.sleep(0.5)
        ok(c.metric("connections_refused_total") >= 1300, "beyond the cap of an address connections are closed and counted", c.metric("connections_refused_total"))
        ok(c.metric("connections") <= 5, "and forgotten")
        began, n = time.monotonic(), 0
        while time.monotonic() - began < 4:
            for i in range(50):
                client = Client(c.port)
                client.send(hello(f"loop-{n % 1000}", [(epoch(n % 1000), 1, 0)], now_ms()))
                n += 1
                client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.close()
        print(f"# {n} sessions of 1,000 agents in 4 s")
        ok(c.alive() and c.get("/healthz")[0] == 200, "agents that reconnect in a loop")


def frames():
    with besieged("frames", rss_mib=40) as (c, _):
        rng = random.Random(5)
        # fragments without end, each empty
        client, e, _w = agent(c, "fragments")
        n = 0
        began = time.monotonic()
        with contextlib.suppress(OSError):
            client.sock.settimeout(5)
            client.frame(b"{", 1, False)
            for n in range(200000):
                client.frame(b"", 0, False)
                if n % 1000 == 0 and time.monotonic() - began > 6:
                    break
        client.close()
        ok(c.get("/healthz")[0] == 200, f"{n} empty fragments, and others are served")
        # a frame that says 2^63
        for name, head in [("2^63 bytes", b"\x81\xff\x7f" + b"\xff" * 7 + b"\0\0\0\0"), ("2^64-1 bytes", b"\x81\xff" + b"\xff" * 8 + b"\0\0\0\0"),
                           ("4 GiB", b"\x81\xff\0\0\0\1\0\0\0\0\0\0\0\0"), ("not masked", b"\x81\x02{}"), ("reserved bits", b"\xf1\x80\0\0\0\0"),
                           ("a continuation of nothing", b"\x80\x80\0\0\0\0"), ("a ping of 126 bytes", b"\x89\xfe\0\x7e\0\0\0\0" + b"x" * 126),
                           ("a fragmented ping", b"\x09\x80\0\0\0\0"), ("a close of one byte", b"\x88\x81\0\0\0\0\x03"),
                           ("a close with code 1005", b"\x88\x82\0\0\0\0\x03\xed"), ("a close with no UTF-8", b"\x88\x84\0\0\0\0\x03\xe8\xff\xfe"),
                           ("text within text", b"\x01\x81\0\0\0\0{\x81\x81\0\0\0\0}"), ("surrogates", b"\x81\x83\0\0\0\0\xed\xa0\x80")]:
            client, e, _w = agent(c, "f-" + name)
            with contextlib.suppress(OSError):
                client.sock.sendall(head + b"x" * 1000)
            client.sock.settimeout(6)
            try:
                messages, code = client.until_closed()
                ok(c.alive(), f"a frame of {name}: closed with {code} {[m.get('code') for m in messages]}")
            except socket.timeout:
                ok(False, f"a frame of {name}: nothing happened in 6 s")
            client.close()
        # pings
        client, e, _w = agent(c, "pings")
        client.sock.settimeout(3)
        sent = 0
        with contextlib.suppress(OSError):
            for sent in range(20000):
                client.frame(b"p" * 125, 9)
        client.close()
        ok(c.get("/healthz")[0] == 200, f"{sent} pings of one that reads no pong")
        # noise
        for i in range(300):
            client = Client(c.port)
            with contextlib.suppress(OSError):
                client.sock.sendall(rng.randbytes(rng.randrange(1, 400)))
            client.close()
        ok(c.get("/healthz")[0] == 200, "noise for frames")
        # as fast as it goes
        client, e, _w = agent(c, "fast")
        client.sock.settimeout(1)
        dup = json.dumps(sample(e, 1, now_ms())).encode()
        sent, began = 0, time.monotonic()
        with contextlib.suppress(OSError):
            while time.monotonic() - began < 5:
                client.frame(dup)
                sent += 1
        client.close()
        ok(c.get("/healthz")[0] == 200, f"{sent} frames as fast as they go")


def strange_words():
    """Unicode, control bytes, 16 epochs of 2^53, ids of 253 bytes, clocks, 100,000 findings."""
    top = (1 << 53) - 1
    with besieged("words", rss_mib=200) as (c, _):
        client = Client(c.port)
        client.send(hello("big", [(epoch(i + 1), top, top) for i in range(16)], now_ms()))
        ok(client.receive()["type"] == "welcome", "numbers that begin at the last there is")
        client.close()
        client = Client(c.port)
        client.send(hello("big2", [(epoch(i + 100), 1, top) for i in range(16)], now_ms()))
        w = client.receive()
        ok(w["type"] == "welcome", "sixteen epochs of 2^53 - 1", w)
        e = epoch(100)
        client.send({"type": "gap", "epoch": e, "from": 1, "to": top, "reason": "spool-lost"})
        client.sock.settimeout(3)
        try:
            ok(client.until_ack(e, top) == top, "a gap over all numbers")
        except (Closed, socket.timeout) as error:
            ok(False, "a gap over all numbers", error)
        client.close()
        client = Client(c.port)
        client.send(hello("big3", [(epoch(i + 200), 1, 0) for i in range(17)], now_ms()))
        ok(client.until_closed()[1] == 4400, "seventeen epochs are malformed")
        names = ["tm\u202e\u2066-1", "\x1b[2J\x1b[31mred", "a\"b\\c\nd", "é" * 60, "😀" * 30, "</script><script>alert(1)", "%n%s%x", "' OR 1=1 --", "..", "a/b", "a b", "\x7f\x80\x9b31m", "\ud7ff\ue000\ufffe\uffff"]
        for i, name in enumerate(names):
            client = Client(c.port)
            client.send(hello(name, [(epoch(1000 + i), 1, 0)], now_ms()))
            said = []
            with contextlib.suppress(Closed, socket.timeout):
                client.sock.settimeout(3)
                said.append(client.receive())
                e = epoch(1000 + i)
                client.send(sample(e, 1, now_ms()))
                client.send({"type": "finding", "epoch": e, "seq": 2, "mono_ms": 2, "wall_ms": now_ms(), "id": f"{i}/1", "edge": "opened",
                             "rule": "freeboard-low", "severity": "warning", "title": name, "opened_ms": now_ms(), "finding": {"x": name}})
                said.append(client.until_ack(e, 2))
            ok(len(said) == 2, f"a pod named {ascii(name)} is taken", said)
            client.close()
        for path in ("/api/v1/pods", "/api/v1/findings", "/api/v1/workloads", "/metrics"):
            status, body = c.get(path)
            ok(status == 200 and not any(ord(ch) < 32 and ch != "\n" for ch in body) and (path == "/metrics" or json.loads(body)), f"{path} has no control bytes", body[:300])
        said = c.said()
        ok(not any(ord(ch) < 32 and ch != "\n" for ch in said) and all(json.loads(line) for line in said.splitlines()), "nor has the log, which is JSON")
        for name, wall in [("1970", 0), ("2100", 4102444800000), ("the year 9999", 253402300799999)]:
            client = Client(c.port)
            e = epoch()
            client.send(hello(f"clock-{name}", [(e, 1, 0)], wall))
            w = client.receive()
            client.send(sample(e, 1, wall))
            try:
                client.sock.settimeout(3)
                ok(client.until_ack(e, 1) == 1, f"a clock at {name} is stored")
            except (Closed, socket.timeout) as error:
                ok(False, f"a clock at {name} is stored", error)
            client.close()
        ok(c.get("/api/v1/pods")[0] == 200 and c.get("/api/v1/findings")[0] == 200, "the API goes on")
        # unknown words
        for name, more, wanted in [("a rule", {"rule": "from-the-future"}, "ack"), ("an owner", {"owner": "quantum-heap"}, "ack"),
                                   ("a severity", {"severity": "apocalyptic"}, "error"), ("an edge", {"edge": "bent"}, "error")]:
            client, e, _w = agent(c, "future")
            client.send({**{"type": "finding", "epoch": e, "seq": 1, "mono_ms": 2, "wall_ms": now_ms(), "id": "x/1", "edge": "opened", "rule": "freeboard-low", "severity": "warning", "title": "t", "opened_ms": now_ms(), "finding": {}}, **more})
            client.sock.settimeout(3)
            got = client.receive()
            ok(got["type"] == wanted, f"{name} of the future: {wanted}", got)
            client.close()


def many_findings(n=5000):
    """Distinct ones of one agent, as fast as it may; the API pages them, and a restart reads them again."""
    with besieged("findings", rss_mib=60, patience=3) as (c, _):
        client, e, w = agent(c, "flood", timeout=30)
        acked = sent = 0
        while acked < n:
            while sent < n and sent - acked < w["window"]:
                sent += 1
                client.send({"type": "finding", "epoch": e, "seq": sent, "mono_ms": sent, "wall_ms": now_ms(), "id": f"flood/{sent}", "edge": "opened",
                             "rule": "freeboard-low", "severity": "critical", "title": "t" * 100, "opened_ms": now_ms(), "finding": {"a": "b"}})
            acked = client.receive()["seq"]
        for path in ("/api/v1/findings", "/api/v1/pods", "/api/v1/workloads", "/metrics"):
            status, body = c.get(path)
            ok(status == 200 and len(body) < MIB, f"{path} stays small after {n} findings of one agent", f"{status} {len(body)}")
        client.close()


def a_locked_database():
    collector = Collector("locked")
    keeper = Keeper(collector.port, comes_back=True)
    time.sleep(0.5)
    with contextlib.closing(sqlite3.connect(os.path.join(collector.data, "bankfull.db"), isolation_level=None, timeout=10)) as db:
        db.execute("BEGIN IMMEDIATE")
        before = keeper.acked
        time.sleep(4)
        began = time.monotonic()
        health, ready = collector.get("/healthz")[0], collector.get("/readyz")[0]
        ok(keeper.acked <= before + 1 and health == 200 and ready == 503 and time.monotonic() - began < 1,
           "a locked database: nothing is acked, it is alive and says that it is not ready", f"{before} {keeper.acked} {health} {ready}")
        ok('"batch-failed"' in collector.said() and "locked" in collector.said(), "and the log says why", collector.said()[-500:])
        db.execute("ROLLBACK")
    time.sleep(2.5)
    ok(collector.get("/readyz")[0] == 200 and keeper.acked > before + 2, "it goes on by itself", f"{keeper.acked} {keeper.failed}")
    ok(keeper.end() and collector.term() == 0, "and nothing is lost", keeper.failed)


def no_descriptors():
    with besieged("descriptors", prefix=("prlimit", "--nofile=60:60")) as (c, _):
        socks = [socket.create_connection(("127.0.0.1", c.port), timeout=2) for _ in range(150)]
        time.sleep(0.5)
        cpu = c.cpu()
        time.sleep(1.5)
        ok(c.cpu() - cpu < 0.5, "out of descriptors it does not spin", c.cpu() - cpu)
        for s in socks:
            s.close()
        time.sleep(0.3)
        ok(c.metric("connections_refused_total") >= 80, "those it had none for are counted")


def signals():
    collector = Collector("signals")
    keeper = Keeper(collector.port)
    end = time.monotonic() + 1
    while time.monotonic() < end:
        collector.process.send_signal(signal.SIGHUP)
    ok(keeper.end() and keeper.longest < 2, "a storm of SIGHUP costs nobody anything", keeper.failed)
    for _ in range(50):
        collector.process.send_signal(signal.SIGTERM)
    ok(collector.term() == 0, "one of SIGTERM ends it with 0", collector.said()[-500:])


def damaged_files():
    """Bytes flipped before the start: it starts and serves, or says what is wrong in one line; never anything else."""
    collector = Collector("damaged")
    keeper = Keeper(collector.port)
    time.sleep(1)
    keeper.end()
    collector.term()
    path, rng, outcomes = os.path.join(collector.data, "bankfull.db"), random.Random(9), {}
    with open(path, "rb") as f:
        whole = f.read()
    for i in range(12):
        damaged = bytearray(whole)
        for _ in range((1, 5, 200)[i % 3]):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        with open(path, "wb") as f:
            f.write(damaged[:rng.randrange(len(damaged))] if i % 4 == 0 else damaged)
        os.unlink(collector.log)
        again = Collector("damaged")
        served = again.alive() and [again.get(p)[0] for p in ("/api/v1/pods", "/metrics")]
        lines = [line for line in again.said().splitlines() if not line.startswith("{")]
        good = again.term() == 0 and served == [200, 200] if again.alive() else again.process.poll() == 3 and len(lines) == 1
        outcomes.setdefault(good, []).append(again.said()[-300:])
    ok(False not in outcomes, f"a damaged database is served or refused with one line ({len(outcomes.get(True, []))} tried)", outcomes.get(False))


if __name__ == "__main__":
    tests = [http_shapes, slowloris, crowd, frames, strange_words, many_findings, a_locked_database,
             no_descriptors, signals, damaged_files]
    for test in tests:
        if len(sys.argv) > 3 and test.__name__ not in sys.argv[3:]:
            continue
        print("# ---", test.__name__, flush=True)
        try:
            test()
        except Exception as error:
            ok(False, test.__name__, f"{type(error).__name__}: {error} (line {error.__traceback__.tb_next.tb_lineno})")
    finish()
