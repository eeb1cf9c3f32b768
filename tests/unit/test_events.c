/* SPDX-License-Identifier: Apache-2.0 */
/* What one sample says that the one before did not. */
#include "collector/events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/*
 * A sample in words: "@10 e1 p7/1 l100 o0 r0 c1" is 10 s on, start 1 of the agent, pid 7 that started at tick 1, a limit of
 * 100 (l0: none), so many oom kills and restarts, and a checkpoint is running. What is not named is unread; no p: no target.
 */
static void sample_of(const char *words, struct wire_sample *sample, struct wall *at)
{
	memset(sample, 0, sizeof *sample);
	char copy[160], *rest = copy, *saved = NULL;
	(void)snprintf(copy, sizeof copy, "%s", words);
	for (char *word; (word = strtok_r(rest, " ", &saved)) != NULL; rest = NULL) {
		char *end;
		uint64_t n = strtoull(word + 1, &end, 10);
		switch (word[0]) {
		case '@':
			at->ms = (int64_t)n * 1000;
			break;
		case 'e':
			sample->head.epoch.bytes[0] = (uint8_t)n;
			break;
		case 'p':
			sample->pid = (int)n;
			sample->start_ticks = strtoull(end + 1, NULL, 10);
			break;
		case 'l':
			sample->limit = n ? limit_set(n) : (struct limit){ .kind = LIMIT_NONE };
			break;
		case 'o':
			sample->events.oom_kill = count_of(n);
			break;
		case 'r':
			sample->context.restarts = count_of(n);
			break;
		default:
			sample->context.checkpointing = n ? TRISTATE_TRUE : TRISTATE_FALSE;
			break;
		}
	}
}

static void say(struct buf *said, const struct event *event)
{
	static const char *const names[HAPPENED_COUNT] = { "start",       "end",  "limit", "checkpoint", "restart",
							   "agent-start", "lost", "bye",   "oom",        "seen" };
	(void)buf_printf(said, "%s%s@%lld(%lld", said->len ? " " : "", names[event->kind],
			 (long long)event->at.ms / 1000, (long long)event->value);
	if (event->before)
		(void)buf_printf(said, " %lld", (long long)event->before);
	(void)buf_puts(said, ")");
}

static const struct {
	const char *name, *samples[6], *said;
} table[] = {
	{ "nothing happens", { "@1 e1 p7/3 l9 o0 r0 c0", "@2 e1 p7/3 l9 o0 r0 c0" }, "seen@1(7 3)" },
	{ "a first sample has no before", { "@1 e1 p7/3 l9 o4 r5 c0" }, "seen@1(7 3)" },
	{ "no target, from the start", { "@1 e1", "@2 e1" }, "" },
	{ "it ends", { "@1 e1 p7/3", "@2 e1", "@3 e1" }, "seen@1(7 3) end@2(7)" },
	{ "it ends and another starts", { "@1 e1 p7/3", "@2 e1", "@3 e1 p8/9" }, "seen@1(7 3) end@2(7) start@3(8 9)" },
	{ "the same pid again", { "@1 e1 p7/3", "@2 e1 p7/4" }, "seen@1(7 3) end@2(7) start@2(7 4)" },
	{ "it is found again", { "@1 e1 p7/3", "@2 e1", "@3 e1 p7/3" }, "seen@1(7 3) end@2(7) seen@3(7 3)" },
	/* The agent started anew, and looks for its target. */
	{ "an agent that has not found it yet", { "@1 e1 p7/3", "@2 e2", "@3 e2", "@4 e2 p7/3" }, "seen@1(7 3)" },
	{ "an agent that finds another",
	  { "@1 e1 p7/3", "@2 e2", "@3 e2", "@4 e2 p8/5" },
	  "seen@1(7 3) end@2(7) start@4(8 5)" },
	{ "an agent that finds none for long",
	  { "@1 e1 p7/3", "@2 e2", "@61 e2", "@62 e2", "@63 e2" },
	  "seen@1(7 3) end@2(7)" },
	{ "an agent that started, found it, and then it ends",
	  { "@1 e1 p7/3", "@2 e2 p7/3", "@3 e2" },
	  "seen@1(7 3) end@3(7)" },
	{ "the limit is changed", { "@1 e1 p7/3 l9", "@2 e1 p7/3", "@3 e1 p7/3 l8" }, "seen@1(7 3) limit@3(8 9)" },
	{ "the limit is taken away, and set",
	  { "@1 p7/3 l9", "@2 p7/3 l0", "@3 p7/3 l5" },
	  "seen@1(7 3) limit@2(-1 9) limit@3(5 -1)" },
	{ "a kill", { "@1 p7/3 o0", "@2 p7/3", "@3 p7/3 o2" }, "seen@1(7 3) oom@3(2)" },
	{ "another cgroup counts anew", { "@1 p7/3 o5", "@2 p7/3 o0", "@3 p7/3 o1" }, "seen@1(7 3) oom@3(1)" },
	{ "restarts", { "@1 p7/3 r1", "@2 p7/3 r1", "@3 p7/3 r3" }, "seen@1(7 3) restart@3(3 1)" },
	{ "another process has restarts of its own",
	  { "@1 p7/3 r1", "@2 p8/3 r2" },
	  "seen@1(7 3) end@2(7) start@2(8 3)" },
	{ "a checkpoint",
	  { "@1 p7/3 c0", "@2 p7/3 c1", "@3 p7/3", "@4 p7/3 c1", "@9 p7/3 c0", "@10 p7/3 c0" },
	  "seen@1(7 3) checkpoint@2(0) checkpoint@2(7000)" },
	{ "a checkpoint of no time", { "@1 p7/3 c1", "@1 p7/3 c0" }, "seen@1(7 3) checkpoint@1(0) checkpoint@1(1)" },
	{ "a checkpoint whose end nobody saw",
	  { "@1 p7/3 c1", "@2 p8/3 c0", "@3 p8/3 c1" },
	  "seen@1(7 3) checkpoint@1(0) end@2(7) start@2(8 3) checkpoint@3(0)" },
	{ "all at once",
	  { "@1 p7/3 l9 o0 r0 c1", "@2 p7/4 l8 o1 r0 c1" },
	  "seen@1(7 3) checkpoint@1(0) end@2(7) start@2(7 4) limit@2(8 9) oom@2(1) checkpoint@2(0)" },
};

static void each(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		auto_buf struct buf said = { .cap = 4096 };
		struct event_state before = { 0 };
		struct wall at = { 0 };
		(void)buf_puts(&said, "");
		for (size_t s = 0; s < 6 && table[i].samples[s]; s++) {
			struct wire_sample sample;
			struct event events[EVENTS_OF_SAMPLE_MAX];
			sample_of(table[i].samples[s], &sample, &at);
			size_t n = events_step(&before, &sample, at, events);
			assert_true(n <= EVENTS_OF_SAMPLE_MAX);
			for (size_t e = 0; e < n; e++)
				say(&said, &events[e]);
		}
		if (strcmp(said.ptr ? said.ptr : "", table[i].said) != 0)
			fail_msg("%s: not '%s' but '%s'", table[i].name, table[i].said, said.ptr);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
