# SPDX-License-Identifier: Apache-2.0
"""
A collector and a fleet that tells a story, for browsers: tests and pictures look at the same one.

    with Scene(directory) as scene:
        scene.history()                     two hours of six jobs, told in seconds: the collector's clock is moved
        ...                                 and from then on each agent goes on sending

The collector is the real one and so is the wire; the agents are replayed. Figures are made, from no clock and no chance.
"""
import json
import math
import mmap
import os
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "integration"))
import kit  # noqa: E402
from kit import free_port, write  # noqa: E402
from wire_client import Client, Closed, epoch  # noqa: E402

MIB, GIB = 1 << 20, 1 << 30
PULSE_S = 2
PART = 30


class Collector(kit.Collector):
    """In a directory of its own. clock: its wall clock can be moved."""

    def __init__(self, work, *options, clock=False):
        self.work, self.offset, self.shift_s = work, None, 0
        super().__init__(os.path.join(work, "data"), "--cluster", "prod-eu", *options, env=self._clock() if clock else None)
        self.url = "http://127.0.0.1:%d" % self.port

    def _clock(self):
        """The environment of one whose clock is moved by a file."""
        shim, path = os.path.join(self.work, "clock.so"), os.path.join(self.work, "clock")
        source = os.path.join(os.path.dirname(__file__), "..", "integration", "clock_shim.c")
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", shim, source], check=True)
        with open(path, "wb") as file:
            file.write(bytes(8))
        with open(path, "r+b") as file:
            self.offset = mmap.mmap(file.fileno(), 8)
        return {"LD_PRELOAD": shim, "BANKFULL_CLOCK": path}

    def move_clock(self, seconds):
        self.shift_s = int(seconds)
        self.offset[:8] = struct.pack("=q", self.shift_s)

    def now_ms(self):
        return int((time.time() + self.shift_s) * 1000)

    def api(self, path, token=None, **more):
        status, _, text = self.ask("/api/v1" + path, token, **more)
        if status >= 300:
            raise AssertionError("%s: %d %s" % (path, status, text[:300]))
        return json.loads(text)


# --- one pod ---------------------------------------------------------------------------------------------------------

OWNERS = {"java-heap": 0.34, "metaspace": 0.035, "code-cache": 0.024, "thread-stacks": 0.008, "gc": 0.016, "jvm-other": 0.02,
          "direct-buffers": 0.1, "library-data": 0.004, "kernel-stacks": 0.0025, "page-tables": 0.0035,
          "slab-unreclaimable": 0.003, "sockets": 0.0015}
KERNEL = ("kernel-stacks", "page-tables", "slab-unreclaimable")


class Agent:
    """
    One replayed agent. owners: shares of the limit; grows: (owner, share an hour): what the story is about.
    token: of a collector that wants one. skew_s: by how much its clock is wrong.
    """

    def __init__(self, collector, pod, *, namespace="payments", workload="fraud-detection", role="taskmanager",
                 engine="flink 1.20.0", limit=4 * GIB, owners=None, grows=None, program="0.1.0", jdk="17.0.13+11",
                 node="node-17", jobs=("fraud-detection",), token=None, skew_s=0, forecast=None, budgets=True):
        self.collector, self.pod, self.namespace, self.workload, self.role = collector, pod, namespace, workload, role
        self.engine, self.limit, self.program, self.jdk, self.node, self.jobs = engine, limit, program, jdk, node, list(jobs)
        self.owners = {**OWNERS, **(owners or {})}
        self.grows, self.token, self.skew_s, self.forecast, self.budgets = grows, token, skew_s, forecast, budgets
        self.epoch, self.seq, self.acked, self.client = epoch(), 0, 0, None
        self.pid, self.urgent, self.silent, self.checkpointing, self.restarts = 8, False, False, False, 0
        self.lock = threading.Lock()

    def now_ms(self):
        return self.collector.now_ms() + self.skew_s * 1000

    def connect(self):
        """Also again: what was sent and not acked is not known to have arrived, and the welcome tells."""
        self.seq = self.acked
        self.client = Client(self.collector.port, token=self.token)
        subject = {"namespace": self.namespace, "workload": self.workload, "role": self.role, "pod": self.pod,
                   "pod_uid": "00000000-0000-4000-8000-%012x" % (hash_of(self.namespace + self.pod) & 0xffffffffffff), "node": self.node,
                   "container": "flink-main-container", "jobs": self.jobs, "labels": {"app": "x"}}
        subject = {key: value for key, value in subject.items() if value not in (None, [])}
        hello = {"type": "hello", "subject": subject, "program": self.program, "jdk": self.jdk, "engine": self.engine,
                 "mono_ms": 1 + self.seq, "wall_ms": self.now_ms(),
                 "epochs": [{"epoch": self.epoch, "first": self.seq + 1, "last": self.seq}]}
        self.client.send({key: value for key, value in hello.items() if value is not None})
        welcome = self.client.receive()
        if welcome["type"] != "welcome":
            raise AssertionError(welcome)
        for known in welcome.get("acked", []):
            if known["epoch"] == self.epoch:
                self.seq = self.acked = known["seq"]
        return self

    def put(self, message):
        """Sent, and not waited for."""
        self.seq += 1
        self.client.send({"epoch": self.epoch, "seq": self.seq, "mono_ms": self.seq * 1000, "wall_ms": self.now_ms(), **message})

    def settle(self):
        if self.acked < self.seq:
            self.acked = self.client.until_ack(self.epoch, self.seq)

    def say(self, message):
        with self.lock:
            self.put(message)
            self.settle()

    def figures(self, hours, wobble=0.0):
        owners = {owner: int(share * self.limit) for owner, share in self.owners.items()}
        if self.grows:
            owner, rate = self.grows
            owners[owner] = max(0, int((self.owners.get(owner, 0) + rate * hours) * self.limit))
        owners["java-heap"] = int(owners["java-heap"] * (1 + wobble))
        # The kernel takes page cache back as the rest comes near the limit.
        cache = max(4 * MIB, min(int(0.05 * self.limit), self.limit - sum(owners.values()) - 6 * MIB))
        return owners, cache

    def sample(self, hours=0.0, wobble=0.0, books=True):
        """hours: of the story, 0 is now and -2 its beginning."""
        owners, cache = self.figures(hours, wobble)
        kernel = sum(owners.get(owner, 0) for owner in KERNEL)
        sock = owners.get("sockets", 0)
        anon = sum(owners.values()) - kernel - sock
        floor, charge = anon + kernel + sock, anon + kernel + sock + cache
        sample = {"type": "sample", "interval_ms": 1000 if self.urgent else 10000, "pid": self.pid, "start_ticks": 123456,
                  "access": "full", "limit_bytes": self.limit, "charge_bytes": charge, "floor_bytes": floor,
                  "expected_bytes": int(charge * 1.03), "freeboard_bytes": self.limit - floor, "freeboard_level": "container",
                  "groups_bytes": {"anon": anon, "shmem": 0, "file": cache, "kernel": kernel, "sock": sock},
                  "derived": ["floor_bytes", "expected_bytes"], "events": {"high": 0, "max": 0, "oom": 0, "oom_kill": 0},
                  "some_avg10_bp": 12, "full_avg10_bp": 3, "refaults_file": 31007,
                  "composition": {"age_ms": 0, "owners_bytes": {**owners, "page-cache": cache}, "residual_bytes": 0,
                                  "derived": ["page-cache"], "inferred": ["native-other"] if "native-other" in owners else []},
                  "forecast": self.forecast or {"kind": "not-growing"},
                  "context": {"job_state": "running", "checkpointing": self.checkpointing, "backpressured_bp": 120, "busy_bp": 6300,
                              "restarts": self.restarts}}
        if self.urgent:
            sample["urgent"] = True
        if books and self.budgets:
            sample["composition"]["books"] = self.books(owners)
        return sample

    def books(self, owners):
        limit = self.limit
        rocks = [owner for owner in owners if owner.startswith("rocksdb")]
        books = {"bounds_bytes": {"java-heap": int(limit * 0.39), "metaspace": 256 * MIB, "code-cache": 240 * MIB,
                                  "direct-buffers": int(limit * 0.125)},
                 "claims_bytes": {"metaspace": owners["metaspace"], "code-cache": owners["code-cache"]},
                 "unread": ["managed-unsafe"], "legal_bytes": int(limit * 1.03),
                 "budgets": [{"budget": "heap", "bytes": int(limit * 0.39), "used_bytes": owners["java-heap"], "owners": ["java-heap"]},
                             {"budget": "direct", "bytes": int(limit * 0.125), "used_bytes": owners["direct-buffers"],
                              "owners": ["direct-buffers"]},
                             {"budget": "metaspace", "bytes": 256 * MIB, "used_bytes": owners["metaspace"], "owners": ["metaspace"]}]}
        if rocks:
            books["claims_bytes"]["rocksdb-block-cache"] = int(owners.get("rocksdb-block-cache", 0) * 1.05)
            books["budgets"].append({"budget": "managed", "bytes": int(limit * 0.3), "used_bytes": sum(owners[o] for o in rocks),
                                     "owners": rocks, "inferred": ["used_bytes"]})
        return books

    def finding(self, rule, title, severity="warning", edge="opened", owner=None, ago_s=0, **body):
        """The state of the one finding of this rule here."""
        message = {"type": "finding", "id": "%s/%d-123456/1" % (rule, self.pid), "edge": edge, "rule": rule, "severity": severity,
                   "title": title, "opened_ms": self.now_ms() - ago_s * 1000,
                   "finding": {"rule": rule, "severity": severity, "title": title, "owner": owner, **body}}
        if owner:
            message["owner"] = owner
        if edge == "cleared":
            del message["finding"]
        self.say(message)

    def death(self, title, timeline, cause="container-limit", owner="rocksdb-block-cache", **body):
        """A post-mortem: the verdict, then the last minutes in parts that a frame (64 KiB) holds."""
        parts = [timeline[i:i + PART] for i in range(0, len(timeline), PART)]
        head = {"type": "postmortem", "id": "death/%d-123456" % self.pid, "parts": 1 + len(parts)}
        with self.lock:
            self.put({**head, "part": 0, "cause": cause, "owner": owner, "pid": self.pid, "died_ms": self.now_ms() - 1000,
                      "title": title, "body": body})
            for n, part in enumerate(parts):
                self.put({**head, "part": 1 + n, "body": {"timeline": part}})
            self.settle()

    def without_process(self):
        """The watched process is gone."""
        self.say({"type": "sample", "interval_ms": 10000, "access": "full"})
        self.silent = True

    def close(self, bye=False):
        with self.lock:
            self.silent = True
            if bye:
                self.client.send({"type": "bye", "reason": "SIGTERM"})
            self.client.close()


def breath(step, n):
    """A heap's, as a share of it."""
    return 0.03 * math.sin(step / 3.7 + n) + 0.015 * math.sin(step * 1.9 + 2 * n)


def hash_of(text):
    """Of Python's own each run has another one."""
    value = 14695981039346656037
    for byte in text.encode(errors="surrogatepass"):
        value = ((value ^ byte) * 1099511628211) & (2 ** 64 - 1)
    return value


# --- the story -------------------------------------------------------------------------------------------------------

ROCKS = {"rocksdb-block-cache": 0.2, "rocksdb-memtables": 0.05, "rocksdb-table-readers": 0.006, "native-other": 0.02,
         "allocator-retained": 0.02}
STREAMS = {"rocksdb-block-cache": 0.16, "rocksdb-memtables": 0.1, "native-other": 0.04}


class Scene:
    """The collector, its agents, and a thread that lets them go on speaking."""

    def __init__(self, work, *options, tokens=None):
        """tokens: lines for --agent-tokens are not needed on loopback; those of viewers are."""
        self.work = work
        extra = list(options)
        if tokens:
            extra += ["--viewer-tokens", write(os.path.join(work, "viewers"), tokens)]
        if "--config" not in extra:
            extra += ["--config", write(os.path.join(work, "collector.yaml"), CONFIG % free_port())]
        self.collector = Collector(work, *extra, clock=True)
        self.agents, self.ended = [], threading.Event()
        self.thread = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        if self.thread:
            self.thread.join()
        for agent in self.agents:
            if agent.client:
                agent.client.close()
        self.collector.stop()

    def add(self, pod, **more):
        self.agents.append(Agent(self.collector, pod, **more))
        return self.agents[-1]

    def named(self, pod):
        return next(agent for agent in self.agents if agent.pod == pod)

    def cast(self):
        for n in range(1, 5):
            self.add("fraud-detection-taskmanager-2-%d" % n, owners=ROCKS, node="node-1%d" % n, program="0.1.0" if n < 4 else "0.0.9")
        worst = self.named("fraud-detection-taskmanager-2-2")
        worst.grows = ("rocksdb-block-cache", 0.112)
        worst.owners = {**worst.owners, "rocksdb-block-cache": 0.31}
        worst.urgent = True
        worst.forecast = {"kind": "reaches", "earliest_s": 1020, "likely_s": 1440, "latest_s": 2760, "owner": "rocksdb-block-cache"}
        self.add("fraud-detection-7d9f6c4b58-x2x7p", role="jobmanager", limit=1600 * MIB, owners={"java-heap": 0.4}, node="node-11")
        for n in range(3):
            self.add("clickstream-sessions-%d" % n, namespace="analytics", workload="clickstream-sessions", role="streams",
                     engine="kafka-streams 4.1.0", limit=2 * GIB, jdk="21.0.5+11", owners={**STREAMS, "rocksdb-block-cache": 0.16 + 0.1 * (n == 1)},
                     jobs=("clickstream-sessions",), node="node-2%d" % n, program="0.1.0" if n else "0.1.0-rc2")
        self.named("clickstream-sessions-0").forecast = {"kind": "reaches", "earliest_s": 16000, "likely_s": 39600, "latest_s": 86000,
                                                         "owner": "native-other"}
        self.named("clickstream-sessions-0").grows = ("native-other", 0.011)
        self.named("clickstream-sessions-2").forecast = {"kind": "inconclusive"}
        for n in range(2):
            self.add("session-export-taskmanager-1-%d" % (n + 1), namespace="analytics", workload="session-export", engine="flink 2.0.1",
                     owners={"java-heap": 0.2, "managed-unsafe": 0.25}, jobs=("session-export",), node="node-31")
        self.add("pricing-cache-0", namespace="payments", workload="pricing-cache", role="jvm", engine="jvm", jobs=(), limit=GIB,
                 owners={"java-heap": 0.5}, forecast={"kind": "decelerating"}, node="node-12")
        self.add("search-indexer-taskmanager-1-1", namespace="search", workload="search-indexer", owners=ROCKS, jobs=("search-indexer",), node="node-44")

    def history(self, hours=2.0, step_s=60):
        """From `hours` ago to now, each agent a sample a step. The clock of the collector runs with it."""
        collector = self.collector
        collector.stop()
        collector.move_clock(-hours * 3600)
        collector.start()
        self.cast()
        before = self.add("fraud-detection-taskmanager-1-2", owners={**ROCKS, "rocksdb-block-cache": 0.385},
                          grows=("rocksdb-block-cache", 0.1), node="node-12")
        for agent in self.agents:
            agent.connect()
        steps = int(hours * 3600 / step_s)
        for step in range(steps + 1):
            at = -hours + step * step_s / 3600
            collector.move_clock(at * 3600)
            self.play(step, steps, at, before)
        collector.move_clock(0)
        self.agents.remove(before)
        self.findings()
        self.thread = threading.Thread(target=self.pulse, daemon=True)
        self.thread.start()
        return self

    def play(self, step, steps, at, before):
        for n, agent in enumerate(self.agents):
            if agent.silent:
                continue
            agent.checkpointing = step % 10 == n % 10
            if agent.pod == "fraud-detection-taskmanager-2-3" and step == steps // 2:
                agent.restarts += 1
            if agent.pod == "clickstream-sessions-1":
                agent.limit = 2 * GIB if step > steps * 3 // 5 else 1792 * MIB
            if agent.pod.endswith("2-1") and steps // 3 < step < steps // 3 + 12:
                continue  # a gap
            if agent.pod == "clickstream-sessions-2" and step > steps - 4:
                continue  # connected, and silent
            agent.put(agent.sample(at, wobble=breath(step, n)))
        for agent in self.agents:
            if not agent.silent:
                agent.settle()
        if before in self.agents and not before.silent and step == steps * 2 // 3:
            self.die(before, at)

    def die(self, agent, at):
        timeline = []
        for n in range(90):
            sample = agent.sample(at - (90 - n) / 360, books=False)
            sample.update(epoch=agent.epoch, seq=10000 + n, mono_ms=n, wall_ms=agent.now_ms() - (90 - n) * 10000)
            timeline.append({key: sample[key] for key in ("wall_ms", "limit_bytes", "charge_bytes", "floor_bytes", "freeboard_bytes",
                                                          "groups_bytes", "composition")})
        now, then = timeline[-1], timeline[0]
        owners = [{"owner": o, "from_bytes": then["composition"]["owners_bytes"][o], "to_bytes": now["composition"]["owners_bytes"][o],
                   "grown_bytes": now["composition"]["owners_bytes"][o] - then["composition"]["owners_bytes"][o]}
                  for o in ("rocksdb-block-cache", "java-heap", "direct-buffers")]
        agent.death("killed at its own limit of 4 GiB; rocksdb-block-cache grew most", timeline,
                    why="oom and oom_kill of the container rose together with the end of the process", confidence_pct=99, deaths=3,
                    deaths_same_owner=3, limit_bytes=agent.limit, charge_bytes=agent.limit - 8 * MIB, floor_bytes=agent.limit - 40 * MIB,
                    peak_floor_bytes=agent.limit - 40 * MIB, survivable_limit_bytes=int(agent.limit * 1.11), spike_bytes=90 * MIB,
                    last_seen_ms=700, host_available_bytes=41 * GIB, host_memory_bytes=128 * GIB, node_psi_full_avg10_bp=4, exit_status=None,
                    events={"before": {"high": 0, "max": 12, "oom": 0, "oom_kill": 0, "oom_group_kill": 0},
                            "after": {"high": 0, "max": 311, "oom": 1, "oom_kill": 1, "oom_group_kill": 0}},
                    growth={"from": date(timeline[0]["wall_ms"]), "to": date(now["wall_ms"]), "owners": owners, "groups": []},
                    composition={"age_ms": 900, "lines": [{"owner": o, "bytes": n, "state": "measured"}
                                                          for o, n in now["composition"]["owners_bytes"].items()], "residual_bytes": 0},
                    findings=[{"rule": "rocksdb-over-budget", "severity": "critical", "title": "RocksDB holds 1.49 GiB of 1.2 GiB of managed memory",
                               "opened": date(agent.now_ms() - 2400000)}],
                    forecast={"kind": "reaches", "earliest_s": 40, "likely_s": 60, "latest_s": 130, "owner": "rocksdb-block-cache"},
                    context={"job_state": "running", "checkpointing": True, "backpressured_bp": 120, "busy_bp": 6300, "restarts": 2},
                    changed=[{"what": "state.backend.rocksdb.memory.managed", "before": "true", "now": "false"}],
                    deep={"taken": date(agent.now_ms() - 30000), "mappings_age_ms": 4100, "mappings_total": 1873, "threads_total": 141,
                          "mappings": [{"resident_bytes": 1610612736, "size_bytes": 2147483648, "kind": "anonymous", "name": "[heap]"},
                                       {"resident_bytes": 67108864, "size_bytes": 67108864, "kind": "anonymous", "name": None},
                                       {"resident_bytes": 14680064, "size_bytes": 15728640, "kind": "file", "name": "libjvm.so"}],
                          "threads": [{"name": "rocksdb:low", "count": 48}, {"name": "flink-io-threa#", "count": 32}],
                          "threads_of_other_names": 61},
                    life={"image": "flink:1.20.0-java17", "engine": "flink 1.20.0", "jdk": "17.0.13+11", "kernel": "6.1.0-28-amd64", "thp": "madvise",
                          "jobs": ["fraud-detection"]})
        agent.close(bye=True)

    def findings(self):
        worst = self.named("fraud-detection-taskmanager-2-2")
        worst.finding("rocksdb-over-budget", "RocksDB holds 1.46 GiB of 1.2 GiB of managed memory", "critical", owner="rocksdb-block-cache",
                      ago_s=2100, observation="The block caches hold 1.24 GiB and the memtables 204.8 MiB, resident; managed memory set 1.2 GiB aside.",
                      excess_bytes=271 * MIB, competing_causes=["Iterators pin blocks: pinned usage would rise with them.",
                                                                "A strict capacity limit would show as failed inserts."],
                      effective_settings=[{"key": "state.backend.rocksdb.memory.managed", "value": "false", "where": "config.yaml:12"},
                                          {"key": "taskmanager.memory.managed.fraction", "value": "0.4", "where": "default"}],
                      change="Set state.backend.rocksdb.memory.managed to true, and restart the job from a savepoint.", change_when="now",
                      validate=["The block caches stay below 1.2 GiB over three checkpoints.", "After a failure and restore the floor returns to the same level."],
                      evidence={"rocksdb_bytes": 1499 * MIB, "managed_bytes": 1228 * MIB, "pinned_bp": 812}, missing=["http/metrics: block-cache-pinned-usage"])
        worst.finding("limit-forecast", "the limit is reached in 24 min: rocksdb-block-cache grows by 7.5 MiB a minute", "critical", owner="rocksdb-block-cache",
                      ago_s=1200, observation="The floor rose for 41 minutes; at this pace it meets the limit in 17 to 46 minutes.",
                      change_when="with-root", root="rocksdb-over-budget", evidence={"slope_bytes_per_s": 131072, "likely_s": 1440})
        self.named("clickstream-sessions-1").finding("rocksdb-unbounded", "48 stores have a block cache and memtables of their own, and no bound in sum", "warning",
                                                     owner="rocksdb-memtables", ago_s=7000, observation="Each store may take 98 MiB; 48 of them are more than the limit.",
                                                     change="Set one RocksDBConfigSetter with a shared cache and write buffer manager of 512 MiB.", change_when="now",
                                                     evidence={"stores": 48, "bound_bytes": 4704 * MIB})
        for n in (0, 2):
            self.named("clickstream-sessions-%d" % n).finding("rocksdb-unbounded", "48 stores have a block cache and memtables of their own, and no bound in sum",
                                                              "warning", owner="rocksdb-memtables", ago_s=6900, observation="Each store may take 98 MiB.",
                                                              change="Set one RocksDBConfigSetter with a shared cache.", change_when="now")
        self.named("session-export-taskmanager-1-1").finding("managed-idle", "1.6 GiB of managed memory were not used in 2 h", "notice", owner=None, ago_s=3000,
                                                             observation="No batch operator took managed memory.", change="Lower taskmanager.memory.managed.fraction to 0.1.",
                                                             change_when="later")
        old = self.named("pricing-cache-0")
        old.finding("metaspace-growth", "metaspace grows by 3 MiB an hour", "warning", owner="metaspace", ago_s=6000, observation="Class loaders stay.")
        old.finding("metaspace-growth", "metaspace grows by 3 MiB an hour", "warning", edge="cleared", owner="metaspace", ago_s=6000)
        stale = self.named("clickstream-sessions-2")
        stale.silent = True
        self.named("search-indexer-taskmanager-1-1").close(bye=True)

    def silences(self, token=None):
        """One of each kind, and one that has ended."""
        api, now = self.collector.api, self.collector.now_ms()
        made = [api("/silences", token, method="POST", body=body) for body in (
            {"kind": "silence", "matchers": {"namespace": "analytics", "workload": "session-*"}, "reason": "the export is being resized, see OPS-411",
             "until_ms": now + 4 * 3600000},
            {"kind": "acknowledgement", "matchers": {"namespace": "analytics", "workload": "clickstream-sessions", "rule": "rocksdb-unbounded"},
             "reason": "the config setter is in review"},
            {"kind": "silence", "matchers": {"pod": "pricing-cache-0"}, "reason": "known since the upgrade", "until_ms": now + 3600000})]
        api("/silences/" + made[-1]["id"], token, method="DELETE")

    def pulse(self):
        """As agents do: a sample now and then, acks read."""
        step = 0
        while not self.ended.wait(PULSE_S):
            step += 1
            for n, agent in enumerate(self.agents):
                if agent.silent or not agent.client:
                    continue
                try:
                    agent.say(agent.sample(step * PULSE_S / 3600, wobble=breath(step, n), books=False))
                except (OSError, Closed):  # the collector went away, perhaps for a moment
                    try:
                        with agent.lock:
                            agent.connect()
                    except (OSError, Closed):
                        pass


CONFIG = """alerts:
  receivers:
    - {name: oncall, type: webhook, url: 'http://127.0.0.1:%d/hook', timeout: 1s}
  group-wait: 0s
"""


def date(ms):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms // 1000)) + ".%03dZ" % (ms % 1000)
