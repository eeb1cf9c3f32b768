# SPDX-License-Identifier: Apache-2.0
"""The collector of the lab: in a network namespace and a cgroup of its own, reached over a link that can be cut."""

import json
import os
import ssl
import subprocess
import time
import urllib.error
import urllib.request

from pod import write

LINK, PEER, ADDRESS, HERE_ADDRESS = "lab0", "lab1", "10.77.0.2", "10.77.0.1"
AGENTS, API = 8480, 8481
TOKEN = "lab-agent-token-0123456789abcdef0123456789abcdef"
VIEWER = "lab-viewer-token-0123456789abcdef0123456789abcdef"


class Collector:
    def __init__(self, program, work, log):
        self.program, self.work, self.log = program, work, log
        self.data = f"{work}/collector"
        os.makedirs(self.data)
        self.tokens = f"{work}/agent-tokens"
        self.viewers = f"{work}/viewer-tokens"
        for path, line in ((self.tokens, f"lab-pod {TOKEN}\n"), (self.viewers, f"viewer lab {VIEWER}\n")):
            with open(path, "w", encoding="ascii") as f:
                f.write(line)
            os.chmod(path, 0o600)
        self.cert, self.key = f"{work}/collector.pem", f"{work}/collector.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=lab",
                        "-addext", f"subjectAltName=IP:{ADDRESS}", "-out", self.cert, "-keyout", self.key], check=True, capture_output=True)
        os.chmod(self.cert, 0o644)
        self.tls = ssl.create_default_context(cafile=self.cert)
        self.cgroup = "/sys/fs/cgroup/collector"
        os.makedirs(self.cgroup, exist_ok=True)
        self.url = f"wss://{ADDRESS}:{AGENTS}/agent"
        # Who holds a network namespace open has a process in it.
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL)
        time.sleep(0.2)
        inside = ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", "--"]
        for command in (["ip", "link", "add", LINK, "type", "veth", "peer", "name", PEER, "netns", str(self.holder.pid)],
                        ["ip", "address", "add", f"{HERE_ADDRESS}/24", "dev", LINK], ["ip", "link", "set", LINK, "up"],
                        [*inside, "ip", "address", "add", f"{ADDRESS}/24", "dev", PEER], [*inside, "ip", "link", "set", PEER, "up"],
                        [*inside, "ip", "link", "set", "lo", "up"]):
            subprocess.run(command, check=True)
        self.inside = inside
        self.process = None
        self.start()

    def start(self):
        def enter():
            write(f"{self.cgroup}/cgroup.procs", 0)

        self.process = subprocess.Popen([*self.inside, self.program, "--data", self.data, "--cluster", "lab", "--tls-cert", self.cert,
                                         "--tls-key", self.key, "--viewer-tokens", self.viewers, "--listen-agents", f"{ADDRESS}:{AGENTS}",
                                         "--listen", f"{ADDRESS}:{API}", "--agent-tokens", self.tokens],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, preexec_fn=enter)
        self.until(lambda: self.get("/readyz", raw=True) is not None, 60, "the collector is not ready")

    def stop(self):
        self.process.terminate()
        self.process.wait(60)

    def link(self, state):
        subprocess.run(["ip", "link", "set", LINK, state], check=True)

    def end(self):
        self.stop()
        self.holder.kill()
        self.holder.wait()

    @staticmethod
    def until(true, seconds, what):
        until = time.monotonic() + seconds
        while not true():
            if time.monotonic() > until:
                raise RuntimeError(what)
            time.sleep(0.2)

    def get(self, path, raw=False):
        """None where there is no answer."""
        try:
            ask = urllib.request.Request(f"https://{ADDRESS}:{API}{path}", headers={"Authorization": f"Bearer {VIEWER}"})
            with urllib.request.urlopen(ask, timeout=60, context=self.tls) as answer:
                body = answer.read()
        except (OSError, urllib.error.HTTPError):
            return None
        return body if raw else json.loads(body)

    def all(self, path):
        """Every row of a list, page by page."""
        rows, cursor = [], ""
        join = "&" if "?" in path else "?"
        while True:
            page = self.get(f"/api/v1/{path}{join}limit=500{cursor}") or {}
            rows += next((v for v in page.values() if isinstance(v, list)), [])
            following = page.get("next")
            if not following:
                return rows
            cursor = f"&cursor={following}"
