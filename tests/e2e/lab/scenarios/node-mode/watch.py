#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Node mode on a real cgroup v2: two pods, an agent outside of both, a collector that lets it speak for them. TAP.

usage: watch.py PROFILE BUILD_DIR, as root inside tests/e2e/lab/run, with tests/e2e/lab in PYTHONPATH.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request

from bare import Probe, page, result
from pod import Pod, name_user, read, write

WORK = "/var/lab/node"
JAVA = f"{os.environ['JDK17']}/bin/java"
API = "http://127.0.0.1:8480/api/v1"
CAPS = "-all,+sys_ptrace,+setuid,+setgid,+kill"
NODE, STRANGER = "node-token-0123456789abcdef0123456789abcdef", "pod-token-0123456789abcdef0123456789abcdef0"
PODS = {"alpha": "0b5a11f0-0000-4000-8000-00000000000a", "beta": "0b5a11f0-0000-4000-8000-00000000000b"}
LIMIT = 300 << 20


def get(path):
    try:
        with urllib.request.urlopen(API + path, timeout=20) as answer:
            return json.load(answer)
    except OSError:
        return None


def until(true, seconds):
    """What it says once it is true; else what it said last."""
    end = time.monotonic() + seconds
    while True:
        said = true()
        if said or time.monotonic() > end:
            return said
        time.sleep(0.5)


class Node:
    """What a node has: pods, kubelet's log directories, the agent, the collector."""

    def __init__(self, build):
        self.programs = {}
        for name in ("bankfull", "bankfull-collector"):
            self.programs[name] = shutil.copy(f"{build}/{name}", f"{WORK}/{name}")
            os.chmod(self.programs[name], 0o711)
        for path in ("log/pods", "log/containers", "data", "state", "cgroup"):
            os.makedirs(f"{WORK}/{path}")
        os.chmod(f"{WORK}/state", 0o777)  # as an emptyDir is
        subprocess.run(["mount", "--bind", "/sys/fs/cgroup", f"{WORK}/cgroup"], check=True)
        self.agents = Pod("max", uid="0b5a11f0_0000_4000_8000_0000000000aa", side_limit="512M")
        self.pods = {name: Pod("max", uid=uid.replace("-", "_"), pod_limit=str(LIMIT + (64 << 20))) for name, uid in PODS.items()}
        self.probes, self.number = {}, 0
        for name, uid in PODS.items():
            os.makedirs(f"{WORK}/log/pods/fraud_{name}-0_{uid}/main")
            # The guest's pods share a /tmp, where a JVM is told from others by the number that it has in its pod.
            for _ in range(len(self.probes) * 8):
                subprocess.run([*self.pods[name].enter(self.pods[name].side), "true"], stdin=subprocess.DEVNULL, check=True)
            self.probes[name] = self.start(name)

    def start(self, name, *options):
        """A container `main`; to be told from a plain JVM, it has Kafka Streams on its class path."""
        self.number += 1
        probe = Probe(self.pods[name], WORK, f"{name}{self.number}", str(LIMIT), (JAVA, "-Xmx64m", "-XX:+UseSerialGC"),
                      ("--heap-mib", "16", *options), jars=":/none/kafka-streams-3.7.0.jar")
        ident = probe.cgroup.rpartition("cri-containerd-")[2].partition(".scope")[0]
        os.symlink("/nowhere", f"{WORK}/log/containers/{name}-0_fraud_main-{ident}.log")
        return probe

    def collect(self):
        for path, line in (("tokens", f"lab-node {NODE}\nlab-pod {STRANGER}\n"), ("node-token", NODE), ("pod-token", STRANGER)):
            write(f"{WORK}/{path}", line)
            os.chmod(f"{WORK}/{path}", 0o600 if path == "tokens" else 0o644)
        with open("/out/collector.log", "wb") as log:
            self.collector = subprocess.Popen([self.programs["bankfull-collector"], "--data", f"{WORK}/data", "--listen", "127.0.0.1:8480",
                                               "--agent-tokens", f"{WORK}/tokens", "--node-agents", "lab-node", "--cluster", "lab"],
                                              stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return until(lambda: get("/pods") is not None, 60)

    def watch(self, token, name, *options):
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "BANKFULL_NODE": "lab"}
        with open(f"/out/{name}.log", "wb") as log, open(f"/out/{name}.out", "wb") as out:
            return subprocess.Popen(["env", "AS=0:0", f"CAPS={CAPS}", "READ_ONLY=1", f"WRITABLE={WORK}/state",
                                     f"{os.path.dirname(os.path.abspath(__file__))}/../../enter", self.agents.side, self.programs["bankfull"], "agent", "--node",
                                     "--collector", "ws://127.0.0.1:8480/agent", "--token-file", f"{WORK}/{token}", "--state-dir", f"{WORK}/state",
                                     "--node-logs", f"{WORK}/log", "--node-cgroup", f"{WORK}/cgroup", *options],
                                    stdin=subprocess.DEVNULL, stdout=out, stderr=log, env=env)


def agents_of():
    """The processes that watch one pod each: pid and command line, by pod."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = read(f"/proc/{pid}/cmdline").split("\0")
        except OSError:
            continue
        if "--in-pod" in words:
            found[words[words.index("--pod") + 1]] = int(pid)
    return found


def pods():
    return {pod["subject"]["pod"]: pod for pod in (get("/pods") or {}).get("items", [])}


def whole():
    """Both pods with a composition, or nothing."""
    found = pods()
    for name in PODS:
        pod = found.get(f"{name}-0") or {}
        if not pod.get("sample") or not pod.get("composition") or pod["sample"]["access"] != "full":
            return None
    return found


def pss(pid):
    return sum(int(line.split()[1]) for line in read(f"/proc/{pid}/smaps_rollup").splitlines() if line.startswith("Pss:"))


def check_found(node):
    found = until(whole, 120)
    result(found, "both pods are found, with a composition and full access", json.dumps(pods())[:3000])
    if not found:
        raise RuntimeError("no pods")
    for name, uid in PODS.items():
        subject = found[f"{name}-0"]["subject"]
        wanted = {"namespace": "fraud", "pod": f"{name}-0", "pod_uid": uid, "container": "main", "node": "lab", "asserted": True}
        result(all(subject.get(key) == value for key, value in wanted.items()), f"{name}: namespace, pod, uid, container and node; asserted", json.dumps(subject))
        result(found[f"{name}-0"]["agent_id"] == f"node:lab-node:{uid}:main", f"{name}: its agent's id is of node and pod", found[f"{name}-0"]["agent_id"])
        result(found[f"{name}-0"]["sample"]["limit_bytes"] == LIMIT, f"{name}: the limit is its container's", json.dumps(found[f"{name}-0"]["sample"])[:600])
        owners = {line["owner"]: line for line in found[f"{name}-0"]["composition"]["owners"]}
        result(owners.get("java-heap", {}).get("bytes", 0) > 16 << 20, f"{name}: the heap is measured", json.dumps(owners)[:1500])
    log = read("/out/node.log")
    result(log.count(f"QoS class Burstable, limit of the pod {LIMIT + (64 << 20)} bytes, as its own user") == 2, "class and limit of each pod are told", log)


def check_least(node):
    agents = agents_of()
    result(sorted(agents) == ["alpha-0", "beta-0"], "each pod has an agent of its own", str(agents))
    for name, pid in sorted(agents.items()):
        status = dict(line.split(":", 1) for line in read(f"/proc/{pid}/status").splitlines() if ":" in line)
        result(status["Uid"].split() == ["9999"] * 4 and int(status["CapPrm"], 16) == 0 and int(status["CapBnd"], 16) & ~((1 << 19) | (1 << 5) | (1 << 6) | (1 << 7)) == 0
               and status["NoNewPrivs"].strip() == "1", f"{name}: its agent is the JVM's user and holds no capability", str(status))
        print(f"# {name}: its agent holds {pss(pid)} KiB (PSS)")
    told = page()
    result("\nbankfull_node_agents 2\n" in told and "\nbankfull_node_targets_left_out 0\n" in told, "the supervisor's page counts them", told)
    supervisor = [line for line in told.splitlines() if line.startswith(("process_", "bankfull_node_look"))]
    print("# " + "; ".join(supervisor))


def check_apart(node):
    """One agent is killed: the other one does not notice, and it is begun again."""
    before = agents_of()
    os.kill(before["alpha-0"], 9)
    again = until(lambda: agents_of().get("alpha-0") not in (None, before["alpha-0"]) and agents_of(), 60)
    result(again and again["beta-0"] == before["beta-0"], "an agent that is killed comes again, the other one goes on", f"{before} {again}")
    result(until(whole, 90) and len(pods()) == 2, "its pod is the same pod to the collector", json.dumps(pods())[:2000])


def check_death(node):
    """The limit of one pod's container is reached: its post-mortem, and the container that follows it."""
    before = agents_of()
    write(f"{node.probes['alpha'].cgroup}/memory.max", 20 << 20)
    died = until(lambda: node.probes["alpha"].process.poll() is not None, 60)
    deaths = until(lambda: (get("/postmortems") or {}).get("items"), 60) or []
    result(died and len(deaths) == 1 and deaths[0]["cause"] == "container-limit" and deaths[0]["subject"]["pod"] == "alpha-0",
           "the pod that is killed has its post-mortem, and no other", json.dumps(deaths)[:2000])
    old = pods()["alpha-0"]
    Pod.remove(node.probes["alpha"].cgroup)
    node.probes["alpha"] = node.start("alpha")
    again = until(lambda: (pods()["alpha-0"]["sample"] or {}).get("pid") not in (None, old["sample"]["pid"]) and whole(), 90)
    result(again and pods()["alpha-0"]["id"] == old["id"] and agents_of() == before, "the container that follows is watched by the same agent", f"{before} {agents_of()}")


def main():
    build = sys.argv[2]
    os.makedirs(WORK)
    os.chmod(WORK, 0o755)
    name_user()
    node = Node(build)
    result(node.collect(), "the collector is ready")
    stranger = node.watch("pod-token", "stranger", "--listen", "off")
    denied = until(lambda: "--node-agents does not name it" in read("/out/stranger.log"), 90)
    result(denied and not pods(), "an agent that nobody named speaks for no pod", read("/out/stranger.log")[-2000:])
    stranger.terminate()
    result(stranger.wait(60) == 0, "it ends when it is asked to")
    agent = node.watch("node-token", "node", "--listen", "127.0.0.1:9482")
    check_found(node)
    check_least(node)
    check_apart(node)
    check_death(node)
    agent.terminate()
    result(agent.wait(60) == 0 and not agents_of(), "all of them end when it is asked to", read("/out/node.log")[-1500:])
    for probe in node.probes.values():
        probe.end()


if __name__ == "__main__":
    main()
