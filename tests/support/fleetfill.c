/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fleetfill.h"

#include <stdio.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)

void fleetfill_hello(struct wire_hello *hello, unsigned n)
{
	unsigned workload = n / FLEETFILL_PER_WORKLOAD;
	*hello = (struct wire_hello){
		.subject = { .cluster = "prod", .role = ROLE_TASKMANAGER, .container = "flink-main-container" },
		.program = "0.1.0",
		.jdk = "17.0.13",
		.engine = "1.20.0",
		.wall = FLEETFILL_NOW,
		.n_epochs = 1,
	};
	struct wire_subject *s = &hello->subject;
	(void)snprintf(s->namespace_, sizeof s->namespace_, "team-%u", workload % FLEETFILL_NAMESPACES);
	(void)snprintf(s->workload, sizeof s->workload, "job-%u", workload);
	(void)snprintf(s->pod, sizeof s->pod, "job-%u-taskmanager-1-%u", workload, n % FLEETFILL_PER_WORKLOAD);
	(void)snprintf(s->pod_uid, sizeof s->pod_uid, "6a1f0c3e-0000-4000-8000-%012u", n);
	(void)snprintf(s->node, sizeof s->node, "node-%u.internal", n % 400);
	(void)snprintf(s->jobs[0], sizeof s->jobs[0], "job-%u", workload);
	s->n_jobs = 1;
	s->n_labels = 2;
	(void)snprintf(s->labels[0].key, sizeof s->labels[0].key, "app.kubernetes.io/name");
	(void)snprintf(s->labels[0].value, sizeof s->labels[0].value, "job-%u", workload);
	(void)snprintf(s->labels[1].key, sizeof s->labels[1].key, "tier");
	(void)snprintf(s->labels[1].value, sizeof s->labels[1].value, "%s", workload % 2 ? "gold" : "silver");
}

/* As those of a TaskManager with RocksDB. */
static void put_books(struct wire_books *books)
{
	static const enum owner bounded[] = { OWNER_JAVA_HEAP, OWNER_CODE_CACHE, OWNER_THREAD_STACKS,
					      OWNER_DIRECT_BUFFERS, OWNER_ROCKSDB_BLOCK_CACHE };
	static const enum owner claimed[] = {
		OWNER_METASPACE,           OWNER_CODE_CACHE,        OWNER_GC,
		OWNER_ROCKSDB_BLOCK_CACHE, OWNER_ROCKSDB_MEMTABLES, OWNER_ROCKSDB_TABLE_READERS
	};
	static const struct wire_budget budgets[] = {
		{ "heap", { 1600 * MIB, QTY_MEASURED }, { MIB, QTY_MEASURED }, 1 << OWNER_JAVA_HEAP },
		{ "direct", { 512 * MIB, QTY_MEASURED }, { MIB, QTY_INFERRED }, 1 << OWNER_DIRECT_BUFFERS },
		{ "managed", { 1228 * MIB, QTY_MEASURED }, { MIB, QTY_INFERRED }, 7 << OWNER_ROCKSDB_BLOCK_CACHE },
		{ "metaspace", { 256 * MIB, QTY_MEASURED }, { MIB, QTY_MEASURED }, 1 << OWNER_METASPACE },
		{ "jvm-overhead", { 410 * MIB, QTY_MEASURED }, { 0 }, 1 << OWNER_GC | 1 << OWNER_ALLOCATOR_RETAINED },
	};
	books->unread = (uint64_t)1 << OWNER_ALLOCATOR_RETAINED;
	books->bounds[OWNER_METASPACE].kind = LIMIT_NONE;
	for (size_t i = 0; i < sizeof bounded / sizeof bounded[0]; i++)
		books->bounds[bounded[i]] = limit_set((100 + i) * MIB);
	for (size_t i = 0; i < sizeof claimed / sizeof claimed[0]; i++)
		books->claims[claimed[i]] = qty_measured((200 + i) * MIB);
	books->engine = (struct engine_facts){ .backend = BACKEND_HASHMAP,
					       .batch = TRISTATE_FALSE,
					       .managed_reserved_bytes = qty_measured(0),
					       .network_bytes = qty_measured(344 * MIB) };
	books->legal_bytes = qty_of(4300 * MIB, QTY_INFERRED);
	books->n_budgets = sizeof budgets / sizeof budgets[0];
	memcpy(books->budgets, budgets, sizeof budgets);
}

void fleetfill_sample(struct wire_sample *sample, unsigned n)
{
	uint64_t floor = (3000 + 20 * (uint64_t)(n % FLEETFILL_PER_WORKLOAD)) * MIB;
	*sample = (struct wire_sample){
		.head = { .seq = 1, .mono_ms = 10000, .wall = FLEETFILL_NOW },
		.interval_ms = 10000,
		.pid = 17,
		.start_ticks = 4711,
		.access = ACCESS_FULL,
		.limit = limit_set(4096 * MIB),
		.charge_bytes = qty_measured(floor + 80 * MIB),
		.floor_bytes = qty_of(floor, QTY_DERIVED),
		.freeboard_bytes = { (int64_t)(4096 * MIB - floor), true },
		.freeboard_level = FREEBOARD_CONTAINER,
		.events = { .oom = count_of(0), .oom_kill = count_of(0), .max = count_of(3) },
		.some_avg10_bp = count_of(12),
		.full_avg10_bp = count_of(0),
		.has_composition = true,
		.composition_age_ms = 1500,
		.residual_bytes = { -4096, true },
		.forecast = { .kind = "not-growing", .owner = -1 },
		.context = { .job_state = "running", .checkpointing = TRISTATE_FALSE, .restarts = count_of(1) },
	};
	for (unsigned i = 0; i < GROUP_COUNT; i++) {
		sample->groups[i] = qty_measured((100 + i) * MIB);
		sample->grown_since_scan[i] = (struct signed_qty){ -5 + (int64_t)i, true };
	}
	for (unsigned i = 0; i < OWNER_COUNT; i++)
		sample->owners[i] = qty_of((uint64_t)(i + 1) * MIB + n, i % 2 ? QTY_MEASURED : QTY_INFERRED);
	sample->owners[OWNER_ALLOCATOR_RETAINED] = (struct qty){ 0 };
	sample->has_books = true;
	put_books(&sample->books);
}

void fleetfill_finding(struct wire_finding *finding, unsigned n)
{
	*finding = (struct wire_finding){
		.head = { .seq = 2, .mono_ms = 20000, .wall = FLEETFILL_NOW },
		.edge = WIRE_OPENED,
		.rule = "freeboard-low",
		.severity = SEVERITY_WARNING,
		.owner = OWNER_NATIVE_OTHER,
		.title = "8 % of the limit is left",
		.opened = FLEETFILL_NOW,
	};
	(void)snprintf(finding->id, sizeof finding->id, "f-%u", n);
}
