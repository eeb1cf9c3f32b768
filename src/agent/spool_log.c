/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/spool_log.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/crc32.h"

const char *const spool_reason_names[SPOOL_REASON_COUNT] = { "superseded", "spool-full", "unwritable", "spool-lost" };

static const uint32_t magic = 0x31524b42; /* "BKR1" */

enum {
	CRC_FROM = 12,   /* of a record: what the CRC covers */
	WORK_FACTOR = 8, /* a sane log is checked once; a hostile one at most so often */
	WORK_LEAST = 1 << 20,
	MEMORY_STEP = 1 << 16, /* memory logs grow from this by doubling */
};

void spool_log_done(struct spool_log *log)
{
	if (log->fd >= 0)
		(void)close(log->fd);
	free(log->bytes);
	*log = (struct spool_log){ .fd = -1, .cap = log->cap };
}

static void put_u32(char *at, uint32_t value)
{
	memcpy(at, &value, sizeof value);
}

static uint32_t get_u32(const char *at)
{
	uint32_t value;
	memcpy(&value, at, sizeof value);
	return value;
}

static uint64_t get_u64(const char *at)
{
	uint64_t value;
	memcpy(&value, at, sizeof value);
	return value;
}

static void head_write(char head[SPOOL_RECORD_BYTES], struct spool_record *record, struct str text)
{
	put_u32(head, magic);
	put_u32(head + 4, (uint32_t)text.len);
	head[12] = (char)record->kind;
	head[13] = (char)record->edge;
	head[14] = (char)record->reason;
	head[15] = 0;
	memcpy(head + 16, &record->seq, 8);
	memcpy(head + 24, &record->key, 8);
	record->crc = crc32_add(crc32_add(0, head + CRC_FROM, SPOOL_RECORD_BYTES - CRC_FROM), text.ptr, text.len);
	put_u32(head + 8, record->crc);
}

static int grow(struct spool_log *log, uint64_t need, struct err *err)
{
	if (need > log->cap)
		return err_set(err, ERR_LIMIT, "no more than %zu bytes are kept in memory", log->cap);
	size_t room = log->room ? log->room : MEMORY_STEP;
	while (room < need)
		room *= 2;
	if (room > log->cap)
		room = log->cap;
	char *bytes = realloc(log->bytes, room);
	if (!bytes)
		return err_set(err, ERR_NOMEM, "no memory for %zu bytes of messages", room);
	log->bytes = bytes;
	log->room = room;
	return 0;
}

static int append_file(struct spool_log *log, struct iovec part[2], struct err *err)
{
	size_t len = part[0].iov_len + part[1].iov_len;
	ssize_t n;
	do
		n = pwritev(log->fd, part, 2, (off_t)log->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(err, errno, "cannot write");
	/* A regular file takes less than all only when it is full. */
	if ((size_t)n < len)
		return err_sys(err, ENOSPC, "wrote %zd of %zu bytes", n, len);
	return 0;
}

int spool_log_append(struct spool_log *log, struct spool_record *record, struct str text, struct err *err)
{
	char head[SPOOL_RECORD_BYTES];
	if (text.len > SPOOL_TEXT_MAX)
		return err_set(err, ERR_LIMIT, "a message of %zu bytes", text.len);
	head_write(head, record, text);
	size_t len = sizeof head + text.len;
	if (log->fd >= 0) {
		struct iovec part[2] = { { head, sizeof head }, { (void *)(uintptr_t)text.ptr, text.len } };
		int ret = append_file(log, part, err);
		if (ret < 0)
			return ret;
	} else {
		int ret = log->end + len > log->room ? grow(log, log->end + len, err) : 0;
		if (ret < 0)
			return ret;
		memcpy(log->bytes + log->end, head, sizeof head);
		if (text.len)
			memcpy(log->bytes + log->end + sizeof head, text.ptr, text.len);
	}
	log->end += len;
	return 0;
}

static int take(const struct spool_log *log, uint64_t offset, char *dest, size_t len, struct err *err)
{
	if (log->fd < 0) {
		if (offset + len > log->end)
			return err_set(err, ERR_MALFORMED, "no record at %llu", (unsigned long long)offset);
		memcpy(dest, log->bytes + offset, len);
		return 0;
	}
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(log->fd, dest + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, errno, "cannot read");
		if (n == 0)
			return err_set(err, ERR_MALFORMED, "the file was cut");
		done += (size_t)n;
	}
	return 0;
}

int spool_log_read(const struct spool_log *log, uint64_t offset, uint32_t crc, uint32_t len, struct buf *text,
		   struct err *err)
{
	char head[SPOOL_RECORD_BYTES];
	buf_clear(text);
	int ret = take(log, offset, head, sizeof head, err);
	if (ret < 0)
		return ret;
	if (get_u32(head) != magic || get_u32(head + 4) != len || get_u32(head + 8) != crc || len > SPOOL_TEXT_MAX)
		return err_set(err, ERR_MALFORMED, "another record stands at %llu", (unsigned long long)offset);
	char *room = len ? buf_grow(text, len) : NULL;
	if (len && !room)
		return err_set(err, ERR_NOMEM, "no memory for a message of %u bytes", len);
	if (len) {
		ret = take(log, offset + sizeof head, room, len, err);
		if (ret < 0)
			return ret;
	}
	if (crc32_add(crc32_add(0, head + CRC_FROM, SPOOL_RECORD_BYTES - CRC_FROM), room, len) != crc)
		return err_set(err, ERR_MALFORMED, "a damaged record at %llu", (unsigned long long)offset);
	if (len)
		buf_grown(text, text->len + len);
	return 0;
}

/* The record at the start of `bytes`; 0: none, else its length with its text. */
static size_t record_parse(struct str bytes, struct spool_record *record, struct str *text, size_t *work)
{
	if (bytes.len < SPOOL_RECORD_BYTES || get_u32(bytes.ptr) != magic)
		return 0;
	uint32_t len = get_u32(bytes.ptr + 4), crc = get_u32(bytes.ptr + 8);
	uint8_t kind = (uint8_t)bytes.ptr[12], edge = (uint8_t)bytes.ptr[13], reason = (uint8_t)bytes.ptr[14];
	if (len > SPOOL_TEXT_MAX || len > bytes.len - SPOOL_RECORD_BYTES)
		return 0;
	*work += SPOOL_RECORD_BYTES + len;
	if (crc32_add(0, bytes.ptr + CRC_FROM, SPOOL_RECORD_BYTES - CRC_FROM + len) != crc)
		return 0;
	if (kind == 0 || kind >= SPOOL_KIND_COUNT || edge >= WIRE_EDGE_COUNT || reason >= SPOOL_REASON_COUNT)
		return 0;
	*record = (struct spool_record){ (enum spool_kind)kind,   (enum wire_edge)edge,    (enum spool_reason)reason,
					 get_u64(bytes.ptr + 16), get_u64(bytes.ptr + 24), crc };
	*text = (struct str){ bytes.ptr + SPOOL_RECORD_BYTES, len };
	return SPOOL_RECORD_BYTES + len;
}

bool spool_scan_next(struct spool_scan *scan, struct spool_record *ret_record, struct str *ret_text)
{
	const size_t most = WORK_LEAST + scan->bytes.len * WORK_FACTOR;
	const struct str mark = { (const char *)&magic, sizeof magic };
	while (scan->at < scan->bytes.len && scan->work <= most) {
		struct str rest = str_skip(scan->bytes, scan->at);
		size_t len = record_parse(rest, ret_record, ret_text, &scan->work);
		if (len) {
			scan->offset = scan->at;
			scan->at = scan->end = scan->at + len;
			return true;
		}
		size_t skip = 1 + str_find(str_skip(rest, 1), mark);
		if (skip > rest.len)
			skip = rest.len;
		scan->n_skipped += skip;
		scan->at += skip;
	}
	return false;
}
