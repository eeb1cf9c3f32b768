# SPDX-License-Identifier: Apache-2.0
"""Public trouble reports of Apache Flink: each one as a reading of the TaskManager or JobManager it tells of."""
from capture import GIB, MIB
from pods import Store, jobmanager, left_out, rocksdb_library, taskmanager
import flink

MB = 1000 * 1000
ROCKSDB = {'state.backend.type': 'rocksdb', 'execution.checkpointing.incremental': 'true'}
OLD_ROCKSDB = {'state.backend': 'rocksdb', 'state.backend.incremental': 'false'}
HASHMAP = {'state.backend.type': 'hashmap'}
LIBRARY = [rocksdb_library()]
METRICS = {f'state.backend.rocksdb.metrics.{name}': 'true' for name in
           ('block-cache-usage', 'block-cache-capacity', 'block-cache-pinned-usage', 'size-all-mem-tables',
            'cur-size-all-mem-tables', 'estimate-table-readers-mem')}
PLAIN = 'heap, metaspace, code, stacks and JVM malloc of an ordinary TaskManager, and a quiet cgroup'


def slot(operator, states, subtask=0, usage=0, capacity=0, pinned=0, memtables=0, readers=0, **more):
    """The column families of one subtask: each shows the slot's one cache as its own."""
    return [Store(operator, state, subtask, capacity=capacity, usage=usage, pinned=pinned, memtables=memtables // len(states),
                  cur_memtables=memtables // len(states), readers=readers // len(states), **more) for state in states]


# --- leaks of a version -----------------------------------------------------------------------

F01 = dict(
    source='F01 (FLINK-39753)', line='apache/flink PRs 28251, 28280, 28281, 28271 (2026-05)', confidence='A',
    reported='session cluster, block cache of 833 MB a slot; each stopped RocksDB job leaves its cache behind',
    jdk='17.0.9', heap=1450 * MB, metaspace=120 * MIB, classes=15000, native=20 * MIB + 2 * 833617920, libraries=LIBRARY)

taskmanager(
    'f01_cache_leak', 'Two jobs were stopped and their block caches stayed', '1.20.3',
    dict(process='4096m', managed='954m'), managed_used=0, **F01,
    conf={**ROCKSDB, 'taskmanager.memory.managed.size': '954m', 'state.backend.rocksdb.manual-compaction.min-interval': '1h'},
    constructed='954m of managed memory, so that the cache is 833,617,920 bytes; k = 2 stopped jobs; manual compaction every hour; '
                + PLAIN,
    verdict='native memory not released after the jobs stopped: FLINK-39753; growth by 833 MB a stop needs two readings',
    rules='known-leak', expect='''
        root known-leak
        finding known-leak warning
        group native-other
        ''')

taskmanager(
    'f01_compaction_off', 'The same residue where manual compaction is off', '1.20.3',
    dict(process='4096m', managed='954m'), managed_used=0, **F01, conf={**ROCKSDB, 'taskmanager.memory.managed.size': '954m'},
    constructed='as f01_cache_leak, but manual compaction at its default of 0, where this leak cannot be',
    verdict='native memory that nothing explains; FLINK-39753 is not the cause',
    rules='known-leak, native-unexplained', expect='''
        silent known-leak
        root native-unexplained
        group native-other
        ''')

TICKERS = ('block-cache-hit', 'block-cache-miss', 'bloom-filter-useful', 'bloom-filter-full-positive',
           'bloom-filter-full-true-positive', 'bytes-read', 'iter-bytes-read', 'bytes-written', 'compaction-read-bytes',
           'compaction-write-bytes', 'stall-micros')
F02 = dict(
    source='F02 (FLINK-39923)', line='apache/flink PR 28489 (2026-07)', confidence='A',
    reported='flink:2.2.2, limit 4 GB = process size, a job that fails on each row and restarts every 100 ms, all 11 ticker '
             'metrics on; native memory grows with each rebuild of the backend',
    jdk='17.0.9', heap=1200 * MIB, rocksdb=420 * MIB, native=900 * MIB, libraries=LIBRARY)
S4096 = flink.taskmanager(process='4096m')
CACHE4096, WRITE4096 = flink.rocksdb_split(S4096['managed'])

taskmanager(
    'f02_ticker_leak', 'Ticker metrics leak a Statistics object with every restart', '2.2.2', dict(process='4096m'),
    conf={**ROCKSDB, **METRICS, **{f'state.backend.rocksdb.metrics.{name}': 'true' for name in TICKERS}}, **F02,
    stores=slot('enrich', ['value'], usage=380 * MIB, capacity=CACHE4096, pinned=70 * MIB, memtables=64 * MIB, readers=2 * MIB,
                tickers=(('block_cache_hit', 182344), ('block_cache_miss', 9133), ('bytes_written', 48 * MIB))),
    constructed='4 GB taken as 4096m; 900 MiB of residue; ' + PLAIN,
    verdict='FLINK-39923: switch the ticker metrics off; that restarts are frequent needs the JobManager',
    rules='known-leak', expect='''
        root known-leak
        finding known-leak warning
        group native-other
        ''')

taskmanager(
    'f02_tickers_off', 'The same pod without ticker metrics and without residue', '2.2.2', dict(process='4096m'),
    conf={**ROCKSDB, **METRICS}, **{**F02, 'native': 24 * MIB},
    stores=slot('enrich', ['value'], usage=380 * MIB, capacity=CACHE4096, pinned=70 * MIB, memtables=64 * MIB, readers=2 * MIB),
    constructed='as f02_ticker_leak, tickers off, no residue', verdict='nothing to say', rules='known-leak', expect='''
        silent known-leak
        silent native-unexplained
        at-most notice
        ''')

taskmanager(
    'f04_restart_leak', 'A restarted job left its block cache behind', '1.12.2', dict(process='4096m'), conf={
        **OLD_ROCKSDB, **METRICS}, jdk='11.0.11', heap=1200 * MIB, rocksdb=1130 * MIB, native=24 * MIB + 800 * MIB,
    source='F04 (FLINK-21986)', line='apache/flink PR 15619 (2021-04)', libraries=LIBRARY, confidence='A',
    stores=slot('join', ['left', 'right'], usage=1100 * MIB, capacity=CACHE4096, pinned=200 * MIB, memtables=180 * MIB,
                readers=9 * MIB),
    reported='version 1.12 or older; the TaskManager is killed after job restarts; no numbers',
    constructed='4096m, one slot, 800 MiB of the cache of the attempt before is still there; ' + PLAIN,
    verdict='native memory beside what RocksDB says of itself; that it came in a step with a restart needs history',
    rules='native-unexplained', expect='''
        root native-unexplained
        finding native-unexplained warning
        group native-other
        silent rocksdb-over-budget
        ''')

# --- the allocator ----------------------------------------------------------------------------

taskmanager(
    'f05_glibc_fragments', 'glibc keeps what savepoints have freed', '1.11.2', dict(process='4096m'), allocator='glibc', nmt=True,
    conf={**OLD_ROCKSDB, **METRICS}, jdk='11.0.9', heap=900 * MIB, rocksdb=900 * MIB, native=1000 * MIB, libraries=LIBRARY,
    stores=slot('window', ['contents', 'timers'], usage=880 * MIB, capacity=CACHE4096, pinned=150 * MIB, memtables=140 * MIB,
                readers=12 * MIB),
    source='F05 (FLINK-19125, flink-docker#42)', line='apache/flink-docker PR 42 (2020-11), FLINK-20287', confidence='A',
    reported='images before 1.12 run on glibc; resident memory grows at savepoints although RocksDB is bounded; no numbers',
    constructed='4096m, RocksDB says 892 MiB, as much again is held by 1000 MiB of arenas; NMT summary; ' + PLAIN,
    verdict='glibc fragmentation: jemalloc, or MALLOC_ARENA_MAX=1; that it rises at checkpoints needs history',
    rules='allocator-retention', expect='''
        root allocator-retention
        finding allocator-retention warning
        change jemalloc
        ''')

# --- sizes ------------------------------------------------------------------------------------

F06 = dict(
    source='F06, C37', line='github NicoK/lab-rocksdb-memleak (2020-08), Flink 1.11.1', confidence='B',
    reported='process size 4000m, managed fraction 0.4, container limit "4G", full snapshots; the four metrics of the report are on',
    jdk='11.0.8', limit=4_000_000_000, heap=1457 * MB, metaspace=96 * MIB, rocksdb=1150 * MIB, libraries=LIBRARY,
    allocator='glibc')
S4000 = flink.taskmanager(process='4000m')
CACHE4000, _ = flink.rocksdb_split(S4000['managed'])
F06_METRICS = {f'state.backend.rocksdb.metrics.{name}': 'true' for name in
               ('block-cache-usage', 'cur-size-all-mem-tables', 'size-all-mem-tables', 'estimate-table-readers-mem')}

taskmanager(
    'f06_unit_mismatch', 'The limit is 4G, Flink shares out 4000m', '1.11.1', dict(process='4000m'),
    conf={**OLD_ROCKSDB, **F06_METRICS}, **F06, stores=[
        Store('leaky', state, usage=1080 * MIB, memtables=90 * MIB, cur_memtables=90 * MIB, readers=4 * MIB)
        for state in ('state', 'timers')],
    constructed='one slot, some minutes before the kill: RocksDB holds what it may; ' + PLAIN,
    verdict='process size is above memory.max by 194,304,000 bytes (185.3 MiB): say so before any analysis of leaks',
    rules='limit-below-process-size', expect='''
        root limit-below-process-size
        finding limit-below-process-size warning
        evidence limit-below-process-size limit_bytes 4000000000
        evidence limit-below-process-size process_size_bytes 4194304000
        excess limit-below-process-size 194304000
        ''')

taskmanager(
    'f06_bare', 'The same pod as users run it: no metrics, no attach, no configuration file', '1.11.1', dict(process='4000m'),
    conf=None, reporter=False, attach=False, **F06,
    constructed='as f06_unit_mismatch, read from outside alone', verdict='the same: the command line tells the sizes',
    rules='limit-below-process-size', expect='''
        root limit-below-process-size
        excess limit-below-process-size 194304000
        ''')

F09 = dict(
    source='F09 (FLINK-19238)', line='apache/flink PR 13393 (2020-09)', confidence='A', jdk='11.0.20', heap=1100 * MIB,
    threads=140, libraries=LIBRARY)


def f09_stores(slots):
    cache, write_buffers = flink.rocksdb_split(S4096['managed'] // slots)
    return [store for subtask in range(4) for store in
            slot('count', ['counts'], subtask, usage=cache // 2, capacity=cache, pinned=write_buffers // 2,
                 memtables=write_buffers // 2, readers=100 << 10)]


taskmanager(
    'f09_slots_64', 'An arena block does not fit the write buffers of a slot', '1.20.4', dict(process='4096m'), slots=64,
    conf={**ROCKSDB, **METRICS}, rocksdb=48 * MIB, stores=f09_stores(64), **F09,
    reported='a write buffer of 64 MiB has arena blocks of 8,388,608 bytes, a flush starts at 7/8 of the write buffer manager: a '
             'slot needs 28.8 MB; 64 slots on 4096m give 22,481,469 bytes, write buffers of 7,493,823',
    constructed='4 of the slots in use, one state each; ' + PLAIN, verdict='RocksDB flushes all the time: fewer slots or more '
    'managed memory; no danger of a kill', rules='write-buffer-thrash', expect='''
        root write-buffer-thrash
        finding write-buffer-thrash warning
        silent rocksdb-over-budget
        ''')

taskmanager(
    'f09_slots_32', 'An arena block fits the write buffers of a slot', '1.20.4', dict(process='4096m'), slots=32,
    conf={**ROCKSDB, **METRICS}, rocksdb=96 * MIB, stores=f09_stores(32), **F09,
    reported='32 slots on 4096m: a grant of 44,962,939 bytes a slot, write buffers of 14,987,646',
    constructed='4 of the slots in use, one state each; ' + PLAIN, verdict='all well', rules='write-buffer-thrash', expect='''
        silent write-buffer-thrash
        at-most notice
        ''')

taskmanager(
    'f11_pinned', 'Iterators pin more than the cache may hold', '1.13.2', dict(process='4096m'), conf={**OLD_ROCKSDB, **METRICS},
    jdk='11.0.12', heap=900 * MIB, rocksdb=1640 * MB, libraries=LIBRARY,
    stores=slot('join', ['left', 'right'], usage=1600 * MB, capacity=CACHE4096, pinned=1500 * MB, memtables=100 * MB,
                readers=8 * MIB),
    source='F11 (FLINK-15532)', line='apache/flink PR 16835 (2021)', confidence='A',
    reported='the cache is never strict: pinned usage near usage and above capacity; no numbers',
    constructed='4096m: a capacity of 1,199,011,719 bytes, usage 1.6 GB, pinned 1.5 GB, memtables 0.1 GB; ' + PLAIN,
    verdict='pinned by iterators, not a leak', rules='rocksdb-pinned', expect='''
        root rocksdb-pinned
        finding rocksdb-pinned warning
        silent native-unexplained
        silent allocator-retention
        silent known-leak
        ''')

F12_STATES = [f'state_{n}' for n in range(1, 7)]
taskmanager(
    'f12_unmanaged', 'Six states in four slots, and nothing bounds RocksDB', '1.20.3', dict(process='4096m'), slots=4,
    conf={**ROCKSDB, 'state.backend.rocksdb.memory.managed': 'false',
          **{f'state.backend.rocksdb.metrics.{name}': 'true' for name in ('block-cache-usage', 'block-cache-capacity',
                                                                         'size-all-mem-tables')}},
    managed_used=0, heap=1000 * MIB, rocksdb=860 * MIB, libraries=LIBRARY, threads=90,
    stores=[Store('enrich', state, subtask, capacity=8 * MIB, usage=8 * MIB - 4096 * n, memtables=(20 + 2 * n) * MIB)
            for subtask in range(4) for n, state in enumerate(F12_STATES)],
    source='F12 (FLINK-7289)', line='camunda#2189, fluss#69, FLIP-49', confidence='A',
    reported='without managed memory every state has buffers and a cache of its own: 140 MB x 6 states x 4 slots = 3.36 GB',
    constructed='1.20.3 with memory.managed false on 4096m; 860 MiB of it are there by now; ' + PLAIN,
    verdict='RocksDB may take 3.36 GB in a container that has not got them: bound it', rules='rocksdb-unbounded', expect='''
        root rocksdb-unbounded
        finding rocksdb-unbounded warning
        change state.backend.rocksdb.memory.
        silent known-leak
        ''')

# --- native memory outside of the state backend -----------------------------------------------

F14 = dict(
    source='F14 (iceberg#4305, #3950)', line='apache/iceberg issues 4305 and 3950 (2022)', confidence='B',
    reported='25 % of memory before, 72 % after three batch jobs of 100 million rows in one session TaskManager; a collection has '
             'no effect', jdk='11.0.14', heap=1500 * MIB, metaspace=130 * MIB, native=3300 * MIB, threads=90)

taskmanager(
    'f14_compressor_leak', 'Three batch jobs left 47 % of the memory behind, outside of heap and RocksDB', '1.14.3',
    dict(process='8192m'), conf={'state.backend': 'hashmap'}, managed_used=0, **F14,
    constructed='8192m; 47 % of that, less than the job itself takes, as native memory; ' + PLAIN,
    verdict='a native leak outside the state backend', rules='native-unexplained', expect='''
        root native-unexplained
        finding native-unexplained warning
        group native-other
        silent heap-pressure
        ''')

taskmanager(
    'f14_bare', 'The same pod as users run it: no metrics, no NMT, no attach, no configuration file', '1.14.3',
    dict(process='8192m'), conf=None, reporter=False, attach=False, **F14,
    constructed='as f14_compressor_leak, read from outside alone',
    verdict='native memory is what fills it, whatever it is', rules='native-unexplained, metrics-missing', expect='''
        group native-other
        ''')

taskmanager(
    'f16_zstd_off_heap', 'A scan of zstd files fills what lies beside the heap', '1.16.1',
    dict(process='8192m', managed=0), conf={**HASHMAP, 'taskmanager.memory.managed.size': '0'}, managed_used=0,
    heap=5000 * MIB, native=1750 * MIB, jdk='11.0.18', threads=90,
    source='F16 (PARQUET-2160)', line='SPARK-41952, iceberg#5681', confidence='A',
    reported='executors of 6 GB heap and 2 GB beside it are killed soon when they scan a large table of parquet with zstd',
    constructed='a TaskManager of 8192m without managed memory, hence 6.1 GiB of heap and 819 MiB of overhead; 1750 MiB of '
                'decompressor buffers; ' + PLAIN,
    verdict='native memory outside of every budget: the decompressor; a newer parquet', rules='native-unexplained', expect='''
        root native-unexplained
        group native-other
        ''')

taskmanager(
    'f46_velox', 'A second native engine in the TaskManager', '1.19.1', dict(process='8192m'), conf={**ROCKSDB, **METRICS},
    heap=1800 * MIB, rocksdb=900 * MIB, native=2600 * MIB, libraries=[
        *LIBRARY, ('/opt/gluten/libvelox.so', 90 * MIB, 3 * MIB), ('/opt/gluten/libgluten.so', 6 * MIB, 200 << 10)],
    stores=slot('q4', ['bids'], usage=860 * MIB, capacity=flink.rocksdb_split(flink.taskmanager(process='8192m')['managed'])[0],
                pinned=120 * MIB, memtables=110 * MIB, readers=6 * MIB), threads=100,
    source='F46 (gluten#11791)', line='apache/incubator-gluten issue 11791 (2026-03)', confidence='C',
    reported='Velox and RocksDB in one TaskManager; it disappears in nexmark q4; no numbers',
    constructed='8192m, 2.6 GiB in the other engine; ' + PLAIN,
    verdict='native libraries other than rocksdbjni are mapped: other native memory', rules='native-unexplained', expect='''
        root native-unexplained
        group native-other
        says native-unexplained libvelox
        silent rocksdb-over-budget
        ''')

F45 = dict(
    source='F45 (FLINK-15758, FLINK-15094)', line='Flink 1.10 and 1.11', confidence='A', heap=900 * MIB, unsafe=1300 * MIB,
    reported='managed memory is Unsafe memory: neither in the heap nor in the Direct metrics; a batch sort fills it')

taskmanager(
    'f45_managed_unsafe', 'A batch sort holds managed memory outside heap and direct metrics', '1.20.3', dict(process='4096m'),
    conf={**HASHMAP, 'execution.runtime-mode': 'BATCH'}, nmt=True, **F45,
    constructed='4096m, 1300 MiB of 1372 MiB managed memory in use, NMT summary; ' + PLAIN,
    verdict='managed memory in use: no leak', rules='native-unexplained, managed-idle', expect='''
        line managed-unsafe 1363148800
        silent native-unexplained
        silent managed-idle
        at-most notice
        ''')

taskmanager(
    'f45_without_nmt', 'The same sort, without NMT', '1.20.3', dict(process='4096m'),
    conf={**HASHMAP, 'execution.runtime-mode': 'BATCH'}, **F45,
    constructed='as f45_managed_unsafe, without NMT: the line cannot be told from other native memory',
    verdict='the budget of managed memory covers it: no alarm', rules='native-unexplained, managed-idle', expect='''
        silent managed-idle
        at-most notice
        ''')

# --- metaspace, heap, direct memory ------------------------------------------------------------

taskmanager(
    'f18_metaspace_96m', 'Class metadata at 90 of 96 MB', '1.10.0', dict(process='1568m', metaspace='96m'),
    conf={'state.backend': 'filesystem', 'taskmanager.memory.jvm-metaspace.size': '96m'}, jdk='17.0.9', metaspace=92 * MIB,
    heap=350 * MIB, classes=16800, jvm_malloc=52 * MIB, source='F18 (FLINK-16406)', line='Flink 1.10', confidence='A',
    reported='the default of 96 MB is too small after an upgrade: 90 MB of it are used',
    constructed='92 MiB committed for 90 MiB used; JDK 17, where metaspace can be seen in the mappings; ' + PLAIN,
    verdict='metaspace is close to its limit: 256m, as 1.10.1 ships', note='the line asks for a warning at 0.95 and for one at 90 of '
    '96 MB, which is 0.94: the figures count, the rule warns from 0.90 on', rules='metaspace-near-limit', expect='''
        root metaspace-near-limit
        finding metaspace-near-limit warning
        group metaspace
        change taskmanager.memory.jvm-metaspace.size
        ''')

F19 = dict(source='F19 (paimon#9795)', line='apache/paimon issue 9795', confidence='B', jdk='17.0.19',
           reported='session cluster, Flink 1.20.5, MaxMetaspaceSize 768m; 18.2 MB a finished SQL job stay: 36 jobs from a base of '
                    '100 MB', metaspace=737 * MIB, classes=96000, jvm_malloc=120 * MIB, heap=1000 * MIB, threads=80)

taskmanager(
    'f19_metaspace_per_job', 'After 35 jobs metaspace stands at 737 of 768 MB', '1.20.5',
    dict(process='4096m', metaspace='768m'), conf={**HASHMAP, 'taskmanager.memory.jvm-metaspace.size': '768m'}, **F19,
    constructed='the reading after the 35th job, 4096m; ' + PLAIN,
    verdict='the next two jobs end it; the growth of 18.2 MB a job needs two readings',
    rules='metaspace-near-limit', expect='''
        root metaspace-near-limit
        finding metaspace-near-limit warning
        group metaspace
        ''')

taskmanager(
    'f19_bare', 'The same pod as users run it: no metrics, no NMT, no attach, no configuration file', '1.20.5',
    dict(process='4096m', metaspace='768m'), conf=None, reporter=False, attach=False, **F19,
    constructed='as f19_metaspace_per_job, read from outside alone', verdict='the same: hsperfdata and the mappings tell it',
    rules='metaspace-near-limit', expect='''
        root metaspace-near-limit
        group metaspace
        ''')

jobmanager(
    'f21_jobmanager_metaspace', 'The JobManager of a session after five submissions', '1.18.1', dict(process='1600m'),
    jdk='11.0.22', metaspace=246 * MIB, classes=38000, jvm_malloc=70 * MIB, threads=70,
    source='F21 (beam#25510, #32372, FLINK-28248)', line='apache/beam issues 25510 and 32372', confidence='B',
    reported='metaspace of the JobManager grows with each submission; OutOfMemoryError after 4 to 5 in the small setup',
    constructed='1600m, 246 MiB of 256 MiB; ' + PLAIN, verdict='the same rule as for a TaskManager',
    rules='metaspace-near-limit', expect='''
        finding metaspace-near-limit warning
        group metaspace
        change jobmanager.memory.jvm-metaspace.size
        ''')

taskmanager(
    'f22_metaspace_full', 'Metaspace is full and the process lives on', '1.13.2', dict(process='1728m'),
    conf={'state.backend': 'hashmap'}, jdk='11.0.12', metaspace=256 * MIB, heap=380 * MIB, classes=41000, jvm_malloc=70 * MIB,
    source='F22 (FLINK-24401)', line='Flink before 1.15', confidence='A',
    reported='the TaskManager could not end after OutOfMemoryError: Metaspace: metaspace at 100 %, no heartbeats',
    constructed='1728m; ' + PLAIN, verdict='metaspace at its limit: critical; that heartbeats have ceased only the JobManager knows',
    rules='metaspace-near-limit', expect='''
        root metaspace-near-limit
        finding metaspace-near-limit critical
        group metaspace
        ''')

F24 = dict(source='F24 (FLINK-37512)', line='Flink before the fix of 2025-06', confidence='A', heap=534 * MIB - 24 * MIB,
           heap_used=505 * MIB, heap_kept=498 * MIB, gc_full_last=True,
           reported='an element in size/slide windows, up to 10,000,000: java.lang.OutOfMemoryError; the heap is near its maximum '
                    'after a collection, oom_kill unchanged')

taskmanager(
    'f24_heap_full', 'The heap is full right after a full collection', '1.20.0', dict(process='1728m'), conf=HASHMAP, **F24,
    constructed='1728m; 498 of 512 MiB left by a full collection; ' + PLAIN,
    verdict='the heap ends it, not the kernel', rules='heap-pressure, oom-kill', expect='''
        root heap-pressure
        finding heap-pressure critical
        group java-heap
        silent oom-kill
        silent native-unexplained
        ''')

taskmanager(
    'f24_bare', 'The same pod as users run it: no metrics, no NMT, no attach, no configuration file', '1.20.0',
    dict(process='1728m'), conf=None, reporter=False, attach=False, **F24, constructed='as f24_heap_full, read from outside alone',
    verdict='the same: hsperfdata tells it', rules='heap-pressure', expect='''
        root heap-pressure
        group java-heap
        ''')

taskmanager(
    'f24_heap_80', 'The heap at 78 % after a young collection', '1.20.0', dict(process='1728m'), conf=HASHMAP, **{
        **F24, 'heap_kept': 400 * MIB, 'gc_full_last': False}, constructed='as f24_heap_full, 400 of 512 MiB are left; ' + PLAIN,
    verdict='a heap at work', rules='heap-pressure', expect='''
        silent heap-pressure
        at-most notice
        ''')

taskmanager(
    'f42_heap_starved', 'Ten GB of task off-heap memory leave 3 GB to the heap', '1.20.1',
    dict(process='16384m', task_off_heap='10048m', managed_fraction=0.01),
    conf={**HASHMAP, 'taskmanager.memory.task.off-heap.size': '10048m'}, managed_used=0, heap=3180 * MIB, heap_used=3170 * MIB,
    heap_kept=3130 * MIB, gc_full_last=True, threads=100, source='F42 (paimon#4484)', line='apache/paimon issue 4484',
    confidence='C', reported='TaskManager of 16 GB, task.off-heap 10048m, managed.fraction 0.01; OutOfMemoryError in ManifestFileMeta '
    '(heap)', constructed='a full collection leaves 3130 MiB; direct memory is hardly used; ' + PLAIN,
    verdict='the heap is starved by an off-heap size that nothing uses', rules='heap-pressure', expect='''
        root heap-pressure
        finding heap-pressure critical
        group java-heap
        change taskmanager.memory.task.off-heap.size
        ''')

taskmanager(
    'f25_batch_shuffle', 'Direct memory is nearly full and shuffle uses little of it', '1.11.2', dict(process='1728m'),
    conf={'state.backend': 'hashmap'}, jdk='11.0.9', direct=263 * MB, heap=380 * MIB,
    source='F25 (FLINK-28623, FLINK-20740)', line='Flink before 1.13', confidence='A',
    reported='readers of a batch shuffle take direct memory that no pool bounds: OutOfMemoryError: Direct buffer memory',
    constructed='1728m: 263 MB of 268,435,458 bytes, 5 % of the network memory in use; ' + PLAIN,
    verdict='direct memory is at its limit; the network buffers are not the cause', rules='direct-near-limit', expect='''
        root direct-near-limit
        fired direct-near-limit
        group direct-buffers
        change off-heap
        ''')

for name, title, used, verdict, wanted in (
        ('f26_direct_full', 'Direct memory at 97.5 %', 481573000, 'direct memory is at its limit', '''
            root direct-near-limit
            fired direct-near-limit
            group direct-buffers
            change taskmanager.memory.task.off-heap.size
            '''),
        ('f26_direct_85', 'Direct memory at 85 %', 419833000, 'nothing to say', '''
            silent direct-near-limit
            at-most notice
            ''')):
    taskmanager(name, title, '1.20.1', dict(process='4096m'), conf=HASHMAP, direct=used, heap=900 * MIB,
                source='F26 (fluss#2236)', line='apache/fluss issue 2236 (2025-12)', confidence='B',
                reported='OutOfMemoryError: Direct buffer memory in a TaskManager; its text asks for more task.off-heap; 0.97 is full',
                constructed='4096m: MaxDirectMemorySize is 493,921,243 bytes; ' + PLAIN, verdict=verdict,
                note='359.7 MB are network buffers, which are there from the start: the rule looks at the rest, of which 91 % are used '
                'at 97.5 %. In a TaskManager of 16 GiB 97 % of all are 61 % of the rest and no danger',
                rules='direct-near-limit', expect=wanted)

taskmanager(
    'f28_four_slots', 'Four slots exhaust direct memory', '1.14.3', dict(process='4096m'), slots=4,
    conf={'state.backend': 'hashmap'}, direct=487 * MB, jdk='11.0.14', heap=1000 * MIB, threads=110,
    source='F28 (Spycsh/hesse#11)', line='github Spycsh/hesse issue 11 (2022-06)', confidence='B',
    reported='fails above parallelism 3; helped: network.max 2g, network.fraction 0.1, framework.off-heap 4g',
    constructed='4096m, 487 MB of 493,921,243 bytes; ' + PLAIN,
    verdict='direct memory is at its limit; that it grows with the slots needs a second reading', rules='direct-near-limit',
    expect='''
        root direct-near-limit
        fired direct-near-limit
        group direct-buffers
        ''')

# --- beside Flink -------------------------------------------------------------------------------

taskmanager(
    'f37_python_worker', 'A Python worker lives in the same container', '1.17.0', dict(process='4096m'),
    conf={'state.backend': 'hashmap', 'taskmanager.memory.managed.consumer-weights': 'OPERATOR:70,STATE_BACKEND:70,PYTHON:30'},
    heap=900 * MIB, others=700 * MIB, other_pids=(143, 151), jdk='11.0.18',
    source='F37 (FLINK-32110)', line='Flink before 1.17.1', confidence='A',
    reported='PyFlink: consumers of managed memory in Python have the weight 30; no numbers',
    constructed='process mode: two workers with 700 MiB together, managed memory of 1372 MiB; ' + PLAIN,
    verdict='the workers\' memory is told beside the JVM\'s', rules='other-process', expect='''
        line other-processes 734003200
        fired other-process
        group other-processes
        ''')

taskmanager(
    'f37_small_worker', 'A health check beside the JVM', '1.17.0', dict(process='4096m'), conf={'state.backend': 'hashmap'},
    heap=900 * MIB, others=30 * MIB, other_pids=(143,), jdk='11.0.18', source='F37 (FLINK-32110)', line='Flink before 1.17.1',
    confidence='A', reported='as f37_python_worker', constructed='one process of 30 MiB; ' + PLAIN, verdict='nothing to say',
    rules='other-process', expect='''
        silent other-process
        at-most notice
        ''')

taskmanager(
    'f43_ninety_per_cent', 'An operator gives Flink 90 % of the limit', '1.18.1', dict(process='3686m'), limit=4 * GIB,
    conf=HASHMAP, heap=1000 * MIB, managed_used=0, jdk='11.0.22', source='F43', line='GoogleCloudPlatform/flink-on-k8s-operator#288, '
    'spotify PR 204', confidence='A', reported='process size = 0.9 x limit',
    constructed='limit 4 GiB, process size 3686m, a pod that is far from full; ' + PLAIN,
    verdict='a note: 410 MiB of the limit that Flink does not plan with', rules='limit-above-process-size', expect='''
        fired limit-above-process-size
        silent limit-below-process-size
        at-most notice
        ''')

for name, title, backend, extra, wanted, why in (
        ('c39_managed_idle', 'HashMap state with managed memory at its default', HASHMAP, {}, '''
            finding managed-idle notice
            evidence managed-idle managed_bytes 1438814063
            at-most notice
            ''', 'managed memory of 1.34 GiB is reserved and unused: give it to the heap'),
        ('c39_managed_used', 'The same with RocksDB, which uses it', {**ROCKSDB, **METRICS},
         {'rocksdb': 700 * MIB, 'libraries': LIBRARY, 'stores': slot('count', ['counts'], usage=640 * MIB, capacity=CACHE4096,
                                                                    pinned=90 * MIB, memtables=80 * MIB, readers=3 * MIB)}, '''
            silent managed-idle
            at-most notice
            ''', 'nothing to say')):
    taskmanager(name, title, '1.20.3', dict(process='4096m'), conf=backend, heap=1000 * MIB,
                managed_used=0 if backend is HASHMAP else None, **extra,
                source='C39', line='constructed from Flink\'s defaults', confidence='A',
                reported='4096m: 1.34 GiB of managed memory', constructed=PLAIN, verdict=why, rules='managed-idle', expect=wanted)

left_out('F10', 'FLINK-12785, restore of big values', 'needs history: a spike that is over after the restore')
left_out('F20', 'iceberg#3776, worker threads pin the classloader', 'needs history: threads and metaspace step up with each job')
left_out('F23', 'FLINK-33192, timer leak', 'needs history: state grows while the input does not')
left_out('F32', 'Flink 1.9 on YARN', 'out of scope: the memory model before Flink 1.10')
left_out('F33', 'exit status 239', 'needs the container\'s exit status')
left_out('F34', 'batch job far above its process size', 'needs history: growth in the sink phase alone; no totals were given')
left_out('F35', 'FLINK-8968, ReadOptions leak', 'needs history (a leak for each read), and Flink 1.5 is out of scope')
left_out('F36', 'FLINK-19331, state processor leak', 'needs history: grows with each backend that is opened; no numbers')
left_out('F38', 'FLINK-29132, metrics of old attempts', 'needs history: the JobManager\'s heap grows with restarts')
left_out('F40', 'statefun: a JobManager of 500m', 'a matter of `plan`: Flink refuses to start, there is no pod to read')
left_out('F47', 'heap spike when the lag is large', 'needs history and the consumer\'s lag')
left_out('F48', 'Pinterest: direct memory leak', 'needs history: the number of buffers grows; no numbers')
