/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop of a program: one thread, libwebsockets underneath (src/net/lws_*.c are its owners). The agent runs it
 * on lws's own poll loop; the collector on libuv, because lws's own is O(n) in connections.
 *
 * Callbacks come from loop_run() only. A callback may free what called it.
 */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include <signal.h>

#include "base/err.h"
#include "sys/clock.h"

struct loop;

enum loop_kind { LOOP_POLL, LOOP_UV };

/* Messages of the library at error level; `text` has no newline. NULL: dropped. */
typedef void loop_log_fn(void *context, const char *text);

int loop_new(enum loop_kind kind, loop_log_fn *log, void *context, struct loop **ret_loop, struct err *err)
	__attribute__((warn_unused_result));
/* After loop_run() has returned, and after all that was made on it was freed. NULL is fine. */
void loop_free(struct loop *loop);

/* Runs until loop_stop(). */
int loop_run(struct loop *loop, struct err *err) __attribute__((warn_unused_result));
void loop_stop(struct loop *loop);

/* The clock of the present call from the loop: read once when it begins. */
struct mono loop_now(const struct loop *loop);

/* One-shot timers. Setting one that is set moves it. */
struct loop_timer;
typedef void loop_timer_fn(void *context);
int loop_timer_new(struct loop *loop, loop_timer_fn *fn, void *context, struct loop_timer **ret_timer, struct err *err)
	__attribute__((warn_unused_result));
void loop_timer_set(struct loop_timer *timer, uint64_t delay_ms);
void loop_timer_cancel(struct loop_timer *timer);
void loop_timer_free(struct loop_timer *timer); /* NULL is fine */

/* A descriptor that becomes readable (pipe, inotify, signalfd). It stays the caller's: stop the watch, then close it. */
struct loop_watch;
typedef void loop_watch_fn(void *context);
int loop_watch_new(struct loop *loop, int fd, loop_watch_fn *fn, void *context, struct loop_watch **ret_watch,
		   struct err *err) __attribute__((warn_unused_result));
void loop_watch_free(struct loop_watch *watch); /* NULL is fine */

/* SIGTERM, SIGINT, SIGHUP and such, delivered as a call from the loop. They are blocked for the process from here on. */
typedef void loop_signal_fn(void *context, int signal);
int loop_signals(struct loop *loop, const int *signals, size_t n, loop_signal_fn *fn, void *context, struct err *err)
	__attribute__((warn_unused_result));

/* LOOP_UV only: `work` runs on a thread of libuv's pool and may block; then `done` is called from the loop. */
typedef void loop_work_fn(void *context);
int loop_work(struct loop *loop, loop_work_fn *work, loop_work_fn *done, void *context, struct err *err)
	__attribute__((warn_unused_result));

#endif
