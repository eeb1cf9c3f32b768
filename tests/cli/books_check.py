# SPDX-License-Identifier: Apache-2.0
"""Checks one report against the capture it was made of: books_check.py NAME CAPTURE REPORT.json

Prints a TAP line for each promise of the books; the status is 1 when one is broken.
"""
import json
import os
import re
import sys

MIB = 1 << 20
name, capture, path = sys.argv[1:]
with open(path, encoding="utf-8") as stream:
    report = json.load(stream)
lines = {line["owner"]: line for line in report["ledger"]}
groups = {group["group"]: group for group in report["groups"]}
bad = 0


def promise(what, broken):
    """One TAP line: `broken` lists what is wrong."""
    global bad
    for text in broken:
        print(f"# {name}: {text}")
    print(f"{'not ok' if broken else 'ok'} - {name}: {what}")
    bad |= bool(broken)


def text_of(part):
    try:
        with open(os.path.join(capture, part), encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except FileNotFoundError:
        return None


def keys_of(part):
    text = text_of(part)
    return None if text is None else {k: int(v) for k, v in re.findall(r"^(\w+) (\d+)$", text, re.M)}


def known(value):
    return 0 if value is None else value


stat = keys_of("cgroup/memory.stat")
current = text_of("cgroup/memory.current")
current = None if current is None else int(current.split()[0])
smaps = text_of("proc/smaps")
page = int(re.search(r"^page_bytes (\d+)$", text_of("manifest"), re.M)[1])
cpus = int(re.search(r"^host_cpus (\d+)$", text_of("manifest"), re.M)[1])

# Every group against a counter that was counted here.
counters = {}
if stat:
    lru = sum(stat[k] for k in ("inactive_anon", "active_anon", "inactive_file", "active_file", "unevictable"))
    counters["anon"] = stat["anon"] + max(0, lru - stat["anon"] - stat["file"])
    counters["shmem"] = stat["shmem"]
    counters["file"] = stat["file"] - stat["shmem"]
    counters["sock"] = stat["sock"]
    if "kernel" in stat:
        counters["kernel"] = stat["kernel"]
elif smaps is not None:
    shares = re.findall(r"^Pss_Anon: +(\d+) kB$", smaps, re.M) or re.findall(r"^Anonymous: +(\d+) kB$", smaps, re.M)
    counters["anon"] = sum(int(kb) * 1024 for kb in shares)
broken = []
for group, counter in counters.items():
    said = groups.get(group)
    if said is None:
        broken.append(f"group {group} is not in the report")
        continue
    if said["counter_bytes"] != counter:
        broken.append(f"{group}: counter {said['counter_bytes']}, counted {counter}")
    if said["owners_bytes"] is None or abs(counter - said["owners_bytes"]) > max(2 * MIB, counter // 200):
        broken.append(f"{group}: owners {said['owners_bytes']} against {counter}")
    if said["closed"] is not True:
        broken.append(f"{group}: closed is {said['closed']}")
promise("every group closes against its own counter", broken)

# Sums.
broken = [f"{owner} is negative" for owner, line in lines.items() if known(line["bytes"]) < 0]
for group, said in groups.items():
    members = [line["bytes"] for line in lines.values() if line["group"] == group and line["bytes"] is not None]
    if (sum(members) if members else None) != said["owners_bytes"]:
        broken.append(f"{group}: lines sum up to {sum(members)}, owners_bytes is {said['owners_bytes']}")
for budget in report["budgets"]:
    actual = [known(lines[owner]["bytes"]) for owner in budget["owners"] if owner in lines]
    if budget["actual_bytes"] is not None and sum(actual) != budget["actual_bytes"]:
        broken.append(f"budget {budget['budget']}: {budget['actual_bytes']}, its owners {sum(actual)}")
owned = [owner for budget in report["budgets"] for owner in budget["owners"]]
if len(owned) != len(set(owned)):
    broken.append("an owner stands in two budgets")
promise("lines, groups and budgets sum up", broken)

# What was not read is null, and what was read is a number.
broken = []
for owner, line in lines.items():
    if (line["bytes"] is None) != (line["state"] == "unread"):
        broken.append(f"{owner}: bytes {line['bytes']}, state {line['state']}")
    if line["bytes"] is None and not line["note"]:
        broken.append(f"{owner}: unread without a reason")
    for key in ("budget_bytes", "bound_bytes"):
        if line[key] == 0:
            broken.append(f"{owner}: {key} is 0")
charge = report["charge"]
for key, value in {"anon_bytes": "anon", "file_bytes": "file", "shmem_bytes": "shmem", "kernel_bytes": "kernel", "sock_bytes": "sock"}.items():
    want = stat.get(value) if stat else None
    if charge[key] != want:
        broken.append(f"charge {key}: {charge[key]}, memory.stat {want}")
if charge["current_bytes"] != current:
    broken.append(f"charge current_bytes: {charge['current_bytes']}, memory.current {current}")
if current is None and (report["residual_bytes"] is not None or report["stat_residual_bytes"] is not None):
    broken.append("a residual without a charge")
for key in ("limit_bytes", "floor_bytes", "expected_demand_bytes", "legal_demand_bytes"):
    if report[key] == 0:
        broken.append(f"{key} is 0")
promise("nothing unread is a number", broken)

# The charge.
if current is not None:
    broken = []
    tolerance = max(MIB, cpus * 2 * 64 * page)
    by_stat = lru + stat.get("kernel", 0) + stat["sock"] + stat.get("hugetlb", 0)
    if report["stat_residual_bytes"] != current - by_stat:
        broken.append(f"stat residual {report['stat_residual_bytes']}, counted {current - by_stat}")
    if abs(current - by_stat) > tolerance:
        broken.append(f"memory.current {current}, its parts {by_stat}")
    total = sum(known(line["bytes"]) for line in lines.values())
    if report["residual_bytes"] != current - total:
        broken.append(f"residual {report['residual_bytes']}, counted {current - total}")
    if abs(current - total) > current // 100 + tolerance:
        broken.append(f"charge {current}, owners {total}: residual {current - total}")
    if report["torn"]:
        broken.append("the sample is torn")
    promise("the charge is its owners and a small residual", broken)

    lists = stat["file"] - stat["shmem"] - stat["active_file"] - stat["inactive_file"]
    lazy = [int(kb) * 1024 for kb in re.findall(r"^LazyFree: +(\d+) kB$", smaps or "", re.M)]
    floor = stat["anon"] - min(sum(lazy), max(0, -lists)) + stat["shmem"] + stat["kernel"] - stat["slab_reclaimable"] + stat["sock"] + max(0, lists)
    broken = []
    if report["floor_bytes"] != floor:
        broken.append(f"floor {report['floor_bytes']}, counted {floor}")
    if report["limit_bytes"] is not None and report["freeboard_level"] == "container" and report["freeboard_bytes"] != report["limit_bytes"] - floor:
        broken.append(f"freeboard {report['freeboard_bytes']}")
    promise("floor and freeboard", broken)

# What the workload said of itself just before and just after.
truth = text_of("truth.json")
if truth is not None:
    truth = json.loads(truth)
    before, after = truth["before"], truth["after"]
    broken = []
    heap = [line["bytes"] for owner, line in lines.items() if owner in ("java-heap", "zgc-heap") and line["bytes"] is not None]
    committed = max(before["heap_committed"], after["heap_committed"])
    if heap and sum(heap) > committed + committed // 50 + 2 * MIB:
        broken.append(f"java heap {sum(heap)}, committed {committed}")
    # G1 counts the untouched rest of a humongous region as used: what the workload touched itself is the surer word.
    touched = before.get("held_heap") or min(before["heap_used"], after["heap_used"]) * 9 // 10
    if heap and sum(heap) < touched:
        broken.append(f"java heap {sum(heap)}, touched {touched}")
    claims = [known(lines[owner]["claim_bytes"]) for owner in lines if owner.startswith("rocksdb-")]
    stores = max(known(before.get("store_claim")), known(after.get("store_claim")))
    if stores and sum(claims) > stores * 11 // 10 + 8 * MIB:
        broken.append(f"rocksdb claims {sum(claims)}, the stores say {stores}")
    direct = lines.get("direct-buffers", {"bytes": None, "source": ""})
    if direct["bytes"] is not None and direct["source"].startswith("metrics") and direct["bytes"] > after["direct_used"] * 102 // 100 + 2 * MIB:
        broken.append(f"direct {direct['bytes']}, the JDK says {after['direct_used']}")
    promise("heap, stores and direct memory agree with the workload", broken)
sys.exit(bad)
