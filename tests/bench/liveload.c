/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many viewers at once: bankfull.live.v1 over ws:// and loopback TCP, one thread, epoll. Beside loadgen --spread, whose
 * samples carry the time at which they were sent in the last five digits of their charge.
 *
 *   liveload --port N [--viewers 500] [--distinct 1] [--count 60] [--probes 20] [--seconds 10] [--warmup 3] [--pid N]
 *
 * --distinct: different subscriptions, shared out evenly: other windows, orders and searches of pods. --probes: viewers
 * whose rows are read; the others' frames are counted and thrown away. The latency is from a sample's sending to the
 * moment at which a frame with it has come, of rows that have changed where they were in sight before: one that comes into
 * sight may be as old as its pod's interval. --pid: CPU of that process.
 * One line of key=value.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { VIEWERS_MAX = 4000, PODS_MAX = 30000, IO_CAP = 1 << 20, LATENCIES_MAX = 4000000, STAMP_MS = 100000 };

struct viewer {
	int fd;
	bool upgraded, probe;
	char *in; /* what is not whole */
	size_t in_len;
	int *stamps;     /* of a probe: the last seen of each pod */
	unsigned *shown; /* and the last whole frame that it was in, from 10 on; 0: none */
	unsigned whole;
};

static struct options {
	int port, viewers, distinct, count, probes, seconds, warmup, pid;
} opt = { .viewers = 500, .distinct = 1, .count = 60, .probes = 20, .seconds = 10, .warmup = 3 };

static struct viewer viewers[VIEWERS_MAX];
static char in_buf[IO_CAP];
static uint16_t *latencies; /* milliseconds */
static struct {
	uint64_t frames, wholes, steps, bytes, n_latencies, refused, closed, rows;
	bool warm;
} seen;

static double now_s(clockid_t clock)
{
	struct timespec now;
	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static size_t put_frame(char *out, const char *text, size_t len)
{
	size_t n = 0;
	out[n++] = (char)0x81;
	out[n++] = (char)(0x80 | 126);
	out[n++] = (char)(len >> 8);
	out[n++] = (char)(len & 0xff);
	memset(out + n, 0, 4);
	memcpy(out + n + 4, text, len);
	return n + 4 + len;
}

static void subscribe(struct viewer *viewer)
{
	static const char *const sorts[] = { "danger", "freeboard", "charge", "heard", "name" };
	char text[512], frame[600];
	int i = (int)(viewer - viewers), which = i % opt.distinct;
	int len = snprintf(
		text, sizeof text,
		"{\"subscribe\":\"fleet\",\"n\":%d,\"moves\":true,\"view\":\"pods\",\"sort\":\"%s\",\"from\":%d,\"count\":%d,"
		"\"filter\":{\"q\":\"%s\"}}",
		i, sorts[which % 5], which / 10 * 10, opt.count, which % 10 == 7 ? "manager" : "");
	(void)!send(viewer->fd, frame, put_frame(frame, text, (size_t)len), MSG_NOSIGNAL);
}

/* --- what comes ----------------------------------------------------------------------------------------------------- */

static void take_row(struct viewer *viewer, const char *row, int now_ms, bool there)
{
	const char *pod = strstr(row, "\"pod\":\"job-"), *charge = strstr(row, "\"charge\":40789");
	if (!pod || !charge)
		return;
	const char *number = strstr(pod, "-taskmanager-1-");
	int agent = number ? atoi(number + 15) : 0, stamp = atoi(charge + 14);
	if (agent < 0 || agent >= PODS_MAX)
		return;
	bool first = !there && viewer->shown[agent] + 1 != viewer->whole;
	viewer->shown[agent] = viewer->whole;
	if (viewer->stamps[agent] == stamp + 1)
		return;
	viewer->stamps[agent] = stamp + 1;
	int ms = (now_ms - stamp + STAMP_MS) % STAMP_MS;
	seen.rows++;
	if (seen.warm && !first && seen.n_latencies < LATENCIES_MAX)
		latencies[seen.n_latencies++] = (uint16_t)(ms > 65535 ? 65535 : ms);
}

/* Does the row at this place of a step come into sight with it? Its place stands before it, the order before all rows. */
static bool comes_in(const char *text, const char *row)
{
	const char *order = strstr(text, "\"order\":["), *place = row;
	if (!order || order > row)
		return false;
	while (place > text && *--place != '[')
		;
	order += 9;
	for (int n = atoi(place + 1); n > 0 && order; n--)
		order = strchr(order, ',') ? strchr(order, ',') + 1 : NULL;
	return order && strncmp(order, "null", 4) == 0;
}

static void take_text(struct viewer *viewer, char *text, size_t len)
{
	seen.frames++;
	seen.bytes += len;
	bool step = len > 14 && strncmp(text, "{\"type\":\"rows\"", 14) == 0;
	seen.steps += step;
	seen.wholes += !step;
	if (!viewer->probe)
		return;
	int now_ms = (int)((uint64_t)(now_s(CLOCK_REALTIME) * 1000) % STAMP_MS);
	char saved = text[len];
	text[len] = '\0';
	viewer->whole = step ? viewer->whole : viewer->whole ? viewer->whole + 1 : 10;
	for (char *row = text; (row = strstr(row, "{\"id\":\"")); row += 7)
		take_row(viewer, row, now_ms, step && !comes_in(text, row));
	text[len] = saved;
}

static size_t take_frames(struct viewer *viewer, char *text, size_t len)
{
	size_t at = 0;
	if (!viewer->upgraded) {
		char *end = memmem(text, len, "\r\n\r\n", 4);
		if (!end)
			return len;
		if (strncmp(text, "HTTP/1.1 101", 12) != 0) {
			seen.refused++;
			return SIZE_MAX;
		}
		viewer->upgraded = true;
		at = (size_t)(end + 4 - text);
		subscribe(viewer);
	}
	while (len - at >= 2) {
		const unsigned char *head = (const unsigned char *)text + at;
		size_t size = head[1] & 0x7f, skip = size == 126 ? 4 : size == 127 ? 10 : 2;
		if (len - at < skip)
			break;
		if (size >= 126) {
			size = 0;
			for (size_t i = 2; i < skip; i++)
				size = size << 8 | head[i];
		}
		if (len - at < skip + size)
			break;
		if ((head[0] & 0xf) == 8)
			return SIZE_MAX;
		if ((head[0] & 0xf) == 1)
			take_text(viewer, text + at + skip, size);
		at += skip + size;
	}
	memmove(text, text + at, len - at);
	return len - at;
}

static void on_readable(struct viewer *viewer)
{
	memcpy(in_buf, viewer->in ? viewer->in : "", viewer->in_len);
	ssize_t n = recv(viewer->fd, in_buf + viewer->in_len, sizeof in_buf - 1 - viewer->in_len, MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return;
	size_t left = n <= 0 ? SIZE_MAX : take_frames(viewer, in_buf, viewer->in_len + (size_t)n);
	free(viewer->in);
	viewer->in = NULL;
	viewer->in_len = 0;
	if (left == SIZE_MAX) {
		seen.closed++;
		(void)close(viewer->fd);
		viewer->fd = -1;
	} else if (left) {
		viewer->in = malloc(left);
		if (!viewer->in)
			abort();
		memcpy(viewer->in, in_buf, left);
		viewer->in_len = left;
	}
}

/* --- the run -------------------------------------------------------------------------------------------------------- */

static void start(struct viewer *viewer, int epoll_fd)
{
	struct sockaddr_in peer = { .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)opt.port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = viewer };
	char text[512];
	int i = (int)(viewer - viewers), one = 1;
	viewer->probe = opt.probes > 0 && i % (opt.viewers / opt.probes > 0 ? opt.viewers / opt.probes : 1) == 0;
	viewer->stamps = viewer->probe ? calloc(PODS_MAX, sizeof(int)) : NULL;
	viewer->shown = viewer->probe ? calloc(PODS_MAX, sizeof(unsigned)) : NULL;
	viewer->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (viewer->fd < 0 || (viewer->probe && (!viewer->stamps || !viewer->shown)) ||
	    connect(viewer->fd, (struct sockaddr *)&peer, sizeof peer) < 0) {
		perror("liveload");
		exit(1);
	}
	(void)setsockopt(viewer->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	int len = snprintf(text, sizeof text,
			   "GET /api/v1/live HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\n"
			   "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
			   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
			   "Sec-WebSocket-Protocol: bankfull.live.v1\r\n\r\n",
			   opt.port);
	(void)!send(viewer->fd, text, (size_t)len, MSG_NOSIGNAL);
	(void)epoll_ctl(epoll_fd, EPOLL_CTL_ADD, viewer->fd, &event);
}

static double cpu_of(int pid)
{
	char path[64], text[4096], *at;
	unsigned long user = 0, system = 0;
	(void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
	FILE *file = pid ? fopen(path, "re") : NULL;
	if (file && fgets(text, sizeof text, file) && (at = strrchr(text, ')')))
		(void)sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
	if (file)
		(void)fclose(file);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static int by_ms(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

static void report(double seconds, double peer_cpu)
{
	uint64_t n = seen.n_latencies;
	qsort(latencies, n, sizeof *latencies, by_ms);
	struct rusage usage;
	(void)getrusage(RUSAGE_SELF, &usage);
	(void)printf(
		"viewers=%d distinct=%d seconds=%.1f frames_per_s=%.0f wholes=%llu steps=%llu mbytes_per_s=%.2f "
		"bytes_a_frame=%.0f rows=%llu latencies=%llu p50_ms=%d p99_ms=%d max_ms=%d refused=%llu closed=%llu "
		"peer_cpu=%.3f own_cpu=%.2f\n",
		opt.viewers, opt.distinct, seconds, (double)seen.frames / seconds, (unsigned long long)seen.wholes,
		(unsigned long long)seen.steps, (double)seen.bytes / seconds / 1e6,
		seen.frames ? (double)seen.bytes / (double)seen.frames : 0, (unsigned long long)seen.rows,
		(unsigned long long)n, n ? latencies[n / 2] : -1, n ? latencies[n * 99 / 100] : -1,
		n ? latencies[n - 1] : -1, (unsigned long long)seen.refused, (unsigned long long)seen.closed,
		peer_cpu / seconds,
		(double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 + (double)usage.ru_stime.tv_sec +
			(double)usage.ru_stime.tv_usec / 1e6);
}

static void run(int epoll_fd)
{
	static struct epoll_event events[1024];
	double begin = now_s(CLOCK_MONOTONIC), from = begin, cpu = cpu_of(opt.pid);
	int started = 0;
	for (double now = begin; now < from + opt.seconds + (seen.warm ? 0 : opt.warmup);
	     now = now_s(CLOCK_MONOTONIC)) {
		/* Not all at one moment: a thousand connections a second. */
		for (; started < opt.viewers && started < (now - begin) * 1000 + 1; started++)
			start(&viewers[started], epoll_fd);
		if (!seen.warm && now >= begin + opt.warmup) {
			memset(&seen, 0, sizeof seen);
			seen.warm = true;
			from = now;
			cpu = cpu_of(opt.pid);
		}
		int n = epoll_wait(epoll_fd, events, 1024, 5);
		for (int i = 0; i < n; i++)
			if (((struct viewer *)events[i].data.ptr)->fd >= 0)
				on_readable(events[i].data.ptr);
	}
	report(now_s(CLOCK_MONOTONIC) - from, cpu_of(opt.pid) - cpu);
}

static bool parse(int argc, char **argv)
{
	static const struct {
		const char *name;
		int *number;
	} rows[] = { { "--port", &opt.port },     { "--viewers", &opt.viewers }, { "--distinct", &opt.distinct },
		     { "--count", &opt.count },   { "--probes", &opt.probes },   { "--seconds", &opt.seconds },
		     { "--warmup", &opt.warmup }, { "--pid", &opt.pid } };
	for (int i = 1; i + 1 < argc; i += 2) {
		size_t row = 0, n = sizeof rows / sizeof rows[0];
		while (row < n && strcmp(argv[i], rows[row].name) != 0)
			row++;
		if (row == n)
			return false;
		*rows[row].number = atoi(argv[i + 1]);
	}
	return argc % 2 == 1 && opt.port > 0 && opt.viewers > 0 && opt.viewers <= VIEWERS_MAX && opt.distinct > 0;
}

int main(int argc, char **argv)
{
	latencies = calloc(LATENCIES_MAX, sizeof *latencies);
	if (!parse(argc, argv) || !latencies) {
		(void)fprintf(stderr, "usage: liveload --port N [OPTION N]... (see the head of liveload.c)\n");
		return 2;
	}
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	run(epoll_fd);
	return seen.refused || seen.closed ? 1 : 0;
}
