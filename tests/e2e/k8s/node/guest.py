#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The life of pods on a real node: a kubelet, containerd, runc, our image. TAP.

usage: guest.py PROGRAMS IMAGES BUILD, as root inside tests/e2e/lab/run
  PROGRAMS  containerd, its shim, ctr, crictl, kubelet    IMAGES  the archives of node/images    BUILD  our programs
"""
import glob
import json
import os
import ssl
import subprocess
import sys
import time
import traceback
import urllib.error
import urllib.request

import yaml

import pods
from kubelet import CGROUPS, Failed, Node, until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lab"))
import promtext  # noqa: E402

MIB = 1 << 20
LIMIT_MIB = 400
SIDECAR = "bankfull"
MAIN = "streams"
LEAK = ("--heap-mib", "24", "--malloc-mib", "40", "--leak-kib-per-s", "683", "--leak-max-mib", "600")
QUIET = ("--heap-mib", "24", "--malloc-mib", "16")


class Guest:
    def __init__(self, programs, images, build):
        self.node = Node(programs, "/out")
        self.images, self.bankfull = images, f"{build}/bankfull"
        self.begun = time.monotonic()
        self.failed = 0

    # --- words ---

    def ok(self, good, name, note=""):
        good = bool(good)
        self.failed += not good
        print(("ok - " if good else "not ok - ") + name, flush=True)
        if not good:
            for line in str(note() if callable(note) else note).splitlines()[-30:]:
                print("#   " + line[:600], flush=True)
        return good

    def say(self, text):
        print(f"# {time.monotonic() - self.begun:.0f} s: {text}", flush=True)

    # --- what is asked ---

    def running(self, pod, container, seconds=180):
        """Its status, once the kubelet says that it runs; {} else."""
        def now():
            row = self.node.status(pod, container)
            return row if "running" in row.get("state", {}) else {}
        return until(seconds, now)

    def logs(self, pod, container):
        """What it said, by the files that the kubelet keeps of it."""
        out = []
        for path in sorted(glob.glob(f"/var/log/pods/default_{pod}-node-1_*/{container}/*.log"), key=os.path.getmtime):
            with open(path, encoding="utf-8", errors="replace") as f:
                out += f.readlines()
        return "".join(out)

    def why(self, pod, container):
        """For a failure: what is known of the container."""
        return f"{json.dumps(self.node.status(pod, container))}\n{self.logs(pod, container)[-3000:]}\n{self.node.last_words('kubelet')}"

    def inspect(self, status):
        return json.loads(self.node.crictl("inspect", status["containerID"].removeprefix("containerd://")).stdout)

    def report(self, status, *words):
        done = self.node.crictl("exec", status["containerID"].removeprefix("containerd://"), "bankfull", "report", "--format", "json", *words)
        try:
            return json.loads(done.stdout), done.stderr
        except ValueError:
            return None, f"status {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"

    @staticmethod
    def page():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{pods.PAGE}/metrics", timeout=20) as answer:
                text = answer.read().decode()
        except OSError:
            return promtext.Page(0)
        with open("/out/agent.prom", "w", encoding="utf-8") as f:
            f.write(text)
        return promtext.pages(f"# at_ms 0\n{text}")[0]

    def api(self, path):
        """Of the collector; None where there is no answer."""
        try:
            ask = urllib.request.Request(f"https://127.0.0.1:{pods.API}{path}", headers={"Authorization": f"Bearer {pods.VIEWER_TOKEN}"})
            with urllib.request.urlopen(ask, timeout=60, context=self.tls) as answer:
                body = answer.read()
        except (OSError, urllib.error.HTTPError):
            return None
        return body if path == "/readyz" else json.loads(body)

    def rows(self, path):
        page = self.api(f"/api/v1/{path}?limit=500") or {}
        return next((value for value in page.values() if isinstance(value, list)), [])


def read(path):
    with open(path, encoding="ascii", errors="replace") as f:
        return f.read()


def cgroup_of(pid):
    return "/sys/fs/cgroup" + read(f"/proc/{pid}/cgroup").strip().rpartition(":")[2]


def fields(pid):
    return dict(line.split(":", 1) for line in read(f"/proc/{pid}/status").splitlines() if ":" in line)


def begin(g):
    pods.make_secrets()
    g.tls = ssl.create_default_context(cafile=f"{pods.WORK}/tls/ca.crt")
    g.node.start([f"{g.images}/{name}.tar" for name in ("pause", "bankfull", "probe")])
    g.say("the node is there; " + ", ".join(line.strip() for line in g.node.crictl("version").stdout.splitlines() if line.startswith("Runtime")))
    g.node.put(pods.collector())
    g.ok(g.running("collector", "collector"), "the collector runs as a pod of our image", lambda: g.why("collector", "collector"))
    g.ok(until(120, lambda: g.api("/readyz") is not None, 1), "and is ready", lambda: g.why("collector", "collector"))


def starts(g):
    """What `bankfull inject` wrote, started: (its pod, the main container's status, the sidecar's)."""
    pod = pods.inject(g.bankfull, pods.team("orders", f"{LIMIT_MIB}Mi", *LEAK))
    g.node.put(pod)
    main = g.running("orders", MAIN)
    side = g.node.status("orders", SIDECAR)
    g.ok(main and "running" in side.get("state", {}), "the pod of bankfull inject runs, and its sidecar", lambda: f"{g.why('orders', SIDECAR)}\n{g.why('orders', MAIN)}")
    if not main:
        raise Failed("no pod to look at")
    began = {name: row["state"]["running"]["startedAt"] for name, row in (("main", main), ("side", side))}
    g.ok(began["side"] <= began["main"] and side["restartCount"] == main["restartCount"] == 0, "the sidecar was started first, and nothing was restarted", began)
    return pod, main, side


def layout(g, main, side):
    """By the kernel's word, not by that of the specification."""
    pids = {name: g.inspect(row)["info"]["pid"] for name, row in (("main", main), ("side", side))}
    said = {name: fields(pid) for name, pid in pids.items()}
    for name, row in said.items():
        ids = (row["Uid"].split(), row["Gid"].split())
        g.ok(ids == (["9999"] * 4, ["9999"] * 4), f"{name}: user and group are 9999", ids)
        g.ok(all(int(row[key], 16) == 0 for key in ("CapPrm", "CapEff", "CapBnd", "CapAmb")) and row["NoNewPrivs"].strip() == "1" and row["Seccomp"].strip() == "2",
             f"{name}: no capability, no new privileges, a filter of system calls", {key: row[key].strip() for key in ("CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp")})
    of = {name: os.readlink(f"/proc/{pid}/ns/pid") for name, pid in (*pids.items(), ("node", 1))}
    g.ok(of["main"] == of["side"] != of["node"], "both are in the process namespace of their pod", of)
    apart = {kind: [os.readlink(f"/proc/{pid}/ns/{kind}") for pid in pids.values()] for kind in ("mnt", "cgroup")}
    g.ok(all(len(set(two)) == 2 for two in apart.values()), "each has mounts and a view of cgroups of its own", apart)
    root = next(line for line in read(f"/proc/{pids['side']}/mountinfo").splitlines() if line.split()[4] == "/")
    g.ok(root.split()[5].split(",")[0] == "ro", "the sidecar's root is read-only", root)
    return pids


def sees(g, pids):
    """What the agent says of the main container, beside what the node says of it."""
    there = until(180, lambda: (lambda page: page if page.value("bankfull_target_up") == 1 and page.value("bankfull_charge_bytes") and
                                page.all("bankfull_owner_resident_bytes") else None)(g.page()), 2)
    if not g.ok(there, "the agent found the JVM", lambda: g.why("orders", SIDECAR)):
        return
    info = [labels for labels, _ in there.all("bankfull_target_info")]
    g.ok(info and all(labels.get("access") == "full" for labels in info), "its access is full", info)
    at = cgroup_of(pids["main"])
    g.ok(at.startswith(f"{CGROUPS}/") and int(read(f"{at}/memory.max")) == LIMIT_MIB * MIB, "the kubelet gave the container the limit of its pod", at)
    g.ok(there.value("bankfull_limit_bytes") == LIMIT_MIB * MIB, "the agent's limit is that of the pod", there.value("bankfull_limit_bytes"))


def answers(g, name, side, pids):
    """bankfull report by exec in the sidecar: its books are closed, and about what the node says in the same moment."""
    at = cgroup_of(pids["main"])
    before = int(read(f"{at}/memory.current"))
    report, said = g.report(side)
    after = int(read(f"{at}/memory.current"))
    if not g.ok(report, f"{name}: there is a report", said):
        return None
    with open("/out/report.json", "w", encoding="utf-8") as f:
        json.dump(report, f, indent=1)
    real(g, name, report, at, before, after)
    return report


def real(g, name, report, at, before, after):
    current, owners = report["charge"]["current_bytes"], {line["owner"]: line["bytes"] for line in report["ledger"]}
    g.ok(report["access"]["level"] == "full", f"{name}: its access is full", json.dumps(report["access"]))
    g.ok(report["limit_bytes"] == int(read(f"{at}/memory.max")), f"{name}: the limit is that of the container's cgroup", report["limit_bytes"])
    g.ok(before - MIB <= current <= after + MIB, f"{name}: the charge is that of the container's cgroup", (before, current, after))
    g.ok(sum(value or 0 for value in owners.values()) + report["residual_bytes"] == current, f"{name}: its books are closed", owners)
    g.ok((owners.get("java-heap") or 0) >= 24 * MIB and (owners.get("thread-stacks") or 0) > 0 and (owners.get("native-other") or 0) >= 16 * MIB,
         f"{name}: heap, stacks and native memory are told apart, which takes the mappings", owners)


def warns(g):
    """Before the kernel kills, the collector knows who grew."""
    def severe():
        return [row for row in g.rows("findings") if row.get("severity") in ("warning", "critical") and row.get("owner") == "native-other"]

    def killed():
        return g.node.status("orders", MAIN).get("lastState", {}).get("terminated")

    found = until(900, lambda: severe() or killed(), 5) and severe()
    g.ok(found and not killed(), "a warning that names the owner is at the collector before the kill",
         lambda: f"{json.dumps(g.rows('findings'))[:3000]}\n{killed()}\n{g.logs('orders', SIDECAR)[-1500:]}")
    if found:
        g.say(f"{found[0].get('severity')}: {found[0].get('title')}")
    return found


def dies(g, pids):
    """The kernel kills, the kubelet starts anew, the agent goes on."""
    ended = until(900, lambda: g.node.status("orders", MAIN).get("lastState", {}).get("terminated"), 5)
    g.ok(ended and ended["reason"] == "OOMKilled" and ended["exitCode"] == 137, "the kernel kills it at its limit, and the kubelet says so", ended or g.why("orders", MAIN))
    main = g.running("orders", MAIN, 120)
    g.ok(main and main["restartCount"] == 1, "the kubelet starts it again", lambda: g.why("orders", MAIN))
    death = until(180, lambda: g.rows("postmortems"), 2)
    with open("/out/postmortems.json", "w", encoding="utf-8") as f:
        json.dump(death, f, indent=1)
    g.ok(len(death) == 1 and death[0]["cause"] == "container-limit" and death[0]["owner"] == "native-other" and not death[0]["inferred"],
         "one post-mortem: its limit, and who grew", lambda: f"{json.dumps(death)[:2000]}\n{g.logs('orders', SIDECAR)[-2000:]}")
    side = g.node.status("orders", SIDECAR)
    g.ok(side["restartCount"] == 0 and "running" in side["state"], "the sidecar lived on", side)
    if not main:
        return
    pid = g.inspect(main)["info"]["pid"]
    now = fields(pid)["NSpid"].split()[-1]
    again = until(180, lambda: (lambda page: page if page.value("bankfull_target_up") == 1 and (page.value("bankfull_agent_targets_total") or 0) >= 2 else None)(g.page()), 2)
    g.ok(again and again.value("bankfull_limit_bytes") == LIMIT_MIB * MIB, "the agent goes on with the new container", lambda: g.logs("orders", SIDECAR)[-2000:])
    report, said = g.report(side)
    g.ok(report and str(report["target"]["pid"]) == now, f"and reports of the new process, {now}", said or (report or {}).get("target"))


def unprepared(g):
    """bankfull debug of a running pod that nobody prepared; kubectl is that of this node (node/kubectl)."""
    g.node.put(yaml.safe_load(pods.team("bare", "200Mi", *QUIET)))
    main = g.running("bare", MAIN)
    if not g.ok(main, "a pod that nobody prepared runs", lambda: g.why("bare", MAIN)):
        return
    time.sleep(20)
    at = cgroup_of(g.inspect(main)["info"]["pid"])
    before = int(read(f"{at}/memory.current"))
    done = subprocess.run([g.bankfull, "debug", "bare", "--image", pods.IMAGE, "--container", MAIN, "--", "report", "--format", "json"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=600, env={**os.environ, "PATH": f"{os.path.dirname(os.path.abspath(__file__))}:{os.environ['PATH']}",
                                                                           "NODE_PROGRAMS": g.node.programs})
    after = int(read(f"{at}/memory.current"))
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = None
    if g.ok(report, "bankfull debug: there is a report", f"{done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"):
        real(g, "bankfull debug", report, at, before, after)
    again = g.node.status("bare", MAIN)
    g.ok(again.get("containerID") == main["containerID"] and again["restartCount"] == 0, "and it was not restarted for that", again)
    g.node.take("bare")


def crash_loops(g):
    """An agent that can do nothing must not keep the application from running, and not end it."""
    pod = pods.inject(g.bankfull, pods.team("loop", "200Mi", *QUIET))
    pods.sidecar(pod)["args"] = ["agent", "--no-such-option"]
    g.node.put(pod)
    main = g.running("loop", MAIN, 180)
    g.ok(main, "an agent that fails from the start: the main container starts", lambda: f"{g.why('loop', SIDECAR)}\n{g.why('loop', MAIN)}")
    looped = until(300, lambda: (lambda row: row if row.get("restartCount", 0) >= 2 else None)(g.node.status("loop", SIDECAR)), 5)
    g.ok(looped, "it is restarted again and again", lambda: g.why("loop", SIDECAR))
    again = g.node.status("loop", MAIN)
    g.ok(main and again.get("restartCount") == 0 and "running" in again["state"], "and the main container runs on", again)
    g.ok("--no-such-option" in g.logs("loop", SIDECAR), "the agent says what is wrong", lambda: g.logs("loop", SIDECAR))
    g.node.take("loop")


def main():
    g = Guest(*sys.argv[1:4])
    try:
        begin(g)
        pod, main_row, side = starts(g)
        pids = layout(g, main_row, side)
        sees(g, pids)
        answers(g, "bankfull report by exec", side, pids)
        g.say("waiting for the warning")
        warns(g)
        dies(g, pids)
        g.node.take("orders")
        unprepared(g)
        crash_loops(g)
    except Failed as e:
        g.ok(False, "there is a node", e)
    except Exception:
        g.ok(False, "it ran to its end", traceback.format_exc())
    finally:
        g.say("the end")
        g.node.stop()
    return 1 if g.failed else 0


if __name__ == "__main__":
    sys.exit(main())
