# SPDX-License-Identifier: Apache-2.0
"""Validate reports: schema.py SCHEMA FILE...; or the schema itself: schema.py SCHEMA --lint."""
import json
import os
import sys

import jsonschema


def unique(pairs):
    """A key said twice is two answers to one question; json would keep the last."""
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError("duplicate key in %s" % keys)
    return dict(pairs)


def members(node, path):
    """Every object of the schema closes itself, requires what it lists, and describes each member."""
    if not isinstance(node, dict):
        return
    properties = node.get("properties", {})
    if node.get("type") == "object":
        closed = node.get("additionalProperties") is False
        if not closed and not (path.endswith("evidence") and "type" in node.get("additionalProperties", {})):
            yield "%s takes any member" % path
        if not path.endswith("evidence") and set(node.get("required", [])) != set(properties):
            yield "%s: required and properties differ" % path
    for name, member in properties.items():
        where = "%s/%s" % (path, name)
        if path.split("/")[-1] in ("then", "else", "if"):
            continue
        target = member
        while "description" not in target and "$ref" in target:
            target = SCHEMA["$defs"][target["$ref"].rsplit("/", 1)[1]]
        text = target.get("description", "")
        if not text:
            yield "%s has no description" % where
        if name.endswith("_bytes") and "bytes" not in text or name.endswith("_ms") and "millisecond" not in text:
            yield "%s does not say its unit" % where
    for key, child in node.items():
        if key in ("properties", "$defs"):
            for name, member in child.items():
                yield from members(member, "%s/%s" % (path, name))
        elif isinstance(child, dict):
            yield from members(child, "%s/%s" % (path, key))


def unnamed_figures(report):
    """The figures of a finding are those that its rule's page names."""
    for finding in report.get("findings", []):
        # A plan has checks of its own, without figures and pages.
        if not finding["evidence"] and not os.path.exists("docs/rules/%s.md" % finding["rule"]):
            continue
        with open("docs/rules/%s.md" % finding["rule"]) as file:
            page = file.read()
        for figure in finding["evidence"]:
            if "`%s`" % figure not in page:
                yield "%s: its page does not name the figure %s" % (finding["rule"], figure)


with open(sys.argv[1]) as file:
    SCHEMA = json.load(file, object_pairs_hook=unique)
VALIDATOR = jsonschema.Draft202012Validator
VALIDATOR.check_schema(SCHEMA)
bad = 0
if sys.argv[2] == "--lint":
    for complaint in members(SCHEMA, "schema"):
        print(complaint)
        bad = 1
else:
    for path in sys.argv[2:]:
        with open(path) as file:
            report = json.load(file, object_pairs_hook=unique)
        errors = list(VALIDATOR(SCHEMA).iter_errors(report))
        # What is required and may not be missing: take one away, and it must show.
        for key in list(report):
            cut = {name: value for name, value in report.items() if name != key}
            if VALIDATOR(SCHEMA).is_valid(cut):
                errors.append(jsonschema.ValidationError("valid without %s" % key))
        for error in errors:
            print("%s: %s: %s" % (path, "/".join(map(str, error.path)), error.message[:300]))
            bad = 1
        for complaint in unnamed_figures(report):
            print("%s: %s" % (path, complaint))
            bad = 1
sys.exit(bad)
