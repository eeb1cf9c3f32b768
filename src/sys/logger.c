/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/logger.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/date.h"
#include "sys/clock.h"

static const char *const level_names[] = { "debug", "info", "warning", "error" };

void logger_init(struct logger *logger, int fd, enum log_level least)
{
	*logger = (struct logger){ .fd = fd, .least = least };
}

/* Literals: one id has one address, or a few; a full table shares its last row. */
static size_t row_of(struct logger *logger, const char *event)
{
	size_t i = 0;
	while (i < LOGGER_EVENTS - 1 && logger->events[i].event && logger->events[i].event != event &&
	       strcmp(logger->events[i].event, event) != 0)
		i++;
	if (!logger->events[i].event)
		logger->events[i].event = event;
	return i;
}

/* False: it has been said often enough. `*ret_left_out`: how many were kept back since it was last said. */
static bool may_say(struct logger *logger, const char *event, uint64_t now_ms, uint32_t *ret_left_out)
{
	size_t i = row_of(logger, event);
	if (now_ms - logger->events[i].window_ms >= LOGGER_WINDOW_MS || logger->events[i].window_ms == 0) {
		logger->events[i].window_ms = now_ms ? now_ms : 1;
		logger->events[i].said = 0;
	}
	if (logger->events[i].said >= LOGGER_BURST) {
		logger->events[i].left_out++;
		logger->suppressed_total++;
		return false;
	}
	logger->events[i].said++;
	*ret_left_out = logger->events[i].left_out;
	logger->events[i].left_out = 0;
	return true;
}

/* JSON text: quotes, backslash, control bytes and whatever is no ASCII letter of it become \u00XX. Cut where it is full. */
static size_t put_escaped(char *dest, size_t room, const char *text)
{
	size_t n = 0;
	for (; *text && n + 7 < room; text++) {
		unsigned char byte = (unsigned char)*text;
		if (byte == '"' || byte == '\\') {
			dest[n++] = '\\';
			dest[n++] = (char)byte;
		} else if (byte < ' ' || byte >= 0x7f) {
			n += (size_t)snprintf(dest + n, room - n, "\\u%04x", byte);
		} else {
			dest[n++] = (char)byte;
		}
	}
	return n;
}

/* A reader that has stopped must not stop us: what does not go at once is dropped, and the line is whole or not there. */
static void put_line(int fd, const char *line, size_t len)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	if (poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT))
		return;
	while (write(fd, line, len) < 0 && errno == EINTR)
		;
}

void logger_say(struct logger *logger, enum log_level level, const char *event, const char *format, ...)
{
	char message[1024], line[LOGGER_LINE_MAX], day[DATE_TEXT_CAP];
	uint32_t left_out = 0;
	if (!logger || level < logger->least || !may_say(logger, event, clock_mono().ns / 1000000, &left_out))
		return;
	va_list args;
	va_start(args, format);
	(void)vsnprintf(message, sizeof message, format, args);
	va_end(args);
	size_t n =
		(size_t)snprintf(line, sizeof line, "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%s\",\"message\":\"",
				 date_format_instant(day, clock_wall().ms), level_names[level], event);
	n += put_escaped(line + n, sizeof line - n - 64, message);
	line[n++] = '"';
	if (left_out)
		n += (size_t)snprintf(line + n, sizeof line - n, ",\"left_out\":%u", left_out);
	line[n++] = '}';
	line[n++] = '\n';
	put_line(logger->fd, line, n);
}
