/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nanoseconds a message costs to encode and to decode: bench_wire FILE...
 *
 * Each file holds one message (tests/golden/wire). Prints "NAME BYTES ENCODE_NS DECODE_NS", the least of some rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "wire/wire.h"

enum { ROUNDS = 15, TIMES = 20000, CAP = 1 << 20 };

static double now_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int bench(const char *path)
{
	static char text[CAP];
	FILE *file = fopen(path, "re");
	if (!file)
		return -1;
	struct str frame = { text, fread(text, 1, sizeof text, file) };
	(void)fclose(file);
	frame.len -= frame.len && text[frame.len - 1] == '\n';
	static struct wire_message message;
	enum wire_error_code code;
	struct err err = { 0 };
	struct buf out = { .cap = CAP };
	double encode = 1e18, decode = 1e18;
	for (int round = 0; round < ROUNDS; round++) {
		double start = now_ns();
		for (int i = 0; i < TIMES; i++)
			if (wire_decode(frame, &message, &code, &err) < 0)
				return -1;
		double middle = now_ns();
		if (message.type == WIRE_POSTMORTEM)
			message.postmortem.body = STR("{}");
		for (int i = 0; i < TIMES; i++) {
			buf_clear(&out);
			if (wire_encode(&message, &out, &err) < 0)
				return -1;
		}
		double end = now_ns();
		decode = middle - start < decode ? middle - start : decode;
		encode = end - middle < encode ? end - middle : encode;
	}
	buf_done(&out);
	const char *name = strrchr(path, '/');
	(void)printf("%s %zu %.0f %.0f\n", name ? name + 1 : path, frame.len, encode / TIMES, decode / TIMES);
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (bench(argv[i]) < 0) {
			(void)fprintf(stderr, "bench_wire: %s: cannot be read or is no message\n", argv[i]);
			return 1;
		}
	return 0;
}
