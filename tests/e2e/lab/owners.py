# SPDX-License-Identifier: Apache-2.0
"""Owners of the ledger by the groups in which a scenario states its truth, and severities by their order."""

SEVERITIES = ("info", "notice", "warning", "critical")

# What one can be told from another by a reader who has no metrics of the engine and no NMT: the pool that malloc and its
# kin fill is one group, for there only the engine's own word parts it (docs/ledger.md, "Owners of anonymous memory").
GROUPS = {
    "heap": ("java-heap", "zgc-heap"),
    "metaspace": ("metaspace",),
    "stacks": ("thread-stacks",),
    "native": ("direct-buffers", "managed-unsafe", "rocksdb-block-cache", "rocksdb-memtables", "rocksdb-table-readers",
               "allocator-retained", "native-other", "gc", "jvm-other"),
    "process": ("other-processes",),
    "thp": ("thp-unmapped",),
    "tmpfs": ("tmpfs", "shared-maps"),
    "cache": ("mapped-files", "page-cache"),
    "kernel": ("kernel-stacks", "page-tables", "slab-reclaimable", "slab-unreclaimable", "percpu", "vmalloc", "kernel-other",
               "sockets"),
}
# And those whom no group of a scenario has.
OWNERS = tuple(owner for members_of in GROUPS.values() for owner in members_of) + ("code-cache", "jvm-cds", "library-data", "hugetlb")


def rank(severity):
    """-1 for none."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else -1


WARNING = rank("warning")


def members(group):
    """Owners of a group, or of several; KeyError names one that is none."""
    groups = group if isinstance(group, list) else [group]
    return frozenset(owner for name in groups for owner in GROUPS[name])
