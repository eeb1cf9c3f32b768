/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/gauges.h"

#include <stddef.h>

void gauges_add(struct gauge_cells *cells, enum gauge_family family, enum gauge_field field, bool sum,
		uint64_t identity, bool known, uint64_t value)
{
	struct gauge_cell *cell = &cells->cell[family][field];
	for (size_t i = 0; i < cell->n; i++)
		if (cell->parts[i] == identity) {
			cell->conflict = cell->conflict || !known || cell->values[i] != value;
			return;
		}
	cell->summed = sum;
	if (cell->n == GAUGE_PARTS_MAX) {
		cell->bad = true;
		return;
	}
	if (cell->n && !sum)
		cell->conflict = cell->conflict || cell->values[0] != value;
	cell->parts[cell->n] = identity;
	cell->values[cell->n] = value;
	cell->n++;
	if (!known)
		cell->bad = true;
	else if (sum && __builtin_add_overflow(cell->value, value, &cell->value))
		cell->bad = true;
	else if (!sum)
		cell->value = value;
}

static const struct {
	const char *name;
	uint16_t offset;
	bool is_count;
} fields[GAUGE_FIELD_COUNT] = {
	[GAUGE_HEAP_USED] = { "heap used", offsetof(struct engine_gauges, heap_used_bytes), false },
	[GAUGE_HEAP_COMMITTED] = { "heap committed", offsetof(struct engine_gauges, heap_committed_bytes), false },
	[GAUGE_HEAP_MAX] = { "heap max", offsetof(struct engine_gauges, heap_max_bytes), false },
	[GAUGE_METASPACE_USED] = { "metaspace used", offsetof(struct engine_gauges, metaspace_used_bytes), false },
	[GAUGE_METASPACE_COMMITTED] = { "metaspace committed",
					offsetof(struct engine_gauges, metaspace_committed_bytes), false },
	[GAUGE_METASPACE_MAX] = { "metaspace max", offsetof(struct engine_gauges, metaspace_max_bytes), false },
	[GAUGE_CODE_USED] = { "code cache used", offsetof(struct engine_gauges, code_cache_used_bytes), false },
	[GAUGE_CODE_COMMITTED] = { "code cache committed", offsetof(struct engine_gauges, code_cache_committed_bytes),
				   false },
	[GAUGE_DIRECT_USED] = { "direct used", offsetof(struct engine_gauges, direct_used_bytes), false },
	[GAUGE_DIRECT_CAPACITY] = { "direct capacity", offsetof(struct engine_gauges, direct_capacity_bytes), false },
	[GAUGE_DIRECT_COUNT] = { "direct count", offsetof(struct engine_gauges, direct_buffers), true },
	[GAUGE_MAPPED_USED] = { "mapped used", offsetof(struct engine_gauges, mapped_used_bytes), false },
	[GAUGE_THREADS] = { "threads", offsetof(struct engine_gauges, threads), true },
	[GAUGE_CLASSES] = { "classes", offsetof(struct engine_gauges, classes_loaded), true },
	[GAUGE_MANAGED_USED] = { "managed used", offsetof(struct engine_gauges, managed_used_bytes), false },
	[GAUGE_MANAGED_TOTAL] = { "managed total", offsetof(struct engine_gauges, managed_total_bytes), false },
	[GAUGE_NETWORK_USED] = { "network used", offsetof(struct engine_gauges, network_used_bytes), false },
	[GAUGE_NETWORK_TOTAL] = { "network total", offsetof(struct engine_gauges, network_total_bytes), false },
	[GAUGE_NETWORK_AVAILABLE] = { "network available", offsetof(struct engine_gauges, network_available_bytes),
				      false },
};

static bool put_cell(const struct gauge_cell *cell, enum gauge_field field, struct engine_gauges *gauges)
{
	char *at = (char *)gauges + fields[field].offset;
	if (fields[field].is_count) {
		struct count *count = (struct count *)(void *)at;
		if (count->known)
			return false;
		*count = count_of(cell->value);
		return true;
	}
	struct qty *qty = (struct qty *)(void *)at;
	if (qty_known(*qty))
		return false;
	*qty = qty_of(cell->value, cell->summed && cell->n > 1 ? QTY_DERIVED : QTY_MEASURED);
	return true;
}

bool gauges_put(const struct gauge_cells *cells, struct engine_gauges *gauges, const char *what,
		struct engine_notes *notes)
{
	bool any = false;
	for (int field = 0; field < GAUGE_FIELD_COUNT; field++)
		for (int family = 0; family < GAUGES_FAMILY_COUNT; family++) {
			const struct gauge_cell *cell = &cells->cell[family][field];
			if (cell->n == 0)
				continue;
			if (cell->conflict)
				engine_note(notes, what, ERR_MALFORMED,
					    "%s comes more than once with different values: not used",
					    fields[field].name);
			else if (!cell->bad)
				any = put_cell(cell, (enum gauge_field)field, gauges) || any;
		}
	return any;
}
