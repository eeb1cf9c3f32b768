# SPDX-License-Identifier: Apache-2.0
"""What can happen to a pod while it runs: `do = "WORD ARGUMENT..."` of a scenario."""

import itertools
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

from pod import HERE, read, write


def signal_container(cgroup, name):
    """To every process of it, as a runtime's stop does to the first."""
    for pid in read(f"{cgroup}/cgroup.procs").split():
        try:
            os.kill(int(pid), getattr(signal, f"SIG{name}"))
        except ProcessLookupError:
            pass


def limit(run, size):
    """A resize in place."""
    write(f"{run.pod.main}/memory.max", size)
    run.pod.limit = size


def high(run, size):
    write(f"{run.pod.main}/memory.high", size)


def send(run, whom, name):
    signal_container({"main": run.pod.main, "agent": run.pod.side}[whom], name)


def start_in(run, cgroup, *command, **how):
    run.others.append(subprocess.Popen([*run.pod.enter(cgroup, **how), *command], stdin=subprocess.DEVNULL, stdout=run.logs["other.log"],
                                       stderr=run.logs["other.log"]))


def start(run, *command):
    """One more process in the main container."""
    start_in(run, run.pod.main, *command)


def start_beside(run, name, *command):
    """One more container of the pod, without a limit of its own. VARIABLE=... before the command: those of `enter`."""
    how = dict(itertools.takewhile(lambda pair: len(pair) == 2, (word.split("=", 1) for word in command)))
    start_in(run, run.pod.container(name, "max"), *command[len(how):], **how)


def mark(_run, *_words):
    """Nothing but a moment that an expectation can name."""


def evict(run, grace_s):
    """Kubelet's: SIGTERM to every container at once, SIGKILL when the grace period is over; then what the pod had is deleted."""
    both = (run.pod.main, run.pod.side)
    for cgroup in both:
        signal_container(cgroup, "TERM")
    until = time.monotonic() + float(grace_s)
    while time.monotonic() < until and any(read(f"{cgroup}/cgroup.procs").split() for cgroup in both):
        time.sleep(0.1)
    for cgroup in both:
        run.pod.kill(cgroup)
    delete_state(run)


def hog(run, kib_per_s, mib):
    """Another program of the node, of those that its kernel spares: it takes so many MiB, with `-80` all that is available but 80."""
    if int(mib) < 0:
        available = next(line for line in read("/proc/meminfo").splitlines() if line.startswith("MemAvailable:"))
        mib = str((int(available.split()[1]) >> 10) + int(mib))
    run.others.append(subprocess.Popen([sys.executable, f"{HERE}/../../workloads/worker.py", "--seconds", "86400", "--grow-kib-per-s", kib_per_s,
                                        "--grow-max-mib", mib], stdin=subprocess.DEVNULL, stdout=run.logs["other.log"],
                                       stderr=run.logs["other.log"]))


def link(run, state):
    run.collector.link(state)


def collector(run, what):
    {"stop": run.collector.stop, "start": run.collector.start}[what]()


def delete_state(run):
    """An emptyDir goes with its pod."""
    shutil.rmtree(f"{os.path.dirname(run.dir)}/state", ignore_errors=True)


def lose_node(run):
    """Nothing says goodbye: the link first, then everything at once."""
    run.collector.link("down")
    run.pod.kill(run.pod.main)
    run.pod.kill(run.pod.side)


def engine(run, name, text=""):
    """A file of the workload's protocol: pause, close, submit, leak, restart."""
    at = f"{run.dir}/{name}"
    write(f"{at}.new", text)
    os.rename(f"{at}.new", at)


def restart(run, volume=None):
    """A container that ends as it is asked to, and the next one in its place; with a new volume, if it says of which folder."""
    signal_container(run.pod.main, "TERM")
    until = time.monotonic() + 30
    while time.monotonic() < until and read(f"{run.pod.main}/cgroup.procs").split():
        time.sleep(0.1)
    run.pod.kill(run.pod.main)
    if volume:
        shutil.rmtree(f"{run.dir}/{volume}")
    run.replace_main()


def savepoint(run):
    """Asked of Flink's JobManager, which answers before it is made."""
    with open(f"{run.dir}/ready", encoding="utf-8") as f:
        ready = dict(line.strip().split("=", 1) for line in f)
    body = json.dumps({"target-directory": f"file://{run.dir}/savepoints", "cancel-job": False}).encode()
    ask = urllib.request.Request(f"{ready['rest_url']}/jobs/{ready['job_id']}/savepoints", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(ask, timeout=60):
        pass


WORDS = {"limit": limit, "high": high, "signal": send, "start": start, "start-beside": start_beside, "mark": mark, "evict": evict,
         "link": link, "collector": collector, "delete-state": delete_state, "lose-node": lose_node, "hog": hog, "engine": engine,
         "restart": restart, "savepoint": savepoint}


def do(run, text):
    word, *arguments = shlex.split(text)
    WORDS[word](run, *arguments)
