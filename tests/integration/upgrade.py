# SPDX-License-Identifier: Apache-2.0
"""
Recorded sessions of earlier agents, replayed as they were, and stores of earlier collectors, against the collector of now. The
frames are an earlier program's own bytes: nothing here was written by who wrote the decoder that is tried.
"""
import contextlib
import gzip
import json
import os
import sqlite3
import subprocess

from kit import PROGRAM, Collector, WORK, end_all, finish, ok
from wire_client import Client, Closed

GENERATIONS = "tests/fixtures/generations"
POD = "fraud-taskmanager-1-1"
FINDING = "access-degraded"
NUMBERED = ("sample", "finding", "postmortem", "gap")


def sessions(name):
    folder = os.path.join(GENERATIONS, name)
    for file in sorted(f for f in os.listdir(folder) if f.startswith("session")):
        with open(os.path.join(folder, file), encoding="utf-8") as lines:
            yield [line.rstrip("\n") for line in lines]


def kept(name):
    with open(os.path.join(GENERATIONS, name, "kept.json"), encoding="utf-8") as file:
        return json.load(file)


def database(data, sql):
    with contextlib.closing(sqlite3.connect("file:%s/bankfull.db?mode=ro" % data, uri=True)) as db:
        return db.execute(sql).fetchall()


def tally(data):
    with contextlib.closing(sqlite3.connect("file:%s/bankfull.db?mode=ro" % data, uri=True)) as db:
        rows = db.execute("SELECT * FROM tally")
        return dict(zip([c[0] for c in rows.description], rows.fetchone()))


def replay(collector, frames):
    """One session of an agent as it was; the welcome, what is acked of each epoch, what was refused."""
    client = Client(collector.port, timeout=30)
    messages = [json.loads(frame) for frame in frames]
    assert messages[0]["type"] == "hello"
    client.send(frames[0])
    welcome, acked, errors, last = client.receive(), {}, [], {}
    for text, message in zip(frames[1:], messages[1:]):
        if message["type"] in NUMBERED:
            last[message["epoch"]] = message["to"] if message["type"] == "gap" else message["seq"]
        client.send(text)
    try:
        while acked != last or messages[-1]["type"] == "bye":
            said = client.receive()
            if said["type"] == "ack":
                acked[said["epoch"]] = said["seq"]
            else:
                errors.append(said)
    except Closed as end:
        if end.code not in (None, 1000):
            errors.append(str(end))
    return welcome, acked, last, errors


def unpack(name, data):
    os.makedirs(data)
    with gzip.open(os.path.join(GENERATIONS, name, "bankfull.db.gz")) as file, open(data + "/bankfull.db", "wb") as out:
        out.write(file.read())


def agent_of(generation):
    """An agent of it, and a store of now."""
    collector = Collector("fresh-" + generation)
    said = kept(generation)
    for i, frames in enumerate(sessions(generation), 1):
        welcome, acked, last, errors = replay(collector, frames)
        name = "%s, session %d: " % (generation, i)
        ok(welcome["type"] == "welcome", name + "is welcome", welcome)
        ok(acked == last and last, name + "all of it is acked", (acked, last))
        ok(not errors, name + "nothing is refused", errors)
        again = replay(collector, frames)
        ok(not again[3] and all(a["seq"] == last[a["epoch"]] for a in again[0]["acked"] if a["epoch"] in last),
           name + "sent again, it is known", again)
    ok(POD in collector.get("/api/v1/pods")[1], generation + ": its pod is shown")
    ok(FINDING in collector.get("/api/v1/findings")[1], generation + ": its finding is shown", collector.get("/api/v1/findings"))
    collector.stop()
    got = tally(collector.data)
    ok(all(got[k] == said[k] for k in ("samples", "findings", "postmortems", "gaps", "agents")),
       generation + ": as much is kept as its own collector kept", (got, said))
    ok(*swap(collector.whole(), generation + ": and the store is whole"))


def swap(checked, name):
    return checked[0], name, checked[1]


def store_of(generation, now):
    """The store that its collector left, opened by the one of now."""
    data, said = os.path.join(WORK, "store-" + generation), kept(generation)
    unpack(generation, data)
    ok(database(data, "PRAGMA user_version") == [(said["store_version"],)], "%s: a store of version %d" % (generation, said["store_version"]))
    backup = os.path.join(WORK, "before-" + generation)
    done = subprocess.run([PROGRAM, "backup", data, backup], capture_output=True, text=True)
    ok(done.returncode == 0, generation + ": can be backed up by the collector of now", done.stderr)
    with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % backup, uri=True)) as db:
        ok(db.execute("PRAGMA user_version").fetchone()[0] == said["store_version"], generation + ": and the backup is of its version still")
    before = tally(data)
    collector = Collector("store-" + generation)
    ok(POD in collector.get("/api/v1/pods")[1], generation + ": its pod is shown by the collector of now")
    ok(FINDING in collector.get("/api/v1/findings")[1], generation + ": its finding, too", collector.get("/api/v1/findings"))
    for frames in sessions(generation):
        welcome, _, last, errors = replay(collector, frames)
        ok({a["epoch"]: a["seq"] for a in welcome["acked"] if a["epoch"] in last} == last and not errors,
           generation + ": its agent goes on where the older collector was", (welcome, last, errors))
    collector.stop()
    ok(tally(collector.data) == before, generation + ": nothing is lost or counted twice", (tally(collector.data), before))
    ok(database(data, "PRAGMA user_version") == [(now,)], generation + ": the store is of the version of now")
    ok(*swap(collector.whole(), generation + ": and whole"))


def downgrade(now):
    """A store of a later version is refused with what to do, and left as it is; the backup of before brings it back."""
    first = Collector("down")
    for frames in sessions(sorted(os.listdir(GENERATIONS))[-1]):
        replay(first, frames)
    first.stop()
    backup, back = os.path.join(WORK, "before-down"), os.path.join(WORK, "back")
    done = subprocess.run([PROGRAM, "backup", first.data, backup], capture_output=True, text=True)
    ok(done.returncode == 0, "a backup before an upgrade", done.stderr)
    before = tally(first.data)
    with contextlib.closing(sqlite3.connect(first.data + "/bankfull.db")) as db:
        db.execute("PRAGMA user_version = %d" % (now + 1))
    done = subprocess.run(first.command, capture_output=True, text=True, timeout=60)
    ok(done.returncode == 3 and "bankfull-collector restore FILE DIR" in done.stderr, "a later store is refused with the command",
       (done.returncode, done.stderr))
    ok(database(first.data, "PRAGMA user_version") == [(now + 1,)], "and left as it is")
    done = subprocess.run([PROGRAM, "restore", backup, first.data], capture_output=True, text=True)
    ok(done.returncode != 0 and "there already" in done.stderr and database(first.data, "PRAGMA user_version") == [(now + 1,)],
       "no restore replaces it", done.stderr)
    os.mkdir(back)
    done = subprocess.run([PROGRAM, "restore", backup, back], capture_output=True, text=True)
    ok(done.returncode == 0 and tally(back) == before, "the backup becomes the database of another directory", done.stderr)
    collector = Collector("back")
    ok(POD in collector.get("/api/v1/pods")[1], "and is served")
    collector.stop()


def main():
    generations = sorted(os.listdir(GENERATIONS))
    ok(len(generations) >= 2, "two generations are recorded", generations)
    blank = Collector("blank")
    blank.stop()
    now = database(blank.data, "PRAGMA user_version")[0][0]
    for generation in generations:
        agent_of(generation)
        store_of(generation, now)
    downgrade(now)


try:
    main()
finally:
    end_all()
finish()
