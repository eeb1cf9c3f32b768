#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
The score of all runs of OUT, as a page (docs/foresight.md; without --page on standard output), and as OUT/score.json.

    score.py [--scenarios DIR] [--replay FILE] [--page FILE] OUT

What falls short must have its reason in scenarios/shortfalls.toml ([[shortfall]]: scenario, or "all" for a total; profile,
if it is of one alone; figure; reason). One without a reason stands in the score as such, is told on standard error, and
the status is 1. So is it for a run that was interrupted, and for an entry that names what there is not; one that explains nothing
any more is noted. 2: usage, no run at all, or a file that cannot be read.
"""
import argparse
import json
import os
import statistics
import sys

import cgroups
import figures
import judge
import marks
import peers
import replaytext
import rundir
import scenario
import scoretext
import scripts
import shortfalls

FORECAST_WITHIN = 0.25
FORECAST_SHARE = 0.8
MEDIAN_TIMES = 3.0
PROFILES = ("as-found", "instrumented")
# By which shortfalls.toml may name what falls short: of a run, of all, of the replay by its first words.
FIGURES = {"": ("run", "expect", "named", "silence", "attribution", "residual", "identity", "death", "agent", "lead", "precision", "script"),
           "all": ("forecast", "median-lead", "false-alarms"), "replay": ("false warnings", "forecast of ", "named ", "lead")}


def rounded(value, digits=2):
    return None if value is None else round(value, digits)


def worst(values):
    return max(values, key=abs, default=None)


def measured_rate(run):
    """Of the floor over the second half of the run, in per cent of the limit a minute: whether the stated pace is the real one."""
    ready = run.meta.get("ready_ms") or 0
    rows = [row for row in run.rows if (ready + run.end_ms) / 2 <= row["at_ms"] < run.end_ms]
    if len(rows) < 2 or not cgroups.limit_of(rows[-1]):
        return None
    grown = cgroups.floor(rows[-1]) - cgroups.floor(rows[0])
    return grown * 100 / cgroups.limit_of(rows[-1]) / ((rows[-1]["at_ms"] - rows[0]["at_ms"]) / 60_000)


def of_peers(run, said):
    """{rule: {for: {"lead": minutes before the kill from which it stood until then, "fired": how often, "minutes": how long}}}"""
    out = {}
    for rule, waits in said.items():
        for wait, spans in waits.items():
            stood = figures.standing([(start, end, None) for start, end in spans], run.end_ms) if run.kill_ms else None
            out.setdefault(rule, {})[str(wait)] = {
                "lead": rounded(figures.minutes(stood[0], run.kill_ms)) if stood else None, "fired": len(spans),
                "minutes": rounded(sum(end - start for start, end in spans) / 60_000)}
    return out


def of_death(run):
    expected = figures.listed(run.scenario.get("expect_death"))
    told = [{key: item.get(key) for key in ("cause", "owner", "inferred", "title")} for item in run.postmortems]
    return {"expected": expected, "told": told} if expected else None


def of_run(run, said):
    judged = judge.judge(run)
    named, thrash = figures.named_since(run), figures.thrash_ms(run)
    off, rest = figures.attribution(run), figures.residuals(run)
    false = figures.false_warnings(run)
    foreseen = run.kind == "warn" and bool(run.truth.get("owner"))
    return {
        "scenario": run.name, "profile": run.profile, "kind": run.kind, "title": run.scenario["title"],
        "machine": run.meta.get("machine"), "kernel": run.meta.get("kernel"), "killed": bool(run.kill_ms),
        "owner": run.truth.get("owner"), "group": run.truth.get("group"), "foreseen": foreseen,
        "rate": run.truth.get("grows_percent_per_minute"), "measured_rate": rounded(measured_rate(run)),
        "minutes": rounded(figures.minutes(run.meta.get("ready_ms"), run.end_ms), 1),
        "seen_minutes": rounded(figures.minutes(run.rows[0]["at_ms"], run.end_ms)) if run.rows else 0,
        "failed": [{"key": one.key, "text": one.text, "note": one.note} for one in judged if not one.good],
        "judgements": len(judged), "named_by": named and named[1].rule, "named_owner": named and named[1].owner,
        "lead": rounded(figures.minutes(named[0], run.kill_ms)) if named else None,
        "lead_thrash": rounded(figures.minutes(named[0], thrash)) if named and run.kill_ms else None,
        "thrash": rounded(figures.minutes(thrash, run.kill_ms)) if thrash else None,
        "needed": rounded(figures.needed_lead(run.truth.get("grows_percent_per_minute"))) if run.kill_ms and foreseen else None,
        "forecast": rounded(figures.forecast_at_half(run, run.kill_ms), 3),
        "forecast_thrash": rounded(figures.forecast_at_half(run, thrash), 3),
        "attribution": {"worst": rounded(figures.attribution_error(run)), "median": rounded(statistics.median(off)) if off else None, "scans": len(off)},
        "residual": rounded(worst(rest)), "warnings": len({sight.id for sight in figures.grave(run)}), "n_false": len(false),
        "false": sorted({one for said in false.values() for one in said}),
        "peers": of_peers(run, said), "death": of_death(run)}


# --- totals -----------------------------------------------------------------------------------------


def median(values):
    return rounded(statistics.median(values)) if values else None


def share(part, whole):
    return rounded(100 * part / whole, 1) if whole else None


def foretold(off):
    return off is not None and abs(off) <= FORECAST_WITHIN


def totals(runs):
    """Of one profile, or of both. Who was not warned at all counts with a lead of 0 in the median."""
    due = [run for run in runs if run["foreseen"]]
    killed = [run for run in due if run["killed"]]
    leads = [run["lead"] or 0 for run in killed]
    right = sum(run["warnings"] - run["n_false"] for run in runs if run["kind"] == "warn")
    false = sum(run["n_false"] for run in runs)
    to_thrash = [run for run in killed if run["thrash"] is not None]
    return {
        "runs": len(runs), "due": len(due), "silent": sum(run["kind"] == "silent" for run in runs),
        "recall": share(sum(run["named_by"] is not None for run in due), len(due)),
        "precision": share(right, right + false), "false": false,
        "lead_median": median(leads), "lead_worst": rounded(min(leads, default=None)),
        "lead_kept": share(sum(kept(run) for run in killed), len(killed)),
        "thrash_median": median([run["lead_thrash"] for run in killed if run["lead_thrash"] is not None]),
        "forecast": share(sum(foretold(run["forecast"]) for run in killed), len(killed)),
        "forecast_thrash": share(sum(foretold(run["forecast_thrash"]) for run in to_thrash), len(to_thrash)),
        "attribution": worst([run["attribution"]["worst"] for run in runs
                              if run["attribution"]["worst"] is not None and run["profile"] != "as-found"]),
        "residual": worst([run["residual"] for run in runs if run["residual"] is not None]),
        "torn": sum(any(one["key"] == "identity" for one in run["failed"]) for run in runs)}


def kept(run):
    return run["needed"] is None or (run["lead"] or 0) >= run["needed"]


def peer_totals(runs):
    killed = [run for run in runs if run["foreseen"] and run["killed"] and run["peers"]]
    silent = [run for run in runs if run["kind"] == "silent" and run["peers"]]
    silent_minutes = sum(run["seen_minutes"] for run in silent)
    out = {}
    for rule, _, _ in peers.RULES:
        for wait in peers.FORS:
            told = [run["peers"][rule][str(wait)] for run in killed]
            leads = [one["lead"] or 0 for one in told]
            out.setdefault(rule, {})[str(wait)] = {
                "recall": share(sum(one["lead"] is not None for one in told), len(told)), "median": median(leads),
                "worst": rounded(min(leads, default=None)),
                "false_runs": sum(run["peers"][rule][str(wait)]["fired"] > 0 for run in silent), "silent": len(silent),
                "false_minutes": share(sum(run["peers"][rule][str(wait)]["minutes"] for run in silent), silent_minutes)}
    return out


# --- what falls short -------------------------------------------------------------------------------


def short(scenario, profile, figure, reached, needed):
    return {"scenario": scenario, "profile": profile, "figure": figure, "reached": reached, "needed": needed}


def short_of_run(run):
    out = [short(run["scenario"], run["profile"], one["key"], (one["note"].splitlines() or ["no"])[0], one["text"])
           for one in run["failed"]]
    off = run["attribution"]["worst"]
    if run["profile"] != "as-found" and off is not None and abs(off) > judge.ATTRIBUTION_PERCENT and "attribution" not in {one["key"] for one in run["failed"]}:
        out.append(short(run["scenario"], run["profile"], "attribution", f"{off:+.1f} %", f"within {judge.ATTRIBUTION_PERCENT:g} %"))
    if run["foreseen"] and run["killed"] and not kept(run):
        out.append(short(run["scenario"], run["profile"], "lead", marks.minutes(run["lead"]),
                         f"at least {marks.minutes(run['needed'])} min before the kill"))
    if run["kind"] == "warn" and run["false"]:
        out.append(short(run["scenario"], run["profile"], "precision",
                         "; ".join(f"{rule} names {owner}" for rule, _, owner in run["false"]), "no warning that names another owner"))
    return out


def short_in_all(score):
    every, silent = score["totals"]["all"], score["totals"]["all"]["silent"]
    floor = score["peers"]["floor-85"]["0"]
    out = []
    if every["forecast"] is not None and every["forecast"] < 100 * FORECAST_SHARE:
        out.append(short("all", None, "forecast", f"{every['forecast']} % of runs", f"within 25 % at half the time in {FORECAST_SHARE:.0%}"))
    if every["lead_median"] is not None and floor["median"] is not None and every["lead_median"] < MEDIAN_TIMES * floor["median"]:
        out.append(short("all", None, "median-lead", f"{every['lead_median']} min against {floor['median']} min",
                         f"{MEDIAN_TIMES:g} times that of floor > 85 %"))
    mine = sum(run["kind"] == "silent" and bool(run["false"]) for run in score["runs"])
    if silent and mine > floor["false_runs"]:
        out.append(short("all", None, "false-alarms", f"{mine} of {silent} silent runs", f"no more than floor > 85 %: {floor['false_runs']}"))
    out += [short(name, None, *one) for name, *one in scripts.short(score["scripts"])]
    return out + [short("replay", *one) for one in replaytext.short(score["replay"])]


def short_of_lost(lost):
    """Runs that were interrupted, or are not there whole: nothing was proved by them, and no reason makes up for it."""
    return [{**short(scenario, profile, "run", why, "a run that can be judged"), "reason": None} for scenario, profile, why in lost]


def measurable(everything):
    """(the runs that are judged; [(scenario, profile, why)] of those that are, and cannot be)"""
    good, broken = [], []
    for run in everything:
        if run.kind in judge.JUDGED:
            try:
                judge.judge(run)
                good.append(run)
            except rundir.UNREADABLE as error:
                broken.append((run.name, run.profile, rundir.reason(error)))
    return good, broken


def lost_scripts(runs):
    """Of scenarios with a script of their own: those that were interrupted, or said nothing. What they say is not so is in scripts.short."""
    for run in runs:
        if run.kind not in judge.JUDGED and not scripts.tap_of(run.path)[1]:
            wrong = next((one for one in judge.judge(run) if not one.good), None)
            if wrong:
                yield run.name, run.profile, f"{wrong.text}: {wrong.note.splitlines()[0]}"


def check_shortfalls(score, scenarios, known):
    """Says what is wrong with shortfalls.toml, and what of it is not wanted any more; whether it is right."""
    wrong = shortfalls.strange(known, {*scenario.names(scenarios), *(run["scenario"] for run in score["runs"]), *(one["name"] for one in score["scripts"])}, FIGURES)
    for text in wrong:
        print(f"shortfalls.toml: {text}", file=sys.stderr)
    seen = [(run["scenario"], run["profile"]) for run in score["runs"]]
    ran = {name for name, _ in seen} | {one["name"].rpartition(".")[0] for one in score["scripts"]}
    seen += [("all", None)] if ran >= set(scenario.names(scenarios)) else []
    seen += [("replay", profile) for profile in PROFILES] if score["replay"] else []
    for one in [] if wrong else shortfalls.idle(known, score["shortfalls"], seen):
        print(f"note: {one['scenario']} {one.get('profile', '')} {one['figure']} did not fall short: is its entry in shortfalls.toml still wanted?", file=sys.stderr)
    return not wrong


def read_replay(path):
    """None: it was not run. One that is not whole, as an interrupted one leaves it, is no score: ValueError."""
    replay = rundir.answer(path) if path else None
    if replay is not None:
        try:
            list(replaytext.short(replay))
            replaytext.section(replay)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is not what the replay writes ({type(error).__name__}: {error})") from error
    return replay


def explain(found, known):
    for one in found:
        why = shortfalls.of(known, one["scenario"], one["profile"], one["figure"])
        one["reason"] = " ".join(str(why.get("reason", "")).split()) or None if why else None


def score_of(runs, scenarios, replay, own=(), evaluate=peers.evaluate):
    """`own`: what scenarios with a script of their own left."""
    said = evaluate(runs)
    score = {"runs": [of_run(run, said.get(str(run), {})) for run in runs], "replay": replay, "scripts": list(own)}
    score["totals"] = {name: totals([run for run in score["runs"] if name in ("all", run["profile"])]) for name in (*PROFILES, "all")}
    score["peers"] = peer_totals(score["runs"])
    score["shortfalls"] = [one for run in score["runs"] for one in short_of_run(run)] + short_in_all(score)
    explain(score["shortfalls"], shortfalls.read(scenarios))
    return score


def unexplained(score):
    return [f"{one['scenario']} {one['profile'] or ''} {one['figure']}: {one['reached']}; wanted: {one['needed']}"
            for one in score["shortfalls"] if not one["reason"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", default=rundir.SCENARIOS)
    parser.add_argument("--replay")
    parser.add_argument("--page")
    parser.add_argument("out")
    options = parser.parse_args()
    try:
        everything, lost = rundir.all_of(options.out, options.scenarios)
        replay, known = read_replay(options.replay), shortfalls.read(options.scenarios)
    except (OSError, ValueError) as error:
        print(f"score: {rundir.reason(error)}", file=sys.stderr)
        return 2
    runs, broken = measurable(everything)
    lost += broken
    if not runs:
        print(f"{options.out}: no run", file=sys.stderr)
        return 2
    lost += lost_scripts(everything)
    score = score_of(runs, options.scenarios, replay, scripts.of(options.out))
    score["shortfalls"] += short_of_lost(lost)
    with open(os.path.join(options.out, "score.json"), "w", encoding="utf-8") as file:
        json.dump(score, file, indent=1, sort_keys=True)
        file.write("\n")
    if options.page:
        with open(options.page, "w", encoding="utf-8") as file:
            file.write(scoretext.page(score))
    else:
        sys.stdout.write(scoretext.page(score))
    for one in unexplained(score):
        print(f"falls short without a reason: {one}", file=sys.stderr)
    right = check_shortfalls(score, options.scenarios, known)
    return 1 if unexplained(score) or not right else 0


if __name__ == "__main__":
    sys.exit(main())
