/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fleetworld.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "collector/store_read.h"
#include "support/fleetfill.h"

void world_must(int rc, const struct err *err)
{
	if (rc < 0)
		fail_msg("%s", err->message);
}

void world_open(struct world *w)
{
	struct err err;
	world_must(store_open(w->scratch.path, &(struct store_options){ 0 }, &w->store, &err), &err);
	world_must(fleet_new(&w->fleet, &err), &err);
	world_must(own_rules_new(w->fleet, w->store, &w->rules, &err), &err);
}

void world_close(struct world *w)
{
	own_rules_free(w->rules);
	fleet_free(w->fleet);
	store_close(w->store);
}

struct wall world_wall(const struct world *w)
{
	return (struct wall){ WORLD_T0.ms + w->ms };
}

void world_step(struct world *w, int64_t seconds)
{
	struct err err = { 0 };
	w->ms += seconds * 1000;
	w->mono_ms += seconds * 1000;
	world_must(own_rules_step(w->rules, (struct mono){ (uint64_t)w->mono_ms * 1000000 }, world_wall(w), &err),
		   &err);
}

void world_say(struct world *w, int64_t agent)
{
	static struct wire_sample sample;
	fleetfill_sample(&sample, (unsigned)agent);
	fleet_sample(w->fleet, agent, &sample, world_wall(w));
}

void world_minutes(struct world *w, unsigned n, const int64_t *speaking, size_t n_speaking)
{
	for (unsigned i = 0; i < n; i++) {
		for (size_t s = 0; s < n_speaking; s++)
			world_say(w, speaking[s]);
		world_step(w, 60);
	}
}

int64_t world_connect(struct world *w, unsigned n)
{
	static struct wire_hello hello;
	struct err err;
	int64_t agent;
	char id[40];
	(void)snprintf(id, sizeof id, "uid-%u", n);
	fleetfill_hello(&hello, n);
	world_must(store_begin(w->store, &err), &err);
	world_must(store_agent(w->store, id, &hello, world_wall(w), &agent, &err), &err);
	world_must(store_commit(w->store, &err), &err);
	world_must(fleet_connected(w->fleet, agent, id, &hello, 0, world_wall(w), &err), &err);
	return agent;
}

static bool count_open(void *context, const struct store_finding_row *row)
{
	struct world_open_of *open = context;
	if (row->agent != open->agent || strcmp(row->rule, open->rule) != 0)
		return true;
	open->n++;
	(void)snprintf(open->title, sizeof open->title, "%s", row->title);
	str_copy(open->text, sizeof open->text, row->text);
	return true;
}

unsigned world_n_open(struct world *w, int64_t agent, const char *rule, struct world_open_of *ret_open)
{
	struct world_open_of open = { .agent = agent, .rule = rule };
	struct store_filter filter = {
		.open_only = true, .with_text = true, .agent = agent, .agent_is_collector = agent == 0
	};
	struct err err;
	unsigned in_fleet = 0;
	world_must(store_each_finding(w->store, &filter, count_open, &open, &err), &err);
	const struct fleet_pod *pod = agent ? fleet_find(w->fleet, agent) : NULL;
	const struct fleet_findings *findings = pod ? &pod->findings : agent ? NULL : fleet_own_findings(w->fleet);
	for (size_t i = 0; findings && i < findings->n; i++)
		in_fleet += strcmp(findings->items[i].rule, rule) == 0;
	if (findings)
		assert_int_equal(in_fleet, open.n);
	if (ret_open)
		*ret_open = open;
	return open.n;
}

int world_setup(void **state)
{
	struct world *w = test_calloc(1, sizeof *w);
	w->scratch = scratch_new();
	w->mono_ms = 1000;
	world_open(w);
	*state = w;
	return 0;
}

int world_teardown(void **state)
{
	struct world *w = *state;
	world_close(w);
	scratch_done(&w->scratch);
	test_free(w);
	return 0;
}

void world_put_finding(struct world *w, int64_t agent, const char *id, int64_t after_ms)
{
	struct wire_finding finding;
	struct err err;
	fleetfill_finding(&finding, 0);
	(void)snprintf(finding.id, sizeof finding.id, "%s", id);
	world_must(store_begin(w->store, &err), &err);
	world_must(store_own_finding(w->store, agent, &finding, STR(""), world_wall(w), &err), &err);
	world_must(store_commit(w->store, &err), &err);
	world_must(fleet_finding(w->fleet, agent, &finding, (struct wall){ world_wall(w).ms + after_ms }, &err), &err);
}
