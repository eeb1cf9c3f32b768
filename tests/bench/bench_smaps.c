/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast smaps_parse() is on 5,000 mappings as Linux 6.1 and 6.18 print them for a JVM. Beside it, memchr()
 * over the same bytes line by line: what merely finding the lines costs here. Prints MB/s (10^6 bytes) of the
 * fastest of 40 runs, which is what is left when the neighbours on the machine are quiet, and of the median.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "kernel/smaps.h"
#include "sys/clock.h"

enum { MAPPINGS = 5000, RUNS = 40, TEXT_CAP = 64 * 1024 * 1024 };

static const char *const names[] = {
	"",
	"",
	"",
	"",
	"",
	"[heap]",
	"/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
	"/usr/lib/x86_64-linux-gnu/libc.so.6",
	"/memfd:java_heap (deleted)",
	"/tmp/rocksdb/job_17/db/000123.sst",
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static void add_kb(struct buf *text, const char *key, uint64_t kb)
{
	(void)buf_printf(text, "%-16s%8" PRIu64 " kB\n", key, kb);
}

static void add_mapping(struct buf *text, uint64_t start, uint64_t kb, const char *name, uint64_t rss, bool old)
{
	size_t before = text->len;
	(void)buf_printf(text, "%08" PRIx64 "-%08" PRIx64 " rw-p 00000000 00:00 0 ", start, start + kb * 1024);
	while (name[0] && text->len - before < 73)
		(void)buf_putc(text, ' ');
	(void)buf_printf(text, "%s\n", name);
	add_kb(text, "Size:", kb);
	add_kb(text, "KernelPageSize:", 4);
	add_kb(text, "MMUPageSize:", 4);
	add_kb(text, "Rss:", rss);
	add_kb(text, "Pss:", rss / 2);
	add_kb(text, "Pss_Dirty:", rss / 2);
	add_kb(text, "Shared_Clean:", 0);
	add_kb(text, "Shared_Dirty:", 0);
	add_kb(text, "Private_Clean:", rss / 3);
	add_kb(text, "Private_Dirty:", rss / 2);
	add_kb(text, "Referenced:", rss);
	add_kb(text, "Anonymous:", rss);
	if (!old)
		add_kb(text, "KSM:", 0);
	add_kb(text, "LazyFree:", 0);
	add_kb(text, "AnonHugePages:", 0);
	add_kb(text, "ShmemPmdMapped:", 0);
	add_kb(text, "FilePmdMapped:", 0);
	add_kb(text, "Shared_Hugetlb:", 0);
	add_kb(text, "Private_Hugetlb:", 0);
	add_kb(text, "Swap:", 0);
	add_kb(text, "SwapPss:", 0);
	add_kb(text, "Locked:", 0);
	(void)buf_puts(text, old ? "THPeligible:    1\nProtectionKey:         0\n" : "THPeligible:           1\n");
	(void)buf_puts(text, "VmFlags: rd wr mr mw me ac sd \n");
}

static void make_text(struct buf *text, bool old)
{
	uint64_t state = 42, start = UINT64_C(0x7f0000000000);
	for (int i = 0; i < MAPPINGS; i++) {
		uint64_t kb = (next_random(&state) % 4096 + 1) * 4;
		add_mapping(text, start, kb, names[next_random(&state) % (sizeof names / sizeof names[0])],
			    next_random(&state) % kb, old);
		start += kb * 1024;
	}
}

static int by_value(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

static void report(const char *what, uint64_t *ns, size_t bytes)
{
	qsort(ns, RUNS, sizeof *ns, by_value);
	printf("%-34s %7.0f MB/s fastest, %7.0f MB/s median of %d, %6.0f us for %.2f MB\n", what,
	       (double)bytes * 1000 / (double)ns[0], (double)bytes * 1000 / (double)ns[RUNS / 2], RUNS,
	       (double)ns[0] / 1000, (double)bytes / 1e6);
}

static int bench(const char *what, bool old)
{
	auto_buf struct buf text = { .cap = TEXT_CAP };
	uint64_t ns[RUNS];
	make_text(&text, old);
	for (int i = 0; i < RUNS; i++) {
		auto_(vma_set_done) struct vma_set set = { 0 };
		struct err err = { 0 };
		struct mono from = clock_mono();
		if (smaps_parse(buf_str(&text), &set, &err) < 0 || set.n != MAPPINGS) {
			printf("%s: %s\n", what, err.message);
			return 1;
		}
		ns[i] = clock_mono().ns - from.ns;
	}
	report(what, ns, text.len);
	size_t lines = 0;
	for (int i = 0; i < RUNS; i++) {
		struct str rest = buf_str(&text), line;
		struct mono from = clock_mono();
		while (str_line(&rest, &line))
			lines++;
		ns[i] = clock_mono().ns - from.ns;
	}
	report("  memchr of its lines", ns, text.len);
	return lines == 0;
}

int main(void)
{
	return bench("smaps_parse, 5,000 VMAs, Linux 6.18", false) | bench("smaps_parse, 5,000 VMAs, Linux 6.1", true);
}
