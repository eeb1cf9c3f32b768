# SPDX-License-Identifier: Apache-2.0
"""
The picture of each capture against its JSON: well-formed, small, of nothing but itself, its figures and sums the report's.

    report_svg.py BANKFULL
"""
import glob
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

BANKFULL = sys.argv[1]
SVG = "{http://www.w3.org/2000/svg}"
ALLOWED = {SVG + name for name in ("svg", "title", "desc", "defs", "pattern", "path", "rect", "text", "g")}
ATTRIBUTES = {"width", "height", "viewBox", "role", "aria-labelledby", "font-family", "id", "patternUnits", "d",
              "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "x", "y", "fill", "font-size", "font-weight", "text-anchor"}
LEFT = 20.0
SIZES = ["B", "KiB", "MiB", "GiB", "TiB"]


def size(n):
    """As units_format() of base/units.h."""
    sign, n = ("-" if n < 0 else ""), abs(n)
    step = 0
    while step < 4 and n >> (10 * (step + 1)):
        step += 1
    if step == 0:
        return "%s%d B" % (sign, n)
    value = n / (1 << (10 * step))
    if value >= 1023.5 and step < 4:
        value, step = value / 1024, step + 1
    return "%s%.*f %s" % (sign, 0 if value >= 999.95 else 1 if step < 3 or value >= 99.995 else 2, value, SIZES[step])


def check(directory, args):
    def run(*more):
        return subprocess.run([BANKFULL, "report", "--capture", directory, *args, *more], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).stdout
    text = run("--svg", "-")
    report = run("--format", "json")
    if not report:
        return [] if not text else ["a picture without a report"]
    report = json.loads(report)
    bad = []

    def want(good, what):
        if not good:
            bad.append(what)
    want(len(text) < 100000, "%d bytes" % len(text))
    root = ElementTree.fromstring(text)
    for element in root.iter():
        want(element.tag in ALLOWED, "element %s" % element.tag)
        for name, value in element.attrib.items():
            want(name in ATTRIBUTES, "attribute %s" % name)
            want("url(" not in value or re.fullmatch(r"url\(#hatch-\d\)", value), "reference %s" % value)
    want(root.get("width") == "800", "width")
    want(root.find(SVG + "title").text == report["headline"], "title")
    texts = [element.text or "" for element in root.iter(SVG + "text")]
    whole = " ".join(texts)
    for key in ("floor_bytes", "freeboard_bytes", "expected_demand_bytes"):
        want((size(report[key]) if report[key] is not None else "unread") in texts, key)
    current = report["charge"]["current_bytes"]
    want((size(current) if current is not None else "unread") in texts, "charge")
    limit = {"none": "none", "unread": "unread"}.get(report["limit_state"]) or size(report["limit_bytes"])
    want(limit in texts, "limit " + limit)

    # The bar: parts in one row, side by side, as wide as their bytes; with what is not attributed they are the charge.
    lines = {line["owner"]: line for line in report["ledger"] if line["bytes"]}
    parts = [g for g in root.iter(SVG + "g") if g.find(SVG + "rect").get("height") == "46.0"]
    widths, x = {}, LEFT
    for part in parts:
        rect = part.find(SVG + "rect")
        name = re.fullmatch(r"(.+) ([\d.]+ \w+)", part.find(SVG + "title").text)
        widths[name[1]] = float(rect.get("width"))
        want(abs(float(rect.get("x")) - x) < 0.2, "%s begins at %s, not %.2f" % (name[1], rect.get("x"), x))
        x = float(rect.get("x")) + float(rect.get("width"))
        known = report["residual_bytes"] if name[1] == "not attributed" else lines[name[1]]["bytes"]
        want(name[2] == size(known), "%s says %s, not %s" % (name[1], name[2], size(known)))
    rest = report["residual_bytes"] or 0
    want(set(widths) == set(lines) | ({"not attributed"} if rest > 0 else set()), "parts %s" % sorted(set(widths) ^ set(lines)))
    total = sum(line["bytes"] for line in lines.values()) + max(rest, 0)
    if current is not None and rest >= 0 and report["residual_bytes"] is not None:
        want(total == current, "owners and the rest are %d of %d charged" % (total, current))
    scale = (x - LEFT) / total if total else 0
    for name, width in widths.items():
        known = rest if name == "not attributed" else lines[name]["bytes"]
        want(abs(width - known * scale) < 0.05, "%s is %.2f wide" % (name, width))
    if report["limit_bytes"] and scale:
        at = [float(m[1]) for m in re.finditer(rb'M([\d.]+) [\d.]+L[\d.]+ [\d.]+" stroke="#b01e17" stroke-width="2.0"', text)]
        want(any(abs(one - LEFT - report["limit_bytes"] * scale) < 1 for one in at), "the limit's line at %s" % at)

    for line in report["ledger"]:
        if line["bytes"]:
            want(line["owner"] in texts and size(line["bytes"]) in texts, line["owner"])
        if line["bytes"] is None:
            want(re.search(r"unread, which is not 0: [^.]*\b%s\b" % line["owner"], whole), "%s is unread" % line["owner"])
    for budget in report["budgets"]:
        actual = "unread" if budget["actual_bytes"] is None else size(budget["actual_bytes"])
        want(any(one.startswith("%s of %s" % (actual, size(budget["budget_bytes"]))) for one in texts), "budget " + budget["budget"])
        over = budget["actual_bytes"] is not None and budget["actual_bytes"] > budget["budget_bytes"]
        want(not over or "over by " + size(budget["actual_bytes"] - budget["budget_bytes"]) in whole, "budget %s is over" % budget["budget"])
    want(not re.search(r"\b-?(nan|inf)\b", whole), "a figure that is none")
    return bad


def main():
    failed, n = [], 0
    for manifest in sorted(glob.glob("tests/fixtures/**/manifest", recursive=True)):
        directory = os.path.dirname(manifest)
        args = []
        if os.path.exists(directory + "/args"):
            with open(directory + "/args") as file:
                args = file.read().split("\n")[:-1]
        n += 1
        try:
            bad = check(directory, args)
        except (ElementTree.ParseError, KeyError, TypeError, AttributeError) as e:
            bad = ["%s: %s" % (type(e).__name__, e)]
        failed += ["%s: %s" % (directory, what) for what in bad]
    for line in failed[:40]:
        print("# " + line)
    print("%sok - %d pictures say what the reports say, and nothing else is in them" % ("" if not failed and n > 50 else "not ", n))
    return bool(failed)


sys.exit(main())
