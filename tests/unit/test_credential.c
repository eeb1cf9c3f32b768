/* SPDX-License-Identifier: Apache-2.0 */
/* A token in a file that somebody renews, or does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "agent/credential.h"
#include "base/auto.h"
#include "support/scratch.h"

/* {"exp":1790000000} */
#define TOKEN_A "YQ.eyJleHAiOjE3OTAwMDAwMDB9.YQ"
/* {"exp":1790003600} */
#define TOKEN_B "YQ.eyJleHAiOjE3OTAwMDM2MDB9.YQ"
#define END_A   INT64_C(1790000000000)

static void when(void **state)
{
	static const struct {
		int64_t expires_ms, now_ms;
		bool fresh;
		enum credential_state state;
	} cases[] = {
		{ END_A, END_A - 3600000, false, CREDENTIAL_WELL },
		{ END_A, END_A - 3600000, true, CREDENTIAL_FRESH },
		{ END_A, END_A - 200001, true, CREDENTIAL_FRESH },
		{ END_A, END_A - 200000, true, CREDENTIAL_RENEW },
		{ END_A, END_A + 1, true, CREDENTIAL_RENEW },
		{ END_A, END_A - CREDENTIAL_STALE_MS - 1, false, CREDENTIAL_WELL },
		{ END_A, END_A - CREDENTIAL_STALE_MS, false, CREDENTIAL_STALE },
		{ END_A, END_A + 1, false, CREDENTIAL_STALE },
		/* one that does not say */
		{ 0, END_A, false, CREDENTIAL_WELL },
		{ 0, END_A, true, CREDENTIAL_FRESH },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (credential_judge((struct wall){ cases[i].expires_ms }, 200000, cases[i].fresh,
				     (struct wall){ cases[i].now_ms }) != cases[i].state)
			fail_msg("case %zu", i);
}

/* As a kubelet's volume: the files stay, and a link goes from one to the next. */
static void swap(const struct scratch *scratch, const char *to)
{
	char link[300];
	(void)snprintf(link, sizeof link, "%s/token", scratch->path);
	(void)unlink(link);
	if (to)
		scratch_link(scratch, "token", to);
}

static void a_file_that_is_renewed(void **state)
{
	auto_(scratch_done) struct scratch scratch = scratch_new();
	const struct wall early = { END_A - 3600000 }, late = { END_A - 100000 };
	char path[300];
	(void)state;
	(void)snprintf(path, sizeof path, "%s/token", scratch.path);
	scratch_file(&scratch, "a", TOKEN_A "\n");
	scratch_file(&scratch, "a2", TOKEN_A);
	scratch_file(&scratch, "b", TOKEN_B);
	scratch_file(&scratch, "empty", "");
	scratch_file(&scratch, "static", "0123456789abcdef");
	swap(&scratch, "a");
	struct credential credential = { .path = path };
	for (uint64_t chance = 0; chance < 1000000; chance += 99999) {
		credential_show(&credential, chance);
		assert_in_range(credential.renew_ms, CREDENTIAL_RENEW_MS - CREDENTIAL_RENEW_SPREAD_MS,
				CREDENTIAL_RENEW_MS);
	}
	assert_int_equal(credential.expires.ms, END_A);
	assert_int_equal(credential_look(&credential, early), CREDENTIAL_WELL);
	swap(&scratch, "a2"); /* written again, and the same one */
	assert_int_equal(credential_look(&credential, early), CREDENTIAL_WELL);
	swap(&scratch, "b");
	assert_int_equal(credential_look(&credential, early), CREDENTIAL_FRESH);
	assert_int_equal(credential_look(&credential, late), CREDENTIAL_RENEW);
	credential_show(&credential, 0);
	assert_int_equal(credential_look(&credential, late), CREDENTIAL_WELL);
	assert_int_equal(credential.expires.ms, END_A + 3600000);
	swap(&scratch, "empty");
	assert_int_equal(credential_look(&credential, late), CREDENTIAL_WELL);
	swap(&scratch, NULL);
	assert_int_equal(credential_look(&credential, late), CREDENTIAL_WELL);
	/* There was none at the attempt: any is fresh. */
	credential_show(&credential, 0);
	assert_int_equal(credential_look(&credential, late), CREDENTIAL_WELL);
	swap(&scratch, "static");
	assert_int_equal(credential_look(&credential, late), CREDENTIAL_FRESH);
	credential_show(&credential, 0);
	assert_int_equal(credential.expires.ms, 0);
	assert_int_equal(credential_look(&credential, late), CREDENTIAL_WELL);
}

static void none(void **state)
{
	struct credential credential = { 0 };
	(void)state;
	credential_show(&credential, 1);
	assert_int_equal(credential_look(&credential, (struct wall){ END_A }), CREDENTIAL_WELL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when),
		cmocka_unit_test(a_file_that_is_renewed),
		cmocka_unit_test(none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
