#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The target's mmap and munmap while the agent watches it, by the agent's CPU quota. TAP, a table, and /out/harmless.json.

usage: measure.py PROFILE BUILD_DIR, as root inside tests/e2e/lab/run, with tests/e2e/lab in PYTHONPATH.
"""

import json
import mmap
import os
import shutil
import struct
import subprocess
import sys
import time

from bare import Probe, page, result
from pod import Pod, name_user, write

HERE = os.path.dirname(os.path.abspath(__file__))
WATCHED = os.path.join(HERE, "../../../../bench/mmap_watch.c")
WORK = "/var/lab/harmless"
HUGE = "/sys/kernel/mm/transparent_hugepage/enabled"
SECONDS = 120
BUCKETS = 512
PERIOD_US = 100_000  # kubelet's
# A heap of 4 KiB pages in one mapping: one that may be walked at 100m; one that must not be before a walk was measured; one
# that must not be at all.
TARGETS = {"192 MiB": 192, "512 MiB": 512, "1.5 GiB": 1536}
QUOTAS = {"100m": 100, "20m": 20}
# Gross is a period of the quota, in which a thread of the JVM stood still.
GROSS_TIMES, GROSS_MS = 10, 100
READER = """
import sys, time
while True:
    with open(f"/proc/{sys.argv[1]}/smaps", "rb", buffering=0) as f:
        while f.read(65536): pass
    time.sleep(2)
"""


class Watch:
    """The results that the target's thread writes (struct results of mmap_watch.c)."""

    def __init__(self, path):
        with open(path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 8 * (3 + BUCKETS))

    def clear(self):
        self.map[:] = bytes(len(self.map))

    def figures(self):
        n, most, over, *buckets = struct.unpack(f"{3 + BUCKETS}Q", self.map)
        return {"pairs": n, "p99_ms": self.quantile(buckets, 0.99), "p9999_ms": self.quantile(buckets, 0.9999), "worst_ms": most / 1e6,
                "over_1ms_ms": over / 1e6}

    @staticmethod
    def quantile(buckets, share):
        """The upper end of the bucket: an eighth of a power of two."""
        due = sum(buckets) * share
        for i, n in enumerate(buckets):
            due -= n
            if n and due <= 0:
                return ((i % 8 + 9) << max(0, i // 8 - 3)) / 1e6 if i >= 24 else i / 1e6
        return 0.0


def weight(milli):
    """cpu.weight as the runtime sets it for a request (KEP-2254: shares 2 to 262144 become 1 to 10000)."""
    shares = max(2, milli * 1024 // 1000)
    return 1 + (shares - 2) * 9999 // 262142


def give(cgroup, request, quota):
    write(f"{cgroup}/cpu.weight", weight(request))
    write(f"{cgroup}/cpu.max", f"{quota * PERIOD_US // 1000} {PERIOD_US}" if quota else f"max {PERIOD_US}")


def throttled(cgroup):
    with open(f"{cgroup}/cpu.stat", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("nr_throttled"))


def told(text):
    """The agent's own account, of its page."""
    values = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            key, value = line.rsplit(" ", 1)
            values[key] = float(value)
    return {"walks": values.get("bankfull_agent_smaps_walks_total"), "longest_hold_ms": (values.get("bankfull_agent_smaps_longest_hold_seconds") or 0) * 1e3,
            "throttled_scans": values.get("bankfull_agent_smaps_throttled_total"),
            "skipped": {key.split('"')[1]: value for key, value in values.items() if key.startswith("bankfull_agent_smaps_skipped_total{") and value}}


def measure(pod, watch, quota, command):
    """One row: the target alone, or with `command` under a request and a quota of `quota` thousandths of a processor."""
    process, said = None, {}
    give(pod.side, quota or 100, quota)
    before = throttled(pod.side)
    watch.clear()
    if command:
        process = subprocess.Popen([*pod.enter(pod.side, READ_ONLY=1, WRITABLE=WORK), *command], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(SECONDS)
    row = watch.figures()
    if process:
        said = told(page()) if command[1] == "agent" else {}
        pod.kill(pod.side)
        process.wait()
    return {**row, "periods_throttled": throttled(pod.side) - before, **said}


def watch_target(pod, name, mib, agent):
    """{who watches: figures} of one target."""
    results = f"{WORK}/{name.replace(' ', '')}.pairs"
    heap = [f"-Xms{mib}m", f"-Xmx{mib}m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", f"-agentpath:{WORK}/watch.so={results}"]
    target = Probe(pod, WORK, name.replace(" ", ""), "2G", (f"{os.environ['JDK17']}/bin/java", *heap))
    pid = str(target.pid())
    write(f"{target.cgroup}/cpu.weight", weight(1000))
    watch = Watch(results)
    time.sleep(5)
    rows = {"nobody": measure(pod, watch, None, None)}
    for text, milli in QUOTAS.items():
        rows[f"the agent at {text}"] = measure(pod, watch, milli, [agent, "agent", "--pid", pid, "--no-metrics", "--listen", "127.0.0.1:9482",
                                                                    "--state-dir", f"{WORK}/state"])
    rows["a plain reader at 20m"] = measure(pod, watch, 20, [sys.executable, "-c", READER, pid])
    target.end()
    return rows


def tell(name, rows):
    """The rows of harmless.json."""
    alone = rows["nobody"]
    return [{"heap": name, "who watches": who, "p99 ms": row["p99_ms"], "p99 x alone": row["p99_ms"] / alone["p99_ms"], "worst ms": row["worst_ms"],
             "worst x alone": row["worst_ms"] / alone["worst_ms"], "pairs": row["pairs"], "walks": row.get("walks"),
             "not for its quota": row.get("skipped", {}).get("quota"), "throttled": row["periods_throttled"]} for who, row in rows.items()]


def judge(name, rows):
    alone = rows["nobody"]
    for who in (who for who in rows if who.startswith("the agent")):
        row = rows[who]
        gross = row["worst_ms"] > GROSS_TIMES * alone["worst_ms"] and row["worst_ms"] > GROSS_MS
        result(not gross and row["pairs"] > SECONDS * 100, f"{name}, {who}: it does not stall the JVM", json.dumps(row))


def main():
    os.makedirs(f"{WORK}/state")
    for at in (WORK, f"{WORK}/state"):
        os.chmod(at, 0o777)
    agent = shutil.copy(f"{sys.argv[2]}/bankfull", f"{WORK}/bankfull")
    os.chmod(agent, 0o711)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", f"{WORK}/watch.so", WATCHED, "-lpthread"], check=True)
    if os.path.exists(HUGE):  # else there are none
        write(HUGE, "never")
    name_user()
    pod = Pod("max")
    everything, table = {}, []
    for name, mib in TARGETS.items():
        everything[name] = watch_target(pod, name, mib, agent)
        judge(name, everything[name])
        table += tell(name, everything[name])
        with open("/out/harmless.json", "w", encoding="utf-8") as f:
            json.dump(table, f, indent=1)
    for row in table:
        print("# " + ", ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items() if value is not None))
    result(everything["1.5 GiB"]["a plain reader at 20m"]["worst_ms"] > GROSS_MS, "a reader without protection does, and is seen to",
           json.dumps(everything["1.5 GiB"]))
    pod.end()


if __name__ == "__main__":
    main()
