# SPDX-License-Identifier: Apache-2.0
"""
What is measured of a run: who was named and since when, how long before the kill and before the onset of reclaim thrash,
how far the forecast was off at half the time that was left, how far the ledger was off the truth, and whether it adds up.
"""
import math
import statistics

import cgroups
from owners import WARNING, members, rank
from rundir import at_of

# A warning stands as long as it is not gone for more than this: one that cleared long before the kill warned of nothing.
STANDS_GAP_MS = 120_000
PAGE_EVERY_MS = 15_000
MIB = 1 << 20
GROUP_SLACK, GROUP_SHARE = 2 * MIB, 0.005  # docs/ledger.md, "Groups"
# Minutes before the kill at so many per cent of the limit a minute; between them along the line of their logarithms.
LEADS = ((0.1, 60.0), (1.0, 20.0), (10.0, 3.0))


def needed_lead(rate):
    """Minutes; None: the scenario states no pace."""
    if not rate:
        return None
    if rate <= LEADS[0][0]:
        return LEADS[0][1]
    for (slow, long), (fast, short) in zip(LEADS, LEADS[1:]):
        if rate <= fast:
            share = math.log(rate / slow) / math.log(fast / slow)
            return long * (short / long) ** share
    return LEADS[-1][1] * LEADS[-1][0] / rate  # the same part of the limit is left


def listed(value):
    return [] if value is None else value if isinstance(value, list) else [value]


def wanted(run, owners=None):
    """The owners by any of which the truth is named in this profile; with `owners` those of one expectation."""
    exact = frozenset(listed(owners if owners is not None else run.truth.get("owner")))
    if run.profile == "as-found" and exact and "group" in run.truth:
        return exact | members(run.truth["group"])
    return exact


def grave(run):
    """Findings at warning or above, before the end."""
    return [sight for sight in run.sights if rank(sight.severity) >= WARNING and sight.at_ms < run.end_ms]


def naming(run):
    who = wanted(run)
    return [sight for sight in grave(run) if sight.owner in who]


def strangers(run):
    """Warnings that name an owner who is neither the truth's, nor expected, nor one of `also`."""
    allowed = wanted(run) | frozenset(listed(run.truth.get("also")))
    for expect in run.scenario.get("expect", []):
        allowed |= wanted(run, expect.get("owner"))
    return [sight for sight in grave(run) if sight.owner is not None and sight.owner not in allowed]


def false_warnings(run):
    """
    {name: {(rule, severity, owner)}} of what should not have been said: in a silent run every warning, one that the agent's
    page alone knew of as well; where somebody had to be named, those that name another. The names tell episodes apart.
    """
    sights = [sight for sight in run.sights if rank(sight.severity) >= WARNING] if run.kind == "silent" else \
        strangers(run) if run.kind == "warn" else []
    out = {}
    for sight in sights:
        out.setdefault(sight.id, set()).add((sight.rule, sight.severity, sight.owner or ""))
    if run.kind == "silent":
        known = {sight.rule for sight in sights}
        for rule, severity, _ in open_on_pages(run):
            if rule not in known and rank(severity) >= WARNING:
                out.setdefault(rule, set()).add((rule, severity, ""))
    return out


def open_on_pages(run):
    """(rule, severity, ms) of each finding on each page of the agent, silenced or not."""
    return [(labels.get("rule"), labels.get("severity"), page.at_ms) for page in run.pages
            for name in ("bankfull_finding_open", "bankfull_finding_silenced") for labels, value in page.all(name) if value]


def standing(spans, end_ms):
    """The first of the spans [(from, to, what)] that together stand until the end; None: none does."""
    first = None
    for span in sorted(spans, key=lambda span: span[1], reverse=True):
        if span[1] < (end_ms if first is None else first[0]) - STANDS_GAP_MS:
            break
        if first is None or span[0] < first[0]:
            first = span
    return first


def named_since(run):
    """Since when the truth was named and stayed so until the end: (ms, the sight that began it); None: it was not."""
    first = standing([(sight.at_ms, sight.until_ms or run.end_ms, sight) for sight in naming(run)], run.end_ms)
    return first and (first[0], first[2])


def forecast_at_half(run, until_ms):
    """How far the forecast was off, as a part of what was left, half-way from the first warning to `until_ms`; None: none."""
    named = named_since(run)
    if not named or not run.kill_ms or until_ms is None or until_ms <= named[0]:
        return None
    half = (named[0] + until_ms) / 2
    before = [page for page in run.pages if half - 2 * PAGE_EVERY_MS <= page.at_ms <= half]
    likely = before[-1].value("bankfull_forecast_seconds", bound="likely") if before else None
    return None if likely is None else likely / ((until_ms - before[-1].at_ms) / 1000) - 1


# --- the ledger -------------------------------------------------------------------------------------


class Composition:
    def __init__(self, point):
        self.at_ms = at_of(point)
        self.charge = point["charge_bytes"]
        self.owners = {owner: size for owner, size in point["owners"].items() if size}
        self.groups = {group: size for group, size in (point.get("groups") or {}).items() if size is not None}

    @property
    def residual(self):
        return self.charge - sum(self.owners.values())


def compositions(run):
    """Of each scan before the end. The first sample of a session repeats the scan before it: its charge is another one."""
    out = []
    for point in run.points:
        if not point.get("owners") or point.get("charge_bytes") is None or at_of(point) > run.end_ms:
            continue
        one = Composition(point)
        if not out or out[-1].owners != one.owners:
            out.append(one)
    return out


def path_bytes(line, path):
    """A figure by its path, `a.b.c`; `*` is the sum over all of that level, a leading `-` takes it off. None: not there."""
    sign, path = (-1, path[1:]) if path.startswith("-") else (1, path)
    values = [line]
    for key in path.strip(".").split("."):
        values = [inner for value in values if isinstance(value, dict)
                  for inner in (value.values() if key == "*" else [value[key]] if key in value else [])]
    numbers = [value for value in values if isinstance(value, (int, float))]
    return sign * sum(numbers) if numbers else None


def truth_bytes(line, paths):
    parts = [path_bytes(line, path) for path in listed(paths)]
    return None if None in parts or not parts else sum(parts)


def truth_at(run, at_ms):
    """What the owner really held, along the line between the two truth lines around that moment; None: not known."""
    known = [(line["at_ms"], truth_bytes(line, run.truth["owner_bytes"])) for line in run.truths]
    known = [pair for pair in known if pair[1] is not None]
    for (t0, b0), (t1, b1) in zip(known, known[1:]):
        if t0 <= at_ms <= t1:
            return b0 + (b1 - b0) * (at_ms - t0) / (t1 - t0) if t1 > t0 else b1
    return None


def ledger_bytes(run, composition):
    """What the ledger says of the truth's owner, or, as found, of its whole group."""
    who = frozenset(listed(run.truth.get("ledger"))) or wanted(run)
    parts = [composition.owners[owner] for owner in who if owner in composition.owners]
    return sum(parts) if parts else None


def attribution(run):
    """
    How far the ledger was off the truth, in per cent of it, at each scan from the first warning to the end (without one:
    from the middle). [truth] compare = "growth": since the first scan after the workload was ready, where the owner
    also holds what the truth line does not count.
    """
    if not run.truth.get("owner_bytes"):
        return []
    named, base = named_since(run), (0, 0)
    ready = run.meta.get("ready_ms") or 0
    since = named[0] if named else (ready + run.end_ms) / 2
    out = []
    both = [(one.at_ms, ledger_bytes(run, one), truth_at(run, one.at_ms)) for one in compositions(run)]
    both = [pair for pair in both if None not in pair]
    if run.truth.get("compare") == "growth":
        after = [pair for pair in both if pair[0] >= ready]
        base = after[0][1:] if after else base
    for at_ms, ours, theirs in both:
        grown = theirs - base[1]
        if at_ms >= since and grown > 0:
            out.append((ours - base[0] - grown) * 100 / grown)
    return out


def attribution_error(run):
    """
    The one figure of them, None without any: the worst; where nothing has to grow the median, for write buffers fill and are
    flushed between two truth lines, and what they held at a scan is not known to 5 %.
    """
    off = attribution(run)
    if not off:
        return None
    return statistics.median(off) if run.kind == "silent" else max(off, key=abs)


def residuals(run):
    """Of each scan, in per cent of the charge."""
    return [one.residual * 100 / one.charge for one in compositions(run) if one.charge]


def owner_groups(run):
    """Which group each owner is in, as the agent's own pages say."""
    return {labels["owner"]: labels["group"] for page in run.pages for labels, _ in page.all("bankfull_owner_resident_bytes")
            if "group" in labels}


def open_groups(run):
    """Groups that do not close against the kernel's counter: (ms, group, difference)."""
    group_of, out = owner_groups(run), []
    for one in compositions(run):
        sums = {}
        for owner, size in one.owners.items():
            if owner in group_of:
                sums[group_of[owner]] = sums.get(group_of[owner], 0) + size
        for group, counter in one.groups.items():
            off = sums.get(group, 0) - counter
            if group_of and abs(off) > max(GROUP_SLACK, counter * GROUP_SHARE):
                out.append((one.at_ms, group, off))
    return out


def torn_pages(run):
    """
    The identity on the agent's pages: owners + residual = charge, to the byte. Owners and residual are of the last scan, so
    the charge is that of a sample with the same owners. (pages that break it, pages checked, pages that have a composition)
    """
    charges = {}
    for one in (Composition(point) for point in run.points if point.get("owners") and point.get("charge_bytes") is not None):
        # Two scans may find the same owners and, by the kernel's stock of pages, another charge.
        charges.setdefault(frozenset(one.owners.items()), set()).add(one.charge)
    broken, checked, there = [], 0, 0
    for page in run.pages:
        residual = page.value("bankfull_residual_bytes")
        owners = page.by("bankfull_owner_resident_bytes", "owner")
        if residual is None or not owners or page.at_ms > run.end_ms:
            continue
        there += 1
        known = charges.get(frozenset((owner, int(size)) for owner, size in owners.items() if size))
        if known is None:
            continue
        checked += 1
        off = min((charge - sum(owners.values()) - residual for charge in known), key=abs)
        if off:
            broken.append((page.at_ms, off))
    return broken, checked, there


def thrash_ms(run):
    """The onset before the end; None: there was none."""
    at_ms = cgroups.thrash_ms(run.rows)
    return at_ms if at_ms is not None and at_ms <= run.end_ms else None


def minutes(since_ms, until_ms):
    return None if since_ms is None or until_ms is None else (until_ms - since_ms) / 60_000
