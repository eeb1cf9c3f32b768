# SPDX-License-Identifier: Apache-2.0
"""
What a scenario.toml may say (README.md has what it means): a table of keys and of the values each takes. Pure; a run is minutes,
and a key that nobody reads would have it prove something else than it says.
"""
import difflib
import glob
import inspect
import os
import re
import shlex
import signal

import actions
from owners import GROUPS, OWNERS, SEVERITIES

PROFILES = ("as-found", "instrumented")
KINDS = ("warn", "silent", "death", "access", "harmless")
SCRIPTED = ("access", "harmless")
EVENTS = ("kill", "end", "ready", "start", "max")
CAUSES = ("unknown", "container-limit", "pod-limit", "node", "outside", "sigkill", "java-oom", "exit")
# Each has its page: make docs-check.
RULES = tuple(sorted(os.path.basename(path)[:-3] for path in glob.glob(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/rules/*.md")) if not path.endswith("README.md")))


# --- values: each check tells what it wants, or nothing where it has it ------------------------------


def near(value, known):
    """The name that was meant, where one is near."""
    found = difflib.get_close_matches(str(value), known, 1)
    return f": is it {found[0]}?" if found else ""


def text(value):
    return None if isinstance(value, str) and value else "must be a text"


def yes_or_no(value):
    return None if isinstance(value, bool) else "must be true or false"


def of_type(value, types):
    return isinstance(value, types) and not isinstance(value, bool)


def whole(least):
    return lambda value: None if of_type(value, int) and value >= least else f"must be a whole number of at least {least}"


def number(value):
    return None if of_type(value, (int, float)) and 0 < value < 1e9 else "must be a number above 0"


def seconds(value):
    return None if of_type(value, (int, float)) and 0 <= value < 1e9 else "must be seconds, 0 or more"


def size(value):
    return None if isinstance(value, str) and re.fullmatch(r"max|\d+[KMG]?", value) else "must be a size as \"256M\", or \"max\""


def volume(value):
    return None if isinstance(value, str) and re.fullmatch(r"/[^:\s]*:\d+[KMG]?", value) else "must be DIR:SIZE"


def one_of(known, what="must be one of"):
    return lambda value: None if isinstance(value, str) and value in known else \
        f"{what} {', '.join(known)}" if len(known) < 12 else f"is not known{near(value, known)}"


def list_of(check):
    def checked(value):
        if not isinstance(value, list) or not value:
            return "must be a list"
        return next((f"{item!r} {said}" for item in value for said in [check(item)] if said), None)
    return checked


def one_or_list(check):
    return lambda value: list_of(check)(value) if isinstance(value, list) else check(value)


def smoke(value):
    return None if value is True or value in PROFILES else f"must be true, or one of {', '.join(PROFILES)}"


def environment(value):
    good = isinstance(value, dict) and all(isinstance(word, str) for word in value.values())
    return None if good else "must be a table of texts"


# --- what happens meanwhile --------------------------------------------------------------------------

SIGNALS = tuple(one.name.removeprefix("SIG") for one in signal.Signals)
# Of an action's words, those that are not free.
ARGUMENTS = {"limit": [size], "high": [size], "signal": [one_of(("main", "agent")), one_of(SIGNALS)], "link": [one_of(("up", "down"))],
             "collector": [one_of(("stop", "start"))], "engine": [one_of(("pause", "close", "submit", "leak", "restart"))]}


def is_number(word):
    try:
        return 0 <= float(word) < 1e9
    except ValueError:
        return False


def step(value):
    if not isinstance(value, str) or not value.strip():
        return "must be a step, or a list of steps"
    try:
        word, *arguments = shlex.split(value)
    except ValueError as error:
        return f"{value!r}: {error}"
    if word == "wait":
        return None if len(arguments) == 1 and is_number(arguments[0]) else f"{value!r}: wait takes seconds"
    if word not in actions.WORDS:
        return f"{value!r}: no such action{near(word, [*actions.WORDS, 'wait'])}"
    try:
        inspect.signature(actions.WORDS[word]).bind(None, *arguments)
    except TypeError as error:
        return f"{value!r}: {error}"
    for argument, check in zip(arguments, ARGUMENTS.get(word, [])):
        said = check(argument)
        if said:
            return f"{value!r}: {argument} {said}"
    return None


def steps(raw):
    """All steps of a scenario, in the order in which it has them."""
    found = []
    for action in raw.get("action", []):
        do = action.get("do") if isinstance(action, dict) else None
        found += [one for one in (do if isinstance(do, list) else [do]) if isinstance(one, str) and not one.startswith("wait ")]
    return found


# --- the tables --------------------------------------------------------------------------------------

COMMANDS = {"options": list_of(text), "jvm": list_of(text)}
WORKLOAD = {"engine": one_of(("probe", "flink", "streams")), **COMMANDS}
TRUTH = {"owner": one_or_list(one_of(OWNERS)), "group": one_or_list(one_of(tuple(GROUPS))), "grows_percent_per_minute": number,
         "owner_bytes": one_or_list(text), "compare": one_of(("growth",)), "ledger": one_or_list(one_of(OWNERS)),
         "also": one_or_list(one_of(OWNERS))}
EXPECT = {"rule": one_of(RULES), "owner": one_or_list(one_of(OWNERS)), "severity": one_of(SEVERITIES), "title": text, "after": text,
          "before": text, "on_page": yes_or_no, "profile": one_of(PROFILES)}
DEATH = {"cause": one_or_list(one_of(CAUSES)), "owner": one_or_list(one_of(OWNERS)), "killed": one_of(("main", "other")),
         "inferred": yes_or_no, "urgent": yes_or_no, "findings": list_of(one_of(RULES)), "goes_on": yes_or_no, "says": text,
         "count": whole(0), "where": one_of(("stdout",))}
ACTION = {"do": one_or_list(step), "at_s": seconds, "at_charge": size, "at_anon": size, "after_kill_s": seconds}
WHEN = ("at_s", "at_charge", "at_anon", "after_kill_s")
KEYS = {"title": text, "kind": one_of(KINDS), "machine": one_of(("uml", "qemu")), "clock": one_of(("virtual", "real")),
        "mem_mib": whole(64), "disk_mib": whole(64), "limit": size, "memory_high": size, "pod_limit": size, "pod_limit_told": yes_or_no,
        "swap": size, "minutes": number, "long_minutes": number, "seconds": whole(1), "profiles": list_of(one_of(PROFILES)),
        "jdk": whole(8), "smoke": smoke, "agent": list_of(text), "env": environment, "tmpfs": volume,
        "restart": one_of(("always", "never")), "thp": one_of(("always", "madvise", "never")), "own_kernel": yes_or_no, "script": text,
        "after_death_s": seconds, "end": one_of(("kill", "time", "exit")), "request": size, "oom_group": yes_or_no, "kills": whole(1),
        "cost": number}
# [name], [[name]], or either: (what it may have, what it must have)
TABLES = {"workload": (dict, WORKLOAD, ("engine",)), "truth": (dict, TRUTH, ()), "expect": (list, EXPECT, ("rule",)),
          "expect_death": ((dict, list), DEATH, ()), "action": (list, ACTION, ("do",))}


def of_table(where, table, known, must=()):
    if not isinstance(table, dict):
        yield f"{where}: must be a table"
        return
    for key, value in table.items():
        said = f"no such key{near(key, known)}" if key not in known else known[key](value)
        if said:
            yield f"{where}.{key}: {said}"
    yield from (f"{where}: wants {key}" for key in must if key not in table)


def of_tables(name, value):
    kinds, known, must = TABLES[name]
    if not isinstance(value, kinds):
        yield f"{name}: must be [{name}]" if kinds is dict else f"{name}: must be [[{name}]]"
        return
    if name == "workload":
        for profile in PROFILES:
            if profile in value:
                yield from of_table(f"{name}.{profile}", value[profile], COMMANDS)
        value = {key: inner for key, inner in value.items() if key not in PROFILES}
    if isinstance(value, dict):
        yield from of_table(name, value, known, must)
        return
    for number_of_it, table in enumerate(value, 1):
        yield from of_table(f"{name} {number_of_it}", table, known, must)


def is_event(raw, name):
    """Whether such an event can come: one that always has its name, or an action's."""
    every = steps(raw)
    if name.startswith("action ") and name[7:].isdigit():
        return 0 < int(name[7:]) <= len(every)
    return name in EVENTS or any(one.startswith(name) for one in every)


def together(raw):
    """What is right alone, and wrong beside the rest; of a scenario whose keys are right."""
    kind, truth = raw["kind"], raw.get("truth", {})
    must = ("limit", "script") if kind in SCRIPTED else ("limit", "workload")
    yield from (f"{key}: wanted for kind {kind}" for key in must if key not in raw)
    if kind == "warn" and "expect" not in raw and "owner" not in truth:
        yield "expect: wanted for kind warn, or truth.owner: it would be judged by nothing"
    if kind == "death" and "expect_death" not in raw:
        yield "expect_death: wanted for kind death"
    if "owner_bytes" in truth and "owner" not in truth and "ledger" not in truth:
        yield "truth.owner: wanted with owner_bytes"
    for number_of_it, expect in enumerate(raw.get("expect", []), 1):
        yield from (f"expect {number_of_it}.{word}: no event {expect[word]!r}" for word in ("before", "after")
                    if word in expect and not is_event(raw, expect[word]))
        if expect.get("profile", PROFILES[0]) not in raw.get("profiles", PROFILES) and "profile" in expect:
            yield f"expect {number_of_it}.profile: {expect['profile']} is not run"
    for number_of_it, action in enumerate(raw.get("action", []), 1):
        if sum(when in action for when in WHEN) != 1:
            yield f"action {number_of_it}: wants one of {', '.join(WHEN)}"
    if isinstance(raw.get("smoke"), str) and raw["smoke"] not in raw.get("profiles", PROFILES):
        yield f"smoke: {raw['smoke']} is not run"


def faults(raw):
    """[text] of what is wrong, each with its key first."""
    found = [f"{key}: wanted" for key in ("title", "kind") if key not in raw]
    for key, value in raw.items():
        if key in TABLES:
            found += of_tables(key, value)
        elif key in KEYS:
            said = KEYS[key](value)
            found += [f"{key}: {said}"] if said else []
        else:
            found.append(f"{key}: no such key{near(key, [*KEYS, *TABLES])}")
    return found or list(together(raw))
