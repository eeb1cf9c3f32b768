# SPDX-License-Identifier: Apache-2.0
"""lab_score.py DIRECTORY: tests/e2e/lab/score.py on made runs. TAP."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.join(HERE, "..", "e2e", "lab")
sys.path[:0] = [HERE, LAB]
import lab_tap  # noqa: E402
import peers  # noqa: E402
import rundir  # noqa: E402
import score as lab_score  # noqa: E402
import scoretext  # noqa: E402
import scripts  # noqa: E402
from lab_runs import T0, Made  # noqa: E402
from lab_tap import ok  # noqa: E402

WORK = sys.argv[1]
said_by_peers = {}


def made(change=None, **options):
    one = Made(**options)
    if change:
        change(one)
    return one


def good_runs():
    return [made(), made(profile="as-found"), made(leaks=False, called="rest"), made(leaks=False, called="rest", profile="as-found")]


def written(runs, reasons=""):
    """Directories of runs and of scenarios."""
    out, scenarios = tempfile.mkdtemp(dir=WORK), tempfile.mkdtemp(dir=WORK)
    for run in runs:
        run.write(out)
    with open(os.path.join(scenarios, "shortfalls.toml"), "w", encoding="utf-8") as file:
        file.write(reasons)
    return out, scenarios


def peers_once(runs):
    """What Prometheus says of the container does not change with what is said of it: it is asked once."""
    if not said_by_peers:
        said_by_peers.update(peers.evaluate(runs))
    return said_by_peers


def score(runs, reasons="", replay=None, **files):
    """(what falls short without a reason, page, the figures). `files` are what a scenario `own` with a script leaves."""
    out, scenarios = written(runs, reasons)
    for name, text in files.items():
        os.makedirs(os.path.join(out, "own.as-found"), exist_ok=True)
        with open(os.path.join(out, "own.as-found", name.replace("_", ".")), "w", encoding="utf-8") as file:
            file.write(text)
    figures = lab_score.score_of(rundir.runs(out, scenarios), scenarios, replay, scripts.of(out), peers_once)
    return "\n".join(lab_score.unexplained(figures)), scoretext.page(figures), figures


def called(runs, *options, reasons="", spoil=lambda out: None):
    """The program itself: (status, page, what it said, score.json). `spoil` is done to the directory before."""
    out, scenarios = written(runs, reasons)
    spoil(out)
    done = subprocess.run([sys.executable, os.path.join(LAB, "score.py"), "--scenarios", scenarios, *options, out],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr, rundir.load(os.path.join(out, "score.json"))


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


def early_thrash(one):
    for line in one.rows[(80 + one.seconds) // 2:]:
        line["full_avg10"] = 60.0


def another_named(one):
    one.findings.append(one.finding("freeboard-low", "warning", "java-heap", 200))


def off_truth(one):
    for line in one.truths:
        line["malloc"]["in_use"] = int(line["malloc"]["in_use"] * 1.06)


def page_alone(one):
    one.pages[4]["open"] = [("freeboard-low", "warning")]


def explained(scenario, figure, profile=None):
    return f'[[shortfall]]\nscenario = "{scenario}"\nfigure = "{figure}"\n' + (f'profile = "{profile}"\n' if profile else "") + \
        'reason = """it is\n  well known"""\n'


def a_good_score():
    runs = good_runs()
    said, page, figures = score(runs)
    ok(not said and page.rstrip().endswith("Nothing."), "runs that are right fall short of nothing", said)
    total = figures["totals"]["all"]
    ok((total["recall"], total["precision"], total["false"], total["forecast"]) == (100, 100, 0, 100), "recall, precision, forecast", total)
    ok(total["forecast_thrash"] == 100, "a forecast of the kill is one of the thrash that comes nine seconds before", total)
    thrashing = good_runs()
    early_thrash(thrashing[0])
    _, _, early = score(thrashing)
    both = (early["totals"]["all"]["forecast_thrash"], early["totals"]["all"]["forecast"])
    ok(both == (50, 100), "and not of one that comes half-way", both)
    lead = (runs[0].seconds - 80) / 60
    ok(abs(total["lead_median"] - lead) < 0.01 and row(page, "leak | native-other")[4:6] == [f"{lead:.1f}"] * 2, "leads", total)
    peer = figures["peers"]["floor-85"]["0"]
    ok(0 < peer["median"] < total["lead_median"] / 3 and peer["false_runs"] == 0, "the floor above 85 % comes later", peer)
    ok(row(page, "rest |")[3:5] == ["silent", "silent"], "silent runs", row(page, "rest |"))
    ok(max(line.count("|") for line in page.splitlines()) <= 11, "no table has more than ten columns")
    status, again, said, kept = called(good_runs())
    ok(status == 0 and not said and again == page, "called, it prints the same text", said)
    ok(kept == json.loads(json.dumps(figures)), "and leaves its figures")


def short(name, change, figure, scenario="leak", **options):
    """With that change alone it falls short of this, says so, and takes a reason for it."""
    runs = good_runs()
    index = 2 if options.get("silent") else 0
    change(runs[index])
    said, page, figures = score(runs)
    found = [one["figure"] for one in figures["shortfalls"] if one["scenario"] == scenario]
    ok(figure in found and f"{figure}:" in said and "**no reason is given**" in page, name, f"{found}\n{said}")
    every = "".join({explained(one["scenario"], one["figure"], one["profile"]) for one in figures["shortfalls"]})
    runs = good_runs()
    change(runs[index])
    said, page, _ = score(runs, every)
    ok(not said and "| it is well known |" in page and "no reason is given" not in page, f"{name}: with its reason", said)
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
        said = score(runs, reason + explained("all", "median-lead"))[0]
        ok("leak instrumented lead" in said, f"a reason for {name} is none for this one", said)


def replayed(**changes):
    leak = {"speed_percent_per_minute": 10, "owner": "native-other", "profile": "as-found", "runs": 6, "named": 6, "lasted_minutes": 9,
            "first_named_warning_minutes_before": {"median": 4.0, "worst": 3.5, "worst_to_thrash": 3.0},
            "forecast_within_25_percent_at_half": 1.0, "static_floor_85_median": 1.5, "working_set_90_median": -1.0, "predict_linear_median": 7.0}
    slow = {**leak, "speed_percent_per_minute": 0.1, "first_named_warning_minutes_before": {"median": 200, "worst": 61}}
    return {"pod_days": 1000, "pods_left_out": 3, "false_warnings": 9, "per_100_pod_days": 0.9, "by_rule": {"native-growth": 9},
            "leaks": [slow, {**leak, **changes}, {**leak, "owner": "all"}], "static_floor_85": {"false_alarms": 3, "median_lead": {"10": 1.5}}}


def a_replay():
    said, page, _ = score(good_runs(), replay=replayed())
    ok(not said and "1000 pod-days" in page and row(page, "native-growth")[1:2] == ["9"], "a replay", page[-2500:])
    ok(row(page, "10 | as-found | native-other")[3:] == ["6 of 6", "4.0", "3.5", "100 %", "1.5", "–", "7.0"], "its leaks",
       row(page, "10 | as-found | native-other"))
    ok(row(page, "10 | as-found")[2] == "**all**", "their sum first")
    for name, told in (("more than one false warning in 100 pod-days", {**replayed(), "per_100_pod_days": 1.01}),
                       ("a lead that is too short", replayed(first_named_warning_minutes_before={"median": 4, "worst": 2.9})),
                       ("a leak that was not named", replayed(named=5)),
                       ("forecasts that are off", replayed(owner="all", forecast_within_25_percent_at_half=0.79))):
        said = score(good_runs(), replay=told)[0]
        ok(said.startswith("replay "), f"replay: {name}", said)
    path = os.path.join(WORK, "replay.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**replayed(), "per_100_pod_days": 2}, file)
    status, out, said, _ = called(good_runs(), "--replay", path, "--page", path + ".md")
    with open(path + ".md", encoding="utf-8") as file:
        page = file.read()
    ok(status == 1 and not out and "without a reason: replay" in said and "**2.00 in 100 pod-days**" in page, "the program reads a replay", said)
    ok(called([])[0] == 2, "no runs are no score")


def scripts_of_their_own():
    figures = json.dumps([{"quota": "100m", "worst_ms": 12.345}, {"quota": "20m", "worst_ms": None}])
    said, page, _ = score(good_runs(), tap="ok - reads\nok - says so\n", harmless_json=figures)
    ok(not said and row(page, "own.as-found")[1:3] == ["2", "0"] and row(page, "100m") == ["100m", "12.3"] and row(page, "20m")[1] == "–",
       "a script's lines and figures", page)
    said = score(good_runs(), tap="ok - reads\nnot ok - says so\n")[0]
    ok(said.startswith("own.as-found") and "says so" in said, "what it failed falls short", said)


def interrupted(name):
    """As a guest leaves it that was killed in mid-run."""
    def spoil(out):
        for file in ("run.json", "findings.json", "samples.json", "postmortems.json"):
            os.remove(os.path.join(out, name, file))
    return spoil


def write(name, text):
    def spoil(out):
        os.makedirs(os.path.join(out, os.path.dirname(name)), exist_ok=True)
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            file.write(text)
    return spoil


def runs_that_are_not_whole():
    for name, spoil, why in (
            ("interrupted", interrupted("leak.as-found"), "leak as-found run: no run.json"),
            ("half", write("leak.as-found/samples.json", "[{"), "leak as-found run: samples.json is no whole JSON"),
            ("of another", lambda out: os.rename(os.path.join(out, "rest.as-found"), os.path.join(out, "idle.as-found")), "idle as-found run: its run.json"),
            ("odd rows", write("leak.as-found/cgroup.jsonl", '{"at_ms": 1}\n'), "leak as-found run: not what a run leaves"),
            ("a script that was", write("own.as-found/tap", "ok - reads\n"), "own as-found run: no run.json")):
        status, page, said, kept = called(good_runs(), reasons=explained("leak", "run"), spoil=spoil)
        runs = [(run["scenario"], run["profile"]) for run in kept["runs"]]
        ok(status == 1 and len(said.splitlines()) == 1 + said.count("note: ") and why in said and
           len(runs) == (4 if name.startswith("a script") else 3) and "no reason is given" in page,
           f"a run that is {name}: told, and not counted, whatever reason is given", f"{status} {runs}\n{said}")
    status, page, said, _ = called([], spoil=lambda out: os.rmdir(out))
    ok(status == 2 and not page and said.count("\n") == 1, "a folder that is not there", said)
    for name, text, wanted in (("half a replay", '{"pod_days": 10', "no whole JSON"), ("one of another shape", "[1]", "not what the replay writes"),
                               ("one without figures", '{"seed": 7}', "not what the replay writes")):
        path = os.path.join(WORK, "broken.json")
        write(path, text)("/")
        status, page, said, kept = called(good_runs(), "--replay", path)
        ok(status == 2 and not page and kept is None and said.count("\n") == 1 and wanted in said, f"refused: {name}", said)
    ok(called(good_runs(), "--replay", os.path.join(WORK, "never"))[0] == 0, "a replay that was not run")
    said = score(good_runs(), replay={**replayed(), "pod_days": 0, "leaks": []})[0]
    ok("no pod-days were run" in said and "no leaks were run" in said, "a replay of nothing falls short", said)


def entries_of_shortfalls():
    def late(**changes):
        runs = good_runs()
        late_warning(runs[0])
        good = {"scenario": "leak", "figure": "lead", "reason": "known", **changes}
        text = "[[shortfall]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in good.items() if value is not None)
        return called(runs, reasons=text + explained("all", "median-lead"))
    ok(late()[0] == 0 and not late()[2], "an entry that is wanted", late()[2])
    for change, wanted in (({"scenario": "leek"}, "no such scenario"), ({"figure": "leed"}, "no such figure"), ({"profile": "found"}, "no such profile"),
                           ({"reason": " "}, "wants reason"), ({"reason": None}, "wants reason"), ({"within": 5}, "no such key: within"),
                           ({"within_percent": "5"}, "within_percent must"), ({"scenario": "all"}, "no such figure"),
                           ({"scenario": "replay", "figure": "sdael"}, "no such figure")):
        status, _, said, _ = late(**change)
        ok(status in (1, 2) and "shortfalls.toml: " in said and "entry 1 " in said and wanted in said and "Traceback" not in said, f"refused: an entry with {change}", said)
    status, _, said, _ = called(good_runs(), reasons=explained("leak", "lead", "instrumented") + explained("rest", "silence"))
    ok(status == 0 and said.count("note: ") == 2 and "leak instrumented lead did not fall short" in said, "what falls short no longer is noted", said)
    status, _, said, _ = called(good_runs(), reasons="[[shortfall]\n")
    ok(status == 2 and "shortfalls.toml: " in said and said.count("\n") == 1, "refused: shortfalls.toml that is no TOML", said)


for test in (runs_that_are_not_whole, entries_of_shortfalls, a_good_score, what_falls_short, reasons_do_not_leak, a_replay, scripts_of_their_own):
    test()
sys.exit(lab_tap.bad)
