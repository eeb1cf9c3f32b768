# SPDX-License-Identifier: Apache-2.0
"""What can happen to a pod while it runs: `do = "WORD ARGUMENT..."` of a scenario."""

import os
import shlex
import shutil
import signal
import subprocess

from pod import read, write


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


def start(run, *command):
    """One more process in the main container."""
    run.others.append(subprocess.Popen([*run.pod.enter(run.pod.main), *command], stdin=subprocess.DEVNULL, stdout=run.logs["other.log"],
                                       stderr=run.logs["other.log"]))


def evict(run):
    """Kubelet's: SIGTERM to every container at once, SIGKILL when the grace period is over; what the pod had is deleted."""
    for cgroup in (run.pod.main, run.pod.side):
        signal_container(cgroup, "TERM")


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


WORDS = {"limit": limit, "high": high, "signal": send, "start": start, "evict": evict, "link": link, "collector": collector,
         "delete-state": delete_state, "lose-node": lose_node, "engine": engine}


def do(run, text):
    word, *arguments = shlex.split(text)
    WORDS[word](run, *arguments)
