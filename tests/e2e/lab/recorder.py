# SPDX-License-Identifier: Apache-2.0
"""What root sees of a pod, independent of the agent: its cgroup each second, the moment of a kill, and the agent's own page."""

import json
import os
import select
import threading
import time
import urllib.request

STAT = ("anon", "file", "shmem", "inactive_anon", "active_anon", "inactive_file", "active_file", "unevictable", "file_mapped", "kernel",
        "sock", "slab_reclaimable", "slab_unreclaimable", "pagetables", "anon_thp", "file_dirty")


def now_ms():
    return time.time_ns() // 1_000_000


def pairs(text):
    return {k: int(v) for k, v in (line.split() for line in text.splitlines())}


class Recorder:
    """Threads that end with stop(). `kill_ms` and `first_max_ms` are the kernel's, to the millisecond it told us."""

    def __init__(self, pod, collector, out, page_url, page_every_s=15):
        self.pod, self.collector, self.page_url, self.page_every_s = pod, collector, page_url, page_every_s
        self.kill_ms = self.first_max_ms = self.killed_at = None
        self.kills = 0
        self.ended = threading.Event()
        self.killed = threading.Event()
        self.samples = open(f"{out}/cgroup.jsonl", "w", encoding="ascii")
        self.pages = open(f"{out}/metrics.prom", "w", encoding="utf-8")
        self.findings = open(f"{out}/findings.jsonl", "w", encoding="utf-8")
        self.threads = [threading.Thread(target=t, daemon=True) for t in (self.sample, self.watch, self.scrape, self.ask)]
        for t in self.threads:
            t.start()

    def stop(self):
        self.ended.set()
        for t in self.threads:
            t.join(30)
        self.samples.close()
        self.pages.close()
        self.findings.close()

    @staticmethod
    def one(at):
        def text(name):
            with open(f"{at}/{name}", encoding="ascii") as f:
                return f.read()

        # No file has both: the charge before and after the sum tells how far it moved in between.
        at_ms, before, stat = now_ms(), int(text("memory.current")), pairs(text("memory.stat"))
        line = {"at_ms": at_ms, "current": int(text("memory.current")), "current_before": before}
        events = pairs(text("memory.events"))
        line.update((k, stat[k]) for k in STAT if k in stat)
        line["refault_file"] = stat.get("workingset_refault_file", 0)
        line.update((k, events[k]) for k in ("high", "max", "oom", "oom_kill"))
        for row in text("memory.pressure").splitlines():
            kind, avg10 = row.split()[:2]
            line[f"{kind}_avg10"] = float(avg10.partition("=")[2])
        limit = text("memory.max").strip()
        line["limit"] = None if limit == "max" else int(limit)
        return line

    def sample(self):
        while not self.ended.wait(1):
            try:
                self.samples.write(json.dumps(self.one(self.pod.main)) + "\n")
            except (OSError, ValueError):
                continue  # the container is being replaced
        self.samples.flush()

    def watch(self):
        """The kernel wakes who polls memory.events; each container has its own."""
        at, fd, counted, waiting = None, -1, 0, select.poll()
        while not self.ended.is_set():
            if at != self.pod.main:
                if fd >= 0:
                    waiting.unregister(fd)
                    os.close(fd)
                at, counted = self.pod.main, 0
                fd = os.open(f"{at}/memory.events", os.O_RDONLY)
                waiting.register(fd, select.POLLPRI)
            waiting.poll(500)
            try:
                events = pairs(os.pread(fd, 4096, 0).decode())
            except OSError:
                time.sleep(0.5)  # the cgroup was removed, of which poll never tires
                continue
            if events["max"] and self.first_max_ms is None:
                self.first_max_ms = now_ms()
            if events["oom_kill"] > counted:
                counted = events["oom_kill"]
                self.kills += 1
                if self.kill_ms is None:
                    self.kill_ms, self.killed_at = now_ms(), time.monotonic()
                self.killed.set()

    def scrape(self):
        while not self.ended.wait(self.page_every_s):
            try:
                with urllib.request.urlopen(self.page_url, timeout=20) as answer:
                    page = answer.read().decode()
            except (OSError, ValueError):
                continue  # there is no agent at the moment; the log says why
            self.pages.write(f"# at_ms {now_ms()}\n{page}")

    def ask(self):
        """The collector keeps the last state of a finding alone: when it named whom is only known while it is so."""
        while not self.ended.wait(self.page_every_s):
            at_ms = now_ms()
            answer = self.collector.get("/api/v1/findings?limit=500")
            if answer is not None:
                self.findings.write(json.dumps({"at_ms": at_ms, "items": answer["items"]}) + "\n")
