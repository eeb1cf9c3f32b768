# SPDX-License-Identifier: Apache-2.0
"""hostile_json.py FILE EXPRESSION: is the expression true of the report? `d` is the report, the helpers are below."""
import json
import sys


def unique(pairs):
    keys = [k for k, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key stands twice: {keys}"
    return dict(pairs)


def refuse(name):
    raise ValueError(f"{name} is no JSON")


with open(sys.argv[1], "rb") as f:
    d = json.loads(f.read().decode("utf-8"), object_pairs_hook=unique, parse_constant=refuse)
why = {r["what"]: r["reason"] for r in d["access"]["reasons"]}
kind = {r["what"]: r["kind"] for r in d["access"]["reasons"]}
line = {l["owner"]: l for l in d["ledger"]}
group = {g["group"]: g for g in d["groups"]}
rule = {f["rule"]: f for f in d["findings"]}


def of(owner):
    """Bytes of an owner; None if unread or not listed."""
    return line[owner]["bytes"] if owner in line else None


def sane():
    """No negative owner, nothing unread that has bytes, anon closed and its owners summing up to what it says."""
    for l in d["ledger"]:
        assert (l["bytes"] is None) == (l["state"] == "unread"), l
        assert l["bytes"] is None or l["bytes"] >= 0, l
    anon = group.get("anon")
    if anon and anon["counter_bytes"] is not None:
        assert anon["closed"] is True, anon
        total = sum(l["bytes"] for l in d["ledger"] if l["group"] == "anon" and l["bytes"] is not None)
        assert total == anon["owners_bytes"], (total, anon)
        assert abs(total - anon["counter_bytes"]) <= max(2 << 20, anon["counter_bytes"] // 200), (total, anon)
    return True


result = eval("(" + sys.argv[2] + ")")
if not result:
    print("  false:", sys.argv[2])
    print("  access:", json.dumps(d["access"]))
sys.exit(0 if result else 1)
