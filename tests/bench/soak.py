#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ten minutes at speed: a collector under 200 agents of the generator (1,000 samples a second) and a real agent at one
sample a second on a real JVM. Neither program may grow in memory or descriptors after its first two minutes.

    soak.py BUILD [SECONDS]          600; exit status 1 if something grew
"""
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

BUILD = sys.argv[1]
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 600
WARM = min(120, SECONDS // 3)
# Of the resident set: a step of the allocator or of SQLite's page cache, not a slope. 10 % would be 60 % an hour.
SLACK_KIB, SLACK_SHARE = 512, 0.02
work = tempfile.mkdtemp(prefix="bankfull-soak.")
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def status(pid, key):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith(key + ":"):
            return int(line.split()[1])


def look(pid, cache_kib):
    return status(pid, "VmRSS") - cache_kib, status(pid, "RssAnon") - cache_kib, len(os.listdir(f"/proc/{pid}/fd")), cache_kib


def cache_kib(port):
    """The collector's cache of database pages fills up to its bound (64 MiB) with the database: that is no growth of ours."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as page:
        for line in page.read().decode().splitlines():
            if line.startswith("bankfull_collector_store_cache_bytes "):
                return int(float(line.split()[1])) // 1024
    raise RuntimeError("the collector does not say what its cache holds")


def main():
    port, listen = free_port(), free_port()
    os.makedirs(f"{work}/data")
    os.makedirs(f"{work}/state")
    os.makedirs(f"{work}/probe")
    procs = []
    subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Iinclude", "-Isrc", "-o", f"{work}/loadgen", "tests/bench/loadgen.c"], check=True)

    def start(args, name):
        proc = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=open(f"{work}/{name}.out", "wb"), stderr=open(f"{work}/{name}.err", "wb"))
        procs.append(proc)
        return proc
    try:
        for program in ("bankfull", "bankfull-collector"):
            shutil.copy(f"{BUILD}/{program}", work)
        probe = start(["tests/workloads/run", "probe", "--dir", f"{work}/probe", "--seconds", str(SECONDS + 120), "--nmt", "summary"], "probe")
        collector = start([f"{work}/bankfull-collector", "--listen", f"127.0.0.1:{port}", "--data", f"{work}/data"], "collector")
        while not os.path.exists(f"{work}/probe/ready"):
            if probe.poll() is not None:
                sys.exit("soak: the JVM did not start")
            time.sleep(0.2)
        pid = dict(line.split("=", 1) for line in open(f"{work}/probe/ready").read().split("\n") if "=" in line)["probe_pid"]
        agent = start([f"{work}/bankfull", "agent", "--collector", f"ws://127.0.0.1:{port}/agent", "--pid", pid, "--limit", "512Mi",
                       "--state-dir", f"{work}/state", "--listen", f"127.0.0.1:{listen}", "--interval", "1s", "--smaps-interval", "5s",
                       "--scrape-interval", "5s", "--attach-interval", "30s"], "agent")
        start([f"{work}/loadgen", "--port", str(port), "--agents", "200", "--interval", "200", "--seconds", str(SECONDS + 30)], "load")
        watched = {"collector": collector, "agent": agent}
        seen = {name: [] for name in watched}
        began = time.monotonic()
        while time.monotonic() - began < SECONDS:
            time.sleep(5)
            # An agent is scraped as Prometheus would.
            urllib.request.urlopen(f"http://127.0.0.1:{listen}/metrics", timeout=5).read()
            for name, proc in watched.items():
                if proc.poll() is not None:
                    sys.exit(f"soak: {name} ended: {open(f'{work}/{name}.err').read()[-500:]}")
                seen[name].append((time.monotonic() - began, *look(proc.pid, cache_kib(port) if name == "collector" else 0)))
        grew = False
        for name, points in seen.items():
            early = [p for p in points if WARM <= p[0] < WARM + max(60, SECONDS / 8)]
            late = [p for p in points if p[0] >= SECONDS - max(60, SECONDS / 8)]
            if late[-1][4]:
                print(f"{name:<10} its cache of pages, left out below: {early[0][4]} to {late[-1][4]} KiB (bound 65536)")
                grew |= late[-1][4] > 68000
            for i, what, unit in ((1, "RSS", "KiB"), (2, "RssAnon", "KiB"), (3, "descriptors", "")):
                a, b = statistics.median(p[i] for p in early), statistics.median(p[i] for p in late)
                slack = 2 if i == 3 else SLACK_KIB + SLACK_SHARE * a
                bad = b > a + slack
                grew |= bad
                print(f"{name:<10} {what:<12} {a:9.0f} {unit} after {WARM} s, {b:9.0f} {unit} after {SECONDS} s{'   GREW' if bad else ''}", flush=True)
        print(open(f"{work}/load.out").read().strip().splitlines()[-1] if os.path.getsize(f"{work}/load.out") else "")
        return 1 if grew else 0
    finally:
        for proc in reversed(procs):
            proc.terminate()
        for proc in procs:
            proc.wait()
        shutil.rmtree(work, ignore_errors=True)


sys.exit(main())
