/* SPDX-License-Identifier: Apache-2.0 */
/* Findings that nobody will end, and which of two starts of an agent knows better. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/auto.h"
#include "collector/fleet_load.h"
#include "support/fleetfill.h"
#include "support/fleetworld.h"
#include "wire/wire.h"

/* Who opened them will not clear them. */
static void findings_without_a_master(void **state)
{
	struct world *w = *state;
	int64_t restarted = world_connect(w, 0), gone = world_connect(w, 1), speaks = world_connect(w, 2);
	world_step(w, 0);
	world_minutes(w, 4, (int64_t[]){ restarted, gone, speaks }, 3);
	world_put_finding(w, restarted, "first-start", 0);
	world_put_finding(w, restarted, "second-start", 10);
	world_put_finding(w, gone, "of-the-gone", 0);
	world_put_finding(w, speaks, "stays", 0);
	fleet_disconnected(w->fleet, gone, true, world_wall(w));
	world_step(w, 1);
	assert_int_equal(world_n_open(w, restarted, "freeboard-low", NULL), 1);
	assert_string_equal(fleet_find(w->fleet, restarted)->findings.items[0].id, "second-start");
	assert_int_equal(world_n_open(w, gone, "freeboard-low", NULL), 1); /* it may come back */
	world_minutes(w, 2, (int64_t[]){ restarted, speaks }, 2);
	assert_int_equal(world_n_open(w, gone, "freeboard-low", NULL), 0);
	assert_int_equal(world_n_open(w, speaks, "freeboard-low", NULL), 1);
}

/* A start of an agent does not know what the one before it had opened, and will never clear it. */
static void what_a_restarted_agent_does_not_find_again(void **state)
{
	struct world *w = *state;
	int64_t restarted = world_connect(w, 0), goes_on = world_connect(w, 1), waits = world_connect(w, 2);
	int64_t all[] = { restarted, goes_on };
	world_step(w, 0);
	world_minutes(w, 4, all, 2);
	world_put_finding(w, restarted, "of-before", 0);
	world_put_finding(w, goes_on, "of-now", 0);
	world_put_finding(w, waits, "of-before", 0);
	world_minutes(w, 1, all, 2);
	(void)world_connect(w, 0); /* it begins now */
	(void)world_connect(w, 2); /* so does this one, and sees no JVM yet */
	world_minutes(w, 6, all, 2);
	assert_int_equal(world_n_open(w, restarted, "freeboard-low", NULL), 1);
	world_minutes(w, 2, all, 2);
	assert_int_equal(world_n_open(w, restarted, "freeboard-low", NULL), 0);
	assert_int_equal(world_n_open(w, goes_on, "freeboard-low", NULL), 1);
	assert_int_equal(world_n_open(w, waits, "freeboard-low", NULL), 1);
	/* Another collector reads it all back, and judges alike. */
	world_put_finding(w, restarted, "again", 0);
	world_minutes(w, 1, all, 2);
	world_close(w);
	world_open(w);
	struct err err;
	world_must(fleet_load(w->fleet, w->store, world_wall(w), &err), &err);
	(void)world_connect(w, 0);
	(void)world_connect(w, 1);
	world_minutes(w, 11, all, 2);
	assert_int_equal(world_n_open(w, restarted, "freeboard-low", NULL), 0);
}

/* What start `start` of the agent says: the spool of a start that was killed is sent by the next one. */
static void said_by(struct world *w, int64_t agent, uint8_t start, const char *id, enum wire_edge edge,
		    int64_t opened_ms)
{
	static struct wire_message message;
	auto_buf struct buf text = { .cap = WIRE_FRAME_MAX };
	static const struct finding whole = { .rule = "freeboard-low", .severity = SEVERITY_WARNING, .owner = -1 };
	struct wire_finding *finding = &message.finding;
	struct err err;
	message.type = WIRE_FINDING;
	fleetfill_finding(finding, 0);
	(void)snprintf(finding->id, sizeof finding->id, "%s", id);
	finding->edge = edge;
	finding->opened.ms = WORLD_T0.ms + opened_ms;
	finding->head.epoch.bytes[0] = start;
	finding->whole = &whole;
	world_must(wire_encode(&message, &text, &err), &err);
	finding->whole = NULL;
	world_must(store_begin(w->store, &err), &err);
	world_must(store_own_finding(w->store, agent, finding, buf_str(&text), world_wall(w), &err), &err);
	world_must(store_commit(w->store, &err), &err);
	world_must(fleet_finding(w->fleet, agent, finding, world_wall(w), &err), &err);
}

static int64_t start_agent(struct world *w, uint8_t start)
{
	static struct wire_hello hello;
	struct err err;
	int64_t agent = world_connect(w, 0);
	fleet_disconnected(w->fleet, agent, false, world_wall(w));
	fleetfill_hello(&hello, 0);
	hello.epochs[0].epoch.bytes[0] = start;
	world_must(fleet_connected(w->fleet, agent, "uid-0", &hello, 0, world_wall(w), &err), &err);
	return agent;
}

/* The live start's finding stands, whatever comes when, and whatever the clock shows. */
static void the_live_start_knows_better(void **state)
{
	static const struct {
		const char *name;
		int64_t back_ms, first_opened_ms, second_opened_ms;
		bool late, reread;
	} cases[] = {
		{ "in order", 0, 1000, 9000, false, false },
		{ "the spool comes late", 0, 1000, 9000, true, false },
		{ "the collector's clock is set back", 3600000, 1000, 9000, false, false },
		{ "the agent's clock is set back", 0, 9000, 1000, false, false },
		{ "late, and the collector is killed before it judges", 0, 1000, 9000, true, true },
		{ "all of it", 3600000, 9000, 1000, true, true },
	};
	struct world *w = *state;
	struct err err;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint8_t first = (uint8_t)(2 * i + 1), second = (uint8_t)(first + 1);
		char old[40], new[40];
		(void)snprintf(old, sizeof old, "first of %zu", i);
		(void)snprintf(new, sizeof new, "second of %zu", i);
		int64_t agent = start_agent(w, first);
		said_by(w, agent, first, old, WIRE_OPENED, cases[i].first_opened_ms);
		world_step(w, 1);
		fleet_disconnected(w->fleet, agent, false, world_wall(w));
		w->ms += 1000 - cases[i].back_ms;
		(void)start_agent(w, second);
		said_by(w, agent, second, new, WIRE_OPENED, cases[i].second_opened_ms);
		w->ms += 100;
		if (cases[i].late)
			said_by(w, agent, first, old, WIRE_UPDATED, cases[i].first_opened_ms);
		if (cases[i].reread) {
			world_close(w);
			world_open(w);
			world_must(fleet_load(w->fleet, w->store, world_wall(w), &err), &err);
			world_step(w, 1);
			(void)start_agent(w, second);
		}
		world_step(w, 1);
		if (world_n_open(w, agent, "freeboard-low", NULL) != 1 ||
		    strcmp(fleet_find(w->fleet, agent)->findings.items[0].id, new) != 0)
			fail_msg("%s: '%s' is open", cases[i].name, fleet_find(w->fleet, agent)->findings.items[0].id);
		said_by(w, agent, second, new, WIRE_CLEARED, cases[i].second_opened_ms);
		fleet_disconnected(w->fleet, agent, false, world_wall(w));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(findings_without_a_master),
		TEST(what_a_restarted_agent_does_not_find_again),
		TEST(the_live_start_knows_better),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
