# SPDX-License-Identifier: Apache-2.0
"""
What tests in Python share: TAP lines, waiting, files, and the collector as a program that is started, asked and ended.
Each is called as SCRIPT BUILD DIRECTORY [...]; all that it starts and writes is in DIRECTORY.
"""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from ports import free_port  # noqa: E402

BUILD, WORK = sys.argv[1:3]
PROGRAM = os.path.join(BUILD, "bankfull-collector")
failures = 0
running = []  # what end_all() ends
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what a test does at its end is done


def ok(good, name, note=""):
    """A TAP line, and below it what is known of a failure."""
    global failures
    failures += not good
    print(("ok - " if good else "not ok - ") + name, flush=True)
    if not good:
        for line in str(note).splitlines()[:40]:
            print("#   " + line[:1500], flush=True)
    return bool(good)


def finish():
    sys.exit(1 if failures else 0)


def end_all():
    """Whatever a test that broke off has left."""
    for process in running:
        if process.poll() is None:
            process.kill()
            process.wait()


def now_ms():
    return int(time.time() * 1000)


def until(seconds, condition, step=0.05):
    """What `condition` returns once it is true; else its last answer."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(step)


def write(name, text, mode=0o600):
    """A file in DIRECTORY, whole at any moment; its path."""
    path = os.path.join(WORK, name)
    with open(path + ".new", "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    os.chmod(path + ".new", mode)
    os.rename(path + ".new", path)
    return path


def rss_bytes(pid, field="VmRSS"):
    with open("/proc/%d/status" % pid) as file:
        return int(re.search(field + r":\s+(\d+)", file.read()).group(1)) << 10


def cpu_s(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Collector:
    """On a port that stays the same from start to start; so do its data, DIRECTORY/NAME, and its log beside them."""

    def __init__(self, name, *options, address="127.0.0.1", tls=None, env=None, prefix=()):
        """tls: the SSLContext of who asks it, where it speaks TLS. env: more of its environment. prefix: what runs it."""
        self.port, self.tls, self.env = free_port(), tls, {**os.environ, **(env or {})}
        self.data = os.path.join(WORK, name)
        self.log = self.data + ".log"
        self.command = [*prefix, PROGRAM, "--listen", "%s:%d" % (address, self.port), "--data", self.data, *options]
        os.makedirs(self.data, exist_ok=True)
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            before = log.tell()
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.env)
        running.append(self.process)
        until(20, lambda: self.process.poll() is not None or '"listening"' in self.said(before), 0.02)
        if '"listening"' not in self.said(before) or self.process.poll() is not None:
            raise RuntimeError("the collector does not start: " + self.said(before)[-2000:])

    def said(self, since=0):
        with open(self.log, "rb") as log:
            log.seek(since)
            return log.read().decode(errors="replace")

    def connect(self):
        if self.tls:
            return http.client.HTTPSConnection("localhost", self.port, timeout=20, context=self.tls)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def request(self, method, path, token=None, body=None, connection=None, **headers):
        """Status, headers by names in lower case, bytes. A dict or a list goes as JSON; _ in a header's name is -."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            headers["Authorization"] = "Bearer " + token
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        mine = connection or self.connect()
        mine.request(method, path, body=body, headers=headers)
        reply = mine.getresponse()
        content = reply.read()
        if not connection:
            mine.close()
        return reply.status, {name.lower(): value for name, value in reply.getheaders()}, content

    def ask(self, path, token=None, method="GET", body=None, **headers):
        """The same, as text."""
        status, got, content = self.request(method, path, token, body, **headers)
        return status, got, content.decode(errors="replace")

    def get(self, path, token=None, **headers):
        """Status and text."""
        status, _, text = self.ask(path, token, **headers)
        return status, text

    def metric(self, name, token=None):
        """The first of this name on the page."""
        for line in self.request("GET", "/metrics", token)[2].decode().splitlines():
            if line.startswith((name + " ", name + "{")):
                return float(line.rsplit(" ", 1)[1])
        return None

    def raw(self, request, seconds=10, hangs=True):
        """Bytes as they stand, and all that is answered until the end; or until so far, where it `hangs`."""
        answer = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as s:
            try:
                s.sendall(request)
                while piece := s.recv(65536):
                    answer += piece
            except ConnectionError:
                pass
            except TimeoutError:
                if not hangs:
                    raise
        return answer

    def rss(self, field="VmRSS"):
        return rss_bytes(self.process.pid, field)

    def cpu(self):
        return cpu_s(self.process.pid)

    def alive(self):
        return self.process.poll() is None and self.request("GET", "/healthz")[0] == 200

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def whole(self):
        """Whether its own check finds its store to be, and what it says."""
        done = subprocess.run([PROGRAM, "check", self.data], capture_output=True, text=True)
        return done.returncode == 0, done.stdout + done.stderr
