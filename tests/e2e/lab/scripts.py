# SPDX-License-Identifier: Apache-2.0
"""
What scenarios with a script of their own left (kinds access and harmless): the TAP lines in OUT/NAME.PROFILE/tap, and the
figures in harmless.json, a list of flat objects with the same keys, or an object of such by name. Pure, but for the reading.
"""
import glob
import os

from marks import NONE, bold, table
from rundir import load


def tap_of(where):
    """(how many passed, the texts of those that failed)"""
    try:
        with open(os.path.join(where, "tap"), encoding="utf-8", errors="replace") as file:
            tap = file.read().splitlines()
    except FileNotFoundError:
        tap = []
    return sum(line.startswith("ok ") for line in tap), [line.removeprefix("not ok ").lstrip("- ") for line in tap if line.startswith("not ok ")]


def of(out):
    """[{name, passed, failed: [texts], figures}] in a stable order."""
    found = []
    for where in sorted({os.path.dirname(path) for name in ("tap", "harmless.json") for path in glob.glob(os.path.join(out, "*", name))}):
        passed, failed = tap_of(where)
        found.append({"name": os.path.basename(where), "passed": passed, "failed": failed, "figures": load(os.path.join(where, "harmless.json"))})
    return found


def cell(value):
    return NONE if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)


def figures_table(figures):
    rows = figures if isinstance(figures, list) else [{"": name, **row} if isinstance(row, dict) else {"": name, "value": row}
                                                      for name, row in sorted(figures.items())]
    keys = list(dict.fromkeys(key for row in rows for key in row))[:10]
    return table([key.replace("_", " ") for key in keys], [[cell(row.get(key)) for key in keys] for row in rows]) if rows else ""


def section(found):
    if not found:
        return ""
    rows = [[one["name"], str(one["passed"]), bold(str(len(one["failed"])), one["failed"]), "; ".join(one["failed"]) or NONE] for one in found]
    text = """
## Access, a node, and what the agent costs

Scenarios with a script of their own: whether the agent says of its access what the kernel allowed, whether one agent for a node finds
and names its pods and outlives what happens to one, and how much longer a thread of the program waits to map memory because somebody
reads its mappings.

""" + table(["scenario", "passed", "failed", "which"], rows)
    return text + "".join("\n" + figures_table(one["figures"]) for one in found if one["figures"])


def short(found):
    """(scenario, figure, reached, needed)"""
    for one in found:
        for text in one["failed"]:
            yield one["name"], "script", "not so", text
