/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/hsperf.h"

#include <inttypes.h>

#include "base/limits.h"
#include "jvm/cmdline.h"
#include "jvm/option.h"

enum { PROLOGUE_LEN = 32, ENTRY_HEAD_LEN = 20, GENERATIONS = 2, SPACES = 5, COLLECTORS = 4 };

/* The counters that are kept; `#` stands for a number. */
static const char *const kept[] = {
	"java.cls.loadedClasses",
	"java.cls.sharedLoadedClasses",
	"java.cls.sharedUnloadedClasses",
	"java.cls.unloadedClasses",
	"java.property.java.version",
	"java.property.java.vm.name",
	"java.property.java.vm.version",
	"java.threads.daemon",
	"java.threads.live",
	"java.threads.livePeak",
	"java.threads.started",
	"sun.gc.cause",
	"sun.gc.collector.#.invocations",
	"sun.gc.collector.#.lastEntryTime",
	"sun.gc.collector.#.lastExitTime",
	"sun.gc.collector.#.name",
	"sun.gc.collector.#.time",
	"sun.gc.compressedclassspace.capacity",
	"sun.gc.compressedclassspace.maxCapacity",
	"sun.gc.compressedclassspace.used",
	"sun.gc.generation.#.capacity",
	"sun.gc.generation.#.maxCapacity",
	"sun.gc.generation.#.name",
	"sun.gc.generation.#.space.#.capacity",
	"sun.gc.generation.#.space.#.name",
	"sun.gc.generation.#.space.#.used",
	"sun.gc.lastCause",
	"sun.gc.metaspace.capacity",
	"sun.gc.metaspace.maxCapacity",
	"sun.gc.metaspace.used",
	"sun.gc.policy.name",
	"sun.os.hrt.frequency",
	/* Secrets may stand in these two: they go through cmdline.h. */
	"java.rt.vmArgs",
	"sun.rt.javaCommand",
};

/* `name` matches `pattern`; the numbers found go to ret_at[], at most two. */
static bool name_matches(struct str name, const char *pattern, uint64_t ret_at[2])
{
	unsigned n = 0;
	for (; *pattern; pattern++) {
		if (*pattern == '#') {
			uint64_t number;
			if (n == 2 || !str_u64(&name, &number))
				return false;
			ret_at[n++] = number;
		} else if (name.len && name.ptr[0] == *pattern) {
			name = str_skip(name, 1);
		} else {
			return false;
		}
	}
	return name.len == 0;
}

static bool is_kept(struct str name)
{
	uint64_t at[2];
	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
		if (name_matches(name, kept[i], at))
			return true;
	return false;
}

/* --- the binary format ------------------------------------------------------------------- */

static uint64_t number_at(const char *at, unsigned len, bool little)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < len; i++)
		value = value << 8 | (unsigned char)at[little ? len - 1 - i : i];
	return value;
}

/* A signed 32-bit field that must be a size or an offset: past 2^31 it is too large for every check that follows. */
static size_t offset_at(struct str bytes, size_t at, bool little)
{
	return (size_t)number_at(bytes.ptr + at, 4, little);
}

static void add_quoted(struct buf *out, struct str text)
{
	(void)buf_putc(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (c == '"' || c == '\\')
			(void)buf_printf(out, "\\%c", c);
		else if (c >= ' ' && c <= '~')
			(void)buf_putc(out, c);
		else
			(void)buf_printf(out, "\\x%02x", (unsigned)(unsigned char)c);
	}
	(void)buf_puts(out, "\"\n");
}

/* HotSpot cuts a string counter there (perfData.cpp, PerfStringConstant), in the middle of a word. */
enum { STRING_CONST_LEN = 1024 }; /* -XX:PerfMaxStringConstLength */

static const char args_name[] = "java.rt.vmArgs", args_whole_name[] = "java.rt.vmArgs.whole";

/* JVM options, without a last one that lost its end: "-Xmx10" may have been -Xmx1024m. Whole ones are said to be so. */
static bool redact_args(struct str args, struct buf *redacted, bool *ret_whole)
{
	*ret_whole = args.len < STRING_CONST_LEN;
	while (!*ret_whole && args.len && args.ptr[args.len - 1] != ' ')
		args.len--;
	return cmdline_redact_words(args, redacted);
}

/* The string counter as it may be kept. */
static void add_string(struct buf *out, struct str name, struct str value)
{
	auto_buf struct buf redacted = { .cap = LIMIT_HSPERF };
	bool ok = true, whole = false;

	value.len = str_index(value, '\0');
	(void)buf_add(out, name);
	(void)buf_putc(out, '=');
	if (str_eq(name, str_of(args_name)))
		ok = redact_args(value, &redacted, &whole);
	else if (str_eq(name, STR("sun.rt.javaCommand")))
		ok = cmdline_redact_command(value, &redacted);
	else
		ok = buf_add(&redacted, value);
	if (ok)
		add_quoted(out, buf_str(&redacted));
	else
		out->state = BUF_NOMEM;
	if (whole)
		(void)buf_printf(out, "%s=1\n", args_whole_name);
}

/* One entry, whole: its head, name and value lie inside `entry`. */
static int decode_entry(struct str entry, bool little, struct buf *out, struct err *err)
{
	size_t name_at = offset_at(entry, 4, little);
	size_t n_elements = offset_at(entry, 8, little);
	char type = entry.ptr[12];
	size_t data_at = offset_at(entry, 16, little);

	if (name_at < ENTRY_HEAD_LEN || name_at >= entry.len)
		return err_set(err, ERR_MALFORMED, "a counter's name lies outside its entry");
	struct str name = str_skip(entry, name_at);
	size_t name_len = str_index(name, '\0');
	if (name_len == name.len)
		return err_set(err, ERR_MALFORMED, "a counter's name does not end inside its entry");
	name.len = name_len;
	size_t size = type == 'J' && n_elements == 0 ? 8 : n_elements;
	if (data_at > entry.len || size > entry.len - data_at)
		return err_set(err, ERR_MALFORMED, "a counter's value lies outside its entry");
	if (!is_kept(name))
		return 0;
	if (type == 'B' && n_elements > 0) {
		add_string(out, name, (struct str){ entry.ptr + data_at, size });
	} else if (type == 'J' && n_elements == 0) {
		uint64_t value = number_at(entry.ptr + data_at, 8, little);
		/* Negative: the JVM does not know it (yet). */
		if (value <= INT64_MAX) {
			(void)buf_add(out, name);
			(void)buf_printf(out, "=%" PRIu64 "\n", value);
		}
	}
	return 0;
}

static int decode_entries(struct str bytes, bool little, struct buf *out, struct err *err)
{
	size_t used = offset_at(bytes, 8, little);
	size_t overflow = offset_at(bytes, 12, little);
	size_t at = offset_at(bytes, 24, little);
	size_t n_entries = offset_at(bytes, 28, little);

	if (used < PROLOGUE_LEN || used > bytes.len)
		return err_set(err, ERR_MALFORMED, "it claims %zu used bytes of %zu", used, bytes.len);
	if (at < PROLOGUE_LEN)
		return err_set(err, ERR_MALFORMED, "its entries start inside its head");
	for (size_t i = 0; i < n_entries; i++) {
		if (at > used || used - at < ENTRY_HEAD_LEN)
			return err_set(err, ERR_MALFORMED, "entry %zu of %zu lies outside the used bytes", i,
				       n_entries);
		size_t len = offset_at(bytes, at, little);
		if (len < ENTRY_HEAD_LEN || len > used - at)
			return err_set(err, ERR_MALFORMED, "entry %zu of %zu has length %zu", i, n_entries, len);
		int rc = decode_entry((struct str){ bytes.ptr + at, len }, little, out, err);
		if (rc < 0)
			return rc;
		at += len;
	}
	if (overflow > 0)
		(void)buf_printf(out, "overflow=%zu\n", overflow);
	return 0;
}

int hsperf_decode(struct str bytes, struct buf *out, struct err *err)
{
	if (bytes.len < PROLOGUE_LEN)
		return err_set(err, ERR_MALFORMED, "hsperfdata: %zu bytes are too few", bytes.len);
	if (number_at(bytes.ptr, 4, false) != 0xcafec0c0)
		return err_set(err, ERR_MALFORMED, "hsperfdata: it does not start with cafec0c0");
	if (bytes.ptr[4] != 0 && bytes.ptr[4] != 1)
		return err_set(err, ERR_MALFORMED, "hsperfdata: its byte order is neither of two");
	if (bytes.ptr[5] != 2)
		return err_set(err, ERR_UNSUPPORTED, "hsperfdata: version %d, not 2", bytes.ptr[5]);
	if (bytes.ptr[7] == 0)
		return err_set(err, ERR_UNSUPPORTED, "hsperfdata: the JVM is just starting or ending");
	auto_buf struct buf listing = { .cap = 4 * LIMIT_HSPERF };
	int rc = decode_entries(bytes, bytes.ptr[4] == 1, &listing, err);
	if (rc < 0) {
		err_wrap(err, "hsperfdata");
		return rc;
	}
	if (!buf_failed(&listing))
		(void)buf_add(out, buf_str(&listing));
	if (listing.state == BUF_NOMEM || out->state == BUF_NOMEM)
		return err_set(err, ERR_NOMEM, "hsperfdata: no memory");
	if (buf_failed(&listing) || buf_failed(out))
		return err_set(err, ERR_LIMIT, "hsperfdata: its listing is too long");
	return 0;
}

/* --- the listing ---------------------------------------------------------------------------- */

static bool unquote(struct str text, struct buf *out)
{
	if (!str_take(&text, STR("\"")) || !str_ends(text, STR("\"")))
		return false;
	text.len--;
	while (text.len) {
		char c = text.ptr[0];
		text = str_skip(text, 1);
		if (c == '\\' && text.len) {
			c = text.ptr[0];
			text = str_skip(text, 1);
			uint64_t byte;
			struct str digits = { text.ptr, text.len < 2 ? text.len : 2 };
			if (c == 'x') {
				if (digits.len != 2 || !str_hex(&digits, &byte) || digits.len != 0)
					return false;
				text = str_skip(text, 2);
				c = (char)byte;
			}
		}
		if (!buf_putc(out, c))
			return false;
	}
	return true;
}

bool hsperf_find(struct str listing, struct str name, struct buf *out)
{
	struct str line, key;
	while (str_line(&listing, &line))
		if (str_split(&line, '=', &key) && str_eq(key, name))
			return unquote(line, out);
	return false;
}

bool hsperf_args(struct str listing, struct buf *out, bool *ret_whole)
{
	struct str line, all = listing;
	bool whole = false;
	while (str_line(&all, &line))
		whole = whole || (str_take(&line, str_of(args_whole_name)) && str_eq(line, STR("=1")));
	if (!hsperf_find(listing, str_of(args_name), out))
		return false;
	*ret_whole = whole;
	return true;
}

/* What the listing says, before it is summed up. */
struct counters {
	struct qty capacity[GENERATIONS], max[GENERATIONS], used[GENERATIONS][SPACES];
	bool eden[GENERATIONS][SPACES];
	struct count invocations[COLLECTORS], left_at[COLLECTORS];
	enum jvm_gc gc, args_gc;
};

static enum jvm_gc gc_of_name(struct str text)
{
	static const struct {
		struct str part;
		enum jvm_gc gc;
	} names[] = {
		{ { "GarbageFirst", 12 }, GC_G1 },
		{ { "ParScav", 7 }, GC_PARALLEL },
		{ { "Copy:MSC", 8 }, GC_SERIAL },
		{ { "Shenandoah", 10 }, GC_SHENANDOAH },
		{ { "ZGC", 3 }, GC_Z },
		{ { "Z concurrent", 12 }, GC_Z },
		{ { "Epsilon", 7 }, GC_EPSILON },
	};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (str_has(text, names[i].part))
			return names[i].gc;
	return GC_UNKNOWN;
}

static void parse_text(struct str name, struct str value, struct jvm_perf *perf, struct counters *counters)
{
	uint64_t at[2];
	if (str_eq(name, STR("java.property.java.vm.name")))
		str_copy(perf->vm_name, sizeof perf->vm_name, value);
	else if (str_eq(name, STR("java.property.java.vm.version")))
		str_copy(perf->vm_version, sizeof perf->vm_version, value);
	else if (str_eq(name, STR("java.property.java.version")))
		str_copy(perf->java_version, sizeof perf->java_version, value);
	else if (str_eq(name, STR("sun.gc.cause")))
		str_copy(perf->gc_cause, sizeof perf->gc_cause, value);
	else if (str_eq(name, STR("sun.gc.policy.name")) || name_matches(name, "sun.gc.collector.#.name", at))
		counters->gc = counters->gc ? counters->gc : gc_of_name(value);
	else if (name_matches(name, "sun.gc.generation.#.space.#.name", at) && at[0] < GENERATIONS && at[1] < SPACES)
		counters->eden[at[0]][at[1]] = str_eq(value, STR("eden"));
}

static void parse_number(struct str name, uint64_t value, struct jvm_perf *perf, struct counters *counters)
{
	const struct {
		struct str name;
		struct qty *bytes;
		struct count *count;
	} plain[] = {
		{ STR("sun.gc.metaspace.used"), &perf->metaspace_used_bytes, NULL },
		{ STR("sun.gc.metaspace.capacity"), &perf->metaspace_capacity_bytes, NULL },
		{ STR("sun.gc.compressedclassspace.used"), &perf->class_space_used_bytes, NULL },
		{ STR("sun.gc.compressedclassspace.capacity"), &perf->class_space_capacity_bytes, NULL },
		{ STR("java.threads.live"), NULL, &perf->threads_live },
		{ STR("java.threads.livePeak"), NULL, &perf->threads_peak },
		{ STR("java.cls.loadedClasses"), NULL, &perf->classes_loaded },
		{ STR("java.cls.unloadedClasses"), NULL, &perf->classes_unloaded },
	};
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
		if (!str_eq(name, plain[i].name))
			continue;
		/* These are written at each GC: 0 is what stands there before the first, and no size. */
		if (plain[i].bytes && value)
			*plain[i].bytes = qty_measured(value);
		else if (plain[i].count)
			*plain[i].count = count_of(value);
		return;
	}
	uint64_t at[2] = { 0, 0 };
	if (name_matches(name, "sun.gc.generation.#.capacity", at) && at[0] < GENERATIONS)
		counters->capacity[at[0]] = qty_measured(value);
	else if (name_matches(name, "sun.gc.generation.#.maxCapacity", at) && at[0] < GENERATIONS)
		counters->max[at[0]] = qty_measured(value);
	else if (name_matches(name, "sun.gc.generation.#.space.#.used", at) && at[0] < GENERATIONS && at[1] < SPACES)
		counters->used[at[0]][at[1]] = qty_measured(value);
	else if (name_matches(name, "sun.gc.collector.#.invocations", at) && at[0] < COLLECTORS)
		counters->invocations[at[0]] = count_of(value);
	else if (name_matches(name, "sun.gc.collector.#.lastExitTime", at) && at[0] < COLLECTORS)
		counters->left_at[at[0]] = count_of(value);
}

static struct qty sum_known(struct qty sum, struct qty part)
{
	if (!qty_known(part))
		return sum;
	return qty_known(sum) ? qty_add(sum, part) : part;
}

/* Serial, Parallel and G1: generation 1 is the old one, collector 0 the young and 1 the full one (collectorCounters.cpp). */
static void sum_old(const struct counters *counters, struct jvm_perf *perf)
{
	if (perf->gc != GC_SERIAL && perf->gc != GC_PARALLEL && perf->gc != GC_G1)
		return;
	perf->old_used_bytes = counters->used[1][0];
	perf->old_max_bytes = counters->max[1];
	perf->full_was_last = counters->left_at[1].known && counters->left_at[1].n > counters->left_at[0].n;
}

static void sum_up(const struct counters *counters, struct jvm_perf *perf)
{
	perf->gc = counters->gc ? counters->gc : counters->args_gc;
	/* G1's and ZGC's generations share one space: each is given the whole heap as its maximum. */
	bool shared = perf->gc == GC_G1 || perf->gc == GC_Z;
	for (unsigned i = 0; i < GENERATIONS; i++) {
		struct qty max = counters->max[i];
		perf->heap_capacity_bytes = sum_known(perf->heap_capacity_bytes, counters->capacity[i]);
		if (!shared)
			perf->heap_max_bytes = sum_known(perf->heap_max_bytes, max);
		else if (qty_known(max) && (!qty_known(perf->heap_max_bytes) || max.bytes > perf->heap_max_bytes.bytes))
			perf->heap_max_bytes = max;
		for (unsigned j = 0; j < SPACES; j++) {
			perf->heap_used_bytes = sum_known(perf->heap_used_bytes, counters->used[i][j]);
			if (!counters->eden[i][j])
				perf->heap_kept_bytes = sum_known(perf->heap_kept_bytes, counters->used[i][j]);
		}
	}
	sum_old(counters, perf);
	for (unsigned i = 0; i < COLLECTORS; i++)
		if (counters->invocations[i].known &&
		    !__builtin_add_overflow(perf->gc_count.n, counters->invocations[i].n, &perf->gc_count.n))
			perf->gc_count.known = true;
}

int hsperf_parse(struct str listing, struct jvm_perf *ret_perf, struct err *err)
{
	struct jvm_perf perf = { 0 };
	struct counters counters = { 0 };
	struct str line, name;

	for (unsigned n = 1; str_line(&listing, &line); n++) {
		if (line.len == 0)
			continue;
		if (str_index(line, '=') == line.len || !str_split(&line, '=', &name))
			return err_set(err, ERR_MALFORMED, "hsperfdata: line %u is no name=value", n);
		uint64_t value;
		if (str_is_u64(line, &value)) {
			parse_number(name, value, &perf, &counters);
			continue;
		}
		auto_buf struct buf text = { .cap = LIMIT_HSPERF };
		if (!unquote(line, &text)) {
			if (text.state == BUF_NOMEM)
				return err_set(err, ERR_NOMEM, "hsperfdata: no memory");
			return err_set(err, ERR_MALFORMED, "hsperfdata: line %u has neither number nor string", n);
		}
		parse_text(name, buf_str(&text), &perf, &counters);
		if (str_eq(name, str_of(args_name))) {
			struct jvm_flags flags = { 0 };
			struct str words = buf_str(&text), word;
			while (str_split(&words, ' ', &word))
				(void)option_apply(word, &flags);
			counters.args_gc = flags.gc;
		}
	}
	sum_up(&counters, &perf);
	*ret_perf = perf;
	return 0;
}
