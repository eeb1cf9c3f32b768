/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "jvm/hsperf.h"
#include "support/tight.h"

#define DIR  "tests/fixtures/jvm/"
#define M(n) ((uint64_t)(n) << 20)

/* --- a writer of the format, for what no JVM would write ---------------------------------------- */

struct writer {
	unsigned char bytes[8192];
	size_t len;
	int n_entries;
	bool big;
};

static void put(struct writer *w, size_t at, uint64_t value, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		w->bytes[at + (w->big ? len - 1 - i : i)] = (unsigned char)(value >> 8 * i);
}

static void entry(struct writer *w, const char *name, char type, const void *data, size_t len)
{
	size_t at = w->len, name_len = strlen(name) + 1, data_at = (20 + name_len + 7) / 8 * 8;
	size_t total = (data_at + (type == 'J' ? 8 : len) + 7) / 8 * 8;
	put(w, at, total, 4);
	put(w, at + 4, 20, 4);
	put(w, at + 8, type == 'J' ? 0 : len, 4);
	w->bytes[at + 12] = (unsigned char)type;
	put(w, at + 16, data_at, 4);
	memcpy(w->bytes + at + 20, name, name_len);
	if (type == 'J')
		put(w, at + data_at, *(const uint64_t *)data, 8);
	else
		memcpy(w->bytes + at + data_at, data, len);
	w->len += total;
	w->n_entries++;
}

static void number(struct writer *w, const char *name, uint64_t value)
{
	entry(w, name, 'J', &value, 8);
}

static void text(struct writer *w, const char *name, const char *value)
{
	entry(w, name, 'B', value, strlen(value) + 1);
}

static void start(struct writer *w, bool big)
{
	memset(w, 0, sizeof *w);
	w->big = big;
	w->len = 32;
}

static struct str finish(struct writer *w)
{
	static const unsigned char magic[4] = { 0xca, 0xfe, 0xc0, 0xc0 };
	memcpy(w->bytes, magic, 4);
	w->bytes[4] = !w->big;
	w->bytes[5] = 2;
	w->bytes[7] = 1;
	put(w, 8, w->len, 4);
	put(w, 24, 32, 4);
	put(w, 28, (uint64_t)w->n_entries, 4);
	return (struct str){ (const char *)w->bytes, w->len };
}

static int decode(struct str bytes, struct buf *out, struct err *err)
{
	struct str tight = tight_of(bytes);
	int rc = hsperf_decode(tight, out, err);
	tight_free(tight);
	return rc;
}

/* --- real files ------------------------------------------------------------------------------------ */

static void real_files(void **state)
{
	static const char *const cases[] = { "jdk17-g1", "jdk25-zgc" };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char path[96];
		auto_buf struct buf listing = { .cap = 1 << 20 };
		struct err err = { 0 };
		(void)snprintf(path, sizeof path, DIR "%s/hsperf.bin", cases[i]);
		struct str bytes = tight_read(path);
		assert_int_equal(hsperf_decode(bytes, &listing, &err), 0);
		(void)snprintf(path, sizeof path, DIR "%s/hsperf.txt", cases[i]);
		struct str wanted = tight_read(path);
		assert_true(str_eq(buf_str(&listing), wanted));
		/* Nothing that was not asked for: class path, home, library path, user. */
		assert_false(str_has(buf_str(&listing), STR("/usr")));
		assert_false(str_has(buf_str(&listing), STR("/tmp")));
		tight_free(bytes);
		tight_free(wanted);
	}
}

static void real_listings(void **state)
{
	static const struct {
		const char *path;
		enum jvm_gc gc;
		uint64_t max;
	} cases[] = {
		{ DIR "jdk17-g1/hsperf.txt", GC_G1, M(256) + 24 }, /* 17 pads */
		{ DIR "jdk17-parallel/hsperf.txt", GC_PARALLEL, M(256) },
		{ DIR "jdk17-serial/hsperf.txt", GC_SERIAL, M(256) },
		{ DIR "jdk17-zgc/hsperf.txt", GC_Z, M(256) },
		{ DIR "jdk17-shenandoah/hsperf.txt", GC_SHENANDOAH, M(256) },
		{ DIR "jdk17-epsilon/hsperf.txt", GC_EPSILON, M(64) },
		{ DIR "jdk25-g1/hsperf.txt", GC_G1, M(256) },
		{ DIR "jdk25-parallel/hsperf.txt", GC_PARALLEL, M(256) },
		{ DIR "jdk25-serial/hsperf.txt", GC_SERIAL, M(256) },
		{ DIR "jdk25-zgc/hsperf.txt", GC_Z, M(256) },
		{ DIR "jdk25-shenandoah/hsperf.txt", GC_SHENANDOAH, M(256) },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct jvm_perf perf;
		struct err err = { 0 };
		struct str listing = tight_read(cases[i].path);
		if (hsperf_parse(listing, &perf, &err) < 0)
			fail_msg("%s: %s", cases[i].path, err.message);
		if (perf.gc != cases[i].gc)
			fail_msg("%s: %s", cases[i].path, jvm_gc_names[perf.gc]);
		assert_string_equal(perf.vm_name, "OpenJDK 64-Bit Server VM");
		assert_true(strncmp(perf.java_version, strstr(cases[i].path, "17") ? "17." : "25.", 3) == 0);
		assert_true(perf.threads_live.known && perf.classes_loaded.known);
		if (perf.gc != GC_EPSILON)
			assert_int_equal(perf.heap_max_bytes.bytes, cases[i].max);
		assert_true(perf.metaspace_used_bytes.bytes <= perf.metaspace_capacity_bytes.bytes);
		tight_free(listing);
	}
}

/* Eden is filled as the program allocates: only what is not in it tells of the last collection. */
static void what_the_last_collection_left(void **state)
{
	static const struct {
		const char *path;
		uint64_t kept, old, old_max; /* old 0: this collector has no old generation of its own */
		bool full;
	} cases[] = {
		{ DIR "jdk17-serial/hsperf.txt", 47646696, 47646696, 178978816, true },
		{ DIR "jdk17-g1/hsperf.txt", 105922832, 105828352, M(256) + 8, false },
		{ DIR "jdk17-zgc/hsperf.txt", 106954752, 0, 0, false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct jvm_perf perf;
		struct err err = { 0 };
		struct str listing = tight_read(cases[i].path);
		assert_int_equal(hsperf_parse(listing, &perf, &err), 0);
		assert_int_equal(perf.heap_kept_bytes.bytes, cases[i].kept);
		assert_true(perf.heap_kept_bytes.bytes <= perf.heap_used_bytes.bytes);
		assert_int_equal(qty_or(perf.old_used_bytes, 0), cases[i].old);
		assert_int_equal(qty_or(perf.old_max_bytes, 0), cases[i].old_max);
		assert_int_equal(perf.full_was_last, cases[i].full);
		tight_free(listing);
	}
}

/* --- hostile files ----------------------------------------------------------------------------------- */

static void both_byte_orders(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct writer w;
		auto_buf struct buf out = { .cap = 1 << 16 };
		struct err err = { 0 };
		struct jvm_perf perf;
		start(&w, big);
		number(&w, "sun.gc.metaspace.used", 83184);
		text(&w, "java.property.java.vm.version", "25.0.3+9-LTS");
		number(&w, "sun.gc.generation.0.capacity", UINT64_MAX); /* -1: not known */
		number(&w, "sun.gc.metaspace.capacity", 0);             /* until the first GC */
		number(&w, "sun.gc.unheard.of", 7);
		assert_int_equal(decode(finish(&w), &out, &err), 0);
		assert_string_equal(out.ptr,
				    "sun.gc.metaspace.used=83184\njava.property.java.vm.version=\"25.0.3+9-LTS\"\n"
				    "sun.gc.metaspace.capacity=0\n");
		assert_int_equal(hsperf_parse(buf_str(&out), &perf, &err), 0);
		assert_int_equal(perf.metaspace_used_bytes.bytes, 83184);
		assert_false(qty_known(perf.heap_capacity_bytes));
		assert_false(qty_known(perf.heap_used_bytes));
		assert_false(qty_known(perf.metaspace_capacity_bytes));
		assert_false(perf.gc_count.known);
	}
}

static void secrets_do_not_pass(void **state)
{
	struct writer w;
	auto_buf struct buf out = { .cap = 1 << 16 };
	struct err err = { 0 };
	struct jvm_perf perf;
	(void)state;
	start(&w, false);
	text(&w, "java.rt.vmArgs",
	     "-Xmx64m -Ddb.password=CANARY-1 -Dx=a CANARY-2 -XX:OnOutOfMemoryError=CANARY-3 -XX:+UseZGC -DCANARY-4 -XX:+CANARY5 -Dtoken CANARY-6=1");
	text(&w, "sun.rt.javaCommand",
	     "com.example.Main --token CANARY-7 password=CANARY-8 -D rest.port=8081 -Dsecret.CANARY=1");
	text(&w, "java.property.java.class.path", "/CANARY-9");
	text(&w, "sun.property.CANARY", "x");
	assert_int_equal(decode(finish(&w), &out, &err), 0);
	assert_false(str_has(buf_str(&out), STR("CANARY")));
	assert_true(str_has(buf_str(&out), STR("-Xmx64m <redacted>")));
	assert_true(str_has(buf_str(&out), STR("com.example.Main <redacted>")));
	assert_true(str_has(buf_str(&out), STR("rest.port=8081")));
	assert_int_equal(hsperf_parse(buf_str(&out), &perf, &err), 0);
	assert_int_equal(perf.gc, GC_Z);
}

/* HotSpot keeps 1024 bytes of the options. */
static void cut_options(void **state)
{
	char args[1025];
	(void)state;
	for (int whole = 0; whole < 2; whole++) {
		struct writer w;
		auto_buf struct buf out = { .cap = 1 << 16 }, words = { .cap = 1 << 16 };
		struct err err = { 0 };
		bool told = !whole;
		memset(args, 'x', sizeof args);
		memcpy(args, "-Xmx64m ", 8);
		memcpy(args + 1024 - 8, " -Xmx102", 8);
		args[1024 - whole] = '\0';
		start(&w, false);
		text(&w, "java.rt.vmArgs", args);
		assert_int_equal(decode(finish(&w), &out, &err), 0);
		assert_true(hsperf_args(buf_str(&out), &words, &told));
		assert_int_equal(told, whole);
		assert_string_equal(words.ptr, whole ? "-Xmx64m <redacted> -Xmx10" : "-Xmx64m <redacted>");
	}
	auto_buf struct buf words = { .cap = 1 << 16 };
	bool told = true;
	/* A capture from before it was said. */
	assert_true(hsperf_args(STR("java.rt.vmArgs=\"-Xmx64m\"\n"), &words, &told));
	assert_false(told);
	assert_false(hsperf_args(STR("java.rt.vmArgs.whole=1\n"), &words, &told));
}

static void strings_are_quoted(void **state)
{
	struct writer w;
	auto_buf struct buf out = { .cap = 1 << 16 }, back = { .cap = 1 << 16 };
	struct err err = { 0 };
	struct jvm_perf perf;
	(void)state;
	start(&w, false);
	text(&w, "sun.gc.cause", "a\"b\\c\nsun.gc.metaspace.used=1\x1b[2J\xff");
	assert_int_equal(decode(finish(&w), &out, &err), 0);
	assert_string_equal(out.ptr, "sun.gc.cause=\"a\\\"b\\\\c\\x0asun.gc.metaspace.used=1\\x1b[2J\\xff\"\n");
	assert_int_equal(hsperf_parse(buf_str(&out), &perf, &err), 0);
	assert_false(qty_known(perf.metaspace_used_bytes));
	assert_true(hsperf_find(buf_str(&out), STR("sun.gc.cause"), &back));
	assert_string_equal(back.ptr, "a\"b\\c\nsun.gc.metaspace.used=1\x1b[2J\xff");
	assert_false(hsperf_find(buf_str(&out), STR("sun.gc"), &back));
}

/* One field of the head or of the only entry set to a value that must be refused. */
static void wrong_fields(void **state)
{
	static const struct {
		size_t at;
		unsigned len;
		uint64_t value;
		enum err_kind kind;
	} cases[] = {
		{ 0, 4, 0, ERR_MALFORMED },           { 4, 1, 2, ERR_MALFORMED },
		{ 5, 1, 1, ERR_UNSUPPORTED },         { 5, 1, 3, ERR_UNSUPPORTED },
		{ 7, 1, 0, ERR_UNSUPPORTED },         { 8, 4, 31, ERR_MALFORMED },
		{ 8, 4, 0xffffffff, ERR_MALFORMED },  { 8, 4, 1 << 20, ERR_MALFORMED },
		{ 24, 4, 0, ERR_MALFORMED },          { 24, 4, 31, ERR_MALFORMED },
		{ 24, 4, 0xfffffff0, ERR_MALFORMED }, { 28, 4, 2, ERR_MALFORMED },
		{ 28, 4, 0xffffffff, ERR_MALFORMED }, { 32, 4, 0, ERR_MALFORMED },
		{ 32, 4, 19, ERR_MALFORMED },         { 32, 4, 0x7fffffff, ERR_MALFORMED },
		{ 36, 4, 19, ERR_MALFORMED },         { 36, 4, 0xffffffff, ERR_MALFORMED },
		{ 36, 4, 1000, ERR_MALFORMED },       { 40, 4, 0xffffffff, ERR_MALFORMED },
		{ 48, 4, 0xffffffff, ERR_MALFORMED }, { 48, 4, 1000, ERR_MALFORMED },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct writer w;
		auto_buf struct buf out = { .cap = 1 << 16 };
		struct err err = { 0 };
		start(&w, false);
		number(&w, "sun.gc.metaspace.used", 1);
		(void)finish(&w);
		put(&w, cases[i].at, cases[i].value, cases[i].len);
		int rc = decode((struct str){ (const char *)w.bytes, w.len }, &out, &err);
		if (rc >= 0 || err.kind != cases[i].kind || out.len != 0)
			fail_msg("case %zu: rc %d, %s", i, rc, err.message);
	}
}

static void lost_counters_are_said(void **state)
{
	struct writer w;
	auto_buf struct buf out = { .cap = 1 << 16 };
	struct err err = { 0 };
	struct jvm_perf perf;
	(void)state;
	start(&w, false);
	(void)finish(&w);
	put(&w, 12, 77, 4);
	assert_int_equal(decode((struct str){ (const char *)w.bytes, w.len }, &out, &err), 0);
	assert_string_equal(out.ptr, "overflow=77\n");
	assert_int_equal(hsperf_parse(buf_str(&out), &perf, &err), 0);
}

static void decode_prefix(struct str prefix)
{
	auto_buf struct buf out = { .cap = 1 << 20 };
	struct err err = { 0 };
	if (hsperf_decode(prefix, &out, &err) < 0)
		assert_int_equal(out.len, 0);
}

static void parse_prefix(struct str prefix)
{
	struct jvm_perf perf;
	struct err err = { 0 };
	if (hsperf_parse(prefix, &perf, &err) < 0)
		assert_int_equal(err.kind, ERR_MALFORMED);
}

static void prefixes(void **state)
{
	(void)state;
	struct str bytes = tight_read(DIR "jdk17-g1/hsperf.bin"), listing = tight_read(DIR "jdk17-g1/hsperf.txt");
	tight_prefixes(bytes, 1000, decode_prefix);
	tight_prefixes(listing, 3000, parse_prefix);
	tight_free(bytes);
	tight_free(listing);
}

static void wrong_listings(void **state)
{
	static const char *const cases[] = { "no equals sign\n", "a=18446744073709551616\n",
					     "a=\"open\n",       "a=-1\n",
					     "a=\"\\xg0\"\n",    "a=\n" };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct jvm_perf perf, before;
		struct err err = { 0 };
		memset(&perf, 0x5a, sizeof perf);
		before = perf;
		struct str tight = tight_of(str_of(cases[i]));
		if (hsperf_parse(tight, &perf, &err) >= 0)
			fail_msg("taken: %s", cases[i]);
		assert_int_equal(err.kind, ERR_MALFORMED);
		assert_memory_equal(&perf, &before, sizeof perf);
		tight_free(tight);
	}
}

static void full_output(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = 100 };
	struct err err = { 0 };
	struct str bytes = tight_read(DIR "jdk17-g1/hsperf.bin");
	assert_true(hsperf_decode(bytes, &out, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
	tight_free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_files),
		cmocka_unit_test(real_listings),
		cmocka_unit_test(what_the_last_collection_left),
		cmocka_unit_test(both_byte_orders),
		cmocka_unit_test(secrets_do_not_pass),
		cmocka_unit_test(strings_are_quoted),
		cmocka_unit_test(cut_options),
		cmocka_unit_test(wrong_fields),
		cmocka_unit_test(lost_counters_are_said),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(wrong_listings),
		cmocka_unit_test(full_output),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
