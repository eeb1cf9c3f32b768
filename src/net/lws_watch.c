/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors and signals in the loop. */
#include "net/lws_loop.h"

#include "base/auto.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct loop_watch {
	struct loop *loop;
	struct lws *wsi; /* LOOP_POLL */
	uv_poll_t uv;    /* LOOP_UV */
	loop_watch_fn *fn;
	void *context;
	bool *gone; /* set by loop_watch_free() from within its own call */
};

int loop_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
	/* lws tells the end of every connection to the first protocol of its vhost, which is this one. */
	if (reason == LWS_CALLBACK_WSI_DESTROY) {
		const struct lws_protocols *protocol = lws_get_protocol(wsi);
		return protocol && protocol->callback == wsclient_callback
			       ? wsclient_callback(wsi, reason, user, in, len)
			       : 0;
	}
	if (reason != LWS_CALLBACK_RAW_RX_FILE && reason != LWS_CALLBACK_RAW_CLOSE_FILE)
		return 0;
	struct loop_watch *watch = lws_get_opaque_user_data(wsi);
	if (!watch)
		return reason == LWS_CALLBACK_RAW_RX_FILE ? -1 : 0;
	if (reason == LWS_CALLBACK_RAW_CLOSE_FILE) {
		watch->wsi = NULL;
		return 0;
	}
	bool gone = false;
	watch->gone = &gone;
	loop_touch(watch->loop);
	watch->fn(watch->context);
	if (gone)
		return -1;
	watch->gone = NULL;
	return 0;
}

static void on_uv_poll(uv_poll_t *handle, int status, int events)
{
	(void)status;
	(void)events;
	struct loop_watch *watch = handle->data;
	loop_touch(watch->loop);
	watch->fn(watch->context);
}

/*
 * What lws watches is an epoll instance of our own around the descriptor: lws closes what it adopts, and it would close
 * a pipe at POLLHUP with bytes and the end still unread (lib/roles/raw-file), which an epoll instance never shows.
 */
static int watch_poll(struct loop_watch *watch, int fd, struct err *err)
{
	auto_close int around = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN };
	if (around < 0 || epoll_ctl(around, EPOLL_CTL_ADD, fd, &event) != 0)
		return err_sys(err, errno, "watch");
	lws_adopt_desc_t info = {
		.vh = watch->loop->base,
		.type = LWS_ADOPT_RAW_FILE_DESC,
		.fd.filefd = around,
		.vh_prot_name = LOOP_BASE_PROTOCOL,
		.opaque = watch,
	};
	watch->wsi = lws_adopt_descriptor_vhost_via_info(&info);
	if (!watch->wsi)
		return err_set(err, ERR_LIMIT, "watch: the loop has no room for another descriptor");
	(void)TAKE_FD(around); /* lws's now */
	return 0;
}

int loop_watch_new(struct loop *loop, int fd, loop_watch_fn *fn, void *context, struct loop_watch **ret_watch,
		   struct err *err)
{
	auto_free struct loop_watch *watch = calloc(1, sizeof(*watch));
	if (!watch)
		return err_set(err, ERR_NOMEM, "watch");
	*watch = (struct loop_watch){ .loop = loop, .fn = fn, .context = context };
	if (loop->kind == LOOP_POLL) {
		int r = watch_poll(watch, fd, err);
		if (r < 0)
			return r;
	} else {
		int code = uv_poll_init(&loop->uv, &watch->uv, fd);
		if (code < 0)
			return err_set(err, ERR_IO, "watch: %s", uv_strerror(code));
		watch->uv.data = watch;
		(void)uv_poll_start(&watch->uv, UV_READABLE, on_uv_poll); /* fails only for a bad mask */
	}
	*ret_watch = TAKE_PTR(watch);
	return 0;
}

static void free_watch(uv_handle_t *handle)
{
	free(handle->data);
}

void loop_watch_free(struct loop_watch *watch)
{
	if (!watch)
		return;
	if (watch->loop->kind == LOOP_UV) {
		uv_close((uv_handle_t *)&watch->uv, free_watch);
		return;
	}
	if (watch->wsi) {
		lws_set_opaque_user_data(watch->wsi, NULL);
		if (watch->gone)
			*watch->gone = true;
		else
			lws_set_timeout(watch->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);
	}
	free(watch);
}

/* --- signals ------------------------------------------------------------------------------------ */

static void on_signal(void *context)
{
	struct loop *loop = context;
	struct signalfd_siginfo info;
	if (read(loop->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		loop->signal_fn(loop->signal_context, (int)info.ssi_signo);
}

int loop_signals(struct loop *loop, const int *signals, size_t n, loop_signal_fn *fn, void *context, struct err *err)
{
	if (loop->signal_watch)
		return err_set(err, ERR_USAGE, "signals are watched already");
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < n; i++)
		sigaddset(&set, signals[i]);
	int code = pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (code != 0)
		return err_sys(err, code, "block signals");
	auto_close int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return err_sys(err, errno, "signalfd");
	loop->signal_fn = fn;
	loop->signal_context = context;
	int r = loop_watch_new(loop, fd, on_signal, loop, &loop->signal_watch, err);
	if (r < 0)
		return r;
	loop->signal_fd = TAKE_FD(fd);
	return 0;
}
