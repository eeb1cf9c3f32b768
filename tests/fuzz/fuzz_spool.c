/* SPDX-License-Identifier: Apache-2.0 */
/* A spool's file and a recorder's, as anybody with our uid may have written them. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "agent/spool_parts.h"

/* From acked + 1 to last, each number in one entry, in order, no two gaps side by side. */
static void check_index(const struct spool_index *index, size_t size)
{
	uint64_t next = index->acked + 1, bytes = 0;
	for (size_t i = 0; i < index->n; i++) {
		const struct spool_entry *entry = &index->entries[i];
		if (entry->seq != next || spool_entry_last(entry) < entry->seq)
			abort();
		if (entry->kind == SPOOL_GAP && i && index->entries[i - 1].kind == SPOOL_GAP)
			abort();
		if (entry->kind != SPOOL_GAP && entry->offset + (uint64_t)SPOOL_RECORD_BYTES + entry->len > size)
			abort();
		bytes += entry->kind == SPOOL_GAP ? 0 : SPOOL_RECORD_BYTES + (uint64_t)entry->len;
		next = spool_entry_last(entry) + 1;
	}
	if (next != index->last + 1 || bytes != index->bytes[0] || index->last > SPOOL_SEQ_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = { (const char *)data, size };
	struct wire_epoch epoch = { { 0 } };
	struct spool_index index = { 0 };
	struct err err = { 0 };
	uint64_t generation, end;
	/* Any epoch: its name is not what is tried here. */
	if (size >= 24)
		memcpy(epoch.bytes, data + 8, sizeof epoch.bytes);
	if (spool_parse(bytes, epoch, &generation, &index, &end, &err) == 0) {
		if (end > size)
			abort();
		check_index(&index, size);
	}
	spool_index_done(&index);

	struct spool_scan scan = { .bytes = bytes };
	struct spool_record record;
	struct str text;
	size_t before = 0;
	while (spool_scan_next(&scan, &record, &text)) {
		if (scan.at <= before || scan.at > size || text.ptr < bytes.ptr ||
		    text.ptr + text.len > bytes.ptr + size)
			abort();
		before = scan.at;
	}
	return 0;
}
