# SPDX-License-Identifier: Apache-2.0
"""Public trouble reports of RocksDB and of containers, as far as there is a JVM to read, and what no report tells of."""
from capture import GIB, MIB
from pods import Store, java, left_out, rocksdb_library, streams, taskmanager

MB = 1000 * 1000
GB = 1000 * MB
PLAIN = 'heap, metaspace, code, stacks and JVM malloc of an ordinary application, and a quiet cgroup'
HASHMAP = {'state.backend.type': 'hashmap'}

# --- native memory ----------------------------------------------------------------------------------

java(
    'f30_glibc_batches', 'A local Flink grows with each batch run', main_class='com.google.fhir.analytics.PipelineManager',
    jars='controller.jar', xmx_option='-Xmx6g', options=['-Xms6g'], xmx=6 * GIB, heap=5900 * MIB, limit=12 * GIB,
    native=5500 * MIB, metaspace=160 * MIB, threads=120, jdk='17.0.7',
    source='F30 (fhir-data-pipes#777, #807)', line='ohs-foundation/fhir-data-pipes issues 777 and 807 (2023)', confidence='B',
    reported='heap fixed at 6 GB, the container uses about 12 GB; helped: jemalloc',
    constructed='limit 12 GiB, 5.5 GiB of native memory; ' + PLAIN,
    verdict='6 GB outside the heap are unexplained, and the allocator is glibc', note='nothing counts what malloc retains on JDK 17 '
    'without RocksDB metrics: the owner is right, the cause stays open', rules='freeboard-low, native-unexplained', expect='''
        fired freeboard-low
        group native-other
        ''')

R01 = dict(
    source='R01 (camunda#2189, #3988)', line='camunda issues 2189 and 3988 (2019-03)', confidence='B',
    reported='killed at 16 GB; the JVM tells of 1.5 GB of heap and 6 GB of direct memory; the rest, some 8.5 GB, is put down to '
             'RocksDB', jdk='11.0.2', xmx=1610612736, heap=1500 * MIB, limit=16 * GIB, direct=6 * GIB, native=8400 * MIB, threads=90,
    libraries=[rocksdb_library('/tmp/librocksdbjni5521.so')])

java(
    'r01_rest_is_native', 'Of 16 GB the JVM explains 7.5', main_class='io.zeebe.broker.StandaloneBroker',
    jars='zeebe-broker-0.16.0.jar:rocksdbjni-5.15.10.jar', xmx_option='-Xmx1536m', options=['-XX:MaxDirectMemorySize=8g'],
    max_direct=8 * GIB, agent=True, **R01, constructed='a moment before the kill; ' + PLAIN,
    verdict='8.5 GB that no metric names: RocksDB is in the process and tells nothing', rules='freeboard-low, metrics-missing',
    expect='''
        finding freeboard-low critical
        group native-other
        fired metrics-missing
        ''')

java(
    'r01_bare', 'The same as users run it: no exporter, no attach', main_class='io.zeebe.broker.StandaloneBroker',
    jars='zeebe-broker-0.16.0.jar:rocksdbjni-5.15.10.jar', xmx_option='-Xmx1536m', options=['-XX:MaxDirectMemorySize=8g'],
    attach=False, **R01, constructed='as r01_rest_is_native, read from outside alone',
    verdict='native memory; how much of it is direct is not known', rules='freeboard-low, metrics-missing', expect='''
        finding freeboard-low critical
        group native-other
        ''')

java(
    'r07_twelve_databases', 'Twelve databases with three write buffers of 512 MB', main_class='com.example.indexer.Main',
    jars='indexer.jar:rocksdbjni-4.11.2.jar', xmx_option='-Xmx16g', xmx=16 * GIB, heap=15 * GIB, limit=42 * GB, native=24 * GIB - 800 * MIB,
    jdk='1.8.0_121', threads=120, libraries=[rocksdb_library('/tmp/librocksdbjni77.so')],
    source='R07 (rocksdb#1566)', line='facebook/rocksdb issue 1566', confidence='B',
    reported='12 databases x 3 x 512 MB = 18 GB of write buffers, heap of 16 GB; 42 GB were reached',
    constructed='limit 42 GB; RocksDB tells nothing; ' + PLAIN, verdict='the rest beside the heap is native memory, RocksDB\'s',
    note='the other reports of R07 are programs without a JVM', rules='freeboard-low, metrics-missing', expect='''
        fired freeboard-low
        group native-other
        ''')

streams(
    'r08_three_times', 'A cache of 1 GiB that takes 3.5', version='3.4.0', rocksdb='8.0.0', xmx_option='-Xmx1g', xmx=GIB,
    heap=800 * MIB, limit=6 * GIB, native=3500 * MIB, nmt=True, stores=[
        Store('0_0', name, capacity=GIB, usage=1020 * MIB, pinned=170 * MIB, memtables=80 * MIB, cur_memtables=80 * MIB,
              readers=4 * MIB) for name in ('resources', 'index')],
    instances=[('0_0', 'resources'), ('0_0', 'index')], source='R08', line='samply/blaze PR 1014 (2023-05)', confidence='B',
    reported='a block cache of more than 1 GiB takes 3 to 4 times its size; helped: jemalloc',
    constructed='a Streams application with one shared cache, so that the claim can be read; limit 6 GiB, NMT summary; ' + PLAIN,
    verdict='glibc holds 3.4 times of what RocksDB uses: jemalloc', rules='allocator-retention', expect='''
        root allocator-retention
        finding allocator-retention warning
        change jemalloc
        ''')

streams(
    'r12_five_per_cent', 'Resident memory 5 % above the cache', version='3.9.0', rocksdb='9.7.3', xmx_option='-Xmx2g', xmx=2 * GIB,
    heap=1100 * MIB, limit=13 * GIB, allocator='jemalloc', native=8352 * MB - 120 * MIB,
    environ='LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2\n', stores=[
        Store('0_0', name, capacity=7928 * MB, usage=7927 * MB, pinned=40 * MB, memtables=7500 * 1000, cur_memtables=7500 * 1000,
              readers=850 * 1000) for name in ('left', 'right')],
    instances=[('0_0', 'left'), ('0_0', 'right')], source='R12', line='facebook/rocksdb issue 13224', confidence='B',
    reported='HyperClock cache of 7928 MB: usage 7927 MB, memtables 15 MB, table readers 1.7 MB, resident 8352 MB',
    constructed='a Streams application with this cache, limit 13 GiB; ' + PLAIN, verdict='5 % on top is normal with jemalloc',
    rules='allocator-retention, rocksdb-over-budget', expect='''
        silent allocator-retention
        silent rocksdb-over-budget
        silent native-unexplained
        at-most notice
        ''')

streams(
    'r15_cache_from_host', 'A cache sized from the host is larger than the limit', version='3.7.1', xmx_option='-Xmx2g', xmx=2 * GIB,
    heap=1300 * MIB, limit=12 * GIB, native=5200 * MIB, stores=[
        Store('0_0', name, capacity=16 * GIB, usage=5 * GIB, pinned=60 * MIB, memtables=20 * MIB, cur_memtables=20 * MIB,
              readers=2 * MIB) for name in ('blocks', 'state')],
    instances=[('0_0', 'blocks'), ('0_0', 'state')], source='R15 (linera#5734)', line='linera-io/linera-protocol issue 5734 (2026-03)',
    confidence='A', reported='node of 64 GiB, pod limit 12 GiB: the cache is 64 / 4 = 16 GiB',
    constructed='a Streams application whose setter does the same; 5 GiB are filled by now; ' + PLAIN,
    verdict='the cache can never be full: the kernel kills first: critical', rules='rocksdb-unbounded', expect='''
        root rocksdb-unbounded
        finding rocksdb-unbounded critical
        ''')

# --- files ------------------------------------------------------------------------------------------

java(
    'r10_mapped_ssts', 'SST files that are mapped make 194 of 230 GB', main_class='com.example.store.Server',
    jars='server.jar:rocksdbjni-5.18.4.jar', xmx_option='-Xmx16g', xmx=16 * GIB, heap=14 * GIB, limit=240 * GB, host_memory=256 * GIB,
    native=19 * GB, sst_files=194 * GB, cache_active=2 * GB, threads=150, page_tables=480 * MIB,
    libraries=[rocksdb_library('/tmp/librocksdbjni99.so')], source='R10', line='facebook/rocksdb issue 7050', confidence='B',
    reported='max_open_files 20000, worst case computed as 100 GB, resident 230 GB: 3200 mapped SST files are 194 GB of it',
    constructed='a JVM with heap and native memory of 36 GB, limit 240 GB; the files as four mappings; ' + PLAIN,
    verdict='mapped files are not anonymous: the kernel can reclaim them', rules='page-cache-benign', expect='''
        line mapped-files 194000000000
        fired page-cache-benign
        at-most notice
        ''')

java(
    'r11_mapped_and_cache', 'A JVM with block cache: 10.76 GB anonymous, 18.72 GB of SST files', main_class='com.example.store.Server',
    jars='server.jar:rocksdbjni-5.8.0.jar', xmx_option='-Xmx4g', xmx=4 * GIB, heap=3 * GB, limit=31 * GIB, native=7490 * MB,
    sst_files=18720 * MB, threads=100, page_tables=72 * MIB, libraries=[rocksdb_library('/tmp/librocksdbjni12.so')],
    source='R11', line='facebook/rocksdb issue 3216 (2017)', confidence='B',
    reported='with block cache 10.76 GB anonymous and 18.72 GB of SST files resident; without 47.67 GB and 112.74 GB',
    constructed='the first of the two, limit 31 GiB; ' + PLAIN, verdict='mapped files told apart from what cannot be reclaimed',
    rules='page-cache-benign', expect='''
        line mapped-files 18720000000
        fired page-cache-benign
        at-most notice
        ''')

R20 = dict(source='R20 (kvrocks PR 3594, cockroach#76282)', line='apache/kvrocks PR 3594, cockroachdb/cockroach issue 76282',
           confidence='A', reported='buffered reads of compactions fill the cgroup with page cache', heap=420 * MIB,
           events={'max': 5231}, refault_file=300)

taskmanager(
    'r20_page_cache', 'Page cache fills the container to its limit', '1.20.3', dict(process='3072m'), limit=3 * GIB, conf=HASHMAP,
    cache_active=1500 * MIB, cache_inactive=520 * MIB, dirty=8 * MIB, **R20,
    constructed='limit 3 GiB, 2 GiB of clean page cache; ' + PLAIN,
    verdict='clean page cache goes when it must: no danger', rules='page-cache-benign', expect='''
        finding page-cache-benign info
        group page-cache
        at-most notice
        silent freeboard-low
        silent dirty-cache
        ''')

taskmanager(
    'r20_bare', 'The same as users run it: no metrics, no NMT, no attach, no configuration file', '1.20.3', dict(process='3072m'),
    limit=3 * GIB, conf=None, reporter=False, attach=False, cache_active=1500 * MIB, cache_inactive=520 * MIB, dirty=8 * MIB, **R20,
    constructed='as r20_page_cache, read from outside alone', verdict='the same', rules='page-cache-benign', expect='''
        finding page-cache-benign info
        group page-cache
        silent freeboard-low
        at-most notice
        ''')

taskmanager(
    'r20_dirty', 'Much of the page cache must be written first', '1.20.3', dict(process='3072m'), limit=3 * GIB, conf=HASHMAP,
    cache_active=600 * MIB, cache_inactive=1400 * MIB, dirty=820 * MIB, writeback=60 * MIB, pressure_some='9.10 8.40 4.10',
    pressure_full='6.20 5.90 2.80', **R20,
    constructed='as r20_page_cache, but 820 MiB are dirty and threads wait', verdict='writers outrun the disk: dirty page cache',
    rules='dirty-cache', expect='''
        root dirty-cache
        fired dirty-cache
        group page-cache
        silent freeboard-low
        ''')

taskmanager(
    'r19_active_files', 'Active page cache counts for an eviction, not for the kill', '1.20.3', dict(process='2048m'),
    limit=2 * GIB, conf=HASHMAP, heap=420 * MIB, cache_active=900 * MIB, cache_inactive=180 * MIB,
    source='R19 (kubernetes#43916)', line='kubernetes/kubernetes issue 43916', confidence='A',
    reported='kubelet\'s working set has active page cache in it', constructed='900 MiB of active page cache in 2 GiB; ' + PLAIN,
    verdict='no danger from this limit; an eviction is decided by the node, which a pod does not show',
    rules='page-cache-benign', expect='''
        fired page-cache-benign
        at-most notice
        ''')

# --- what no report tells of --------------------------------------------------------------------------

taskmanager(
    'x01_tmpfs_state', 'Working directories on an emptyDir of medium Memory', '1.20.3', dict(process='3072m'), limit=3 * GIB,
    conf={'state.backend.type': 'rocksdb'}, heap=420 * MIB, rocksdb=420 * MIB, libraries=[rocksdb_library()], tmpfs=900 * MIB, tmpfs_mounts=[('/opt/flink/state', 900 * MIB, None)],
    source='none', line='constructed', confidence='-', reported='nothing', constructed='limit 3 GiB, 900 MiB of SST files in memory; '
    + PLAIN, verdict='files in memory are charged and not reclaimed: put them on a disk', rules='tmpfs-charged', expect='''
        root tmpfs-charged
        finding tmpfs-charged warning
        group tmpfs
        ''')

taskmanager(
    'x01_tmpfs_bare', 'The same as users run it: no metrics, no NMT, no attach, no configuration file', '1.20.3',
    dict(process='3072m'), limit=3 * GIB, conf=None, reporter=False, attach=False, heap=420 * MIB, rocksdb=420 * MIB,
    libraries=[rocksdb_library()], tmpfs=900 * MIB, tmpfs_mounts=[('/opt/flink/state', 900 * MIB, None)], source='none', line='constructed', confidence='-', reported='nothing',
    constructed='as x01_tmpfs_state, read from outside alone', verdict='the same', rules='tmpfs-charged', expect='''
        root tmpfs-charged
        finding tmpfs-charged warning
        group tmpfs
        ''')

taskmanager(
    'x01_tmpfs_small', 'Some MiB in memory are nobody\'s trouble', '1.20.3', dict(process='2048m'), limit=2 * GIB, conf=HASHMAP,
    heap=420 * MIB, tmpfs=40 * MIB, tmpfs_mounts=[('/dev/shm', 40 * MIB, 64 * MIB)], source='none', line='constructed',
    confidence='-', reported='nothing', constructed='40 MiB in /dev/shm; ' + PLAIN, verdict='nothing to say',
    rules='tmpfs-charged', expect='''
        silent tmpfs-charged
        at-most notice
        ''')

taskmanager(
    'x02_worker_killed', 'The kernel killed a worker at the container\'s own limit, and the JVM lives on', '1.17.0',
    dict(process='2048m'), limit=2 * GIB, conf={'state.backend': 'hashmap'}, heap=560 * MIB, others=500 * MIB, other_pids=(211,),
    jdk='11.0.18', events={'max': 4120, 'oom': 1, 'oom_kill': 1}, source='none', line='constructed', confidence='-',
    reported='nothing', constructed='oom and oom_kill of memory.events rose by one, a Python worker of 500 MiB is there again; '
    + PLAIN, verdict='a kill by this container\'s limit, and who may have filled it', rules='oom-kill, other-process', expect='''
        fired oom-kill
        fired other-process
        silent native-unexplained
        ''')

left_out('R03', 'camunda: a budget a partition', 'a matter of `plan`: 2 GB are oversubscribed before anything runs')
left_out('R04', 'zeebe#8509', 'no numbers were read')
left_out('R09', 'mysql-5.6#814', 'no JVM; R08 is the same trouble with one')
left_out('R14', 'rocksdb#12364, #4112, #5880, #12020, #1444', 'no totals; growth needs history')
left_out('R18', 'xtdb PR 4831', 'no numbers')
left_out('R22', 'pravega#4325', 'no numbers')
