# SPDX-License-Identifier: Apache-2.0
"""
What root saw of the container each second (cgroup.jsonl), and the figures that follow from it: what Kubernetes calls the
working set, the floor of docs/ledger.md, the onset of reclaim thrash, and whether the kernel's own sum holds.
"""
MIB = 1 << 20
PAGE = 4096
# Reclaim thrash, DESIGN 3.4: so many pages evicted and read again a second (the level of the rule reclaim-thrash), while
# there is less room than the program's own mapped files and 5 % of the limit; or all threads wait a tenth of the time.
THRASH_REFAULTS_PER_S = 100
THRASH_WINDOW_MS = 10_000
THRASH_FULL_AVG10 = 10.0
THRASH_MARGIN = 0.05


def working_set(row):
    """container_memory_working_set_bytes as cAdvisor computes it: usage less total_inactive_file, never below 0."""
    return max(0, row["current"] - row["inactive_file"])


def floor(row):
    """What the kernel cannot reclaim: docs/ledger.md. Root reads no LazyFree, so none is taken off."""
    unevictable_file = max(0, row["file"] - row["shmem"] - row["active_file"] - row["inactive_file"])
    return row["anon"] + row["shmem"] + row["kernel"] - row["slab_reclaimable"] + row["sock"] + unevictable_file


def limit_of(row):
    """None: there is none."""
    limit = row.get("limit")
    return limit if isinstance(limit, (int, float)) and limit > 0 else None


def lacks_room(row):
    limit = limit_of(row)
    return limit is not None and limit - floor(row) < row.get("file_mapped", 0) + THRASH_MARGIN * limit


def refaults_per_s(rows, index):
    """Over the last ten seconds before this row, or what there is of them."""
    now, first = rows[index], index
    while first > 0 and now["at_ms"] - rows[first - 1]["at_ms"] <= THRASH_WINDOW_MS:
        first -= 1
    seconds = (now["at_ms"] - rows[first]["at_ms"]) / 1000
    return max(0, now["refault_file"] - rows[first]["refault_file"]) / seconds if seconds >= 1 else 0.0


def thrash_ms(rows):
    """The first second of reclaim thrash; None: there was none."""
    for index, row in enumerate(rows):
        read_again = lacks_room(row) and refaults_per_s(rows, index) >= THRASH_REFAULTS_PER_S
        if read_again or (row.get("full_avg10") or 0) >= THRASH_FULL_AVG10:
            return row["at_ms"]
    return None


def stat_residual(row):
    lists = ("inactive_anon", "active_anon", "inactive_file", "active_file", "unevictable", "kernel", "sock")
    return row["current"] - sum(row[key] for key in lists) - (row.get("hugetlb") or 0)


def stat_tolerance(cpus):
    """docs/ledger.md: two stocks of 64 pages a CPU may be in flight."""
    return max(MIB, cpus * 2 * 64 * PAGE)


def moved_meanwhile(row, tolerance):
    """Whether the charge passed the kernel's sum, or came as near as the tolerance, while the two were read."""
    residuals = (stat_residual(row), stat_residual({**row, "current": row.get("current_before", row["current"])}))
    return residuals[0] != residuals[1] and min(residuals) <= tolerance and max(residuals) >= -tolerance


def identity(rows, cpus):
    """
    The kernel's own sum in each second: (broken rows, how many were torn). memory.current and memory.stat are two reads: a row
    is torn where the charge of before and after the sum lie apart, and the sum, within the tolerance, between them; or where
    memory.current moves by more than the tolerance from it to a neighbour.
    """
    tolerance, broken, torn = stat_tolerance(cpus), [], 0
    for index, row in enumerate(rows):
        if abs(stat_residual(row)) <= tolerance:
            continue
        beside = rows[max(0, index - 1):index + 2]
        if moved_meanwhile(row, tolerance) or any(abs(row["current"] - other["current"]) > tolerance for other in beside):
            torn += 1
        else:
            broken.append(row)
    return broken, torn
