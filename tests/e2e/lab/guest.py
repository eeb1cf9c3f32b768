#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One run of one scenario in one profile: a node with one pod, an engine, the agent beside it, a collector elsewhere.

usage: guest.py SCENARIO PROFILE BUILD_DIR, as root inside tests/e2e/lab/run, which leaves /out on the host.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import threading
import time
import traceback

import actions
from collector import TOKEN, Collector
from pod import HERE, Pod, name_user, read, write
from recorder import Recorder, now_ms
from scenario import Scenario, size_bytes

WORK = "/var/lab/run"
PAGE = "http://127.0.0.1:9482/metrics"
TRUTH_EVERY_S = 30
RUN = os.path.join(HERE, "../../workloads/run")
# Without what an operator would have had to switch on.
BARE = {"flink": ["--metrics", "0"], "streams": ["--exporter", "none"], "probe": []}
# Asked of everybody who wants to know more: the flag and the metrics of `docs/agent.md`.
FULL = {"flink": ["--nmt", "summary"], "streams": ["--nmt", "summary", "--exporter", "jmx"], "probe": ["--nmt", "summary"]}
# What starts the main container's process. Each container of the pod has its own cgroup, so it waits for the next one.
ENTER = """#!/bin/bash
until mv {work}/main.next {work}/main.this 2>/dev/null; do sleep 0.1; done
exec {command} "$(<{work}/main.this)" "$@"
"""


def oom_adj(request):
    """What kubelet gives a container of a burstable pod (pkg/kubelet/qos/policy.go): who asked for little goes first."""
    with open("/proc/meminfo", encoding="ascii") as f:
        total = int(f.readline().split()[1]) << 10
    return min(999, max(3, 1000 - 1000 * size_bytes(request) // total))


class Run:
    def __init__(self, scenario, profile, build, out):
        self.scenario, self.profile, self.out = scenario, profile, out
        self.dir = f"{WORK}/engine"
        for at in (WORK, self.dir, f"{WORK}/state"):
            os.makedirs(at)
            os.chmod(at, 0o777)
        # The shipped binary as the image has it: root's, and readable by nobody.
        self.programs = {}
        for name, mode in (("bankfull", 0o711), ("bankfull-collector", 0o755)):
            self.programs[name] = shutil.copy(f"{build}/{name}", f"{WORK}/{name}")
            os.chmod(self.programs[name], mode)
        self.token = f"{WORK}/token"
        with open(self.token, "w", encoding="ascii") as f:
            f.write(TOKEN)
        shutil.chown(self.token, 9999, 9999)
        os.chmod(self.token, 0o400)
        self.logs = {name: open(f"{out}/{name}", "wb") for name in ("agent.log", "agent.out", "collector.log", "workload.log", "other.log")}
        self.summary = {"scenario": scenario.name, "profile": profile, "machine": os.environ.get("LAB_MACHINE", "native"),
                        "kernel": platform.release(), "cpus": os.cpu_count(), "started_ms": now_ms(), "actions": [], "main_pids": [],
                        "error": None, "end": "failed", "ready_ms": None, "ended_ms": None, "kill_ms": None, "first_max_ms": None, "limit_bytes": None}
        self.pending = []
        self.pod = self.collector = self.recorder = self.workload = self.agent = None
        self.others, self.acting = [], []
        self.over = threading.Event()
        self.restarts = scenario.get("restart", "never") == "always"

    # ---- the parts ----

    def start_workload(self):
        workload, profile = self.scenario.get("workload"), self.profile
        engine = workload["engine"]
        enter = f"{WORK}/enter-main"
        extra = {"TMPFS": self.scenario.get("tmpfs")} if self.scenario.get("tmpfs") else {}
        if self.scenario.get("request"):
            extra["OOM_ADJ"] = oom_adj(self.scenario.get("request"))
        with open(enter, "w", encoding="ascii") as f:
            f.write(ENTER.format(work=WORK, command=" ".join(self.pod.enter("", **extra)[:-1])))
        os.chmod(enter, 0o755)
        self.offer_main()
        command = [RUN, engine, "--dir", self.dir, "--seconds", str(7 * 86400), "--enter", enter, "--lean", "1"]
        jdk = self.scenario.get("jdk", 17)
        if os.environ.get(f"JDK{jdk}"):
            command += ["--java-home", os.environ[f"JDK{jdk}"]]
        command += FULL[engine] if profile == "instrumented" else BARE[engine]
        for option in self.scenario.options(profile, "jvm"):
            command += ["--jvm-opt", option]
        if self.restarts:
            command += ["--restart", "always"]
        command += self.scenario.options(profile, "options")
        environment = {**os.environ, "PATIENCE": "10", **self.scenario.get("env", {})}
        # The user of the containers writes what the engine leaves.
        self.workload = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.logs["workload.log"],
                                         env=environment, umask=0)

    def offer_main(self):
        write(f"{WORK}/main.new", self.pod.main)
        os.rename(f"{WORK}/main.new", f"{WORK}/main.next")

    def await_ready(self):
        for line in self.workload.stdout:
            self.logs["workload.log"].write(line)
            if line.startswith(b"READY"):
                threading.Thread(target=self.drain, daemon=True).start()
                return
        raise RuntimeError("the workload did not get ready; see workload.log")

    def drain(self):
        for line in self.workload.stdout:
            self.logs["workload.log"].write(line)

    def main_pid(self):
        """As its pod numbers it: what the JVM says of itself."""
        with open(f"{self.dir}/truth.jsonl", encoding="utf-8") as f:
            return json.loads(f.readlines()[-1])["pid"]

    def start_agent(self):
        options = ["--collector", self.collector.url, "--ca-file", self.collector.cert, "--token-file", self.token,
                    "--state-dir", f"{WORK}/state", "--listen", "127.0.0.1:9482",
                   "--namespace", "lab", "--workload", self.scenario.name, "--pod", f"{self.scenario.name}-0", "--pod-uid", "0b5a11f0",
                   "--node", "lab", "--container", "main", *self.scenario.get("agent", [])]
        if self.scenario.get("workload")["engine"] == "probe":
            options += ["--pid", str(self.main_pid())]
        if self.scenario.get("pod_limit") and self.scenario.get("pod_limit_told", True):
            options += ["--pod-limit", self.scenario.get("pod_limit")]
        extra = {"OOM_ADJ": oom_adj("16M")} if self.scenario.get("request") else {}
        self.agent = subprocess.Popen([*self.pod.enter(self.pod.side, READ_ONLY=1, WRITABLE=f"{WORK}/state", **extra), self.programs["bankfull"], "agent", *options],
                                      stdin=subprocess.DEVNULL, stdout=self.logs["agent.out"], stderr=self.logs["agent.log"],
                                      env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"})

    def ask_truth(self):
        while not self.over.wait(TRUTH_EVERY_S):
            if not os.path.exists(f"{self.dir}/ask"):
                write(f"{self.dir}/ask.new", "sample")
                os.rename(f"{self.dir}/ask.new", f"{self.dir}/ask")

    # ---- the course of it ----

    def begin(self):
        name_user()
        get = self.scenario.get
        if get("thp"):
            write("/sys/kernel/mm/transparent_hugepage/enabled", get("thp"))
        if get("request"):
            write("/proc/self/oom_score_adj", -999)  # what the node runs is not what its kernel kills first
        self.pod = Pod(get("limit"), get("memory_high", "max"), get("pod_limit", "max"), get("swap", "0"), oom_group=get("oom_group", True))
        with open(f"{self.pod.main}/memory.max", encoding="ascii") as f:
            text = f.read().strip()
            self.summary["limit_bytes"] = None if text == "max" else int(text)
        self.collector = Collector(self.programs["bankfull-collector"], WORK, self.logs["collector.log"])
        self.recorder = Recorder(self.pod, self.collector, self.out, PAGE)
        found_by_itself = get("workload")["engine"] != "probe"
        if found_by_itself:
            self.start_agent()
        self.start_workload()
        self.await_ready()
        self.summary["ready_ms"] = now_ms()
        self.summary["main_pids"].append(self.main_pid())
        if not found_by_itself:
            self.start_agent()
        threading.Thread(target=self.ask_truth, daemon=True).start()
        self.say("ready")

    def course(self):
        """Until the time is over or the container is killed for good; what is to happen meanwhile happens when it is due."""
        start = self.course_start = time.monotonic()
        end = start + self.scenario.minutes() * 60
        self.pending = list(self.scenario.get("action", []))
        while True:
            if self.recorder.killed.wait(max(0, min(self.next_look(start), end) - time.monotonic())):
                self.recorder.killed.clear()
                self.say("the kernel killed")
                if self.restarts and self.recorder.kills < self.scenario.get("kills", 99):
                    self.replace_main()
                elif self.restarts or self.is_over():
                    return "kill"
            elif self.workload.poll() is not None:
                return "exit"
            elif time.monotonic() >= end:
                return "time"
            if self.restarts:
                self.note_main()
            self.act(start)

    def next_look(self, start):
        """Memory is looked at each second, the workload each five; what has a time is done at that time."""
        now = time.monotonic()
        looks = [now + 1 if "at_anon" in action or "at_charge" in action else start + action["at_s"] for action in self.pending if "after_kill_s" not in action]
        return min([now + 5, *looks])

    def act(self, start):
        now = time.monotonic()
        for action in list(self.pending):
            if "at_charge" in action:
                due = self.pod.charge() >= size_bytes(action["at_charge"])
            elif "at_anon" in action:
                due = self.pod.anon() >= size_bytes(action["at_anon"])
            elif "after_kill_s" in action:
                due = self.recorder.killed_at is not None and now >= self.recorder.killed_at + action["after_kill_s"]
            else:
                due = now >= start + action["at_s"]
            if due:
                self.pending.remove(action)
                steps = action["do"] if isinstance(action["do"], list) else [action["do"]]
                self.acting.append(threading.Thread(target=self.take_steps, args=(steps,), daemon=True))
                self.acting[-1].start()

    def take_steps(self, steps):
        for step in steps:
            if step.startswith("wait "):
                time.sleep(float(step[5:]))
                continue
            self.say(step)
            self.summary["actions"].append({"at_ms": now_ms(), "do": step})
            actions.do(self, step)

    def is_over(self):
        """The kernel may have killed another process of the container than the one that `run` started."""
        try:
            self.workload.wait(5)
            return True
        except subprocess.TimeoutExpired:
            return False

    def note_main(self):
        try:
            pid = self.main_pid()
        except (OSError, ValueError, IndexError):
            return  # it is being written
        if pid not in self.summary["main_pids"]:
            self.summary["main_pids"].append(pid)

    def replace_main(self):
        """What kubelet does after a container's death: another container, in which `run` starts the process again."""
        time.sleep(1)
        self.pod.restart_main()
        self.offer_main()

    def after_death(self):
        """The post-mortem reaches the collector, or the time for it is over; and then what should not come as well."""
        until = time.monotonic() + self.scenario.get("after_death_s", 120)
        while time.monotonic() < until and (self.still_to_come() or not self.collector.all("postmortems")):
            time.sleep(1)
            self.act(self.course_start)
        if not self.restarts and not self.pending and not read(f"{self.pod.main}/cgroup.procs"):
            self.summary.update(removed=self.pod.remove(self.pod.main), removed_ms=now_ms())
        # A collector that infers one waits for 90 s.
        until = time.monotonic() + (150 if self.scenario.get("kind") == "death" else 45)
        while time.monotonic() < until:
            time.sleep(1)
            self.act(self.course_start)
        for thread in self.acting:
            thread.join(60)

    def still_to_come(self):
        """Actions whose time will come: until then the link may be down, and to ask over it takes long."""
        return any("at_s" in action or ("after_kill_s" in action and self.recorder.killed_at) for action in self.pending)

    def keep(self):
        """What the collector holds."""
        held = {name: self.collector.all(name) for name in ("workloads", "findings", "postmortems", "alerts")}
        # Those that are gone as well.
        held["pods"] = [pod for workload in held["workloads"] for pod in self.collector.all(f"workloads/{workload['id']}/pods?past=true")]
        held["postmortems"] = [self.collector.get(f"/api/v1/postmortems/{p['id']}") for p in held["postmortems"]]
        held["whole_findings"] = [self.collector.get(f"/api/v1/findings/{f['id']}") for f in held["findings"]]  # with their texts
        for name, rows in held.items():
            self.leave(f"{name}.json", rows)
        samples = []
        for pod in held["pods"]:
            following = self.summary["started_ms"]
            while following:
                series = self.collector.get(f"/api/v1/pods/{pod['id']}/samples?from={following}&to={now_ms() + 1}&step=0") or {}
                samples += [{"pod": pod["id"], **point} for point in series.get("points", [])]
                following = series.get("next_ms")
        self.leave("samples.json", samples)

    def leave(self, name, value):
        with open(f"{self.out}/{name}", "w", encoding="utf-8") as f:
            json.dump(value, f, indent=1, sort_keys=True)
            f.write("\n")

    def say(self, what):
        print(f"{self.scenario.name} {self.profile}: [{(now_ms() - self.summary['started_ms']) / 1000:.0f} s] {what}", flush=True)

    def end(self):
        self.over.set()
        for process in (self.workload, *self.others):
            if process and process.poll() is None:
                process.terminate()
        if self.agent and self.agent.poll() is None:
            # Its first process waits outside the pod; the agent itself is asked.
            actions.signal_container(self.pod.side, "TERM")
            try:
                self.summary["agent_status"] = self.agent.wait(60)
            except subprocess.TimeoutExpired:
                self.summary["agent_status"] = None
        if self.recorder:
            self.recorder.stop()
            self.summary.update(kill_ms=self.recorder.kill_ms, first_max_ms=self.recorder.first_max_ms, kills=self.recorder.kills)
        if self.collector:
            self.collector.end()
        if self.pod:
            self.pod.end()
        for name in ("truth.jsonl",):
            if os.path.exists(f"{self.dir}/{name}"):
                shutil.copy(f"{self.dir}/{name}", f"{self.out}/{name}")
        if self.summary["error"] and os.path.isdir(f"{self.dir}/log"):
            shutil.copytree(f"{self.dir}/log", f"{self.out}/engine-log", dirs_exist_ok=True)

    def whole(self):
        try:
            self.begin()
            self.summary["end"] = self.course()
            if self.summary["end"] != "time" or self.recorder.kills:
                self.after_death()
            self.summary["ended_ms"] = now_ms()
            self.keep()
        except Exception as e:  # whatever it is, what there is so far is left for who looks for the cause
            traceback.print_exc()
            self.summary.update(error=f"{type(e).__name__}: {e}", end="failed", ended_ms=now_ms())
        finally:
            try:
                self.end()
            finally:
                self.leave("run.json", self.summary)
        self.say(self.summary["error"] or f"ended by {self.summary['end']}")
        return 0 if self.summary["error"] is None else 1


def scripted(scenario, profile, build, out="/out"):
    """A scenario with a script of its own: its TAP lines are what counts."""
    started = now_ms()
    with open(f"{out}/tap", "wb") as tap:
        status = subprocess.run([os.path.join(scenario.folder, scenario.get("script")), profile, build], stdin=subprocess.DEVNULL, stdout=tap,
                                env={**os.environ, "PYTHONPATH": HERE}, check=False).returncode
    with open(f"{out}/run.json", "w", encoding="utf-8") as f:
        json.dump({"scenario": scenario.name, "profile": profile, "machine": os.environ.get("LAB_MACHINE", "native"), "kernel": platform.release(),
                   "started_ms": started, "ended_ms": now_ms(), "end": "exit", "error": f"status {status}" if status else None}, f)
    return status


def main():
    name, profile, build = sys.argv[1:4]
    scenario = Scenario(name)
    if scenario.get("script"):
        sys.exit(scripted(scenario, profile, build))
    sys.exit(Run(scenario, profile, build, "/out").whole())


if __name__ == "__main__":
    main()
