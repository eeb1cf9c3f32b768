/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of every released version stay decodable for ever: tests/golden/wire holds them, written by hand. Each is
 * decoded and, encoded again, the same to the byte. What stands in the full ones is checked figure by figure, since a
 * table with two keys exchanged would pass any test that asks only itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/js.h"
#include "support/tight.h"
#include "wire/wire.h"

#define GOLDEN "tests/golden/wire"
#define MIB    ((uint64_t)1 << 20)
#define EPOCH  "00112233445566778899aabbccddeeff"

enum { CAP = 1 << 20 };

/* Without the line's end, which no frame has. To be freed. */
static struct str golden_text(const char *name)
{
	char path[512];
	(void)snprintf(path, sizeof path, "%s/%s.json", GOLDEN, name);
	struct str text = tight_read(path);
	assert_true(text.len > 2 && text.ptr[text.len - 1] == '\n');
	return (struct str){ text.ptr, text.len - 1 };
}

static void decoded(struct str frame, const char *name, struct wire_message *ret)
{
	enum wire_error_code code;
	struct err err = { 0 };
	if (wire_decode(frame, ret, &code, &err) < 0)
		fail_msg("%s: %s", name, err.message);
}

static void golden(const char *name, struct wire_message *ret)
{
	struct str frame = golden_text(name);
	decoded(frame, name, ret);
	tight_free(frame);
}

static void member_text(struct str frame, const char *key, struct buf *ret)
{
	auto_js struct js *root = NULL;
	struct err err = { 0 };
	struct js_out out;
	assert_int_equal(js_parse(frame, CAP, &root, &err), 0);
	if (!js_get(root, key))
		return;
	js_out_start(&out, ret, 0);
	js_out_value(&out, js_get(root, key));
	assert_int_equal(js_out_end(&out, &err), 0);
}

/* What is not decoded, the body and the whole finding, is put where the encoder puts it. */
static void same_again(const char *name)
{
	struct str frame = golden_text(name);
	struct wire_message message;
	struct err err = { 0 };
	auto_buf struct buf body = { .cap = CAP }, whole = { .cap = CAP }, deep = { .cap = CAP },
			    again = { .cap = CAP };
	decoded(frame, name, &message);
	if (message.type == WIRE_POSTMORTEM) {
		member_text(frame, "body", &body);
		message.postmortem.body = buf_str(&body);
	}
	member_text(frame, "deep", &deep);
	if (deep.len)
		message.finding.deep = buf_str(&deep);
	if (wire_encode(&message, &again, &err) < 0)
		fail_msg("%s: %s", name, err.message);
	member_text(frame, "finding", &whole);
	if (whole.len) {
		auto_buf struct buf after = { .cap = CAP }; /* "deep", or the closing brace alone */
		const char *at = strstr(again.ptr, ",\"deep\":");
		size_t len = at ? (size_t)(at - again.ptr) : again.len - 1;
		(void)buf_add(&after, str_skip(buf_str(&again), len));
		again.len = len;
		(void)buf_printf(&again, ",\"finding\":%s%s", whole.ptr, after.ptr);
	}
	auto_buf struct buf expected = { .cap = CAP };
	(void)buf_add(&expected, frame);
	assert_string_equal(expected.ptr, again.ptr);
	tight_free(frame);
}

static void each_is_the_same_again(void **state)
{
	(void)state;
	DIR *dir = opendir(GOLDEN);
	assert_non_null(dir);
	unsigned seen[WIRE_TYPE_COUNT] = { 0 }, n = 0;
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		char name[256];
		struct str file = str_of(entry->d_name);
		if (!str_ends(file, STR(".json")))
			continue;
		str_copy(name, sizeof name, (struct str){ file.ptr, file.len - 5 });
		same_again(name);
		n++;
		for (int type = 0; type < WIRE_TYPE_COUNT; type++)
			seen[type] += str_starts(file, str_of(wire_type_names[type]));
	}
	(void)closedir(dir);
	assert_true(n >= 20);
	for (int type = 0; type < WIRE_TYPE_COUNT; type++)
		if (!seen[type])
			fail_msg("no golden message of type %s", wire_type_names[type]);
}

static void assert_epoch(struct wire_epoch epoch, const char *text)
{
	char shown[WIRE_EPOCH_TEXT_CAP];
	assert_string_equal(wire_epoch_format(shown, epoch), text);
}

static void assert_head(const struct wire_head *head, uint64_t seq)
{
	assert_epoch(head->epoch, EPOCH);
	assert_int_equal(head->seq, seq);
	assert_int_equal(head->mono_ms, 86400000 + seq);
	assert_int_equal(head->wall.ms, 1764489950000 + (int64_t)seq);
}

static void hello_in_full(void **state)
{
	(void)state;
	struct wire_message m;
	golden("hello-full", &m);
	const struct wire_hello *h = &m.hello;
	const struct wire_subject *s = &h->subject;
	assert_string_equal(s->cluster, "prod-eu");
	assert_string_equal(s->namespace_, "streaming");
	assert_string_equal(s->workload, "fraud-detection");
	assert_int_equal(s->role, ROLE_TASKMANAGER);
	assert_string_equal(s->pod, "fraud-detection-taskmanager-1-7");
	assert_string_equal(s->pod_uid, "3c0a1b9e-6f1d-4f57-9d0e-8a9d7c4b2f10");
	assert_string_equal(s->node, "node-17.eu.example");
	assert_string_equal(s->container, "flink-main-container");
	assert_int_equal(s->n_jobs, 2);
	assert_string_equal(s->jobs[1], "fraud-backfill");
	assert_int_equal(s->n_labels, 2);
	assert_string_equal(s->labels[0].key, "app");
	assert_string_equal(s->labels[1].value, "risk");
	assert_string_equal(h->program, "0.1.0");
	assert_string_equal(h->jdk, "17.0.11+9");
	assert_string_equal(h->engine, "flink 1.20.0");
	assert_int_equal(h->mono_ms, 86400000);
	assert_int_equal(h->wall.ms, 1764489950000);
	assert_int_equal(h->n_epochs, 2);
	assert_epoch(h->epochs[0].epoch, "fedcba98765432100123456789abcdef");
	assert_int_equal(h->epochs[0].first, 4711);
	assert_int_equal(h->epochs[0].last, 4790);
	assert_epoch(h->epochs[1].epoch, EPOCH);
}

static void assert_qty(struct qty qty, uint64_t bytes, enum qty_state state)
{
	assert_int_equal(qty.bytes, bytes);
	assert_int_equal(qty.state, state);
}

static void assert_signed(struct signed_qty qty, int64_t bytes)
{
	assert_true(qty.known);
	assert_int_equal(qty.bytes, bytes);
}

static void assert_count(struct count count, uint64_t n)
{
	assert_true(count.known);
	assert_int_equal(count.n, n);
}

static void sample_in_full(void **state)
{
	(void)state;
	struct wire_message m;
	golden("sample-full", &m);
	const struct wire_sample *s = &m.sample;
	assert_head(&s->head, 17283);
	assert_int_equal(s->interval_ms, 1000);
	assert_true(s->urgent && s->limit_told);
	assert_int_equal(s->pid, 8);
	assert_int_equal(s->start_ticks, 123457);
	assert_int_equal(s->access, ACCESS_FULL);
	assert_int_equal(s->limit.kind, LIMIT_SET);
	assert_int_equal(s->limit.bytes, 4096 * MIB);
	assert_qty(s->charge_bytes, 1001, QTY_MEASURED);
	assert_qty(s->floor_bytes, 1002, QTY_DERIVED);
	assert_qty(s->swap_bytes, 1003, QTY_INFERRED);
	assert_qty(s->expected_bytes, 1004, QTY_DERIVED);
	assert_signed(s->freeboard_bytes, -1005);
	assert_int_equal(s->freeboard_level, FREEBOARD_POD);
	assert_qty(s->groups[GROUP_ANON], 2000, QTY_MEASURED);
	assert_qty(s->groups[GROUP_KERNEL], 2003, QTY_MEASURED);
	assert_qty(s->groups[GROUP_SOCK], 2004, QTY_INFERRED);
	assert_qty(s->groups[GROUP_HUGETLB], 0, QTY_DERIVED);
	assert_signed(s->grown_since_scan[GROUP_SHMEM], -3001);
	assert_signed(s->grown_since_scan[GROUP_FILE], 0);
	const struct count events[] = { s->events.low, s->events.high,     s->events.max,
					s->events.oom, s->events.oom_kill, s->events.oom_group_kill };
	for (size_t i = 0; i < 6; i++)
		assert_count(events[i], i + 1);
	assert_count(s->some_avg10_bp, 7);
	assert_count(s->full_avg10_bp, 8);
	assert_count(s->refaults_file, 9);
	assert_true(s->has_composition);
	assert_int_equal(s->composition_age_ms, 250);
	for (int i = 0; i < OWNER_COUNT; i++)
		assert_qty(s->owners[i], 5000 + (uint64_t)i,
			   i == OWNER_PAGE_CACHE || i == OWNER_KERNEL_OTHER ? QTY_DERIVED
			   : i == OWNER_NATIVE_OTHER || i == OWNER_HUGETLB  ? QTY_INFERRED
									    : QTY_MEASURED);
	assert_signed(s->residual_bytes, -6000);
	assert_string_equal(s->forecast.kind, "reaches");
	assert_count(s->forecast.earliest_s, 600);
	assert_count(s->forecast.likely_s, 900);
	assert_count(s->forecast.latest_s, 3600);
	assert_int_equal(s->forecast.owner, OWNER_NATIVE_OTHER);
	assert_string_equal(s->context.job_state, "restarting");
	assert_int_equal(s->context.checkpointing, TRISTATE_TRUE);
	assert_int_equal(s->context.restoring, TRISTATE_FALSE);
	assert_int_equal(s->context.rebalancing, TRISTATE_TRUE);
	assert_count(s->context.backpressured_bp, 9999);
	assert_count(s->context.busy_bp, 10000);
	assert_count(s->context.records_lag_max, 123456789);
	assert_count(s->context.restarts, 3);
}

static void books_in_full(void **state)
{
	(void)state;
	struct wire_message m;
	golden("sample-books", &m);
	const struct wire_books *b = &m.sample.books;
	assert_true(m.sample.has_books);
	assert_head(&m.sample.head, 17284);
	for (int i = 0; i < OWNER_COUNT; i++) {
		uint64_t bound = i == OWNER_JAVA_HEAP             ? 1677721600
				 : i == OWNER_CODE_CACHE          ? 251658240
				 : i == OWNER_THREAD_STACKS       ? 96468992
				 : i == OWNER_DIRECT_BUFFERS      ? 536870912
				 : i == OWNER_ROCKSDB_BLOCK_CACHE ? 1288490188
								  : 0;
		assert_int_equal(b->bounds[i].kind, i == OWNER_METASPACE ? LIMIT_NONE
						    : bound              ? LIMIT_SET
									 : LIMIT_UNREAD);
		assert_int_equal(b->bounds[i].bytes, bound);
	}
	assert_int_equal(b->engine.backend, BACKEND_ROCKSDB);
	assert_int_equal(b->engine.batch, TRISTATE_FALSE);
	assert_int_equal(b->engine.python, TRISTATE_FALSE);
	assert_qty(b->engine.managed_reserved_bytes, 1288490188, QTY_MEASURED);
	assert_qty(b->engine.network_bytes, 343597384, QTY_MEASURED);
	assert_qty(b->engine.framework_off_heap_bytes, 134217728, QTY_MEASURED);
	assert_qty(b->engine.task_off_heap_bytes, 59055800, QTY_MEASURED);
	assert_qty(b->engine.network_pool_bytes, 343572480, QTY_MEASURED);
	assert_false(b->engine.streams_instances.known);
	assert_qty(b->claims[OWNER_METASPACE], 134217728, QTY_MEASURED);
	assert_qty(b->claims[OWNER_ROCKSDB_BLOCK_CACHE], 1006632960, QTY_MEASURED);
	assert_false(qty_known(b->claims[OWNER_JAVA_HEAP]));
	assert_true(b->unread == (uint64_t)1 << OWNER_MANAGED_UNSAFE);
	assert_qty(b->legal_bytes, 4429185024, QTY_INFERRED);
	assert_int_equal(b->n_budgets, 5);
	assert_string_equal(b->budgets[1].name, "direct");
	assert_qty(b->budgets[1].bytes, 536870912, QTY_MEASURED);
	assert_qty(b->budgets[1].used_bytes, 421527552, QTY_INFERRED);
	assert_true(b->budgets[1].owners == (uint64_t)1 << OWNER_DIRECT_BUFFERS);
	/* One of its owners is unread, so nobody knows how much of it is used. */
	assert_string_equal(b->budgets[2].name, "managed");
	assert_false(qty_known(b->budgets[2].used_bytes));
	assert_int_equal(__builtin_popcountll(b->budgets[2].owners), 4);
	/* The states of the books are not those of the composition, which has the same names. */
	assert_qty(m.sample.owners[OWNER_ROCKSDB_BLOCK_CACHE], 962592768, QTY_INFERRED);
	/* An agent that is older says nothing of it. */
	golden("sample-composition", &m);
	assert_false(m.sample.has_books);
	assert_int_equal(b->n_budgets, 0);
	assert_false(qty_known(b->legal_bytes) || b->unread || b->bounds[OWNER_JAVA_HEAP].kind != LIMIT_UNREAD);
}

static void absent_is_unread(void **state)
{
	(void)state;
	struct wire_message m;
	golden("sample-no-target", &m);
	const struct wire_sample *s = &m.sample;
	assert_int_equal(s->pid, 0);
	assert_int_equal(s->limit.kind, LIMIT_UNREAD);
	assert_false(qty_known(s->charge_bytes) || s->freeboard_bytes.known || s->events.oom.known);
	assert_false(s->has_composition || s->urgent);
	assert_int_equal(s->forecast.kind[0], '\0');
	assert_int_equal(s->forecast.owner, -1);
	assert_int_equal(s->context.checkpointing, TRISTATE_UNREAD);
	golden("sample-no-limit", &m);
	assert_int_equal(s->limit.kind, LIMIT_NONE);
	assert_int_equal(s->access, ACCESS_STATUS);
	golden("finding-plain", &m);
	assert_int_equal(m.finding.owner, -1);
	golden("postmortem-plain", &m);
	assert_int_equal(m.postmortem.owner, -1);
	assert_int_equal(m.postmortem.cause, DEATH_UNKNOWN);
	golden("welcome-plain", &m);
	assert_int_equal(m.welcome.policy.version, 0);
	assert_int_equal(m.welcome.n_acked, 0);
	/* A further one, in a session that runs. */
	golden("welcome-quiet", &m);
	assert_int_equal(m.welcome.n_acked, 0);
	assert_int_equal(m.welcome.policy.version, 7);
	assert_true(m.welcome.policy.silences[0].quiet);
}

static void finding_and_postmortem_in_full(void **state)
{
	(void)state;
	struct wire_message m;
	golden("finding-full", &m);
	assert_head(&m.finding.head, 17287);
	assert_string_equal(m.finding.id, "rocksdb-over-budget/8-123457/2");
	assert_int_equal(m.finding.edge, WIRE_OPENED);
	assert_string_equal(m.finding.rule, "rocksdb-over-budget");
	assert_int_equal(m.finding.severity, SEVERITY_CRITICAL);
	assert_int_equal(m.finding.owner, OWNER_ROCKSDB_BLOCK_CACHE);
	assert_string_equal(m.finding.title, "RocksDB holds 1.11 GiB of 819.2 MiB of managed memory");
	assert_int_equal(m.finding.opened.ms, 1764489950000);
	assert_null(m.finding.whole);
	golden("finding-deep", &m);
	assert_head(&m.finding.head, 17285);
	assert_int_equal(m.finding.edge, WIRE_UPDATED);
	assert_int_equal(m.finding.owner, -1);
	/* What is told of threads and mappings is for those who keep the frame's text. */
	assert_int_equal(m.finding.deep.len, 0);
	golden("postmortem-full", &m);
	assert_head(&m.postmortem.head, 17289);
	assert_string_equal(m.postmortem.id, "death/8-123457");
	assert_int_equal(m.postmortem.part, 0);
	assert_int_equal(m.postmortem.parts, 2);
	assert_int_equal(m.postmortem.cause, DEATH_CONTAINER_LIMIT);
	assert_int_equal(m.postmortem.owner, OWNER_ROCKSDB_BLOCK_CACHE);
	assert_int_equal(m.postmortem.pid, 8);
	assert_int_equal(m.postmortem.died.ms, 1764489960000);
	assert_string_equal(m.postmortem.title, "killed at its own limit of 4 GiB; the block cache grew most");
	assert_int_equal(m.postmortem.body.len, 0);
}

static void the_small_ones_in_full(void **state)
{
	(void)state;
	struct wire_message m;
	golden("gap-full", &m);
	assert_epoch(m.gap.epoch, EPOCH);
	assert_int_equal(m.gap.from, 17291);
	assert_int_equal(m.gap.to, 17300);
	assert_string_equal(m.gap.reason, "spool-full");
	golden("bye-full", &m);
	assert_string_equal(m.bye.reason, "SIGTERM");
	golden("ack-plain", &m);
	assert_epoch(m.ack.epoch, EPOCH);
	assert_int_equal(m.ack.seq, 17289);
	golden("error-full", &m);
	assert_int_equal(m.error.code, WIRE_ERR_SEQUENCE);
	assert_string_equal(m.error.text, "seq 17300 is past the next one, 17290, and no gap says why");
}

static void welcome_in_full(void **state)
{
	(void)state;
	struct wire_message m;
	golden("welcome-full", &m);
	const struct wire_welcome *w = &m.welcome;
	assert_int_equal(w->n_acked, 2);
	assert_int_equal(w->acked[0].seq, 4750);
	assert_epoch(w->acked[1].epoch, EPOCH);
	assert_int_equal(w->window, 256);
	assert_int_equal(w->min_interval_ms, 1000);
	assert_int_equal(w->max_frame, 65536);
	const struct wire_policy *p = &w->policy;
	assert_int_equal(p->version, 0x8f3a0c5e9b7d1246);
	assert_int_equal(p->interval_ms, 10000);
	assert_int_equal(p->n_levels, 2);
	assert_string_equal(p->levels[1].rule, "native-growth");
	assert_string_equal(p->levels[1].name, "slope");
	assert_int_equal(p->levels[1].raise, 1048576);
	assert_int_equal(p->levels[1].clear, 524288);
	assert_int_equal(p->n_silences, 1);
	assert_string_equal(p->silences[0].rule, "page-cache-benign");
	assert_string_equal(p->silences[0].reason, "known since the release of May");
	assert_int_equal(p->silences[0].until.ms, 1798675200000);
	assert_false(p->silences[0].quiet);
	assert_int_equal(p->n_refused, 0);
}

/* What the figures of docs/wire.md and the collector's disk rest on. */
static void a_sample_is_small(void **state)
{
	(void)state;
	struct str plain = golden_text("sample-plain"), whole = golden_text("sample-composition"),
		   books = golden_text("sample-books");
	assert_true(plain.len <= 500);
	assert_true(whole.len <= 1536);
	assert_true(books.len <= 3072);
	tight_free(plain);
	tight_free(whole);
	tight_free(books);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_the_same_again), cmocka_unit_test(hello_in_full),
		cmocka_unit_test(sample_in_full),         cmocka_unit_test(books_in_full),
		cmocka_unit_test(absent_is_unread),       cmocka_unit_test(finding_and_postmortem_in_full),
		cmocka_unit_test(the_small_ones_in_full), cmocka_unit_test(welcome_in_full),
		cmocka_unit_test(a_sample_is_small),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
