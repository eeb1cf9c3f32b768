/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/clock.h"
#include "sys/file.h"

static const char *const names[2] = { "recorder-0", "recorder-1" };

/* A plain file of ours with one name, whatever stood there before. */
static int open_side(int dir_fd, const char *name, int *ret_fd, struct err *err)
{
	for (int attempt = 0; attempt < 2; attempt++) {
		struct stat st;
		auto_close int fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
		if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
		    st.st_uid == geteuid()) {
			*ret_fd = TAKE_FD(fd);
			return 0;
		}
		if (fd < 0 && errno != ELOOP && errno != ENXIO)
			return err_sys(err, errno, "%s", name);
		if (unlinkat(dir_fd, name, 0) < 0)
			return err_sys(err, errno, "%s", name);
	}
	return err_set(err, ERR_UNSUPPORTED, "%s: no plain file of this user", name);
}

/* All of a side in memory: at start and at a death. */
static int side_bytes(const struct recorder_side *side, uint64_t cap, struct buf *bytes, struct err *err)
{
	if (side->log.fd < 0) {
		bytes->cap = side->log.end;
		buf_clear(bytes);
		return side->log.end == 0 || buf_add(bytes, (struct str){ side->log.bytes, side->log.end })
			       ? 0
			       : err_set(err, ERR_NOMEM, "no memory for the flight recorder");
	}
	if (lseek(side->log.fd, 0, SEEK_SET) < 0)
		return err_sys(err, errno, "flight recorder");
	return file_read_fd(side->log.fd, "flight recorder", cap, bytes, err);
}

/* Where an earlier start of the agent stopped. */
static int resume(struct recorder_side *side, uint64_t cap, struct mono now, uint64_t *ret_newest, struct err *err)
{
	auto_buf struct buf bytes = { 0 };
	struct spool_record record;
	struct str text;
	int ret = side_bytes(side, cap, &bytes, err);
	if (ret < 0)
		return ret;
	struct spool_scan scan = { .bytes = buf_str(&bytes) };
	uint64_t first = UINT64_MAX, newest = 0;
	while (spool_scan_next(&scan, &record, &text)) {
		if (record.seq > now.ns)
			continue; /* of a boot before this one */
		first = record.seq < first ? record.seq : first;
		newest = record.seq > newest ? record.seq : newest;
	}
	side->log.end = scan.end;
	side->first = (struct mono){ first };
	side->used = newest > 0;
	*ret_newest = newest;
	return 0;
}

static int open_both(struct recorder *recorder, int dir_fd, struct mono now, struct err *err)
{
	uint64_t newest[2] = { 0 };
	auto_(recorder_done) struct recorder fresh = { .sides = { { .log.fd = -1 }, { .log.fd = -1 } } };
	for (unsigned i = 0; i < 2; i++) {
		int ret = open_side(dir_fd, names[i], &fresh.sides[i].log.fd, err);
		if (ret < 0)
			return ret;
		if (resume(&fresh.sides[i], recorder->bytes / 2, now, &newest[i], err) == 0)
			continue;
		/* Longer than we ever write, or unreadable: begin anew. */
		if (ftruncate(fresh.sides[i].log.fd, 0) < 0)
			return err_sys(err, errno, "%s", names[i]);
		fresh.sides[i].log.end = 0;
	}
	for (unsigned i = 0; i < 2; i++) {
		spool_log_done(&recorder->sides[i].log);
		recorder->sides[i] = fresh.sides[i];
		fresh.sides[i].log.fd = -1;
	}
	recorder->active = newest[1] > newest[0];
	recorder->on_disk = true;
	return 0;
}

static void use_memory(struct recorder *recorder, unsigned i)
{
	struct recorder_side *side = &recorder->sides[i];
	spool_log_done(&side->log);
	*side = (struct recorder_side){ .log = { .fd = -1, .cap = recorder->memory_bytes / 2 } };
}

void recorder_init(struct recorder *recorder, int dir_fd, uint64_t bytes, size_t memory_bytes, struct mono now)
{
	struct err err = { 0 };
	*recorder = (struct recorder){ .bytes = bytes,
				       .memory_bytes = memory_bytes ? memory_bytes : RECORDER_MEMORY_BYTES,
				       .sides = { { .log.fd = -1 }, { .log.fd = -1 } } };
	use_memory(recorder, 0);
	use_memory(recorder, 1);
	if (dir_fd >= 0 && open_both(recorder, dir_fd, now, &err) < 0)
		recorder->failures_total++;
}

void recorder_done(struct recorder *recorder)
{
	spool_log_done(&recorder->sides[0].log);
	spool_log_done(&recorder->sides[1].log);
}

static bool has_name(const struct recorder_side *side)
{
	struct stat st;
	return side->log.fd >= 0 && fstat(side->log.fd, &st) == 0 && st.st_nlink > 0;
}

void recorder_move(struct recorder *recorder, int dir_fd, struct mono now)
{
	struct err err = { 0 };
	if (dir_fd < 0)
		return;
	auto_(recorder_done) struct recorder old = *recorder;
	recorder->sides[0].log = recorder->sides[1].log = (struct spool_log){ .fd = -1 };
	if (open_both(recorder, dir_fd, now, &err) < 0) {
		recorder->failures_total++;
		recorder->sides[0] = old.sides[0];
		recorder->sides[1] = old.sides[1];
		old.sides[0].log = old.sides[1].log = (struct spool_log){ .fd = -1 };
		return;
	}
	/* What was recorded elsewhere comes along, as far as there is room. */
	for (unsigned i = 0; i < 2; i++) {
		unsigned from = i == 0 ? !old.active : old.active;
		auto_buf struct buf bytes = { 0 };
		struct spool_record record;
		struct str text;
		if (!old.sides[from].used || has_name(&old.sides[from]))
			continue; /* opened again just now */
		if (side_bytes(&old.sides[from], recorder->bytes, &bytes, &err) < 0)
			continue;
		struct spool_scan scan = { .bytes = buf_str(&bytes) };
		while (spool_scan_next(&scan, &record, &text))
			recorder_put(recorder, (struct mono){ record.seq }, (struct wall){ (int64_t)record.key }, text);
	}
}

/* The other side is emptied and written from now on. */
static void turn(struct recorder *recorder)
{
	recorder->active = !recorder->active;
	struct recorder_side *side = &recorder->sides[recorder->active];
	if (side->log.fd >= 0 && ftruncate(side->log.fd, 0) < 0) {
		recorder->failures_total++;
		recorder->on_disk = false;
		use_memory(recorder, recorder->active);
	}
	side->log.end = 0;
	side->used = false;
}

static uint64_t room_of(const struct recorder *recorder, const struct recorder_side *side)
{
	return side->log.fd >= 0 ? recorder->bytes / 2 : side->log.cap;
}

void recorder_put(struct recorder *recorder, struct mono now, struct wall wall, struct str sample)
{
	struct err err = { 0 };
	struct spool_record record = { .kind = SPOOL_SAMPLE, .seq = now.ns, .key = (uint64_t)wall.ms };
	struct recorder_side *side = &recorder->sides[recorder->active];
	if (side->log.end + SPOOL_RECORD_BYTES + sample.len > room_of(recorder, side) ||
	    (side->used && mono_ms_until(side->first, now) > RECORDER_SPAN_MS)) {
		turn(recorder);
		side = &recorder->sides[recorder->active];
	}
	/* A file whose directory was deleted takes what is written all the same, until recorder_move(). */
	if (side->log.fd >= 0 && !has_name(side))
		recorder->on_disk = false;
	int ret = spool_log_append(&side->log, &record, sample, &err);
	if (ret < 0 && side->log.fd >= 0) {
		/* The other side stays where it is and is read from there. */
		recorder->failures_total++;
		recorder->on_disk = false;
		turn(recorder);
		use_memory(recorder, recorder->active);
		side = &recorder->sides[recorder->active];
		ret = spool_log_append(&side->log, &record, sample, &err);
	}
	if (ret < 0) {
		recorder->failures_total++;
		return;
	}
	if (!side->used)
		side->first = now;
	side->used = true;
}

void recorder_read(struct recorder *recorder, struct mono now, recorder_each *each, void *context)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct recorder_side *side = &recorder->sides[i == 0 ? !recorder->active : recorder->active];
		auto_buf struct buf bytes = { 0 };
		struct spool_record record;
		struct str text;
		struct err err = { 0 };
		if (!side->used || side_bytes(side, recorder->bytes, &bytes, &err) < 0) {
			recorder->failures_total += side->used;
			continue;
		}
		/* What stands behind the end was written by nobody of us. */
		struct spool_scan scan = { .bytes = { buf_str(&bytes).ptr,
						      bytes.len < side->log.end ? bytes.len : side->log.end } };
		while (spool_scan_next(&scan, &record, &text)) {
			struct mono taken = { record.seq };
			if (record.kind != SPOOL_SAMPLE || taken.ns > now.ns ||
			    mono_ms_until(taken, now) > RECORDER_SPAN_MS)
				continue;
			if (!each(context, taken, (struct wall){ (int64_t)record.key }, text))
				return;
		}
	}
}
