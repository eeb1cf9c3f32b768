/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/spool_index.h"

enum { ENTRIES_FIRST = 64 };

void spool_index_done(struct spool_index *index)
{
	free(index->entries);
	*index = (struct spool_index){ 0 };
}

static uint64_t record_bytes(const struct spool_entry *entry)
{
	return SPOOL_RECORD_BYTES + (uint64_t)entry->len;
}

static void account(struct spool_index *index, const struct spool_entry *entry, bool added)
{
	if (entry->kind != SPOOL_GAP) {
		uint64_t *bytes = &index->bytes[entry->in_memory];
		*bytes = added ? *bytes + record_bytes(entry) : *bytes - record_bytes(entry);
	}
	size_t *n = &index->n_kind[entry->kind];
	*n = added ? *n + 1 : *n - 1;
}

static int reserve(struct spool_index *index, size_t more, struct err *err)
{
	if (index->n + more > SPOOL_ENTRIES_MAX)
		return err_set(err, ERR_LIMIT, "more than %d messages wait", SPOOL_ENTRIES_MAX);
	if (index->n + more <= index->room)
		return 0;
	size_t room = index->room ? index->room * 2 : ENTRIES_FIRST;
	struct spool_entry *entries = reallocarray(index->entries, room, sizeof *entries);
	if (!entries)
		return err_set(err, ERR_NOMEM, "no memory for an index of %zu messages", room);
	index->entries = entries;
	index->room = room;
	return 0;
}

static bool merge(struct spool_entry *before, const struct spool_entry *gap)
{
	if (before->kind != SPOOL_GAP || gap->kind != SPOOL_GAP)
		return false;
	before->key = gap->key;
	if (gap->reason > before->reason)
		before->reason = gap->reason;
	return true;
}

static void put_last(struct spool_index *index, const struct spool_entry *entry)
{
	index->last = spool_entry_last(entry);
	if (index->n && merge(&index->entries[index->n - 1], entry))
		return;
	index->entries[index->n++] = *entry;
	account(index, entry, true);
}

int spool_index_push(struct spool_index *index, const struct spool_entry *entry, struct err *err)
{
	if (entry->seq <= index->last || spool_entry_last(entry) < entry->seq)
		return err_set(err, ERR_MALFORMED, "number %llu after %llu", (unsigned long long)entry->seq,
			       (unsigned long long)index->last);
	int ret = reserve(index, 2, err);
	if (ret < 0)
		return ret;
	if (entry->seq > index->last + 1) {
		struct spool_entry hole = {
			.seq = index->last + 1, .key = entry->seq - 1, .kind = SPOOL_GAP, .reason = SPOOL_LOST
		};
		put_last(index, &hole);
	}
	put_last(index, entry);
	return 0;
}

void spool_index_ack(struct spool_index *index, uint64_t seq)
{
	if (seq > index->last)
		seq = index->last;
	if (seq <= index->acked)
		return;
	size_t n = 0;
	for (; n < index->n && spool_entry_last(&index->entries[n]) <= seq; n++)
		account(index, &index->entries[n], false);
	index->n -= n;
	memmove(index->entries, index->entries + n, index->n * sizeof *index->entries);
	if (index->n && index->entries[0].seq <= seq)
		index->entries[0].seq = seq + 1; /* a gap that was sent before it grew */
	index->acked = seq;
}

size_t spool_index_after(const struct spool_index *index, uint64_t seq)
{
	size_t low = 0, high = index->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (spool_entry_last(&index->entries[middle]) > seq)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

void spool_index_void(struct spool_index *index, size_t at, enum spool_reason reason)
{
	struct spool_entry *entry = &index->entries[at];
	if (entry->kind == SPOOL_GAP)
		return;
	account(index, entry, false);
	*entry = (struct spool_entry){
		.seq = entry->seq, .key = entry->seq, .kind = SPOOL_GAP, .reason = (uint8_t)reason
	};
	account(index, entry, true);
	index->dropped_total[reason]++;
}

void spool_index_tidy(struct spool_index *index)
{
	size_t n = 0;
	for (size_t i = 0; i < index->n; i++) {
		if (n && merge(&index->entries[n - 1], &index->entries[i]))
			index->n_kind[SPOOL_GAP]--;
		else
			index->entries[n++] = index->entries[i];
	}
	index->n = n;
}

void spool_index_gap(struct spool_index *index, size_t at, enum spool_reason reason)
{
	spool_index_void(index, at, reason);
	spool_index_tidy(index);
}

void spool_index_supersede(struct spool_index *index, uint64_t key, enum wire_edge edge)
{
	if (edge != WIRE_UPDATED)
		return; /* the open edge and the clear stand beside the latest update */
	for (size_t i = index->n; i-- > 0;) {
		const struct spool_entry *entry = &index->entries[i];
		if (entry->kind == SPOOL_FINDING && entry->key == key && entry->edge == WIRE_UPDATED) {
			spool_index_gap(index, i, SPOOL_SUPERSEDED);
			return; /* there was but one */
		}
	}
}

/* The keys of the post-mortems that are here, oldest first, without `besides`. */
static size_t postmortem_keys(const struct spool_index *index, uint64_t besides, uint64_t keys[SPOOL_POSTMORTEMS_MAX])
{
	size_t n = 0;
	if (index->n_kind[SPOOL_POSTMORTEM] == 0)
		return 0;
	for (size_t i = 0; i < index->n && n < SPOOL_POSTMORTEMS_MAX; i++) {
		const struct spool_entry *entry = &index->entries[i];
		bool seen = entry->kind != SPOOL_POSTMORTEM || entry->key == besides;
		for (size_t k = 0; k < n && !seen; k++)
			seen = keys[k] == entry->key;
		if (!seen)
			keys[n++] = entry->key;
	}
	return n;
}

size_t spool_index_postmortems(const struct spool_index *index)
{
	uint64_t keys[SPOOL_POSTMORTEMS_MAX];
	return postmortem_keys(index, 0, keys);
}

bool spool_index_trim_postmortems(struct spool_index *index, uint64_t key)
{
	uint64_t keys[SPOOL_POSTMORTEMS_MAX];
	if (postmortem_keys(index, key, keys) < SPOOL_POSTMORTEMS_MAX)
		return false;
	for (size_t i = 0; i < index->n; i++)
		if (index->entries[i].kind == SPOOL_POSTMORTEM && index->entries[i].key == keys[0])
			spool_index_void(index, i, SPOOL_FULL);
	spool_index_tidy(index);
	return true;
}

/* How late `entry` may go: 0 first. */
enum { CLASS_SAMPLE, CLASS_CLEARED, CLASS_FINDING, CLASS_ANY, CLASS_COUNT };

static bool is_cleared(const struct spool_index *index, size_t at)
{
	for (size_t i = at; i < index->n; i++) {
		const struct spool_entry *entry = &index->entries[i];
		if (entry->kind == SPOOL_FINDING && entry->key == index->entries[at].key && entry->edge == WIRE_CLEARED)
			return true;
	}
	return false;
}

static bool may_go(const struct spool_index *index, size_t at, int class)
{
	uint8_t kind = index->entries[at].kind;
	switch (class) {
	case CLASS_SAMPLE:
		return kind == SPOOL_SAMPLE;
	case CLASS_CLEARED:
		return kind == SPOOL_FINDING && is_cleared(index, at);
	case CLASS_FINDING:
		return kind == SPOOL_FINDING;
	default:
		return kind != SPOOL_GAP;
	}
}

static void void_run(struct spool_index *index, size_t from, int class, size_t most)
{
	for (size_t i = from; i < index->n && i - from < most; i++) {
		if (index->entries[i].kind == SPOOL_GAP)
			continue;
		if (!may_go(index, i, class))
			return;
		spool_index_void(index, i, SPOOL_FULL);
	}
}

uint64_t spool_index_drop(struct spool_index *index, bool in_memory, bool samples_only, uint64_t bytes, size_t entries)
{
	uint64_t before = index->bytes[in_memory];
	size_t n_before = index->n;
	for (int class = CLASS_SAMPLE; class < (samples_only ? CLASS_CLEARED : CLASS_COUNT); class ++) {
		for (size_t i = 0; i < index->n && before - index->bytes[in_memory] < bytes; i++)
			if (index->entries[i].in_memory == in_memory && may_go(index, i, class))
				spool_index_void(index, i, SPOOL_FULL);
		spool_index_tidy(index);
		/* Where it is the index that is full: a run and the gaps inside it become one entry. */
		for (size_t i = 0; i < index->n && n_before - index->n < entries; i++)
			if (may_go(index, i, class)) {
				void_run(index, i, class, entries + 2);
				spool_index_tidy(index);
			}
		if (before - index->bytes[in_memory] >= bytes && n_before - index->n >= entries)
			break;
	}
	return before - index->bytes[in_memory];
}

void spool_index_drop_finding(struct spool_index *index)
{
	for (int class = CLASS_CLEARED; class <= CLASS_FINDING; class ++)
		for (size_t i = 0; i < index->n; i++)
			if (may_go(index, i, class)) {
				spool_index_gap(index, i, SPOOL_FULL);
				return;
			}
}

void spool_index_fold(struct spool_index *index)
{
	for (size_t i = 0; i < index->n; i++)
		spool_index_void(index, i, SPOOL_LOST);
	spool_index_tidy(index);
}
