/* SPDX-License-Identifier: Apache-2.0 */
#include "support/storekit.h"

#include <stdio.h>

enum { OWNERS = 25, PAGE = 4096 };

struct wire_hello storekit_hello(unsigned n)
{
	struct wire_hello hello = { .subject = { .cluster = "c1",
						 .namespace_ = "ns",
						 .workload = "job-a",
						 .role = ROLE_TASKMANAGER,
						 .container = "flink",
						 .jobs = { "orders", "pay\"ments" },
						 .n_jobs = 2,
						 .labels = { { "app", "a=b\n" } },
						 .n_labels = 1 },
				    .program = "0.1.0",
				    .jdk = "17.0.13",
				    .engine = "flink 1.20.0" };
	(void)snprintf(hello.subject.pod, sizeof hello.subject.pod, "pod-%u", n);
	return hello;
}

struct wire_epoch storekit_epoch(unsigned n)
{
	struct wire_epoch epoch = { { 0xee } };
	for (unsigned i = 0; i < 4; i++)
		epoch.bytes[15 - i] = (uint8_t)(n >> 8 * i);
	return epoch;
}

/* The charge is what the groups hold and 5 MiB that nobody owns. */
static void sum_up(struct wire_sample *sample)
{
	uint64_t groups[GROUP_COUNT] = { 0 }, charge = (uint64_t)5 << 20;
	for (int i = 0; i < OWNER_COUNT; i++)
		groups[owner_table[i].group] += sample->owners[i].bytes;
	for (int i = 0; i < GROUP_COUNT; i++) {
		if (groups[i] == 0)
			continue;
		sample->groups[i] = qty_measured((groups[i] + PAGE - 1) & ~(uint64_t)(PAGE - 1));
		charge += sample->groups[i].bytes;
	}
	sample->charge_bytes = qty_measured(charge);
	sample->floor_bytes = qty_of(charge - sample->groups[GROUP_FILE].bytes, QTY_DERIVED);
	sample->freeboard_bytes =
		(struct signed_qty){ (int64_t)(sample->limit.bytes - sample->floor_bytes.bytes), true };
}

struct wire_sample storekit_sample(unsigned n)
{
	struct wire_sample sample = { .head = { .seq = 1, .wall = { 1700000000000 } },
				      .interval_ms = 10000,
				      .pid = 1,
				      .start_ticks = n + 1,
				      .access = ACCESS_FULL,
				      .limit = limit_set((uint64_t)8 << 30),
				      .freeboard_level = FREEBOARD_CONTAINER,
				      .has_composition = true };
	sample.head.epoch = storekit_epoch(n);
	for (unsigned i = 0; i < OWNERS; i++)
		sample.owners[i] = qty_of(((uint64_t)(i * 37 + n) % 200 << 20) + (i % 5 == 0 ? 1234 : 0),
					  i % 5 == 0 ? QTY_INFERRED : QTY_MEASURED);
	sum_up(&sample);
	return sample;
}

void storekit_next(struct prng *prng, struct wire_sample *sample, uint32_t interval_ms)
{
	sample->head.seq++;
	sample->head.mono_ms += interval_ms;
	sample->head.wall.ms += interval_ms + (int64_t)prng_below(prng, 5) - 2;
	for (unsigned i = 0; i < OWNERS; i++) {
		/* A heap and a cache move all the time, class metadata and code now and then, stacks hardly. */
		if (!prng_one_in(prng, i < 6 ? 1 : i < 14 ? 3 : 12))
			continue;
		int64_t by = (int64_t)prng_below(prng, i < 2 ? 16384 : 64) - (i < 2 ? 8192 : 31);
		uint64_t bytes = sample->owners[i].bytes + (uint64_t)by * (i % 5 == 0 ? 1009 : PAGE);
		if (bytes < (uint64_t)1 << 33)
			sample->owners[i].bytes = bytes;
	}
	sum_up(sample);
}

struct wire_finding storekit_finding(uint64_t seq, const char *id, enum wire_edge edge)
{
	struct wire_finding finding = { .head = { .seq = seq, .wall = { 1700000000000 + (int64_t)seq * 1000 } },
					.edge = edge,
					.rule = "freeboard-low",
					.severity = edge == WIRE_CLEARED ? SEVERITY_WARNING : SEVERITY_CRITICAL,
					.owner = OWNER_DIRECT_BUFFERS,
					.title = "12 MiB are left",
					.opened = { 1700000000500 } };
	(void)snprintf(finding.id, sizeof finding.id, "%s", id);
	return finding;
}

struct wire_postmortem storekit_death(uint64_t seq, const char *id, unsigned part, unsigned parts, int64_t died_ms)
{
	struct wire_postmortem death = { .head = { .seq = seq, .wall = { died_ms } },
					 .part = part,
					 .parts = parts,
					 .cause = DEATH_CONTAINER_LIMIT,
					 .owner = OWNER_DIRECT_BUFFERS,
					 .pid = 7,
					 .died = { died_ms },
					 .title = "killed at its limit" };
	(void)snprintf(death.id, sizeof death.id, "%s", id);
	return death;
}
