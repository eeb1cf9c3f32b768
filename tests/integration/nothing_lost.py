# SPDX-License-Identifier: Apache-2.0
"""Real agents, the real collector, a real JVM, and everything that can be done to them, round after round.

Between agents and collector stands a relay (wire_tap.py) that keeps its own ledger: what was sent, what was acked. At
the end the store must hold all of it: acked is a subset of stored, each sample once, each finding in its latest state,
each post-mortem whole and once, and every number that is missing lies inside a stored gap. What was sent last and never
acked is not lost where its agent's spool still holds it.

    nothing_lost.py BUILD WORK ROUNDS SEED
"""
import asyncio
import glob
import json
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.dirname(__file__))
import spool_read  # noqa: E402
from ports import free_port  # noqa: E402
from wire_tap import Tap  # noqa: E402

BUILD, WORK, ROUNDS, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
N_AGENTS = 3
LIMIT_MIB = 128
rng = random.Random(SEED)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
failures = 0


def note(*words):
    print("#", *words, flush=True)


def result(good, name, why=""):
    global failures
    print(("ok - " if good else "not ok - ") + name, flush=True)
    if not good:
        failures += 1
        note(f"  seed {SEED}")
        for line in str(why).splitlines()[:20]:
            print("#   " + line, flush=True)


class Jvm:
    """A JVM of tests/workloads that holds memory and takes more when it is told to."""

    def __init__(self):
        self.n = 0
        self.run = None
        self.start()

    def start(self):
        self.n += 1
        self.dir = f"{WORK}/jvm{self.n}"
        os.mkdir(self.dir)
        self.run = subprocess.Popen(
            ["tests/workloads/run", "probe", "--dir", self.dir, "--seconds", "1500", "--heap", "32m", "--nmt", "summary"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(f"{self.dir}.err", "wb"))
        for _ in range(600):
            if os.path.exists(f"{self.dir}/ready"):
                break
            time.sleep(0.1)
        lines = dict(line.strip().split("=", 1) for line in open(f"{self.dir}/ready"))
        self.pid = int(lines["probe_pid"])

    def leak(self, mib):
        with open(f"{self.dir}/leak.new", "w") as f:
            f.write(str(mib))
        os.rename(f"{self.dir}/leak.new", f"{self.dir}/leak")

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        self.run.wait()

    def stop(self):
        if self.run.poll() is None:
            self.run.terminate()
            self.run.wait()


class Program:
    """One of ours, which is killed and started again, with a wall clock of its own."""

    def __init__(self, name):
        self.name = name
        self.clock = f"{WORK}/{name}.clock"
        self.set_clock(0)
        self.proc = None
        self.n = 0
        self.out = open(f"{WORK}/{name}.out", "ab")
        self.err = open(f"{WORK}/{name}.err", "ab")

    def set_clock(self, seconds):
        with open(self.clock, "r+b" if os.path.exists(self.clock) else "wb") as f:
            f.write(struct.pack("<q", seconds))

    def spawn(self, args):
        env = dict(os.environ, BANKFULL_CLOCK=self.clock, LD_PRELOAD=f"{WORK}/clock.so")
        self.proc = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err, env=env)
        self.n += 1

    def kill(self):
        if self.alive():
            self.proc.send_signal(signal.SIGCONT)
            self.proc.kill()
            self.proc.wait()

    async def end(self):
        """By SIGTERM: it has things to say yet, so the relay must go on meanwhile."""
        if self.alive():
            self.proc.send_signal(signal.SIGCONT)
            self.proc.terminate()
            await asyncio.to_thread(self.proc.wait)

    def alive(self):
        return self.proc and self.proc.poll() is None

    def stop(self):
        self.proc.send_signal(signal.SIGSTOP)

    def cont(self):
        self.proc.send_signal(signal.SIGCONT)

    def file_limit(self, size):
        """A full disk: a write past `size` fails. "unlimited" is room again."""
        subprocess.run(["prlimit", f"--pid={self.proc.pid}", f"--fsize={size}:"], check=True, stderr=subprocess.DEVNULL)


class Collector(Program):
    def __init__(self):
        super().__init__("collector")
        self.port = free_port()
        self.data = f"{WORK}/data"
        os.mkdir(self.data)

    def start(self):
        self.spawn([f"{WORK}/bankfull-collector", "--listen", f"127.0.0.1:{self.port}", "--data", self.data])

    def full(self):
        size = max(os.path.getsize(f) for f in glob.glob(f"{self.data}/*"))
        self.file_limit(size)


class Agent(Program):
    def __init__(self, n, tap_port, jvm):
        super().__init__(f"agent{n}")
        self.id = f"pod-{n}"
        self.state = f"{WORK}/state{n}"
        self.tap_port, self.jvm = tap_port, jvm
        self.listen = free_port()
        os.mkdir(self.state)

    def start(self):
        os.makedirs(self.state, exist_ok=True)
        self.spawn([
            f"{WORK}/bankfull", "agent", "--collector", f"ws://127.0.0.1:{self.tap_port}/agent", "--pid", str(self.jvm.pid),
            "--limit", f"{LIMIT_MIB}Mi", "--state-dir", self.state, "--listen", f"127.0.0.1:{self.listen}",
            "--interval", "1s", "--smaps-interval", "5s", "--namespace", "test", "--pod", self.id, "--workload", "w",
            "--no-metrics"])

    def drained(self):
        """Whether it has a session and nothing to get rid of; and what it says of that."""
        names = ["connected", "spool_on_disk", "spool_messages", "postmortems_unacked"]
        said = {}
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.listen}/metrics", timeout=2) as page:
                for line in page.read().decode().splitlines():
                    name = line.split(" ")[0].removeprefix("bankfull_agent_")
                    if name in names:
                        said[name] = float(line.rsplit(" ", 1)[1])
        except OSError as e:
            return False, f"{self.name}: {e}"
        # One sample a second is always on its way.
        good = len(said) == len(names) and said["connected"] and said["spool_messages"] <= 3 and not said["postmortems_unacked"]
        return good, f"{self.name}: {said}"


async def pause(seconds):
    await asyncio.sleep(seconds)


class World:
    def __init__(self):
        self.deaths = 0
        self.grown = 0

    async def begin(self):
        self.jvm = await asyncio.to_thread(Jvm)
        self.collector = Collector()
        self.tap = Tap(self.collector.port)
        self.tap_port = await self.tap.start()
        self.agents = [Agent(n, self.tap_port, self.jvm) for n in range(N_AGENTS)]
        # The collector is away for the first 10 s.
        for agent in self.agents:
            agent.start()
        await pause(10)
        self.collector.start()
        await pause(3)

    def some(self):
        return rng.sample(self.agents, rng.randint(1, N_AGENTS))

    # --- what is done to them; each leaves everything running again -----------------------------

    async def kill_agents(self):
        for agent in self.some():
            agent.kill()
            await pause(rng.random() / 4)
            agent.start()

    async def kill_collector(self):
        self.collector.kill()
        await pause(rng.random() * 2)
        self.collector.start()

    async def kill_collector_in_commits(self):
        """Right after a restart everybody resends: a batch is in the making."""
        for _ in range(3):
            self.collector.kill()
            self.collector.start()
            await pause(0.1 + rng.random() / 3)
        self.collector.kill()
        self.collector.start()

    async def kill_both(self):
        some = self.some()
        self.collector.kill()
        for agent in some:
            agent.kill()
        await pause(rng.random())
        self.collector.start()
        for agent in some:
            agent.start()

    async def stop_collector(self):
        self.collector.stop()
        await pause(3)
        self.collector.cont()

    async def stop_agents(self):
        some = self.some()
        for agent in some:
            agent.stop()
        await pause(3)
        for agent in some:
            agent.cont()

    async def half_open(self):
        self.tap.frozen = True
        await pause(4)
        if rng.random() < 0.5:
            self.tap.reset()
        self.tap.frozen = False

    async def cut(self):
        self.tap.reset()

    async def full_disk_collector(self):
        self.collector.full()
        await pause(3)
        self.collector.file_limit("unlimited")

    async def full_disk_agent(self):
        some = self.some()
        for agent in some:
            sizes = [os.path.getsize(f) for f in glob.glob(f"{agent.state}/*") if os.path.isfile(f)]
            agent.file_limit(max(sizes or [0]))
        await pause(3)
        for agent in some:
            agent.file_limit("unlimited")
            if rng.random() < 0.3:
                agent.kill()
                agent.start()

    async def delete_state(self):
        agent = rng.choice(self.agents)
        shutil.rmtree(agent.state, ignore_errors=True)
        await pause(1.5)
        if rng.random() < 0.7:
            agent.kill()
            agent.start()

    async def clock_jump(self):
        for program in rng.sample(self.agents + [self.collector], 2):
            program.set_clock(rng.choice([-3600, 0, 3600]))

    async def grow(self):
        """By all that is left, then by less, and so on. The first is to be a finding: some ticks pass until it is one, and is sent."""
        self.grown += 1
        self.jvm.leak(90 if self.grown % 2 else 50)
        await pause(2)
        end = time.monotonic() + 30
        while "finding" not in self.tap.types and time.monotonic() < end:
            await pause(1)

    async def jvm_dies(self):
        alive = [agent for agent in self.agents if agent.alive()]
        await asyncio.to_thread(self.jvm.kill)
        self.deaths += 1
        await pause(3)
        # Each pod's agent is told the new pid by a new start, as a new pod would.
        await asyncio.to_thread(self.jvm.start)
        for agent in alive:
            if rng.choice([True, False]):
                agent.kill()
            else:
                await agent.end()
            agent.start()

    async def rounds(self):
        deeds = [self.kill_agents, self.kill_collector, self.kill_collector_in_commits, self.kill_both, self.stop_collector,
                 self.stop_agents, self.half_open, self.cut, self.full_disk_collector, self.full_disk_agent,
                 self.delete_state, self.clock_jump, self.grow, self.jvm_dies]
        order = []
        while len(order) < ROUNDS:
            order += rng.sample(deeds, len(deeds))
        for number, deed in enumerate(order[:ROUNDS]):
            note(f"round {number + 1}: {deed.__name__}")
            await deed()
            await pause(0.5 + rng.random() * 1.5)
            for program in self.agents + [self.collector]:
                if not program.alive():
                    result(False, f"{program.name} is alive after {deed.__name__}", f"exit status {program.proc.poll()}")
                    program.start()

    async def drain(self):
        """Until each agent has a session and nothing waits: an outage may have left a minute of backoff."""
        end = time.monotonic() + 150
        while time.monotonic() < end:
            state = [await asyncio.to_thread(agent.drained) for agent in self.agents]
            if all(good for good, _ in state):
                return True
            await pause(1)
        note("not drained:", *(why for _, why in state))
        return False

    async def finish(self):
        drained = await self.drain()
        result(drained, "every agent gets rid of what it holds")
        for agent in self.agents:
            await agent.end()
        result(all(agent.proc.returncode == 0 for agent in self.agents), "agents end with status 0 on SIGTERM",
               [agent.proc.returncode for agent in self.agents])
        await self.tap.idle()
        await self.collector.end()
        result(self.collector.proc.returncode == 0, "the collector ends with status 0 on SIGTERM",
               self.collector.proc.returncode)
        self.held = {}
        for agent in self.agents:
            self.held.update(spool_read.held(agent.state))
        await asyncio.to_thread(self.jvm.stop)

    def stop_all(self):
        for program in self.agents + [self.collector]:
            program.kill()
        self.jvm.stop()


def check(world):
    check = subprocess.run([f"{WORK}/bankfull-collector", "check", world.collector.data], capture_output=True, text=True)
    result(check.returncode == 0, "bankfull-collector check finds nothing", check.stdout + check.stderr)
    judge(world, Stored(f"{world.collector.data}/bankfull.db"))


class Stored:
    """What the database holds, read by another SQLite binding."""

    def __init__(self, path):
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        epochs = {row: bytes(epoch).hex() for row, epoch in db.execute("select epoch, id from epoch")}
        self.acked = {bytes(e).hex(): a for e, a in db.execute("select id, acked from epoch")}
        self.samples = {}
        for epoch, seq in db.execute("select epoch, seq from sample"):
            self.samples.setdefault(epochs[epoch], set()).add(seq)
        self.chunks = {}
        for epoch, first, last, n in db.execute("select epoch, first_seq, last_seq, samples from chunk"):
            self.chunks.setdefault(epochs[epoch], []).append((first, last, n))
        self.gaps = {}
        for epoch, first, last in db.execute("select epoch, from_seq, to_seq from gap"):
            self.gaps.setdefault(epochs[epoch], []).append((first, last))
        edges = ["opened", "updated", "cleared"]
        self.findings = {}
        for agent, i, edge in db.execute("select agent.id, finding.id, edge from finding left join agent using (agent)"):
            self.findings.setdefault((agent, i), []).append(edges[edge])
        self.postmortems = {}
        for agent, i, parts, here, inferred in db.execute(
                "select agent.id, postmortem.id, parts, (select count(*) from part where part.postmortem = postmortem.postmortem), "
                "inferred from postmortem join agent using (agent)"):
            self.postmortems.setdefault((agent, i), []).append((parts, here, inferred))
        self.agent_of = {bytes(e).hex(): agent for e, agent in db.execute("select epoch.id, agent.id from epoch join agent using (agent) order by epoch.epoch")}
        self.last_epoch = {agent: epoch for epoch, agent in self.agent_of.items()}

    def unpack(self, epoch, sent):
        """Packed samples: a chunk says how many of its numbers are samples; `sent` says which they must be."""
        for first, last, n in self.chunks.get(epoch, []):
            of = [seq for seq in range(first, last + 1) if sent.get(seq, {"type": "sample"})["type"] == "sample"]
            of = [seq for seq in of if not self.in_gap(epoch, seq)]
            if len(of) == n:
                self.samples.setdefault(epoch, set()).update(of)
            else:
                note(f"a chunk of {epoch}, {first} to {last}, holds {n} samples; {len(of)} were sent")

    def in_gap(self, epoch, seq):
        return any(first <= seq <= last for first, last in self.gaps.get(epoch, []))


def judge(world, stored):
    tap = world.tap
    lost, uncovered, stale, twice = [], [], [], []
    n_samples = 0
    for epoch, top in tap.acked.items():
        if stored.acked.get(epoch, 0) < top:
            lost.append(f"{epoch}: {top} was acked, the store says {stored.acked.get(epoch)}")
        latest = {}
        stored.unpack(epoch, tap.sent.get(epoch, {}))
        for seq in range(1, max(top, stored.acked.get(epoch, 0)) + 1):
            message = tap.sent.get(epoch, {}).get(seq)
            kind = message and message["type"]
            if kind == "sample":
                n_samples += 1
                if seq not in stored.samples.get(epoch, set()):
                    lost.append(f"{epoch} sample {seq}")
            elif kind == "finding":
                latest[message["id"]] = message
            elif kind == "gap":
                if not stored.in_gap(epoch, seq):
                    uncovered.append(f"{epoch} {seq} ({message['reason']})")
            elif kind is None and not stored.in_gap(epoch, seq):
                # Sent before the relay saw the whole of it, perhaps: then it is stored.
                if seq not in stored.samples.get(epoch, set()):
                    uncovered.append(f"{epoch} {seq}: neither sent, nor stored, nor in a gap")
        for name, message in latest.items():
            i = (stored.agent_of.get(epoch), name)
            if i not in stored.findings:
                lost.append(f"finding {i}")
            elif len(stored.findings[i]) != 1:
                twice.append(f"finding {i}")
            # What an agent's next start does not find again the collector ends by itself (docs/collector.md).
            elif stored.findings[i][0] == "cleared" and stored.last_epoch[i[0]] != epoch:
                pass
            elif stored.findings[i][0] != message["edge"]:
                stale.append(f"finding {i}: sent {message['edge']}, stored {stored.findings[i][0]}")
    # What was sent and not acked may be stored, or still be held, or was lost with its agent's state: then a gap says so.
    for epoch, sent in tap.sent.items():
        for seq in range(1, max(sent) + 1):
            if seq > stored.acked.get(epoch, 0) and not stored.in_gap(epoch, seq) and seq not in world.held.get(epoch, ()):
                uncovered.append(f"{epoch} {seq}: sent, never stored, not held any more, in no gap")
    said = []
    for agent in world.agents:
        for line in open(f"{WORK}/{agent.name}.out", errors="replace"):
            if line.startswith("{") and '"postmortem"' in line:
                said.append((f"test/{agent.id}", json.loads(line)["id"]))
    for i in said:
        of = [p for p in stored.postmortems.get(i, []) if not p[2]]
        if len(of) != 1 or of[0][0] != of[0][1]:
            lost.append(f"post-mortem {i}: {stored.postmortems.get(i)}")
    note(f"{len(tap.acked)} epochs, {n_samples} samples acked, {sum(map(len, tap.sent.values()))} numbers sent,",
         f"{len(stored.findings)} findings, {len(set(said))} post-mortems, {sum(map(len, stored.gaps.values()))} gaps, {sum(map(len, world.held.values()))} still held, {world.deaths} deaths;",
         "messages:", json.dumps(tap.types, sort_keys=True))
    result(n_samples > ROUNDS and stored.findings and said, "there was something to lose", (n_samples, stored.findings, said))
    result(not lost, "what was acked is stored, and every post-mortem is there once and whole", "\n".join(lost))
    result(not stale and not twice, "every finding is stored once, in its latest state", "\n".join(stale + twice))
    result(not uncovered, "every number that is missing lies inside a stored gap", "\n".join(uncovered))
    result(len(said) == len(set(said)), "no post-mortem is said twice", said)
    result(not tap.bad, "every frame on the wire was JSON", tap.bad)


async def main():
    for program in ("bankfull", "bankfull-collector"):  # a build meanwhile must not take them away
        shutil.copy(f"{BUILD}/{program}", WORK)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", f"{WORK}/clock.so", "tests/integration/clock_shim.c"], check=True)
    world = World()
    await world.begin()
    try:
        await world.rounds()
        await world.finish()
    finally:
        world.stop_all()
    check(world)
    return failures


sys.exit(1 if asyncio.run(main()) else 0)
