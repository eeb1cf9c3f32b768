/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs of the daemons: one JSON line a message on a descriptor, "time" (RFC 3339 UTC), "level", "event" (a stable
 * kebab-case id, for machines), "message" (for people, escaped), and at most some fields. Each event id may come
 * LOGGER_BURST times in LOGGER_WINDOW_MS; what is left out is counted and told with the next that is let through.
 * A full or closed pipe never blocks and never ends the program.
 */
#ifndef SYS_LOGGER_H
#define SYS_LOGGER_H

#include <stdint.h>

enum { LOGGER_EVENTS = 64, LOGGER_BURST = 5, LOGGER_WINDOW_MS = 60000, LOGGER_LINE_MAX = 4096 };

enum log_level { SAY_DEBUG = 0, SAY_INFO, SAY_WARNING, SAY_ERROR };

struct logger {
	int fd;
	enum log_level least;
	uint64_t suppressed_total;
	struct {
		const char *event;
		uint64_t window_ms; /* when its window began */
		uint32_t said, left_out;
	} events[LOGGER_EVENTS];
};

void logger_init(struct logger *logger, int fd, enum log_level least);
/* `event` is a literal. NULL logger: nothing. */
void logger_say(struct logger *logger, enum log_level level, const char *event, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
