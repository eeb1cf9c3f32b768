/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Flink process's exact budget. TaskManagers get every part of it as `-D key=<n>b` after their main class
 * (TaskExecutorProcessUtils.generateDynamicConfigsStr), JobManagers four parts (JobManagerProcessUtils). Flink
 * refuses to start a TaskManager that lacks one, so what is not on the command line is looked up in the
 * configuration file. A network or overhead whose min and max differ is no figure: unread, with a note. Sums are
 * derived, and unread if a part is. A JobManager fills heap, direct (its off-heap), metaspace, overhead and the
 * sums.
 */
#ifndef ENGINE_FLINKBUDGET_H
#define ENGINE_FLINKBUDGET_H

#include "bankfull/engine.h"
#include "engine/flinkconf.h"
#include "engine/notes.h"

/*
 * `cmdline`: NUL-separated, as in /proc. `conf` may be NULL, `notes` too. Never fails: what is not there is
 * unread.
 */
void flinkbudget_read(struct str cmdline, const struct flinkconf *conf, enum engine kind,
		      struct flink_budget *ret_budget, struct engine_notes *notes);

/*
 * The value of a Flink option: the last `-D key=value` or `-Dkey=value` after the main class, else the file's.
 * `where` says which.
 */
bool flink_option(struct str cmdline, const struct flinkconf *conf, const char *key, struct str *ret_value,
		  char ret_where[64]);

/* Set, but to what may not be kept: not the default. */
bool flink_option_is_hidden(struct str cmdline, const struct flinkconf *conf, const char *key);

/* The settings of RocksDB's and ForSt's memory into `state`, and every setting that matters into `notes`. */
void flink_settings_read(struct str cmdline, const struct flinkconf *conf, struct engine_state *state,
			 struct engine_notes *notes);

/* Derived sums of a budget whose parts are set (TaskManager). */
void flinkbudget_sum(struct flink_budget *budget);

#endif
