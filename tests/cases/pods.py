# SPDX-License-Identifier: Apache-2.0
"""Words for the pods that the cases describe: a TaskManager, a JobManager, a Kafka Streams application, any JVM."""
from capture import GIB, MIB, Case, java_double
import flink

CASES = []
LEFT_OUT = []  # (id, title, why)
RED = '<redacted>'

ROCKSDB_SO = '/tmp/rocksdb-lib-41ad5ccc5182ad51bc9348f8cfef70b2/librocksdbjni-linux64.so'
NETTY_SO = '/tmp/liborg_apache_flink_shaded_netty4_netty_transport_native_epoll_x86_64.so'


def left_out(source, title, why):
    LEFT_OUT.append((source, title, why))


def add(case):
    assert all(case.folder != other.folder for other in CASES), case.folder
    CASES.append(case)


def rocksdb_library(path=ROCKSDB_SO):
    return (path, 6 * MIB, 200 << 10)


# --- metrics pages --------------------------------------------------------------------------


class Store:
    """What one column family or one Streams store says of itself. None: not exported."""

    names = (('capacity', 'block_cache_capacity'), ('usage', 'block_cache_usage'), ('pinned', 'block_cache_pinned_usage'),
             ('memtables', 'size_all_mem_tables'), ('cur_memtables', 'cur_size_all_mem_tables'),
             ('readers', 'estimate_table_readers_mem'), ('live', 'estimate_live_data_size'),
             ('sst', 'total_sst_files_size'), ('flush_pending', 'mem_table_flush_pending'),
             ('write_stopped', 'is_write_stopped'), ('delayed_rate', 'actual_delayed_write_rate'))

    def __init__(self, owner, name, subtask=0, tickers=(), kind='rocksdb_state_id', thread=1, **numbers):
        self.owner, self.name, self.subtask, self.tickers, self.kind = owner, name, subtask, tickers, kind
        self.thread, self.numbers = thread, numbers
        unknown = set(numbers) - {key for key, _ in self.names}
        assert not unknown, unknown


def labels_of(pairs):
    return '{' + ','.join(f'{key}="{value}"' for key, value in pairs) + '}'


def flink_page(gauges, stores, role='taskmanager'):
    """As org.apache.flink.metrics.prometheus.PrometheusReporter prints it, reduced to what is read."""
    common = [('host', '10_0_3_17'), ('tm_id', '10_0_3_17:40001_37a4a1')] if role == 'taskmanager' else [
        ('host', '10_0_3_16')]
    lines = [f'flink_{role}_Status_{name}{labels_of(common)} {java_double(value)}' for name, value in gauges]
    for store in stores:
        of = labels_of(common + [('job_name', 'orders'), ('task_name', store.owner), ('operator_name', store.owner),
                                 ('subtask_index', store.subtask)])
        for key, name in store.names:
            if store.numbers.get(key) is not None:
                lines.append(f'flink_taskmanager_job_task_operator_{store.name}_rocksdb_{name}{of} '
                             f'{java_double(store.numbers[key])}')
        lines += [f'flink_taskmanager_job_task_operator_{store.name}_rocksdb_{name}{of} {java_double(value)}'
                  for name, value in store.tickers]
    return '\n'.join(lines) + '\n'


def jmx_page(gauges, stores):
    """jmx_exporter's default names, reduced."""
    lines = [f'{name} {java_double(value)}' for name, value in gauges]
    for store in stores:
        of = labels_of([(store.kind, store.name), ('task_id', store.owner),
                        ('thread_id', f'app-StreamThread-{store.thread}')])
        for key, name in store.names:
            if store.numbers.get(key) is not None:
                lines.append(f'kafka_streams_stream_state_metrics_{name}{of} {java_double(store.numbers[key])}')
    return '\n'.join(lines) + '\n'


# --- pods -----------------------------------------------------------------------------------


def conf_text(conf, legacy):
    if legacy:
        return ''.join(f'{key}: {value}\n' for key, value in conf.items())
    return ''.join(f'{key}: "{value}"\n' for key, value in conf.items())


def jvm_options(pod):
    words = []
    if pod.get('nmt'):
        words.append('-XX:NativeMemoryTracking=summary')
    return words


REPORTER = {'metrics.reporter.prom.factory.class': 'org.apache.flink.metrics.prometheus.PrometheusReporterFactory',
            'metrics.reporter.prom.port': '9249'}


def flink_case(role, folder, title, version, parts, conf, options, main_class, dynamic, stores, reporter, gauges, given):
    legacy = tuple(int(n) for n in version.split('.')[:2]) < (1, 19)
    given.setdefault('limit', parts['process'])
    given.setdefault('xmx', parts['heap'])
    given.setdefault('metaspace_max', parts['metaspace'])
    given.setdefault('allocator', 'jemalloc')
    if given['allocator'] == 'jemalloc':
        given.setdefault('environ', 'LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2\n')
    given.setdefault('libraries', ())
    given['libraries'] = [(NETTY_SO, 64 << 10, 8 << 10), *given['libraries']]
    words = ['java', *options, '-XX:+UseG1GC', *jvm_options(given), f'-Dlog.file={RED}', f'-Dlog4j.configurationFile={RED}',
             '-classpath', f'flink-cep-{version}.jar:flink-connector-files-{version}.jar:flink-dist-{version}.jar', main_class,
             '--configDir', '/opt/flink/conf']
    for key, value in dynamic:
        words += ['-D', f'{key}={value}']
    given['cmdline'] = words
    if conf is not None:
        conf = dict(conf)
        if reporter:
            conf.update(REPORTER)
        given['conf'] = conf_text(conf, legacy)
        given['conf_name'] = 'flink-conf.yaml' if legacy else 'config.yaml'
    if reporter:
        given['metrics'] = flink_page(gauges(given), stores, role)
    elif conf is not None:
        given['metrics_gap'] = ('http/metrics', None, 'unsupported',
                                'no metrics reporter in the configuration, and no Java agent serves metrics')
    else:
        given['metrics_gap'] = ('http/metrics.0', None, 'gone', 'http://127.0.0.1:9249/metrics: connection refused')
    add(Case(folder, title, **given))


def taskmanager(folder, title, version, shape, slots=1, conf=(), stores=(), reporter=True, managed_used=None, gauges=(),
                **given):
    """`shape`: what Flink derives the sizes from. `conf`: further options; None: the file could not be read."""
    parts = flink.taskmanager(**shape)
    given.setdefault('max_direct', parts['direct'])
    given.setdefault('direct', parts['network'] + 6 * MIB)
    given.setdefault('heap', parts['heap'] * 4 // 5)
    options = [f'-Xmx{parts["heap"]}', f'-Xms{parts["heap"]}', f'-XX:MaxDirectMemorySize={parts["direct"]}',
               f'-XX:MaxMetaspaceSize={parts["metaspace"]}']
    memory = 'taskmanager.memory.'
    dynamic = [(memory + 'network.min', f'{parts["network"]}b'), ('taskmanager.cpu.cores', f'{float(slots)}'),
               (memory + 'task.off-heap.size', f'{parts["task.off-heap"]}b'),
               (memory + 'jvm-metaspace.size', f'{parts["metaspace"]}b'),
               (memory + 'jvm-overhead.min', f'{parts["overhead"]}b'),
               (memory + 'framework.off-heap.size', f'{parts["framework.off-heap"]}b'),
               (memory + 'network.max', f'{parts["network"]}b'),
               (memory + 'framework.heap.size', f'{parts["framework.heap"]}b'),
               (memory + 'managed.size', f'{parts["managed"]}b'), (memory + 'task.heap.size', f'{parts["task.heap"]}b'),
               ('taskmanager.numberOfTaskSlots', slots), (memory + 'jvm-overhead.max', f'{parts["overhead"]}b')]
    if conf is not None:
        full = {f'taskmanager.memory.{key}': value for key, value in
                (('process.size', shape.get('process')), ('flink.size', shape.get('flink')),
                 ('managed.fraction', shape.get('managed_fraction'))) if value is not None}
        full['taskmanager.numberOfTaskSlots'] = slots
        full.update(dict(conf))
        conf = full

    def page(pod):
        metaspace = -(-pod.get('metaspace', Case.plain['metaspace']) // 65536) * 65536
        used = pod.get('heap_used') or pod['heap'] * 7 // 10
        return [('JVM_Memory_Heap_Used', used), ('JVM_Memory_Heap_Committed', parts['heap']),
                ('JVM_Memory_Heap_Max', parts['heap']), ('JVM_Memory_Metaspace_Used', metaspace * 98 // 100),
                ('JVM_Memory_Metaspace_Committed', metaspace), ('JVM_Memory_Metaspace_Max', parts['metaspace']),
                ('JVM_Memory_Direct_MemoryUsed', pod['direct']), ('JVM_Memory_Direct_TotalCapacity', pod['direct']),
                ('JVM_Memory_Direct_Count', pod['direct'] // 32768), ('JVM_Threads_Count', pod.get('threads', 60) - 14),
                ('JVM_ClassLoader_ClassesLoaded', pod.get('classes', 9000)),
                ('Flink_Memory_Managed_Used', parts['managed'] if managed_used is None else managed_used),
                ('Flink_Memory_Managed_Total', parts['managed']), ('Shuffle_Netty_TotalMemory', parts['network']),
                ('Shuffle_Netty_UsedMemory', parts['network'] // 20), *gauges]

    flink_case('taskmanager', folder, title, version, parts, conf, options,
               'org.apache.flink.runtime.taskexecutor.TaskManagerRunner', dynamic, stores, reporter, page, given)
    return parts


def jobmanager(folder, title, version, shape, conf=(), reporter=True, gauges=(), **given):
    parts = flink.jobmanager(**shape)
    given.setdefault('heap', parts['heap'] * 3 // 5)
    given.setdefault('direct', 12 * MIB)
    options = [f'-Xmx{parts["heap"]}', f'-Xms{parts["heap"]}', f'-XX:MaxMetaspaceSize={parts["metaspace"]}']
    memory = 'jobmanager.memory.'
    dynamic = [(memory + 'off-heap.size', f'{parts["off-heap"]}b'), (memory + 'jvm-overhead.min', f'{parts["overhead"]}b'),
               (memory + 'jvm-metaspace.size', f'{parts["metaspace"]}b'), (memory + 'heap.size', f'{parts["heap"]}b'),
               (memory + 'jvm-overhead.max', f'{parts["overhead"]}b')]
    if conf is not None:
        conf = {'jobmanager.memory.process.size': shape['process'], **dict(conf)}

    def page(pod):
        metaspace = -(-pod.get('metaspace', Case.plain['metaspace']) // 65536) * 65536
        return [('JVM_Memory_Heap_Used', pod.get('heap_used') or pod['heap'] * 7 // 10), ('JVM_Memory_Heap_Max', parts['heap']),
                ('JVM_Memory_Metaspace_Used', metaspace * 98 // 100), ('JVM_Memory_Metaspace_Committed', metaspace),
                ('JVM_Memory_Metaspace_Max', parts['metaspace']), ('JVM_Memory_Direct_MemoryUsed', pod['direct']), *gauges]

    flink_case('jobmanager', folder, title, version, parts, conf, options,
               'org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint', dynamic, (), reporter, page, given)
    return parts


def java_case(folder, title, jars, main_class, xmx_option, agent, stores, given):
    options = ([xmx_option] if xmx_option else []) + [f'-XX:+Use{given.get("gc", "G1")}GC'] + list(given.pop('options', ()))
    options += jvm_options(given)
    if agent:
        options.append('-javaagent:jmx_prometheus_javaagent.jar=9404')
        metaspace = -(-given.get('metaspace', Case.plain['metaspace']) // 65536) * 65536
        heap = given.get('heap', Case.plain['heap'])
        gauges = [('java_lang_Memory_HeapMemoryUsage_used', given.get('heap_used') or heap * 7 // 10),
                  ('java_lang_Memory_HeapMemoryUsage_max', given.get('xmx', Case.plain['xmx'])),
                  ('java_lang_Metaspace_Usage_used{type="MemoryPool"}', metaspace * 98 // 100),
                  ('java_lang_Metaspace_Usage_committed{type="MemoryPool"}', metaspace),
                  ('java_nio_direct_MemoryUsed{type="BufferPool"}', given.get('direct', Case.plain['direct'])),
                  ('java_nio_direct_TotalCapacity{type="BufferPool"}', given.get('direct', Case.plain['direct'])),
                  ('java_lang_Threading_ThreadCount', given.get('threads', 60) - 14)]
        given['metrics'] = jmx_page(gauges, stores)
    else:
        given['metrics_gap'] = ('http/metrics', None, 'unsupported',
                                'neither a jmx_exporter nor a Jolokia agent is on the command line')
    given['cmdline'] = ['java', *options, '-cp', jars, main_class]
    add(Case(folder, title, **given))


def streams(folder, title, version='3.7.1', rocksdb='7.9.2', xmx_option=None, agent=True, stores=(), instances=None, **given):
    """`instances`: (task, store) of each open RocksDB, as directories of state.dir."""
    if rocksdb:
        given['libraries'] = [rocksdb_library('/tmp/librocksdbjni2184.so'), *given.get('libraries', ())]
    if instances:
        given['state_dirs'] = ''.join(f'data/kafka-streams/app/{task}/rocksdb/{store}/CURRENT\n' for task, store in instances)
    java_case(folder, title, f'app.jar:kafka-clients-{version}.jar:kafka-streams-{version}.jar:rocksdbjni-{rocksdb}.jar',
              'com.example.orders.StreamsApp', xmx_option, agent, stores, given)


def java(folder, title, main_class='com.example.Server', jars='server.jar', xmx_option=None, agent=False, stores=(), **given):
    java_case(folder, title, jars, main_class, xmx_option, agent, stores, given)
