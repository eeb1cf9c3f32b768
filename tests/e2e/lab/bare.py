# SPDX-License-Identifier: Apache-2.0
"""For scenarios with a script of their own: a probe in a container of the pod, and TAP. Inside tests/e2e/lab/run, as root."""

import json
import os
import subprocess
import sys
import time
import urllib.request

from pod import HERE

TARGET = os.path.join(HERE, "../../workloads/target")
PAGE = "http://127.0.0.1:9482/metrics"


def result(good, name, note=""):
    print(f"{'ok' if good else 'not ok'} - {name}")
    if not good:
        for line in str(note).splitlines()[-12:]:
            print(f"# {line[:400]}")
    sys.stdout.flush()
    return good


class Probe:
    """A JVM in a container of its own."""

    def __init__(self, pod, work, name, limit, jvm, options=(), jars="", **how):
        self.pod, self.dir = pod, f"{work}/{name}"
        os.makedirs(self.dir)
        os.chmod(self.dir, 0o777)
        self.cgroup = pod.container(name, limit)
        java, *flags = jvm
        with open(f"{self.dir}/log", "wb") as log:
            self.process = subprocess.Popen([*pod.enter(self.cgroup, **how), java, *flags, "-cp", f"{TARGET}/probe{jars}", "MemoryProbe",
                                             "--library", f"{TARGET}/libbankfullprobe.so", "--dir", self.dir, "--seconds", "86400", *options],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def pid(self):
        """As the pod numbers it, once it is ready."""
        until = time.monotonic() + 300
        while time.monotonic() < until and self.process.poll() is None:
            try:
                with open(f"{self.dir}/truth.jsonl", encoding="utf-8") as f:
                    return json.loads(f.readline())["pid"]
            except (OSError, ValueError):
                time.sleep(0.2)
        with open(f"{self.dir}/log", encoding="utf-8", errors="replace") as f:
            raise RuntimeError(f"no JVM in {self.dir}: {f.read()[-2000:]}")

    def end(self):
        self.pod.kill(self.cgroup)
        self.process.wait()


def page():
    """The agent's, or nothing."""
    try:
        with urllib.request.urlopen(PAGE, timeout=20) as answer:
            return answer.read().decode()
    except OSError:
        return ""
