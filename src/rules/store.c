/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/store.h"

#include <stdio.h>
#include <string.h>

#include "rules/text.h"
#include "rules/version.h"

enum { OPTION_CAP = 80 };

bool store_in_use(const struct ledger *ledger)
{
	return ledger->listed[OWNER_ROCKSDB_BLOCK_CACHE] || ledger->listed[OWNER_ROCKSDB_MEMTABLES];
}

bool store_line_unread(const struct rule_input *input, enum owner owner)
{
	bool inside = owner == OWNER_ROCKSDB_MEMTABLES && input->snapshot->engine.rocksdb.memtables_in_cache;
	return input->ledger->listed[owner] && !qty_known(input->ledger->lines[owner].bytes) && !inside;
}

int store_largest_line(const struct ledger *ledger)
{
	int best = OWNER_ROCKSDB_BLOCK_CACHE;
	for (int owner = OWNER_ROCKSDB_BLOCK_CACHE; owner <= OWNER_ROCKSDB_TABLE_READERS; owner++)
		if (qty_or(ledger->lines[owner].bytes, 0) > qty_or(ledger->lines[best].bytes, 0))
			best = owner;
	return best;
}

struct qty store_resident(const struct rule_input *input, bool *ret_all)
{
	struct qty sum = { 0 };
	*ret_all = true;
	for (int owner = OWNER_ROCKSDB_BLOCK_CACHE; owner <= OWNER_ROCKSDB_TABLE_READERS; owner++) {
		const struct qty *bytes = &input->ledger->lines[owner].bytes;
		if (store_line_unread(input, (enum owner)owner))
			*ret_all = false;
		if (input->ledger->listed[owner] && qty_known(*bytes))
			sum = qty_known(sum) ? qty_add(sum, *bytes) : *bytes;
	}
	return sum;
}

const char *store_options(const struct engine_state *engine)
{
	return engine->backend == BACKEND_FORST ? "state.backend.forst" : "state.backend.rocksdb";
}

const char *store_setting(const struct snapshot *snapshot, const char *option)
{
	char key[OPTION_CAP];
	(void)snprintf(key, sizeof key, "%s.%s", store_options(&snapshot->engine), option);
	for (size_t i = 0; i < snapshot->n_settings; i++)
		if (strcmp(snapshot->settings[i].key, key) == 0)
			return snapshot->settings[i].value;
	return NULL;
}

void store_show(struct finding *finding, const struct snapshot *snapshot, const char *option)
{
	char key[OPTION_CAP];
	(void)snprintf(key, sizeof key, "%s.%s", store_options(&snapshot->engine), option);
	finding_setting(finding, snapshot, key);
}

uint64_t store_arena_declared(uint64_t write_buffer_bytes)
{
	uint64_t pages = write_buffer_bytes / 8 / 4096 + (write_buffer_bytes / 8 % 4096 != 0);
	return pages * 4096;
}

uint64_t store_arena_real(const struct engine_state *engine, uint64_t write_buffer_bytes)
{
	uint64_t declared = store_arena_declared(write_buffer_bytes);
	bool capped = engine->kind == ENGINE_KAFKA_STREAMS || engine->backend == BACKEND_FORST ||
		      version_from(engine, 2) == TRISTATE_TRUE;
	return capped && declared > STORE_MIB ? STORE_MIB : declared;
}

uint64_t store_write_buffer(const struct engine_state *engine)
{
	return qty_or(engine->write_buffer_bytes, (uint64_t)64 * STORE_MIB);
}

uint64_t store_ratio(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 value = (unsigned __int128)a * b / (c ? c : 1);
	return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

unsigned long long store_mib_up(uint64_t bytes)
{
	return (bytes >> 20) + (bytes % STORE_MIB != 0);
}
