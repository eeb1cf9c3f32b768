# SPDX-License-Identifier: Apache-2.0
"""Compares a report with what others know: truth.py DIR NAME CHECK ARGUMENT...

Every file named is in DIR. Prints TAP lines and the figures behind them; the status is 1 when one is wrong.
"""
import json
import os
import re
import sys

MIB = 1 << 20
where, name, check = sys.argv[1:4]
bad = 0


def text_of(file):
    with open(os.path.join(where, file), encoding="utf-8", errors="replace") as stream:
        return stream.read()


def load(file):
    return json.loads(text_of(file))


def mib(value):
    return f"{value / MIB:.1f} MiB"


def measured(text):
    print(f"# measured: {name}: {text}")


def promise(what, holds):
    global bad
    print(f"{'ok' if holds else 'not ok'} - {name}: {what}")
    bad |= not holds


def off(ours, theirs):
    """How far ours is from theirs, in per cent of theirs."""
    return (ours - theirs) * 100 / theirs if theirs else float("inf") if ours else 0.0


def near(what, ours, theirs, percent, slack=0):
    """One comparison: within `percent`, or within `slack` bytes."""
    measured(f"{what}: {mib(ours)}, truth {mib(theirs)}, {off(ours, theirs):+.2f} %")
    promise(f"{what} within {percent} %", abs(ours - theirs) <= max(theirs * percent / 100, slack))


def lines_of(report):
    return {line["owner"]: line for line in report["ledger"]}


def of(report, *owners):
    lines = lines_of(report)
    return sum(lines[o]["bytes"] or 0 for o in owners if o in lines)


def mappings(file):
    """(start, end, Anonymous bytes) of each line of smaps."""
    out, start, end = [], 0, 0
    for line in text_of(file).splitlines():
        head = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line)
        if head:
            start, end = int(head[1], 16), int(head[2], 16)
        elif line.startswith("Anonymous:"):
            out.append((start, end, int(line.split()[1]) << 10))
    return out


def anon_outside_heap(file, heap):
    low, high = (int(x, 16) for x in re.search(r"\[0x([0-9a-f]+), 0x([0-9a-f]+)", text_of(heap)).groups())
    return sum(n for start, _, n in mappings(file) if not low <= start < high)


def nmt_malloc(file, skip):
    """What the JVM itself has from malloc, by jcmd: NMT's malloc and arenas, but for the categories in skip."""
    total, category = 0, ""
    for line in text_of(file).splitlines():
        head = re.match(r"^-\s*(.*?) \(reserved=", line)
        if head:
            category = head[1]
        amount = re.search(r"\((?:malloc|arena)=(\d+)", line)
        if amount and category not in skip:
            total += int(amount[1])
    return total


def books(file):
    report = load(file)
    groups = [g for g in report["groups"] if g["counter_bytes"] is not None]
    promise("groups with a counter are closed", bool(groups) and all(g["closed"] for g in groups))
    promise("no owner is negative", all(line["bytes"] is None or line["bytes"] >= 0 for line in report["ledger"]))
    owners = sum(line["bytes"] or 0 for line in report["ledger"] if line["group"] == "anon")
    sums = [sum(n for _, _, n in mappings(f"{file}.smaps{i}")) for i in (1, 2)]
    slack = max(2 * MIB, sums[1] // 200)
    measured(f"anon owners {mib(owners)}, Anonymous in smaps {mib(sums[0])} before, {mib(sums[1])} after")
    promise("the anon owners are what smaps has", min(sums) - slack <= owners <= max(sums) + slack)


def same(live, replay):
    """All but the clock, and the shared pages of mapped files: their part of them changes with every process that comes and goes."""
    a, b = load(live), load(replay)
    files = [of(report, "mapped-files") for report in (a, b)]
    for report in (a, b):
        report.pop("taken_ms")
        for key in ("available_bytes", "swap_free_bytes"):  # the machine's, not the stopped process's
            report["host"].pop(key)
        for mount in report.get("tmpfs") or []:  # of the machine too: /dev/shm is everybody's
            mount.pop("used_bytes", None)
        for line in report["ledger"]:
            line.pop("age_ms")
            if line["owner"] == "mapped-files":
                line.pop("bytes")
        for group in report["groups"]:
            if group["group"] == "file":
                group.pop("owners_bytes")
    differ = [key for key in sorted(a.keys() | b.keys()) if a.get(key) != b.get(key)]
    for key in differ:
        print(f"# {key}: live {json.dumps(a.get(key))}\n# {key}: replay {json.dumps(b.get(key))}")
    promise("a capture of the stopped process replays to the live report", not differ and abs(files[0] - files[1]) < MIB)


def settled(file, before, after):
    """The metrics that the report saw are the engine's own figures, and those stand still. Prints nothing."""
    report, lines = load(file), lines_of(load(file))
    claims = [lines.get(f"rocksdb-{part}", {}).get("claim_bytes") for part in ("block-cache", "memtables", "table-readers")]
    first, last = load(before), load(after)
    if report is None or None in claims or "store_memtables" not in last:
        return False
    moved = abs(first["store_cache_usage"] - last["store_cache_usage"]) + abs(first["store_memtables"] - last["store_memtables"])
    return moved < MIB and abs(claims[1] - last["store_memtables"]) < MIB


def gauges(file, truth):
    """The lines that the JDK itself has a figure for."""
    report, known = load(file), load(truth)
    near("direct-buffers", of(report, "direct-buffers"), known["direct_used"], 1)
    near("metaspace", of(report, "metaspace"), known["metaspace_committed"], 5)


def by_malloc(file):
    """
    What malloc gave out, as the ledger has it.

    The allocator's own account has in it: the JVM's malloc (NMT), direct buffers and Unsafe memory (malloc too), RocksDB, every
    library's blocks, the headers of all of them, and what it holds free. In the ledger these are the native pool
    (rocksdb lines, allocator-retained, native-other), direct-buffers, managed-unsafe, and the JVM's malloc, which is a part of the
    lines gc and jvm-other beside their mappings: so it is asked of jcmd, with NMT's own headers in it.
    """
    report = load(file)
    jvm = nmt_malloc(f"{file}.nmt", ("Java Heap", "Other"))
    overhead = re.search(r"tracking overhead=(\d+)", text_of(f"{file}.nmt"))
    jvm += int(overhead[1]) if overhead else 0
    direct = of(report, "direct-buffers", "managed-unsafe")
    measured(f"native pool {mib(report['native_pool_bytes'])}, direct and Unsafe {mib(direct)}, JVM malloc {mib(jvm)}")
    return report["native_pool_bytes"] + direct + jvm


def by_itself(malloc):
    """
    The same by the allocator. glibc: in use + free of mallinfo2. jemalloc: stats.resident (active and dirty pages, metadata). Both
    count pages that nobody ever touched, jemalloc says so in its manual: 5 MiB of the JVM's own at its start, the unused end
    of a size class in large blocks (1 MiB with NMT's header takes 1.25 MiB), half of the metadata.
    """
    return malloc["resident"] if malloc["allocator"] == "jemalloc" else malloc["in_use"] + malloc["free"]


def allocator(file, truth, base, base_truth, percent):
    """By the difference to the same process without the blocks: what nobody touched is in both."""
    malloc, without = load(truth)["malloc"], load(base_truth)["malloc"]
    theirs = by_itself(malloc) - by_itself(without)
    near("native pool's growth by blocks", load(file)["native_pool_bytes"] - load(base)["native_pool_bytes"], theirs, float(percent))
    ours, most = by_malloc(file), by_itself(malloc)
    near(f"all that {malloc['allocator']} holds", ours - by_malloc(base), theirs, float(percent))
    measured(f"in all {mib(ours)}, {malloc['allocator']} says {mib(most)} at most, {off(ours, most):+.2f} %")
    promise(f"it is no more than {malloc['allocator']} says", ours <= most * 1.005)


def allocator_bounds(file, truth):
    """
    In an engine it is an upper bound: what glibc holds free may have been given back; memtables are malloc'ed in blocks of
    megabytes and filled slowly; a network buffer of 32 KiB with NMT's header takes 44 KiB of jemalloc, two pages never touched.
    """
    malloc = load(truth)["malloc"]
    ours, most = by_malloc(file), by_itself(malloc)
    measured(f"what {malloc['allocator']} holds: {mib(ours)} resident; it says {mib(malloc['in_use'])} in use, {mib(most)} at most")
    promise(f"what {malloc['allocator']} holds is no more than it says", ours <= most * 1.02)
    promise("and most of what it says is in use", ours >= malloc["in_use"] * 0.85)


def held(file, truth):
    """Blocks are in native-other, direct and Unsafe memory in its line (one line, for there are no metrics)."""
    report, known = load(file), load(truth)
    near("direct-buffers with Unsafe", of(report, "direct-buffers", "managed-unsafe"), known["held_direct"] + known["held_unsafe"], 1)
    near("metaspace", of(report, "metaspace"), known["metaspace_committed"], 5, 256 << 10)
    measured(f"native-other {mib(of(report, 'native-other'))}, blocks {mib(known['held_malloc'])}")


def claims(file, warm, truth):
    """Pool less claims: signed, as the parts give it, and small with an allocator that gives back."""
    for when, path in (("warm", warm), ("purged", file)):
        report = load(path)
        lines, pool, rest = lines_of(report), report["native_pool_bytes"], report["pool_minus_claims_bytes"]
        claimed = sum(lines[o]["claim_bytes"] or 0 for o in lines if o.startswith("rocksdb-") or o == "allocator-retained")
        measured(f"{when}: native pool {mib(pool)}, claimed {mib(claimed)}, pool less claims {mib(rest)}, {rest * 100 / pool:+.1f} % of the pool")
        promise(f"pool less claims is just that, {when}", rest == pool - claimed)
        promise(f"native-other is what nobody claims, {when}", of(report, "native-other") == max(0, rest))
    known = load(truth)
    near("memtables against the database's own figure", of(load(file), "rocksdb-memtables"), known["store_memtables"], 2, 512 << 10)
    promise("the rocksdb lines are no more than the engine claims", of(load(file), *ROCKSDB) <= known["store_claim"] * 1.01)


ROCKSDB = ("rocksdb-block-cache", "rocksdb-memtables", "rocksdb-table-readers")


def fall(file, before, after, heap, percent):
    """
    The rocksdb lines against the memory that came back when the stores were closed: both sides purged, the load still, the Java
    heap and, where NMT tells it, the JVM's own malloc (direct buffers too) left out. The claim (usage + memtables + readers) is printed beside: where memtables are charged to the cache it
    has their reservation in it, which holds nothing.
    """
    report, first, last = load(file), load(f"{before}.truth"), load(f"{after}.truth")
    fell = anon_outside_heap(f"{before}.smaps", heap) - anon_outside_heap(f"{after}.smaps", heap)
    in_use = first["malloc"]["in_use"] - last["malloc"]["in_use"]
    jvm = nmt_malloc(f"{before}.nmt", ("Java Heap",)) - nmt_malloc(f"{after}.nmt", ("Java Heap",))
    measured(f"anon outside the heap fell by {mib(fell)}, malloc in use by {mib(in_use)}, of it the JVM's by {mib(jvm)}; the engine claims"
             f" {mib(first['store_claim'])}, {off(first['store_claim'], in_use - jvm):+.1f} %: cache usage {mib(first['store_cache_usage'])},"
             f" pinned {mib(first['store_cache_pinned'])}, memtables {mib(first['store_memtables'])}")
    near("rocksdb lines against the fall of anon", of(report, *ROCKSDB), fell - jvm, float(percent))
    near("rocksdb lines against the fall of malloc in use", of(report, *ROCKSDB), in_use - jvm, float(percent))


def silent(file, limit):
    report = load(file)
    loud = [f for f in report["findings"] if f["severity"] in ("warning", "critical")]
    for finding in loud:
        print(f"# {finding['rule']}: {finding['observation']}")
    measured(f"limit {mib(report['limit_bytes'])}: expected demand {mib(report['expected_demand_bytes'])}, freeboard {mib(report['freeboard_bytes'])}")
    promise(f"no finding at warning or above with a limit of {limit}", not loud)
    # Without the container's cgroup v2 the rules that read its files must say so, and no other.
    without = [] if report["charge"]["current_bytes"] is not None else [
        text for rule in report["inconclusive"] for text in rule["missing"] if "cgroup" in text or "memory." in text]
    lacking = [rule["rule"] for rule in report["inconclusive"] if not all(text in without for text in rule["missing"])]
    for rule in lacking:
        print(f"# {rule} lacks an input")
    promise("no rule lacks an input that this machine has", lacking == [])


def fires(file):
    report = load(file)
    loud = {f["rule"]: f for f in report["findings"] if f["severity"] in ("warning", "critical")}
    measured(f"leak: expected demand {mib(report['expected_demand_bytes'])}, limit {mib(report['limit_bytes'])}, native-other {mib(of(report, 'native-other'))}; {', '.join(sorted(loud)) or 'nothing fires'}")
    promise("demand-over-limit fires on a leak", "demand-over-limit" in loud)
    promise("and names native-other", loud.get("demand-over-limit", {}).get("owner") == "native-other")


def heap(file, touched, percent):
    near(f"{file.split('.')[0]}: heap", of(load(file), "java-heap", "zgc-heap"), int(touched), float(percent))


def grown(first, last, touched, percent):
    a, b = (of(load(f), "java-heap", "zgc-heap") for f in (first, last))
    near("heap's growth", b - a, int(touched), float(percent))


if not bad:
    outcome = globals()[check](*sys.argv[4:])
    sys.exit(1 if bad or outcome is False else 0)
