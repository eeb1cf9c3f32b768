# SPDX-License-Identifier: Apache-2.0
"""A pod on a real cgroup v2, without Kubernetes: a slice with a container `main` and a sidecar `agent`, each with a cgroup of
its own, one PID namespace whose first process is a pause process, and no capability. Inside tests/e2e/lab/run, as root."""

import hashlib
import os
import signal
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = "/sys/fs/cgroup/kubepods.slice"
# Reaps what is left of a container, as the pause process of Kubernetes does.
PAUSE = "sleep infinity & while :; do wait -n; done"


def write(path, value):
    with open(path, "w", encoding="ascii") as f:
        f.write(str(value))


def read(path):
    with open(path, encoding="ascii", errors="replace") as f:
        return f.read()


def name_user(uid=9999):
    """A JVM names its hsperfdata by the user's name: there is none without an entry."""
    for path, line in (("/etc/passwd", f"streaming:x:{uid}:{uid}:streaming:/tmp:/bin/sh\n"), ("/etc/group", f"streaming:x:{uid}:\n")):
        with open(path, "a", encoding="ascii") as f:
            f.write(line)


class Pod:
    """cgroups as containerd names them; `main` is replaced when its container is restarted."""

    def __init__(self, limit, high="max", pod_limit="max", swap="0", side_limit="64M", uid="0b5a11f0", oom_group=True):
        self.limit, self.high, self.swap = limit, high, swap
        self.oom_group = oom_group  # as a runtime sets it since Kubernetes 1.28
        self.started = 0
        self.slice = f"{ROOT}/kubepods-burstable-pod{uid}.slice"
        os.makedirs(self.slice)
        for at in (ROOT, self.slice):
            write(f"{at}/cgroup.subtree_control", "+memory +cpu +pids")
        write(f"{self.slice}/memory.max", pod_limit)
        self.main = self.container("main", limit)
        self.side = self.container("agent", side_limit)
        pause = self.container("pause", "max")
        self.pause = subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child", "bash", "-c", f"echo 0 >{pause}/cgroup.procs; {PAUSE}"],
                                      stdin=subprocess.DEVNULL)
        self.init = self.first_of(pause)

    @staticmethod
    def first_of(cgroup):
        until = time.monotonic() + 60
        while time.monotonic() < until:
            pids = read(f"{cgroup}/cgroup.procs").split()
            if pids:
                return int(pids[0])
            time.sleep(0.05)
        raise RuntimeError(f"nothing started in {cgroup}")

    def container(self, name, limit):
        self.started += 1
        ident = hashlib.sha256(f"{name}{self.started}".encode()).hexdigest()
        at = f"{self.slice}/cri-containerd-{ident}.scope"
        os.mkdir(at)
        write(f"{at}/memory.max", limit)
        write(f"{at}/memory.oom.group", int(self.oom_group))
        try:
            write(f"{at}/memory.swap.max", self.swap)
        except OSError:
            pass  # no swap in this kernel
        if name == "main":
            write(f"{at}/memory.high", self.high)
        return at

    def enter(self, cgroup, **how):
        """The command, as a list, that runs what follows it in a container; `how` are the variables of `enter`."""
        return ["env", f"POD_PID={self.init}", *(f"{k}={v}" for k, v in how.items()), f"{HERE}/enter", cgroup]

    def restart_main(self):
        """A new container in the place of the dead one, as kubelet makes it: another cgroup."""
        old = self.main
        self.main = self.container("main", self.limit)
        self.remove(old)
        return self.main

    @staticmethod
    def remove(cgroup):
        """As a runtime does once the last process of a container is gone."""
        for _ in range(200):
            try:
                os.rmdir(cgroup)
                return True
            except OSError:
                time.sleep(0.05)
        return False

    def charge(self):
        return int(read(f"{self.main}/memory.current"))

    def anon(self):
        return int(dict(line.split() for line in read(f"{self.main}/memory.stat").splitlines())["anon"])

    def kill(self, cgroup):
        write(f"{cgroup}/cgroup.kill", 1)

    def end(self):
        for at in (self.main, self.side):
            if os.path.isdir(at):
                self.kill(at)
        self.pause.send_signal(signal.SIGKILL)
        self.pause.wait()
