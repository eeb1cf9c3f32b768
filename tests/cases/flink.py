# SPDX-License-Identifier: Apache-2.0
"""Flink's derivation of a TaskManager's and a JobManager's memory, byte for byte.

Flink computes with BigDecimal.valueOf((double) (float) fraction) and truncates (ProcessMemoryUtils,
TaskExecutorFlinkMemoryUtils); the widening from float matters: 0.4f is 0.4000000059604645.
"""
import re
import struct
from fractions import Fraction

MIB = 1 << 20
GIB = 1 << 30


def size(text):
    """'1728m' or a number of bytes."""
    if isinstance(text, int):
        return text
    digits, unit = re.fullmatch(r'(\d+)\s*([a-z]*)', text.lower()).groups()
    return int(digits) << {'': 0, 'b': 0, 'k': 10, 'kb': 10, 'm': 20, 'mb': 20, 'g': 30, 'gb': 30}[unit]


def widened(fraction):
    return struct.unpack('f', struct.pack('f', fraction))[0]


def mul(number, factor):
    return int(number * Fraction(repr(factor)))  # Double.toString is the shortest text, as repr is


def share(number, fraction):
    return mul(number, widened(fraction))


def inverse(number, fraction):
    wide = widened(fraction)
    return mul(number, wide / (1 - wide))


def between(number, low, high):
    return max(low, min(number, high))


def taskmanager(process=None, flink=None, task_heap=None, managed=None, managed_fraction=0.4, network_fraction=0.1,
                network_min=64 * MIB, network_max=1 << 62, framework_heap=128 * MIB, framework_off_heap=128 * MIB,
                task_off_heap=0, metaspace=256 * MIB, overhead_min=192 * MIB, overhead_max=GIB, overhead_fraction=0.1):
    """The parts in bytes; sizes may be given as Flink writes them."""
    process, flink, task_heap, managed, task_off_heap, metaspace, framework_off_heap, network_max, overhead_min = (
        None if given is None else size(given)
        for given in (process, flink, task_heap, managed, task_off_heap, metaspace, framework_off_heap, network_max,
                      overhead_min))
    fixed = framework_heap + framework_off_heap + task_off_heap
    overhead = None
    if task_heap is not None and managed is not None:
        spent = fixed + task_heap + managed
        network = between(inverse(spent, network_fraction), network_min, network_max)
        flink = spent + network
    else:
        if flink is None:
            overhead = between(share(process, overhead_fraction), overhead_min, overhead_max)
            flink = process - metaspace - overhead
        if managed is None:
            managed = share(flink, managed_fraction)
        network = between(share(flink, network_fraction), network_min, network_max)
        if task_heap is None:
            task_heap = flink - fixed - managed - network
        else:
            network = flink - fixed - managed - task_heap
    if task_heap < 0:
        raise ValueError('Flink would refuse this configuration: no heap is left')
    if overhead is None:
        if process is None:
            overhead = between(inverse(flink + metaspace, overhead_fraction), overhead_min, overhead_max)
        else:
            overhead = process - flink - metaspace
    parts = {
        'framework.heap': framework_heap, 'task.heap': task_heap, 'framework.off-heap': framework_off_heap,
        'task.off-heap': task_off_heap, 'network': network, 'managed': managed, 'metaspace': metaspace,
        'overhead': overhead, 'heap': framework_heap + task_heap,
        'direct': framework_off_heap + task_off_heap + network, 'flink': flink,
        'process': flink + metaspace + overhead,
    }
    return parts


def jobmanager(process, off_heap=128 * MIB, metaspace=256 * MIB):
    process = size(process)
    metaspace = size(metaspace)
    overhead = between(share(process, 0.1), 192 * MIB, GIB)
    flink = process - metaspace - overhead
    return {'heap': flink - off_heap, 'off-heap': off_heap, 'metaspace': metaspace, 'overhead': overhead,
            'flink': flink, 'process': process}


def rocksdb_split(grant, ratio=0.5):
    """Capacity of the block cache and of the write buffer manager (RocksDBMemoryControllerUtils)."""
    return int((3 - ratio) * grant / 3), int(2 * grant * ratio / 3)


# Derived by Flink itself: input, then flink, heap, task heap, managed, network, direct, metaspace, overhead, process.
VECTORS = [
    (dict(process='1728m'), 1342177280, 536870902, 402653174, 536870920, 134217730, 268435458, 268435456, 201326592,
     1811939328),
    (dict(process='2048m'), 1664299824, 697932173, 563714445, 665719939, 166429984, 300647712, 268435456, 214748368,
     2147483648),
    (dict(process='4096m'), 3597035104, 1664299798, 1530082070, 1438814063, 359703515, 493921243, 268435456,
     429496736, 4294967296),
    (dict(process='4096m', managed_fraction=0.2), 3597035104, 2383706830, 2249489102, 719407031, 359703515, 493921243,
     268435456, 429496736, 4294967296),
    (dict(process='4096m', managed_fraction=0.7), 3597035104, 585189332, 450971604, 2517924529, 359703515, 493921243,
     268435456, 429496736, 4294967296),
    (dict(process='4000m'), 3506438138, 1619001315, 1484783587, 1402575276, 350643819, 484861547, 268435456,
     419430406, 4194304000),
    (dict(process='8192m'), 7462505664, 3597035049, 3462817321, 2985002310, 746250577, 880468305, 268435456,
     858993472, 8589934592),
    (dict(process='16384m'), 15837691904, 7784628106, 7650410378, 6335076856, 1583769214, 1717986942, 268435456,
     1073741824, 17179869184),
    (dict(task_heap='1g', managed='1g'), 2684354564, 1207959552, 1073741824, 1073741824, 268435460, 402653188,
     268435456, 328087785, 3280877805),
    (dict(flink='1280m'), 1342177280, 536870902, 402653174, 536870920, 134217730, 268435458, 268435456, 201326592,
     1811939328),
]
SPLITS = [(536870920, 447392433, 178956973), (1438814063, 1199011719, 479604687),
          (6335076856, 5279230713, 2111692285)]


def check_vectors():
    """Every vector, or an AssertionError that names it."""
    for given, *wanted in VECTORS:
        parts = taskmanager(**given)
        names = ('flink', 'heap', 'task.heap', 'managed', 'network', 'direct', 'metaspace', 'overhead', 'process')
        got = [parts[name] for name in names]
        assert got == wanted, f'{given}: {dict(zip(names, got))}, wanted {wanted}'
    for grant, cache, write_buffers in SPLITS:
        assert rocksdb_split(grant) == (cache, write_buffers), f'split of {grant}'
    assert jobmanager('1600m')['heap'] == GIB
