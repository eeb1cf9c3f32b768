#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
Whether a run was what its scenario says it must be. TAP lines; the status is 1 when anything was not.

    judge.py [--scenarios DIR] RUN...
"""
import sys

import cgroups
import figures
import keys
import scripts
import shortfalls
import witness
from owners import WARNING, rank
from rundir import SCENARIOS, UNREADABLE, Run, reason
from verdicts import deaths

ATTRIBUTION_PERCENT = 5.0
RESIDUAL_PERCENT = 2.0
JUDGED = ("warn", "silent", "death")
KERNEL_KILLS = ("container-limit", "pod-limit", "node", "outside")


class Judgement:
    def __init__(self, key, good, text, note=""):
        self.key, self.good, self.text, self.note = key, bool(good), text, note


def clock(run, at_ms):
    """A moment as people count it: from the start of the workload."""
    zero = run.meta.get("ready_ms") or run.meta.get("started_ms") or 0
    return "never" if at_ms is None else f"{(at_ms - zero) / 60_000:.1f} min"


def told(run, sights):
    return "\n".join(f"{clock(run, sight.at_ms)}: {sight.rule}, {sight.severity}, {sight.owner or 'no owner'}: {sight.title}"
                     for sight in sights[:12]) or "no finding at warning or above"


def expects(run):
    return [expect for expect in run.scenario.get("expect", []) if expect.get("profile", run.profile) == run.profile]


def kill_is_due(run):
    if "end" in run.scenario:
        return run.scenario["end"] == "kill"
    told = any(not death.get("inferred") and set(figures.listed(death["cause"])) <= set(KERNEL_KILLS)
               for death in figures.listed(run.scenario.get("expect_death")))
    if run.kind == "death" or told:
        return told
    return run.kind == "warn" and any(expect.get("before") == "kill" for expect in expects(run))


def judge_run(run):
    """The run itself: it came to where the scenario wanted it."""
    end, due = run.meta.get("end"), kill_is_due(run)
    note = f"end {end}, kill {clock(run, run.kill_ms)}, error {run.meta.get('error')}"
    out = [Judgement("run", run.meta.get("ready_ms"), "the workload was ready", note)]
    if due:
        out.append(Judgement("run", run.kill_ms and end in ("kill", "time"), "the kernel killed it", note))
    elif "end" in run.scenario:
        out.append(Judgement("run", end == run.scenario["end"], f"it ended by {run.scenario['end']}", note))
    elif run.kind == "death":
        out.append(Judgement("run", end not in (None, "failed") and not run.kill_ms, "it ended, and not by the kernel", note))
    else:
        out.append(Judgement("run", end == "time" and not run.kill_ms, "it lived to the end of its time", note))
    return out


def fits(run, expect, sight):
    who = figures.wanted(run, expect["owner"]) if "owner" in expect else None
    before = run.event_ms(expect["before"]) if "before" in expect else run.end_ms
    after = run.event_ms(expect["after"]) if "after" in expect else 0
    return (sight.rule == expect["rule"] and rank(sight.severity) >= rank(expect.get("severity", "warning"))
            and (who is None or sight.owner in who) and expect.get("title", "") in sight.title and before is not None and after is not None
            and after <= sight.at_ms < before)


def describe(expect):
    text = f"{expect['rule']} at {expect.get('severity', 'warning')}"
    if "owner" in expect:
        text += " names " + " or ".join(figures.listed(expect["owner"]))
    text += f" and says {expect['title']!r}" if "title" in expect else ""
    text += ", on the agent's page too" if expect.get("on_page") else ""
    for word in ("after", "before"):
        text += f" {word} {expect[word]}" if word in expect else ""
    return text


def judge_expects(run):
    out = []
    for expect in expects(run):
        hits = [sight for sight in run.sights if fits(run, expect, sight)]
        if expect.get("on_page"):
            hits = [sight for sight in hits if any(rule == sight.rule for rule, _, _ in figures.open_on_pages(run))]
        text = describe(expect) + (f" ({clock(run, hits[0].at_ms)})" if hits else "")
        seen = [sight for sight in run.sights if sight.rule == expect["rule"]] or figures.grave(run)
        out.append(Judgement("expect", hits, text, told(run, seen)))
    return out


def judge_named(run):
    """As found, the right group; instrumented, the owner: by any warning that stood until the end."""
    if run.kind != "warn" or not run.truth.get("owner"):
        return []
    named = figures.named_since(run)
    what = (" or ".join(figures.listed(run.truth["owner"])) if run.profile != "as-found" or "group" not in run.truth
            else f"the group {' or '.join(figures.listed(run.truth['group']))}")
    note = told(run, figures.grave(run))
    text = f"a warning names {what} and stands until the end"
    return [Judgement("named", named, text + (f": {named[1].rule}, {clock(run, named[0])}" if named else ""), note)]


def judge_silence(run):
    """By the collector's findings, the agent's pages and its log: none of the three may know of a warning."""
    if run.kind != "silent":
        return []
    pages = [f"{clock(run, at_ms)}: {rule}, {severity} on the agent's page"
             for rule, severity, at_ms in figures.open_on_pages(run) if rank(severity) >= WARNING]
    logged = [line.get("message", "") for line in run.log
              if line.get("event") == "finding-open" and line.get("level") == "warning"]
    sights = [sight for sight in run.sights if rank(sight.severity) >= WARNING]
    note = "\n".join(([told(run, sights)] if sights else []) + pages[:6] + logged[:6])
    return [Judgement("silence", not note, "nothing at warning or above", note),
            Judgement("silence", run.pages and run.points, "the agent was there to speak, and the collector to hear it",
                      f"{len(run.pages)} pages, {len(run.points)} samples")]


def judge_books(run):
    out = []
    off = len(figures.attribution(run))
    if run.truth.get("owner_bytes") and run.profile != "as-found":
        error = figures.attribution_error(run)
        known = shortfalls.of(run.shortfalls, run.name, run.profile, "attribution")
        within = known.get("within_percent", ATTRIBUTION_PERCENT) if known else ATTRIBUTION_PERCENT
        text = f"the ledger's {' + '.join(figures.listed(run.truth.get('ledger') or run.truth['owner']))} is the truth's"
        out.append(Judgement("attribution", off and abs(error) <= within,
                             text + f" within {within:g} %" + (" (short of 5 %: scenarios/shortfalls.toml)" if known else ""),
                             f"{'median' if run.kind == 'silent' else 'worst'} {error:+.1f} % of {off} scans" if off else "no scan with a truth line around it"))
    rest = figures.residuals(run)
    worst = max(rest, key=abs, default=None)
    out.append(Judgement("residual", rest and abs(worst) <= RESIDUAL_PERCENT,
                         f"the residual is within {RESIDUAL_PERCENT:g} % of the charge at each scan",
                         f"worst {worst:+.2f} % of {len(rest)} scans" if rest else "no scan reached the collector"))
    broken, checked, there = figures.torn_pages(run)
    out.append(Judgement("identity", not broken and checked and checked * 2 >= there,
                         "charge = owners + residual on each page of the agent",
                         f"{checked} of {there} pages could be checked\n" +
                         "\n".join(f"{clock(run, at)}: off by {by:+.0f} bytes" for at, by in broken[:8])))
    groups = figures.open_groups(run)
    out.append(Judgement("identity", not groups and rest, "each group closes against its counter at each scan",
                         "\n".join(f"{clock(run, at)}: {group} off by {by:+d} bytes" for at, group, by in groups[:8])
                         or "no scan reached the collector"))
    rows, torn = cgroups.identity(run.rows, run.cpus)
    out.append(Judgement("identity", run.rows and not rows and torn * 20 <= len(run.rows),
                         "the kernel's own sum holds in each second",
                         f"{torn} of {len(run.rows)} torn\n" +
                         "\n".join(f"{clock(run, row['at_ms'])}: off by {cgroups.stat_residual(row):+d} bytes" for row in rows[:8])))
    return out


def judge_agent(run):
    """What it said all along was what root saw; and it ended when it was asked to, unless it was killed."""
    out = []
    for foreign, what in ((witness.foreign_limits(run), "limit"), (witness.foreign_charges(run), "charge")):
        out.append(Judgement("agent", not foreign, f"the {what} on each page of the agent is the kernel's",
                             "\n".join(f"{clock(run, at)}: {said:.0f}, by root {root}" for at, said, root in foreign[:8])))
    woken = witness.woken_for_nothing(run)
    out.append(Judgement("agent", not woken, "nothing woke it but the kernel", f"{woken[:3]}"))
    on = witness.goes_on_without(run)
    if on is not None:
        out.append(Judgement("agent", on, "it goes on after the container's cgroup was removed", f"removed {run.meta['removed']}"))
    if run.meta.get("agent_status") is not None and not run.meta.get("actions"):
        out.append(Judgement("agent", run.meta["agent_status"] == 0, "it ended with 0 when it was asked to", f"{run.meta['agent_status']}"))
    return out


def unknown_words(run):
    """A scenario that cannot be judged as it is written, or not by this run."""
    out = keys.faults(run.scenario)
    if out:
        return out
    return [f"no event {expect[word]!r} in this run" for expect in expects(run) for word in ("before", "after")
            if word in expect and expect[word] != "kill" and run.event_ms(expect[word]) is None]


def judge(run):
    strange = unknown_words(run)
    if strange:
        return [Judgement("run", False, "the scenario can be judged", "\n".join(strange))]
    if run.kind not in JUDGED:  # access, harmless: a script of their own judges them
        passed, failed = scripts.tap_of(run.path)
        return [Judgement("run", not run.meta.get("error") and run.meta.get("end") == "exit", "it ran", f"{run.meta.get('error')}"),
                Judgement("script", passed and not failed, "its script judged, and all was so", "\n".join(failed) or "no line of it is there")]
    death = [Judgement("death", good, text, note) for good, text, note in deaths(run)]
    return (judge_run(run) + judge_expects(run) + judge_named(run) + judge_silence(run) + death + judge_books(run)
            + judge_agent(run))


def main(arguments):
    scenarios, bad = SCENARIOS, 0
    if arguments[:1] == ["--scenarios"]:
        scenarios, arguments = "".join(arguments[1:2]), arguments[2:]
    if not arguments or any(one.startswith("-") for one in arguments):
        print(__doc__, file=sys.stderr)
        return 2
    for path in arguments:
        try:
            run = Run(path, scenarios)
            results = judge(run)
        except UNREADABLE as error:
            print(f"not ok - {path}: it can be judged: {reason(error)}")
            bad = 1
            continue
        for one in results:
            print(f"{'ok' if one.good else 'not ok'} - {run}: {one.text}")
            if not one.good:
                bad = 1
                for line in (one.note or "").splitlines():
                    print("#   " + line)
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
