/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peer that a collector is compared with: libwebsockets on libuv, which takes the frames, counts them and does nothing
 * else: no parsing, no store, no answer.
 *
 *   sink PORT        127.0.0.1:PORT until SIGTERM
 *
 * Prints "listening", then at the end "frames=N mbytes=N seconds=N per_s=N cpu=N", where seconds are those from the first
 * frame to the last and cpu is its share of a core in them.
 */
#include <libwebsockets.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <uv.h>

enum { SERVICE_BYTES = 16384, RX_BYTES = 4096 }; /* as the collector's */

static unsigned long long frames, bytes;
static double first_at, last_at, first_cpu, last_cpu;
static uv_loop_t loop;

static double now_s(clockid_t clock)
{
	struct timespec now;
	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
	(void)user;
	(void)in;
	if (reason != LWS_CALLBACK_RECEIVE)
		return 0;
	bytes += len;
	if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi))
		return 0;
	frames++;
	/* Every frame would be two clock reads more than a sink needs. */
	if (frames % 1000 == 1) {
		last_at = now_s(CLOCK_MONOTONIC);
		last_cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);
		if (frames == 1) {
			first_at = last_at;
			first_cpu = last_cpu;
		}
	}
	return 0;
}

static void on_signal(uv_signal_t *handle, int number)
{
	(void)handle;
	(void)number;
	uv_stop(&loop);
}

int main(int argc, char **argv)
{
	static const struct lws_protocols protocols[] = {
		{ .name = "bankfull.v1", .callback = callback, .rx_buffer_size = RX_BYTES },
		{ .name = NULL },
	};
	if (argc != 2 || atoi(argv[1]) <= 0) {
		(void)fprintf(stderr, "usage: sink PORT\n");
		return 2;
	}
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max < 32768 ? files.rlim_max : 32768;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	void *foreign[1] = { &loop };
	struct lws_context_creation_info info = {
		.port = atoi(argv[1]),
		.iface = "127.0.0.1",
		.protocols = protocols,
		.options = LWS_SERVER_OPTION_LIBUV,
		.foreign_loops = foreign,
		.pt_serv_buf_size = SERVICE_BYTES,
		.gid = -1,
		.uid = -1,
	};
	lws_set_log_level(LLL_ERR, NULL);
	uv_signal_t term;
	if (uv_loop_init(&loop) < 0 || uv_signal_init(&loop, &term) < 0 ||
	    uv_signal_start(&term, on_signal, SIGTERM) < 0)
		return 1;
	struct lws_context *context = lws_create_context(&info);
	if (!context) {
		(void)fprintf(stderr, "sink: libwebsockets does not start\n");
		return 1;
	}
	(void)printf("listening\n");
	(void)fflush(stdout);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	double seconds = last_at > first_at ? last_at - first_at : 1;
	(void)printf("frames=%llu mbytes=%.1f seconds=%.2f per_s=%.0f cpu=%.2f\n", frames, (double)bytes / 1e6, seconds,
		     (double)frames / seconds, (last_cpu - first_cpu) / seconds);
	return 0; /* the process ends: ten thousand connections need no farewell */
}
