/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/podbook.h"

#include <stdlib.h>

#include "sys/clock.h"

struct entry {
	char *uid, *namespace_, *name, *node; /* one allocation, at `uid` */
	unsigned stream, round;
	bool gone;
	struct mono gone_at;
};

/* Sorted by UID: a pod comes or goes some times a second, and is asked for at each hello. */
struct podbook {
	struct entry *entries;
	size_t n, room, n_gone;
	uint64_t version;
	unsigned rounds[32];
};

int podbook_new(struct podbook **ret_book, struct err *err)
{
	struct podbook *book = calloc(1, sizeof *book);
	if (!book)
		return err_set(err, ERR_NOMEM, "no memory for the pods of Kubernetes");
	*ret_book = book;
	return 0;
}

void podbook_free(struct podbook *book)
{
	for (size_t i = 0; book && i < book->n; i++)
		free(book->entries[i].uid);
	if (book)
		free(book->entries);
	free(book);
}

/* Where it stands, or would. */
static size_t place_of(const struct podbook *book, const char *uid, bool *ret_there)
{
	size_t low = 0, high = book->n;
	*ret_there = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(book->entries[middle].uid, uid);
		if (order == 0) {
			*ret_there = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct entry *find(const struct podbook *book, const char *uid)
{
	bool there = false;
	size_t at = book && uid[0] ? place_of(book, uid, &there) : 0;
	return there ? &book->entries[at] : NULL;
}

static bool make_room(struct podbook *book)
{
	size_t room = book->room ? 2 * book->room : 256;
	if (book->n >= PODBOOK_MAX)
		return false;
	if (book->n < book->room)
		return true;
	struct entry *longer = realloc(book->entries, room * sizeof *longer);
	if (!longer)
		return false;
	book->entries = longer;
	book->room = room;
	return true;
}

static char *put_text(char *at, const char *text)
{
	size_t len = strlen(text) + 1;
	memcpy(at, text, len);
	return at + len;
}

static bool fill(struct entry *entry, const struct pod_seen *pod)
{
	char *text = malloc(strlen(pod->uid) + strlen(pod->namespace_) + strlen(pod->name) + strlen(pod->node) + 4);
	if (!text)
		return false;
	entry->uid = text;
	entry->namespace_ = put_text(entry->uid, pod->uid);
	entry->name = put_text(entry->namespace_, pod->namespace_);
	entry->node = put_text(entry->name, pod->name);
	(void)put_text(entry->node, pod->node);
	return true;
}

static void mark(struct podbook *book, struct entry *entry, bool gone, struct mono now)
{
	if (entry->gone == gone)
		return;
	entry->gone = gone;
	entry->gone_at = now;
	book->n_gone = gone ? book->n_gone + 1 : book->n_gone - 1;
}

/* Its node is said once it is scheduled; nothing else of it changes. */
static bool refill(struct entry *entry, const struct pod_seen *pod, bool *changed)
{
	struct entry fresh = *entry;
	char *old = entry->uid;
	if (strcmp(entry->node, pod->node) == 0 && strcmp(entry->name, pod->name) == 0 &&
	    strcmp(entry->namespace_, pod->namespace_) == 0)
		return true;
	if (!fill(&fresh, pod))
		return false;
	*entry = fresh;
	free(old);
	*changed = true;
	return true;
}

static bool insert(struct podbook *book, size_t at, const struct pod_seen *pod)
{
	struct entry fresh = { 0 };
	if (!make_room(book) || !fill(&fresh, pod))
		return false;
	memmove(&book->entries[at + 1], &book->entries[at], (book->n - at) * sizeof fresh);
	book->entries[at] = fresh;
	book->n++;
	return true;
}

bool podbook_take(struct podbook *book, unsigned stream, const struct pod_seen *pod, bool gone, struct mono now)
{
	bool there;
	size_t at = place_of(book, pod->uid, &there);
	bool changed = !there;
	if (there ? !refill(&book->entries[at], pod, &changed) : !insert(book, at, pod))
		return false;
	book->version += changed;
	struct entry *entry = &book->entries[at];
	entry->stream = stream;
	entry->round = book->rounds[stream];
	mark(book, entry, gone, now);
	return true;
}

void podbook_begin(struct podbook *book, unsigned stream)
{
	book->rounds[stream]++;
}

void podbook_settled(struct podbook *book, unsigned stream, struct mono now)
{
	for (size_t i = 0; i < book->n; i++)
		if (book->entries[i].stream == stream && book->entries[i].round != book->rounds[stream])
			mark(book, &book->entries[i], true, now);
}

void podbook_expire(struct podbook *book, struct mono now)
{
	size_t kept = 0;
	if (!book->n_gone)
		return;
	for (size_t i = 0; i < book->n; i++) {
		struct entry *entry = &book->entries[i];
		if (entry->gone && mono_ms_until(entry->gone_at, now) >= PODBOOK_GONE_MS) {
			free(entry->uid);
			book->n_gone--;
		} else {
			book->entries[kept++] = *entry;
		}
	}
	book->n = kept;
}

uint64_t podbook_version(const struct podbook *book)
{
	return book->version;
}

size_t podbook_count(const struct podbook *book)
{
	return book->n - book->n_gone;
}

enum podbook_answer podbook_on_node(const struct podbook *book, const char *pod_uid, const char *node)
{
	const struct entry *entry = find(book, pod_uid);
	if (!entry || !entry->node[0] || !node[0])
		return PODBOOK_UNKNOWN;
	return strcmp(entry->node, node) == 0 ? PODBOOK_YES : PODBOOK_NO;
}

enum podbook_answer podbook_is(const struct podbook *book, const char *pod_uid, const char *namespace_,
			       const char *name)
{
	const struct entry *entry = find(book, pod_uid);
	if (!entry)
		return PODBOOK_UNKNOWN;
	return strcmp(entry->namespace_, namespace_) == 0 && strcmp(entry->name, name) == 0 ? PODBOOK_YES : PODBOOK_NO;
}
