/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has happened since the watch began: how each owner has moved, and events (start and end of a JVM, a resize, a kill,
 * findings that opened or cleared). PURE: it is fed readings in the order of time, and the caller owns it.
 */
#ifndef WATCH_STORY_H
#define WATCH_STORY_H

#include "watch/reading.h"

enum {
	STORY_EVENTS_MAX = 100,
	STORY_POINTS = 32,       /* of the last minutes: a scan is at least five seconds after the one before */
	STORY_MINUTE_MS = 60000, /* "last minute" */
};

struct story_event {
	struct wall at;
	enum severity severity;
	char text[240];
};

/* Bytes of all owners and of the floor; what was unread is unread. */
struct story_point {
	struct mono at;
	struct qty bytes[OWNER_COUNT + 1];
};
enum { STORY_FLOOR = OWNER_COUNT };

struct story {
	bool begun, has_target;
	struct process_id process;
	struct limit limit;
	struct count oom, oom_kill;
	struct wall died;
	struct story_point first;                /* of this life */
	struct story_point lately[STORY_POINTS]; /* a ring: at most one each two seconds */
	size_t n_points, next_point;
	bool open[FINDINGS_MAX];                     /* by rule, in the order of rule_table */
	struct story_event events[STORY_EVENTS_MAX]; /* a ring */
	size_t n_events, next_event;
};

void story_feed(struct story *story, const struct reading *reading);
/* Of what happened to the reader itself. */
void story_tell(struct story *story, struct wall at, enum severity severity, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* By how much an owner (or STORY_FLOOR) has moved since this life was first read, and over about the last minute. */
struct signed_qty story_since_start(const struct story *story, const struct reading *now, unsigned what);
struct signed_qty story_last_minute(const struct story *story, const struct reading *now, unsigned what);

/* The nth event, the newest first; NULL: there are no more. */
const struct story_event *story_event(const struct story *story, size_t nth);

#endif
