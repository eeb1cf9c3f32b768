#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
What people use today, on the same runs, evaluated by a real Prometheus: cgroup.jsonl becomes OpenMetrics, promtool makes
blocks of it, Prometheus on loopback answers query_range at the steps at which rules are evaluated.

    peers.py OUT            prints per run which rule fired when, in minutes after the workload was ready

All runs stand in one Prometheus, by the labels scenario and profile, and begin at one time. A run is seen up to its kill: there
the container ends, and the next one has series of its own. Samples are those of a scrape each 15 s, which is kind: the kubelet's
own figures are up to 15 s older.
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import cgroups
import rundir

STEP_S = 15
BASE_S = 1_700_000_100  # any time would do; the same for all
FAR = "100y"            # the blocks are older than Prometheus would keep by default
WORKING_SET = "container_memory_working_set_bytes"
LIMIT = "container_spec_memory_limit_bytes"
FLOOR = "bankfull_floor_bytes"

# name, what it is to a reader, the condition. The window of an hour is that of the mixins for disks, where the idiom comes from;
# who has faster leaks takes a quarter of an hour.
RULES = (
    ("working-set-90", "working set > 90 % of the limit", f"{WORKING_SET} / {LIMIT} > 0.9"),
    ("predict-1h", "predict_linear(working set[1h], 4 h) > limit", f"predict_linear({WORKING_SET}[1h], 4 * 3600) > {LIMIT}"),
    ("predict-15m", "predict_linear(working set[15m], 1 h) > limit", f"predict_linear({WORKING_SET}[15m], 3600) > {LIMIT}"),
    ("floor-85", "floor > 85 % of the limit", f"{FLOOR} / {LIMIT} > 0.85"),
)
FORS = (0, 300)  # `for`, in seconds


def scraped(run):
    """(seconds after the start, row) of each scrape up to the end."""
    if not run.rows:
        return []
    start, out, due = run.rows[0]["at_ms"], [], 0
    for row in run.rows:
        after = (row["at_ms"] - start) / 1000
        if after >= due and row["at_ms"] <= run.end_ms and cgroups.limit_of(row):
            out.append((after, row))
            due = (after // STEP_S + 1) * STEP_S
    return out


def open_metrics(runs):
    """One family after the other, as the format wants it."""
    lines = []
    for name, figure in ((WORKING_SET, cgroups.working_set), (LIMIT, cgroups.limit_of), (FLOOR, cgroups.floor)):
        lines.append(f"# TYPE {name} gauge")
        for run in runs:
            labels = f'{{container="main",scenario="{run.name}",profile="{run.profile}"}}'
            lines += [f"{name}{labels} {figure(row)} {BASE_S + after:.3f}" for after, row in scraped(run)]
    return "\n".join(lines + ["# EOF", ""])


class Prometheus:
    def __init__(self, runs):
        self.work = tempfile.TemporaryDirectory(prefix="bankfull-peers.")
        data = os.path.join(self.work.name, "data")
        text = os.path.join(self.work.name, "runs.om")
        config = os.path.join(self.work.name, "prometheus.yml")
        with open(text, "w", encoding="utf-8") as file:
            file.write(open_metrics(runs))
        with open(config, "w", encoding="utf-8") as file:
            file.write("scrape_configs: []\n")
        made = subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", text, data],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            raise RuntimeError("promtool: " + made.stderr[-2000:])
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{s.getsockname()[1]}"
        self.log = open(os.path.join(self.work.name, "log"), "w+b")
        self.process = subprocess.Popen(
            ["prometheus", "--config.file", config, "--storage.tsdb.path", data, "--storage.tsdb.retention.time", FAR,
             "--web.listen-address", self.url[7:]], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def __enter__(self):
        end = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(self.url + "/-/ready", timeout=5):
                    return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.__exit__()
                    raise RuntimeError("prometheus does not start") from None
                time.sleep(0.05)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()
        self.work.cleanup()

    def range(self, query, seconds):
        """{(scenario, profile): seconds after the start at which the condition held}."""
        form = urllib.parse.urlencode({"query": query, "start": BASE_S, "end": BASE_S + seconds, "step": STEP_S})
        with urllib.request.urlopen(self.url + "/api/v1/query_range", form.encode(), timeout=60) as reply:
            answer = json.load(reply)
        return {(series["metric"]["scenario"], series["metric"]["profile"]): [at - BASE_S for at, _ in series["values"]]
                for series in answer["data"]["result"]}


def firings(held, wait, end):
    """
    When an alert with this `for` fires: (from, to) in seconds, each. What is after `end` is the look-back of a series that
    ended, and no rule is evaluated there.
    """
    out, since, last = [], None, None
    for at in (at for at in held if at <= end):
        if since is None or at - last > STEP_S + 1:
            since = at
            fires = False
        last = at
        if at - since >= wait:
            if not fires:
                out.append([at, at])
            fires = True
            out[-1][1] = at
    return [tuple(span) for span in out]


def evaluate(runs):
    """{str(run): {rule: {for: [(from, to) in ms of the guest's clock]}}}"""
    runs = [run for run in runs if scraped(run)]
    if not runs:
        return {}
    lengths = {(run.name, run.profile): scraped(run)[-1][0] for run in runs}
    out = {str(run): {} for run in runs}
    with Prometheus(runs) as prometheus:
        for name, _, query in RULES:
            held = prometheus.range(query, max(lengths.values()) + STEP_S)
            for run in runs:
                key = (run.name, run.profile)
                zero = run.rows[0]["at_ms"]
                out[str(run)][name] = {
                    wait: [(int(zero + start * 1000), int(zero + end * 1000))
                           for start, end in firings(held.get(key, []), wait, lengths[key])] for wait in FORS}
    return out


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    all_runs = rundir.runs(arguments[0])
    said = evaluate(all_runs)
    for run in all_runs:
        zero = run.meta.get("ready_ms") or 0
        for name, waits in said.get(str(run), {}).items():
            for wait, spans in waits.items():
                told = ", ".join(f"{(start - zero) / 60_000:.1f} to {(end - zero) / 60_000:.1f}" for start, end in spans) or "never"
                print(f"{run}: {name} for {wait} s: {told}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
