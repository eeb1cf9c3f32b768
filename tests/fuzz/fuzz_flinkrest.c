/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "base/limits.h"
#include "engine/flinkrest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct engine_state state = { .kind = ENGINE_FLINK_TASKMANAGER };
	const struct flinkrest_self self = { .data_port = 0 };
	char id[FLINKREST_ID_CAP], version[32], path[256];
	auto_buf struct buf out = { .cap = 1 << 20 }, again = { .cap = 1 << 20 };
	if (flinkrest_find(text, &self, id, NULL) == 0)
		(void)flinkrest_path(id, path, sizeof path);
	(void)flinkrest_version(text, version);
	if (flinkrest_read(text, &state, NULL, NULL) == 0 && state.flink.n_slots.known && state.flink.n_slots.n == 0)
		abort();
	auto_buf struct buf lines = { .cap = 1 << 20 };
	auto_flinkconf struct flinkconf conf = { 0 };
	/* What was reduced is lines that all parse. */
	if (flinkrest_config_reduce(text, &lines, NULL) == 0 && lines.len <= LIMIT_CONFIG_FILE &&
	    (flinkrest_config_parse(buf_str(&lines), &conf, NULL) < 0 || conf.n_bad_lines))
		abort();
	if (flinkrest_reduce(text, &out, NULL) < 0)
		return 0;
	if (flinkrest_reduce(buf_str(&out), &again, NULL) < 0 || !str_eq(buf_str(&out), buf_str(&again)))
		abort();
	return 0;
}
