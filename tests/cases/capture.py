# SPDX-License-Identifier: Apache-2.0
"""A described pod, written as `bankfull capture` would have written it (docs/capture.md).

Sizes are bytes. What a case does not say gets a plain value: a small JVM, a quiet cgroup. The books close by
construction: memory.stat is added up from the mappings and from what the case puts beside them.
"""
import hashlib

MIB = 1 << 20
GIB = 1 << 30
PAGE = 4096
PID = 17
TAKEN_MS = 1796006315305

JAVA_HOME = '/opt/java/openjdk'
LIBC = {'glibc': ['/usr/lib/x86_64-linux-gnu/libc.so.6'],
        'jemalloc': ['/usr/lib/x86_64-linux-gnu/libc.so.6', '/usr/lib/x86_64-linux-gnu/libjemalloc.so.2'],
        'musl': ['/lib/ld-musl-x86_64.so.1']}


def pages(number):
    return int(number) // PAGE * PAGE


def pages_up(number):
    return (int(number) + PAGE - 1) // PAGE * PAGE


def round_up(number, unit):
    return (int(number) + unit - 1) // unit * unit


def java_double(number):
    """As Java prints a double that holds a whole number."""
    text = str(int(number))
    if abs(int(number)) < 10_000_000:
        return text + '.0'
    return f'{text[0]}.{text[1:].rstrip("0") or "0"}E{len(text) - 1}'


class Mapping:
    def __init__(self, start, size, mode, flags='', name='', anon=0, rss=None, inode=0, offset=0):
        self.start, self.size, self.mode, self.flags, self.name = start, size, mode, flags, name
        self.anon = pages(anon)
        self.rss = self.anon if rss is None else pages(rss)
        self.inode, self.offset, self.swap, self.huge = inode, offset, 0, 0
        assert self.rss <= size and self.anon <= self.rss, (name, hex(start), size, self.anon, self.rss)


class Memory:
    """The mappings of one JVM."""

    def __init__(self, case):
        self.case, self.maps, self.native_bytes = case, [], 0

    def put(self, *args, **kwargs):
        mapping = Mapping(*args, **kwargs)
        self.maps.append(mapping)
        return mapping

    def reserve(self, start, end):
        if end > start:
            self.put(start, end - start, '---p', 'nr ')

    def commit(self, start, size, anon, mode='rw-p', flags='ac '):
        return self.put(start, size, mode, flags, anon=anon)

    def heap(self):
        case = self.case
        reserved = round_up(case.xmx, 2 * MIB)
        committed = min(round_up(case.heap_committed or case.xmx, 2 * MIB), reserved)
        self.heap_start, self.heap_end = 0x80000000, 0x80000000 + reserved
        assert self.heap_end < 0x7c0000000
        self.commit(self.heap_start, committed, case.heap)
        self.reserve(self.heap_start + committed, self.heap_end)

    def metaspace(self):
        """JDK 16+ by nodes of 64 MiB after the archive, older ones in pieces that have no such shape."""
        case, granule = self.case, 65536
        wanted = round_up(case.metaspace, granule)
        space = round_up(wanted // 8, granule)
        class_space = case.class_space or GIB
        if case.jdk_major >= 13:
            self.put(0x800000000, 12 * MIB, 'rw-p', 'ac ', JAVA_HOME + '/lib/server/classes.jsa', anon=MIB, rss=9 * MIB,
                     inode=315149, offset=0x1000)
            self.reserve(0x800000000 + 12 * MIB, 0x801000000)
        at = 0x801000000
        if case.jdk_major >= 16:
            self.commit(at, space, space)
            self.reserve(at + space, at + class_space)
            rest, at, node = wanted - space, 0x7f7000000000, 64 * MIB
            while rest > 0:
                part = min(rest, node - granule)
                self.commit(at, part, part)
                self.reserve(at + part, at + node)
                rest -= part
                at += 2 * node
        else:
            self.commit(0x7f7000040000, wanted, wanted)
        self.metaspace_committed, self.class_space_committed = wanted, space if case.jdk_major >= 16 else 0
        self.metaspace_reserved = class_space + (len(self.maps) and 64 * MIB)

    def code(self):
        """Three code heaps, as -XX:+SegmentedCodeCache lays them out."""
        used, base, self.code_heaps = pages_up(self.case.code), 0x7f8000000000, []
        for name, size, part in (('profiled nmethods', 120032, 0.65), ('non-nmethods', 5692, 0.1),
                                 ('non-profiled nmethods', 120036, 0.25)):
            committed = min(max(round_up(used * part, 65536), 2555904), size * 1024)
            self.commit(base, committed, min(pages(used * part), committed), 'rwxp')
            self.reserve(base + committed, base + size * 1024)
            self.code_heaps.append((name, size, used * part, base, base + committed, base + size * 1024))
            base += size * 1024

    def collector(self):
        """The tables of the collector in one piece, as they are reserved one below the other."""
        heap = self.heap_end - self.heap_start
        if self.case.gc == 'G1':
            cards, bitmaps = 3 * (heap // 512), 2 * (heap // 64)
            self.gc_reserved = cards + bitmaps + 32 * MIB
            resident = self.case.gc_tables if self.case.gc_tables is not None else cards + bitmaps // 4
        else:
            self.gc_reserved = heap // 512 + (0 if self.case.jdk_major >= 21 else PAGE)
            resident = self.gc_reserved
        self.gc_resident = pages(resident)
        self.commit(0x7f9000000000, self.gc_reserved, self.gc_resident)

    def stacks(self):
        """Eight mappings stand for all threads: the shape is a stack's, the number in status is the true one."""
        total, size = self.case.stacks, max(MIB, self.case.threads * MIB // 8)
        for i in range(8):
            at = 0x7fa000000000 + i * (size + 2 * MIB)
            self.put(at, 4 * PAGE, '---p', 'nh ')
            self.put(at + 4 * PAGE, pages(size) - 4 * PAGE, 'rw-p', 'nh ac ', anon=total // 8)

    def files(self):
        case, at = self.case, 0x7fc000000000
        java = JAVA_HOME + '/lib/'
        libraries = [(java + 'server/libjvm.so', 14 * MIB, MIB), (java + 'libjava.so', 64 << 10, 8 << 10),
                     (java + 'libnio.so', 48 << 10, 8 << 10)]
        libraries += [(path, 1200 << 10, 24 << 10) for path in LIBC[case.allocator]]
        libraries += case.libraries
        for inode, (path, rss, anon) in enumerate(libraries, 400001):
            text = round_up(rss, 65536)
            self.put(at, text, 'r-xp', '', path, rss=rss, inode=inode)
            self.put(at + text, round_up(anon, 65536), 'rw-p', 'ac ', path, anon=anon, inode=inode, offset=text)
            at += text + round_up(anon, 65536) + MIB
        self.put(0x55d400000000, PAGE, 'r-xp', '', JAVA_HOME + '/bin/java', rss=PAGE, inode=400000)
        at = 0x7e0000000000
        for i in range(case.sst_files and 4):
            size = pages(case.sst_files // 4)
            self.put(at, size, 'r--s', '', f'/data/state/0_{i}/rocksdb/store/000{i}42.sst', rss=size, inode=500001 + i)
            at += round_up(size, PAGE) + MIB
        self.file_rss = sum(m.rss - m.anon for m in self.maps)
        self.put(0x7ffd00000000, 132 << 10, 'rw-p', 'ac ', '[stack]', anon=40 << 10)

    def native(self):
        """The heap of malloc: brk and arenas of glibc, extents of jemalloc."""
        case = self.case
        total = pages(case.jvm_malloc + case.direct + case.unsafe + case.rocksdb + case.native)
        self.native_bytes = total
        first = min(total, 24 * MIB)
        self.commit(0x55d4e0000000, round_up(first, 132 << 10), first).name = '[heap]'
        rest = total - first
        if case.allocator != 'glibc':
            at = 0x7f6000000000
            while rest > 0:
                part = min(rest, 900 * MIB)
                self.commit(at, round_up(part * 21 // 20, 4 * MIB) + 60 * 1024, part)
                rest -= part
                at += round_up(part * 2, GIB)
            return
        # Neighbouring arenas that are in use to their ends are one mapping to the kernel.
        at, arena, n = 0x7f3000000000, 64 * MIB, 6
        each = min(56 * MIB, pages(rest // n))
        for _ in range(n if each else 0):
            used = pages_up(each * 16 // 15)
            self.commit(at, used, each, flags='nr ')
            self.reserve(at + used, at + arena)
            rest -= each
            at += 2 * arena
        if rest:
            at += 10 * arena
            self.commit(at, rest, rest, flags='nr ')

    def build(self):
        self.heap()
        self.metaspace()
        self.code()
        self.collector()
        self.stacks()
        self.native()
        self.files()
        self.maps.sort(key=lambda m: m.start)
        swap = pages(self.case.swap)
        for m in self.maps:
            if swap and m.start == self.heap_start:
                m.swap = min(swap, m.size - m.rss)
                assert m.swap == swap, 'the heap has no room for what is swapped'
        self.anon = sum(m.anon for m in self.maps)
        self.rss = sum(m.rss for m in self.maps)

    def smaps(self):
        out = []
        any_swap = any(m.swap for m in self.maps)
        for m in self.maps:
            head = f'{m.start:08x}-{m.start + m.size:08x} {m.mode} {m.offset:08x} 00:00 {m.inode} '
            out.append((head.ljust(73) + m.name if m.name else head) + '\n')
            numbers = [('Rss', m.rss), ('Pss', m.rss), ('Anonymous', m.anon), ('LazyFree', 0)]
            if any_swap:
                numbers.append(('Swap', m.swap))
            out += [f'{key + ":":16}{number // 1024:8} kB\n' for key, number in numbers]
            out.append('VmFlags: ' + m.flags + '\n')
        return ''.join(out)


class Case:
    """One pod. `fields` override the plain values below."""

    plain = dict(
        # process
        jdk='17.0.9', gc='G1', allocator='glibc', threads=60, xmx=256 * MIB, heap=160 * MIB, heap_committed=None,
        heap_used=None, heap_kept=None, metaspace=48 * MIB, metaspace_max=None, class_space=None, code=24 * MIB, stacks=None,
        gc_tables=None, jvm_malloc=40 * MIB, direct=8 * MIB, unsafe=0, rocksdb=0, native=16 * MIB, libraries=(),
        sst_files=0, swap=0, cmdline=(), environ='', classes=9000, gc_full_last=False, max_direct=None,
        # container
        limit=None, high=None, told_limit=None, pod_limit=None, swap_max=0, others=0, other_pids=(), tmpfs=0,
        cache_active=0, cache_inactive=0, dirty=0, writeback=0, slab_reclaimable=2 * MIB, slab_unreclaimable=3 * MIB // 2,
        page_tables=None, percpu=256 << 10, sockets=0, kernel_other=128 << 10, thp_unmapped=0, refault_file=0,
        refault_anon=0, events=None, events_local=None, pressure_some='0.00 0.00 0.00', pressure_full='0.00 0.00 0.00',
        peak=None, cgroup=True, kernel='6.8.0-45-generic x86_64', host_cpus=8, host_memory=64 * GIB,
        host_available=24 * GIB, thp='madvise', tmpfs_mounts=(),
        # what may be asked
        attach=True, nmt=False, hsperf=True, metrics=None, metrics_gap=None, conf=None, conf_name='config.yaml', state_dirs=None,
    )

    def __init__(self, folder, title, **given):
        self.folder, self.title = folder, title
        for key in ('source', 'line', 'reported', 'constructed', 'verdict', 'confidence', 'expect'):
            setattr(self, key, given.pop(key))
        self.note = given.pop('note', None)
        self.rules = given.pop('rules')
        unknown = set(given) - set(self.plain)
        assert not unknown, f'{folder}: no such field: {sorted(unknown)}'
        for key, value in {**self.plain, **given}.items():
            setattr(self, key, value)
        self.jdk_major = 8 if self.jdk.startswith('1.8') else int(self.jdk.split('.')[0])
        self.stacks = self.threads * 104 * 1024 if self.stacks is None else self.stacks
        self.heap_used = self.heap * 7 // 10 if self.heap_used is None else self.heap_used
        self.heap_kept = self.heap_used // 2 if self.heap_kept is None else self.heap_kept
        if self.metaspace_max and not self.class_space and self.metaspace_max < 2 * GIB:
            self.class_space = round_up(self.metaspace_max // 5 * 4, 16 * MIB)

    # --- files of the process ---------------------------------------------------------------

    def proc_status(self, memory):
        kb = [('VmHWM', memory.rss), ('VmRSS', memory.rss), ('RssAnon', memory.anon), ('RssFile', memory.rss - memory.anon),
              ('RssShmem', 0), ('VmData', memory.anon * 3 // 2), ('VmStk', 132 << 10), ('VmExe', PAGE),
              ('VmLib', 17320 << 10), ('VmPTE', self.page_tables), ('VmSwap', pages(self.swap)), ('HugetlbPages', 0)]
        size = sum(m.size for m in memory.maps)
        return (f'Name:\tjava\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t{PID}\nNgid:\t0\nPid:\t{PID}\nPPid:\t1\n'
                f'TracerPid:\t0\nUid:\t9999\t9999\t9999\t9999\nGid:\t9999\t9999\t9999\t9999\nFDSize:\t256\nGroups:\t \n'
                f'NStgid:\t{PID}\nNSpid:\t{PID}\nNSpgid:\t1\nNSsid:\t1\nVmPeak:\t{size // 1024:8} kB\n'
                f'VmSize:\t{size // 1024:8} kB\nVmLck:\t       0 kB\nVmPin:\t       0 kB\n'
                + ''.join(f'{key}:\t{number // 1024:8} kB\n' for key, number in kb)
                + f'CoreDumping:\t0\nTHP_enabled:\t1\nThreads:\t{self.threads}\nCapPrm:\t0000000000000000\n'
                f'CapEff:\t0000000000000000\nNoNewPrivs:\t0\nSeccomp:\t2\n')

    def proc_stat(self):
        return (f'{PID} (java) S 1 1 1 0 -1 4194560 55647 684 220 6 1425 2428 47 356 20 0 {self.threads} 0 4262 2709614592 '
                f'64329 18446744073709551615 94360000000000 94360000001293 140724603453440 0 0 0 0 2 16800973 0 0 0 17 0 0 0 '
                f'0 0 0 94360000011000 94360000011728 94361000000000 140724603461000 140724603461352 140724603461352 '
                f'140724603461676 0\n')

    # --- the JVM's answers ------------------------------------------------------------------

    def java_version(self):
        return self.jdk if self.jdk_major != 8 else '1.8.0_' + self.jdk.split('_')[1]

    def vm_version(self):
        build = {8: f'25.{self.jdk.split("_")[-1]}-b09'}.get(self.jdk_major, f'{self.jdk}+9')
        jdk = f'{self.jdk_major}.{self.jdk.split("_")[-1]}' if self.jdk_major == 8 else self.jdk
        return f'OpenJDK 64-Bit Server VM version {build}\nJDK {jdk}\n'

    def vm_flags(self):
        heap = round_up(self.xmx, 2 * MIB)
        flags = ['-XX:CICompilerCount=2', f'-XX:InitialHeapSize={round_up(self.heap_committed or heap, 2 * MIB)}']
        if self.max_direct:
            flags.append(f'-XX:MaxDirectMemorySize={self.max_direct}')
        flags.append(f'-XX:MaxHeapSize={heap}')
        if self.metaspace_max:
            flags += [f'-XX:CompressedClassSpaceSize={self.class_space}', f'-XX:MaxMetaspaceSize={self.metaspace_max}']
        if self.nmt:
            flags.append('-XX:NativeMemoryTracking=summary')
        flags += ['-XX:ReservedCodeCacheSize=251658240', '-XX:+SegmentedCodeCache', '-XX:+UseCompressedClassPointers',
                  '-XX:+UseCompressedOops', f'-XX:+Use{self.gc}GC']
        return ' '.join(flags) + '\n'

    def heap_info(self, memory):
        committed = min(round_up(self.heap_committed or self.xmx, 2 * MIB), memory.heap_end - memory.heap_start)
        if self.gc == 'G1':
            text = (f' garbage-first heap   total {committed // 1024}K, used {self.heap_used // 1024}K '
                    f'[0x{memory.heap_start:016x}, 0x{memory.heap_end:016x})\n  region size 1024K, 20 young (20480K), '
                    f'2 survivors (2048K)\n')
        else:
            middle = memory.heap_start + round_up((memory.heap_end - memory.heap_start) // 3, 65536)
            young, old = memory.heap_start, middle
            text = (f' def new generation   total {(middle - young) // 1024}K, used {self.heap_used // 3072}K '
                    f'[0x{young:016x}, 0x{middle:016x}, 0x{middle:016x})\n'
                    f' tenured generation   total {(memory.heap_end - old) // 1024}K, used {self.heap_used // 1536}K '
                    f'[0x{old:016x}, 0x{memory.heap_end:016x}, 0x{memory.heap_end:016x})\n')
        used = memory.metaspace_committed * 98 // 100
        return (text + f' Metaspace       used {used // 1024}K, committed {memory.metaspace_committed // 1024}K, '
                f'reserved {memory.metaspace_reserved // 1024}K\n'
                f'  class space    used {memory.class_space_committed * 95 // 100 // 1024}K, '
                f'committed {memory.class_space_committed // 1024}K, '
                f'reserved {(self.class_space or GIB) // 1024}K\n')

    def codecache(self, memory):
        out = []
        for name, size, used, start, end, top in reversed(memory.code_heaps):
            used //= 1024
            out.append(f"CodeHeap '{name}': size={size}Kb used={int(used)}Kb max_used={int(used)}Kb free={int(size - used)}Kb\n"
                       f' bounds [0x{start:016x}, 0x{end:016x}, 0x{top:016x}]\n')
        return ''.join(out) + (' total_blobs=5588 nmethods=4830 adapters=671\n compilation: enabled\n'
                               '              stopped_count=0, restarted_count=0\n full_count=0\n')

    def nmt_summary(self, memory):
        code = sum(end - start for _, _, _, start, end, _ in memory.code_heaps)
        heap = memory.heap_end - memory.heap_start
        committed = min(round_up(self.heap_committed or self.xmx, 2 * MIB), heap)
        space, nodes = memory.class_space_committed, memory.metaspace_committed - memory.class_space_committed
        reserved = self.class_space or GIB
        small = {'Symbol': 0.4, 'Class': 0.1, 'Code': 0.05, 'Arena Chunk': 0.25, 'Internal': 0.05, 'Module': 0.05}
        rest = pages(self.jvm_malloc)
        gc_malloc = rest // 10
        out, total, mallocs = [], 0, 0

        def put(name, malloc=0, mapped=0, mapped_committed=0, extra=''):
            nonlocal total, mallocs
            total += malloc + mapped_committed
            mallocs += malloc
            lines = [f'-{name:>26} (reserved={malloc + mapped}, committed={malloc + mapped_committed})\n']
            if malloc:
                lines.append(f'{"":28}(malloc={malloc} #{malloc // 900}) (at peak) \n')
            if mapped:
                lines.append(f'{"":28}(mmap: reserved={mapped}, committed={mapped_committed}) \n')
            out.append(''.join(lines) + extra + ' \n')

        put('Java Heap', 0, heap, committed)
        put('Class', int(rest * small['Class']), reserved, space,
            f'{"":28}(  Metadata:   )\n{"":28}(    reserved={round_up(nodes, 64 * MIB)}, committed={nodes})\n'
            f'{"":28}(    used={nodes * 99 // 100})\n{"":28}(  Class space:)\n{"":28}(    reserved={reserved}, '
            f'committed={space})\n{"":28}(    used={space * 95 // 100})\n')
        stack = self.stacks
        total += stack
        out.append(f'-                    Thread (reserved={self.threads * MIB}, committed={stack})\n{"":28}(thread '
                   f'#{self.threads})\n{"":28}(stack: reserved={self.threads * MIB}, committed={stack})\n \n')
        put('Code', int(rest * small['Code']), 245760 * 1024, code)
        put('GC', gc_malloc, memory.gc_reserved, memory.gc_reserved)
        put('Compiler', int(rest * 0.1))
        put('Internal', int(rest * small['Internal']))
        put('Other', self.direct + self.unsafe)
        for name in ('Symbol', 'Arena Chunk', 'Module'):
            put(name, int(rest * small[name]))
        return (f'\nNative Memory Tracking:\n\nTotal: reserved={total + GIB}, committed={total}\n       malloc: {mallocs} '
                f'#{mallocs // 900}\n       mmap:   reserved={total + GIB - mallocs}, committed={total - mallocs}\n\n'
                + ''.join(out))

    def hsperf_text(self, memory):
        committed = min(round_up(self.heap_committed or self.xmx, 2 * MIB), memory.heap_end - memory.heap_start)
        top = memory.heap_end - memory.heap_start
        kept = min(self.heap_kept, committed)
        eden_size = committed - round_up(kept, MIB) if committed > round_up(kept, MIB) else 0
        eden_used = min(max(self.heap_used - kept, 0), eden_size)
        g1 = self.gc == 'G1'
        policy, young, full = (('GarbageFirst', 'G1 young collection pauses', 'G1 full collection pauses') if g1 else
                               ('Copy:MSC', 'Serial young collection pauses', 'Serial full collection pauses'))
        last_full = 610 if self.gc_full_last else 0
        old_max = top if g1 else top * 2 // 3
        young_max = top if g1 else top // 3
        pairs = [
            ('java.threads.started', self.threads + 6), ('java.threads.live', self.threads - 14),
            ('java.threads.livePeak', self.threads - 12), ('java.threads.daemon', 21),
            ('java.cls.loadedClasses', self.classes), ('java.cls.unloadedClasses', 0),
            ('sun.gc.cause', '"No GC"'), ('sun.gc.lastCause', '"G1 Compaction Pause"' if self.gc_full_last and g1 else
                                          '"Allocation Failure"' if not g1 else '"G1 Evacuation Pause"'),
            ('sun.gc.policy.name', f'"{policy}"'),
            ('sun.gc.collector.0.name', f'"{young}"'), ('sun.gc.collector.0.invocations', 140),
            ('sun.gc.collector.0.time', 2873983978), ('sun.gc.collector.0.lastEntryTime', 600876108165),
            ('sun.gc.collector.0.lastExitTime', 600901875445),
            ('sun.gc.collector.1.name', f'"{full}"'), ('sun.gc.collector.1.invocations', 1 if last_full else 0),
            ('sun.gc.collector.1.time', 873983978 if last_full else 0),
            ('sun.gc.collector.1.lastEntryTime', last_full * 10**9),
            ('sun.gc.collector.1.lastExitTime', last_full * 10**9 + 873983978 if last_full else 0),
            ('sun.gc.generation.1.name', '"old"'), ('sun.gc.generation.1.maxCapacity', old_max),
            ('sun.gc.generation.1.capacity', min(round_up(kept, MIB), committed)),
            ('sun.gc.generation.1.space.0.name', '"space"' if g1 else '"old"'),
            ('sun.gc.generation.1.space.0.capacity', min(round_up(kept, MIB), committed)),
            ('sun.gc.generation.1.space.0.used', kept),
            ('sun.gc.generation.0.name', '"young"' if g1 else '"new"'), ('sun.gc.generation.0.maxCapacity', young_max),
            ('sun.gc.generation.0.capacity', eden_size),
            ('sun.gc.generation.0.space.0.name', '"eden"'), ('sun.gc.generation.0.space.0.capacity', eden_size),
            ('sun.gc.generation.0.space.0.used', eden_used),
            ('sun.gc.generation.0.space.1.name', '"s0"'), ('sun.gc.generation.0.space.1.capacity', 0),
            ('sun.gc.generation.0.space.1.used', 0),
            ('sun.gc.generation.0.space.2.name', '"s1"'), ('sun.gc.generation.0.space.2.capacity', 0),
            ('sun.gc.generation.0.space.2.used', 0),
            ('sun.gc.metaspace.capacity', memory.metaspace_committed),
            ('sun.gc.metaspace.maxCapacity', (self.class_space or GIB) + 64 * MIB),
            ('sun.gc.metaspace.used', memory.metaspace_committed * 98 // 100),
            ('sun.gc.compressedclassspace.capacity', memory.class_space_committed),
            ('sun.gc.compressedclassspace.maxCapacity', self.class_space or GIB),
            ('sun.gc.compressedclassspace.used', memory.class_space_committed * 95 // 100),
            ('sun.os.hrt.frequency', 10**9),
            ('java.property.java.version', f'"{self.java_version()}"'),
            ('java.property.java.vm.version', f'"{self.jdk}+9"'),
            ('java.property.java.vm.name', '"OpenJDK 64-Bit Server VM"'),
        ]
        options = []
        for word in self.cmdline[1:]:
            if not word.startswith('-') or word in ('-classpath', '-cp'):
                break
            options.append(word)
        pairs += [('java.rt.vmArgs', '"' + ' '.join(options) + '"'), ('java.rt.vmArgs.whole', 1)]
        return ''.join(f'{key}={value}\n' for key, value in pairs)

    # --- the container ----------------------------------------------------------------------

    def cgroup_files(self, memory):
        anon = memory.anon + pages(self.others)
        mapped = memory.file_rss
        cache = pages(self.cache_active) + pages(self.cache_inactive)
        shmem = pages(self.tmpfs)
        file = mapped + cache + shmem
        stacks = (self.threads + 4 * len(self.other_pids)) * 16384
        slab = pages(self.slab_reclaimable) + pages(self.slab_unreclaimable)
        kernel = stacks + self.page_tables + self.percpu + slab + self.kernel_other
        active_file = pages(self.cache_active) + pages(mapped // 2)
        inactive_file = file - shmem - active_file
        inactive_anon = anon + shmem + pages(self.thp_unmapped)
        sock = pages(self.sockets)
        current = inactive_anon + active_file + inactive_file + kernel + sock
        bound = self.limit if self.limit is not None else 1 << 60
        assert current <= bound, f'{self.folder}: {current} charged against {bound}: {(current - bound) / MIB:.1f} MiB too much'
        peak = min(max(self.peak or 0, current), bound)
        stat = [('anon', anon), ('file', file), ('kernel', kernel), ('kernel_stack', stacks), ('pagetables', self.page_tables),
                ('sec_pagetables', 0), ('percpu', self.percpu), ('sock', sock), ('vmalloc', 0), ('shmem', shmem), ('zswap', 0),
                ('zswapped', 0), ('file_mapped', mapped), ('file_dirty', pages(self.dirty)),
                ('file_writeback', pages(self.writeback)), ('swapcached', 0), ('anon_thp', 0), ('file_thp', 0),
                ('shmem_thp', 0), ('inactive_anon', inactive_anon), ('active_anon', 0), ('inactive_file', inactive_file),
                ('active_file', active_file), ('unevictable', 0), ('slab_reclaimable', pages(self.slab_reclaimable)),
                ('slab_unreclaimable', pages(self.slab_unreclaimable)), ('slab', slab),
                ('workingset_refault_anon', self.refault_anon), ('workingset_refault_file', self.refault_file),
                ('pgscan', 2 * self.refault_file), ('pgsteal', self.refault_file), ('pgfault', anon // PAGE),
                ('pgmajfault', 98)]
        events = {'low': 0, 'high': 0, 'max': 0, 'oom': 0, 'oom_kill': 0, 'oom_group_kill': 0, **(self.events or {})}
        local = {**events, **(self.events_local or {})}

        def pressure(name, averages):
            ten, sixty, three_hundred = averages.split()
            total = int(float(three_hundred) * 3e6 * 4)
            return f'{name} avg10={ten} avg60={sixty} avg300={three_hundred} total={total}\n'

        def keyed(pairs):
            return ''.join(f'{key} {number}\n' for key, number in pairs)

        def number(value):
            return f'{value}\n' if value is not None else 'max\n'

        return [('memory.current', f'{current}\n'), ('memory.stat', keyed(stat)), ('memory.current.after', f'{current}\n'),
                ('memory.max', number(self.limit)), ('memory.high', number(self.high)), ('memory.low', '0\n'),
                ('memory.min', '0\n'), ('memory.peak', f'{peak}\n'), ('memory.events', keyed(events.items())),
                ('memory.events.local', keyed(local.items())),
                ('memory.pressure', pressure('some', self.pressure_some) + pressure('full', self.pressure_full)),
                ('memory.swap.current', f'{pages(self.swap)}\n'), ('memory.swap.max', number(self.swap_max)),
                ('cgroup.procs', ''.join(f'{pid}\n' for pid in sorted([PID, *self.other_pids])))]

    # --- all of it --------------------------------------------------------------------------

    def files(self):
        """name -> bytes, with the manifest, CASE.md and expect."""
        memory = Memory(self)
        memory.build()
        if self.page_tables is None:
            self.page_tables = pages_up(memory.rss // 490)
        digest = hashlib.sha256(self.folder.encode()).hexdigest()
        entries = []  # (name, text) or (name, None, kind, reason)
        entries.append(('proc/stat', self.proc_stat()))
        entries.append(('proc/status', self.proc_status(memory)))
        entries.append(('proc/cgroup', f'0::/../cri-containerd-{digest}.scope\n'))
        entries.append(('proc/cmdline', ''.join(word + '\0' for word in self.cmdline)))
        entries.append(('proc/environ', self.environ))
        entries.append(('host/meminfo', f'MemTotal:       {self.host_memory // 1024} kB\nMemFree:        2097152 kB\n'
                        f'MemAvailable:   {self.host_available // 1024} kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n'))
        entries.append(('host/thp', ' '.join(f'[{mode}]' if mode == self.thp else mode for mode in
                                             ('always', 'madvise', 'never')) + '\n'))
        if self.tmpfs_mounts:
            entries.append(('proc/tmpfs', ''.join(f'used={used} size={size or "none"} {path}\n'
                                                  for path, used, size in self.tmpfs_mounts)))
        if self.hsperf:
            entries.append(('jvm/hsperf', self.hsperf_text(memory)))
        else:
            entries.append(('jvm/hsperf', None, 'unsupported', 'hsperfdata: no file of this JVM (-XX:-UsePerfData, '
                            '-XX:+PerfDisableSharedMem, or another /tmp)'))
        if self.attach:
            entries.append(('jvm/version', self.vm_version()))
            entries.append(('jvm/vm_flags', self.vm_flags()))
            if self.jdk_major >= 9:
                entries.append(('jvm/heap_info', self.heap_info(memory)))
                entries.append(('jvm/codecache', self.codecache(memory)))
            if self.nmt:
                entries.append(('jvm/nmt', self.nmt_summary(memory)))
            else:
                entries.append(('jvm/nmt', None, 'unsupported', 'Native memory tracking is not enabled'))
        else:
            entries.append(('jvm/attach', None, 'unsupported', 'attach switched off by --no-attach'))
        if self.conf is not None:
            entries.append(('conf/flink', self.conf))
        if self.metrics is not None:
            entries.append(('http/metrics.0', self.metrics))
        elif self.metrics_gap is not None:
            entries.append(self.metrics_gap)
        if self.state_dirs is not None:
            entries.append(('proc/state_dirs', self.state_dirs))
        if self.cgroup:
            entries += [('cgroup/' + name, text) for name, text in self.cgroup_files(memory)]
        else:
            entries.append(('cgroup', None, 'unsupported',
                            'the memory controller is on cgroup v1; tell the limit with --limit'))
        entries.append(('proc/smaps', memory.smaps()))
        head = [('taken_ms', TAKEN_MS), ('pid', PID), ('start_ticks', 4262), ('host_cpus', self.host_cpus),
                ('page_bytes', PAGE), ('kernel', self.kernel), ('told_limit', self.told_limit),
                ('pod_limit', self.pod_limit), ('conf_name', self.conf_name if self.conf is not None else None),
                ('metrics_url.0', 'http://127.0.0.1:9249/metrics' if self.metrics is not None else None),
                ('cgroup_kind', 1 if self.cgroup else 3)]
        out = {}
        manifest = ['bankfull-capture 1', 'version 0.1.0-dev'] + [f'{k} {v}' for k, v in head if v is not None]
        for entry in entries:
            if entry[1] is None:
                manifest.append(f'gap {entry[0]} {entry[2]} {entry[3]}')
                continue
            data = entry[1].encode()
            out[entry[0]] = data
            manifest.append(f'file {entry[0]} {len(data)}')
        out['manifest'] = ('\n'.join(manifest) + '\nend\n').encode()
        out['CASE.md'] = self.case_md().encode()
        out['expect'] = self.expect_text().encode()
        return out

    def expect_text(self):
        return ''.join(line.strip() + '\n' for line in self.expect.strip().splitlines())

    def case_md(self):
        out = [f'# {self.folder}\n', f'{self.title}.\n', f'- source: {self.source}, {self.line}', f'- reported: {self.reported}',
               f'- constructed: {self.constructed}', f'- verdict of an expert: {self.verdict}', f'- confidence: {self.confidence}']
        if self.note:
            out.append(f'- note: {self.note}')
        out += ['', '`expect` holds the verdict in words that `tests/cases/verdicts` can check. Written by `tools/make-cases` from '
                'its description in tests/cases; do not edit.']
        return '\n'.join(out) + '\n'
