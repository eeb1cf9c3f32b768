/* SPDX-License-Identifier: Apache-2.0 */
/* When the tokens of agents that are connected are reviewed again, and what becomes of their sessions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "collector/proof.h"

enum { AGAIN_MS = 600000 };

static const struct mono start = { UINT64_C(7000000000000) };

static int set_up(void **state)
{
	static struct proofs proofs;
	assert_true(proofs_init(&proofs, AGAIN_MS));
	*state = &proofs;
	return 0;
}

static int tear_down(void **state)
{
	struct proofs *proofs = *state;
	while (proofs->first)
		proof_free(proofs->first);
	assert_int_equal(proofs->n, 0);
	assert_null(proofs->at);
	proofs_done(proofs);
	return 0;
}

static void digest_of(unsigned n, uint8_t digest[HASH_SHA256_LEN])
{
	char text[16];
	struct err err;
	(void)snprintf(text, sizeof text, "token-%u", n);
	assert_int_equal(hash_sha256(str_of(text), digest, &err), 0);
}

static struct proof *add(struct proofs *proofs, unsigned n, struct mono now)
{
	uint8_t digest[HASH_SHA256_LEN];
	digest_of(n, digest);
	struct proof *proof = proof_new(proofs, STR("a.b.c"), digest, (struct wall){ 1 }, now);
	assert_non_null(proof);
	return proof;
}

static size_t settle(struct proofs *proofs, unsigned n, enum proof_outcome outcome, struct mono now)
{
	uint8_t digest[HASH_SHA256_LEN];
	digest_of(n, digest);
	return proofs_settle(proofs, digest, outcome, now);
}

/* Which one is due when, to a second; the clock goes on to it. */
static struct proof *wait_for(struct proofs *proofs, struct mono *now, uint64_t most_ms)
{
	for (uint64_t ms = 0; ms <= most_ms; ms += 1000, *now = mono_add_ms(*now, 1000)) {
		struct proof *proof = proofs_due(proofs, *now);
		if (proof)
			return proof;
	}
	return NULL;
}

static void again_and_again(void **state)
{
	struct proofs *proofs = *state;
	struct mono now = start;
	assert_int_equal(settle(proofs, 1, PROOF_GOOD, now), 0); /* its first review; it connects then */
	struct proof *proof = add(proofs, 1, now);
	assert_memory_equal(proof->token, "a.b.c", proof->len);
	for (int i = 0; i < 5; i++) {
		struct mono before = now;
		assert_ptr_equal(wait_for(proofs, &now, 2 * AGAIN_MS), proof);
		assert_in_range(mono_ms_until(before, now), AGAIN_MS / 4 * 3, AGAIN_MS / 4 * 5 + 1000);
		assert_null(wait_for(proofs, &now, 2 * AGAIN_MS)); /* it is being asked about */
		assert_int_equal(settle(proofs, 1, PROOF_GOOD, now), 0);
		assert_false(proof_refused(proof));
	}
}

static void not_all_at_once(void **state)
{
	struct proofs *proofs = *state;
	enum { N = 2000, SLICES = 10 };
	unsigned restarted[SLICES] = { 0 }, later[SLICES] = { 0 };
	for (unsigned i = 0; i < N; i++) {
		uint64_t due = mono_ms_until(start, add(proofs, i, start)->due);
		assert_true(due < AGAIN_MS / 2);
		restarted[due * SLICES / (AGAIN_MS / 2)]++;
		assert_int_equal(settle(proofs, i, PROOF_GOOD, start), 0);
	}
	for (struct proof *proof = proofs->first; proof; proof = proof->next) {
		uint64_t due = mono_ms_until(start, proof->due) - AGAIN_MS / 4 * 3;
		assert_true(due < AGAIN_MS / 2);
		later[due * SLICES / (AGAIN_MS / 2)]++;
	}
	for (int i = 0; i < SLICES; i++) {
		assert_in_range(restarted[i], N / SLICES / 2, N / SLICES * 2);
		assert_in_range(later[i], N / SLICES / 2, N / SLICES * 2);
	}
	/* Each has its turn. */
	struct mono now = mono_add_ms(start, 2 * AGAIN_MS);
	for (unsigned i = 0; i < N; i++)
		assert_non_null(proofs_due(proofs, now));
	assert_null(proofs_due(proofs, now));
}

static void who_comes_back_is_not_asked_about_later(void **state)
{
	struct proofs *proofs = *state;
	struct mono now = start;
	(void)settle(proofs, 1, PROOF_GOOD, now);
	for (int i = 0; i < 100; i++) {
		proof_free(add(proofs, 1, now));
		now = mono_add_ms(now, AGAIN_MS / 50);
	}
	struct proof *proof = add(proofs, 1, now);
	assert_ptr_equal(proofs_due(proofs, now), proof);
}

static void a_refusal(void **state)
{
	struct proofs *proofs = *state;
	struct proof *one = add(proofs, 1, start), *same = add(proofs, 1, start), *other = add(proofs, 2, start);
	assert_int_equal(settle(proofs, 1, PROOF_REFUSED, start), 2);
	assert_true(proof_refused(one) && proof_refused(same));
	assert_false(proof_refused(other));
	assert_false(proof_refused(NULL));
	assert_int_equal(settle(proofs, 1, PROOF_REFUSED, start), 0);
	assert_int_equal(settle(proofs, 1, PROOF_GOOD, start), 0); /* what was refused stays so */
	assert_true(proof_refused(one));
	struct mono now = mono_add_ms(start, 2 * AGAIN_MS);
	assert_ptr_equal(proofs_due(proofs, now), other);
	assert_null(proofs_due(proofs, now));
}

static void nobody_to_ask(void **state)
{
	struct proofs *proofs = *state;
	struct mono now = start;
	struct proof *proof = add(proofs, 1, now);
	assert_ptr_equal(wait_for(proofs, &now, AGAIN_MS), proof);
	for (int i = 0; i < 20; i++) {
		struct mono before = now;
		assert_int_equal(settle(proofs, 1, PROOF_NOT_ASKED, now), 0);
		assert_false(proof_refused(proof));
		assert_ptr_equal(wait_for(proofs, &now, AGAIN_MS), proof);
		assert_in_range(mono_ms_until(before, now), PROOF_RETRY_MS, 2 * PROOF_RETRY_MS + 1000);
	}
}

/* The one where the last look ended may go. */
static void who_leaves_in_between(void **state)
{
	struct proofs *proofs = *state;
	struct mono now = mono_add_ms(start, AGAIN_MS);
	struct proof *proof[5];
	for (unsigned i = 0; i < 5; i++)
		proof[i] = add(proofs, i, start);
	assert_ptr_equal(proofs_due(proofs, now), proof[4]); /* the latest stands first */
	proof_free(proof[3]);
	assert_ptr_equal(proofs_due(proofs, now), proof[2]);
	proof_free(proof[0]);
	proof_free(proof[4]);
	assert_ptr_equal(proofs_due(proofs, now), proof[1]);
	assert_null(proofs_due(proofs, now));
	assert_int_equal(proofs->n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(again_and_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(not_all_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_comes_back_is_not_asked_about_later, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_refusal, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nobody_to_ask, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_leaves_in_between, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
