# SPDX-License-Identifier: Apache-2.0
"""
Whether a death was told as it was ([expect_death]): by the collector's post-mortem, or with `where = "stdout"` by the line
that the agent printed.

    cause = "container-limit"   as docs/openapi.json has them, or a list of those that may be said
    owner = "native-other"      who grew most; as found, any of the truth's group will do
    killed = "main"             the process that was killed is the watched one, by run.json's main_pids; "other": it is not
    inferred = true             the collector wrote it, for an agent that could not
    urgent = true               it was woken, sampled each second and looked deeper before the kill
    findings = ["limit-changed"]  rules whose findings stand in it
    goes_on = true              the agent watches the container that came after it
    says = "node"               words of its title, its reason, or what it says is missing
    count = 1                   how many of this kind there must be, and no other; 0: none, for the watched process lives.
                                Each is judged, and says how many there were before it
"""
import evidence
import figures
from rundir import of_date

# The last sample that a post-mortem shows must be of the last moments, or it shows nothing of the death.
LAST_SAMPLE_MS = 15_000
INFERRED_LAST_SAMPLE_MS = 60_000  # an agent that is lost with its node: the collector waits before it says so


def of_line(line):
    """The line on standard output as the API would have it."""
    return {"cause": line.get("cause"), "owner": line.get("owner"), "pid": line.get("pid"), "title": line.get("title"),
            "died_ms": of_date(line["died"]), "whole": True, "inferred": False, "bodies": [line.get("body")],
            "last_ms": max((of_date(sample["time"]) for sample in line.get("last_samples", [])), default=None)}


def last_sample_ms(item):
    if item.get("last_ms"):
        return item["last_ms"]
    timeline = [sample.get("wall_ms") or 0 for body in item.get("bodies") or [] for sample in (body or {}).get("timeline", [])]
    return max(timeline, default=None)


def words(item):
    if item is None:
        return "no post-mortem"
    return (f"{item.get('cause')}, {item.get('owner') or 'no owner'}, pid {item.get('pid')}{', inferred' if item.get('inferred') else ''}"
            f"{'' if item.get('whole') else ', not whole'}: {item.get('title')}")


def first_body(item):
    return next(iter(item.get("bodies") or []), None) or {}


def spoken(item):
    body = first_body(item)
    return "\n".join(str(text) for text in (item.get("title"), body.get("why"), body.get("missing")) if text)


def goes_on(run, item):
    """Pages of the agent that watch a JVM again, after the death."""
    return any(page.at_ms > item["died_ms"] + 1000 and page.value("bankfull_target_up") == 1
               and page.value("bankfull_agent_targets_total") not in (None, 1) for page in run.pages)


def one_death(run, wanted, item, number):
    """(good, text, note) of each thing that must be so; of the first one, that its time is that of the kernel's first kill."""
    count = wanted.get("count", 1)
    note = words(item)
    causes = figures.listed(wanted["cause"])
    yield item["cause"] in causes, f"the post-mortem's cause is {' or '.join(causes)}", note
    if "owner" in wanted:
        who = figures.wanted(run, wanted["owner"])
        yield item["owner"] in who, f"it names {' or '.join(figures.listed(wanted['owner']))}, who grew", note
    mine = item["pid"] in (run.meta.get("main_pids") or [])
    if wanted.get("killed", "main") == "main":
        yield mine, "it names the process that was killed", f"{note}\nmain pids {run.meta.get('main_pids')}"
    if wanted.get("killed") == "other":
        yield not mine, "it names no process that lives", note
    if "inferred" in wanted:
        yield item["inferred"] == wanted["inferred"], f"inferred is {wanted['inferred']}", note
    room = INFERRED_LAST_SAMPLE_MS if item["inferred"] else LAST_SAMPLE_MS
    last = last_sample_ms(item)
    yield (item["whole"] and last is not None and abs(item["died_ms"] - last) <= room,
           "it is whole and has the last samples", f"{note}\nlast sample {last}, died {item['died_ms']}")
    if run.kill_ms and wanted.get("killed") == "main" and number == 1:
        yield (abs(item["died_ms"] - run.kill_ms) <= room, "its time is that of the kill",
               f"died {item['died_ms']}, killed {run.kill_ms}")
    yield from evidence.of_death(run, wanted, item, first_body(item))
    if count > 1:
        same = first_body(item).get("deaths_same_owner")
        yield same == number, f"it is number {number} of its kind", f"{note}\ndeaths_same_owner {same}"
    if "says" in wanted:
        yield wanted["says"] in spoken(item), f"it says {wanted['says']!r}", spoken(item)
    if wanted.get("goes_on") and (number < count or count == 1):
        yield goes_on(run, item), "the agent goes on with the container that came after it", note


def deaths(run):
    expected = [one for one in figures.listed(run.scenario.get("expect_death")) if one.get("profile", run.profile) == run.profile]
    for wanted in expected:
        told = [of_line(line) for line in run.printed] if wanted.get("where") == "stdout" else run.postmortems
        told = sorted(told, key=lambda item: item["died_ms"])
        causes = figures.listed(wanted["cause"])
        fitting = [item for item in told if item["cause"] in causes]
        count = wanted.get("count", 1)
        numbers = {0: "there is no post-mortem", 1: "there is one post-mortem of it"}
        strangers = len(told) - len(fitting) if len(expected) == 1 else 0
        yield (len(fitting) == count and not strangers, numbers.get(count, f"there are {count} post-mortems of it"),
               "\n".join(words(item) for item in told) or words(None))
        for number, item in enumerate((fitting or told[:1])[:count], 1):
            yield from one_death(run, wanted, item, number)
