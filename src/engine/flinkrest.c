/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/flinkrest.h"

#include "base/limits.h"
#include "data/js.h"
#include "engine/flinkbudget.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

static int parse_object(struct str text, struct js **ret_root, struct err *err)
{
	struct js *root;
	int status = js_parse(text, LIMIT_HTTP_BODY, &root, err);
	if (status < 0)
		return status;
	if (js_kind(root) != JS_OBJECT || js_get(root, "errors")) {
		status = err_set(err, ERR_MALFORMED,
				 js_get(root, "errors") ? "Flink's REST API answers with errors"
							: "this JSON is no answer of Flink's REST API");
		js_free(root);
		return status;
	}
	*ret_root = root;
	return 0;
}

/* The reporter replaces what Prometheus' names do not take; ids are compared after the same replacement. */
static bool same_id(struct str a, struct str b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++) {
		char pair[2] = { a.ptr[i], b.ptr[i] };
		for (size_t k = 0; k < 2; k++) {
			char c = pair[k];
			bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
				    c == ':' || c == '_';
			pair[k] = kept ? c : '_';
		}
		if (pair[0] != pair[1])
			return false;
	}
	return true;
}

/* "pekko.tcp://flink@10.0.0.5:41235/user/rpc/taskmanager_0": the host. */
static struct str path_host(struct str path)
{
	size_t at = str_index(path, '@');
	struct str rest = str_skip(path, at + 1);
	return (struct str){ rest.ptr, rest.len && rest.ptr[0] == '['
					       ? str_index(rest, ']') + (str_index(rest, ']') < rest.len)
					       : str_index(rest, ':') };
}

static bool could_be_ours(const struct js *tm, const struct flinkrest_self *self)
{
	struct str id, path;
	uint64_t port;
	if (!js_str(js_get(tm, "id"), &id))
		return false;
	if (self->tm_id.len)
		return same_id(id, self->tm_id);
	if (self->host.len && (!js_str(js_get(tm, "path"), &path) || !str_eq(path_host(path), self->host)))
		return false;
	return !self->data_port || (js_u64(js_get(tm, "dataPort"), &port) && port == self->data_port);
}

int flinkrest_find(struct str taskmanagers, const struct flinkrest_self *self, char ret_id[FLINKREST_ID_CAP],
		   struct err *err)
{
	auto_js struct js *root = NULL;
	int status = parse_object(taskmanagers, &root, err);
	if (status < 0)
		return status;
	const struct js *list = js_get(root, "taskmanagers");
	struct str found = { "", 0 }, id;
	size_t n = 0;
	if (js_kind(list) != JS_ARRAY)
		return err_set(err, ERR_MALFORMED, "the answer holds no list of TaskManagers");
	for (size_t i = 0; i < js_len(list); i++)
		if (could_be_ours(js_at(list, i), self) && js_str(js_get(js_at(list, i), "id"), &id)) {
			found = id;
			n++;
		}
	if (n == 0)
		return err_set(err, ERR_GONE, "none of the %zu TaskManagers the JobManager knows is this one",
			       js_len(list));
	if (n > 1)
		return err_set(err, ERR_USAGE,
			       "%zu of the JobManager's TaskManagers could be this one: nothing here tells its id", n);
	if (found.len == 0 || found.len >= FLINKREST_ID_CAP)
		return err_set(err, ERR_MALFORMED, "a TaskManager's id of %zu bytes", found.len);
	str_copy(ret_id, FLINKREST_ID_CAP, found);
	return 0;
}

bool flinkrest_path(const char *id, char *dest, size_t cap)
{
	struct str text = str_of(id);
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		bool good =
			(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("._:-", c);
		if (!good)
			return false;
	}
	if (text.len == 0 || str_eq(text, STR(".")) || str_eq(text, STR("..")))
		return false;
	int len = snprintf(dest, cap, FLINKREST_TASKMANAGERS "/%s", id);
	return len > 0 && (size_t)len < cap;
}

/* memoryConfiguration: name by name. */
static const struct {
	const char *key;
	size_t offset;
} budget_keys[] = {
	{ "frameworkHeap", offsetof(struct flink_budget, framework_heap_bytes) },
	{ "taskHeap", offsetof(struct flink_budget, task_heap_bytes) },
	{ "frameworkOffHeap", offsetof(struct flink_budget, framework_off_heap_bytes) },
	{ "taskOffHeap", offsetof(struct flink_budget, task_off_heap_bytes) },
	{ "networkMemory", offsetof(struct flink_budget, network_bytes) },
	{ "managedMemory", offsetof(struct flink_budget, managed_bytes) },
	{ "jvmMetaspace", offsetof(struct flink_budget, metaspace_bytes) },
	{ "jvmOverhead", offsetof(struct flink_budget, overhead_bytes) },
};

static void read_budget(const struct js *root, struct flink_budget *budget, struct engine_notes *notes)
{
	const struct js *memory = js_get(root, "memoryConfiguration");
	bool filled = false;
	for (size_t i = 0; i < sizeof budget_keys / sizeof *budget_keys; i++) {
		struct qty *part = (struct qty *)(void *)((char *)budget + budget_keys[i].offset);
		uint64_t bytes;
		if (!js_u64(js_get(memory, budget_keys[i].key), &bytes))
			continue;
		if (!qty_known(*part)) {
			*part = qty_measured(bytes);
			filled = true;
		} else if (part->bytes != bytes) {
			engine_note(notes, "http/flink_taskmanager", ERR_MALFORMED,
				    "the JobManager says %s is %" PRIu64 ", this process was given %" PRIu64
				    ": is it the same TaskManager?",
				    budget_keys[i].key, bytes, part->bytes);
		}
	}
	uint64_t slots, total;
	if (!budget->n_slots.known && js_u64(js_get(root, "slotsNumber"), &slots) && slots > 0)
		budget->n_slots = count_of(slots);
	if (filled)
		flinkbudget_sum(budget);
	if (qty_known(budget->process_bytes) && js_u64(js_get(memory, "totalProcessMemory"), &total) &&
	    total != budget->process_bytes.bytes)
		engine_note(notes, "http/flink_taskmanager", ERR_MALFORMED,
			    "totalProcessMemory is %" PRIu64 " but its parts sum up to %" PRIu64, total,
			    budget->process_bytes.bytes);
}

static const struct {
	const char *key;
	size_t offset;
	bool is_count;
} metric_keys[] = {
	{ "heapUsed", offsetof(struct engine_gauges, heap_used_bytes), false },
	{ "heapCommitted", offsetof(struct engine_gauges, heap_committed_bytes), false },
	{ "heapMax", offsetof(struct engine_gauges, heap_max_bytes), false },
	{ "directCount", offsetof(struct engine_gauges, direct_buffers), true },
	{ "directUsed", offsetof(struct engine_gauges, direct_used_bytes), false },
	{ "directMax", offsetof(struct engine_gauges, direct_capacity_bytes),
	  false }, /* Flink names the pool's capacity so */
	{ "mappedUsed", offsetof(struct engine_gauges, mapped_used_bytes), false },
	{ "nettyShuffleMemoryAvailable", offsetof(struct engine_gauges, network_available_bytes), false },
	{ "nettyShuffleMemoryUsed", offsetof(struct engine_gauges, network_used_bytes), false },
	{ "nettyShuffleMemoryTotal", offsetof(struct engine_gauges, network_total_bytes), false },
};

static void read_metrics(const struct js *metrics, struct engine_gauges *gauges)
{
	for (size_t i = 0; i < sizeof metric_keys / sizeof *metric_keys; i++) {
		char *at = (char *)gauges + metric_keys[i].offset;
		uint64_t number;
		if (!js_u64(js_get(metrics, metric_keys[i].key), &number))
			continue;
		if (metric_keys[i].is_count) {
			struct count *count = (struct count *)(void *)at;
			*count = count->known ? *count : count_of(number);
		} else {
			struct qty *qty = (struct qty *)(void *)at;
			*qty = qty_known(*qty) ? *qty : qty_measured(number);
		}
	}
}

int flinkrest_read(struct str taskmanager, struct engine_state *state, struct engine_notes *notes, struct err *err)
{
	auto_js struct js *root = NULL;
	int status = parse_object(taskmanager, &root, err);
	if (status < 0)
		return status;
	if (!js_get(root, "id"))
		return err_set(err, ERR_MALFORMED, "the answer describes no TaskManager");
	read_budget(root, &state->flink, notes);
	read_metrics(js_get(root, "metrics"), &state->gauges);
	return 0;
}

static bool is_plain(struct str text, const char *others, size_t most)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			    (c && strchr(others, c));
		if (!good)
			return false;
	}
	return text.len > 0 && text.len <= most;
}

bool flinkrest_version(struct str config, char ret_version[32])
{
	auto_js struct js *root = NULL;
	struct str version;
	if (parse_object(config, &root, NULL) < 0 || !js_str(js_get(root, "flink-version"), &version) ||
	    !is_plain(version, ".-_", 31))
		return false;
	str_copy(ret_version, 32, version);
	return true;
}

/* Keys that are kept, in this order: numbers; strings below. */
static const char *const kept_numbers[] = {
	"dataPort",
	"slotsNumber",
	"freeSlots",
	"assignedTasks",
};

static void put_number(struct js_out *out, const char *key, const struct js *value)
{
	int64_t number;
	uint64_t large;
	if (!value)
		return;
	js_out_key(out, key);
	if (js_i64(value, &number))
		js_out_i64(out, number);
	else if (js_u64(value, &large))
		js_out_u64(out, large);
	else
		js_out_null(out);
}

static void put_string(struct js_out *out, const char *key, const struct js *value, const char *others, size_t most)
{
	struct str text;
	if (!js_str(value, &text) || !is_plain(text, others, most))
		return;
	js_out_key(out, key);
	js_out_str(out, text);
}

static void put_taskmanager(struct js_out *out, const struct js *tm)
{
	put_string(out, "id", js_get(tm, "id"), "._:-", FLINKREST_ID_CAP - 1);
	put_string(out, "path", js_get(tm, "path"), "._:-/@[]$", 200);
	for (size_t i = 0; i < sizeof kept_numbers / sizeof *kept_numbers; i++)
		put_number(out, kept_numbers[i], js_get(tm, kept_numbers[i]));
	const struct js *memory = js_get(tm, "memoryConfiguration"), *metrics = js_get(tm, "metrics");
	if (js_kind(memory) == JS_OBJECT) {
		js_out_key(out, "memoryConfiguration");
		js_out_object(out);
		for (size_t i = 0; i < sizeof budget_keys / sizeof *budget_keys; i++)
			put_number(out, budget_keys[i].key, js_get(memory, budget_keys[i].key));
		put_number(out, "totalFlinkMemory", js_get(memory, "totalFlinkMemory"));
		put_number(out, "totalProcessMemory", js_get(memory, "totalProcessMemory"));
		js_out_object_end(out);
	}
	if (js_kind(metrics) == JS_OBJECT) {
		js_out_key(out, "metrics");
		js_out_object(out);
		for (size_t i = 0; i < sizeof metric_keys / sizeof *metric_keys; i++)
			put_number(out, metric_keys[i].key, js_get(metrics, metric_keys[i].key));
		js_out_object_end(out);
	}
}

int flinkrest_reduce(struct str answer, struct buf *ret_answer, struct err *err)
{
	auto_js struct js *root = NULL;
	size_t before = ret_answer->len;
	int status = parse_object(answer, &root, err);
	if (status < 0)
		return status;
	const struct js *list = js_get(root, "taskmanagers");
	struct js_out out;
	js_out_start(&out, ret_answer, 0);
	js_out_object(&out);
	if (js_kind(list) == JS_ARRAY) {
		js_out_key(&out, "taskmanagers");
		js_out_array(&out);
		for (size_t i = 0; i < js_len(list); i++) {
			js_out_object(&out);
			put_taskmanager(&out, js_at(list, i));
			js_out_object_end(&out);
		}
		js_out_array_end(&out);
	} else {
		put_taskmanager(&out, root);
		put_string(&out, "flink-version", js_get(root, "flink-version"), ".-_", 31);
	}
	js_out_object_end(&out);
	status = js_out_end(&out, err);
	if (status < 0) {
		ret_answer->len = before;
		if (ret_answer->ptr)
			ret_answer->ptr[before] = '\0';
	}
	return status;
}

int flinkrest_config_reduce(struct str answer, struct buf *ret_text, struct err *err)
{
	auto_js struct js *root = NULL;
	size_t before = ret_text->len;
	int status = js_parse(answer, LIMIT_HTTP_BODY, &root, err);
	if (status < 0)
		return status;
	if (js_kind(root) != JS_ARRAY)
		return err_set(err, ERR_MALFORMED, "this JSON is no configuration of a JobManager");
	for (size_t i = 0; i < js_len(root); i++) {
		struct str key, value, shown;
		if (!js_str(js_get(js_at(root, i), "key"), &key) || !js_str(js_get(js_at(root, i), "value"), &value) ||
		    str_trim(value).len == 0 || !flinkconf_shown(key, str_trim(value), &shown))
			continue;
		(void)buf_add(ret_text, key);
		(void)buf_puts(ret_text, ": ");
		(void)buf_add(ret_text, shown);
		(void)buf_putc(ret_text, '\n');
	}
	if (!buf_failed(ret_text))
		return 0;
	if (ret_text->ptr)
		ret_text->ptr[before] = '\0';
	ret_text->len = before;
	return ret_text->state == BUF_NOMEM ? err_set(err, ERR_NOMEM, "no memory for a configuration")
					    : err_set(err, ERR_LIMIT, "the configuration is too long");
}

int flinkrest_config_parse(struct str text, struct flinkconf *ret_conf, struct err *err)
{
	int status = flinkconf_parse(text, FLINKCONF_LEGACY, "REST " FLINKREST_JM_CONFIG, ret_conf, err);
	for (size_t i = 0; status == 0 && i < ret_conf->n; i++)
		ret_conf->items[i].line = 0;
	return status;
}
