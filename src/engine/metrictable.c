/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/metrictable.h"

/* Names of java_* may hold one '*', and are compared without case (jmx_exporter's lowercaseOutputName). */
struct gauge_rule {
	struct str name;
	const char *label, *value; /* this label has this value; a trailing '*' in value is a prefix. NULL: any */
	const char *without;       /* and this label is absent */
	enum gauge_family family;
	enum gauge_field field;
	bool sum;
};

#define N(literal)                             \
	{                                      \
		(literal), sizeof(literal) - 1 \
	}
#define FLINK(name, field)                                            \
	{                                                             \
		N(name), NULL, NULL, NULL, GAUGES_FLINK, field, false \
	}
#define JVM(name, label, value, field)                                \
	{                                                             \
		N(name), label, value, NULL, GAUGES_JVM, field, false \
	}
#define JVM_SUM(name, label, value, field)                           \
	{                                                            \
		N(name), label, value, NULL, GAUGES_JVM, field, true \
	}
#define OLD(name, label, value, field)                                    \
	{                                                                 \
		N(name), label, value, NULL, GAUGES_JVM_OLD, field, false \
	}
#define OLD_SUM(name, label, value, field)                               \
	{                                                                \
		N(name), label, value, NULL, GAUGES_JVM_OLD, field, true \
	}
#define JMX(name, field)                                                  \
	{                                                                 \
		N(name), NULL, NULL, NULL, GAUGES_JAVA_LANG, field, false \
	}
#define JMX_SUM(name, field)                                             \
	{                                                                \
		N(name), NULL, NULL, NULL, GAUGES_JAVA_LANG, field, true \
	}
#define JMX_POOL(name, pool, field)                                         \
	{                                                                   \
		N(name), "name", pool, NULL, GAUGES_JAVA_LANG, field, false \
	}
#define JMX_POOL_SUM(name, pool, field)                                    \
	{                                                                  \
		N(name), "name", pool, NULL, GAUGES_JAVA_LANG, field, true \
	}

/*
 * Flink's reporter (MetricUtils, prometheus reporter), whose "flink_taskmanager_" or "flink_jobmanager_" is taken
 * off; then the agents' own pages for the rest.
 */
static const struct gauge_rule gauge_rules[] = {
	FLINK("Status_JVM_Memory_Heap_Used", GAUGE_HEAP_USED),
	FLINK("Status_JVM_Memory_Heap_Committed", GAUGE_HEAP_COMMITTED),
	FLINK("Status_JVM_Memory_Heap_Max", GAUGE_HEAP_MAX),
	FLINK("Status_JVM_Memory_Metaspace_Used", GAUGE_METASPACE_USED),
	FLINK("Status_JVM_Memory_Metaspace_Committed", GAUGE_METASPACE_COMMITTED),
	FLINK("Status_JVM_Memory_Metaspace_Max", GAUGE_METASPACE_MAX),
	FLINK("Status_JVM_Memory_Direct_MemoryUsed", GAUGE_DIRECT_USED),
	FLINK("Status_JVM_Memory_Direct_TotalCapacity", GAUGE_DIRECT_CAPACITY),
	FLINK("Status_JVM_Memory_Direct_Count", GAUGE_DIRECT_COUNT),
	FLINK("Status_JVM_Memory_Mapped_MemoryUsed", GAUGE_MAPPED_USED),
	FLINK("Status_JVM_Threads_Count", GAUGE_THREADS),
	FLINK("Status_JVM_ClassLoader_ClassesLoaded", GAUGE_CLASSES),
	FLINK("Status_Flink_Memory_Managed_Used", GAUGE_MANAGED_USED),
	FLINK("Status_Flink_Memory_Managed_Total", GAUGE_MANAGED_TOTAL),
	FLINK("Status_Shuffle_Netty_UsedMemory", GAUGE_NETWORK_USED),
	FLINK("Status_Shuffle_Netty_TotalMemory", GAUGE_NETWORK_TOTAL),
	FLINK("Status_Shuffle_Netty_AvailableMemory", GAUGE_NETWORK_AVAILABLE),

	/*
	 * client_java 1.x (jmx_exporter 1.x) and Micrometer: the same names; Micrometer has one series a pool,
	 * with label id.
	 */
	JVM_SUM("jvm_memory_used_bytes", "area", "heap", GAUGE_HEAP_USED),
	JVM_SUM("jvm_memory_committed_bytes", "area", "heap", GAUGE_HEAP_COMMITTED),
	{ N("jvm_memory_max_bytes"), "area", "heap", "id", GAUGES_JVM, GAUGE_HEAP_MAX, false },
	JVM("jvm_memory_pool_used_bytes", "pool", "Metaspace", GAUGE_METASPACE_USED),
	JVM("jvm_memory_pool_committed_bytes", "pool", "Metaspace", GAUGE_METASPACE_COMMITTED),
	JVM("jvm_memory_pool_max_bytes", "pool", "Metaspace", GAUGE_METASPACE_MAX),
	JVM_SUM("jvm_memory_pool_used_bytes", "pool", "Code*", GAUGE_CODE_USED),
	JVM_SUM("jvm_memory_pool_committed_bytes", "pool", "Code*", GAUGE_CODE_COMMITTED),
	JVM("jvm_memory_used_bytes", "id", "Metaspace", GAUGE_METASPACE_USED),
	JVM("jvm_memory_committed_bytes", "id", "Metaspace", GAUGE_METASPACE_COMMITTED),
	JVM("jvm_memory_max_bytes", "id", "Metaspace", GAUGE_METASPACE_MAX),
	JVM_SUM("jvm_memory_used_bytes", "id", "Code*", GAUGE_CODE_USED),
	JVM_SUM("jvm_memory_committed_bytes", "id", "Code*", GAUGE_CODE_COMMITTED),
	JVM("jvm_buffer_pool_used_bytes", "pool", "direct", GAUGE_DIRECT_USED),
	JVM("jvm_buffer_pool_capacity_bytes", "pool", "direct", GAUGE_DIRECT_CAPACITY),
	JVM("jvm_buffer_pool_used_buffers", "pool", "direct", GAUGE_DIRECT_COUNT),
	JVM("jvm_buffer_pool_used_bytes", "pool", "mapped", GAUGE_MAPPED_USED),
	JVM("jvm_buffer_memory_used_bytes", "id", "direct", GAUGE_DIRECT_USED),
	JVM("jvm_buffer_total_capacity_bytes", "id", "direct", GAUGE_DIRECT_CAPACITY),
	JVM("jvm_buffer_count_buffers", "id", "direct", GAUGE_DIRECT_COUNT),
	JVM("jvm_buffer_memory_used_bytes", "id", "mapped", GAUGE_MAPPED_USED),
	JVM("jvm_threads_current", NULL, NULL, GAUGE_THREADS),
	JVM("jvm_threads_live_threads", NULL, NULL, GAUGE_THREADS),
	JVM("jvm_classes_currently_loaded", NULL, NULL, GAUGE_CLASSES),
	JVM("jvm_classes_loaded_classes", NULL, NULL, GAUGE_CLASSES),

	/* simpleclient 0.x (jmx_exporter 0.x). */
	OLD("jvm_memory_bytes_used", "area", "heap", GAUGE_HEAP_USED),
	OLD("jvm_memory_bytes_committed", "area", "heap", GAUGE_HEAP_COMMITTED),
	OLD("jvm_memory_bytes_max", "area", "heap", GAUGE_HEAP_MAX),
	OLD("jvm_memory_pool_bytes_used", "pool", "Metaspace", GAUGE_METASPACE_USED),
	OLD("jvm_memory_pool_bytes_committed", "pool", "Metaspace", GAUGE_METASPACE_COMMITTED),
	OLD("jvm_memory_pool_bytes_max", "pool", "Metaspace", GAUGE_METASPACE_MAX),
	OLD_SUM("jvm_memory_pool_bytes_used", "pool", "Code*", GAUGE_CODE_USED),
	OLD_SUM("jvm_memory_pool_bytes_committed", "pool", "Code*", GAUGE_CODE_COMMITTED),
	OLD("jvm_classes_loaded", NULL, NULL, GAUGE_CLASSES),

	/*
	 * java.lang and java.nio MBeans with jmx_exporter's default names: the first key of the ObjectName goes
	 * into the name.
	 */
	JMX("java_lang_Memory_HeapMemoryUsage_used", GAUGE_HEAP_USED),
	JMX("java_lang_Memory_HeapMemoryUsage_committed", GAUGE_HEAP_COMMITTED),
	JMX("java_lang_Memory_HeapMemoryUsage_max", GAUGE_HEAP_MAX),
	JMX("java_lang_Metaspace_Usage_used", GAUGE_METASPACE_USED),
	JMX("java_lang_Metaspace_Usage_committed", GAUGE_METASPACE_COMMITTED),
	JMX("java_lang_Metaspace_Usage_max", GAUGE_METASPACE_MAX),
	JMX_SUM("java_lang_CodeHeap_*_Usage_used", GAUGE_CODE_USED),
	JMX_SUM("java_lang_CodeHeap_*_Usage_committed", GAUGE_CODE_COMMITTED),
	JMX_SUM("java_lang_CodeCache_Usage_used", GAUGE_CODE_USED),
	JMX_SUM("java_lang_CodeCache_Usage_committed", GAUGE_CODE_COMMITTED),
	JMX("java_nio_direct_MemoryUsed", GAUGE_DIRECT_USED),
	JMX("java_nio_direct_TotalCapacity", GAUGE_DIRECT_CAPACITY),
	JMX("java_nio_direct_Count", GAUGE_DIRECT_COUNT),
	JMX("java_nio_mapped_MemoryUsed", GAUGE_MAPPED_USED),
	JMX("java_lang_Threading_ThreadCount", GAUGE_THREADS),
	JMX("java_lang_ClassLoading_LoadedClassCount", GAUGE_CLASSES),
	/* The same where the rules put the type first. */
	JMX_POOL("java_lang_MemoryPool_Usage_used", "Metaspace", GAUGE_METASPACE_USED),
	JMX_POOL("java_lang_MemoryPool_Usage_committed", "Metaspace", GAUGE_METASPACE_COMMITTED),
	JMX_POOL("java_lang_MemoryPool_Usage_max", "Metaspace", GAUGE_METASPACE_MAX),
	JMX_POOL_SUM("java_lang_MemoryPool_Usage_used", "Code*", GAUGE_CODE_USED),
	JMX_POOL_SUM("java_lang_MemoryPool_Usage_committed", "Code*", GAUGE_CODE_COMMITTED),
	JMX_POOL("java_nio_BufferPool_MemoryUsed", "direct", GAUGE_DIRECT_USED),
	JMX_POOL("java_nio_BufferPool_TotalCapacity", "direct", GAUGE_DIRECT_CAPACITY),
	JMX_POOL("java_nio_BufferPool_Count", "direct", GAUGE_DIRECT_COUNT),
	JMX_POOL("java_nio_BufferPool_MemoryUsed", "mapped", GAUGE_MAPPED_USED),
};

/* Prefixes of a store's properties; the scheme is the index. Flink's needs more: see flink_property(). */
static const char *const store_prefixes[METRIC_SCHEMES] = {
	"flink_taskmanager_job_task_operator_",
	"kafka_streams_stream_state_metrics_", /* jmx_exporter's default names, Confluent's rules */
	"kafka_stream_state_",                 /* Micrometer */
	"kafka_streams_state_",                /* jmx_exporter's example: no labels */
};

static const char *const kept_labels[] = {
	"host",
	"tm_id",
	"job_id",
	"job_name",
	"task_id",
	"task_name",
	"task_attempt_num",
	"operator_id",
	"operator_name",
	"subtask_index",
	"column_family",
	"slot",
	"slot_id",
	"thread_id",
	"client_id",
	"area",
	"pool",
	"id",
	"name",
	"type",
	"rocksdb_state_id",
	"rocksdb_window_state_id",
	"rocksdb_session_state_id",
	"in_memory_state_id",
	"in_memory_window_state_id",
	"in_memory_session_state_id",
};

/* Labels that name a Streams store. */
static const struct {
	const char *label;
	enum store_kind kind;
} store_labels[] = { { "rocksdb_state_id", STORE_KV },
		     { "rocksdb_window_state_id", STORE_WINDOW },
		     { "rocksdb_session_state_id", STORE_SESSION } };

/* org.rocksdb.TickerType in lower case, as Flink's RocksDBNativeMetricMonitor names them; its options say "compaction". */
static const char *const ticker_names[] = {
	"block_cache_hit",
	"block_cache_miss",
	"bloom_filter_useful",
	"bloom_filter_full_positive",
	"bloom_filter_full_true_positive",
	"bytes_read",
	"iter_bytes_read",
	"bytes_written",
	"compact_read_bytes",
	"compact_write_bytes",
	"compaction_read_bytes",
	"compaction_write_bytes",
	"stall_micros",
};

static char fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_bytes(struct str a, struct str b, bool any_case)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++)
		if (any_case ? fold(a.ptr[i]) != fold(b.ptr[i]) : a.ptr[i] != b.ptr[i])
			return false;
	return true;
}

static bool name_matches(struct str pattern, struct str name, bool any_case)
{
	/* Most rules fall by their length; a pattern's name is never shorter than it. */
	if (name.len + 1 < pattern.len)
		return false;
	size_t star = any_case ? str_index(pattern, '*') : pattern.len;
	if (star == pattern.len)
		return same_bytes(pattern, name, any_case);
	struct str head = { pattern.ptr, star }, tail = str_skip(pattern, star + 1);
	return name.len >= head.len + tail.len && same_bytes(head, (struct str){ name.ptr, head.len }, any_case) &&
	       same_bytes(tail, (struct str){ name.ptr + name.len - tail.len, tail.len }, any_case);
}

static bool value_matches(const char *pattern, struct str value)
{
	struct str want = str_of(pattern);
	if (want.len && want.ptr[want.len - 1] == '*')
		return str_starts(value, (struct str){ want.ptr, want.len - 1 });
	return str_eq(value, want);
}

static bool labels_match(const struct gauge_rule *rule, const struct prom_sample *sample)
{
	struct str value;
	if (rule->without && prom_label(sample, str_of(rule->without), &value))
		return false;
	return !rule->label || (prom_label(sample, str_of(rule->label), &value) && value_matches(rule->value, value));
}

/* The name as the rules have it, and the families it can belong to. */
static struct str rule_name(struct str name, bool *ret_flink)
{
	*ret_flink = str_take(&name, STR("flink_taskmanager_")) || str_take(&name, STR("flink_jobmanager_"));
	return name;
}

static const struct gauge_rule *find_rule(struct str name, const struct prom_sample *sample)
{
	bool flink;
	name = rule_name(name, &flink);
	for (size_t i = 0; i < sizeof gauge_rules / sizeof *gauge_rules; i++) {
		const struct gauge_rule *rule = &gauge_rules[i];
		if ((rule->family == GAUGES_FLINK) == flink &&
		    name_matches(rule->name, name, rule->family == GAUGES_JAVA_LANG) &&
		    (!sample || labels_match(rule, sample)))
			return rule;
	}
	return NULL;
}

/* "<state>_rocksdb_<property>", "column_family_rocksdb_<property>" or "rocksdb_<property>". */
static bool flink_property(struct str rest, enum rocksdb_property *ret_property, struct str *ret_state)
{
	static const struct str mark = { "rocksdb_", 8 };
	/* A state may be named "..._rocksdb_...": the last mark counts. */
	for (size_t at = rest.len; at-- > 0;) {
		struct str tail = str_skip(rest, at);
		if (!str_starts(tail, mark) || (at > 0 && rest.ptr[at - 1] != '_'))
			continue;
		if (!rocksdb_property_find(str_skip(tail, mark.len), ret_property))
			return false;
		*ret_state = (struct str){ rest.ptr, at ? at - 1 : 0 };
		return true;
	}
	return false;
}

static bool find_store(struct str name, struct metric_use *use)
{
	for (unsigned i = 0; i < METRIC_SCHEMES; i++) {
		struct str rest = name;
		if (!str_take(&rest, str_of(store_prefixes[i])))
			continue;
		use->scheme = i;
		use->state = (struct str){ "", 0 };
		if (i == 0 ? flink_property(rest, &use->property, &use->state)
			   : rocksdb_property_find(rest, &use->property))
			return true;
	}
	return false;
}

bool metric_is_ticker_of(struct str name, struct str ticker)
{
	if (!str_take(&name, str_of(store_prefixes[0])) || !str_ends(name, ticker))
		return false;
	name.len -= ticker.len;
	return str_eq(name, STR("rocksdb_")) || str_ends(name, STR("_rocksdb_"));
}

bool metric_is_ticker(struct str name)
{
	for (size_t i = 0; i < sizeof ticker_names / sizeof *ticker_names; i++)
		if (metric_is_ticker_of(name, str_of(ticker_names[i])))
			return true;
	return false;
}

static bool may_be_used(struct str name)
{
	return str_starts(name, STR("flink_")) || str_starts(name, STR("jvm_")) || str_starts(name, STR("java_")) ||
	       str_starts(name, STR("kafka_stream")) || str_starts(name, STR("kafka_consumer_"));
}

void metric_use(const struct prom_sample *sample, struct metric_use *ret_use)
{
	struct metric_use use = { .kind = METRIC_UNUSED };
	if (may_be_used(sample->name)) {
		const struct gauge_rule *rule = find_rule(sample->name, sample);
		if (rule) {
			use.kind = METRIC_GAUGE;
			use.family = rule->family;
			use.field = rule->field;
			use.sum = rule->sum;
		} else if (find_store(sample->name, &use)) {
			/* Stores in memory have iterators too. */
			bool ours = use.property != ROCKSDB_OPEN_ITERATORS || metric_store_id(sample, &use).kind;
			use.kind = ours ? METRIC_STORE : METRIC_UNUSED;
		} else if (metric_is_ticker(sample->name)) {
			use.kind = METRIC_TICKER;
		} else if (context_find(sample->name) && !context_is_part(sample)) {
			use.kind = METRIC_CONTEXT;
		}
	}
	*ret_use = use;
}

bool metric_name_is_used(struct str name)
{
	struct metric_use use;
	return may_be_used(name) &&
	       (find_rule(name, NULL) || find_store(name, &use) || metric_is_ticker(name) || context_find(name));
}

bool metric_label_is_kept(struct str name)
{
	for (size_t i = 0; i < sizeof kept_labels / sizeof *kept_labels; i++)
		if (str_eq(name, str_of(kept_labels[i])))
			return true;
	return false;
}

static struct str label(const struct prom_sample *sample, const char *name)
{
	struct str value = { "", 0 };
	(void)prom_label(sample, str_of(name), &value);
	return value;
}

struct store_id metric_store_id(const struct prom_sample *sample, const struct metric_use *use)
{
	struct store_id id = { 0 };
	if (use->scheme == 0) {
		id.job = label(sample, "job_id");
		if (!id.job.len)
			id.job = label(sample, "job_name");
		id.vertex = label(sample, "task_id");
		if (!id.vertex.len)
			id.vertex = label(sample, "task_name");
		id.subtask = label(sample, "subtask_index");
		id.op_id = label(sample, "operator_id");
		id.op_name = label(sample, "operator_name");
		id.attempt = label(sample, "task_attempt_num");
		id.store = str_eq(use->state, STR("column_family")) ? label(sample, "column_family") : use->state;
		return id;
	}
	id.thread = label(sample, "thread_id");
	if (!id.thread.len)
		id.thread = label(sample, "client_id");
	id.task = label(sample, "task_id");
	for (size_t i = 0; i < sizeof store_labels / sizeof *store_labels && !id.store.len; i++) {
		id.store = label(sample, store_labels[i].label);
		id.kind = id.store.len ? store_labels[i].kind : STORE_KIND_UNREAD;
	}
	return id;
}
