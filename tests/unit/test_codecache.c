/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "jvm/codecache.h"
#include "support/tight.h"

#define DIR  "tests/fixtures/jvm/"
#define K(n) ((uint64_t)(n) << 10)

static const struct {
	const char *path;
	size_t n_ranges;
	uint64_t size, used;
} real[] = {
	{ DIR "jdk17-epsilon/codecache.txt", 1, K(245760), K(1115) },
	{ DIR "jdk25-epsilon/codecache.txt", 1, K(245760), K(1132) },
	{ DIR "jdk17-g1/codecache.txt", 3, 0, 0 },
	{ DIR "jdk25-g1/codecache.txt", 3, 0, 0 },
	{ DIR "jdk25-zgc/codecache.txt", 3, 0, 0 },
};

static void answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof real / sizeof real[0]; i++) {
		struct jvm_code code;
		struct err err = { 0 };
		struct str text = tight_read(real[i].path);
		if (codecache_parse(text, &code, &err) < 0)
			fail_msg("%s: %s", real[i].path, err.message);
		assert_int_equal(code.n_ranges, real[i].n_ranges);
		if (real[i].size) {
			assert_int_equal(code.size_bytes.bytes, real[i].size);
			assert_int_equal(code.used_bytes.bytes, real[i].used);
		}
		assert_true(code.size_bytes.bytes >= K(245760) && code.size_bytes.bytes <= K(245770));
		assert_true(code.used_bytes.bytes > K(1000) && code.used_bytes.bytes <= code.max_used_bytes.bytes);
		tight_free(text);
	}
}

static void refused(void **state)
{
	static const char *const cases[] = {
		"",
		"CodeCache: size=1Kb, used=1Kb, max_used=1Kb, free=0Kb\n",
		" bounds [0x1, 0x2, 0x3]\n",
		"CodeHeap 'x': size=1Kb used=1Kb max_used=1Kb\n bounds [0x1, 0x2]\n",
		"CodeHeap 'x': size=1Kb used=1Kb max_used=1Kb\n bounds [0x3, 0x2, 0x1]\n",
		"CodeHeap 'x': size=1Kb used=1Kb max_used=1Kb\n bounds [0x1, 0x1, 0x1]\n",
		"CodeHeap 'x': size=1Kb used=Kb max_used=1Kb\n bounds [0x1, 0x2, 0x3]\n",
		"CodeHeap 'x': size=1Kb used=99999999999999999999Kb max_used=1Kb\n bounds [0x1, 0x2, 0x3]\n",
		"CodeHeap 'x': size=1Kb used=1Kb max_used=1Kb\n bounds [0x1, 0x2, 0x11111111111111111]\n",
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct jvm_code code, before;
		struct err err = { 0 };
		memset(&code, 0x5a, sizeof code);
		before = code;
		struct str text = tight_of(str_of(cases[i]));
		if (codecache_parse(text, &code, &err) >= 0)
			fail_msg("taken: %s", cases[i]);
		assert_int_equal(err.kind, ERR_MALFORMED);
		assert_memory_equal(&code, &before, sizeof code);
		tight_free(text);
	}
}

static void too_many_heaps(void **state)
{
	static const char heap[] = "CodeHeap 'x': size=1Kb used=1Kb max_used=1Kb\n bounds [0x1, 0x2, 0x3]\n";
	char text[sizeof heap * (JVM_CODE_RANGES_MAX + 1)] = "";
	struct jvm_code code;
	struct err err = { 0 };
	(void)state;
	for (int i = 0; i <= JVM_CODE_RANGES_MAX; i++)
		strcat(text, heap);
	assert_true(codecache_parse(str_of(text), &code, &err) < 0);
}

static void parse_prefix(struct str prefix)
{
	struct jvm_code code;
	struct err err = { 0 };
	if (codecache_parse(prefix, &code, &err) < 0)
		assert_int_equal(err.kind, ERR_MALFORMED);
}

static void prefixes(void **state)
{
	(void)state;
	struct str text = tight_read(DIR "jdk25-g1/codecache.txt");
	tight_prefixes(text, 1000, parse_prefix);
	tight_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),
		cmocka_unit_test(refused),
		cmocka_unit_test(too_many_heaps),
		cmocka_unit_test(prefixes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
