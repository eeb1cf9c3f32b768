# SPDX-License-Identifier: Apache-2.0
"""lab_score.py DIRECTORY: tests/e2e/lab/score.py on made runs, as it is called. TAP."""
import json
import os
import subprocess
import sys
import tempfile

from lab_runs import T0, Made

HERE = os.path.dirname(os.path.abspath(__file__))
SCORE = os.path.join(HERE, "..", "e2e", "lab", "score.py")
WORK = sys.argv[1]
bad = 0


def ok(good, name, note=""):
    global bad
    bad |= not good
    print(("ok - " if good else "not ok - ") + name, flush=True)
    if not good:
        for line in str(note).splitlines()[:40]:
            print("#   " + line)


def made(change=None, **options):
    one = Made(**options)
    if change:
        change(one)
    return one


def good_runs():
    return [made(), made(profile="as-found"), made(leaks=False, called="rest"), made(leaks=False, called="rest", profile="as-found")]


def score(runs, reasons="", replay=None):
    """(status, page, what it said of shortfalls, score.json)"""
    out, scenarios = tempfile.mkdtemp(dir=WORK), tempfile.mkdtemp(dir=WORK)
    for run in runs:
        run.write(out)
    with open(os.path.join(scenarios, "shortfalls.toml"), "w", encoding="utf-8") as file:
        file.write(reasons)
    command = [sys.executable, SCORE, "--scenarios", scenarios, out]
    if replay is not None:
        path = os.path.join(scenarios, "replay.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(replay, file)
        command[2:2] = ["--replay", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    path = os.path.join(out, "score.json")
    figures = json.load(open(path, encoding="utf-8")) if os.path.exists(path) else None
    return done.returncode, done.stdout, done.stderr, figures


def row(page, start):
    """Cells of the first row of a table that begins so."""
    return next(([cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| " + start)), [])


def no_warning(one):
    one.findings = []
    for page in one.pages:
        page["open"] = []


def late_warning(one):
    second = one.seconds - 60
    one.findings[0].update(opened_ms=T0 + second * 1000)
    for page in one.pages:
        page["open"] = [("limit-forecast", "critical")] if page["at_ms"] >= T0 + second * 1000 else []


def wrong_forecast(one):
    for page in one.pages:
        page["forecast"] = page["forecast"] and page["forecast"] * 1.3


def another_named(one):
    one.findings.append(one.finding("freeboard-low", "warning", "java-heap", 200))


def off_truth(one):
    for line in one.truths:
        line["malloc"]["in_use"] = int(line["malloc"]["in_use"] * 1.06)


def page_alone(one):
    one.pages[4]["open"] = [("freeboard-low", "warning")]


def explained(scenario, figure, profile=None):
    return f'[[shortfall]]\nscenario = "{scenario}"\nfigure = "{figure}"\n' + (f'profile = "{profile}"\n' if profile else "") + \
        'reason = "it is\nknown"\n'.replace("\n", " ", 1) + "\n"


def a_good_score():
    runs = good_runs()
    status, page, said, figures = score(runs)
    ok(status == 0 and not said and page.rstrip().endswith("Nothing."), "runs that are right fall short of nothing", said)
    total = figures["totals"]["all"]
    ok((total["recall"], total["precision"], total["false"], total["forecast"]) == (100, 100, 0, 100), "recall, precision, forecast", total)
    lead = (runs[0].seconds - 80) / 60
    ok(abs(total["lead_median"] - lead) < 0.01 and row(page, "leak | native-other")[4:6] == [f"{lead:.1f}"] * 2, "leads", total)
    peer = figures["peers"]["floor-85"]["0"]
    ok(0 < peer["median"] < total["lead_median"] / 3 and peer["false_runs"] == 0, "the floor above 85 % comes later", peer)
    ok(row(page, "rest |")[3:5] == ["silent", "silent"], "silent runs", row(page, "rest |"))
    ok(max(line.count("|") for line in page.splitlines()) <= 11, "no table has more than ten columns")
    ok(score(good_runs())[1] == page, "the same runs, the same text")


def short(name, change, figure, scenario="leak", **options):
    """With that change alone it falls short of this, says so, and takes a reason for it."""
    runs = good_runs()
    index = 2 if options.get("silent") else 0
    change(runs[index])
    status, page, said, figures = score(runs)
    found = [one["figure"] for one in figures["shortfalls"] if one["scenario"] == scenario]
    ok(status == 1 and figure in found and f"{figure}:" in said and "**no reason is given**" in page, name, f"{found}\n{said}")
    every = "".join({explained(one["scenario"], one["figure"], one["profile"]) for one in figures["shortfalls"]})
    runs = good_runs()
    change(runs[index])
    status, page, said, _ = score(runs, every)
    ok(status == 0 and not said and "it is known" in page and "no reason is given" not in page, f"{name}: with its reason", said)
    return figures


def what_falls_short():
    figures = short("a lead that is too short", late_warning, "lead")
    ok(figures["totals"]["instrumented"]["lead_kept"] == 0 and figures["totals"]["as-found"]["lead_kept"] == 100, "by profile",
       figures["totals"])
    figures = short("no warning", no_warning, "named")
    ok(figures["totals"]["all"]["recall"] == 50 and figures["totals"]["instrumented"]["lead_median"] == 0, "recall, and a lead of 0",
       figures["totals"])
    figures = short("forecasts that are off", wrong_forecast, "forecast", "all")
    ok(figures["totals"]["all"]["forecast"] == 50, "their share", figures["totals"]["all"])
    figures = short("a warning that names another", another_named, "precision")
    ok(figures["totals"]["all"]["precision"] == round(200 / 3, 1), "precision", figures["totals"]["all"])
    figures = short("books that are off", off_truth, "attribution")
    ok(abs(figures["totals"]["all"]["attribution"] + 5.66) < 0.1, "by how much", figures["totals"]["all"])
    figures = short("a false alarm", page_alone, "silence", "rest", silent=True)
    ok(any(one["figure"] == "false-alarms" for one in figures["shortfalls"]) and figures["totals"]["all"]["false"] == 1,
       "more of them than others have", figures["shortfalls"])


def reasons_do_not_leak():
    for name, reason in (("another scenario", explained("rest", "lead")), ("another figure", explained("leak", "named")),
                         ("another profile", explained("leak", "lead", "as-found"))):
        runs = good_runs()
        late_warning(runs[0])
        status, _, said, _ = score(runs, reason + explained("all", "median-lead"))
        ok(status == 1 and "lead" in said, f"a reason for {name} is none for this one", said)


def a_replay():
    told = {"pod_days": 1000, "false_warnings": 12, "per_100_pod_days": 1.2, "by_rule": {"native-growth": 12},
            "leaks": [{"speed_percent_per_minute": 10, "owner": "native-other", "profile": "as-found", "median": 4.25}],
            "static_floor_85": {"median_lead": 1.0, "false_alarms": 3}}
    status, page, said, _ = score(good_runs(), replay=told)
    ok(status == 1 and "replay" in said, "more than one false warning in 100 pod-days falls short", said)
    status, page, said, _ = score(good_runs(), replay={**told, "false_warnings": 9, "per_100_pod_days": 0.9})
    ok(status == 0 and "1000 simulated pod-days" in page and row(page, "native-growth")[1:2] == ["12"] and row(page, "10 |"), "a replay", page[-1500:])
    ok(score([])[0] == 2, "no runs are no score")


for test in (a_good_score, what_falls_short, reasons_do_not_leak, a_replay):
    test()
sys.exit(bad)
