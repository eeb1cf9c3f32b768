# SPDX-License-Identifier: Apache-2.0
"""What a post-mortem shows of a death, against the kernel and against what its cause allows (DESIGN: the verdict on a death)."""

from rundir import of_date

# By the kernel's counters there is no doubt of the one, and there is always some of the other.
SURE_PERCENT, UNSURE_PERCENT = 90, 94
UNTOUCHED = ("sigkill", "exit", "java-oom")


def limit_before(run, at_ms):
    rows = [row for row in run.rows if row["at_ms"] <= at_ms and row.get("limit") is not None]
    return rows[-1]["limit"] if rows else None


def of_events(cause, events):
    """(good, text) of the container's own memory.events before and after."""
    before, after = events.get("before") or {}, events.get("after") or {}

    def rose(name):
        return (after.get(name) or 0) > (before.get(name) or 0)

    if cause == "container-limit":
        return rose("oom") and rose("oom_kill") and (after.get("max") or 0) > 0, "its events are those of a kill at the own limit"
    if cause in UNTOUCHED:
        return bool(after) and not rose("oom_kill"), "its events have no kill"
    return rose("oom_kill") and not rose("oom"), "its events are those of a kill from outside"


def of_death(run, wanted, item, body):
    """(good, text, note) of each thing that must be so. What the collector inferred has no more than the last sample."""
    if item["inferred"]:
        return
    note = f"limit {body.get('limit_bytes')}, events {body.get('events')}, sure {body.get('confidence_pct')} %"
    limit = limit_before(run, item["died_ms"])
    yield body.get("limit_bytes") == limit, "it has the limit that was in force", f"{note}\nlimit by root {limit}"
    yield (*of_events(item["cause"], body.get("events") or {}), note)
    sure = body.get("confidence_pct") or 0
    if item["cause"] == "container-limit":
        yield sure >= SURE_PERCENT, "it is sure of it", note
    elif item["cause"] == "sigkill":
        yield 50 <= sure <= UNSURE_PERCENT, "it is no surer than one can be", note
    for rule in wanted.get("findings", []):
        yield any(one.get("rule") == rule for one in body.get("findings") or []), f"{rule} stands in it", f"{body.get('findings')}"[:300]
    if wanted.get("urgent"):
        yield from of_urgency(run, body)


def of_urgency(run, body):
    times = [of_date(line["time"]) for line in run.log if line.get("event") == "urgent"]
    yield (run.kill_ms and any(at < run.kill_ms for at in times), "the agent was urgent before the kernel killed",
           f"urgent {times}, killed {run.kill_ms}")
    yield body.get("deep") is not None, "a deeper look was taken", f"deep {body.get('deep')}"
    wakes = [page.value("bankfull_agent_wakes_total") or 0 for page in run.pages]
    yield any(wakes), "the kernel's event woke it", f"wakes {wakes[-3:]}"
