/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop: lws's own poll loop, or libuv with lws as a guest. */
#include "net/lws_loop.h"

#include "base/auto.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

enum {
	/* Descriptors of LOOP_POLL: lws looks them up one by one in a table of this size, and the agent has a dozen. */
	POLL_FDS = 256,
	/* Of LOOP_UV: lws allots and clears two tables by the soft limit, so that it is neither too low nor a million. */
	UV_FDS = 32768,
	POLL_SERVICE_BYTES = 4096,
	UV_SERVICE_BYTES = 16384,
	HEADER_BYTES = 8192,
};

/*
 * Sixteen receivers of alerts, each of which may hang for its timeout, eight watches of Kubernetes, each of which does hang,
 * and reviews of tokens beside them.
 */
#define POOL_THREADS "33"

const lws_retry_bo_t loop_no_keepalive = { .secs_since_valid_ping = 0 };

/* lws has one log function a process. */
static loop_log_fn *log_fn;
static void *log_context;

static void emit(int level, const char *line)
{
	(void)level;
	if (!log_fn)
		return;
	char text[512];
	snprintf(text, sizeof(text), "%s", line);
	text[strcspn(text, "\n")] = '\0';
	log_fn(log_context, text);
}

void loop_log(const char *text)
{
	if (log_fn)
		log_fn(log_context, text);
}

struct kept {
	void *memory;
	struct kept *next;
};

void loop_keep(struct loop *loop, void *memory)
{
	struct kept *kept = memory ? malloc(sizeof(*kept)) : NULL;
	if (!kept)
		return;
	*kept = (struct kept){ memory, loop->kept };
	loop->kept = kept;
}

static void free_kept(struct loop *loop)
{
	while (loop->kept) {
		struct kept *kept = loop->kept;
		loop->kept = kept->next;
		free(kept->memory);
		free(kept);
	}
}

void loop_touch(struct loop *loop)
{
	loop->now = clock_mono();
}

void loop_poke(struct loop *loop)
{
	lws_cancel_service(loop->context);
}

struct mono loop_now(const struct loop *loop)
{
	return loop->now;
}

/* --- making and freeing ------------------------------------------------------------------ */

static const struct lws_protocols base_protocols[] = {
	{ .name = LOOP_BASE_PROTOCOL, .callback = loop_callback },
	{ .name = LOOP_CLIENT_PROTOCOL, .callback = wsclient_callback, .rx_buffer_size = POLL_SERVICE_BYTES },
	{ .name = NULL },
};

static void set_fd_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max < UV_FDS ? limit.rlim_max : UV_FDS;
	/* A limit that cannot be set leaves fewer connections, which are counted when they are refused. */
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

struct lws_vhost *loop_client_vhost(struct loop *loop, SSL_CTX *tls)
{
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.vhost_name = tls ? "tls" : "base",
		.protocols = base_protocols,
		.retry_and_idle_policy = &loop_no_keepalive,
		/* Else lws takes the proxy that the environment names (lib/core-net/vhost.c). Port 0: none. */
		.http_proxy_address = ":0",
		.gid = LOOP_KEEP_ID,
		.uid = LOOP_KEEP_ID,
	};
	if (tls) {
		info.options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
		info.provided_client_ssl_ctx = tls;
	}
	return lws_create_vhost(loop->context, &info);
}

static int make_context(struct loop *loop, struct err *err)
{
	void *foreign[1] = { &loop->uv };
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_SKIP_SERVER_CANONICAL_NAME |
			   LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
		.timeout_secs = LOOP_LWS_TIMEOUT_S,
		.pcontext = &loop->context, /* set to NULL when it is gone */
		.max_http_header_data2 = HEADER_BYTES,
		.pt_serv_buf_size = loop->kind == LOOP_UV ? UV_SERVICE_BYTES : POLL_SERVICE_BYTES,
		.gid = LOOP_KEEP_ID,
		.uid = LOOP_KEEP_ID,
	};
	if (loop->kind == LOOP_UV) {
		set_fd_limit();
		info.options |= LWS_SERVER_OPTION_LIBUV;
		info.foreign_loops = foreign;
	} else {
		info.fd_limit_per_thread = POLL_FDS;
	}
	loop->context = lws_create_context(&info);
	if (!loop->context)
		return err_set(err, ERR_IO, "libwebsockets does not start%s",
			       loop->kind == LOOP_UV ? "; is its libuv plugin installed (libwebsockets-evlib-uv)?"
						     : "");
	loop->base = loop_client_vhost(loop, NULL);
	if (!loop->base)
		return err_set(err, ERR_IO, "libwebsockets: no vhost");
	return 0;
}

static void nothing(void *context)
{
	(void)context;
}

/*
 * libuv makes its threads at the first work, and aborts where it may have none (init_threads() in src/threadpool.c): if
 * that must happen, then at the start and not months later, at a moment without memory. They inherit the mask of signals:
 * one that loop_signals() blocks later must not end the program by way of a thread that does not.
 */
static int start_threads(struct loop *loop, struct err *err)
{
	sigset_t all, before;
	sigfillset(&all);
	/* libuv takes four where nobody says a number, and has no call to say it. */
	if (setenv("UV_THREADPOOL_SIZE", POOL_THREADS, 0) < 0)
		return err_set(err, ERR_NOMEM, "environment");
	int code = pthread_sigmask(SIG_BLOCK, &all, &before);
	if (code != 0)
		return err_sys(err, code, "block signals");
	int r = loop_work(loop, nothing, nothing, NULL, err);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	/* Until it is done: nothing else is on this loop yet, and one that is freed at once must not leave it behind. */
	if (r == 0)
		(void)uv_run(&loop->uv, UV_RUN_DEFAULT);
	return r;
}

int loop_new(enum loop_kind kind, loop_log_fn *log, void *context, struct loop **ret_loop, struct err *err)
{
	log_fn = log;
	log_context = context;
	lws_set_log_level(log ? LLL_ERR : 0, emit);
	struct loop *loop = calloc(1, sizeof(*loop));
	if (!loop)
		return err_set(err, ERR_NOMEM, "event loop");
	loop->kind = kind;
	loop->signal_fd = -1;
	loop_touch(loop);
	int r = 0;
	if (kind == LOOP_UV) {
		int code = uv_loop_init(&loop->uv);
		if (code < 0)
			r = err_set(err, ERR_IO, "libuv: %s", uv_strerror(code));
		loop->uv_ready = code == 0;
		if (r == 0)
			r = start_threads(loop, err);
	}
	if (r == 0)
		r = make_context(loop, err);
	if (r < 0) {
		loop_free(loop);
		return r;
	}
	*ret_loop = loop;
	return 0;
}

static void close_handle(uv_handle_t *handle, void *context)
{
	(void)context;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

/* libuv closes handles in its loop only: run it until nothing is left. */
static void drain_uv(struct loop *loop)
{
	for (int i = 0; i < 10000 && uv_run(&loop->uv, UV_RUN_NOWAIT) != 0; i++) {
	}
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	loop_watch_free(loop->signal_watch);
	if (loop->signal_fd >= 0)
		close(loop->signal_fd);
	if (loop->context)
		lws_context_destroy(loop->context);
	if (loop->uv_ready) {
		/* On a foreign loop the first call only begins: sockets close in the loop, a second call frees. */
		drain_uv(loop);
		if (loop->context)
			lws_context_destroy(loop->context);
		uv_walk(&loop->uv, close_handle, NULL);
		drain_uv(loop);
		(void)uv_loop_close(&loop->uv);
	}
	free_kept(loop);
	free(loop);
}

/* --- running ------------------------------------------------------------------------------ */

int loop_run(struct loop *loop, struct err *err)
{
	loop->stopping = false;
	while (!loop->stopping) {
		if (loop->kind == LOOP_UV)
			(void)uv_run(&loop->uv, UV_RUN_DEFAULT);
		else if (lws_service(loop->context, 0) < 0)
			return err_set(err, ERR_IO, "libwebsockets: the loop failed");
	}
	return 0;
}

void loop_stop(struct loop *loop)
{
	loop->stopping = true;
	if (loop->kind == LOOP_UV)
		uv_stop(&loop->uv);
	else
		loop_poke(loop);
}

/* --- timers --------------------------------------------------------------------------------- */

struct loop_timer {
	lws_sorted_usec_list_t sul; /* LOOP_POLL */
	uv_timer_t uv;              /* LOOP_UV */
	struct loop *loop;
	loop_timer_fn *fn;
	void *context;
};

static void on_sul(lws_sorted_usec_list_t *sul)
{
	struct loop_timer *timer = lws_container_of(sul, struct loop_timer, sul);
	loop_touch(timer->loop);
	timer->fn(timer->context);
}

static void on_uv_timer(uv_timer_t *handle)
{
	struct loop_timer *timer = handle->data;
	loop_touch(timer->loop);
	timer->fn(timer->context);
}

int loop_timer_new(struct loop *loop, loop_timer_fn *fn, void *context, struct loop_timer **ret_timer, struct err *err)
{
	struct loop_timer *timer = calloc(1, sizeof(*timer));
	if (!timer)
		return err_set(err, ERR_NOMEM, "timer");
	*timer = (struct loop_timer){ .loop = loop, .fn = fn, .context = context };
	if (loop->kind == LOOP_UV) {
		(void)uv_timer_init(&loop->uv, &timer->uv); /* cannot fail */
		timer->uv.data = timer;
	}
	*ret_timer = timer;
	return 0;
}

void loop_timer_set(struct loop_timer *timer, uint64_t delay_ms)
{
	struct loop *loop = timer->loop;
	if (delay_ms > UINT32_MAX)
		delay_ms = UINT32_MAX;
	if (loop->kind == LOOP_UV) {
		/* Its clock is that of the round's start: a long callback would shorten the delay. */
		uv_update_time(&loop->uv);
		(void)uv_timer_start(&timer->uv, on_uv_timer, delay_ms, 0);
		return;
	}
	lws_sul_schedule(loop->context, 0, &timer->sul, on_sul, (lws_usec_t)(delay_ms * 1000));
}

void loop_timer_cancel(struct loop_timer *timer)
{
	if (timer->loop->kind == LOOP_UV)
		(void)uv_timer_stop(&timer->uv);
	else
		lws_sul_cancel(&timer->sul);
}

static void free_timer(uv_handle_t *handle)
{
	free(handle->data);
}

void loop_timer_free(struct loop_timer *timer)
{
	if (!timer)
		return;
	loop_timer_cancel(timer);
	if (timer->loop->kind == LOOP_UV)
		uv_close((uv_handle_t *)&timer->uv, free_timer);
	else
		free(timer);
}

/* --- work on a thread ----------------------------------------------------------------------------- */

struct job {
	uv_work_t uv;
	struct loop *loop;
	loop_work_fn *work, *done;
	void *context;
};

static void on_work(uv_work_t *request)
{
	struct job *job = request->data;
	job->work(job->context);
}

static void on_done(uv_work_t *request, int status)
{
	(void)status; /* nobody cancels */
	struct job job = *(struct job *)request->data;
	free(request->data);
	loop_touch(job.loop);
	job.done(job.context);
}

int loop_work(struct loop *loop, loop_work_fn *work, loop_work_fn *done, void *context, struct err *err)
{
	if (loop->kind != LOOP_UV)
		return err_set(err, ERR_UNSUPPORTED, "this loop has no threads");
	struct job *job = calloc(1, sizeof(*job));
	if (!job)
		return err_set(err, ERR_NOMEM, "work");
	*job = (struct job){ .loop = loop, .work = work, .done = done, .context = context };
	job->uv.data = job;
	int code = uv_queue_work(&loop->uv, &job->uv, on_work, on_done);
	if (code == 0)
		return 0;
	free(job);
	return err_set(err, ERR_IO, "libuv: %s", uv_strerror(code));
}
