/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/flinkbudget.h"

#include "base/units.h"
#include "engine/args.h"

#include <inttypes.h>
#include <stdio.h>

/* "key=value" of this key, under its current or an older name. */
static bool take_pair(struct str pair, const char *key, struct str *ret_value)
{
	size_t at = str_index(pair, '=');
	if (at == pair.len || !str_eq(flinkconf_current_key((struct str){ pair.ptr, at }), str_of(key)))
		return false;
	*ret_value = str_trim(str_skip(pair, at + 1));
	return true;
}

static bool find_in_cmdline(struct str cmdline, const char *key, struct str *ret_value)
{
	struct str main_class;
	struct str rest = args_program(cmdline, &main_class), argument;
	bool found = false, after_d = false;
	while (args_next(&rest, &argument)) {
		struct str value, pair = argument;
		bool option = after_d || str_take(&pair, STR("-D"));
		after_d = !after_d && str_eq(argument, STR("-D"));
		if (option && take_pair(pair, key, &value)) {
			*ret_value = value;
			found = true;
		}
	}
	return found;
}

static bool find_set(struct str cmdline, const struct flinkconf *conf, const char *key, struct str *ret_value,
		     char ret_where[64])
{
	if (find_in_cmdline(cmdline, key, ret_value))
		return true;
	const struct flinkconf_entry *entry = flinkconf_find(conf, key, ret_where);
	if (entry)
		*ret_value = entry->value;
	return entry != NULL;
}

bool flink_option(struct str cmdline, const struct flinkconf *conf, const char *key, struct str *ret_value,
		  char ret_where[64])
{
	struct str value;
	char where[64] = "command line";
	if (!find_set(cmdline, conf, key, &value, where) || value.len == 0 || str_eq(value, STR(FLINKCONF_REDACTED)))
		return false;
	*ret_value = value;
	memcpy(ret_where, where, sizeof where);
	return true;
}

bool flink_option_is_hidden(struct str cmdline, const struct flinkconf *conf, const char *key)
{
	struct str value;
	return find_set(cmdline, conf, key, &value, NULL) && str_eq(value, STR(FLINKCONF_REDACTED));
}

/* Where options are looked up, and who is told. */
struct lookup {
	struct str cmdline;
	const struct flinkconf *conf;
	struct engine_notes *notes;
};

static bool option(const struct lookup *look, const char *key, struct str *ret_value, char ret_where[64])
{
	if (!flink_option(look->cmdline, look->conf, key, ret_value, ret_where))
		return false;
	engine_setting(look->notes, str_of(key), *ret_value, ret_where);
	return true;
}

static void bad_value(const struct lookup *look, const char *key, struct str value, const char *where, const char *want)
{
	char shown[40];
	str_copy(shown, sizeof shown, value);
	engine_note(look->notes, "engine/settings", ERR_MALFORMED, "%s (%s): '%s' is no %s", key, where, shown, want);
}

static struct qty size_option(const struct lookup *look, const char *key)
{
	struct str value;
	char where[64];
	uint64_t bytes;
	if (!option(look, key, &value, where))
		return (struct qty){ 0 };
	if (units_parse_flink(value, &bytes) && bytes <= INT64_MAX)
		return qty_measured(bytes);
	bad_value(look, key, value, where, "size");
	return (struct qty){ 0 };
}

/* Two options that Flink sets to one value when it has decided; before that they are a range and no figure. */
static struct qty pinned_option(const struct lookup *look, const char *min_key, const char *max_key)
{
	struct qty min = size_option(look, min_key), max = size_option(look, max_key);
	if (!qty_known(min) || !qty_known(max))
		return (struct qty){ 0 };
	if (min.bytes == max.bytes)
		return min;
	engine_note(look->notes, "engine/budget", ERR_UNSUPPORTED,
		    "%s is %" PRIu64 " and %s %" PRIu64 ": a range, no budget", min_key, min.bytes, max_key, max.bytes);
	return (struct qty){ 0 };
}

static struct count count_option(const struct lookup *look, const char *key)
{
	struct str value;
	char where[64];
	uint64_t n;
	if (!option(look, key, &value, where))
		return (struct count){ 0 };
	if (str_is_u64(value, &n) && n > 0 && n <= 1000000)
		return count_of(n);
	bad_value(look, key, value, where, "count");
	return (struct count){ 0 };
}

void flinkbudget_sum(struct flink_budget *budget)
{
	budget->heap_bytes = qty_add(budget->framework_heap_bytes, budget->task_heap_bytes);
	budget->direct_bytes =
		qty_add(qty_add(budget->framework_off_heap_bytes, budget->task_off_heap_bytes), budget->network_bytes);
	budget->flink_bytes = qty_add(qty_add(budget->heap_bytes, budget->direct_bytes), budget->managed_bytes);
	budget->process_bytes = qty_add(qty_add(budget->flink_bytes, budget->metaspace_bytes), budget->overhead_bytes);
}

/* The last JVM option with this prefix before the main class. */
static bool jvm_size(struct str cmdline, struct str prefix, uint64_t *ret_bytes)
{
	struct str main_class;
	struct str program = args_program(cmdline, &main_class);
	struct str rest = { cmdline.ptr, program.len ? (size_t)(program.ptr - cmdline.ptr) : cmdline.len }, argument;
	bool found = false;
	while (args_next(&rest, &argument))
		if (str_take(&argument, prefix))
			found = units_parse_jvm(argument, ret_bytes);
	return found;
}

static void check_flag(const struct lookup *look, struct str flag, struct qty budget, const char *parts)
{
	uint64_t bytes;
	if (!qty_known(budget) || !jvm_size(look->cmdline, flag, &bytes) || bytes == budget.bytes)
		return;
	engine_note(look->notes, "engine/budget", ERR_MALFORMED,
		    "%.*s is %" PRIu64 " but %s is %" PRIu64 ": the JVM was not started with the budget Flink computed",
		    (int)flag.len, flag.ptr, bytes, parts, budget.bytes);
}

static void read_taskmanager(const struct lookup *look, struct flink_budget *budget)
{
	budget->framework_heap_bytes = size_option(look, "taskmanager.memory.framework.heap.size");
	budget->task_heap_bytes = size_option(look, "taskmanager.memory.task.heap.size");
	budget->framework_off_heap_bytes = size_option(look, "taskmanager.memory.framework.off-heap.size");
	budget->task_off_heap_bytes = size_option(look, "taskmanager.memory.task.off-heap.size");
	budget->network_bytes = pinned_option(look, "taskmanager.memory.network.min", "taskmanager.memory.network.max");
	budget->managed_bytes = size_option(look, "taskmanager.memory.managed.size");
	budget->metaspace_bytes = size_option(look, "taskmanager.memory.jvm-metaspace.size");
	budget->overhead_bytes =
		pinned_option(look, "taskmanager.memory.jvm-overhead.min", "taskmanager.memory.jvm-overhead.max");
	budget->n_slots = count_option(look, "taskmanager.numberOfTaskSlots");
	flinkbudget_sum(budget);
	check_flag(look, STR("-XX:MaxDirectMemorySize="), budget->direct_bytes, "framework + task off-heap + network");
	check_flag(look, STR("-Xmx"), budget->heap_bytes, "framework + task heap");
	check_flag(look, STR("-XX:MaxMetaspaceSize="), budget->metaspace_bytes,
		   "taskmanager.memory.jvm-metaspace.size");
}

static void read_jobmanager(const struct lookup *look, struct flink_budget *budget)
{
	budget->heap_bytes = size_option(look, "jobmanager.memory.heap.size");
	budget->direct_bytes = size_option(look, "jobmanager.memory.off-heap.size");
	budget->metaspace_bytes = size_option(look, "jobmanager.memory.jvm-metaspace.size");
	budget->overhead_bytes =
		pinned_option(look, "jobmanager.memory.jvm-overhead.min", "jobmanager.memory.jvm-overhead.max");
	budget->flink_bytes = qty_add(budget->heap_bytes, budget->direct_bytes);
	budget->process_bytes = qty_add(qty_add(budget->flink_bytes, budget->metaspace_bytes), budget->overhead_bytes);
	check_flag(look, STR("-Xmx"), budget->heap_bytes, "jobmanager.memory.heap.size");
	check_flag(look, STR("-XX:MaxMetaspaceSize="), budget->metaspace_bytes, "jobmanager.memory.jvm-metaspace.size");
}

void flinkbudget_read(struct str cmdline, const struct flinkconf *conf, enum engine kind,
		      struct flink_budget *ret_budget, struct engine_notes *notes)
{
	const struct lookup look = { cmdline, conf, notes };
	struct flink_budget budget = { 0 };
	if (kind == ENGINE_FLINK_TASKMANAGER)
		read_taskmanager(&look, &budget);
	else if (kind == ENGINE_FLINK_JOBMANAGER)
		read_jobmanager(&look, &budget);
	*ret_budget = budget;
}

/* "0.5" as basis points; 0 if it is no ratio. */
static uint32_t ratio_option(const struct lookup *look, const char *key)
{
	struct str value, rest;
	char where[64];
	uint64_t whole, part = 0;
	if (!option(look, key, &value, where))
		return 0;
	rest = value;
	bool good = str_u64(&rest, &whole) && whole <= 1;
	uint32_t bp = good ? (uint32_t)whole * 10000 : 0;
	if (good && str_take(&rest, STR("."))) {
		struct str digits = { rest.ptr, rest.len < 4 ? rest.len : 4 };
		good = rest.len > 0 && str_is_u64(digits, &part);
		for (size_t i = digits.len; i < 4; i++)
			part *= 10;
		bp += (uint32_t)part;
		rest = str_skip(rest, digits.len);
		for (; good && rest.len; rest = str_skip(rest, 1))
			good = rest.ptr[0] >= '0' && rest.ptr[0] <= '9';
	}
	if (good && rest.len == 0 && bp > 0 && bp <= 10000)
		return bp;
	bad_value(look, key, value, where, "ratio between 0 and 1");
	return 0;
}

/* Options whose value is only shown: what an operator would look at beside the figures. */
static const char *const shown_options[] = {
	"state.backend.type",
	"execution.checkpointing.incremental",
	"state.backend.rocksdb.memory.partitioned-index-filters",
	"state.backend.rocksdb.memory.high-prio-pool-ratio",
	"state.backend.rocksdb.writebuffer.size",
	"state.backend.rocksdb.writebuffer.count",
	"state.backend.rocksdb.block.cache-size",
	"state.backend.rocksdb.files.open",
	"state.backend.rocksdb.predefined-options",
	"state.backend.rocksdb.manual-compaction.min-interval",
	"state.backend.rocksdb.timer-service.factory",
	"taskmanager.memory.process.size",
	"taskmanager.memory.flink.size",
	"taskmanager.memory.managed.fraction",
	"taskmanager.memory.managed.consumer-weights",
	"jobmanager.memory.process.size",
	"kubernetes.taskmanager.memory.limit-factor",
	"kubernetes.jobmanager.memory.limit-factor",
};

void flink_settings_read(struct str cmdline, const struct flinkconf *conf, struct engine_state *state,
			 struct engine_notes *notes)
{
	const struct lookup look = { cmdline, conf, notes };
	bool forst = state->backend == BACKEND_FORST;
	struct str value;
	char where[64];
	state->rocksdb_fixed_per_slot_bytes = size_option(&look, forst ? "state.backend.forst.memory.fixed-per-slot"
								       : "state.backend.rocksdb.memory.fixed-per-slot");
	state->rocksdb_fixed_per_tm_bytes = size_option(&look, forst ? "state.backend.forst.memory.fixed-per-tm"
								     : "state.backend.rocksdb.memory.fixed-per-tm");
	const char *managed = forst ? "state.backend.forst.memory.managed" : "state.backend.rocksdb.memory.managed";
	state->rocksdb_managed = TRISTATE_UNREAD;
	if (option(&look, managed, &value, where)) {
		if (str_eq(value, STR("true")))
			state->rocksdb_managed = TRISTATE_TRUE;
		else if (str_eq(value, STR("false")))
			state->rocksdb_managed = TRISTATE_FALSE;
		else
			bad_value(&look, managed, value, where, "switch");
	}
	state->write_buffer_ratio_bp = ratio_option(&look, forst ? "state.backend.forst.memory.write-buffer-ratio"
								 : "state.backend.rocksdb.memory.write-buffer-ratio");
	for (size_t i = 0; i < sizeof shown_options / sizeof *shown_options; i++)
		(void)option(&look, shown_options[i], &value, where);
}
