/* SPDX-License-Identifier: Apache-2.0 */
/* time-limit: 240 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/spool.h"
#include "support/prng.h"
#include "support/scratch.h"
#include "wire/wire.h"

static const struct mono t0 = { 1000000000 };

static struct mono at_ms(uint64_t ms)
{
	return (struct mono){ t0.ns + ms * 1000000 };
}

static struct wire_epoch epoch_of(unsigned n)
{
	struct wire_epoch epoch = { { (uint8_t)(n >> 8), (uint8_t)n, 7 } };
	return epoch;
}

static struct spool *open_spool(const char *dir, uint64_t bytes, unsigned epoch)
{
	struct spool *spool = NULL;
	struct err err = { 0 };
	const struct spool_options options = { .dir = dir, .bytes = bytes, .epoch = epoch_of(epoch) };
	assert_int_equal(spool_new(&options, t0, &spool, &err), 0);
	return spool;
}

static void spool_freep(struct spool **spool)
{
	spool_free(*spool);
}
#define auto_spool auto_(spool_freep) struct spool *

static struct spool_epoch *live(struct spool *spool)
{
	return spool_at(spool, spool_n(spool) - 1);
}

/* A text that tells its number and its epoch, of some length. */
static void text_of(struct buf *text, struct spool_epoch *epoch, uint64_t seq, size_t len)
{
	buf_clear(text);
	buf_printf(text, "{%u.%llu ", epoch->epoch.bytes[1], (unsigned long long)seq);
	while (text->len < len)
		buf_putc(text, (char)('a' + (seq + text->len) % 26));
}

static uint64_t put(struct spool *spool, enum spool_kind kind, uint64_t key, enum wire_edge edge, size_t len)
{
	auto_buf struct buf text = { .cap = SPOOL_TEXT_MAX };
	struct spool_record record = { .kind = kind, .key = key, .edge = edge };
	text_of(&text, live(spool), spool_next(live(spool)), len);
	spool_put(spool, t0, &record, buf_str(&text));
	return record.seq;
}

static uint64_t sample(struct spool *spool, size_t len)
{
	return put(spool, SPOOL_SAMPLE, 0, 0, len);
}

/* "1-3f 4s 5p 6-9s": what waits, gaps with the first letter of their reason's last word. */
static const char *shown(struct spool *spool, struct spool_epoch *epoch)
{
	static char dest[512];
	static const char kinds[] = " sfp";
	static const char *const reasons[] = { "superseded", "full", "unwritable", "lost" };
	auto_buf struct buf text = { .cap = SPOOL_TEXT_MAX };
	struct spool_item item;
	size_t len = 0;
	dest[0] = '\0';
	for (uint64_t after = epoch->index.acked; spool_get(spool, epoch, after, &item, &text); after = item.to) {
		int n = item.kind == SPOOL_GAP ? snprintf(dest + len, sizeof dest - len, "%s%llu-%llu:%s",
							  len ? " " : "", (unsigned long long)item.seq,
							  (unsigned long long)item.to, reasons[item.reason])
					       : snprintf(dest + len, sizeof dest - len, "%s%llu%c", len ? " " : "",
							  (unsigned long long)item.seq, kinds[item.kind]);
		len += (size_t)n;
		assert_true(len < sizeof dest);
		if (item.kind == SPOOL_GAP)
			continue;
		auto_buf struct buf want = { .cap = SPOOL_TEXT_MAX };
		text_of(&want, epoch, item.seq, text.len);
		assert_true(str_eq(buf_str(&text), buf_str(&want)));
	}
	return dest;
}

static uint64_t disk_usage(const struct scratch *scratch)
{
	char command[400], line[64] = "";
	(void)snprintf(command, sizeof command, "cat '%s'/s/spool-* 2>/dev/null | wc -c", scratch->path);
	FILE *pipe = popen(command, "r");
	assert_non_null(fgets(line, sizeof line, pipe));
	(void)pclose(pipe);
	return strtoull(line, NULL, 10);
}

struct place {
	struct scratch scratch;
	char dir[300];
};

static struct place place_new(void)
{
	struct place place = { .scratch = scratch_new() };
	(void)snprintf(place.dir, sizeof place.dir, "%s/s", place.scratch.path);
	return place;
}

static void place_done(struct place *place)
{
	scratch_done(&place->scratch);
}
#define auto_place auto_(place_done) struct place

static void in_order_until_acked(void **state)
{
	auto_place place = place_new();
	for (int memory = 0; memory < 2; memory++) {
		auto_spool spool = open_spool(memory ? NULL : place.dir, 1 << 20, 1);
		for (int i = 0; i < 5; i++)
			assert_int_equal(sample(spool, 100), i + 1);
		assert_string_equal(shown(spool, live(spool)), "1s 2s 3s 4s 5s");
		spool_ack(spool, live(spool), 3);
		assert_string_equal(shown(spool, live(spool)), "4s 5s");
		spool_ack(spool, live(spool), 2); /* an ack that is late, and one for what was never given */
		spool_ack(spool, live(spool), 99);
		assert_string_equal(shown(spool, live(spool)), "");
		assert_int_equal(sample(spool, 100), 6);
		assert_string_equal(shown(spool, live(spool)), "6s");
		struct spool_counts counts;
		spool_count(spool, &counts);
		assert_int_equal(counts.on_disk, !memory);
		assert_int_equal(counts.messages, 1);
	}
	(void)state;
}

static void findings_are_state(void **state)
{
	(void)state;
	auto_place place = place_new();
	auto_spool spool = open_spool(place.dir, 1 << 20, 1);
	put(spool, SPOOL_FINDING, 11, WIRE_OPENED, 50);
	put(spool, SPOOL_FINDING, 22, WIRE_OPENED, 50);
	put(spool, SPOOL_FINDING, 11, WIRE_UPDATED, 50);
	sample(spool, 50);
	put(spool, SPOOL_FINDING, 11, WIRE_UPDATED, 50);
	put(spool, SPOOL_FINDING, 22, WIRE_UPDATED, 50);
	put(spool, SPOOL_FINDING, 11, WIRE_UPDATED, 50);
	put(spool, SPOOL_FINDING, 11, WIRE_CLEARED, 50);
	assert_string_equal(shown(spool, live(spool)), "1f 2f 3-3:superseded 4s 5-5:superseded 6f 7f 8f");
	/* A start later it reads the same: the log is played again. */
	spool_free(TAKE_PTR(spool));
	spool = open_spool(place.dir, 1 << 20, 2);
	assert_int_equal(spool_n(spool), 2);
	assert_string_equal(shown(spool, spool_at(spool, 0)), "1f 2f 3-3:superseded 4s 5-5:superseded 6f 7f 8f");
	spool_ack(spool, spool_at(spool, 0), 8);
	assert_int_equal(spool_n(spool), 1);
}

/* Where gaps of two reasons meet, the graver one stands for both. */
static void gaps_that_meet_are_one(void **state)
{
	(void)state;
	auto_spool spool = open_spool(NULL, 1 << 20, 1);
	for (int i = 0; i < 5; i++)
		sample(spool, 50);
	spool_refuse(spool, live(spool), 2, SPOOL_SUPERSEDED);
	spool_refuse(spool, live(spool), 4, SPOOL_LOST);
	assert_string_equal(shown(spool, live(spool)), "1s 2-2:superseded 3s 4-4:lost 5s");
	spool_refuse(spool, live(spool), 3, SPOOL_FULL);
	assert_string_equal(shown(spool, live(spool)), "1s 2-4:lost 5s");
	spool_refuse(spool, live(spool), 5, SPOOL_SUPERSEDED);
	assert_string_equal(shown(spool, live(spool)), "1s 2-5:lost");
	spool_ack(spool, live(spool), 3); /* a gap that was sent before it grew */
	assert_string_equal(shown(spool, live(spool)), "4-5:lost");
}

static void oldest_samples_go_first(void **state)
{
	(void)state;
	auto_place place = place_new();
	for (int memory = 0; memory < 2; memory++) {
		auto_spool spool = open_spool(memory ? NULL : place.dir, 1 << 20, 1);
		put(spool, SPOOL_FINDING, 1, WIRE_OPENED, 300);
		put(spool, SPOOL_POSTMORTEM, 2, 0, 300);
		uint64_t last = 0, highest = 0;
		for (int i = 0; i < 4000; i++) {
			last = sample(spool, 1000);
			if (!memory && i % 100 == 0) {
				uint64_t used = disk_usage(&place.scratch);
				highest = used > highest ? used : highest;
			}
		}
		auto_buf struct buf text = { .cap = SPOOL_TEXT_MAX };
		struct spool_item item;
		assert_true(spool_get(spool, live(spool), 2, &item, &text));
		assert_int_equal(item.kind, SPOOL_GAP);
		assert_int_equal(item.reason, SPOOL_FULL);
		assert_int_equal(item.seq, 3);
		assert_in_range(item.to, 3000, last - 250);
		/* Behind the gap all is there. */
		uint64_t n = 0;
		for (uint64_t after = item.to; spool_get(spool, live(spool), after, &item, &text); after = item.to, n++)
			assert_int_equal(item.kind, SPOOL_SAMPLE);
		assert_int_equal(item.to, last);
		/* Both files of a rewrite, and half of it once there is but one. */
		assert_true(memory || (highest > 1 << 18 && highest <= 1 << 20));
		spool_ack(spool, live(spool), last);
	}
}

/* Bytes that this process has given to write(2) and its like. */
static uint64_t written(void)
{
	char text[400] = "";
	int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof text - 1);
	(void)close(fd);
	const char *at = strstr(text, "wchar: ");
	assert_true(n > 0 && at);
	return strtoull(at + 7, NULL, 10);
}

/* A tick waits for what its put does. However full the spool is, that is little: a piece of a rewrite, never all of it. */
static void no_put_rewrites_all(void **state)
{
	(void)state;
	auto_place place = place_new();
	auto_spool spool = open_spool(place.dir, 4 << 20, 1);
	put(spool, SPOOL_POSTMORTEM, 2, 0, 300);
	uint64_t most = 0, before = written(), began = before;
	for (int i = 0; i < 4000; i++) {
		/* Now and then one as large as they come. */
		size_t len = i % 100 == 0 ? 60000 : 2000;
		(void)sample(spool, len);
		uint64_t now = written(), by = now - before - (len > 2000 ? len * 8 : 0);
		most = (int64_t)by > (int64_t)most ? by : most;
		before = now;
	}
	assert_in_range(most, 1, (1 << 16) + 60032 + 2100); /* a piece ends behind a message */
	/* Each byte four times at most. */
	assert_in_range(before - began, 4000 * 2000, 4 * (4000 * 2032 + 40 * 58000));
	auto_buf struct buf text = { .cap = SPOOL_TEXT_MAX };
	struct spool_item item;
	assert_true(spool_get(spool, live(spool), 0, &item, &text));
	assert_int_equal(item.kind, SPOOL_POSTMORTEM);
}

/* What is acked while it is being copied leaves no hole in the copy that would be a loss at the next start. */
static void acked_while_copied(void **state)
{
	(void)state;
	auto_place place = place_new();
	for (unsigned round = 1; round < 200; round++) {
		auto_spool spool = open_spool(place.dir, 1 << 20, round);
		uint64_t last = 0;
		for (unsigned i = 0; i < 200 + round; i++) {
			last = sample(spool, 2000);
			if (i > 100 && (i + round) % (3 + round % 5) == 0)
				spool_ack(spool, live(spool), last - 100);
		}
		uint64_t acked = live(spool)->index.acked;
		spool_free(spool);
		spool = open_spool(place.dir, 1 << 20, 1000);
		struct spool_epoch *old = spool_find(spool, epoch_of(round));
		assert_non_null(old);
		assert_int_equal(old->index.acked, acked);
		assert_int_equal(old->index.n, last - acked);
		assert_int_equal(old->index.n_kind[SPOOL_GAP], 0);
		spool_ack(spool, old, last);
	}
}

static void postmortems_are_kept_up_to_eight(void **state)
{
	(void)state;
	auto_spool spool = open_spool(NULL, 1 << 20, 1);
	for (uint64_t death = 1; death <= 10; death++)
		for (int part = 0; part < 2; part++)
			put(spool, SPOOL_POSTMORTEM, death, 0, 200);
	assert_string_equal(shown(spool, live(spool)),
			    "1-4:full 5p 6p 7p 8p 9p 10p 11p 12p 13p 14p 15p 16p 17p 18p 19p 20p");
}

static void epochs_are_kept_in_order_of_starts(void **state)
{
	(void)state;
	auto_place place = place_new();
	enum { STARTS = 30 };
	for (unsigned start = 0; start < STARTS; start++) {
		/* Names that are not in order. */
		auto_spool spool = open_spool(place.dir, 1 << 20, (start * 7) % STARTS);
		sample(spool, 100);
		sample(spool, 100);
		if (start % 3 == 0)
			spool_ack(spool, live(spool), 1);
	}
	auto_spool spool = open_spool(place.dir, 1 << 20, 99);
	assert_int_equal(spool_n(spool), STARTS + 1);
	for (unsigned start = 0; start < STARTS; start++) {
		struct spool_epoch *epoch = spool_at(spool, start);
		assert_int_equal(epoch->epoch.bytes[1], (start * 7) % STARTS);
		bool folded = start + WIRE_EPOCHS_MAX < STARTS + 1, acked = start % 3 == 0;
		assert_string_equal(shown(spool, epoch), folded  ? acked ? "2-2:lost" : "1-2:lost"
							 : acked ? "2s"
								 : "1s 2s");
	}
	while (spool_n(spool) > 1)
		spool_ack(spool, spool_at(spool, 0), 2);
	assert_int_equal(disk_usage(&place.scratch), 48); /* the head of this start */
}

static void one_agent_a_directory(void **state)
{
	(void)state;
	auto_place place = place_new();
	auto_spool first = open_spool(place.dir, 1 << 20, 1);
	auto_spool second = open_spool(place.dir, 1 << 20, 2);
	sample(first, 10);
	sample(second, 10);
	struct spool_counts counts;
	spool_count(second, &counts);
	assert_false(counts.on_disk);
	assert_non_null(strstr(counts.trouble, "another agent"));
	/* It waits for its turn, and then takes over what the other one left. */
	spool_free(TAKE_PTR(first));
	spool_tend(second, at_ms(1000));
	spool_count(second, &counts);
	assert_false(counts.on_disk);
	spool_tend(second, at_ms(SPOOL_RETRY_MS));
	spool_count(second, &counts);
	assert_true(counts.on_disk);
	assert_string_equal(counts.trouble, "");
	assert_int_equal(spool_n(second), 2);
	assert_string_equal(shown(second, spool_at(second, 0)), "1s");
	assert_string_equal(shown(second, live(second)), "1s");
}

static void directory_deleted_while_running(void **state)
{
	(void)state;
	auto_place place = place_new();
	{
		auto_spool old = open_spool(place.dir, 1 << 20, 1);
		sample(old, 100);
	}
	auto_spool spool = open_spool(place.dir, 1 << 20, 2);
	sample(spool, 100);
	char command[400];
	(void)snprintf(command, sizeof command, "rm -r '%s'", place.dir);
	assert_int_equal(system(command), 0);
	sample(spool, 100);
	struct spool_counts counts;
	spool_count(spool, &counts);
	assert_true(counts.on_disk);
	/* All is in the new directory, the old start's too. */
	spool_free(TAKE_PTR(spool));
	spool = open_spool(place.dir, 1 << 20, 3);
	assert_int_equal(spool_n(spool), 3);
	assert_string_equal(shown(spool, spool_at(spool, 0)), "1s");
	assert_string_equal(shown(spool, spool_at(spool, 1)), "1s 2s");
}

static void file_size_limit(rlim_t bytes)
{
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* RLIMIT_FSIZE cuts a write short and fails the next: what a full disk does. */
static void full_disk(void **state)
{
	(void)state;
	auto_place place = place_new();
	auto_spool spool = open_spool(place.dir, 1 << 20, 1);
	(void)signal(SIGXFSZ, SIG_IGN);
	sample(spool, 1000);
	file_size_limit(2500);
	sample(spool, 1000);
	sample(spool, 1000);
	put(spool, SPOOL_FINDING, 5, WIRE_OPENED, 1000);
	put(spool, SPOOL_FINDING, 5, WIRE_UPDATED, 1000);
	struct spool_counts counts;
	spool_count(spool, &counts);
	assert_false(counts.on_disk);
	assert_int_equal(counts.failures_total, 1);
	assert_string_equal(shown(spool, live(spool)), "1s 2s 3s 4f 5f");
	spool_tend(spool, at_ms(SPOOL_RETRY_MS));
	spool_count(spool, &counts);
	assert_false(counts.on_disk);
	assert_int_equal(counts.failures_total, 2);
	assert_string_equal(shown(spool, live(spool)), "1s 2s 3s 4f 5f");
	/* There is room again. */
	file_size_limit(RLIM_INFINITY);
	spool_tend(spool, at_ms(3 * SPOOL_RETRY_MS));
	spool_count(spool, &counts);
	assert_true(counts.on_disk);
	sample(spool, 100);
	spool_free(TAKE_PTR(spool));
	spool = open_spool(place.dir, 1 << 20, 2);
	assert_string_equal(shown(spool, spool_at(spool, 0)), "1s 2s 3s 4f 5f 6s");
}

/* A process killed while some was in memory alone: the number after says what is missing. */
static void what_memory_lost_is_a_gap(void **state)
{
	(void)state;
	auto_place place = place_new();
	auto_spool spool = open_spool(place.dir, 1 << 20, 1);
	(void)signal(SIGXFSZ, SIG_IGN);
	sample(spool, 1000);
	file_size_limit(1500);
	sample(spool, 1000);
	sample(spool, 1000);
	spool_free(TAKE_PTR(spool));
	file_size_limit(RLIM_INFINITY);
	spool = open_spool(place.dir, 1 << 20, 2);
	assert_string_equal(shown(spool, spool_at(spool, 0)), "1s");
	assert_int_equal(spool_n(spool), 2);
}

static void torn_and_damaged_files(void **state)
{
	(void)state;
	auto_place place = place_new();
	auto_spool spool = open_spool(place.dir, 1 << 20, 1);
	for (int i = 0; i < 4; i++)
		sample(spool, 100);
	struct spool_entry third = live(spool)->index.entries[2];
	char path[400], text[WIRE_EPOCH_TEXT_CAP];
	(void)snprintf(path, sizeof path, "%s/spool-%s", place.dir, wire_epoch_format(text, epoch_of(1)));
	int fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "XX", 2, third.offset + 60), 2);
	/* The running agent notices as well as the next one. */
	assert_string_equal(shown(spool, live(spool)), "1s 2s 3-3:lost 4s");
	spool_free(TAKE_PTR(spool));
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(ftruncate(fd, st.st_size - 3), 0);
	spool = open_spool(place.dir, 1 << 20, 2);
	assert_string_equal(shown(spool, spool_at(spool, 0)), "1s 2s"); /* 3 is told by whatever follows; 4 was torn */
	(void)close(fd);
	spool_free(TAKE_PTR(spool));

	/* Not ours: a link, a pipe, another epoch's bytes, a file without end. None of it is followed, waited for or kept. */
	char command[1600];
	(void)snprintf(command, sizeof command,
		       "cd '%s' && ln -s /etc/passwd spool-%032x && mkfifo spool-%032x && echo x >spool-%032x && "
		       "truncate -s 1G spool-%032x",
		       place.dir, 1, 2, 3, 4);
	assert_int_equal(system(command), 0);
	spool = open_spool(place.dir, 1 << 20, 3);
	assert_int_equal(spool_n(spool), 2);
	struct spool_counts counts;
	spool_count(spool, &counts);
	assert_true(counts.on_disk);
	assert_in_range(counts.lost_epochs_total, 3, 4);
}

static void collector_with_an_older_store(void **state)
{
	(void)state;
	auto_spool spool = open_spool(NULL, 1 << 20, 1);
	for (int i = 0; i < 5; i++)
		sample(spool, 100);
	spool_ack(spool, live(spool), 4);
	auto_buf struct buf text = { .cap = SPOOL_TEXT_MAX };
	struct spool_item item;
	assert_true(spool_get(spool, live(spool), 1, &item, &text));
	assert_int_equal(item.kind, SPOOL_GAP);
	assert_int_equal(item.seq, 2);
	assert_int_equal(item.to, 4);
	assert_true(spool_get(spool, live(spool), 4, &item, &text));
	assert_int_equal(item.kind, SPOOL_SAMPLE);
}

/* What a writer has told before it was killed. */
struct told {
	_Atomic uint64_t put, acked;
};

static void write_until_killed(const char *dir, unsigned epoch, uint64_t seed, struct told *told)
{
	struct prng prng = { seed };
	struct spool *spool = open_spool(dir, 1 << 19, epoch);
	for (;;) {
		enum spool_kind kind = prng_one_in(&prng, 10) ? SPOOL_FINDING : SPOOL_SAMPLE;
		uint64_t key = prng_below(&prng, 3);
		enum wire_edge edge = (enum wire_edge)prng_below(&prng, 3);
		told->put = put(spool, kind, key, edge, 40 + prng_below(&prng, 3000));
		if (prng_one_in(&prng, 20)) {
			uint64_t seq = live(spool)->index.acked + prng_below(&prng, 30);
			/* Told before it is done: it may be on the disk by the time of the kill, or not. */
			told->acked = seq < told->put ? seq : told->put;
			spool_ack(spool, live(spool), seq);
		}
	}
}

static void killed_at_any_moment(void **state)
{
	(void)state;
	enum { ROUNDS = 80 };
	auto_place place = place_new();
	struct prng prng = prng_start("killed_at_any_moment");
	struct told *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(told != MAP_FAILED);
	uint64_t puts = 0;
	for (unsigned round = 1; round <= ROUNDS; round++) {
		told->put = told->acked = 0;
		uint64_t seed = prng_u64(&prng);
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0)
			write_until_killed(place.dir, round, seed, told);
		struct timespec nap = { 0, (long)(1 + prng_below(&prng, 12)) * 1000000 };
		(void)nanosleep(&nap, NULL);
		(void)kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);

		auto_spool spool = open_spool(place.dir, 1 << 19, 1000 + round);
		struct spool_epoch *old = spool_n(spool) > 1 ? spool_at(spool, 0) : NULL;
		if (!old) {
			assert_true(told->put <= told->acked); /* nothing was left to send */
			continue;
		}
		assert_true(wire_epoch_same(old->epoch, epoch_of(round)));
		assert_true(old->index.acked <= told->acked);
		/* Every number that was given and not acked is there, as it was, or in a gap. */
		auto_buf struct buf text = { .cap = SPOOL_TEXT_MAX }, want = { .cap = SPOOL_TEXT_MAX };
		struct spool_item item = { .to = old->index.acked };
		while (spool_get(spool, old, item.to, &item, &text)) {
			if (item.kind == SPOOL_GAP) {
				if (item.reason != SPOOL_SUPERSEDED && item.reason != SPOOL_FULL)
					fail_msg("round %u: %llu to %llu are lost", round, (unsigned long long)item.seq,
						 (unsigned long long)item.to);
				continue;
			}
			text_of(&want, old, item.seq, text.len);
			assert_true(str_eq(buf_str(&text), buf_str(&want)));
		}
		assert_true(item.to >= told->put && item.to <= told->put + 1);
		puts += told->put;
		spool_ack(spool, old, UINT64_MAX);
		assert_int_equal(spool_n(spool), 1);
	}
	(void)munmap(told, sizeof *told);
	print_message("# %u kills, %llu messages\n", ROUNDS, (unsigned long long)puts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order_until_acked),
		cmocka_unit_test(findings_are_state),
		cmocka_unit_test(gaps_that_meet_are_one),
		cmocka_unit_test(oldest_samples_go_first),
		cmocka_unit_test(no_put_rewrites_all),
		cmocka_unit_test(acked_while_copied),
		cmocka_unit_test(postmortems_are_kept_up_to_eight),
		cmocka_unit_test(epochs_are_kept_in_order_of_starts),
		cmocka_unit_test(one_agent_a_directory),
		cmocka_unit_test(directory_deleted_while_running),
		cmocka_unit_test(full_disk),
		cmocka_unit_test(what_memory_lost_is_a_gap),
		cmocka_unit_test(torn_and_damaged_files),
		cmocka_unit_test(collector_with_an_older_store),
		cmocka_unit_test(killed_at_any_moment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
