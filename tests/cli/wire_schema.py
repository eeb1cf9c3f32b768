# SPDX-License-Identifier: Apache-2.0
"""The wire against its schema, its golden messages and its manual: wire_schema.py lint|golden|frames FILE|mutants|manual.

Prints one complaint a line; the status says whether there was any."""
import copy
import glob
import json
import re
import sys

import jsonschema

with open("docs/wire.schema.json") as file:
    SCHEMA = json.load(file)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def golden():
    for path in sorted(glob.glob("tests/golden/wire/*.json")):
        with open(path) as text:
            yield path, json.load(text)


def target(node):
    while "$ref" in node:
        node = SCHEMA["$defs"][node["$ref"].rsplit("/", 1)[1]]
    return node


def lint(node, path):
    """Every member is described, with its unit; no object is closed: readers ignore what they do not know."""
    if not isinstance(node, dict):
        return
    if node.get("additionalProperties") is False:
        yield "%s is closed" % path
    for name, member in node.get("properties", {}).items():
        text = member.get("description", "")
        if "/if" in path:
            continue
        if not text:
            yield "%s/%s has no description" % (path, name)
        units = {"_bytes": "bytes", "_ms": "illiseconds", "_s": "econds", "_bp": "1/10,000"}
        for suffix, unit in units.items():
            if name.endswith(suffix) and unit not in text + target(member).get("description", "") and name != "latest_s":
                yield "%s/%s does not say its unit" % (path, name)
    for key, child in node.items():
        if key in ("properties", "$defs"):
            for name, member in child.items():
                yield from lint(member, "%s/%s" % (path, name))
        elif isinstance(child, dict):
            yield from lint(child, "%s/%s" % (path, key))


def undescribed(value, node, path):
    """Members of a message that the schema does not know: additionalProperties would let them pass."""
    node = target(node)
    if isinstance(value, list):
        for i, element in enumerate(value):
            yield from undescribed(element, node.get("items", {}), "%s/%d" % (path, i))
    elif isinstance(value, dict) and not path.endswith("/finding") and "additionalProperties" not in node:
        for key, member in value.items():
            if key in node.get("properties", {}):
                yield from undescribed(member, node["properties"][key], "%s/%s" % (path, key))
            elif not path.endswith("/body"):
                yield "%s/%s is not described" % (path, key)


def judge(where, message):
    for error in VALIDATOR.iter_errors(message):
        yield "%s: %s: %s" % (where, "/".join(map(str, error.path)), error.message[:300])
    if message.get("type") in SCHEMA["$defs"]:
        for complaint in undescribed(message, SCHEMA["$defs"][message["type"]], message["type"]):
            yield "%s: %s" % (where, complaint)


def members(value, path=()):
    """The way to every member of a message but those below body and finding, which are no business of the wire."""
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(value, dict):
            yield path + (key,)
        if isinstance(member, (dict, list)) and key not in ("body", "finding"):
            yield from members(member, path + (key,))


def mutants():
    """Teeth: every member of every golden message with a value of a wrong kind, and every required one gone, is invalid."""
    n = 0
    for path, message in golden():
        for way in members(message):
            mutant = copy.deepcopy(message)
            parent = mutant
            for key in way[:-1]:
                parent = parent[key]
            old = parent[way[-1]]
            parent[way[-1]] = False if old is None else {} if isinstance(old, (list, str)) else "wrong"
            n += 1
            if VALIDATOR.is_valid(mutant):
                yield "%s: valid with a wrong kind at %s" % (path, "/".join(map(str, way)))
        for key in target(SCHEMA["$defs"][message["type"]])["required"]:
            if VALIDATOR.is_valid({name: value for name, value in message.items() if name != key}):
                yield "%s: valid without %s" % (path, key)
    if n < 100:
        yield "only %d mutants were made" % n


def manual():
    """Every example of the manual is a golden message: so a decoder has read it. And every member has its line there."""
    with open("docs/wire.md") as file:
        text = file.read()
    known = [message for _, message in golden()]
    examples = re.findall(r"^    (\{.*\})$", text, re.M)
    if len(examples) < 9:
        yield "docs/wire.md has only %d examples" % len(examples)
    for example in examples:
        if json.loads(example) not in known:
            yield "docs/wire.md: no golden message: %s" % example[:120]
    for name in SCHEMA["properties"]["type"]["enum"]:
        if "`%s`" % name not in text:
            yield "docs/wire.md does not speak of %s" % name
        for member in SCHEMA["$defs"][name]["properties"]:
            if "`%s`" % member not in text:
                yield "docs/wire.md does not speak of %s of %s" % (member, name)
    with open("include/bankfull/wire.h") as file:
        for code in re.findall(r"WIRE_CLOSE_\w+ = (\d+)", file.read()):
            if code not in text:
                yield "docs/wire.md does not speak of close code %s" % code


def complaints():
    what = sys.argv[1]
    if what == "lint":
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        yield from lint(SCHEMA, "schema")
    elif what == "golden":
        for path, message in golden():
            yield from judge(path, message)
    elif what == "frames":
        with open(sys.argv[2], "rb") as frames:
            lines = frames.read().decode().split("\n")[:-1]
        for i, line in enumerate(lines):
            yield from judge("frame %d" % i, json.loads(line))
        if len(lines) < 500:
            yield "only %d frames" % len(lines)
    elif what == "mutants":
        yield from mutants()
    elif what == "manual":
        yield from manual()


found = list(complaints())
for complaint in found[:40]:
    print(complaint)
sys.exit(1 if found else 0)
