# SPDX-License-Identifier: Apache-2.0
"""Public trouble reports of Kafka Streams: each one as a reading of the application it tells of."""
from capture import GIB, MIB
from pods import Store, left_out, streams

INSTANCE = 98 * MIB  # 50 MiB of block cache and three write buffers of 16 MiB
PLAIN = 'heap, metaspace, code, stacks and JVM malloc of an ordinary application, and a quiet cgroup'


def instances(stores, partitions):
    return [(f'{n}_{partition}', store) for n, store in enumerate(stores) for partition in range(partitions)]


def default_stores(opened, usage, memtables=None):
    """Each with its own cache of 50 MiB, filled a little differently."""
    return [Store(task, name, capacity=50 * MIB, usage=usage - 4096 * n, memtables=memtables)
            for n, (task, name) in enumerate(opened)]


# --- per-store bounds ---------------------------------------------------------------------------

K21 = dict(source='K21', line='facebook/rocksdb issue 10700 (2022-09)', confidence='B',
           reported='2 stores x 30 partitions = 60 instances an application: 60 x 98 MiB = 5.74 GiB by default',
           version='3.2.3', rocksdb='6.29.4', xmx_option='-Xmx1g', xmx=GIB, heap=700 * MIB, threads=70, native=1300 * MIB,
           instances=instances(('orders-store', 'payments-store'), 30), rules='rocksdb-unbounded')


def k21(folder, title, limit, constructed, verdict, expect, **more):
    streams(folder, title, limit=limit, constructed=constructed, verdict=verdict, expect=expect, **{
        **K21, 'stores': default_stores(K21['instances'], 14 * MIB, 6 * MIB), **more})


k21('k21_sixty_instances', 'Sixty RocksDB instances at their defaults', 4 * GIB,
    'limit 4 GiB, -Xmx1g; 1.2 GiB are there by now; ' + PLAIN,
    'the stores may take 5.74 GiB, the container has 4 GiB: bound them', '''
        root rocksdb-unbounded
        finding rocksdb-unbounded warning
        bound rocksdb-block-cache 6165626880
        change RocksDBConfigSetter
        ''')

k21('k21_bare', 'The same as users run it: no exporter, no attach', 4 * GIB,
    'as k21_sixty_instances, read from outside alone', 'it depends on whether a config setter bounds the stores, which nothing here '
    'tells: not to be passed over, and nobody to be woken', '''
        inconclusive rocksdb-unbounded
        at-most notice
        ''', agent=False, attach=False, stores=(), note='the line says 5.74 GiB by default: but with a setter the same directories '
    'are bounded, and a warning for each such pod would be false')

k21('k21_roomy', 'Sixty instances where there is room for them', 9 * GIB,
    'as k21_sixty_instances with a limit of 9 GiB', 'it fits: nothing to warn of, and no bound to be proud of', '''
        at-most notice
        ''')

k21('k21_heap_to_come', 'The stores would fit if the heap stayed as small as it is', 7 * GIB,
    'limit 7 GiB, -Xmx2g of which 380 MiB are resident; ' + PLAIN,
    'the heap may grow to -Xmx: 5.74 GiB and 2 GiB do not fit 7 GiB', '''
        root rocksdb-unbounded
        finding rocksdb-unbounded warning
        ''', xmx_option='-Xmx2g', xmx=2 * GIB, heap=380 * MIB, heap_committed=420 * MIB)

streams(
    'k27_five_times', 'A heap of 4 GB and 160 instances in 8 GB', version='3.5.1', rocksdb='7.9.2', xmx_option='-Xmx4g',
    xmx=4 * GIB, heap=2700 * MIB, limit=8 * GIB, native=2600 * MIB, threads=90,
    instances=instances(('s',), 160), stores=default_stores(instances(('s',), 160), 15 * MIB), source='K27', line='Novatechflow (2025-10)', confidence='B',
    reported='an application with 4 GB of heap uses 20 GB and more; hundreds of instances',
    constructed='limit 8 GiB and 160 instances: 15.3 GiB by default; ' + PLAIN, verdict='the bound does not fit the limit: warn',
    rules='rocksdb-unbounded', expect='''
        root rocksdb-unbounded
        finding rocksdb-unbounded warning
        bound rocksdb-block-cache 16441671680
        ''')

streams(
    'k26_fifty_each', 'Fifty MiB of cache for every store add up', version='3.8.0', rocksdb='7.9.2', xmx_option='-Xmx512m',
    xmx=512 * MIB, heap=380 * MIB, limit=2 * GIB, native=700 * MIB, instances=instances(('vulnerabilities', 'components'), 12),
    stores=default_stores(instances(('vulnerabilities', 'components'), 12), 20 * MIB, 8 * MIB),
    source='K26', line='DependencyTrack/hyades PR 1498 (2024-09)', confidence='A',
    reported='50 MiB a store add up; one cache of 128 MiB for all stores instead',
    constructed='24 instances in 2 GiB; ' + PLAIN, verdict='bound the stores by one cache; what that saves is not computed',
    rules='rocksdb-unbounded', expect='''
        root rocksdb-unbounded
        bound rocksdb-block-cache 2466250752
        ''')

streams(
    'c42_standby', '336 instances after a rebalance with standbys', version='3.7.1', xmx_option='-Xmx4g', xmx=4 * GIB,
    heap=2400 * MIB, limit=16 * GIB, native=4000 * MIB, threads=120,
    instances=[(f'0_{n}', f's/s.{day}') for n in range(112) for day in (0, 1, 2)], stores=[
        Store(f'0_{n}', 's', kind='rocksdb_window_state_id', capacity=150 * MIB, usage=30 * MIB - 4096 * n) for n in range(112)],
    source='C42', line='constructed', confidence='A', reported='one standby: 336 instances are possible, 32.2 GiB',
    constructed='all 336 are open, as 112 window stores of three segments, limit 16 GiB; ' + PLAIN, verdict='32.2 GiB do not fit', note='32.2 GiB is 336 x 98 MiB; instances '
    'that are possible but not open are a matter of `plan`', rules='rocksdb-unbounded', expect='''
        root rocksdb-unbounded
        finding rocksdb-unbounded warning
        bound rocksdb-block-cache 34527510528
        ''')

C43 = dict(source='C43', line='constructed from the JVM\'s default', confidence='A', limit=2 * GIB, instances=instances(('s',), 10),
           stores=default_stores(instances(('s',), 10), 18 * MIB, 9 * MIB), reported='limit 2 GiB: the heap gets 25 %, 512 MiB; ten instances 980 MiB')

streams(
    'c43_quarter_heap', 'The JVM took a quarter of the limit for its heap', xmx=512 * MIB, heap_committed=300 * MIB, heap=250 * MIB,
    native=400 * MIB, **C43, constructed='no -Xmx; ' + PLAIN, verdict='the heap is as it should be, and the stores fit',
    rules='heap-sized-from-host, rocksdb-unbounded', expect='''
        silent heap-sized-from-host
        at-most notice
        ''')

streams(
    'c43_host_heap', 'The JVM took a quarter of the host for its heap', jdk='1.8.0_252', xmx=16 * GIB, heap_committed=1100 * MIB,
    heap=900 * MIB, native=300 * MIB, **C43, version='2.5.1', rocksdb='5.18.4',
    constructed='JDK 8u252, which does not know cgroup v2, on a node of 64 GiB: a heap of 16 GiB; ' + PLAIN,
    verdict='the heap was sized from the host: set -Xmx', rules='heap-sized-from-host', expect='''
        root heap-sized-from-host
        fired heap-sized-from-host
        group java-heap
        change -Xmx
        ''')

# --- caches ---------------------------------------------------------------------------------------


def k19_stores():
    return [Store(f'0_{partition}', name, capacity=GIB, usage=1000 * MIB, pinned=152 * MIB, memtables=75 * MIB,
                  cur_memtables=75 * MIB, readers=MIB) for partition, name in ((0, 'events'), (1, 'events'))]


streams(
    'k19_shared_cache', 'One shared cache of 1 GB is reported by each store', version='3.2.3', rocksdb='6.29.4',
    xmx_option='-Xmx1g', xmx=GIB, heap=700 * MIB, limit=3 * GIB, native=1010 * MIB, stores=k19_stores(),
    instances=instances(('events',), 2), source='K19', line='facebook/rocksdb issue 10707 (2022-09)', confidence='A',
    reported='a config setter with one cache of 1 GB, 150 MB of memtables in it; a dashboard shows 2 GB',
    constructed='limit 3 GiB; ' + PLAIN, verdict='the cache counts once: 1 GiB', rules='rocksdb-over-budget, rocksdb-unbounded',
    expect='''
        bound rocksdb-block-cache 1073741824
        silent rocksdb-over-budget
        silent rocksdb-unbounded
        silent native-unexplained
        at-most notice
        ''')

streams(
    'k22_write_buffers_take_all', 'The write buffers may take the whole cache, and the pod is full of page cache', version='3.4.0',
    xmx_option='-Xmx512m', xmx=512 * MIB, heap=400 * MIB, limit=2 * GIB, native=510 * MIB, cache_active=400 * MIB,
    cache_inactive=380 * MIB, stores=[
        Store(f'0_{n}', 'global', capacity=500 * MIB, usage=496 * MIB, pinned=470 * MIB, memtables=46 * MIB,
              cur_memtables=46 * MIB, readers=MIB) for n in range(10)],
    instances=instances(('global',), 10), source='K22', line='StackOverflow 76410522', confidence='C',
    reported='GlobalKTable, 10 partitions: one cache of 10 x 50 MiB, its write buffer manager as large; 500 MiB are expected, the '
             'pod shows more', constructed='460 MiB of memtables in the cache, limit 2 GiB, 780 MiB of page cache; ' + PLAIN,
    verdict='page cache is not in the bound and no danger', note='that write buffers may starve the cache to nothing is not judged: '
    'the setter cannot be seen', rules='page-cache-benign', expect='''
        fired page-cache-benign
        silent rocksdb-over-budget
        at-most notice
        ''')

streams(
    'k25_write_stalls', 'Write buffers of all stores do not fit their manager', version='3.6.1', rocksdb='7.9.2',
    xmx_option='-Xmx1g', xmx=GIB, heap=700 * MIB, limit=2 * GIB, native=130 * MIB, stores=[
        Store(f'{n}_0', name, thread=n + 1, capacity=64 * MIB, usage=62 * MIB, pinned=60 * MIB, memtables=15 * MIB,
              cur_memtables=8 * MIB, readers=MIB, write_stopped=1 if n == 0 else 0, delayed_rate=16 * MIB, flush_pending=1)
        for n, name in enumerate(('core-a', 'core-b', 'timer-a', 'timer-b'))],
    instances=[(f'{n}_0', name) for n, name in enumerate(('core-a', 'core-b', 'timer-a', 'timer-b'))],
    source='K25', line='littlehorse PR 630 (2024-01)', confidence='B',
    reported='2 core and 2 timer threads; cache and write buffer manager of 64 MB, memtables of 64 and 32 MB: 10 min for 1000 runs',
    constructed='four stores that stall, one stopped; ' + PLAIN, verdict='write stalls: the write buffers are too small',
    rules='write-buffer-thrash', expect='''
        root write-buffer-thrash
        finding write-buffer-thrash warning
        ''')

streams(
    'k30_cache_each', 'Every store got a cache of 1 GiB by mistake', version='3.7.1', xmx_option='-Xmx1g', xmx=GIB,
    heap=700 * MIB, limit=4 * GIB, native=1300 * MIB, stores=[
        Store('0_0', f'store-{n}', capacity=GIB, usage=(100 + 70 * n) * MIB, pinned=4096, memtables=12 * MIB,
              cur_memtables=12 * MIB, readers=MIB) for n in range(5)],
    instances=[('0_0', f'store-{n}') for n in range(5)], source='K30', line='constructed', confidence='A',
    reported='5 stores of one task: capacities of 1 GiB each, no two usages alike', constructed='limit 4 GiB; ' + PLAIN,
    verdict='the caches are not shared: 5 GiB', rules='rocksdb-unbounded', expect='''
        root rocksdb-unbounded
        fired rocksdb-unbounded
        bound rocksdb-block-cache 5620367360
        ''')

# --- leaks of a version -----------------------------------------------------------------------------

for folder, version, verdict, wanted in (
        ('k06_metrics_leak', '4.1.0', 'KAFKA-19748: go to 4.1.1', '''
            fired known-leak
            root known-leak
            '''),
        ('k06_fixed', '4.1.1', 'nothing to say', '''
            silent known-leak
            at-most notice
            ''')):
    streams(folder, 'Session stores on ' + version, version=version, rocksdb='9.7.3', xmx_option='-Xmx1g', xmx=GIB, heap=800 * MIB,
            limit=2 * GIB, native=120 * MIB, stores=[
                Store('0_0', 'sessions', kind='rocksdb_session_state_id', capacity=50 * MIB, usage=40 * MIB, pinned=4096,
                      memtables=20 * MIB, cur_memtables=20 * MIB, readers=MIB)], instances=[('0_0', 'sessions')],
            source='K06 (KAFKA-19748)', line='apache/kafka commit 0dd8471174', confidence='A',
            reported='4.1.0 leaks metrics objects on the heap: range scans, session and sliding windows, some joins',
            constructed='one session store, limit 2 GiB; ' + PLAIN, verdict=verdict, rules='known-leak', expect=wanted)

left_out('K02', 'KAFKA-20688, ColumnFamilyOptions leak', 'needs history: a slope for each store that is opened')
left_out('K03', 'KAFKA-20456, options of the offsets CF', 'out of scope: release candidates of 4.3.0 alone')
left_out('K04', 'KAFKA-20398, reporter of replaced threads', 'needs history: failed threads and the heap rise together')
left_out('K05', 'KAFKA-20287, handles of failed opens', 'needs history: repeated failures to open a store')
left_out('K07', 'KAFKA-16086, Options not closed', 'needs history: as K02')
left_out('K08', 'KAFKA-16089, descriptor copies', 'needs history: as K02')
left_out('K09', 'KAFKA-14432, Statistics wrapper', 'needs history, and no release had it')
left_out('K11', 'KAFKA-8637, WriteBatch leak', 'needs history: a slope while windowed stores are restored')
left_out('K12', 'KAFKA-8323, BloomFilter leak', 'needs history: as K02')
left_out('K14', 'KAFKA-4484, defaults halved', 'no pod: the constants of K21, C42 and C43')
left_out('K15', 'KAFKA-12500, thread cache', 'needs history: the heap after threads were replaced')
left_out('K16', 'KAFKA-7660, KAFKA-17203', 'needs history: slope of the heap after collections')
left_out('K18', 'ksql#10096, original caches', 'cannot be measured: the leaked caches are empty')
left_out('K28', 'ksqlDB: a bound that was not honoured', 'no numbers and no cause that a reading shows')
left_out('K29', 'KAFKA-18280, docs overstate the bound', 'a matter of wording, not of a pod')
