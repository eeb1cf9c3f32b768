/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gauges of one source, gathered sample by sample. Several families may say the same thing on one page
 * (jmx_exporter's own jvm_* beside java_lang_*): each family is kept apart and the first that answers a field
 * wins, so nothing is added twice.
 */
#ifndef ENGINE_GAUGES_H
#define ENGINE_GAUGES_H

#include "bankfull/engine.h"
#include "engine/notes.h"

/* In order of preference. */
enum gauge_family { GAUGES_FLINK = 0, GAUGES_JVM, GAUGES_JVM_OLD, GAUGES_JAVA_LANG, GAUGES_FAMILY_COUNT };

enum gauge_field {
	GAUGE_HEAP_USED = 0,
	GAUGE_HEAP_COMMITTED,
	GAUGE_HEAP_MAX,
	GAUGE_METASPACE_USED,
	GAUGE_METASPACE_COMMITTED,
	GAUGE_METASPACE_MAX,
	GAUGE_CODE_USED,
	GAUGE_CODE_COMMITTED,
	GAUGE_DIRECT_USED,
	GAUGE_DIRECT_CAPACITY,
	GAUGE_DIRECT_COUNT,
	GAUGE_MAPPED_USED,
	GAUGE_THREADS,
	GAUGE_CLASSES,
	GAUGE_MANAGED_USED,
	GAUGE_MANAGED_TOTAL,
	GAUGE_NETWORK_USED,
	GAUGE_NETWORK_TOTAL,
	GAUGE_NETWORK_AVAILABLE,
	GAUGE_FIELD_COUNT,
};

enum { GAUGE_PARTS_MAX = 16 };

struct gauge_cell {
	uint64_t value;
	uint64_t parts[GAUGE_PARTS_MAX]; /* hashes of the label sets seen */
	uint64_t values[GAUGE_PARTS_MAX];
	uint8_t n;
	bool bad;      /* a part was no number of bytes, or too many parts */
	bool conflict; /* two values for one thing */
	bool summed;
};

struct gauge_cells {
	struct gauge_cell cell[GAUGES_FAMILY_COUNT][GAUGE_FIELD_COUNT];
};

/* `sum`: parts with different identity add up (memory pools); else a second identity is a conflict. */
void gauges_add(struct gauge_cells *cells, enum gauge_family family, enum gauge_field field, bool sum,
		uint64_t identity, bool known, uint64_t value);

/* Into what `gauges` does not have yet; true if anything was. Conflicts are noted under `what`. */
bool gauges_put(const struct gauge_cells *cells, struct engine_gauges *gauges, const char *what,
		struct engine_notes *notes);

#endif
