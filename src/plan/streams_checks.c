/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/streams_checks.h"

#include <stdio.h>
#include <string.h>

#include "base/sat.h"
#include "base/units.h"
#include "plan/checks.h"
#include "rules/text.h"

enum { MIB = 1 << 20, WRITE_BUFFER_BYTES = 16 << 20 };

static const struct streams_pods *worst(const struct streamsplan *plan)
{
	return plan->lost.instances > plan->steady.instances ? &plan->lost : &plan->steady;
}

static void check_demand(const struct streamsplan_ask *ask, struct streamsplan *plan)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	uint64_t expected = plan->expected.bytes.bytes, limit = plan->limit.bytes;
	if (plan->limit.kind != LIMIT_SET || expected <= limit)
		return;
	struct finding *finding = checks_new(plan->verdict, "demand-over-limit", SEVERITY_WARNING);
	if (!finding)
		return;
	/* A cache that alone passes the limit was sized from something else. */
	uint64_t chosen = ask->setter.cache_bytes ? ask->setter.cache_bytes : ask->setter.store_cache_bytes;
	if (chosen > limit)
		finding->severity = SEVERITY_CRITICAL;
	finding->owner = OWNER_ROCKSDB_BLOCK_CACHE;
	finding->excess_bytes = expected - limit;
	finding_turn(finding, ask->setter.cache_bytes ? KNOB_ROCKSDB_CACHE : KNOB_LIMIT,
		     ask->setter.cache_bytes ? TURN_DOWN : TURN_UP);
	finding_title(finding, "the fullest pod can grow to %s against a limit of %s", units_format(a, expected),
		      units_format(b, limit));
	finding_observation(finding, "Heap %s and the JVM beside it %s; %llu RocksDB instances",
			    units_format(a, plan->heap_bytes), units_format(b, plan->jvm_bytes),
			    (unsigned long long)worst(plan)->instances);
	finding_observation(finding, "%s come to %s%s.",
			    worst(plan) == &plan->lost ? "when one pod is lost" : "on one pod",
			    units_format(c, worst(plan)->native_bytes.bytes),
			    chosen > limit ? ", with a cache that is larger than the container" : "");
	finding_cause(finding, "caches end at the data they could hold: stores that stay small never fill them");
	if (plan->proposed_cache_bytes)
		finding_change(
			finding,
			"bound RocksDB by a config setter: one LRUCache of %llum for all stores and a WriteBufferManager of %llum charged to it",
			(unsigned long long)(plan->proposed_cache_bytes / MIB),
			(unsigned long long)(plan->proposed_manager_bytes / MIB));
	else
		finding_change(finding, "raise the container's memory limit to %lluMi, or %s",
			       (unsigned long long)(sat_add(expected, expected / 20) / MIB + 1),
			       plan->heap_bytes >= limit ? "give the heap less: it alone takes the limit"
							 : "give the caches less");
	finding_validate(
		finding,
		"steady: block-cache-usage of all stores, a shared cache counted once, stays below what is planned");
	finding_validate(finding,
			 "failure: the same on the fullest pod while another one is down and its tasks are restored");
}

static void check_unbounded(const struct streamsplan_ask *ask, struct streamsplan *plan)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	if (ask->setter.cache_bytes || worst(plan)->instances < 4)
		return;
	struct finding *finding = checks_new(plan->verdict, "rocksdb-unbounded", SEVERITY_NOTICE);
	if (!finding)
		return;
	finding->owner = OWNER_ROCKSDB_BLOCK_CACHE;
	finding->when = CHANGE_LATER;
	finding_title(finding, "no bound is shared: each of %llu RocksDB instances may take %s",
		      (unsigned long long)worst(plan)->instances, units_format(a, plan->instance_bytes));
	finding_observation(
		finding,
		"A cache and memtables of its own for each, so memory grows with stores, segments, partitions and standbys: %s on one pod.",
		units_format(b, worst(plan)->native_bytes.bytes));
	if (plan->proposed_cache_bytes)
		finding_observation(finding, "One cache of %s for all would save %s of it.",
				    units_format(a, plan->proposed_cache_bytes), units_format(b, plan->saved_bytes));
	finding_change(
		finding,
		"set rocksdb.config.setter to a class that gives all stores one cache and one write buffer manager, and closes the cache it replaces");
}

/* A shared cache and what is charged to it. */
static void check_setter(const struct streamsplan_ask *ask, struct streamsplan *plan)
{
	const struct streams_setter *setter = &ask->setter;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	uint64_t buffer = setter->write_buffer_bytes ? setter->write_buffer_bytes : WRITE_BUFFER_BYTES;
	uint64_t wanted = sat_mul(buffer, worst(plan)->instances);
	struct finding *finding = NULL;
	if (!setter->cache_bytes)
		return;
	finding = checks_new(plan->verdict, "shared-cache-target", SEVERITY_INFO);
	if (finding) {
		finding->owner = OWNER_ROCKSDB_BLOCK_CACHE;
		finding_title(finding, "the shared cache of %s is a target, no limit",
			      units_format(a, setter->cache_bytes));
		finding_observation(
			finding,
			"Pinned blocks, iterators and what is not charged to it come on top; index and filter blocks too, unless cacheIndexAndFilterBlocks is set. It saves %s against a cache for each of %llu instances.",
			units_format(b, plan->saved_bytes), (unsigned long long)worst(plan)->instances);
	}
	if (setter->manager_bytes >= setter->cache_bytes && setter->manager_bytes) {
		finding = checks_new(plan->verdict, "cache-starved", SEVERITY_WARNING);
		if (finding) {
			finding->owner = OWNER_ROCKSDB_BLOCK_CACHE;
			finding_turn(finding, KNOB_WRITE_BUFFERS, TURN_DOWN);
			finding_title(finding, "write buffers may take the whole cache of %s",
				      units_format(a, setter->cache_bytes));
			finding_observation(
				finding,
				"The manager of %s is charged to it: nothing need be left for blocks, and reads go to the disk. Its page cache is charged to the container as well, in no bound of RocksDB's.",
				units_format(b, setter->manager_bytes));
			finding_change(finding, "set the write buffer manager to half of the cache, %llum",
				       (unsigned long long)(setter->cache_bytes / 2 / MIB));
		}
	}
	if (setter->manager_bytes && setter->manager_bytes < wanted) {
		finding = checks_new(plan->verdict, "write-stall-risk", SEVERITY_WARNING);
		if (finding) {
			finding->owner = OWNER_ROCKSDB_MEMTABLES;
			finding_turn(finding, KNOB_WRITE_BUFFERS, TURN_SET);
			finding_title(finding, "%s of write buffers do not hold one memtable of each instance",
				      units_format(a, setter->manager_bytes));
			finding_observation(
				finding,
				"%llu instances with memtables of %s want %s: RocksDB flushes small files all the time, and writes may stall.",
				(unsigned long long)worst(plan)->instances, units_format(b, buffer),
				units_format(c, wanted));
			finding_change(finding, "set the write buffer size to %lluk, or the manager to %llum",
				       (unsigned long long)(setter->manager_bytes /
							    (worst(plan)->instances ? worst(plan)->instances : 1) /
							    1024),
				       (unsigned long long)(wanted / MIB));
		}
	}
}

static void check_standbys(const struct streamsplan_ask *ask, struct streamsplan *plan)
{
	if (ask->standbys == 0 || ask->standbys < ask->pods)
		return;
	struct finding *finding = checks_new(plan->verdict, "standbys-without-pods", SEVERITY_NOTICE);
	if (!finding)
		return;
	finding->when = CHANGE_LATER;
	finding_title(finding, "num.standby.replicas of %llu wants %llu pods, and --instances says %llu",
		      (unsigned long long)ask->standbys, (unsigned long long)ask->standbys + 1,
		      (unsigned long long)ask->pods);
	finding_observation(finding,
			    "A pod holds one copy of a task at most: the rest of num.standby.replicas has no place.");
	finding_change(finding, "run %llu pods, or set num.standby.replicas to %llu",
		       (unsigned long long)ask->standbys + 1, (unsigned long long)ask->pods - 1);
}

static void check_idle(const struct streamsplan_ask *ask, struct streamsplan *plan)
{
	if (!ask->threads || sat_mul(ask->threads, ask->pods) <= plan->tasks)
		return;
	struct finding *finding = checks_new(plan->verdict, "threads-idle", SEVERITY_INFO);
	if (!finding)
		return;
	finding_title(finding, "%llu threads, and %llu tasks for them",
		      (unsigned long long)sat_mul(ask->threads, ask->pods), (unsigned long long)plan->tasks);
	finding_observation(finding,
			    "A task is run by one thread: the others wait, each with a stack and clients of its own.");
}

/* The gravest first, in the order in which they were found. */
static void rank(struct verdict *verdict)
{
	for (size_t i = 1; i < verdict->n_findings; i++)
		for (size_t j = i; j > 0 && verdict->findings[j].severity > verdict->findings[j - 1].severity; j--) {
			struct finding moved = verdict->findings[j];
			verdict->findings[j] = verdict->findings[j - 1];
			verdict->findings[j - 1] = moved;
		}
	bool first = true;
	for (size_t i = 0; i < verdict->n_findings; i++) {
		struct finding *finding = &verdict->findings[i];
		if (finding->severity > verdict->worst)
			verdict->worst = finding->severity;
		if (!finding->change[0])
			continue;
		finding->when = first && finding->severity >= SEVERITY_WARNING ? CHANGE_NOW : CHANGE_LATER;
		first = false;
	}
}

void streams_checks(const struct streamsplan_ask *ask, struct streamsplan *plan)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	uint64_t expected = plan->expected.bytes.bytes, limit = plan->limit.bytes;
	check_demand(ask, plan);
	check_unbounded(ask, plan);
	check_setter(ask, plan);
	check_standbys(ask, plan);
	check_idle(ask, plan);
	rank(plan->verdict);
	char *headline = plan->verdict->headline;
	const size_t cap = sizeof plan->verdict->headline;
	if (plan->limit.kind != LIMIT_SET)
		(void)snprintf(headline, cap,
			       "%llu RocksDB instances on the fullest pod, and up to %s for them; no limit was told.",
			       (unsigned long long)worst(plan)->instances,
			       units_format(a, worst(plan)->native_bytes.bytes));
	else if (expected > limit)
		(void)snprintf(headline, cap,
			       "It does not fit: the fullest pod can grow to %s, %s more than the limit of %s.",
			       units_format(a, expected), units_format(b, expected - limit), units_format(c, limit));
	else
		(void)snprintf(headline, cap, "It fits: the fullest pod can grow to %s of the limit of %s.",
			       units_format(a, expected), units_format(b, limit));
}
