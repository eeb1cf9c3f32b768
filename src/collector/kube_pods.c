/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/kube_pods.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/esc.h"

enum {
	WATCH_S = 240,                        /* an API server ends a watch after 30 to 60 min by itself */
	WATCH_MS = (WATCH_S + 30) * 1000,     /* and one that was cut without a word by then */
	WATCH_BYTES_MAX = 1024 * 1024 * 1024, /* 50,000 pods of 20 KiB */
	PAUSE_MS = 1000,
	BACKOFF_MAX_MS = 60000,
	READ_AT_ONCE = 64,
	WRITE_WAIT_MS = 500,
};

/* From a watch's thread to the loop: written whole or not at all (pipe(7): up to PIPE_BUF is atomic). */
struct record {
	unsigned stream;
	bool gone, bookmark;
	struct pod_seen pod;
};
_Static_assert(sizeof(struct record) <= PIPE_BUF, "a record is written at once");

/* One watch. While `running` its thread has `line` to `err`, and nobody looks at them. */
struct stream {
	struct kube_pods *owner;
	unsigned number;
	const char *namespace_;       /* NULL: all */
	bool running, failing, fresh; /* fresh: what it tells began anew, and is not told whole yet */
	unsigned failures;            /* in a row */
	struct mono due;
	struct buf line;
	bool line_too_long;
	char version[POD_VERSION_CAP];
	uint64_t n_lines, n_skipped;
	long status;
	int rc;
	struct err err;
};

struct kube_pods {
	struct loop *loop;
	struct kube_api api;
	struct logger *log;
	struct podbook *book;
	kube_pods_fn *fn;
	void *context;
	int read_fd, write_fd;
	struct loop_watch *watch;
	atomic_bool stopped; /* and the reason to give up for all threads */
	unsigned in_flight;
	struct kube_pods_counts counts;
	char namespaces[KUBE_NAMESPACES_MAX][KUBE_NAMESPACE_CAP];
	size_t n_streams;
	struct stream streams[KUBE_NAMESPACES_MAX];
};

/* --- on the thread of a watch --------------------------------------------------------------------- */

static int hand_over(struct stream *stream, const struct record *record, struct err *err)
{
	struct kube_pods *pods = stream->owner;
	for (;;) {
		ssize_t n = write(pods->write_fd, record, sizeof *record);
		if (n == (ssize_t)sizeof *record)
			return 0;
		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			return err_sys(err, n < 0 ? errno : EIO, "the pods' pipe");
		/* The loop is slower than the API server: so is then the watch. */
		struct pollfd room = { .fd = pods->write_fd, .events = POLLOUT };
		(void)poll(&room, 1, WRITE_WAIT_MS);
		if (atomic_load(&pods->stopped))
			return err_set(err, ERR_TIMEOUT, "abandoned");
	}
}

static int take_line(struct stream *stream, struct str line, struct err *err)
{
	struct pod_news news;
	if (!str_trim(line).len)
		return 0;
	if (pod_news_parse(line, &news, NULL) < 0) {
		stream->n_skipped++;
		return 0;
	}
	if (news.kind == POD_NEWS_ERROR) {
		if (news.status == 410)
			stream->version[0] = '\0';
		stream->status = news.status;
		return err_set(err, ERR_GONE, "the API server ends the watch: %ld", news.status);
	}
	struct record record = { .stream = stream->number,
				 .gone = news.kind == POD_NEWS_GONE,
				 .bookmark = news.kind == POD_NEWS_BOOKMARK,
				 .pod = news.pod };
	int rc = hand_over(stream, &record, err);
	if (rc < 0)
		return rc;
	stream->n_lines += !record.bookmark;
	memcpy(stream->version, news.version, sizeof stream->version);
	return 0;
}

static int on_piece(void *context, struct str piece, struct err *err)
{
	struct stream *stream = context;
	while (piece.len) {
		size_t end = str_index(piece, '\n');
		if (!stream->line_too_long && !buf_add(&stream->line, (struct str){ piece.ptr, end })) {
			stream->line_too_long = true;
			stream->n_skipped++;
		}
		if (end == piece.len)
			return 0;
		piece = str_skip(piece, end + 1);
		int rc = stream->line_too_long ? 0 : take_line(stream, buf_str(&stream->line), err);
		buf_clear(&stream->line);
		stream->line_too_long = false;
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void follow(void *context)
{
	struct stream *stream = context;
	char path[256];
	(void)snprintf(path, sizeof path, "/api/v1/%s%s%spods?watch=1&allowWatchBookmarks=true&timeoutSeconds=%d%s%s",
		       stream->namespace_ ? "namespaces/" : "", stream->namespace_ ? stream->namespace_ : "",
		       stream->namespace_ ? "/" : "", WATCH_S, stream->version[0] ? "&resourceVersion=" : "",
		       stream->version);
	const struct kube_request request = {
		.path = path, .cap = WATCH_BYTES_MAX, .timeout_ms = WATCH_MS, .abandon = &stream->owner->stopped
	};
	stream->rc = kube_follow(&stream->owner->api, &request, on_piece, stream, &stream->status, &stream->err);
	if (stream->rc < 0 && stream->status == 410)
		stream->version[0] = '\0';
}

/* --- on the loop ---------------------------------------------------------------------------------- */

static void failed(struct stream *stream)
{
	struct kube_pods *pods = stream->owner;
	char shown[2 * sizeof stream->err.message];
	pods->counts.failures_total++;
	stream->failures++;
	if (stream->failing)
		return;
	stream->failing = true;
	logger_say(pods->log, SAY_WARNING, "kube-pods-failing", "Kubernetes' pods are not watched%s%s: %s%s",
		   stream->namespace_ ? ", of " : "", stream->namespace_ ? stream->namespace_ : "",
		   esc_copy(shown, sizeof shown, str_of(stream->err.message)),
		   stream->status == 403 ? "; the right is the chart's rbac.pods" : "");
}

static void well(struct stream *stream)
{
	if (stream->failing)
		logger_say(stream->owner->log, SAY_INFO, "kube-pods-well", "Kubernetes' pods are watched again");
	stream->failing = false;
	stream->failures = 0;
}

static void done(void *context)
{
	struct stream *stream = context;
	struct kube_pods *pods = stream->owner;
	uint64_t pause = PAUSE_MS;
	stream->running = false;
	pods->in_flight--;
	pods->counts.news_total += stream->n_lines;
	pods->counts.skipped_total += stream->n_skipped;
	if (atomic_load(&pods->stopped))
		return;
	/* 410 is how a watch is told to begin anew. A connection that was cut after a while is none that fails. */
	if (stream->rc < 0 && stream->status != 410 && !stream->n_lines)
		failed(stream);
	else
		well(stream);
	for (unsigned i = 1; i < stream->failures && pause < BACKOFF_MAX_MS; i++)
		pause *= 2;
	stream->due = mono_add_ms(loop_now(pods->loop), pause < BACKOFF_MAX_MS ? pause : BACKOFF_MAX_MS);
}

static void begin(struct stream *stream, struct mono now)
{
	struct kube_pods *pods = stream->owner;
	struct err err;
	if (!stream->version[0]) {
		podbook_begin(pods->book, stream->number);
		stream->fresh = true;
	}
	buf_clear(&stream->line);
	stream->line_too_long = false;
	stream->n_lines = stream->n_skipped = 0;
	stream->status = 0;
	if (loop_work(pods->loop, follow, done, stream, &err) < 0) {
		stream->err = err;
		failed(stream);
		stream->due = mono_add_ms(now, BACKOFF_MAX_MS);
		return;
	}
	stream->running = true;
	pods->in_flight++;
	pods->counts.begun_total++;
}

void kube_pods_step(struct kube_pods *pods, struct mono now)
{
	podbook_expire(pods->book, now);
	for (size_t i = 0; i < pods->n_streams && !atomic_load(&pods->stopped); i++)
		if (!pods->streams[i].running && mono_ms_until(now, pods->streams[i].due) == 0)
			begin(&pods->streams[i], now);
}

static void on_news(void *context)
{
	struct kube_pods *pods = context;
	struct mono now = loop_now(pods->loop);
	for (int i = 0; i < READ_AT_ONCE; i++) {
		struct record record;
		if (read(pods->read_fd, &record, sizeof record) != (ssize_t)sizeof record)
			return;
		struct stream *stream = &pods->streams[record.stream];
		if (record.bookmark) {
			if (stream->fresh)
				podbook_settled(pods->book, record.stream, now);
			stream->fresh = false;
			continue;
		}
		pods->counts.skipped_total += !podbook_take(pods->book, record.stream, &record.pod, record.gone, now);
		pods->fn(pods->context, &record.pod, record.gone);
	}
}

/* --- life ----------------------------------------------------------------------------------------- */

static int make(struct kube_pods *pods, struct err *err)
{
	int fds[2];
	int rc = podbook_new(&pods->book, err);
	if (rc < 0)
		return rc;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(err, errno, "a pipe for the pods of Kubernetes");
	pods->read_fd = fds[0];
	pods->write_fd = fds[1];
	return loop_watch_new(pods->loop, pods->read_fd, on_news, pods, &pods->watch, err);
}

int kube_pods_new(struct loop *loop, const struct kube_pods_options *options, kube_pods_fn *fn, void *context,
		  struct kube_pods **ret_pods, struct err *err)
{
	struct kube_pods *pods = calloc(1, sizeof *pods);
	if (!pods)
		return err_set(err, ERR_NOMEM, "no memory for the pods of Kubernetes");
	pods->loop = loop;
	pods->api = options->api;
	pods->log = options->log;
	pods->fn = fn;
	pods->context = context;
	pods->read_fd = pods->write_fd = -1;
	pods->n_streams = options->n_namespaces ? options->n_namespaces : 1;
	for (unsigned i = 0; i < pods->n_streams; i++) {
		struct stream *stream = &pods->streams[i];
		stream->owner = pods;
		stream->number = i;
		stream->line.cap = POD_LINE_MAX;
		if (!options->n_namespaces)
			continue;
		memcpy(pods->namespaces[i], options->namespaces[i], sizeof pods->namespaces[i]);
		stream->namespace_ = pods->namespaces[i];
	}
	int rc = make(pods, err);
	if (rc < 0)
		kube_pods_free(pods);
	else
		*ret_pods = pods;
	return rc;
}

void kube_pods_stop(struct kube_pods *pods)
{
	atomic_store(&pods->stopped, true);
}

unsigned kube_pods_in_flight(const struct kube_pods *pods)
{
	return pods->in_flight;
}

void kube_pods_free(struct kube_pods *pods)
{
	if (!pods)
		return;
	loop_watch_free(pods->watch);
	if (pods->read_fd >= 0)
		(void)close(pods->read_fd);
	if (pods->write_fd >= 0)
		(void)close(pods->write_fd);
	for (size_t i = 0; i < pods->n_streams; i++)
		buf_done(&pods->streams[i].line);
	podbook_free(pods->book);
	free(pods);
}

const struct podbook *kube_pods_book(const struct kube_pods *pods)
{
	return pods->book;
}

void kube_pods_count(const struct kube_pods *pods, struct kube_pods_counts *ret_counts)
{
	*ret_counts = pods->counts;
	ret_counts->pods = podbook_count(pods->book);
	ret_counts->watches = pods->in_flight;
}
