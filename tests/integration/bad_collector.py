# SPDX-License-Identifier: Apache-2.0
"""Collectors that lie, stall, flood and break off, each towards a real agent. TAP on the output.

Each case has an agent and a server of its own; all run at once. The server is hostile for a while and then the best
there is: by then the agent must be alive and small, and must send every number that was never rightly acked.

    bad_collector.py BUILD WORK [CASE...]
"""
import base64
import contextlib
import hashlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from kit import BUILD, WORK, cpu_s, finish, free_port, ok, rss_bytes  # noqa: E402

program = os.path.join(BUILD, "bankfull")
asan = "asan" in BUILD
HOSTILE_S, GOOD_S, MIB = 10, 80, 1 << 20
TOP = (1 << 53) - 1
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Peer:
    """The server's end of one connection."""

    def __init__(self, sock):
        self.sock, self.buffer = sock, b""
        sock.settimeout(30)

    def need(self, n):
        while len(self.buffer) < n:
            piece = self.sock.recv(65536)
            if not piece:
                raise ConnectionError("gone")
            self.buffer += piece

    def head(self):
        while b"\r\n\r\n" not in self.buffer:
            self.need(len(self.buffer) + 1)
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        return head

    def upgrade(self, protocol=b"bankfull.v1", key=None, more=b""):
        head = self.head()
        asked = [line.split(b":", 1)[1].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key:")][0]
        accept = base64.b64encode(hashlib.sha1((key or asked) + GUID).digest())
        self.sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept
                          + (b"\r\nSec-WebSocket-Protocol: " + protocol if protocol else b"") + more + b"\r\n\r\n")

    def frame(self, payload, opcode=1, final=True):
        n, first = len(payload), (0x80 if final else 0) | opcode
        head = bytes([first, n]) if n < 126 else bytes([first, 126]) + struct.pack(">H", n) if n < 65536 else bytes([first, 127]) + struct.pack(">Q", n)
        self.sock.sendall(head + payload)

    def say(self, message):
        self.frame(json.dumps(message).encode())

    def receive(self):
        while True:
            self.need(2)
            opcode, n, at = self.buffer[0] & 15, self.buffer[1] & 127, 2
            if n == 126:
                self.need(4)
                n, at = struct.unpack(">H", self.buffer[2:4])[0], 4
            elif n == 127:
                self.need(10)
                n, at = struct.unpack(">Q", self.buffer[2:10])[0], 10
            self.need(at + 4 + n)
            mask, body = self.buffer[at:at + 4], self.buffer[at + 4:at + 4 + n]
            self.buffer = self.buffer[at + 4 + n:]
            payload = bytes(b ^ mask[i % 4] for i, b in enumerate(body))
            if opcode == 9:
                self.frame(payload, 10)
            elif opcode == 8:
                raise ConnectionError("closed")
            elif opcode == 1:
                return json.loads(payload)

    def hello(self, **more):
        self.upgrade()
        hello = self.receive()
        welcome = {"type": "welcome", "acked": [{"epoch": e["epoch"], "seq": e["first"] - 1} for e in hello["epochs"]], "window": 256,
                   "min_interval_ms": 1000, "max_frame": 65536, **more}
        self.say({k: v for k, v in welcome.items() if v is not None})
        return hello

    def drain(self, seconds=3):
        """Read what comes and answer nothing."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.sock.settimeout(max(0.05, end - time.monotonic()))
            try:
                if not self.sock.recv(65536):
                    return
            except TimeoutError:
                return


class Case(threading.Thread):
    def __init__(self, name, act, options=(), scheme="ws"):
        super().__init__(daemon=True)
        self.name_, self.act = name, act
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.dir = os.path.join(WORK, name.replace(" ", "-"))
        os.makedirs(self.dir)
        self.good, self.connections, self.lock = False, 0, threading.Lock()
        self.numbers, self.first, self.greeted, self.peak_rss, self.peak_fds, self.cpu = {}, {}, 0, 0, 0, 0
        self.log, self.out = os.path.join(self.dir, "log"), os.path.join(self.dir, "out")
        self.http = free_port()
        self.start()
        self.process = subprocess.Popen([program, "agent", "--pid", str(Case.pid), "--no-attach", "--no-metrics", "--collector", f"{scheme}://127.0.0.1:{self.port}/agent", "--state-dir",
                                         os.path.join(self.dir, "state"), "--interval", "1s", "--listen", f"127.0.0.1:{self.http}", "--limit", "512m", *options],
                                        stdout=open(self.out, "wb"), stderr=open(self.log, "wb"), stdin=subprocess.DEVNULL)

    def run(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(sock,), daemon=True).start()

    def serve(self, sock):
        with contextlib.suppress(OSError, ValueError, IndexError), sock:
            peer = Peer(sock)
            if self.good:
                self.be_good(peer)
            else:
                self.act(peer, self)

    def be_good(self, peer):
        hello = peer.hello()
        with self.lock:
            self.greeted += 1
            for e in hello["epochs"]:
                self.first.setdefault(e["epoch"], e["first"])
        while True:
            m = peer.receive()
            if m["type"] == "bye":
                peer.frame(b"\x03\xe8", 8)
                return
            seqs = range(m["from"], m["to"] + 1) if m["type"] == "gap" else [m["seq"]]
            with self.lock:
                self.numbers.setdefault(m["epoch"], set()).update(seqs)
                if m["type"] == "gap":
                    self.gap = m
            peer.say({"type": "ack", "epoch": m["epoch"], "seq": seqs[-1]})

    def look(self):
        with contextlib.suppress(OSError):
            self.peak_rss = max(self.peak_rss, rss_bytes(self.process.pid))
            self.peak_fds = max(self.peak_fds, len(os.listdir(f"/proc/{self.process.pid}/fd")))
            self.cpu = cpu_s(self.process.pid)

    def said(self):
        with open(self.log, errors="replace") as f:
            return f.read()

    def page(self):
        with socket.create_connection(("127.0.0.1", self.http), timeout=5) as s:
            s.sendall(f"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{self.http}\r\nConnection: close\r\n\r\n".encode())
            got = b""
            while piece := s.recv(65536):
                got += piece
        return got.decode()

    def judge(self):
        name, alive = self.name_, self.process.poll() is None
        ok(alive, f"{name}: the agent lives", f"{self.process.poll()} {self.said()[-1500:]}")
        if not alive:
            return
        whole = {e: sorted(set(range(1, max(n) + 1)) - n) for e, n in self.numbers.items()}
        ok(self.greeted and self.first and all(first == 1 for first in self.first.values()) and not any(whole.values()) and self.numbers,
           f"{name}: all it ever numbered arrives", f"sessions {self.greeted} of {self.connections}, first {self.first}, missing {whole}\n{self.said()[-1500:]}")
        ok((asan or self.peak_rss < 24 * MIB) and self.peak_fds < 64 and self.cpu < 6, f"{name}: it stayed small",
           f"{self.peak_rss / MIB:.1f} MiB, {self.peak_fds} descriptors, {self.cpu} s")
        lines = self.said().splitlines()
        ok(len(lines) < 200 and all(line.startswith("{") and json.loads(line) for line in lines) and not any(ord(c) < 32 for line in lines for c in line),
           f"{name}: its log is JSON and short", f"{len(lines)} {lines[-3:]}")
        if "policy of URLs" in name:
            refused = [line for line in self.page().splitlines() if line.startswith("bankfull_agent_policy_settings_refused_total ")]
            ok(refused and float(refused[0].split()[1]) > 0 and "evil" not in self.said(), f"{name}: refused and counted", f"{refused} {self.said()[-800:]}")
        print(f"# {name}: {self.connections} connections, {self.peak_rss / MIB:.1f} MiB, {self.peak_fds} fds, {self.cpu:.2f} s CPU, {len(lines)} lines", flush=True)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            rc = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            rc = "did not end"
        ok(rc == 0, f"{self.name_}: it ends with 0", f"{rc} {self.said()[-1500:]}")
        self.listener.close()


class Jvm:
    """What the agents watch: a small JVM of tests/workloads."""

    def __init__(self):
        directory = os.path.join(WORK, "jvm")
        os.makedirs(directory)
        self.run = subprocess.Popen(["tests/workloads/run", "probe", "--dir", directory, "--seconds", "120", "--heap", "32m"], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            if os.path.exists(f"{directory}/ready"):
                break
            time.sleep(0.1)
        with open(f"{directory}/ready") as f:
            self.pid = int(dict(line.strip().split("=", 1) for line in f)["probe_pid"])

    def end(self):
        self.run.terminate()
        self.run.wait()


def stall(seconds=60):
    def act(peer, case):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not case.good:
            time.sleep(0.2)
    return act


def raw(data):
    def act(peer, case):
        peer.head()
        peer.sock.sendall(data)
        peer.drain(1)
    return act


def endless_headers(peer, case):
    peer.head()
    peer.sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\n")
    for i in range(100000):
        peer.sock.sendall(b"X-%d: " % i + b"a" * 1000 + b"\r\n")


def trickled_headers(peer, case):
    peer.head()
    for c in b"HTTP/1.1 101 Switching Protocols\r\n" + b"a" * 1000:
        peer.sock.sendall(bytes([c]))
        time.sleep(0.3)


def upgraded(*more, **options):
    """Upgrades, and then does what is given: bytes are sent as they are, dicts as messages."""
    def act(peer, case):
        peer.upgrade(**options)
        for m in more:
            peer.say(m) if isinstance(m, dict) else peer.sock.sendall(m)
        peer.drain()
    return act


def welcomed(*more, seconds=3, **options):
    def act(peer, case):
        peer.hello(**options)
        for m in more:
            peer.say(m) if isinstance(m, dict) else peer.sock.sendall(m)
        peer.drain(seconds)
    return act


def lying_acks(peer, case):
    hello = peer.hello()
    e = hello["epochs"][-1]["epoch"]
    last = hello["epochs"][-1]["last"]
    for seq in (TOP, last + 100000, -1, 0, 2 ** 64, 1.5, "1", None):
        peer.say({"type": "ack", "epoch": e, "seq": seq})
    for name in ("0" * 32, "x", "", e.upper() if e.upper() != e else "A" * 32, None):
        peer.say({"type": "ack", "epoch": name, "seq": 1})
    peer.drain(2)


def lying_welcome(peer, case):
    peer.upgrade()
    hello = peer.receive()
    live = hello["epochs"][-1]
    peer.say({"type": "welcome", "acked": [{"epoch": live["epoch"], "seq": TOP}, {"epoch": "f" * 32, "seq": 5}], "window": 256, "min_interval_ms": 1000,
              "max_frame": 65536})
    peer.drain(2)


def flood(n, message):
    def act(peer, case):
        peer.hello()
        for _ in range(n):
            peer.say(message)
        peer.drain(1)
    return act


def pings(peer, case):
    peer.hello()
    for _ in range(10000):
        peer.frame(b"p" * 125, 9)
    peer.drain(1)


def pings_unread(peer, case):
    peer.hello()
    with contextlib.suppress(TimeoutError):
        peer.sock.settimeout(2)
        for _ in range(200000):
            peer.frame(b"p" * 125, 9)
    stall(10)(peer, case)


def fragments(peer, case):
    peer.hello()
    peer.frame(b"{", 1, False)
    for _ in range(100000):
        peer.frame(b"", 0, False)
    for _ in range(200):
        peer.frame(b"x" * 1000, 0, False)
    peer.drain(1)


def huge(peer, case):
    peer.hello()
    peer.sock.sendall(b"\x81\x7f" + struct.pack(">Q", 100 * MIB))
    for _ in range(100):
        peer.sock.sendall(b"x" * MIB)


def trickled_frame(peer, case):
    peer.hello()
    peer.sock.sendall(b"\x81\x7e\xff\xff")
    while not case.good:
        peer.sock.sendall(b"x")
        time.sleep(0.1)


def gobbledygook(peer, case):
    peer.hello()
    for text in (b"", b"{", b"null", b"[" * 60000, b'{"a":' * 8000, b'"\\ud800"', b"\x00", b'{"type":"welcome"}', b'{"type":"ack"}', b'{"type":"error"}',
                 b'{"type":"hello"}', b'{"type":"bye","reason":"x"}', b'{"type":"restart"}', b'{"type":"error","code":"new-kind","text":"\x1b[2J"}'[:0] or b"1e999",
                 b'{"type":"policy","run":"rm -rf /"}'):
        peer.frame(text)
    peer.drain(1)


POLICY = {"version": "00000000000000aa", "interval_ms": 0, "collector": "ws://evil.example/agent", "url": "http://evil.example", "metrics": ["http://evil.example/metrics"],
          "state-dir": "/etc", "command": "id", "levels": [{"rule": "freeboard-low", "name": "warning", "raise": TOP, "clear": 0}] * 100
          + [{"rule": "no-such-rule\x1b[31m", "name": "x", "raise": 1, "clear": 2}], "silences": [{"rule": "oom-kill", "reason": "\x1b[2J" * 20, "until_ms": 253402300799999}] * 100}

CASES = {
    "garbage for HTTP": (raw(os.urandom(5000)), ()),
    "an answer that is no 101": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n" + b"x" * 200000), ()),
    "a redirect": (raw(b"HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:1/agent\r\nContent-Length: 0\r\n\r\n"), ()),
    "Retry-After for ever": (raw(b"HTTP/1.1 503 No\r\nRetry-After: 99999999999999999999\r\nContent-Length: 0\r\n\r\n"), ()),
    "closed at once": (lambda peer, case: None, ()),
    "an upgrade never answered": (stall(), ()),
    "headers without end": (endless_headers, ()),
    "headers a byte at a time": (trickled_headers, ()),
    "another subprotocol": (upgraded(protocol=b"bankfull.v2"), ()),
    "no subprotocol": (upgraded(protocol=None), ()),
    "a wrong accept": (upgraded(key=b"AAAA"), ()),
    "an extension nobody asked for": (upgraded(more=b"\r\nSec-WebSocket-Extensions: permessage-deflate"), ()),
    "closed after the upgrade": (lambda peer, case: peer.upgrade(), ()),
    "closed after the welcome": (lambda peer, case: peer.hello(), ()),
    "hello never answered": (lambda peer, case: (peer.upgrade(), stall(60)(peer, case)), ()),
    "two welcomes": (lambda peer, case: (peer.hello(), peer.say({"type": "welcome", "acked": [], "window": 1, "min_interval_ms": 1, "max_frame": 65536}), peer.drain()), ()),
    "a welcome before hello": (upgraded({"type": "welcome", "acked": [], "window": 256, "min_interval_ms": 1000, "max_frame": 65536}), ()),
    "a window of 0": (welcomed(window=0), ()),
    "a window of 2^53": (welcomed(window=TOP, min_interval_ms=TOP, max_frame=TOP), ()),
    "a frame of 1": (welcomed(max_frame=1), ()),
    "min_interval of ten years": (welcomed(min_interval_ms=4294967295), ()),
    "a policy of URLs and commands": (welcomed(policy=POLICY), ()),
    "a policy of another shape": (welcomed(policy=[1, 2]), ()),
    "lying acks": (lying_acks, ()),
    "a lying welcome": (lying_welcome, ()),
    "no ack at all": (lambda peer, case: (peer.hello(), stall(60)(peer, case)), ()),
    "errors in a flood": (flood(10000, {"type": "error", "code": "rate", "text": "\x1b[2J" + "x" * 100}), ()),
    "errors of a kind to come": (flood(2000, {"type": "error", "code": "from-the-future", "text": "x"}), ()),
    "size errors": (welcomed({"type": "error", "code": "size", "text": "x"}), ()),
    "pings": (pings, ()),
    "pings that are not read": (pings_unread, ()),
    "fragments without end": (fragments, ()),
    "a frame of 100 MiB": (huge, ()),
    "a frame a byte at a time": (trickled_frame, ()),
    "gobbledygook": (gobbledygook, ()),
    "no UTF-8": (welcomed(b"\x81\x02\xff\xfe"), ()),
    "binary": (welcomed(b"\x82\x02{}"), ()),
    "masked": (welcomed(b"\x81\x82\0\0\0\0{}"), ()),
    "reserved bits": (welcomed(b"\xf1\x02{}"), ()),
    "a close of one byte": (welcomed(b"\x88\x01\x03"), ()),
    "TLS never answered": (stall(), ("--ca-file", None), "wss"),
    "garbage for TLS": (lambda peer, case: (peer.sock.sendall(os.urandom(2000)), peer.drain(1)), ("--ca-file", None), "wss"),
}
def main():
    chosen = [name for name in CASES if len(sys.argv) < 4 or name in sys.argv[3:]]
    ca = os.path.join(WORK, "ca.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=x", "-keyout", os.devnull,
                    "-out", ca], check=True, capture_output=True)
    cases, jvm = [], Jvm()
    Case.pid = jvm.pid
    for name in chosen:
        act, options, *scheme = CASES[name]
        cases.append(Case(name, act, [ca if o is None else o for o in options], *scheme))
        time.sleep(0.05)
    try:
        begin = time.monotonic()
        while time.monotonic() < begin + HOSTILE_S:
            for case in cases:
                case.look()
            time.sleep(0.5)
        plain = [case for case in cases if "TLS" not in case.name_]
        for case in cases:
            case.good = True
        while time.monotonic() < begin + HOSTILE_S + GOOD_S and not all(any(len(n) > 12 for n in case.numbers.values()) for case in plain):
            for case in cases:
                case.look()
            time.sleep(0.5)
        print(f"# after {time.monotonic() - begin:.0f} s", flush=True)
        for case in cases:
            with case.lock:
                case.judge() if case in plain else ok(case.process.poll() is None and case.cpu < 3, f"{case.name_}: the agent lives", case.said()[-500:])
        for case in cases:
            case.end()
    finally:
        for case in cases:
            if case.process.poll() is None:
                case.process.kill()
        jvm.end()
    finish()


if __name__ == "__main__":
    main()
