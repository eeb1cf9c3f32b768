# SPDX-License-Identifier: Apache-2.0
"""
A node as a cluster has it: containerd with runc, and a kubelet in standalone mode, which takes its pods from a directory and
tells no API server of them. Inside tests/e2e/lab/run, as root: what is written here is gone with the machine.
"""
import json
import os
import subprocess
import time
import urllib.error
import urllib.request

import yaml

PAUSE = "bankfull.test/pause:1"
SOCKET = "/run/containerd/containerd.sock"
PODS = "/etc/kubelet/pods"
CGROUPS = "/sys/fs/cgroup/kubepods"
KUBELET = "http://127.0.0.1:10255"
START_S = 300

CONTAINERD = f"""version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "{PAUSE}"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
"""

# What a node of a cluster decides by its disks, its firewall and its swap is no matter here.
SETTINGS = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "staticPodPath": PODS, "fileCheckFrequency": "2s",
    "address": "127.0.0.1", "port": 10250, "readOnlyPort": 10255, "healthzPort": 10248, "cgroupDriver": "cgroupfs", "containerRuntimeEndpoint": f"unix://{SOCKET}",
    "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": False}}, "authorization": {"mode": "AlwaysAllow"},
    "makeIPTablesUtilChains": False, "localStorageCapacityIsolation": False, "failSwapOn": False, "enableControllerAttachDetach": False,
    "evictionHard": {"nodefs.available": "0%", "imagefs.available": "0%", "nodefs.inodesFree": "0%"}, "resolvConf": "", "registerNode": False,
}


class Failed(Exception):
    """There is no node: nothing can be said of what was to be proved."""


def until(seconds, condition, step=0.5):
    """What `condition` returns once it is true; else its last answer."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(step)


def prepare():
    """What this kernel does not have of an ordinary node, and the runtime or kubelet asks for."""
    # The layers of images are an overlay, and its upper directory must not lie on another.
    os.makedirs("/var/lib/containerd", exist_ok=True)
    os.makedirs("/mnt/lab-disk", exist_ok=True)
    subprocess.run(["mount", "/dev/ram0", "/mnt/lab-disk"], check=True)
    os.makedirs("/mnt/lab-disk/containerd", exist_ok=True)
    subprocess.run(["mount", "--bind", "/mnt/lab-disk/containerd", "/var/lib/containerd"], check=True)
    # cAdvisor gives up where a processor has no frequency.
    with open("/proc/cpuinfo", encoding="ascii") as f:
        said = f.read()
    if "cpu MHz" not in said:
        with open("/run/cpuinfo", "w", encoding="ascii") as f:
            f.write(said.replace("bogomips", "cpu MHz\t\t: 2000.000\nbogomips", 1))
        subprocess.run(["mount", "--bind", "/run/cpuinfo", "/proc/cpuinfo"], check=True)


class Node:
    def __init__(self, programs, logs):
        self.programs, self.logs = programs, logs
        self.processes = []
        self.env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}

    def begin(self, name, *args):
        with open(f"{self.logs}/{name}.log", "ab") as log:
            process = subprocess.Popen([f"{self.programs}/{name}", *args], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env)
        self.processes.append((name, process))
        return process

    def last_words(self, name):
        with open(f"{self.logs}/{name}.log", encoding="utf-8", errors="replace") as f:
            return "\n".join(line.rstrip()[:400] for line in f.readlines()[-12:])

    def all_run(self):
        for name, process in self.processes:
            if process.poll() is not None:
                raise Failed(f"{name} ended with {process.returncode}:\n{self.last_words(name)}")

    def start(self, images):
        prepare()
        for directory in (PODS, "/etc/containerd", "/var/lib/kubelet", "/var/log/pods"):
            os.makedirs(directory, exist_ok=True)
        with open("/etc/containerd/config.toml", "w", encoding="ascii") as f:
            f.write(CONTAINERD)
        with open("/etc/kubelet/config.yaml", "w", encoding="ascii") as f:
            yaml.safe_dump(SETTINGS, f)
        self.begin("containerd", "--config", "/etc/containerd/config.toml")
        if not until(START_S, lambda: self.all_run() or self.ctr("version").returncode == 0):
            raise Failed(f"containerd does not answer:\n{self.last_words('containerd')}")
        for image in images:
            done = self.ctr("-n", "k8s.io", "images", "import", "--local", image)
            if done.returncode:
                raise Failed(f"{image} cannot be imported: {done.stderr}")
        self.begin("kubelet", "--config", "/etc/kubelet/config.yaml", "--hostname-override", "node-1", "--v=2")
        if not until(START_S, lambda: self.all_run() or self.pods() is not None):
            raise Failed(f"the kubelet does not answer:\n{self.last_words('kubelet')}")

    def stop(self):
        for _, process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    # --- the runtime ---

    def ctr(self, *words):
        return subprocess.run([f"{self.programs}/ctr", "--address", SOCKET, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)

    def crictl(self, *words, text=None):
        how = {"stdin": subprocess.DEVNULL} if text is None else {"input": text}
        return subprocess.run([f"{self.programs}/crictl", "--runtime-endpoint", f"unix://{SOCKET}", "--timeout", "60s", *words], capture_output=True, text=True,
                              timeout=600, **how)

    # --- pods ---

    @staticmethod
    def put(pod):
        """As a file of its own, at once."""
        at = f"{PODS}/{pod['metadata']['name']}.yaml"
        new = f"{os.path.dirname(PODS)}/new.yaml"
        with open(new, "w", encoding="utf-8") as f:
            yaml.safe_dump(pod, f)
        os.rename(new, at)

    @staticmethod
    def take(name):
        os.unlink(f"{PODS}/{name}.yaml")

    @staticmethod
    def pods():
        """What the kubelet knows of them, by name; None: it does not answer."""
        try:
            with urllib.request.urlopen(f"{KUBELET}/pods", timeout=30) as answer:
                items = json.load(answer).get("items") or []
        except (OSError, urllib.error.URLError, ValueError):
            return None
        return {pod["metadata"]["name"].removesuffix("-node-1"): pod for pod in items}

    def status(self, name, container):
        """The kubelet's word on a container, init containers too; {} where there is none."""
        pod = (self.pods() or {}).get(name, {})
        rows = pod.get("status", {}).get("containerStatuses", []) + pod.get("status", {}).get("initContainerStatuses", [])
        return next((row for row in rows if row["name"] == container), {})
