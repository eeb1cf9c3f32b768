/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flink's options that decide who uses native memory beside the budget: RocksDB's write buffers, its tickers and manual
 * compaction, batch jobs and Python. Defaults count only where a configuration was read; a value that is set but was
 * redacted is unread. What a job sets for itself is not in a cluster's configuration.
 */
#ifndef ENGINE_FLINKSWITCH_H
#define ENGINE_FLINKSWITCH_H

#include "bankfull/engine.h"
#include "engine/flinkconf.h"
#include "engine/notes.h"

/* As build.h's. `conf` NULL: none was read. Reads state->backend; settings that are in force go to `notes`. */
void flink_switches_read(struct str cmdline, struct str mapped, const struct flinkconf *conf,
			 struct engine_state *state, struct engine_notes *notes);

#endif
