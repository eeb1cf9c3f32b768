/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/jolokia.h"

#include "base/limits.h"
#include "data/js.h"
#include "engine/context.h"
#include "engine/gauges.h"
#include "engine/jobs.h"
#include "engine/stores.h"

#include <math.h>
#include <stdio.h>

const char *const jolokia_requests[] = {
	"/read/kafka.streams:type=stream-state-metrics,*/block-cache-usage,block-cache-capacity,block-cache-pinned-usage,"
	"size-all-mem-tables,cur-size-all-mem-tables,estimate-table-readers-mem,live-sst-files-size,total-sst-files-size,"
	"mem-table-flush-pending,num-immutable-mem-table,num-open-iterators",
	"/read/kafka.streams:type=stream-metrics,*/version,client-state,state",
	"/read/java.lang:type=Memory/HeapMemoryUsage",
	"/read/java.lang:type=MemoryPool,*/Usage",
	"/read/java.nio:type=BufferPool,*",
	"/read/java.lang:type=Threading/ThreadCount",
	"/read/java.lang:type=ClassLoading/LoadedClassCount",
	/* With exactly these keys: a client's own, not those of each of its topics and partitions. */
	"/read/kafka.consumer:type=consumer-coordinator-metrics,client-id=*/last-rebalance-seconds-ago",
	"/read/kafka.consumer:type=consumer-fetch-manager-metrics,client-id=*/records-lag-max",
	"/read/kafka.streams:type=stream-state-updater-metrics,*/active-restoring-tasks",
	NULL,
};

/* The keys of an ObjectName that we know; the rest is not looked at. */
struct mbean {
	struct str domain, type, name, thread, task, store, client, store_key;
};

static struct str take_property_value(struct str *rest)
{
	size_t len = str_index(*rest, ',');
	if (rest->len && rest->ptr[0] == '"')
		for (len = 1; len < rest->len && rest->ptr[len] != '"'; len++)
			len += rest->ptr[len] == '\\';
	if (rest->len && rest->ptr[0] == '"')
		len = len < rest->len ? len + 1 : rest->len;
	struct str value = { rest->ptr, len };
	*rest = str_skip(*rest, len);
	(void)str_take(rest, STR(","));
	return value;
}

/* "domain:key=value,key=value" in any order, values perhaps quoted. */
static bool parse_mbean(struct str text, struct mbean *ret_mbean)
{
	struct mbean mbean = { 0 };
	struct str rest = text;
	if (!str_split(&rest, ':', &mbean.domain) || rest.len == 0)
		return false;
	while (rest.len) {
		struct str key;
		size_t at = str_index(rest, '=');
		if (at == rest.len)
			return false;
		key = (struct str){ rest.ptr, at };
		rest = str_skip(rest, at + 1);
		struct str value = take_property_value(&rest);
		if (str_eq(key, STR("type")))
			mbean.type = value;
		else if (str_eq(key, STR("name")))
			mbean.name = value;
		else if (str_eq(key, STR("thread-id")))
			mbean.thread = value;
		else if (str_eq(key, STR("client-id")))
			mbean.client = value;
		else if (str_eq(key, STR("task-id")))
			mbean.task = value;
		else if (str_starts(key, STR("rocksdb-")) && str_ends(key, STR("state-id"))) {
			mbean.store = value;
			mbean.store_key = key;
		}
	}
	*ret_mbean = mbean;
	return true;
}

/* One attribute of one MBean: what it is to us. */
enum attribute_kind { ATTRIBUTE_UNUSED = 0, ATTRIBUTE_USAGE, ATTRIBUTE_NUMBER, ATTRIBUTE_STORE, ATTRIBUTE_VERSION };

struct attribute {
	enum attribute_kind kind;
	enum gauge_field field; /* of USAGE: `used`; committed and max follow it in the enum */
	bool sum, has_max;
	enum rocksdb_property property;
};

static const struct {
	const char *domain, *type, *name, *attribute; /* name "" means any; a trailing '*' a prefix */
	struct attribute use;
} attribute_rules[] = {
	{ "java.lang", "Memory", "", "HeapMemoryUsage", { ATTRIBUTE_USAGE, GAUGE_HEAP_USED, false, true, 0 } },
	{ "java.lang", "MemoryPool", "Metaspace", "Usage", { ATTRIBUTE_USAGE, GAUGE_METASPACE_USED, false, true, 0 } },
	{ "java.lang", "MemoryPool", "Code*", "Usage", { ATTRIBUTE_USAGE, GAUGE_CODE_USED, true, false, 0 } },
	{ "java.nio", "BufferPool", "direct", "MemoryUsed", { ATTRIBUTE_NUMBER, GAUGE_DIRECT_USED, false, false, 0 } },
	{ "java.nio",
	  "BufferPool",
	  "direct",
	  "TotalCapacity",
	  { ATTRIBUTE_NUMBER, GAUGE_DIRECT_CAPACITY, false, false, 0 } },
	{ "java.nio", "BufferPool", "direct", "Count", { ATTRIBUTE_NUMBER, GAUGE_DIRECT_COUNT, false, false, 0 } },
	{ "java.nio", "BufferPool", "mapped", "MemoryUsed", { ATTRIBUTE_NUMBER, GAUGE_MAPPED_USED, false, false, 0 } },
	{ "java.lang", "Threading", "", "ThreadCount", { ATTRIBUTE_NUMBER, GAUGE_THREADS, false, false, 0 } },
	{ "java.lang", "ClassLoading", "", "LoadedClassCount", { ATTRIBUTE_NUMBER, GAUGE_CLASSES, false, false, 0 } },
	{ "kafka.streams", "stream-metrics", "", "version", { ATTRIBUTE_VERSION, 0, false, false, 0 } },
};

static bool name_fits(const char *pattern, struct str name)
{
	struct str want = str_of(pattern);
	if (want.len == 0)
		return true;
	if (want.ptr[want.len - 1] == '*')
		return str_starts(name, (struct str){ want.ptr, want.len - 1 });
	return str_eq(name, want);
}

static struct attribute find_attribute(const struct mbean *mbean, struct str attribute)
{
	struct attribute use = { .kind = ATTRIBUTE_UNUSED };
	if (str_eq(mbean->domain, STR("kafka.streams")) && str_eq(mbean->type, STR("stream-state-metrics"))) {
		if (mbean->store.len && rocksdb_property_find(attribute, &use.property))
			use.kind = ATTRIBUTE_STORE;
		return use;
	}
	for (size_t i = 0; i < sizeof attribute_rules / sizeof *attribute_rules; i++)
		if (str_eq(mbean->domain, str_of(attribute_rules[i].domain)) &&
		    str_eq(mbean->type, str_of(attribute_rules[i].type)) &&
		    str_eq(attribute, str_of(attribute_rules[i].attribute)) &&
		    name_fits(attribute_rules[i].name, mbean->name))
			return attribute_rules[i].use;
	return use;
}

static enum store_kind kind_of(struct str store_key)
{
	if (str_eq(store_key, STR("rocksdb-state-id")))
		return STORE_KV;
	if (str_eq(store_key, STR("rocksdb-window-state-id")))
		return STORE_WINDOW;
	return str_eq(store_key, STR("rocksdb-session-state-id")) ? STORE_SESSION : STORE_KIND_UNREAD;
}

/* Called for each attribute of each MBean in an answer. */
typedef int visit(void *context, struct str mbean_text, const struct mbean *mbean, struct str attribute,
		  const struct js *value, struct err *err);

static int visit_mbean(struct str name, const struct js *attributes, visit *on_attribute, void *context,
		       struct err *err)
{
	struct mbean mbean;
	struct js_iter iter = { 0 };
	struct str key;
	const struct js *value;
	int status = 0;
	if (!parse_mbean(name, &mbean))
		return 0;
	while (status == 0 && js_each(attributes, &iter, &key, &value))
		status = on_attribute(context, name, &mbean, key, value, err);
	return status;
}

/*
 * The three shapes: a scalar or composite (one attribute asked), an object of attributes, an object of MBeans (a
 * pattern).
 */
static int visit_answer(const struct js *answer, visit *on_attribute, void *context, struct err *err)
{
	const struct js *value = js_get(answer, "value");
	struct str name = { "", 0 }, asked = { "", 0 }, key;
	const struct js *attributes;
	struct js_iter iter = { 0 };
	struct mbean mbean;
	int status = 0;
	(void)js_str(js_path(answer, "request.mbean"), &name);
	(void)js_str(js_path(answer, "request.attribute"), &asked);
	if (str_index(name, '*') == name.len && str_index(name, '?') == name.len) {
		if (asked.len)
			return parse_mbean(name, &mbean) ? on_attribute(context, name, &mbean, asked, value, err) : 0;
		return visit_mbean(name, value, on_attribute, context, err);
	}
	while (status == 0 && js_each(value, &iter, &key, &attributes))
		status = visit_mbean(key, attributes, on_attribute, context, err);
	return status;
}

static int parse_answer(struct str text, struct js **ret_root, struct err *err)
{
	struct js *root;
	int status = js_parse(text, LIMIT_HTTP_BODY, &root, err);
	if (status < 0)
		return status;
	if (js_kind(root) != JS_OBJECT || (!js_get(root, "value") && !js_get(root, "status"))) {
		js_free(root);
		return err_set(err, ERR_MALFORMED,
			       "this JSON is no answer of Jolokia: it has neither value nor status");
	}
	*ret_root = root;
	return 0;
}

/* --- reading -------------------------------------------------------------------------- */

struct reading {
	struct gauge_cells gauges;
	struct stores stores;
	struct context_page context;
	struct engine_state *state;
};

/* What a consumer has not measured yet is NaN, which JSON has not. */
static bool context_value(enum context_field field, const struct js *value, double *ret_number)
{
	struct str text;
	if (js_str(value, &text))
		return field == CONTEXT_CLIENT_STATE && context_client_state(text, ret_number);
	return js_double(value, ret_number) && isfinite(*ret_number);
}

static void reading_done(struct reading *reading)
{
	stores_done(&reading->stores);
}

static uint64_t hash_of(struct str text)
{
	uint64_t hash = 14695981039346656037u;
	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (unsigned char)text.ptr[i]) * 1099511628211u;
	return hash;
}

static void add_number(struct reading *reading, struct str mbean, enum gauge_field field, bool sum,
		       const struct js *value)
{
	uint64_t number = 0;
	bool known = js_u64(value, &number);
	gauges_add(&reading->gauges, GAUGES_JAVA_LANG, field, sum, hash_of(mbean), known, number);
}

static int read_attribute(void *context, struct str mbean_text, const struct mbean *mbean, struct str attribute,
			  const struct js *value, struct err *err)
{
	struct reading *reading = context;
	struct attribute use = find_attribute(mbean, attribute);
	enum context_field field = context_of_mbean(mbean->domain, mbean->type, attribute);
	struct str text;
	uint64_t number = 0;
	double of_context;
	if (field != CONTEXT_NONE && context_value(field, value, &of_context))
		context_note(&reading->context, field, of_context);
	switch (use.kind) {
	case ATTRIBUTE_USAGE:
		add_number(reading, mbean_text, use.field, use.sum, js_get(value, "used"));
		add_number(reading, mbean_text, use.field + 1, use.sum, js_get(value, "committed"));
		if (use.has_max)
			add_number(reading, mbean_text, use.field + 2, use.sum, js_get(value, "max"));
		break;
	case ATTRIBUTE_NUMBER:
		add_number(reading, mbean_text, use.field, use.sum, value);
		break;
	case ATTRIBUTE_STORE: {
		struct store_id id = { .thread = mbean->thread.len ? mbean->thread : mbean->client,
				       .task = mbean->task,
				       .store = mbean->store,
				       .kind = kind_of(mbean->store_key) };
		bool known = js_u64(value, &number);
		return stores_add(&reading->stores, &id, use.property, known, number, err);
	}
	case ATTRIBUTE_VERSION:
		jobs_add_client(reading->state, mbean->client);
		if (js_str(value, &text) && reading->state->version[0] == '\0')
			str_copy(reading->state->version, sizeof reading->state->version, text);
		break;
	case ATTRIBUTE_UNUSED:
		break;
	}
	return 0;
}

static bool is_context(struct str mbean)
{
	return str_starts(mbean, STR("kafka.consumer:")) || str_has(mbean, STR("type=stream-state-updater-metrics"));
}

static void note_status(const struct js *answer, const char *what, struct engine_notes *notes)
{
	uint64_t status;
	struct str mbean = STR("?"), type = STR("no reason");
	if (!js_u64(js_get(answer, "status"), &status) || status == 200)
		return;
	(void)js_str(js_path(answer, "request.mbean"), &mbean);
	if (status == 404 && is_context(mbean))
		return; /* it only decorates, and most JVMs have none of it */
	(void)js_str(js_get(answer, "error_type"), &type);
	/* No Streams MBean is what any JVM without Kafka Streams answers. */
	engine_note(notes, what, status == 404 ? ERR_UNSUPPORTED : ERR_IO, "Jolokia answers %llu for %.*s: %.*s",
		    (unsigned long long)status, (int)(mbean.len > 80 ? 80 : mbean.len), mbean.ptr,
		    (int)(type.len > 80 ? 80 : type.len), type.ptr);
}

int jolokia_read(const struct str *answers, const char *const *whats, size_t n_answers, struct engine_state *state,
		 struct engine_notes *notes, struct err *err)
{
	auto_(reading_done) struct reading reading = { .state = state };
	bool short_of_one = false;
	for (size_t i = 0; i < n_answers; i++) {
		auto_js struct js *root = NULL;
		struct err why = { 0 };
		int status = parse_answer(answers[i], &root, &why);
		if (status == 0) {
			note_status(root, whats[i], notes);
			status = visit_answer(root, read_attribute, &reading, &why);
		} else if (why.kind != ERR_NOMEM) {
			/* One answer short, sums over stores would be parts that pass for the whole: none of it is used. */
			engine_note_err(notes, whats[i], &why);
			short_of_one = true;
			continue;
		}
		if (status < 0) {
			if (err)
				*err = why;
			return status;
		}
	}
	context_put(&reading.context, state);
	if (short_of_one)
		return 0;
	(void)gauges_put(&reading.gauges, &state->gauges, n_answers ? whats[0] : "http/jolokia.0", notes);
	if (reading.stores.n && state->rocksdb.n_stores.known) {
		engine_note(notes, whats[0], ERR_UNSUPPORTED,
			    "RocksDB was already read from a metrics page: not added again");
		return 0;
	}
	return stores_claim(&reading.stores, state, n_answers ? whats[0] : "http/jolokia.0", notes, err);
}

/* --- reducing ------------------------------------------------------------------------- */

struct reduction {
	struct js_out *out;
	struct str open;  /* the MBean whose object is open */
	struct buf names; /* hashes of the names written: uint64_t each */
	size_t n_names, n_open;
	bool failed; /* no memory for a name */
};

/* Is this name written already? It is from now on. */
static bool name_is_taken(struct reduction *reduction, struct str name)
{
	uint64_t hash = hash_of(name), other;
	for (size_t i = 0; i < reduction->n_names; i++) {
		memcpy(&other, reduction->names.ptr + i * sizeof other, sizeof other);
		if (other == hash)
			return true;
	}
	if (buf_add(&reduction->names, (struct str){ (const char *)&hash, sizeof hash }))
		reduction->n_names++;
	return false;
}

static void key_part(struct buf *name, const char *key, struct str value)
{
	if (value.len == 0 || value.len > 200)
		return;
	(void)buf_puts(name, name->len && name->ptr[name->len - 1] != ':' ? "," : "");
	(void)buf_printf(name, "%s=", key);
	(void)buf_add(name, value);
}

/* The ObjectName with the keys we know. */
static void open_mbean(struct reduction *reduction, const struct mbean *mbean)
{
	char key[48];
	auto_buf struct buf name = { .cap = 4096 };
	(void)buf_add(&name, mbean->domain);
	(void)buf_putc(&name, ':');
	key_part(&name, "type", mbean->type);
	key_part(&name, "name", mbean->name);
	key_part(&name, "thread-id", mbean->thread);
	key_part(&name, "client-id", mbean->client);
	key_part(&name, "task-id", mbean->task);
	str_copy(key, sizeof key, mbean->store_key);
	key_part(&name, key, mbean->store);
	/*
	 * Beans that only keys we dropped told apart: one object may not hold a key twice, and the reader must see
	 * both.
	 */
	reduction->n_open++;
	if (name_is_taken(reduction, buf_str(&name)))
		(void)buf_printf(&name, ",copy=%zu", reduction->n_open);
	if (buf_failed(&name))
		reduction->failed = true;
	js_out_key_str(reduction->out, buf_str(&name));
	js_out_object(reduction->out);
}

static void put_number(struct js_out *out, const char *key, const struct js *value)
{
	int64_t number;
	uint64_t large;
	js_out_key(out, key);
	if (js_i64(value, &number))
		js_out_i64(out, number);
	else if (js_u64(value, &large))
		js_out_u64(out, large);
	else
		js_out_null(out);
}

static bool looks_like_version(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		bool good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
			    c == '-' || c == '_';
		if (!good)
			return false;
	}
	return text.len > 0 && text.len < 32 && text.ptr[0] >= '0' && text.ptr[0] <= '9';
}

static int reduce_attribute(void *context, struct str mbean_text, const struct mbean *mbean, struct str attribute,
			    const struct js *value, struct err *err)
{
	struct reduction *reduction = context;
	struct js_out *out = reduction->out;
	struct attribute use = find_attribute(mbean, attribute);
	enum context_field field = context_of_mbean(mbean->domain, mbean->type, attribute);
	struct str text;
	char key[64], digits[32];
	double number;
	(void)err;
	if (field != CONTEXT_NONE && !(context_value(field, value, &number) && fabs(number) < 1e15))
		return 0;
	if ((field == CONTEXT_NONE && use.kind == ATTRIBUTE_UNUSED) ||
	    (use.kind == ATTRIBUTE_VERSION && !(js_str(value, &text) && looks_like_version(text))))
		return 0;
	if (!str_eq(reduction->open, mbean_text)) {
		if (reduction->open.len)
			js_out_object_end(out);
		reduction->open = mbean_text;
		open_mbean(reduction, mbean);
	}
	str_copy(key, sizeof key, attribute);
	if (field != CONTEXT_NONE) {
		int len = snprintf(digits, sizeof digits, "%.0f", number);
		js_out_key(out, key);
		js_out_number(out, (struct str){ digits, (size_t)len });
	} else if (use.kind == ATTRIBUTE_USAGE) {
		js_out_key(out, key);
		js_out_object(out);
		put_number(out, "used", js_get(value, "used"));
		put_number(out, "committed", js_get(value, "committed"));
		put_number(out, "max", js_get(value, "max"));
		js_out_object_end(out);
	} else if (use.kind == ATTRIBUTE_VERSION) {
		js_out_key(out, key);
		js_out_str(out, text);
	} else {
		put_number(out, key, value);
	}
	return 0;
}

/* An exception's class name, and nothing else. */
static bool is_class_name(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
		      c == '$' || c == '_'))
			return false;
	}
	return text.len > 0 && text.len <= 120;
}

/* The pattern that was asked for, if it is one of ours; an answer's own text is not repeated. */
static const char *known_pattern(const struct js *root)
{
	static const char *const patterns[] = {
		"kafka.streams:type=stream-state-metrics,*",
		"kafka.streams:type=stream-metrics,*",
		"java.lang:type=MemoryPool,*",
		"java.nio:type=BufferPool,*",
		"java.lang:type=Memory",
		"java.lang:type=Threading",
		"java.lang:type=ClassLoading",
		"kafka.consumer:type=consumer-coordinator-metrics,client-id=*",
		"kafka.consumer:type=consumer-fetch-manager-metrics,client-id=*",
		"kafka.streams:type=stream-state-updater-metrics,*",
	};
	struct str mbean;
	if (js_str(js_path(root, "request.mbean"), &mbean))
		for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
			if (str_eq(mbean, str_of(patterns[i])))
				return patterns[i];
	return "*:*";
}

int jolokia_reduce(struct str answer, struct buf *ret_answer, struct err *err)
{
	auto_js struct js *root = NULL;
	size_t before = ret_answer->len;
	uint64_t code;
	struct str type;
	int status = parse_answer(answer, &root, err);
	if (status < 0)
		return status;
	struct js_out out;
	struct reduction reduction = { .out = &out, .names = { .cap = JS_VALUES_MAX * sizeof(uint64_t) } };
	bool failed = js_u64(js_get(root, "status"), &code) && code != 200;
	js_out_start(&out, ret_answer, 0);
	js_out_object(&out);
	js_out_key(&out, "request");
	js_out_object(&out);
	js_out_key(&out, "mbean");
	js_out_text(&out, failed ? known_pattern(root) : "*:*");
	js_out_object_end(&out);
	if (!failed) {
		js_out_key(&out, "value");
		js_out_object(&out);
		(void)visit_answer(root, reduce_attribute, &reduction, err);
		if (reduction.open.len)
			js_out_object_end(&out);
		js_out_object_end(&out);
	}
	js_out_key(&out, "status");
	js_out_u64(&out, failed ? code : 200);
	if (failed && js_str(js_get(root, "error_type"), &type) && is_class_name(type)) {
		js_out_key(&out, "error_type");
		js_out_str(&out, type);
	}
	js_out_object_end(&out);
	bool no_memory = reduction.failed || reduction.names.state == BUF_NOMEM;
	buf_done(&reduction.names);
	status = no_memory ? err_set(err, ERR_NOMEM, "no memory for an answer of Jolokia") : js_out_end(&out, err);
	if (status < 0) {
		ret_answer->len = before;
		if (ret_answer->ptr)
			ret_answer->ptr[before] = '\0';
	}
	return status;
}
