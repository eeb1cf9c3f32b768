/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many agents at once, to load a collector: bankfull.v1 over ws:// and loopback TCP, one thread, epoll.
 *
 *   loadgen --port N [--agents 100] [--interval MS | --burst] [--seconds 10] [--warmup 0] [--composition-every 12]
 *           [--connects 2000] [--window 0] [--tokens FILE] [--pid N] [--reconnect] [--deaf] [--verbose] [--spread]
 *           [--restless]
 *
 * --interval: each agent sends one sample every MS, evenly spread; the latency counts from when it was due. --burst: as
 * fast as the window of each allows. --deaf: for a peer that answers nothing (sink.c): no hello is waited for and no ack.
 * --tokens: one bearer token a line, the first for the first agent. --pid: CPU and memory of that process as well.
 * --spread: each pod has a freeboard of its own, 2 to 60 % of the limit, and the last five digits of its charge are the
 * time at which it was sent, in milliseconds, for liveload.c. --restless: that freeboard moves by up to 2 % of the limit
 * with each sample, which is more than lies between any pod and its hundred neighbours.
 * --connects: new connections a second. --window: fewer unacked samples than the collector grants.
 *
 * It checks what a collector owes: acks go up and never past what was sent, and after a reconnect the welcome knows of
 * everything that was acked before. Prints one line of key=value; the status is 1 when a promise was broken or an agent
 * was refused, and tells what it saw on stderr.
 *
 * The framing is written here on purpose: a mistake of the library that the collector uses must not cancel out.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
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

enum {
	AGENTS_MAX = 30000,
	FRAME_CAP = 4096,
	CHUNK = 16,    /* samples an agent may write at a turn */
	RING = 64,     /* moments remembered of what is unacked */
	BUCKETS = 512, /* of the histogram: 16 an octave, from a microsecond on */
	IO_CAP = 256 * 1024,
};

enum conn_state { DOWN = 0, CONNECTING, UPGRADING, GREETING, LIVE };

struct conn {
	int fd;
	enum conn_state state;
	bool wants_write, acked_since_loss;
	char epoch[33];
	uint64_t sent, acked, highest; /* highest: ever sent, over all sessions */
	uint64_t window;
	char *in, *out; /* what is not whole, what did not go out */
	size_t in_len, out_len, out_at;
	double retry_at, backoff;
	struct moment {
		uint64_t seq;
		double at;
	} ring[RING];
	unsigned ring_head, ring_len;
};

static struct options {
	int port, agents, interval_ms, seconds, warmup, composition_every, connects, window, pid;
	bool burst, reconnect, deaf, verbose, spread, restless;
	const char *tokens;
} opt = { .agents = 100, .interval_ms = 10000, .seconds = 10, .composition_every = 12, .connects = 2000 };

static struct {
	uint64_t sent, resent, acked, ack_frames, bytes_out, connects, losses, refused, errors, closes, violations;
	uint64_t live, with_ack;
	double all_live_at, all_acked_at, lost_at, recovered_at;
	uint64_t histogram[BUCKETS], n_latencies;
	double worst;
} seen;

static struct conn conns[AGENTS_MAX];
static char (*tokens)[512];
static int epoll_fd;
static char in_buf[IO_CAP], out_buf[IO_CAP];
static volatile sig_atomic_t stopped;

static double now_s(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int64_t wall_ms(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void broken(const struct conn *conn, const char *what, uint64_t a, uint64_t b)
{
	if (seen.violations++ < 20)
		(void)fprintf(stderr, "loadgen: agent %td: %s (%llu, %llu)\n", conn - conns, what,
			      (unsigned long long)a, (unsigned long long)b);
}

/* --- latencies ------------------------------------------------------------------------------------ */

static void count_latency(double seconds)
{
	double us = seconds * 1e6;
	int bucket = 0;
	for (double edge = 1; edge < us && bucket < BUCKETS - 1; bucket++)
		edge *= 1.0442737824274138; /* 2 to the 1/16 */
	seen.histogram[bucket]++;
	seen.n_latencies++;
	seen.worst = seconds > seen.worst ? seconds : seen.worst;
}

static double percentile_ms(double share)
{
	uint64_t want = (uint64_t)(share * (double)seen.n_latencies), sum = 0;
	double edge = 1;
	for (int i = 0; i < BUCKETS; i++, edge *= 1.0442737824274138) {
		sum += seen.histogram[i];
		if (sum > want)
			return edge / 1000;
	}
	return 0;
}

static void remember(struct conn *conn, uint64_t seq, double at)
{
	if (conn->ring_len == RING)
		return;
	conn->ring[(conn->ring_head + conn->ring_len++) % RING] = (struct moment){ seq, at };
}

/* --- frames --------------------------------------------------------------------------------------- */

/* A text frame of a client, RFC 6455 section 5.2. The mask is there and zero, so that it need not be applied. */
static size_t put_frame(char *out, const char *text, size_t len, unsigned char opcode)
{
	size_t n = 0;
	out[n++] = (char)(0x80 | opcode);
	if (len < 126) {
		out[n++] = (char)(0x80 | len);
	} else {
		out[n++] = (char)(0x80 | 126);
		out[n++] = (char)(len >> 8);
		out[n++] = (char)(len & 0xff);
	}
	memset(out + n, 0, 4);
	memcpy(out + n + 4, text, len);
	return n + 4 + len;
}

static const char plain[] =
	"\"interval_ms\":%d,\"pid\":8,\"start_ticks\":123456,\"access\":\"full\",\"limit_bytes\":4294967296,"
	"\"charge_bytes\":40789%05u,\"floor_bytes\":%llu,\"expected_bytes\":3953131520,"
	"\"freeboard_bytes\":%llu,\"freeboard_level\":\"container\",\"groups_bytes\":{\"anon\":37130%05u,"
	"\"shmem\":4096,\"file\":287309824,\"kernel\":73400320,\"sock\":5242880},"
	"\"derived\":[\"floor_bytes\",\"expected_bytes\"]";
static const char composition[] =
	",\"composition\":{\"age_ms\":0,\"owners_bytes\":{\"java-heap\":1503657984,\"metaspace\":137363456,"
	"\"code-cache\":96468992,\"jvm-cds\":1048576,\"thread-stacks\":32505856,\"gc\":60817408,"
	"\"jvm-other\":77594624,\"direct-buffers\":421527552,\"rocksdb-block-cache\":962592768,"
	"\"rocksdb-memtables\":201326592,\"allocator-retained\":92274688,\"native-other\":87031808,"
	"\"library-data\":14680064,\"mapped-files\":69206016,\"page-cache\":218103808,\"kernel-stacks\":9437184,"
	"\"page-tables\":13631488,\"slab-reclaimable\":32505856,\"kernel-other\":4194304,\"sockets\":5242880},"
	"\"residual_bytes\":-45056,\"inferred\":[\"rocksdb-block-cache\",\"native-other\"]}";

#define LIMIT 4294967296ull

static unsigned long long freeboard_of(unsigned agent, unsigned noise)
{
	if (!opt.spread)
		return 517900000u + noise;
	/* Neighbours in number are far apart in what is left to them. */
	unsigned long long part = (agent * 2654435761u) % 1000000u; /* of 58 % */
	return LIMIT / 50 + LIMIT * 58 / 100 * part / 1000000 + (opt.restless ? noise * 800ull : 0);
}

static size_t put_sample(struct conn *conn, char *out, uint64_t seq, double now)
{
	char text[FRAME_CAP];
	unsigned noise = (unsigned)(seq * 7919 + (uint64_t)(conn - conns)) % 100000;
	int len =
		snprintf(text, sizeof text,
			 "{\"type\":\"sample\",\"epoch\":\"%s\",\"seq\":%llu,\"mono_ms\":%llu,\"wall_ms\":%lld,",
			 conn->epoch, (unsigned long long)seq, (unsigned long long)(now * 1000), (long long)wall_ms());
	unsigned stamp = opt.spread ? (unsigned)(wall_ms() % 100000) : noise;
	unsigned long long freeboard = freeboard_of((unsigned)(conn - conns), noise);
	len += snprintf(text + len, sizeof text - (size_t)len, plain, opt.interval_ms, stamp, LIMIT - freeboard,
			freeboard, noise);
	if (opt.composition_every && seq % (uint64_t)opt.composition_every == 1) {
		memcpy(text + len, composition, sizeof composition - 1);
		len += (int)sizeof composition - 1;
	}
	text[len++] = '}';
	return put_frame(out, text, (size_t)len, 1);
}

static size_t put_hello(struct conn *conn, char *out, double now)
{
	char text[FRAME_CAP];
	int i = (int)(conn - conns);
	int len = snprintf(text, sizeof text,
			   "{\"type\":\"hello\",\"subject\":{\"namespace\":\"bench-%d\",\"workload\":\"job-%d\","
			   "\"role\":\"taskmanager\",\"pod\":\"job-%d-taskmanager-1-%d\",\"node\":\"node-%d\","
			   "\"container\":\"flink-main-container\",\"jobs\":[\"job-%d\"]},\"program\":\"loadgen\","
			   "\"mono_ms\":%llu,\"wall_ms\":%lld,\"epochs\":[{\"epoch\":\"%s\",\"first\":%llu,"
			   "\"last\":%llu}]}",
			   i / 1000, i / 30, i / 30, i, i / 10, i / 30, (unsigned long long)(now * 1000),
			   (long long)wall_ms(), conn->epoch, (unsigned long long)conn->acked + 1,
			   (unsigned long long)conn->highest);
	return put_frame(out, text, (size_t)len, 1);
}

/* --- connections ---------------------------------------------------------------------------------- */

static void watch(struct conn *conn, bool write)
{
	struct epoll_event event = { .events = EPOLLIN | (write ? EPOLLOUT : 0), .data.ptr = conn };
	if (conn->wants_write != write) {
		conn->wants_write = write;
		(void)epoll_ctl(epoll_fd, EPOLL_CTL_MOD, conn->fd, &event);
	}
}

static void down(struct conn *conn, double now)
{
	if (conn->state == LIVE) {
		seen.live--;
		seen.losses++;
		seen.lost_at = seen.lost_at > 0 ? seen.lost_at : now;
		seen.recovered_at = 0;
	}
	if (conn->acked_since_loss) {
		conn->acked_since_loss = false;
		seen.with_ack--;
	}
	(void)close(conn->fd);
	free(conn->in);
	free(conn->out);
	conn->in = conn->out = NULL;
	conn->in_len = conn->out_len = conn->out_at = 0;
	conn->ring_len = 0;
	conn->state = DOWN;
	/* Full jitter, as an agent does. */
	conn->backoff = conn->backoff < 0.25 ? 0.5 : conn->backoff * 2 > 30 ? 30 : conn->backoff * 2;
	conn->retry_at = opt.reconnect ? now + conn->backoff * drand48() : 1e18;
}

/* What does not go out at once is kept; false when the connection is gone. */
static bool send_bytes(struct conn *conn, const char *bytes, size_t len, double now)
{
	ssize_t n = send(conn->fd, bytes, len, MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN) {
		down(conn, now);
		return false;
	}
	size_t taken = n < 0 ? 0 : (size_t)n;
	seen.bytes_out += len;
	if (taken < len) {
		conn->out = malloc(len - taken);
		if (!conn->out)
			abort();
		memcpy(conn->out, bytes + taken, len - taken);
		conn->out_len = len - taken;
		conn->out_at = 0;
		watch(conn, true);
	}
	return true;
}

static bool flush_rest(struct conn *conn, double now)
{
	ssize_t n = send(conn->fd, conn->out + conn->out_at, conn->out_len - conn->out_at, MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN) {
		down(conn, now);
		return false;
	}
	conn->out_at += n < 0 ? 0 : (size_t)n;
	if (conn->out_at < conn->out_len)
		return false;
	free(conn->out);
	conn->out = NULL;
	return true;
}

/* As many samples as the window allows, at most `most`. `due`: since when the first one is late. */
static void send_samples(struct conn *conn, uint64_t most, double due, double now)
{
	size_t len = 0;
	uint64_t n = 0;
	if (conn->state != LIVE || conn->out)
		return;
	while (n < most && n < CHUNK && (opt.deaf || conn->sent - conn->acked < conn->window)) {
		len += put_sample(conn, out_buf + len, ++conn->sent, now);
		n++;
		seen.resent += conn->sent <= conn->highest;
	}
	if (n == 0)
		return;
	conn->highest = conn->sent > conn->highest ? conn->sent : conn->highest;
	seen.sent += n;
	remember(conn, conn->sent, due);
	(void)send_bytes(conn, out_buf, len, now);
}

static void start(struct conn *conn, double now)
{
	struct sockaddr_in peer = { .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)opt.port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	conn->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (conn->fd < 0) {
		perror("loadgen: socket");
		exit(1);
	}
	int one = 1;
	(void)setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	seen.connects++;
	conn->state = CONNECTING;
	conn->wants_write = true;
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT, .data.ptr = conn };
	(void)epoll_ctl(epoll_fd, EPOLL_CTL_ADD, conn->fd, &event);
	if (connect(conn->fd, (struct sockaddr *)&peer, sizeof peer) < 0 && errno != EINPROGRESS)
		down(conn, now);
}

static void upgrade(struct conn *conn, double now)
{
	char text[1024];
	int i = (int)(conn - conns);
	const char *token = tokens ? tokens[i] : "";
	int len = snprintf(text, sizeof text,
			   "GET /agent HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\n"
			   "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
			   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: bankfull.v1\r\n"
			   "%s%s%s\r\n",
			   opt.port, token[0] ? "Authorization: Bearer " : "", token, token[0] ? "\r\n" : "");
	conn->state = UPGRADING;
	watch(conn, false);
	(void)send_bytes(conn, text, (size_t)len, now);
}

/* The whole answer to an upgrade, with its accept of RFC 6455, section 1.3. Its length; 0: not whole; -1: refused. */
static ssize_t take_upgrade(struct conn *conn, char *text, size_t len)
{
	char *end = memmem(text, len, "\r\n\r\n", 4);
	if (!end)
		return 0;
	*end = '\0';
	if (strncmp(text, "HTTP/1.1 101", 12) == 0 && strstr(text, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
		return end + 4 - text;
	if (seen.refused++ < 5)
		(void)fprintf(stderr, "loadgen: agent %td: %.60s\n", conn - conns, text);
	return -1;
}

static void go_live(struct conn *conn, double now)
{
	conn->state = LIVE;
	conn->backoff = 0;
	seen.live++;
	if (seen.live == (uint64_t)opt.agents && seen.all_live_at == 0)
		seen.all_live_at = now;
}

static uint64_t number_after(const char *text, const char *key, uint64_t otherwise)
{
	const char *at = text ? strstr(text, key) : NULL;
	return at ? strtoull(at + strlen(key), NULL, 10) : otherwise;
}

static void on_welcome(struct conn *conn, const char *text, double now)
{
	uint64_t acked = number_after(strstr(text, conn->epoch), "\"seq\":", 0);
	if (acked < conn->acked)
		broken(conn, "the welcome forgot what was acked", acked, conn->acked);
	if (acked > conn->highest)
		broken(conn, "the welcome acks what was never sent", acked, conn->highest);
	conn->acked = conn->sent = acked;
	conn->window = number_after(text, "\"window\":", 1);
	if (opt.window && conn->window > (uint64_t)opt.window)
		conn->window = (uint64_t)opt.window;
	go_live(conn, now);
	/* What the loss left unacked goes first, as an agent's spool would have it. */
	send_samples(conn, conn->highest - conn->sent, now, now);
}

static void on_ack(struct conn *conn, const char *text, double now)
{
	uint64_t seq = number_after(text, "\"seq\":", 0);
	seen.ack_frames++;
	if (!strstr(text, conn->epoch))
		broken(conn, "an ack of another epoch", seq, 0);
	if (seq < conn->acked)
		broken(conn, "an ack went back", seq, conn->acked);
	if (seq > conn->sent)
		broken(conn, "an ack of what was never sent", seq, conn->sent);
	seen.acked += seq > conn->acked ? seq - conn->acked : 0;
	conn->acked = seq;
	while (conn->ring_len && conn->ring[conn->ring_head].seq <= seq) {
		count_latency(now - conn->ring[conn->ring_head].at);
		conn->ring_head = (conn->ring_head + 1) % RING;
		conn->ring_len--;
	}
	if (!conn->acked_since_loss) {
		conn->acked_since_loss = true;
		if (++seen.with_ack == (uint64_t)opt.agents) {
			seen.all_acked_at = seen.all_acked_at > 0 ? seen.all_acked_at : now;
			seen.recovered_at = seen.lost_at > 0 && seen.recovered_at == 0 ? now : seen.recovered_at;
		}
	}
}

/* One frame of the collector. False when it closed. */
static bool on_frame(struct conn *conn, unsigned opcode, char *text, size_t len, double now)
{
	char saved = text[len], reply[256];
	text[len] = '\0';
	if (opcode == 8) {
		unsigned code = len >= 2 ? (unsigned)(unsigned char)text[0] << 8 | (unsigned char)text[1] : 0;
		if (seen.closes++ < 5)
			(void)fprintf(stderr, "loadgen: agent %td: closed with %u\n", conn - conns, code);
		return false;
	}
	if (opcode == 9 && !conn->out && len < 126)
		return send_bytes(conn, reply, put_frame(reply, text, len, 10), now);
	if (opcode == 1 && strncmp(text, "{\"type\":\"ack\"", 13) == 0)
		on_ack(conn, text, now);
	else if (opcode == 1 && strncmp(text, "{\"type\":\"welcome\"", 17) == 0)
		on_welcome(conn, text, now);
	else if (opcode == 1 && seen.errors++ < 5)
		(void)fprintf(stderr, "loadgen: agent %td: %.300s\n", conn - conns, text);
	text[len] = saved;
	return true;
}

/* Takes whole frames off the text; what is left of it, or SIZE_MAX when the connection is to be closed. */
static size_t take_frames(struct conn *conn, char *text, size_t len, double now)
{
	size_t at = 0;
	if (conn->state == UPGRADING) {
		ssize_t n = take_upgrade(conn, text, len);
		if (n < 0)
			return SIZE_MAX;
		if (n == 0)
			return len;
		at = (size_t)n;
		conn->state = GREETING;
		if (opt.deaf)
			go_live(conn, now);
		else if (!send_bytes(conn, out_buf, put_hello(conn, out_buf, now), now))
			return 0;
	}
	while (len - at >= 2) {
		const unsigned char *head = (const unsigned char *)text + at;
		size_t size = head[1] & 0x7f, skip = 2;
		if (size == 126 && len - at < 4)
			break;
		if (size == 126) {
			size = (size_t)head[2] << 8 | head[3];
			skip = 4;
		}
		if (size == 127 || (head[1] & 0x80) || !(head[0] & 0x80)) {
			broken(conn, "a frame that a server may not send", head[0], head[1]);
			return SIZE_MAX;
		}
		if (len - at < skip + size)
			break;
		if (!on_frame(conn, head[0] & 0xf, text + at + skip, size, now))
			return SIZE_MAX;
		if (conn->state == DOWN)
			return 0;
		at += skip + size;
	}
	memmove(text, text + at, len - at);
	return len - at;
}

static void on_readable(struct conn *conn, double now)
{
	memcpy(in_buf, conn->in ? conn->in : "", conn->in_len);
	ssize_t n = recv(conn->fd, in_buf + conn->in_len, sizeof in_buf - 1 - conn->in_len, 0);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		down(conn, now);
		return;
	}
	size_t left = take_frames(conn, in_buf, conn->in_len + (size_t)n, now);
	if (conn->state == DOWN)
		return;
	if (left == SIZE_MAX) {
		down(conn, now);
		return;
	}
	free(conn->in);
	conn->in = left ? malloc(left) : NULL;
	conn->in_len = left;
	if (left)
		memcpy(conn->in, in_buf, left);
}

static void on_event(struct conn *conn, unsigned events, double now)
{
	if (conn->state == CONNECTING) {
		int error = 0;
		socklen_t len = sizeof error;
		(void)getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &error, &len);
		if (error)
			down(conn, now);
		else
			upgrade(conn, now);
		return;
	}
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		on_readable(conn, now);
	if (conn->state == DOWN)
		return;
	if (conn->out && !flush_rest(conn, now))
		return;
	bool more = opt.burst && conn->state == LIVE;
	if (more)
		send_samples(conn, CHUNK, now, now);
	if (conn->state != DOWN)
		watch(conn, conn->out || (more && (opt.deaf || conn->sent - conn->acked < conn->window)));
}

/* --- the run -------------------------------------------------------------------------------------- */

/* Connections that are due, as many as the rate allows. */
static void connect_due(double now)
{
	static double credit, last;
	static int at;
	credit += last > 0 ? (now - last) * opt.connects : 1;
	credit = credit > opt.connects ? opt.connects : credit;
	last = now;
	for (int i = 0; i < opt.agents && credit >= 1; i++, at = (at + 1) % opt.agents) {
		struct conn *conn = &conns[at];
		if (conn->state == DOWN && conn->retry_at <= now) {
			credit--;
			start(conn, now);
		}
	}
}

/* Samples that are due: the k-th of all at begin + k x interval / agents. */
static void send_due(double begin, double now)
{
	static uint64_t k;
	double step = opt.interval_ms / 1000.0 / opt.agents;
	for (; begin + (double)k * step <= now; k++)
		send_samples(&conns[k % (uint64_t)opt.agents], 1, begin + (double)k * step, now);
}

/* utime + stime of a process in seconds, and its RssAnon + RssFile in KiB (VmRSS). */
static void watch_process(int pid, double *cpu, unsigned long *rss)
{
	char path[64], text[4096], *at;
	unsigned long user, system;
	(void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
	FILE *file = fopen(path, "re");
	if (file && fgets(text, sizeof text, file) && (at = strrchr(text, ')')) &&
	    sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) == 2)
		*cpu = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
	if (file)
		(void)fclose(file);
	(void)snprintf(path, sizeof path, "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(text, sizeof text, file))
		(void)sscanf(text, "VmRSS: %lu", rss);
	if (file)
		(void)fclose(file);
}

static double own_cpu(void)
{
	struct rusage usage;
	(void)getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 + (double)usage.ru_stime.tv_sec +
	       (double)usage.ru_stime.tv_usec / 1e6;
}

static void report(double seconds, double cpu, double peer_cpu, unsigned long peer_rss)
{
	uint64_t sent = 0, acked = 0;
	for (int i = 0; i < opt.agents; i++) {
		sent += conns[i].highest;
		acked += conns[i].acked;
	}
	(void)printf("agents=%d live=%llu seconds=%.2f sent=%llu acked=%llu sent_per_s=%.0f acked_per_s=%.0f "
		     "mbytes_per_s=%.1f p50_ms=%.1f p90_ms=%.1f p99_ms=%.1f max_ms=%.1f ack_frames=%llu resent=%llu "
		     "connects=%llu losses=%llu refused=%llu errors=%llu violations=%llu unacked=%llu loadgen_cpu=%.2f",
		     opt.agents, (unsigned long long)seen.live, seconds, (unsigned long long)seen.sent,
		     (unsigned long long)seen.acked, (double)seen.sent / seconds, (double)seen.acked / seconds,
		     (double)seen.bytes_out / seconds / 1e6, percentile_ms(0.5), percentile_ms(0.9),
		     percentile_ms(0.99), seen.worst * 1000, (unsigned long long)seen.ack_frames,
		     (unsigned long long)seen.resent, (unsigned long long)seen.connects,
		     (unsigned long long)seen.losses, (unsigned long long)seen.refused, (unsigned long long)seen.errors,
		     (unsigned long long)seen.violations, (unsigned long long)(sent - acked), cpu / seconds);
	if (opt.pid)
		(void)printf(" peer_cpu=%.3f peer_rss_kib=%lu", peer_cpu / seconds, peer_rss);
	(void)printf("\n");
}

static void reset_counts(void)
{
	seen.sent = seen.resent = seen.acked = seen.ack_frames = seen.bytes_out = seen.n_latencies = 0;
	seen.worst = 0;
	memset(seen.histogram, 0, sizeof seen.histogram);
}

static void say_when(double begin)
{
	if (seen.all_live_at > 0)
		(void)fprintf(stderr, "loadgen: all %d connected after %.2f s\n", opt.agents, seen.all_live_at - begin);
	if (seen.all_acked_at > 0)
		(void)fprintf(stderr, "loadgen: all acked after %.2f s\n", seen.all_acked_at - begin);
	if (seen.lost_at > 0 && seen.recovered_at > 0)
		(void)fprintf(stderr, "loadgen: after the first loss all were back and acked within %.2f s\n",
			      seen.recovered_at - seen.lost_at);
	else if (seen.lost_at > 0)
		(void)fprintf(stderr, "loadgen: after a loss not all came back\n");
}

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

static void run(void)
{
	static struct epoll_event events[1024];
	double begin = now_s(), from = begin, cpu = own_cpu(), peer_cpu = 0, peer_end = 0, told = begin;
	unsigned long peer_rss = 0;
	bool warm = opt.warmup == 0;
	if (opt.pid)
		watch_process(opt.pid, &peer_cpu, &peer_rss);
	for (double now = begin; !stopped && now < from + (warm ? opt.seconds : opt.warmup + 1); now = now_s()) {
		if (!warm && now >= begin + opt.warmup) {
			warm = true;
			from = now;
			cpu = own_cpu();
			reset_counts();
			if (opt.pid)
				watch_process(opt.pid, &peer_cpu, &peer_rss);
		}
		connect_due(now);
		if (!opt.burst)
			send_due(begin, now);
		int n = epoll_wait(epoll_fd, events, 1024, 2);
		now = now_s();
		for (int i = 0; i < n; i++)
			if (((struct conn *)events[i].data.ptr)->state != DOWN)
				on_event(events[i].data.ptr, events[i].events, now);
		if (opt.verbose && now - told >= 1) {
			told = now;
			(void)fprintf(stderr, "loadgen: %.0f s: live %llu sent %llu acked %llu\n", now - begin,
				      (unsigned long long)seen.live, (unsigned long long)seen.sent,
				      (unsigned long long)seen.acked);
		}
	}
	double seconds = now_s() - from;
	if (opt.pid)
		watch_process(opt.pid, &peer_end, &peer_rss);
	say_when(begin);
	report(seconds, own_cpu() - cpu, peer_end - peer_cpu, peer_rss);
}

static void read_tokens(void)
{
	FILE *file = fopen(opt.tokens, "re");
	tokens = calloc((size_t)opt.agents, sizeof *tokens);
	if (!file || !tokens) {
		perror(opt.tokens);
		exit(2);
	}
	for (int i = 0; i < opt.agents && fgets(tokens[i], sizeof *tokens, file); i++)
		tokens[i][strcspn(tokens[i], "\n")] = '\0';
	(void)fclose(file);
}

static const struct {
	const char *name;
	int *number;
	bool *flag;
} rows[] = {
	{ "--port", &opt.port, NULL },
	{ "--agents", &opt.agents, NULL },
	{ "--interval", &opt.interval_ms, NULL },
	{ "--seconds", &opt.seconds, NULL },
	{ "--warmup", &opt.warmup, NULL },
	{ "--composition-every", &opt.composition_every, NULL },
	{ "--connects", &opt.connects, NULL },
	{ "--window", &opt.window, NULL },
	{ "--pid", &opt.pid, NULL },
	{ "--burst", NULL, &opt.burst },
	{ "--reconnect", NULL, &opt.reconnect },
	{ "--deaf", NULL, &opt.deaf },
	{ "--verbose", NULL, &opt.verbose },
	{ "--spread", NULL, &opt.spread },
	{ "--restless", NULL, &opt.restless },
};

static bool parse(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t row = 0, n = sizeof rows / sizeof rows[0];
		if (strcmp(argv[i], "--tokens") == 0 && i + 1 < argc) {
			opt.tokens = argv[++i];
			continue;
		}
		while (row < n && strcmp(argv[i], rows[row].name) != 0)
			row++;
		if (row == n || (rows[row].number && i + 1 == argc))
			return false;
		if (rows[row].flag)
			*rows[row].flag = true;
		else
			*rows[row].number = atoi(argv[++i]);
	}
	return opt.port > 0 && opt.agents > 0 && opt.agents <= AGENTS_MAX && opt.interval_ms > 0 && opt.connects > 0;
}

int main(int argc, char **argv)
{
	if (!parse(argc, argv)) {
		(void)fprintf(stderr, "usage: loadgen --port N [OPTION]... (see the head of loadgen.c)\n");
		return 2;
	}
	if (opt.tokens)
		read_tokens();
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	(void)signal(SIGTERM, on_signal);
	(void)signal(SIGINT, on_signal);
	srand48((long)getpid() ^ (long)wall_ms());
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	for (int i = 0; i < opt.agents; i++)
		(void)snprintf(conns[i].epoch, sizeof conns[i].epoch, "%08lx%08lx%08lx%08x",
			       (unsigned long)mrand48() & 0xffffffff, (unsigned long)mrand48() & 0xffffffff,
			       (unsigned long)mrand48() & 0xffffffff, (unsigned)i);
	run();
	/* A reset, so that ten thousand ports do not wait in TIME_WAIT for the next run. */
	struct linger linger = { 1, 0 };
	for (int i = 0; i < opt.agents; i++)
		if (conns[i].state != DOWN) {
			(void)setsockopt(conns[i].fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
			(void)close(conns[i].fd);
		}
	return seen.violations || seen.refused || seen.errors ? 1 : 0;
}
