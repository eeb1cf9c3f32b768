/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread inside the target that does what malloc and the JVM do all day, mmap and munmap, once a millisecond, and keeps
 * how long each pair took: who walks the address space from outside is felt here. Loaded by -agentpath:FILE=RESULTS;
 * RESULTS is a file that the bench maps too (struct results).
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BUCKETS = 512, PERIOD_NS = 1000000, MAPPED_BYTES = 65536 };

/* Buckets of an eighth of a power of two, in nanoseconds. */
struct results {
	uint64_t n, max_ns, over_1ms_ns, buckets[BUCKETS];
};

static struct results *results;

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static unsigned bucket_of(uint64_t ns)
{
	if (ns < 8)
		return (unsigned)ns;
	unsigned top = 63 - (unsigned)__builtin_clzll(ns);
	return top * 8 + (unsigned)(ns >> (top - 3) & 7);
}

static void *watch(void *arg)
{
	for (;;) {
		struct timespec nap = { 0, PERIOD_NS };
		nanosleep(&nap, NULL);
		uint64_t start = now_ns();
		char *at = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (at != MAP_FAILED)
			munmap(at, MAPPED_BYTES);
		uint64_t took = now_ns() - start;
		results->buckets[bucket_of(took)]++;
		results->n++;
		if (took > results->max_ns)
			results->max_ns = took;
		if (took > 1000000)
			results->over_1ms_ns += took;
	}
	return arg;
}

int Agent_OnLoad(void *vm, char *options, void *reserved);
int Agent_OnLoad(void *vm, char *options, void *reserved)
{
	pthread_t thread;
	(void)vm;
	(void)reserved;
	int fd = open(options, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof *results) != 0)
		return 1;
	results = mmap(NULL, sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return results == MAP_FAILED || pthread_create(&thread, NULL, watch, NULL) != 0;
}
