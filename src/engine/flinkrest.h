/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flink's REST API (/taskmanagers, /taskmanagers/:id, /config): the budget and gauges of our TaskManager as the
 * JobManager knows them. Shapes: docs/static/generated/rest_v1_dispatcher.yml of Flink 1.20 to 2.3.
 * memoryConfiguration is in bytes and null in local runs.
 */
#ifndef ENGINE_FLINKREST_H
#define ENGINE_FLINKREST_H

#include "bankfull/engine.h"
#include "base/buf.h"
#include "engine/flinkconf.h"
#include "engine/notes.h"

#define FLINKREST_TASKMANAGERS "/taskmanagers"
#define FLINKREST_CONFIG       "/config"
#define FLINKREST_JM_CONFIG    "/jobmanager/config"

enum { FLINKREST_ID_CAP = 128 };

/* What we know of our own TaskManager; empty parts are not compared. */
struct flinkrest_self {
	struct str tm_id;   /* from the metrics page, or -D taskmanager.resource-id */
	struct str host;    /* an address of the pod, as in the RPC path */
	uint32_t data_port; /* 0: unread */
};

/*
 * Our id in the list: by id, else by host (and port), else the only one there is. USAGE if several could be ours,
 * GONE if none.
 */
int flinkrest_find(struct str taskmanagers, const struct flinkrest_self *self, char ret_id[FLINKREST_ID_CAP],
		   struct err *err) __attribute__((warn_unused_result));

/* "/taskmanagers/<id>"; false if the id holds bytes that have no place in a path. */
bool flinkrest_path(const char *id, char *dest, size_t cap);

/*
 * One /taskmanagers/:id answer into what `state` does not know yet; a budget that contradicts the known one is
 * noted.
 */
int flinkrest_read(struct str taskmanager, struct engine_state *state, struct engine_notes *notes, struct err *err)
	__attribute__((warn_unused_result));

/* flink-version of /config; false if there is none. */
bool flinkrest_version(struct str config, char ret_version[32]);

/*
 * /jobmanager/config, [{"key":...,"value":...}], into lines as flink-conf.yaml has them, redacted as flinkconf.h
 * redacts; and these lines into a configuration whose entries have no lines of their own.
 */
int flinkrest_config_reduce(struct str answer, struct buf *ret_text, struct err *err)
	__attribute__((warn_unused_result));
int flinkrest_config_parse(struct str text, struct flinkconf *ret_conf, struct err *err)
	__attribute__((warn_unused_result));

/* Any of the three other answers, allow-listed keys and well-formed values only. */
int flinkrest_reduce(struct str answer, struct buf *ret_answer, struct err *err) __attribute__((warn_unused_result));

#endif
