/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/intern.h"

#include "base/auto.h"

struct intern_entry {
	struct intern_entry *next;
	uint32_t hash, users;
	char text[];
};

enum { BUCKETS_FIRST = 256 };

/* FNV-1a. Names are chosen by agents: whoever makes them collide slows down lookups of at most some ten thousand. */
static uint32_t hash_of(const char *text)
{
	uint32_t hash = 2166136261U;
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619U;
	return hash;
}

void intern_done(struct intern *intern)
{
	for (size_t i = 0; i < intern->n_buckets; i++)
		for (struct intern_entry *entry = intern->buckets[i], *next; entry; entry = next) {
			next = entry->next;
			free(entry);
		}
	free(intern->buckets);
	*intern = (struct intern){ 0 };
}

/* Twice as many buckets. A failure leaves what is there: longer chains. */
static void grow(struct intern *intern)
{
	size_t n = intern->n_buckets ? intern->n_buckets * 2 : BUCKETS_FIRST;
	struct intern_entry **buckets = calloc(n, sizeof *buckets);
	if (!buckets)
		return;
	for (size_t i = 0; i < intern->n_buckets; i++)
		for (struct intern_entry *entry = intern->buckets[i], *next; entry; entry = next) {
			next = entry->next;
			entry->next = buckets[entry->hash & (n - 1)];
			buckets[entry->hash & (n - 1)] = entry;
		}
	free(intern->buckets);
	intern->buckets = buckets;
	intern->n_buckets = n;
}

const char *intern_take(struct intern *intern, const char *text)
{
	uint32_t hash = hash_of(text);
	if (intern->n >= intern->n_buckets)
		grow(intern);
	if (!intern->n_buckets)
		return NULL;
	struct intern_entry **bucket = &intern->buckets[hash & (intern->n_buckets - 1)];
	for (struct intern_entry *entry = *bucket; entry; entry = entry->next)
		if (entry->hash == hash && strcmp(entry->text, text) == 0) {
			entry->users++;
			return entry->text;
		}
	size_t len = strlen(text) + 1;
	struct intern_entry *entry = malloc(sizeof *entry + len);
	if (!entry)
		return NULL;
	*entry = (struct intern_entry){ *bucket, hash, 1 };
	memcpy(entry->text, text, len);
	*bucket = entry;
	intern->n++;
	return entry->text;
}

void intern_drop(struct intern *intern, const char *taken)
{
	if (!taken)
		return;
	const struct intern_entry *entry = (const void *)(taken - offsetof(struct intern_entry, text));
	struct intern_entry **at = &intern->buckets[entry->hash & (intern->n_buckets - 1)];
	while (*at != entry)
		at = &(*at)->next;
	struct intern_entry *found = *at;
	if (--found->users > 0)
		return;
	*at = found->next;
	free(found);
	intern->n--;
}
