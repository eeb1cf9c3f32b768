# SPDX-License-Identifier: Apache-2.0
"""
Runs of the lab that never were: complete directories as tests/e2e/lab/rundir.py reads them, so that each judgement can be
shown to pass, and, with one thing changed, to fail.
"""
import json
import os

MIB = 1 << 20
T0 = 1_767_225_600_000  # start of the guest
READY = T0 + 20_000
LIMIT = 512 * MIB
RATE = 10.0             # per cent of the limit a minute
PID = 7

BASE = {"java-heap": 120 * MIB, "metaspace": 20 * MIB, "native-other": 40 * MIB, "page-cache": 60 * MIB, "slab-reclaimable": 4 * MIB,
        "kernel-stacks": 2 * MIB, "sockets": MIB}
GROUP_OF = {"java-heap": "anon", "metaspace": "anon", "native-other": "anon", "page-cache": "file", "slab-reclaimable": "kernel",
            "kernel-stacks": "kernel", "sockets": "sock"}

WARN = """
title = "native memory leaks"
kind = "warn"
machine = "uml"
limit = "512M"
minutes = 12
profiles = ["as-found", "instrumented"]
[workload]
engine = "probe"
[truth]
owner = "native-other"
group = "native"
grows_percent_per_minute = 10.0
owner_bytes = ["malloc.in_use"]
[[expect]]
rule = "limit-forecast"
owner = "native-other"
severity = "warning"
before = "kill"
[expect_death]
cause = "container-limit"
owner = "native-other"
killed = "main"
"""

SILENT = """
title = "a pod at rest"
kind = "silent"
machine = "uml"
limit = "512M"
minutes = 6
profiles = ["as-found", "instrumented"]
[workload]
engine = "probe"
"""


def grown(seconds):
    return int(LIMIT * RATE / 100 / 60 * max(0, seconds - 20)) // 4096 * 4096


def first_body(**other):
    return {"cause": "container-limit", "limit_bytes": LIMIT, "confidence_pct": 99, "deep": {}, "deaths_same_owner": 1,
            "events": {"before": {"max": 0, "oom": 0, "oom_kill": 0}, "after": {"max": 90, "oom": 1, "oom_kill": 2}}, **other}


class Made:
    """One run, as data; `write` makes the directory. Tests change what they like before that."""

    def __init__(self, called="leak", profile="instrumented", leaks=True, seconds=None):
        self.leaks = leaks
        self.scenario = WARN if leaks else SILENT
        room = LIMIT - sum(size for owner, size in BASE.items() if owner not in ("page-cache", "slab-reclaimable"))
        kill_s = 20 + int(room / (LIMIT * RATE / 100 / 60))
        self.seconds = seconds or (kill_s if leaks else 300)
        self.kill = T0 + self.seconds * 1000 if leaks else None
        end = T0 + self.seconds * 1000
        self.meta = {"scenario": called, "profile": profile, "machine": "uml", "kernel": "6.1", "cpus": 1, "limit_bytes": LIMIT,
                     "started_ms": T0, "ready_ms": READY, "ended_ms": end, "end": "kill" if leaks else "time",
                     "kill_ms": self.kill, "first_max_ms": None, "actions": [], "main_pids": [PID], "error": None}
        self.findings, self.polls, self.postmortems, self.printed, self.log = [], None, [], [], []
        self.points, self.pages = [], []
        self.truths = [{"at_ms": T0 + 1000 * s, "malloc": {"in_use": BASE["native-other"] + self.more(s)}}
                       for s in [*range(20, self.seconds, 30), self.seconds]]
        self.rows = [self.row(s) for s in range(self.seconds + 1)]
        for s in range(30, self.seconds, 30):
            self.points.append(self.point(s))
        for s in range(15, self.seconds, 15):
            self.pages.append(self.page(s))
        if leaks:
            self.findings.append(self.finding("limit-forecast", "critical", "native-other", 80))
            self.postmortems.append(self.death())

    def more(self, s):
        return grown(s) if self.leaks else 0

    def owners(self, s):
        owners = dict(BASE)
        owners["native-other"] += self.more(s)
        owners["page-cache"] = min(owners["page-cache"], max(0, LIMIT - sum(owners.values()) + owners["page-cache"]))
        return owners

    def row(self, s):
        owners = self.owners(s)
        anon = owners["java-heap"] + owners["metaspace"] + owners["native-other"]
        file, kernel = owners["page-cache"], owners["slab-reclaimable"] + owners["kernel-stacks"]
        late = self.leaks and s >= self.seconds - 8
        return {"at_ms": T0 + s * 1000, "current": anon + file + kernel + owners["sockets"], "anon": anon, "file": file, "shmem": 0,
                "inactive_anon": anon, "active_anon": 0, "inactive_file": file // 2, "active_file": file - file // 2,
                "unevictable": 0, "file_mapped": 10 * MIB, "kernel": kernel, "sock": owners["sockets"],
                "slab_reclaimable": owners["slab-reclaimable"], "slab_unreclaimable": 0,
                "refault_file": 500 * (s - self.seconds + 9) if late else 0, "max": 0, "oom": 0, "oom_kill": 0, "high": 0,
                "some_avg10": 0.0, "full_avg10": 0.0, "limit": LIMIT}

    def point(self, s):
        row = self.row(s)
        return {"received_ms": row["at_ms"] + 5, "taken_ms": row["at_ms"], "samples": 1, "limit_bytes": LIMIT,
                "charge_bytes": row["current"], "floor_bytes": None, "owners": self.owners(s),
                "groups": {"anon": row["anon"], "shmem": 0, "file": row["file"], "kernel": row["kernel"], "sock": row["sock"],
                           "hugetlb": None}}

    def page(self, s):
        scan = max(30, s // 30 * 30)
        owners = self.owners(scan)
        left = (self.seconds - s) if self.leaks else None
        return {"at_ms": T0 + s * 1000, "targets": 1, "charge": self.row(s)["current"], "owners": owners, "residual": 0, "forecast": left if left and s > 60 else None,
                "open": [("limit-forecast", "warning" if s < 200 else "critical")] if self.leaks and s >= 80 else []}

    def finding(self, rule, severity, owner, opened_s, cleared_s=None):
        return {"id": f"a~{rule}", "rule": rule, "severity": severity, "state": "cleared" if cleared_s else "updated", "owner": owner,
                "title": f"{rule} by {owner}", "opened_ms": T0 + opened_s * 1000, "updated_ms": T0 + (cleared_s or self.seconds - 2) * 1000,
                "cleared_ms": T0 + cleared_s * 1000 if cleared_s else None, "updates": 3}

    def death(self):
        died = T0 + self.seconds * 1000 + 40
        return {"id": "d1", "cause": "container-limit", "owner": "native-other", "pid": PID, "title": "killed at its own limit",
                "died_ms": died, "received_ms": died + 10, "parts": 2, "parts_here": 2, "whole": True, "inferred": False,
                "bodies": [first_body(), {"timeline": [{"wall_ms": died - 1500}, {"wall_ms": died - 500}]}]}

    def page_text(self, page):
        lines = [f"# at_ms {page['at_ms']}", "# TYPE bankfull_limit_bytes gauge", f"bankfull_limit_bytes {LIMIT}", f"bankfull_charge_bytes {page['charge']}",
                 f"bankfull_target_up {page.get('up', 1)}", f"bankfull_agent_wakes_total {page.get('wakes', 0)}",
                 f"bankfull_agent_ticks_total {(page['at_ms'] - T0) // 5000}", f"bankfull_agent_targets_total {page['targets']}", f"bankfull_residual_bytes {page['residual']}"]
        lines += [f'bankfull_owner_resident_bytes{{owner="{owner}",group="{GROUP_OF.get(owner, "anon")}"}} {size}'
                  for owner, size in page["owners"].items()]
        if page["forecast"] is not None:
            lines.append(f'bankfull_forecast_seconds{{bound="likely"}} {page["forecast"]}')
        lines += [f'bankfull_finding_open{{rule="{rule}",severity="{severity}"}} 1' for rule, severity in page["open"]]
        return "\n".join(lines) + "\n"

    def write(self, out):
        where = os.path.join(out, f"{self.meta['scenario']}.{self.meta['profile']}")
        os.makedirs(where)

        def put(name, text):
            with open(os.path.join(where, name), "w", encoding="utf-8") as file:
                file.write(text)

        def put_lines(name, rows):
            put(name, "".join(json.dumps(row) + "\n" for row in rows))
        put("run.json", json.dumps(self.meta))
        put("scenario.toml", self.scenario)
        put("metrics.prom", "".join(map(self.page_text, self.pages)))
        put("findings.json", json.dumps({"items": self.findings, "next": None}))
        put("postmortems.json", json.dumps({"items": self.postmortems, "next": None}))
        put("samples.json", json.dumps({"pod": "p", "points": self.points, "next_ms": None}))
        put_lines("cgroup.jsonl", self.rows)
        put_lines("truth.jsonl", self.truths)
        put_lines("agent.out", self.printed)
        put_lines("agent.log", self.log)
        if self.polls is not None:
            put_lines("findings.jsonl", self.polls)
        return where
