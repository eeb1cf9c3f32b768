/* SPDX-License-Identifier: Apache-2.0 */
/* time-limit: 300 */
/* A capture gives back what it was given, and a part of one gives an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/prng.h"
#include "sys/evidence.h"

enum { CAPTURES = 300, FACTS = 20000, BYTES_MAX = 4096 };

static char root[256];

static struct evidence *random_evidence(struct prng *prng)
{
	static const char *const names[] = { "proc/smaps", "proc/status",    "cgroup/memory.stat",
					     "jvm/nmt",    "http/metrics.0", "conf/flink",
					     "top",        "a-b_c.9" };
	struct evidence *e = malloc(sizeof *e);
	assert_non_null(e);
	evidence_init(e);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char noise[400];
		size_t len = prng_below(prng, sizeof noise);
		for (size_t at = 0; at < len; at++)
			noise[at] = (char)prng_u64(prng);
		if (prng_one_in(prng, 4))
			continue;
		struct buf *bytes = evidence_new(e, names[i], BYTES_MAX);
		assert_true(bytes && buf_add(bytes, (struct str){ noise, len }));
		if (prng_one_in(prng, 3)) {
			noise[len ? len - 1 : 0] = '\0';
			evidence_fail_set(e, names[i], (enum err_kind)prng_below(prng, ERR_KIND_COUNT), noise);
		} else if (prng_one_in(prng, 5)) {
			evidence_drop(e, names[i]);
		}
		char key[16];
		(void)snprintf(key, sizeof key, "k%zu", i);
		if (prng_one_in(prng, 2))
			assert_true(evidence_fact_str(e, key, (struct str){ noise, len }));
	}
	return e;
}

static void drop(struct evidence *e)
{
	evidence_done(e);
	free(e);
}

static void same(const struct evidence *a, const struct evidence *b)
{
	assert_true(str_eq(buf_str(&a->facts), buf_str(&b->facts)));
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		assert_string_equal(a->items[i].name, b->items[i].name);
		assert_int_equal(a->items[i].err.kind, b->items[i].err.kind);
		assert_string_equal(a->items[i].err.message, b->items[i].err.message);
		assert_true(str_eq(buf_str(&a->items[i].bytes), buf_str(&b->items[i].bytes)));
	}
}

static void write_then_load_is_identity(void **state)
{
	(void)state;
	struct prng prng = prng_start("write_then_load_is_identity");
	for (int i = 0; i < CAPTURES; i++) {
		struct evidence *e = random_evidence(&prng), *back = malloc(sizeof *back);
		struct err err = { 0 };
		char path[512];
		(void)snprintf(path, sizeof path, "%s/%d", root, i);
		evidence_init(back);
		if (evidence_write(e, path, "1", &err) < 0 || evidence_load(path, back, &err) < 0)
			fail_msg("capture %d: %s", i, err.message);
		same(e, back);
		drop(back);

		/* Cut anywhere, it is no capture: the last line says that all is there. */
		char manifest[600];
		(void)snprintf(manifest, sizeof manifest, "%s/manifest", path);
		FILE *file = fopen(manifest, "r");
		assert_non_null(file);
		assert_int_equal(fseek(file, 0, SEEK_END), 0);
		long size = ftell(file);
		(void)fclose(file);
		assert_int_equal(truncate(manifest, (off_t)prng_below(&prng, (uint64_t)size - 4)), 0);
		back = malloc(sizeof *back);
		evidence_init(back);
		assert_true(evidence_load(path, back, &err) < 0);
		drop(back);
		drop(e);
	}
}

static void facts_come_back(void **state)
{
	(void)state;
	struct prng prng = prng_start("facts_come_back");
	for (int i = 0; i < FACTS; i++) {
		struct evidence *e = malloc(sizeof *e);
		evidence_init(e);
		uint64_t n = prng_size(&prng, true);
		assert_true(evidence_fact(e, "before", "%d", i));
		assert_true(evidence_fact(e, "n", "%llu", (unsigned long long)n));
		assert_true(evidence_fact(e, "nn", "%d", i));
		assert_int_equal(evidence_fact_u64(e, "n", 77), n);
		drop(e);
	}
}

static int make_root(void **state)
{
	(void)state;
	const char *tmp = getenv("TMPDIR");
	(void)snprintf(root, sizeof root, "%s/evidence.XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	(void)state;
	char command[300];
	(void)snprintf(command, sizeof command, "rm -rf '%s'", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write_then_load_is_identity),
		cmocka_unit_test(facts_come_back),
	};
	return cmocka_run_group_tests(tests, make_root, remove_root);
}
