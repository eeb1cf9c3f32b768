#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The access matrix: for each reader what the kernel allows, what `bankfull report` and the agent say of it. TAP.

usage: matrix.py PROFILE BUILD_DIR, as root inside tests/e2e/lab/run, with tests/e2e/lab in PYTHONPATH.
"""

import json
import os
import shutil
import subprocess
import sys
import time

from bare import Probe, page, result
from pod import Pod, name_user

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = "/var/lab/access"
JAVA = f"{os.environ['JDK17']}/bin/java"
# What containerd and CRI-O give a container that asks for nothing.
RUNTIME = "-all" + "".join(f",+{name}" for name in (
    "chown", "dac_override", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap", "net_bind_service", "sys_chroot", "setfcap", "mknod",
    "net_raw", "audit_write"))
PTRACE = "-all,+sys_ptrace"
ROOTS, USERS, OTHERS = "0:0", "9999:9999", "1234:1234"
FULL, STATUS, NONE = "full", "status", "none"

# Name, the JVM it looks at, its uid and gid, its capabilities, what else is so, and the level that must follow.
ROWS = (
    ("same uid and gid, no capability", "plain", USERS, "-all", {}, FULL),
    ("same uid, another gid", "plain", "9999:9998", "-all", {}, STATUS),
    ("another uid", "plain", "9998:9999", "-all", {}, STATUS),
    ("root without capabilities", "plain", ROOTS, "-all", {}, STATUS),
    ("root with the runtime's capabilities", "plain", ROOTS, RUNTIME, {}, STATUS),
    ("root with SYS_PTRACE alone", "plain", ROOTS, PTRACE, {}, FULL),
    ("another uid with ambient SYS_PTRACE", "plain", OTHERS, PTRACE, {}, FULL),
    ("root without capabilities, JVM is root with the runtime's", "root", ROOTS, "-all", {}, STATUS),
    ("root and JVM both with the runtime's capabilities", "root", ROOTS, RUNTIME, {}, FULL),
    ("hidepid, same uid and gid", "plain", USERS, "-all", {"HIDEPID": "invisible"}, FULL),
    ("hidepid, another uid", "plain", "9998:9998", "-all", {"HIDEPID": "invisible"}, NONE),
    ("no shared PID namespace", "plain", USERS, "-all", {"apart": True}, NONE),
    ("JVM not dumpable", "sealed", USERS, "-all", {}, STATUS),
    ("JVM not dumpable, root with SYS_PTRACE alone", "sealed", ROOTS, PTRACE, {}, FULL),
)
WHO = {"plain": USERS, "root": ROOTS, "sealed": USERS}
ANON = ("java-heap", "metaspace", "code-cache", "thread-stacks", "direct-buffers", "native-other", "jvm-other", "gc", "library-data",
        "allocator-retained", "other-processes", "thp-unmapped")


class Reader:
    """Whoever looks, as its row says."""

    def __init__(self, pod, row, program, number):
        self.name, self.target, self.who, self.caps, self.more, self.level = row
        self.pod, self.program, self.state = pod, program, f"{WORK}/state{number}"
        os.makedirs(self.state)
        os.chmod(self.state, 0o777)
        how = {"AS": self.who, "CAPS": self.caps}
        if "HIDEPID" in self.more:
            how["HIDEPID"] = self.more["HIDEPID"]
        self.enter = pod.enter(pod.side, **how)
        if self.more.get("apart"):
            self.enter = ["unshare", "--pid", "--fork", "--kill-child", *[word for word in self.enter if not word.startswith("POD_PID=")]]

    def run(self, *command):
        return subprocess.run([*self.enter, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)

    def allowed(self, pid):
        done = self.run(sys.executable, f"{HERE}/reader.py", str(pid), "root" if WHO[self.target] == ROOTS else "streaming")
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)

    def report(self, pid):
        done = self.run(self.program, "report", "--pid", str(pid), "--no-metrics", "--format", "json")
        return done.returncode, (json.loads(done.stdout) if done.stdout.strip() else None), done.stderr

    def agent(self, pid, until):
        """Its page and its log once `until` of both is true, or after two minutes."""
        out = open(f"{self.state}/log", "w+", encoding="utf-8")
        process = subprocess.Popen([*self.enter, self.program, "agent", "--pid", str(pid), "--no-metrics", "--listen", "127.0.0.1:9482",
                                    "--state-dir", self.state], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        end = time.monotonic() + 120
        try:
            while True:
                time.sleep(1)
                told = page()
                with open(f"{self.state}/log", encoding="utf-8") as f:
                    log = f.read()
                if time.monotonic() > end or until(told, log):
                    return told, log
        finally:
            self.pod.kill(self.pod.side)
            process.wait(60)


def level_of(allowed):
    """What can be known by what may be read."""
    if allowed["status"] != "ok":
        return NONE
    if allowed["smaps"] != "ok":
        return STATUS
    return FULL if allowed["root/sys/fs/cgroup/memory.stat"] == "ok" else "process"


def denied_of(reader, allowed):
    """The inputs of a report that the kernel denies. Page tables are only wanted beside the mappings."""
    refused = {name for name, how in allowed.items() if how in ("EACCES", "EPERM")}
    inputs = {"smaps": "proc/smaps", "environ": "proc/environ", "hsperf": "jvm/hsperf", "root/sys/fs/cgroup/memory.stat": "cgroup"}
    if "smaps" not in refused:
        inputs["pagemap"] = "proc/pagemap"
    out = {what for name, what in inputs.items() if name in refused}
    # A JVM answers its own uid and gid, and asking it takes its file system.
    if "root/sys/fs/cgroup/memory.stat" in refused or reader.who != WHO[reader.target]:
        out.add("jvm/attach")
    return out


def numbers_of(report, rss_anon):
    """
    What of a report rests on what was not read, and is a number. Without the cgroup the floor is what anybody may read of the
    process, its anonymous pages, and counts no more than them.
    """
    out = [f"ledger {line['owner']} {line['bytes']}" for line in report["ledger"] if line["bytes"] is not None and line["owner"] in ANON]
    out += [f"charge {key} {value}" for key, value in report["charge"].items() if value is not None]
    out += [f"{key} {report[key]}" for key in ("limit_bytes", "freeboard_bytes", "residual_bytes", "native_pool_bytes")
            if report[key] is not None]
    if report["floor_bytes"] is not None and not 0.8 * rss_anon <= report["floor_bytes"] <= 1.25 * rss_anon:
        out.append(f"floor_bytes {report['floor_bytes']}, RssAnon {rss_anon}")
    return out


def check_report(reader, allowed, pid):
    status, report, said = reader.report(pid)
    name = reader.name
    with open(f"/out/{reader.state.rpartition('/')[2]}.json", "w", encoding="utf-8") as f:
        json.dump({"row": name, "allowed": allowed, "status": status, "said": said, "report": report}, f, indent=1)
    if reader.level == NONE:
        result(status == 3 and report is None and f"no process {pid} is to be seen here" in said, f"{name}: the report says that there is no such process",
               f"status {status}\n{said}")
        return
    if not result(report is not None and status in (0, 1), f"{name}: there is a report", f"status {status}\n{said}"):
        return
    access = report["access"]
    result(access["level"] == level_of(allowed), f"{name}: the report's access is {reader.level}", json.dumps(access, indent=1))
    denied = {reason["what"] for reason in access["reasons"] if reason["kind"] == "denied"}
    wanted = denied_of(reader, allowed)
    result(wanted == denied, f"{name}: it names what is denied, and nothing else", f"the kernel denies {sorted(wanted)}, the report {sorted(denied)}")
    if reader.level == FULL:
        result(all(report["charge"][key] is not None for key in ("current_bytes", "anon_bytes")) and report["residual_bytes"] is not None
               and sum(line["bytes"] or 0 for line in report["ledger"]) + report["residual_bytes"] == report["charge"]["current_bytes"],
               f"{name}: the books are closed", json.dumps(report["charge"]))
    else:
        found = numbers_of(report, allowed["RssAnon"])
        result(not found, f"{name}: what could not be read is no number", "\n".join(found))


def check_agent(reader, pid):
    name = reader.name
    if reader.level == NONE:
        told, log = reader.agent(pid, lambda told, log: '"event":"waiting"' in log and "bankfull_target_up 0" in told)
        result("bankfull_target_up 0" in told and f"no process {pid} is to be seen here" in log, f"{name}: the agent waits for it and says why", log)
        result(not any(line.startswith(("bankfull_charge", "bankfull_owner", "bankfull_limit", "bankfull_target_info")) for line in told.splitlines()),
               f"{name}: its page has no figure of it", told)
        return
    told, log = reader.agent(pid, lambda told, log: '"event":"inputs-' in log)
    result(f'access="{reader.level}"' in told, f"{name}: the agent's access is {reader.level}",
           "\n".join(line for line in told.splitlines() if "target_info" in line) + "\n" + log)
    figures = [line for line in told.splitlines() if line.startswith(("bankfull_charge_bytes", "bankfull_owner_resident_bytes", "bankfull_residual_bytes",
                                                                      "bankfull_freeboard_bytes", "bankfull_limit_bytes"))]
    if reader.level == FULL:
        result(len(figures) > 10, f"{name}: its page has the composition", told)
        result("access-denied" not in log, f"{name}: it complains of nothing", log)
    else:
        result(not figures, f"{name}: its page has no number that was not read", "\n".join(figures))
        result('"event":"access-denied"' in log and '"event":"inputs-missing"' in log, f"{name}: it says what is missing at the start", log)


def main():
    build = sys.argv[2]
    os.makedirs(WORK)
    os.chmod(WORK, 0o777)
    program = shutil.copy(f"{build}/bankfull", f"{WORK}/bankfull")
    os.chmod(program, 0o711)
    name_user()
    pod = Pod("max")
    # Who may not read the file that it executes is not dumpable (would_dump() of fs/exec.c).
    sealed = f"{WORK}/jdk"
    subprocess.run(["cp", "-rs", os.path.realpath(os.environ["JDK17"]), sealed], check=True)
    os.unlink(f"{sealed}/bin/java")
    shutil.copy(JAVA, f"{sealed}/bin/java")
    os.chmod(f"{sealed}/bin/java", 0o711)
    flags = ("-Xmx32m", "-XX:+UseSerialGC")
    how = {"plain": (JAVA, "-all"), "root": (JAVA, RUNTIME), "sealed": (f"{sealed}/bin/java", "-all")}
    targets = {name: Probe(pod, WORK, name, "400M", (java, *flags), ("--heap-mib", "8"), AS=WHO[name], CAPS=caps)
               for name, (java, caps) in how.items()}
    pids = {name: target.pid() for name, target in targets.items()}
    time.sleep(10)  # a JVM is not asked in its first seconds
    for number, row in enumerate(ROWS):
        reader = Reader(pod, row, program, number)
        pid = pids[reader.target]
        allowed = reader.allowed(pid)
        result(level_of(allowed) == reader.level, f"{reader.name}: the kernel allows what is said of it", json.dumps(allowed))
        check_report(reader, allowed, pid)
        check_agent(reader, pid)
    for target in targets.values():
        target.end()
    pod.end()


if __name__ == "__main__":
    main()
