# SPDX-License-Identifier: Apache-2.0
"""The score as a page of Markdown for whoever runs streaming pods. Pure: the same score, the same text."""
import peers
import replaytext
import scripts
from marks import NONE, bold, minutes, percent, signed, table

PROFILES = ("as-found", "instrumented")
PEER_NAMES = {name: what for name, what, _ in peers.RULES}

HEAD = """# Foresight

Who filled the pod, and was it said in time? This page is written by the run itself (`tests/e2e/lab/score.py`): real containers with
real limits on a real kernel, killed by its real OOM killer, an engine or a JVM in them, the shipped agent beside it and the shipped
collector elsewhere. Nothing here is simulated but what stands under [Replay](#replay).

Each scenario runs in two profiles. **As found** is what most people have: no native memory tracking, no metrics of RocksDB, no metrics
endpoint at all. There a warning must name the right *group* (native memory, heap, class metadata, ...). **Instrumented** has them, and
there it must name the *owner*. Pace is in per cent of the limit a minute, so a lead is read "minutes before the kill at N %/min". A figure
in **bold** falls short of what it must reach; [why](#what-falls-short) is below.
"""


def pairs(score, wanted):
    """[(scenario, {profile: run})] of those runs, in a stable order."""
    out = {}
    for run in score["runs"]:
        if wanted(run):
            out.setdefault(run["scenario"], {})[run["profile"]] = run
    return sorted(out.items())


def each(by_profile, cell):
    """One cell a profile."""
    return [cell(by_profile[profile]) if profile in by_profile else NONE for profile in PROFILES]


def any_of(by_profile):
    return next(iter(by_profile.values()))


def pace(by_profile):
    """As the scenario states it, and what the floor really did over the second half of the runs."""
    told = any_of(by_profile)["rate"]
    real = [run["measured_rate"] for run in by_profile.values() if run["measured_rate"] is not None]
    return f"{f'{told:g}' if told else NONE} ({sum(real) / len(real):.2g})" if real else f"{told:g}" if told else NONE


def words(value):
    return " or ".join(value) if isinstance(value, list) else value or NONE


# --- sections ---------------------------------------------------------------------------------------


def figures_section(score):
    per, every = score["totals"], score["totals"]["all"]
    floor = score["peers"]["floor-85"]["0"]

    def row(what, reach, key, show, good):
        cells = [bold(show(per[name][key]), per[name][key] is not None and not good(per[name][key])) for name in (*PROFILES, "all")]
        return [what, reach, *cells]
    rows = [
        row("recall: runs in which the truth was named before the end, of those in which it had to be", "100 %", "recall", percent,
            lambda v: v >= 100),
        row("precision: warnings that were right, of all warnings", "100 %", "precision", percent, lambda v: v >= 100),
        row("lead to the kill as its pace wants it", "100 %", "lead_kept", percent, lambda v: v >= 100),
        row("median lead, minutes", f"3 x that of floor > 85 %: {minutes(floor['median'] and 3 * floor['median'])}", "lead_median", minutes,
            lambda v: floor["median"] is None or v >= 3 * floor["median"]),
        row("worst lead, minutes", "", "lead_worst", minutes, lambda v: True),
        row("median lead to the onset of reclaim thrash, minutes", "", "thrash_median", minutes, lambda v: True),
        row("forecast within 25 % at half the time", ">= 80 %", "forecast", percent, lambda v: v >= 80),
        row("the same to the onset of reclaim thrash", "", "forecast_thrash", percent, lambda v: True),
        row("worst attribution error of the named owner", "5 %", "attribution", signed, lambda v: abs(v) <= 5),
        row("worst residual, of the charge", "2 %", "residual", lambda v: NONE if v is None else f"{v:+.2f} %", lambda v: abs(v) <= 2),
        row("runs in which the identity did not hold", "0", "torn", str, lambda v: v == 0)]
    counted = (f"{every['runs']} runs: {every['due']} in which somebody had to be named, {every['silent']} that had to stay silent, and deaths "
               "of other kinds. Who was not warned at all counts in a median with a lead of 0.")
    return "\n## In all\n\n" + table(["figure", "to reach", "as found", "instrumented", "both"], rows) + "\n" + counted + "\n"


def warned_section(score):
    def lead(run):
        if not run["killed"]:
            return NONE
        return bold(minutes(run["lead"]), (run["lead"] or 0) < (run["needed"] or 0) or run["lead"] is None)

    def forecast(run):
        return NONE if run["forecast"] is None else f"{run['forecast']:+.0%}".replace("%", " %")
    rows = [[name, words(any_of(by)["owner"]), pace(by), minutes(max((run["needed"] or 0) for run in by.values()) or None),
             *each(by, lead), *each(by, lambda run: minutes(run["lead_thrash"])), *each(by, forecast)]
            for name, by in pairs(score, lambda run: run["foreseen"])]
    head = ["scenario", "who really grew", "%/min", "lead wanted", "lead, as found", "instrumented", "to thrash, as found", "instrumented",
            "forecast, as found", "instrumented"]
    return """
## Who had to be named

Leads are minutes from the first warning that named the truth, and stood until then, to the kill by the kernel; beside it to the onset of
reclaim thrash, where the program stands still before it dies. Wanted are 60, 20 and 3 minutes at 0.1, 1 and 10 %/min, and between them
what lies on the line of their logarithms. The pace is the scenario's, in brackets what the floor did in the second half of the runs. The forecast is how far off it was, half-way from that warning to the kill, as a part of the time
that was left: +20 % is too late by a fifth.

""" + table(head, rows)


def named_section(score):
    def by(run):
        return f"{run['named_by']}: {run['named_owner']}" if run["named_by"] else "**not named**"

    def error(run):
        return bold(signed(run["attribution"]["worst"]), run["profile"] != "as-found" and abs(run["attribution"]["worst"] or 0) > 5)

    def others(run):
        return "; ".join(f"{rule}: {owner}" for rule, _, owner in run["false"]) or "none"
    rows = [[name, *each(runs, by), *each(runs, error),
             *each(runs, lambda run: NONE if run["residual"] is None else bold(f"{run['residual']:+.2f} %", abs(run["residual"]) > 2)),
             *each(runs, others)] for name, runs in pairs(score, lambda run: run["foreseen"])]
    head = ["scenario", "named by, as found", "instrumented", "ledger error, as found", "instrumented", "residual, as found", "instrumented",
            "others named, as found", "instrumented"]
    return """
## By whom, and how exact the books were

The ledger's error is that of the named owner (as found: of its whole group) against what the program itself knows, in per cent of that,
the worst of all scans from the warning on. The residual is what no owner holds, in per cent of the charge, the worst of all scans.
*Others named* are warnings that name an owner who neither grew nor was expected: they count as false.

""" + table(head, rows)


def silent_section(score):
    def alarms(run):
        return "**" + "; ".join(f"{rule}, {severity}" for rule, severity, _ in run["false"]) + "**" if run["false"] else "silent"

    def fired(by, rule):
        return " / ".join(str(sum(run["peers"][rule][str(wait)]["fired"] > 0 for run in by.values() if run["peers"])) for wait in peers.FORS)
    rows = [[name, any_of(by)["title"], minutes(any_of(by)["minutes"]), *each(by, alarms), *(fired(by, rule) for rule in PEER_NAMES)]
            for name, by in pairs(score, lambda run: run["kind"] == "silent")]
    return """
## Who had to stay silent

Nothing may be said at warning or above, at any time, the start included. Beside it, in how many of the runs (of two) what people
use today gave an alarm: at once / after five minutes.

""" + table(["scenario", "what", "minutes", "as found", "instrumented", "working set", "predict 1 h", "predict 15 m", "floor"], rows)


def peers_section(score):
    def lead(run, rule):
        return " / ".join(minutes(run["peers"][rule][str(wait)]["lead"]) if run["peers"] else NONE for wait in peers.FORS)
    rows = [[run["scenario"], run["profile"], minutes(run["lead"]), *(lead(run, rule) for rule in PEER_NAMES)]
            for run in score["runs"] if run["foreseen"] and run["killed"]]
    every = score["totals"]["all"]
    mine = sum(run["kind"] == "silent" and bool(run["false"]) for run in score["runs"])
    sums = [["Bankfull, naming the owner", NONE, percent(every["recall"]), minutes(every["lead_median"]), minutes(every["lead_worst"]),
             f"{mine} of {every['silent']}", percent(0.0) if every["silent"] and not mine else NONE]]
    for rule, what in PEER_NAMES.items():
        for wait in peers.FORS:
            one = score["peers"][rule][str(wait)]
            sums.append([what, f"{wait // 60} m", percent(one["recall"]), minutes(one["median"]), minutes(one["worst"]),
                         f"{one['false_runs']} of {one['silent']}", percent(one["false_minutes"])])
    return """
## Beside what people use today

The same seconds, as a Prometheus would have scraped them each 15 s, evaluated by a real one. The working set is cAdvisor's (usage less
inactive file), the floor is ours ([ledger.md](ledger.md#floor-and-freeboard)). An alert counts when it stood until the kill; none of these
names anybody.

""" + table(["rule", "for", "recall", "median lead", "worst lead", "false, of silent runs", "of their time"], sums) + \
        "\nMinutes before the kill, run by run; at once / after five minutes:\n\n" + \
        table(["scenario", "profile", "Bankfull", "working set > 90 %", "predict 1 h, 4 h ahead", "predict 15 m, 1 h ahead", "floor > 85 %"], rows)


def deaths_section(score):
    def told(run):
        items = run["death"]["told"]
        wrong = any(one["key"] == "death" for one in run["failed"])
        text = "; ".join(f"{one['cause']}, {one['owner'] or 'no owner'}{', inferred' if one['inferred'] else ''}" for one in items) or "nothing"
        return bold(text, wrong)

    def truth(run):
        return "; ".join(f"{words(one['cause'])}{', ' + words(one['owner']) if one.get('owner') else ''}"
                         if one.get("count") != 0 else "the watched process lives" for one in run["death"]["expected"])
    rows = [[name, any_of(by)["title"], truth(any_of(by)), *each(by, told)] for name, by in pairs(score, lambda run: run["death"])]
    return """
## What was told of each death

By the post-mortem that the collector held: why the process is gone, and who grew most before it. *Inferred*: the agent was lost with
its pod, and the collector wrote it.

""" + table(["scenario", "what", "what happened", "as found", "instrumented"], rows)


def short_section(score):
    rows = [[one["scenario"], one["profile"] or NONE, one["figure"], one["needed"], one["reached"], one["reason"] or "**no reason is given**"]
            for one in score["shortfalls"]]
    text = "\n## What falls short\n\n"
    return text + (table(["scenario", "profile", "figure", "wanted", "reached", "why"], rows) if rows else "Nothing.\n")


def machines(score):
    seen = sorted({f"{run['machine']}: Linux {run['kernel']}" for run in score["runs"] if run["machine"]})
    return "\nKernels: " + "; ".join(seen) + ". How to run it: `make check-lab`.\n" if seen else ""


def page(score):
    return (HEAD + machines(score) + figures_section(score) + warned_section(score) + named_section(score) + silent_section(score)
            + peers_section(score) + deaths_section(score) + scripts.section(score["scripts"]) + replaytext.section(score["replay"]) + short_section(score))
