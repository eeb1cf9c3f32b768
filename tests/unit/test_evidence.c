/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence, and a capture's way to disk and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "sys/evidence.h"

static char root[256]; /* a directory of this run */

static const char *path_of(const char *name)
{
	static char path[512];
	(void)snprintf(path, sizeof path, "%s/%s", root, name);
	return path;
}

static struct evidence *fresh(void)
{
	struct evidence *e = malloc(sizeof *e);
	assert_non_null(e);
	evidence_init(e);
	return e;
}

static void drop(struct evidence *e)
{
	evidence_done(e);
	free(e);
}

static void put(struct evidence *e, const char *name, const char *text)
{
	struct buf *bytes = evidence_new(e, name, 1000);
	assert_non_null(bytes);
	assert_true(buf_puts(bytes, text));
}

static void names(void **state)
{
	(void)state;
	struct evidence *e = fresh();
	assert_null(evidence_find(e, "proc/smaps"));
	assert_false(evidence_has(e, "proc/smaps"));
	assert_int_equal(evidence_text(e, "proc/smaps").len, 0);
	put(e, "proc/smaps", "one");
	put(e, "proc/smaps", "two"); /* replaces */
	assert_int_equal(e->n, 1);
	assert_true(str_eq(evidence_text(e, "proc/smaps"), STR("two")));
	evidence_fail_set(e, "proc/smaps", ERR_DENIED, "not\nyours");
	assert_false(evidence_has(e, "proc/smaps"));
	assert_int_equal(evidence_text(e, "proc/smaps").len, 0); /* what was read of it is gone */
	assert_string_equal(evidence_find(e, "proc/smaps")->err.message, "not\\x0ayours");
	put(e, "proc/smaps", "three"); /* and back */
	assert_true(evidence_has(e, "proc/smaps"));
	put(e, "proc/stat", "x");
	evidence_drop(e, "proc/smaps");
	evidence_drop(e, "proc/none");
	assert_int_equal(e->n, 1);
	assert_true(evidence_has(e, "proc/stat"));
	char name[64];
	for (int i = 0; i < EVIDENCE_MAX; i++) {
		(void)snprintf(name, sizeof name, "n%d", i);
		if (!evidence_new(e, name, 1))
			assert_int_equal(i, EVIDENCE_MAX - 1);
	}
	assert_int_equal(e->n, EVIDENCE_MAX);
	evidence_fail_set(e, "one-too-many", ERR_IO, "x");
	assert_null(evidence_find(e, "one-too-many"));
	drop(e);
	e = fresh();
	assert_null(evidence_new(e, "a-name-of-forty-eight-bytes-is-one-byte-too-long-", 1));
	drop(e);
}

/* A failure without a kind is a failure all the same: it must not pass for a file of no bytes. */
static void a_failure_without_a_kind(void **state)
{
	(void)state;
	struct evidence *e = fresh();
	const struct err none = { 0 };
	evidence_fail(e, "http/x", &none);
	assert_false(evidence_has(e, "http/x"));
	assert_int_equal(evidence_find(e, "http/x")->err.kind, ERR_IO);
	drop(e);
}

static void facts(void **state)
{
	(void)state;
	struct evidence *e = fresh();
	struct str value;
	assert_true(evidence_fact(e, "pid", "%d", 42));
	assert_true(evidence_fact_str(e, "kernel", STR("6.1.0 x\ny")));
	assert_true(evidence_fact_str(e, "empty", STR("")));
	assert_int_equal(evidence_fact_u64(e, "pid", 7), 42);
	assert_int_equal(evidence_fact_u64(e, "pi", 7), 7);
	assert_int_equal(evidence_fact_u64(e, "kernel", 7), 7);
	assert_true(evidence_fact_find(e, "kernel", &value));
	assert_true(str_eq(value, STR("6.1.0 x\\x0ay")));
	assert_true(evidence_fact_find(e, "empty", &value));
	assert_int_equal(value.len, 0);
	assert_false(evidence_fact_find(e, "none", &value));
	drop(e);
}

/* The last fact that does not fit leaves nothing: half a number is another number. */
static void a_full_set_of_facts_holds_whole_ones(void **state)
{
	(void)state;
	struct evidence *e = fresh();
	char key[16];
	int i = 0;
	do
		(void)snprintf(key, sizeof key, "key%d", i++);
	while (evidence_fact(e, key, "%llu", 1234567890123456789ull));
	struct str rest = buf_str(&e->facts), line, name;
	assert_int_equal(rest.ptr[rest.len - 1], '\n');
	while (str_line(&rest, &line)) {
		assert_true(str_split(&line, ' ', &name));
		assert_true(str_eq(line, STR("1234567890123456789")));
	}
	assert_int_equal(evidence_fact_u64(e, key, 7), 7);
	drop(e);
}

static struct evidence *sample(void)
{
	struct evidence *e = fresh();
	(void)evidence_fact(e, "taken_ms", "%d", 123);
	(void)evidence_fact(e, "pid", "%d", 42);
	put(e, "proc/smaps", "bytes\n");
	put(e, "proc/empty", "");
	struct buf *nul = evidence_new(e, "jvm/hsperf", 100);
	assert_true(buf_add(nul, STR("\0\377\n\0")));
	put(e, "top", "no folder");
	evidence_fail_set(e, "jvm/nmt", ERR_UNSUPPORTED, "Native memory tracking is not enabled");
	evidence_fail_set(e, "http/metrics", ERR_TIMEOUT, "");
	return e;
}

static void same(const struct evidence *a, const struct evidence *b)
{
	assert_true(str_eq(buf_str(&a->facts), buf_str(&b->facts)));
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		assert_string_equal(a->items[i].name, b->items[i].name);
		assert_int_equal(a->items[i].err.kind, b->items[i].err.kind);
		assert_int_equal(a->items[i].err.errnum, b->items[i].err.errnum);
		assert_string_equal(a->items[i].err.message, b->items[i].err.message);
		assert_true(str_eq(buf_str(&a->items[i].bytes), buf_str(&b->items[i].bytes)));
	}
}

static void write_and_load_is_identity(void **state)
{
	(void)state;
	struct evidence *e = sample(), *back = fresh();
	struct err err = { 0 };
	char first[512];
	(void)snprintf(first, sizeof first, "%s", path_of("identity"));
	assert_int_equal(evidence_write(e, first, "1.2.3", &err), 0);
	assert_int_equal(evidence_load(first, back, &err), 0);
	same(e, back);
	/* And again: a capture of a capture is the same capture. */
	struct evidence *third = fresh();
	assert_int_equal(evidence_write(back, path_of("identity2"), "9.9", &err), 0);
	assert_int_equal(evidence_load(path_of("identity2"), third, &err), 0);
	same(e, third);
	drop(third);
	drop(back);
	assert_int_equal(evidence_write(e, first, "1.2.3", &err), -EINVAL); /* never over another capture */
	assert_int_equal(err.kind, ERR_USAGE);
	drop(e);
}

static void files_are_the_owners_alone(void **state)
{
	(void)state;
	struct evidence *e = sample();
	struct err err = { 0 };
	struct stat st;
	assert_int_equal(evidence_write(e, path_of("modes"), "1", &err), 0);
	drop(e);
	static const char *const files[] = { "modes/manifest", "modes/proc/smaps", "modes/top" };
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(stat(path_of(files[i]), &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
	assert_int_equal(stat(path_of("modes/proc"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
}

static void bad_names_are_not_written(void **state)
{
	(void)state;
	static const char *const bad[] = { "../x", "a/../b", "/x", "x/", "a/b/c", ".x", "a/.x", "a b", "a\nb", "" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct evidence *e = fresh();
		struct err err = { 0 };
		char dir[32];
		put(e, bad[i], "x");
		(void)snprintf(dir, sizeof dir, "bad%zu", i);
		if (evidence_write(e, path_of(dir), "1", &err) != -EBADMSG)
			fail_msg("'%s' was written", bad[i]);
		drop(e);
	}
}

static void raw_file(const char *dir, const char *name, const char *text)
{
	char path[512];
	(void)mkdir(path_of(dir), 0700);
	(void)snprintf(path, sizeof path, "%s/%s", path_of(dir), name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	(void)fputs(text, file);
	(void)fclose(file);
}

static void manifests_that_are_wrong(void **state)
{
	(void)state;
	static const struct {
		const char *manifest;
		enum err_kind kind;
		const char *says;
	} table[] = {
		{ "", ERR_MALFORMED, "does not start with" },
		{ "bankfull-capture\n", ERR_MALFORMED, "does not start with" },
		{ "bankfull-capture x\nend\n", ERR_MALFORMED, "does not start with" },
		{ "bankfull-capture 2\nend\n", ERR_UNSUPPORTED, "use a newer bankfull" },
		{ "bankfull-capture 1\npid 42\n", ERR_MALFORMED, "manifest is cut" },
		{ "bankfull-capture 1\nfile proc/x 3\nend\n", ERR_MALFORMED, "file proc/x is missing" },
		{ "bankfull-capture 1\nfile a 2\nend\n", ERR_MALFORMED, "has 3 bytes, its manifest says 2" },
		{ "bankfull-capture 1\nfile a 1\nend\n", ERR_MALFORMED, "has more than the 1 bytes of its manifest" },
		{ "bankfull-capture 1\nfile a 4\nend\n", ERR_MALFORMED, "has 3 bytes, its manifest says 4" },
		{ "bankfull-capture 1\nfile a\nend\n", ERR_MALFORMED, "file line of its manifest is wrong" },
		{ "bankfull-capture 1\nfile a -3\nend\n", ERR_MALFORMED, "file line of its manifest is wrong" },
		{ "bankfull-capture 1\nfile ../../etc/passwd 3\nend\n", ERR_MALFORMED,
		  "file line of its manifest is wrong" },
		{ "bankfull-capture 1\nfile /etc/passwd 3\nend\n", ERR_MALFORMED,
		  "file line of its manifest is wrong" },
		{ "bankfull-capture 1\nfile a 99999999999\nend\n", ERR_LIMIT, "larger than 128 MiB" },
		{ "bankfull-capture 1\nfile a 18446744073709551615\nend\n", ERR_LIMIT, "larger than 128 MiB" },
		{ "bankfull-capture 1\ngap x\nend\n", ERR_MALFORMED, "gap line of its manifest is wrong" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct evidence *e = fresh();
		struct err err = { 0 };
		char dir[32];
		(void)snprintf(dir, sizeof dir, "wrong%zu", i);
		raw_file(dir, "manifest", table[i].manifest);
		raw_file(dir, "a", "abc");
		assert_true(evidence_load(path_of(dir), e, &err) < 0);
		if (err.kind != table[i].kind || !strstr(err.message, table[i].says))
			print_error("%zu: %s\n", i, err.message);
		assert_int_equal(err.kind, table[i].kind);
		assert_non_null(strstr(err.message, table[i].says));
		drop(e);
	}
	struct evidence *e = fresh();
	struct err err = { 0 };
	assert_true(evidence_load(path_of("none"), e, &err) < 0);
	assert_int_equal(err.kind, ERR_USAGE);
	(void)mkdir(path_of("plain"), 0700);
	assert_true(evidence_load(path_of("plain"), e, &err) < 0);
	assert_int_equal(err.kind, ERR_MALFORMED);
	assert_non_null(strstr(err.message, "no manifest"));
	drop(e);
}

/* A capture may come from anybody: a link in it leads nowhere else. */
static void links_out_of_a_capture_are_refused(void **state)
{
	(void)state;
	struct evidence *e = fresh();
	struct err err = { 0 };
	raw_file("link", "manifest", "bankfull-capture 1\nfile a 3\nend\n");
	raw_file(".", "outside", "abc");
	assert_int_equal(symlink("../outside", path_of("link/a")), 0);
	assert_true(evidence_load(path_of("link"), e, &err) < 0);
	assert_false(evidence_has(e, "a") && evidence_text(e, "a").len);
	drop(e);
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

static void facts_can_be_replaced(void **state)
{
	(void)state;
	static struct evidence e;
	struct str value;
	evidence_init(&e);
	assert_true(evidence_fact(&e, "one", "1") && evidence_fact(&e, "two", "%s", "2 2") &&
		    evidence_fact(&e, "three", "3"));
	evidence_fact_drop(&e, "two");
	evidence_fact_drop(&e, "none");
	assert_false(evidence_fact_find(&e, "two", &value));
	assert_string_equal(e.facts.ptr, "one 1\nthree 3\n");
	assert_true(evidence_fact(&e, "two", "9"));
	assert_int_equal(evidence_fact_u64(&e, "two", 0), 9);
	evidence_fact_drop(&e, "one");
	evidence_fact_drop(&e, "two");
	evidence_fact_drop(&e, "three");
	assert_int_equal(e.facts.len, 0);
	evidence_done(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_can_be_replaced),
		cmocka_unit_test(names),
		cmocka_unit_test(a_failure_without_a_kind),
		cmocka_unit_test(facts),
		cmocka_unit_test(a_full_set_of_facts_holds_whole_ones),
		cmocka_unit_test(write_and_load_is_identity),
		cmocka_unit_test(files_are_the_owners_alone),
		cmocka_unit_test(bad_names_are_not_written),
		cmocka_unit_test(manifests_that_are_wrong),
		cmocka_unit_test(links_out_of_a_capture_are_refused),
	};
	return cmocka_run_group_tests(tests, make_root, remove_root);
}
