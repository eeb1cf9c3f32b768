/* SPDX-License-Identifier: Apache-2.0 */
/* time-limit: 600 */
/* What holds of the books whatever was read: exact sums, signed residuals, no use of what is unread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "data/js.h"
#include "ledger/reconcile.h"
#include "rules/rules.h"
#include "support/chaos.h"
#include "support/snap.h"

enum { SNAPSHOTS = 20000, JSON_CAP = 1 << 20 };

/* tools/mutate looks at fewer. */
static int snapshots(void)
{
	const char *n = getenv("SNAPSHOTS");
	return n ? atoi(n) : SNAPSHOTS;
}

struct wide {
	uint64_t low, high; /* 128 bits by hand: __int128 is no C11 */
	bool any;
};

static void wide_add(struct wide *sum, uint64_t n)
{
	sum->any = true;
	if (__builtin_add_overflow(sum->low, n, &sum->low))
		sum->high++;
}

static struct wide lines_of(const struct ledger *l, int group)
{
	struct wide sum = { 0 };
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		if (l->listed[owner] && qty_known(l->lines[owner].bytes) &&
		    (group < 0 || owner_table[owner].group == (enum ledger_group)group))
			wide_add(&sum, l->lines[owner].bytes.bytes);
	return sum;
}

#define CHECK(condition)                                                 \
	do {                                                             \
		if (!(condition))                                        \
			fail_msg("snapshot %d: %s", number, #condition); \
	} while (0)

/* A figure that says the sum of lines: exactly it, or unread where there is none or u64 cannot hold it. */
static bool says_sum(struct qty figure, struct wide sum)
{
	return qty_known(figure) ? sum.any && sum.high == 0 && figure.bytes == sum.low : !sum.any || sum.high != 0;
}

static bool says_difference(struct signed_qty figure, struct qty whole, struct wide sum)
{
	int64_t exact = 0;
	bool fits =
		qty_known(whole) && sum.any && sum.high == 0 && !__builtin_sub_overflow(whole.bytes, sum.low, &exact);
	return figure.known == fits && (!fits || figure.bytes == exact);
}

static bool rest_is_unread(const struct ledger *l, int group)
{
	static const enum owner rest[GROUP_COUNT] = {
		[GROUP_ANON] = OWNER_NATIVE_OTHER,   [GROUP_SHMEM] = OWNER_TMPFS,  [GROUP_FILE] = OWNER_PAGE_CACHE,
		[GROUP_KERNEL] = OWNER_KERNEL_OTHER, [GROUP_SOCK] = OWNER_SOCKETS, [GROUP_HUGETLB] = OWNER_HUGETLB,
	};
	return l->listed[rest[group]] && !qty_known(l->lines[rest[group]].bytes);
}

static void sums(const struct snapshot *s, const struct ledger *l, int number)
{
	for (int group = 0; group < GROUP_COUNT; group++) {
		const struct ledger_group_sum *g = &l->groups[group];
		/* The sum of the lines, or unread where the line that takes the rest of the group is. */
		CHECK(says_sum(g->owners_bytes, lines_of(l, group)) ||
		      (!qty_known(g->owners_bytes) && rest_is_unread(l, group)));
		bool both = qty_known(g->counter_bytes) && qty_known(g->owners_bytes);
		uint64_t a = g->counter_bytes.bytes, b = g->owners_bytes.bytes;
		CHECK(g->closed == (both && (a > b ? a - b : b - a) <= g->tolerance_bytes));
		CHECK(!both || g->tolerance_bytes == recon_group_tolerance(a));
	}
	bool whole = true;
	for (int group = 0; group < GROUP_COUNT; group++)
		whole &= !qty_known(l->groups[group].counter_bytes) || qty_known(l->groups[group].owners_bytes);
	CHECK(whole ? says_difference(l->residual_bytes, s->cgroup.current_bytes, lines_of(l, -1))
		    : !l->residual_bytes.known);
	if (!s->vmas_read)
		return;
	struct wide anon = lines_of(l, GROUP_ANON);
	uint64_t own = anon.low;
	for (int owner = OWNER_OTHER_PROCESSES; owner <= OWNER_THP_UNMAPPED; owner++)
		if (l->listed[owner])
			own -= qty_or(l->lines[owner].bytes, 0);
	CHECK(own == chaos_anon(s)); /* to the byte: nothing lost, nothing twice */
	for (int owner = OWNER_JAVA_HEAP; owner < OWNER_OTHER_PROCESSES; owner++)
		if (l->listed[owner])
			CHECK(qty_or(l->lines[owner].bytes, 0) <= chaos_anon(s));
}

static void groups_stay_within_their_counters(const struct snapshot *s, const struct ledger *l, int number)
{
	const struct cgroup_stat *stat = &s->cgroup.stat;
	struct wide shmem = lines_of(l, GROUP_SHMEM), file = lines_of(l, GROUP_FILE);
	if (qty_known(stat->shmem_bytes)) /* shmem and file are divided, never added to */
		CHECK(shmem.high == 0 && shmem.low == stat->shmem_bytes.bytes);
	if (qty_known(stat->file_bytes) && qty_known(stat->shmem_bytes))
		CHECK(file.high == 0 && file.low == (stat->file_bytes.bytes > stat->shmem_bytes.bytes
							     ? stat->file_bytes.bytes - stat->shmem_bytes.bytes
							     : 0));
}

static void lines(const struct snapshot *s, const struct ledger *l, int number)
{
	(void)s;
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		const struct ledger_line *line = &l->lines[owner];
		if (!l->listed[owner])
			continue;
		CHECK((int)line->owner == owner);
		CHECK(line->bytes.state < QTY_STATE_COUNT);
		CHECK(qty_known(line->bytes) || line->bytes.bytes == 0);
		CHECK(line->source[0] != '\0');
		CHECK(qty_known(line->bytes) || line->note[0] != '\0' || owner == OWNER_MAPPED_FILES ||
		      owner_table[owner].group == GROUP_KERNEL || owner == OWNER_SHARED_MAPS ||
		      owner == OWNER_HUGETLB || owner == OWNER_METASPACE); /* says why */
		CHECK(strlen(line->note) < sizeof line->note - 1);
	}
}

static void demands(const struct ledger *l, int number)
{
	const struct demand *both[] = { &l->expected, &l->legal };
	for (int i = 0; i < 2; i++) {
		struct wide sum = { 0 };
		CHECK(both[i]->n_parts <= DEMAND_PARTS_MAX);
		for (size_t part = 0; part < both[i]->n_parts; part++)
			wide_add(&sum, both[i]->parts[part].bytes);
		if (qty_known(both[i]->bytes))
			CHECK(sum.high == 0 && sum.low == both[i]->bytes.bytes && !both[i]->missing);
		else
			CHECK(both[i]->n_parts == 0 || both[i]->missing);
	}
}

static void freeboards(const struct snapshot *s, const struct ledger *l, int number)
{
	CHECK(l->freeboard_bytes.known == (l->freeboard_level != FREEBOARD_UNREAD));
	if (!l->freeboard_bytes.known)
		return;
	CHECK(qty_known(l->floor_bytes));
	uint64_t limit = l->freeboard_level == FREEBOARD_POD ? s->pod_limit.bytes : l->limit.bytes;
	CHECK((uint64_t)l->freeboard_bytes.bytes == limit - l->floor_bytes.bytes);
	CHECK((l->freeboard_bytes.bytes < 0) == (limit < l->floor_bytes.bytes));
}

static void the_books_hold(void **state)
{
	(void)state;
	struct prng prng = prng_start("the_books_hold");
	struct ledger *l = malloc(sizeof *l);
	for (int number = 0; number < snapshots(); number++) {
		struct snapshot *s = chaos_new(&prng, number % 2);
		recon_run(s, l);
		sums(s, l, number);
		groups_stay_within_their_counters(s, l, number);
		lines(s, l, number);
		demands(l, number);
		freeboards(s, l, number);
		snap_free(s);
	}
	free(l);
}

static void equal(const struct ledger *a, const struct ledger *b, int number)
{
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		const struct ledger_line *x = &a->lines[owner], *y = &b->lines[owner];
		CHECK(a->listed[owner] == b->listed[owner]);
		CHECK(x->bytes.state == y->bytes.state && qty_or(x->bytes, 1) == qty_or(y->bytes, 1));
		CHECK(x->claim_bytes.state == y->claim_bytes.state &&
		      qty_or(x->claim_bytes, 0) == qty_or(y->claim_bytes, 0));
		CHECK(qty_or(x->budget_bytes, 1) == qty_or(y->budget_bytes, 1));
		CHECK(x->bound.kind == y->bound.kind &&
		      (x->bound.kind != LIMIT_SET || x->bound.bytes == y->bound.bytes));
		CHECK(strcmp(x->note, y->note) == 0 && strcmp(x->source, y->source) == 0);
	}
	CHECK(qty_or(a->floor_bytes, 1) == qty_or(b->floor_bytes, 1));
	CHECK(memcmp(&a->freeboard_bytes, &b->freeboard_bytes, sizeof a->freeboard_bytes) == 0);
	CHECK(a->residual_bytes.known == b->residual_bytes.known && a->residual_bytes.bytes == b->residual_bytes.bytes);
	CHECK(a->stat_residual_bytes.known == b->stat_residual_bytes.known &&
	      a->stat_residual_bytes.bytes == b->stat_residual_bytes.bytes);
	CHECK(a->torn == b->torn && a->limit_told == b->limit_told);
	CHECK(qty_or(a->expected.bytes, 1) == qty_or(b->expected.bytes, 1));
	CHECK(qty_or(a->legal.bytes, 1) == qty_or(b->legal.bytes, 1));
	CHECK(qty_or(a->swap_room_bytes, 1) == qty_or(b->swap_room_bytes, 1));
	CHECK(a->pool_minus_claims_bytes.known == b->pool_minus_claims_bytes.known &&
	      a->pool_minus_claims_bytes.bytes == b->pool_minus_claims_bytes.bytes);
	CHECK(a->n_budgets == b->n_budgets);
}

/* The bytes behind an unread state are nobody's: garbage there changes nothing. */
static void what_is_unread_is_never_used(void **state)
{
	(void)state;
	struct prng prng = prng_start("what_is_unread_is_never_used");
	struct ledger *a = malloc(sizeof *a), *b = malloc(sizeof *b);
	for (int number = 0; number < snapshots(); number++) {
		struct snapshot *s = chaos_new(&prng, number % 2);
		recon_run(s, a);
		chaos_garbage(&prng, s);
		recon_run(s, b);
		equal(a, b, number);
		snap_free(s);
	}
	free(a);
	free(b);
}

static void the_order_of_inputs_is_irrelevant(void **state)
{
	(void)state;
	struct prng prng = prng_start("the_order_of_inputs_is_irrelevant");
	struct ledger *a = malloc(sizeof *a), *b = malloc(sizeof *b);
	for (int number = 0; number < snapshots(); number++) {
		struct snapshot *s = chaos_new(&prng, number % 2);
		recon_run(s, a);
		chaos_shuffle(&prng, s);
		recon_run(s, b);
		equal(a, b, number);
		snap_free(s);
	}
	free(a);
	free(b);
}

static bool null_at(const struct js *object, const char *key)
{
	return js_kind(js_get(object, key)) == JS_NULL;
}

/* Unknown is null in every place of the document, and known is the number itself. */
static void document(const struct js *root, const struct snapshot *s, const struct ledger *l, int number)
{
	const struct js *lines = js_get(root, "ledger");
	size_t at = 0;
	uint64_t got;
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		if (!l->listed[owner])
			continue;
		const struct js *line = js_at(lines, at++);
		CHECK(null_at(line, "bytes") == !qty_known(l->lines[owner].bytes));
		CHECK(null_at(line, "bytes") ||
		      (js_u64(js_get(line, "bytes"), &got) && got == l->lines[owner].bytes.bytes));
		CHECK(null_at(line, "budget_bytes") == !qty_known(l->lines[owner].budget_bytes));
		CHECK(null_at(line, "claim_bytes") == !qty_known(l->lines[owner].claim_bytes));
		CHECK(null_at(line, "bound_bytes") == (l->lines[owner].bound.kind != LIMIT_SET));
	}
	CHECK(at == js_len(lines));
	const struct {
		const char *key;
		bool known;
	} tops[] = {
		{ "limit_bytes", l->limit.kind == LIMIT_SET },
		{ "floor_bytes", qty_known(l->floor_bytes) },
		{ "freeboard_bytes", l->freeboard_bytes.known },
		{ "residual_bytes", l->residual_bytes.known },
		{ "stat_residual_bytes", l->stat_residual_bytes.known },
		{ "native_pool_bytes", qty_known(l->native_pool_bytes) },
		{ "pool_minus_claims_bytes", l->pool_minus_claims_bytes.known },
		{ "throttle_room_bytes", l->throttle_room_bytes.known },
		{ "swap_room_bytes", qty_known(l->swap_room_bytes) },
		{ "expected_demand_bytes", qty_known(l->expected.bytes) },
		{ "legal_demand_bytes", qty_known(l->legal.bytes) },
	};
	for (size_t i = 0; i < sizeof tops / sizeof tops[0]; i++)
		CHECK(null_at(root, tops[i].key) == !tops[i].known);
	CHECK(null_at(js_get(root, "charge"), "current_bytes") == !qty_known(s->cgroup.current_bytes));
	CHECK(null_at(js_get(root, "charge"), "sock_bytes") == !qty_known(s->cgroup.stat.sock_bytes));
}

static void every_report_is_a_document(void **state)
{
	(void)state;
	struct prng prng = prng_start("every_report_is_a_document");
	struct ledger *l = malloc(sizeof *l);
	struct verdict *v = malloc(sizeof *v);
	auto_buf struct buf out = { .cap = JSON_CAP }, table = { .cap = JSON_CAP };
	for (int number = 0; number < snapshots(); number++) {
		struct snapshot *s = chaos_new(&prng, false); /* figures of real machines: JSON readers stop at 2^63 */
		struct thresholds thresholds;
		thresholds_init(&thresholds);
		struct rule_input input = { .snapshot = s, .ledger = l, .thresholds = &thresholds };
		struct err err = { 0 };
		recon_run(s, l);
		rules_run(&input, v);
		buf_clear(&out);
		CHECK(report_json(s, l, v, &out, &err) == 0);
		auto_js struct js *root = NULL;
		if (js_parse(buf_str(&out), JSON_CAP, &root, &err) < 0)
			fail_msg("snapshot %d: %s", number, err.message);
		document(root, s, l, number);
		buf_clear(&table);
		CHECK(report_table(s, l, v, number % 2, number % 160, &table, &err) == 0);
		buf_clear(&table);
		CHECK(report_svg(s, l, v, &table, &err) == 0);
		CHECK(table.len < 100000); /* a ticket takes it */
		static const char *const never[] = { "=\"nan", "=\"inf", "=\"-", "d=\"Mn", "d=\"Mi" };
		for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
			if (strstr(table.ptr, never[i]))
				fail_msg("snapshot %d: %s in a picture", number, never[i]);
		snap_free(s);
	}
	free(v);
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_books_hold),
		cmocka_unit_test(what_is_unread_is_never_used),
		cmocka_unit_test(the_order_of_inputs_is_irrelevant),
		cmocka_unit_test(every_report_is_a_document),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
