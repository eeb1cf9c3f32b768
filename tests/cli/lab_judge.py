# SPDX-License-Identifier: Apache-2.0
"""lab_judge.py DIRECTORY: tests/e2e/lab/judge.py and peers.py on made runs, each wrong in one thing. TAP."""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "e2e", "lab")]
import figures  # noqa: E402
import judge  # noqa: E402
import lab_tap  # noqa: E402
import peers  # noqa: E402
from lab_runs import LIMIT, MIB, PID, T0, Made, first_body  # noqa: E402
from lab_tap import ok  # noqa: E402
from rundir import Run  # noqa: E402

WORK = sys.argv[1]


def read(made):
    return Run(made.write(tempfile.mkdtemp(dir=WORK)))


def failed(run):
    """The judgements that failed: (key, text), each with what was said of it."""
    return [(one.key, one.text, one.note) for one in judge.judge(run) if not one.good]


def fails(name, change, *wanted, **made):
    """`change` alone is wrong: these judgements fail, by key or by a part of their text, and no others."""
    one = Made(**made)
    change(one)
    wrong = failed(read(one))
    missing = [want for want in wanted if not any(want == key or want in text for key, text, _ in wrong)]
    others = [text for key, text, _ in wrong if not any(want == key or want in text for want in wanted)]
    ok(not missing and not others, name, f"passed, and should not: {missing}\nfailed, and should not: {others}\n{wrong}")


def passes(name, change=lambda made: None, **made):
    one = Made(**made)
    change(one)
    wrong = failed(read(one))
    ok(not wrong, name, wrong)


# --- changes ----------------------------------------------------------------------------------------


def set_meta(**values):
    return lambda made: made.meta.update(values)


def set_finding(**values):
    return lambda made: made.findings[0].update(values)


def set_death(**values):
    return lambda made: made.postmortems[0].update(values)


def set_body(**values):
    return lambda made: made.postmortems[0]["bodies"][0].update(values)


def second_death(made, **values):
    last = {"timeline": [{"wall_ms": made.kill + 89_000}]}
    made.postmortems.append({**made.death(), "died_ms": made.kill + 90_000, "bodies": [first_body(deaths_same_owner=2), last], **values})


def drop(name):
    return lambda made: setattr(made, name, [])


def add_finding(*arguments):
    return lambda made: made.findings.append(made.finding(*arguments))


def say_scenario(old, new):
    def change(made):
        assert old in made.scenario
        made.scenario = made.scenario.replace(old, new)
    return change


def both(*changes):
    return lambda made: [change(made) for change in changes]


def no_kill(made):
    made.meta.update(kill_ms=None, end="time")


def no_warning(made):
    made.findings = []
    for page in made.pages:
        page["open"] = []


def torn_page(made):
    made.pages[5]["residual"] = 4096


def torn_sample(made):
    made.points[3]["charge_bytes"] += 20 * MIB


def off_second(by, moved):
    """A row of root whose sum is off by so much, most of which may have come while it was read; its neighbours tell nothing of it."""
    def change(made):
        for row in made.rows[39:42]:
            row["current"] += by
            for key in ("anon", "inactive_anon"):
                row[key] += by
            row["current_before"] = row["current"]
        made.rows[40]["anon"] -= by
        made.rows[40]["inactive_anon"] -= by
        made.rows[40]["current_before"] -= moved
    return change


def open_group(made):
    """Totals agree while the parts are wrong."""
    for rows in (made.points[4]["owners"], *(page["owners"] for page in made.pages if page["owners"] == made.points[4]["owners"])):
        rows["native-other"] -= 8 * MIB
        rows["page-cache"] += 8 * MIB


def wrong_truth(made):
    for line in made.truths:
        line["malloc"]["in_use"] = int(line["malloc"]["in_use"] * 1.06)


def broken_kernel(made):
    made.rows[100]["current"] += 3 * MIB
    made.rows[99]["current"] += 3 * MIB
    made.rows[101]["current"] += 3 * MIB


def page_warns(made):
    made.pages[4]["open"] = [("freeboard-low", "warning")]


def log_warns(made):
    made.log = [{"event": "finding-open", "level": "warning", "message": "freeboard-low, warning: little room"}]


def grave_for_a_minute(made):
    """Its last state says notice: only the pages know that it was more."""
    made.findings.append(made.finding("native-growth", "notice", "native-other", 60))
    for page in made.pages[5:9]:
        page["open"] = [("native-growth", "warning")]


def polled(*states):
    """findings.jsonl: (second, severity, owner), the last of them to the end."""
    def change(made):
        made.polls = []
        for second in range(15, made.seconds, 15):
            now = [state for state in states if state[0] <= second]
            if now:
                item = made.finding("limit-forecast", now[-1][1], now[-1][2], states[0][0])
                made.polls.append({"at_ms": T0 + second * 1000, "items": [{**item, "updated_ms": T0 + now[-1][0] * 1000}]})
        made.findings[0].update(severity=states[-1][1], owner=states[-1][2])
    return change


def one_restart_on(made):
    made.scenario = made.scenario.replace('killed = "main"', 'killed = "main"\ngoes_on = true')


# --- tests ------------------------------------------------------------------------------------------


def judgements_of_a_leak():
    passes("a leak that was warned of, as it is")
    passes("the same as found", profile="as-found")
    fails("no warning at all", no_warning, "expect", "named")
    fails("a notice is no warning", both(no_warning, add_finding("limit-forecast", "notice", "native-other", 80)), "expect", "named")
    fails("another rule than expected", set_finding(rule="native-growth"), "expect")
    fails("the wrong owner", set_finding(owner="java-heap"), "expect", "named")
    fails("no owner", set_finding(owner=None), "expect", "named")
    fails("of the group, but not the owner", set_finding(owner="direct-buffers"), "expect", "named")
    passes("of the group: enough as found", set_finding(owner="direct-buffers"), profile="as-found")
    fails("not of the group", set_finding(owner="java-heap"), "expect", "named", profile="as-found")
    fails("a warning after the kill", both(no_warning, lambda made: made.findings.append(
        made.finding("limit-forecast", "warning", "native-other", made.seconds + 1))), "expect", "named")
    fails("a warning that cleared long before the kill", both(no_warning, add_finding("limit-forecast", "warning", "native-other", 60, 90)),
          "named")
    fails("a kill that did not come", both(no_kill, drop("postmortems")), "the kernel killed it", "expect", "there is one post-mortem")
    fails("a workload that was never ready", set_meta(ready_ms=None), "the workload was ready")
    fails("before an action that was never done", say_scenario('before = "kill"', 'before = "limit 300M"'), "can be judged")
    passes("before an action that came later", both(
        say_scenario('before = "kill"', 'before = "limit"\nafter = "action 1"'), say_scenario('minutes = 12', 'end = "kill"'), say_scenario(
            '[expect_death]', '[[action]]\nat_s = 10\ndo = ["start load", "wait 60", "limit 300M"]\n[expect_death]'),
        set_meta(actions=[{"at_ms": T0 + 30_000, "do": "start load"}, {"at_ms": T0 + 90_000, "do": "limit 300M"}])))
    fails("a group that is none", say_scenario('group = "native"', 'group = "natives"'), "can be judged")


def judgements_over_time():
    passes("polled findings", polled((80, "warning", "native-other")))
    fails("an owner that was named for a minute and then was another", polled((80, "warning", "native-other"), (140, "warning", "java-heap")),
          "named")
    run = read(made_with(polled((80, "notice", "native-other"), (140, "warning", "java-heap"), (200, "warning", "native-other"))))
    ok(figures.named_since(run)[0] == T0 + 200_000, "the first warning that names the owner is the one that does",
       figures.named_since(run))
    ok(abs(figures.minutes(figures.named_since(run)[0], run.kill_ms) - (run.meta["ended_ms"] - T0 - 200_000) / 60_000) < 1e-9,
       "and the lead is from there")
    ok([sight.owner for sight in figures.strangers(run)] == ["java-heap"], "a warning that named another is counted")
    ok(abs(figures.forecast_at_half(run, run.kill_ms)) < 0.02, "the forecast at half the time", figures.forecast_at_half(run, run.kill_ms))


def made_with(change, **options):
    made = Made(**options)
    change(made)
    return made


def judgements_of_silence():
    passes("a pod at rest", leaks=False, called="rest")
    for name, change in (("a warning in a silent run", add_finding("freeboard-low", "warning", None, 100)),
                         ("one that cleared at once", add_finding("pressure-stall", "critical", None, 100, 110)),
                         ("one that only the agent's page had", page_warns), ("one that only its log had", log_warns),
                         ("one whose last state says less", grave_for_a_minute)):
        fails(name, change, "nothing at warning", leaks=False, called="rest")
    passes("a notice", add_finding("managed-idle", "notice", None, 100), leaks=False, called="rest")
    fails("an agent that was not there is not silent", drop("pages"), "there to speak", "identity", leaks=False, called="rest")
    fails("a kill in a silent run", lambda made: made.meta.update(kill_ms=T0 + 200_000), "it lived", leaks=False, called="rest")


def judgements_of_a_death():
    fails("no post-mortem", drop("postmortems"), "there is one post-mortem")
    fails("two of one death", lambda made: made.postmortems.append(made.death()), "there is one post-mortem")
    fails("another cause", set_death(cause="outside"), "there is one post-mortem", "cause is", "from outside")
    fails("another owner", set_death(owner="java-heap"), "who grew")
    fails("another process", set_death(pid=PID + 1), "the process that was killed")
    fails("one whose parts are not all there", set_death(whole=False), "it is whole")
    fails("one without its last samples", set_death(bodies=[first_body()]), "the last samples")
    fails("one whose last samples are old", set_death(bodies=[first_body(), {"timeline": [{"wall_ms": T0 + 60_000}]}]), "the last samples")
    fails("one of another time", lambda made: made.postmortems[0].update(
        died_ms=made.kill - 40_000, bodies=[first_body(), {"timeline": [{"wall_ms": made.kill - 41_000}]}]), "its time")
    fails("one with another limit", set_body(limit_bytes=1), "the limit that was in force")
    fails("one whose events are of another death", set_body(events={"before": {"oom": 1}, "after": {"oom": 1, "max": 3, "oom_kill": 1}}),
          "a kill at the own limit")
    fails("one that is not sure of what the kernel counted", set_body(confidence_pct=60), "sure of it")
    urgent, two = (say_scenario('killed = "main"', f'killed = "main"\n{more}') for more in ("urgent = true", "count = 2"))
    fails("an agent that was not woken", urgent, "urgent before", "woke it")
    fails("nor looked deeper", both(urgent, set_body(deep=None)), "urgent before", "woke it", "deeper look")
    passes("two kills, each told", both(two, second_death))
    fails("the second by another name", both(two, lambda made: second_death(made, owner="java-heap")), "who grew")
    fails("a post-mortem of one that lives", say_scenario('killed = "main"', "count = 0"), "there is no post-mortem")
    passes("none of one that lives", both(say_scenario('killed = "main"', "count = 0"), drop("postmortems")))
    passes("one whose cause is said to be one of two", say_scenario('cause = "container-limit"', 'cause = ["container-limit", "node"]'))
    fails("a lost node whose death nobody inferred", both(no_kill, set_meta(end="exit"), say_scenario('kind = "warn"', 'kind = "death"'),
          say_scenario('before = "kill"', 'before = "end"'), say_scenario('killed = "main"', "inferred = true")), "inferred is")
    fails("an agent that does not go on", one_restart_on, "goes on")
    passes("one that does", both(one_restart_on, lambda made: made.pages.append(
        {**made.pages[0], "at_ms": made.kill + 60_000, "targets": 2})))


def judgements_of_the_books():
    fails("a page that does not add up", torn_page, "on each page")
    fails("a residual past its share", torn_sample, "residual", "on each page")
    fails("groups that are wrong while totals agree", open_group, "each group", "within 5 %")
    fails("a second in which the kernel's sum does not hold", off_second(3 * MIB, 0), "in each second")
    fails("nor did before it was read", off_second(3 * MIB, 4096), "in each second")
    passes("one in which the charge moved while it was read", off_second(3 * MIB, 3 * MIB))
    fails("a ledger 6 % off the truth", wrong_truth, "within 5 %")
    passes("as found, only the group must be named", wrong_truth, profile="as-found")
    passes("the same where growth is compared", both(wrong_truth, say_scenario("[[expect]]", 'compare = "growth"\n[[expect]]'),
                                                     lambda made: [line["malloc"].update(in_use=int(line["malloc"]["in_use"] / 1.06) + 90 * MIB)
                                                                   for line in made.truths]))
    fails("no truth to compare with", drop("truths"), "within 5 %")
    fails("a kernel whose sum does not hold", broken_kernel, "the kernel's own sum")
    fails("a limit that was not in force", lambda made: [row.update(limit=LIMIT // 2) for row in made.rows[30:62]], "the limit on each page")
    fails("a charge that root did not see", lambda made: [row.update(current=row["current"] - 64 * MIB) for row in made.rows[30:62]],
          "the charge on each page", "the kernel's own sum")
    fails("an agent that is woken for nothing", lambda made: made.pages[3].update(wakes=4), "nothing woke it", leaks=False, called="rest")
    fails("one that loses itself with the cgroup", both(set_meta(removed=True, removed_ms=T0 + 200_000), lambda made: made.pages[-1].update(up=1)),
          "goes on after", called="rest", leaks=False)
    passes("one that does not", both(set_meta(removed=True, removed_ms=T0 + 200_000), lambda made: made.pages[-1].update(up=0)),
           called="rest", leaks=False)
    fails("an agent that does not end well", set_meta(agent_status=3), "ended with 0")
    fails("no samples", drop("points"), "residual", "identity", "within 5 %")


def peers_by_prometheus():
    out = tempfile.mkdtemp(dir=WORK)
    made = [Made(), Made(leaks=False, called="rest")]
    runs = [Run(one.write(out)) for one in made]
    said = peers.evaluate(runs)
    leak, rest = (said[str(run)] for run in runs)
    first = {(rule, wait): spans[0][0] if spans else None for rule, waits in leak.items() for wait, spans in waits.items()}

    def crossing(figure, share):
        return next(row["at_ms"] for row in runs[0].rows if figure(row) > share * LIMIT)
    for rule, figure, share in (("working-set-90", peers.cgroups.working_set, 0.9), ("floor-85", peers.cgroups.floor, 0.85)):
        late = first[rule, 0] - crossing(figure, share)
        ok(0 <= late <= 15_000, f"{rule} fires at the first scrape after its level is crossed", late)
        ok(first[rule, 300] is None, f"{rule} for 5 m is too late here", first)
    ok(first["predict-15m", 0] is not None and first["predict-15m", 0] < crossing(peers.cgroups.working_set, 0.9),
       "predict_linear fires before the level", first)
    ok(first["predict-15m", 300] - first["predict-15m", 0] == 300_000, "for: 5m is five minutes later", first)
    ok(all(not spans for waits in rest.values() for spans in waits.values()), "nothing fires for a pod at rest", rest)
    ok(peers.firings([0, 15, 30, 90, 105, 400], 15, 200) == [(15, 30), (105, 105)], "a hole ends an alert, and nothing fires after the end")


def leads():
    near = [(0.05, 60), (0.1, 60), (1, 20), (10, 3), (20, 1.5), (None, None)]
    ok(all(figures.needed_lead(rate) == minutes for rate, minutes in near), "what lead is wanted at which pace",
       [figures.needed_lead(rate) for rate, _ in near])
    ok(20 > figures.needed_lead(2) > figures.needed_lead(5) > 3, "and between them")


def by_the_program(change, called="rest", profile="instrumented", **options):
    """What judge.py says of the directory that `change` was done to: (status, its lines)."""
    where = Made(called=called, profile=profile, leaks=called != "rest", **options).write(tempfile.mkdtemp(dir=WORK))
    where = change(where) or where
    done = subprocess.run([sys.executable, os.path.join(HERE, "..", "e2e", "lab", "judge.py"), where], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines() + done.stderr.splitlines()


def refused(name, change, wanted, **options):
    """One line, that it cannot be judged and why; nothing that is ok."""
    status, lines = by_the_program(change, **options)
    ok(status == 1 and len(lines) == 1 and lines[0].startswith("not ok - ") and "it can be judged: " in lines[0] and wanted in lines[0],
       f"refused: {name}", f"status {status}\n" + "\n".join(lines))


def put(name, text):
    def change(where):
        with open(os.path.join(where, name), "w", encoding="utf-8") as file:
            file.write(text)
    return change


def cut(name):
    def change(where):
        path = os.path.join(where, name)
        os.truncate(path, os.path.getsize(path) // 2 - 1)
        with open(path, encoding="utf-8") as file:  # at a line's end by accident it would be no cut
            assert not file.read().endswith("\n")
    return change


def gone(name):
    return lambda where: os.remove(os.path.join(where, name))


def renamed(name):
    def change(where):
        to = os.path.join(os.path.dirname(where), name)
        os.rename(where, to)
        return to
    return change


def directories_that_are_no_runs():
    status, lines = by_the_program(lambda where: None)
    ok(status == 0 and all(line.startswith("ok - ") for line in lines), "a directory that is whole is judged", lines)
    refused("one that is not there", lambda where: where + ".not", "no run.json")
    refused("an interrupted run", gone("run.json"), "no run.json")
    for name in ("findings.json", "samples.json", "postmortems.json"):
        refused(f"one without {name}", gone(name), f"no {name}")
    for name in ("run.json", "findings.json", "samples.json", "postmortems.json"):
        refused(f"half of {name}", cut(name), f"{name} is no whole JSON")
        refused(f"an empty {name}", put(name, ""), f"{name} is no whole JSON")
        refused(f"a {name} of another shape", put(name, "[1]"), "not what a run leaves" if name != "run.json" else "which scenario")
    for name in ("cgroup.jsonl", "metrics.prom"):
        refused(f"half of {name}", cut(name), f"{name} is cut off")
    refused("one of another scenario", renamed("leak.instrumented"), "that of rest.instrumented")
    refused("one of another profile", renamed("rest.as-found"), "that of rest.instrumented")
    refused("one whose scenario there is no more", gone("scenario.toml"), "no scenario 'rest'")
    refused("one whose scenario is no TOML", put("scenario.toml", "title = "), "scenario.toml: ")
    refused("rows that are none", put("cgroup.jsonl", '{"at_ms": 1}\n'), "not what a run leaves")
    status, lines = by_the_program(put("scenario.toml", 'title = "x"\nkind = "silent"\nlimt = "1M"\n'))
    ok(status == 1 and any("limt: no such key" in line for line in lines) and not any(line.startswith("ok") for line in lines),
       "refused: one whose scenario is written wrongly", lines)
    status, lines = by_the_program(renamed("kept"))
    ok(status == 0, "a copy may have any name", lines)


def scripts_that_were_interrupted():
    own = 'title = "x"\nkind = "access"\nlimit = "max"\nscript = "x.py"\n'

    def left(tap, **meta):
        def change(where):
            put("scenario.toml", own)(where)
            put("run.json", json.dumps({"scenario": "rest", "profile": "instrumented", "end": "exit", "error": None, **meta}))(where)
            if tap is not None:
                put("tap", tap)(where)
        return change
    ok(by_the_program(left("ok - reads\n"))[0] == 0, "a script that judged is judged")
    for name, change in (("one without a line", left("")), ("one that left nothing", left(None)), ("one with a line that is not ok", left("ok - a\nnot ok - b\n")),
                         ("one that failed", left("ok - a\n", error="status 1")), ("one that has no end", left("ok - a\n", end=None))):
        status, lines = by_the_program(change)
        ok(status == 1 and any(line.startswith("not ok") for line in lines), f"a script: {name} is not good", lines)


def usage():
    for arguments in ([], ["--scenarios"], ["--scenarios", WORK], ["--nothing"]):
        with contextlib.redirect_stderr(io.StringIO()):
            status = judge.main(arguments)
        ok(status == 2, f"usage: judge.py {' '.join(arguments)}")


for test in (directories_that_are_no_runs, scripts_that_were_interrupted, usage, judgements_of_a_leak, judgements_over_time, judgements_of_silence, judgements_of_a_death, judgements_of_the_books,
             peers_by_prometheus, leads):
    test()
sys.exit(lab_tap.bad)
