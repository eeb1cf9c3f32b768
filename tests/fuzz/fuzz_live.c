/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a viewer sends, a frame a line, over a small fleet: each answer is JSON, one object with a type, and nothing of a
 * namespace that this viewer does not see; rows stand where the answer says, and are as many as were asked for at most.
 */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/live.h"
#include "data/js.h"

enum { AGENTS = 12 };

static struct fleet *fleet;

static void must(int rc)
{
	if (rc < 0)
		abort();
}

static void put_agent(unsigned n)
{
	static struct wire_hello hello;
	static struct wire_sample sample;
	const struct wall now = { 1764489600000 };
	struct err err;
	char id[16];
	(void)snprintf(id, sizeof id, "a-%u", n);
	(void)snprintf(hello.subject.namespace_, sizeof hello.subject.namespace_, "ns-%u", n % 2);
	(void)snprintf(hello.subject.workload, sizeof hello.subject.workload, "w-%u", n % 4);
	(void)snprintf(hello.subject.pod, sizeof hello.subject.pod, "pod-%u", n);
	(void)snprintf(hello.engine, sizeof hello.engine, "flink 1.%u.0", n);
	must(fleet_connected(fleet, n + 1, id, &hello, 0, now, &err));
	sample.pid = 7;
	sample.limit = limit_set(1000);
	sample.freeboard_bytes = (struct signed_qty){ n * 10, true };
	sample.forecast.owner = -1;
	fleet_sample(fleet, n + 1, &sample, now);
}

static void judge(struct str text, size_t *n_rows)
{
	auto_js struct js *root = NULL;
	struct err err;
	struct str type;
	must(js_parse(text, text.len, &root, &err));
	if (!js_str(js_get(root, "type"), &type))
		abort();
	if (!str_eq(type, STR("error")) && str_has(text, STR("ns-1")))
		abort();
	const struct js *rows = js_get(root, "rows");
	if (str_eq(type, STR("fleet")))
		*n_rows = js_len(rows);
	if (js_get(root, "order"))
		*n_rows = js_len(js_get(root, "order"));
	if (*n_rows > VIEW_COUNT_MAX)
		abort();
	for (size_t i = 0; str_eq(type, STR("rows")) && i < js_len(rows); i++) {
		uint64_t at;
		if (!js_u64(js_at(js_at(rows, i), 0), &at) || at >= *n_rows)
			abort();
	}
}

static void one(struct live *live, struct live_viewer *viewer, struct str line, struct mono *now)
{
	static struct buf frame = { .cap = 8 << 20 };
	static unsigned n;
	size_t n_rows = 0;
	live_frame(viewer, line);
	/* A first frame, and one after something has changed. */
	for (int i = 0; i < 2; i++) {
		*now = mono_add_ms(*now, LIVE_TICK_MS);
		(void)live_tick(live, *now, (struct wall){ 1764489601000 });
		buf_clear(&frame);
		while (live_writable(viewer, &frame)) {
			judge(buf_str(&frame), &n_rows);
			buf_clear(&frame);
		}
		put_agent(n++ % AGENTS);
		fleet_disconnected(fleet, n % AGENTS + 1, true, (struct wall){ 1764489600000 });
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct live_options options;
	struct auth_viewer who = { .role = AUTH_VIEWER, .n_namespaces = 1, .namespaces = { "ns-0" } };
	struct server_reply reply = { .body.cap = 1000 };
	struct live *live = NULL;
	struct str text = { (const char *)data, size }, line;
	struct mono now = { 1 };
	struct err err;
	if (!fleet) {
		must(fleet_new(&fleet, &err));
		for (unsigned n = 0; n < AGENTS; n++)
			put_agent(n);
	}
	must(live_new(NULL, &options, fleet, NULL, NULL, NULL, &live, &err));
	struct live_viewer *viewer = live_open(live, &who, "::1", &reply);
	if (!viewer)
		abort();
	while (str_split(&text, '\n', &line))
		one(live, viewer, line, &now);
	live_free(live);
	return 0;
}
