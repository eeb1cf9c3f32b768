# SPDX-License-Identifier: Apache-2.0
"""What the agent said of the container all along, against what root read of it at the same time."""

# A page shows the last tick, which is 5 s old at most; the kernel's CPUs tell each other late (cgroup-v2.rst).
AROUND_MS = 7_000
CHARGE_BYTES = 4 << 20


def around(run, at_ms):
    return [row for row in run.rows if abs(row["at_ms"] - at_ms) <= AROUND_MS]


def foreign_limits(run):
    """(at_ms, said, root's) of pages with a limit that was not in force."""
    out = []
    for page in run.pages:
        said, rows = page.value("bankfull_limit_bytes"), around(run, page.at_ms)
        if said is not None and rows and said not in [row.get("limit") for row in rows]:
            out.append((page.at_ms, said, rows[-1].get("limit")))
    return out


def foreign_charges(run):
    """The same of the charge: it must lie between what root saw just before and after."""
    out = []
    for page in run.pages:
        said, rows = page.value("bankfull_charge_bytes"), around(run, page.at_ms)
        if said is None or not rows:
            continue
        seen = [row["current"] for row in rows]
        if not min(seen) - CHARGE_BYTES <= said <= max(seen) + CHARGE_BYTES:
            out.append((page.at_ms, said, seen[-1]))
    return out


def woken_for_nothing(run):
    """
    Pages by which something woke the agent although the kernel had no event of the container to tell. Root's last row is from
    before a kill that takes the container along: what is told after it, the kill itself may have been.
    """
    if not run.rows or any(run.rows[-1].get(name) for name in ("high", "max", "oom", "oom_kill")):
        return []
    return [(page.at_ms, page.value("bankfull_agent_wakes_total"), 0) for page in run.pages
            if page.at_ms <= run.rows[-1]["at_ms"] and page.value("bankfull_agent_wakes_total")]


def goes_on_without(run):
    """After its cgroup was removed: whether the agent ticks on, without a target. None: it was not removed, or no page tells."""
    after = [page for page in run.pages if page.at_ms > (run.meta.get("removed_ms") or run.end_ms) + 5_000]
    before = [page for page in run.pages if page not in after]
    if "removed" not in run.meta or not after or not before:
        return None
    return (run.meta["removed"] and after[-1].value("bankfull_target_up") == 0
            and after[-1].value("bankfull_agent_ticks_total") > before[-1].value("bankfull_agent_ticks_total"))
