/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "agent/build.h"
#include "ledger/reconcile.h"
#include "replay/pod.h"

/*
 * Flink's sizes by its own formulas (TaskExecutorProcessUtils, default fractions): of 4096m overhead 410, metaspace 256,
 * managed 1372, network 343, heap 1587; of 8g 819, 256, 2847, 712, 3430.
 */
static const struct pod_kind table[KINDS] = {
	{ .name = "flink-1.20-1728m",
	  .fixture = "flink120_rocksdb_g1_jdk17",
	  .limit = 1728,
	  .heap = 512,
	  .managed = 512,
	  .network = 128,
	  .flink = true,
	  .rocksdb = true },
	{ .name = "flink-2.3-4096m",
	  .fixture = "flink2_rocksdb_g1_jdk25",
	  .limit = 4096,
	  .heap = 1587,
	  .managed = 1372,
	  .network = 343,
	  .flink = true,
	  .rocksdb = true },
	{ .name = "flink-2.3-8g",
	  .fixture = "flink2_rocksdb_2slots_jdk17",
	  .limit = 8192,
	  .heap = 3430,
	  .managed = 2847,
	  .network = 712,
	  .flink = true,
	  .rocksdb = true },
	{ .name = "flink-1.20-hashmap",
	  .fixture = "flink120_hashmap_parallel_jdk17",
	  .limit = 1728,
	  .heap = 512,
	  .managed = 512,
	  .network = 128,
	  .flink = true },
	{ .name = "streams-bounded",
	  .fixture = "streams_bounded_jmx_jdk17",
	  .limit = 768,
	  .heap = 256,
	  .managed = 64,
	  .rocksdb = true },
	{ .name = "streams-default",
	  .fixture = "streams_default_jmx_jdk17",
	  .limit = 1024,
	  .heap = 256,
	  .managed = 358,
	  .rocksdb = true,
	  .unmanaged = true },
	{ .name = "plain-jvm", .fixture = "lab_probe_cgroup2", .limit = 512, .heap = 192 },
};

static double mib(const struct ledger *ledger, enum owner owner)
{
	return (double)ledger_bytes(ledger, owner) / (1 << 20);
}

static void measure(struct pod_kind *kind, const struct snapshot *snapshot, struct ledger *ledger)
{
	struct recorded *was = &kind->was;
	recon_run(snapshot, ledger);
	was->metaspace = mib(ledger, OWNER_METASPACE);
	was->code = mib(ledger, OWNER_CODE_CACHE);
	was->cds = mib(ledger, OWNER_JVM_CDS);
	was->stacks = mib(ledger, OWNER_THREAD_STACKS);
	was->threads = (double)snapshot->status.n_threads.n;
	was->gc = mib(ledger, OWNER_GC);
	was->jvm = mib(ledger, OWNER_JVM_OTHER);
	was->library = mib(ledger, OWNER_LIBRARY_DATA);
	was->native = mib(ledger, OWNER_NATIVE_OTHER) + mib(ledger, OWNER_ALLOCATOR_RETAINED);
	was->mapped = mib(ledger, OWNER_MAPPED_FILES);
	was->direct = mib(ledger, OWNER_DIRECT_BUFFERS) - (kind->flink ? 128 : 0);
	/* The probe was told to hold these; a plain JVM does not. */
	if (!kind->flink && !kind->rocksdb) {
		was->native = 40;
		was->direct = 8;
	}
	if (was->direct < 4)
		was->direct = 4;
	if (was->native > 80)
		was->native = 80;
}

static bool load(struct pod_kind *kind, struct ledger *ledger)
{
	struct err err = { 0 };
	struct snapshot *snapshot = NULL;
	char path[128];
	(void)snprintf(path, sizeof path, "tests/fixtures/%s", kind->fixture);
	evidence_init(&kind->evidence);
	if (evidence_load(path, &kind->evidence, &err) < 0 || build_run(&kind->evidence, &snapshot, &err) < 0) {
		(void)fprintf(stderr, "replay: %s: %s\n", path, err.message);
		return false;
	}
	measure(kind, snapshot, ledger);
	build_free(snapshot);
	return true;
}

bool kinds_load(struct pod_kind kinds[KINDS])
{
	struct ledger *ledger = malloc(sizeof *ledger);
	bool whole = ledger != NULL;
	for (size_t i = 0; i < KINDS; i++) {
		kinds[i] = table[i];
		kinds[i].process = kinds[i].limit;
		whole = whole && load(&kinds[i], ledger);
	}
	free(ledger);
	return whole;
}

void kinds_done(struct pod_kind kinds[KINDS])
{
	for (size_t i = 0; i < KINDS; i++)
		evidence_done(&kinds[i].evidence);
}
