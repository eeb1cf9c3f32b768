# SPDX-License-Identifier: Apache-2.0
"""
Pods on a real node: a kubelet in standalone mode, containerd, runc and our image, in the lab's virtual machine (tests/e2e/lab/run), whose kernel
has the memory controller and kills. It takes no API server; what is asserted stands in node/guest.py.
"""
import os
import shutil
import subprocess

from cluster import Failed

SECONDS = 900
MEMORY_MIB, DISK_MIB = 4096, 2048
PROGRAMS = ("containerd", "containerd-shim-runc-v2", "crictl", "ctr", "kubelet")


def java_home():
    return os.environ.get("JDK17") or os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("javac") or "/none/bin/javac")))


def images(here):
    done = subprocess.run([f"{here}/images", java_home()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise Failed("the images of the node cannot be made")
    return done.stdout.strip()


def on_debian():
    with open("/etc/os-release", encoding="utf-8") as f:
        return "ID=debian" in f.read().split()


def run(b):
    if not on_debian():
        print("# node: left out: the lab's kernel is built from Debian's source", flush=True)
        return
    here = os.path.join(b.top, "tests/e2e/k8s/node")
    lab = os.path.join(b.top, "tests/e2e/lab/run")
    if not shutil.which("runc", path=f"{os.environ['PATH']}:/usr/sbin:/sbin"):
        raise Failed("runc is missing: tools/deps k8s")
    missing = [name for name in PROGRAMS if not os.access(os.path.join(b.cluster.programs, name), os.X_OK)]
    if missing:
        raise Failed(f"{b.cluster.programs} has no {missing[0]}")
    archives = images(here)
    out = os.path.join(b.where, "node")
    os.makedirs(out)
    words = [lab, "-k", "uml", "-m", str(MEMORY_MIB), "-d", str(DISK_MIB), "-t", str(SECONDS), "-o", out, f"{here}/guest.py", b.cluster.programs, archives, b.build]
    machine = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env={**os.environ, "LAB_KERNEL": f"{here}/kernel.config"})
    told, notes = [], []
    for line in machine.stdout:
        good, _, name = line.rstrip().partition("ok - ")
        if good in ("", "not ") and name:
            told.append([not good, name, notes := []])
        elif line.startswith("#   "):
            notes.append(line[4:].rstrip())
        else:
            print(line, end="", flush=True)
            continue
    status = machine.wait()
    for good, name, notes in told:
        b.ok(good, name, "\n".join(notes))
    b.ok(status in (0, 1) and told, "the machine came to its end", f"status {status}")
