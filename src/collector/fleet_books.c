/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/fleet_books.h"

#include "collector/fleet_parts.h"

_Static_assert(OWNER_COUNT <= 32, "a set of owners in 32 bits");

#define BIT(owner) ((uint32_t)1 << (owner))

const struct fleet_books *fleet_books(const struct fleet_composition *composition)
{
	const struct fleet_books *books = composition->known ? composition->books : NULL;
	return books && composition->taken.ms - books->taken.ms <= FLEET_BOOKS_STALE_MS ? books : NULL;
}

static const uint64_t *bytes_of(const struct fleet_books *books)
{
	return (const uint64_t *)(const void *)(books->budgets + books->n_budgets);
}

/* How many of the set stand before this one. */
static size_t place(uint32_t set, enum owner owner)
{
	return (size_t)__builtin_popcount(set & (BIT(owner) - 1));
}

struct limit fleet_bound(const struct fleet_books *books, enum owner owner)
{
	if (books->unbounded & BIT(owner))
		return (struct limit){ .kind = LIMIT_NONE };
	return books->bounded & BIT(owner) ? limit_set(bytes_of(books)[place(books->bounded, owner)])
					   : (struct limit){ 0 };
}

struct qty fleet_claim(const struct fleet_books *books, enum owner owner)
{
	if (!(books->claimed & BIT(owner)))
		return (struct qty){ 0 };
	return qty_measured(bytes_of(books)[(size_t)__builtin_popcount(books->bounded) + place(books->claimed, owner)]);
}

struct qty fleet_budget_used(const struct fleet_composition *composition, const struct fleet_budget *budget)
{
	bool any = false;
	struct qty sum = { 0 };
	for (unsigned i = 0; budget->used_known && i < OWNER_COUNT; i++) {
		struct qty bytes = fleet_owner(composition, (enum owner)i);
		if (!(budget->owners >> i & 1) || !qty_known(bytes))
			continue;
		sum = any ? qty_add(sum, bytes) : bytes;
		any = true;
	}
	return sum;
}

/* --- as they are told ---------------------------------------------------------------------------------------------- */

void fleet_books_drop(struct fleet *fleet, struct fleet_books **books)
{
	for (size_t i = 0; *books && i < (*books)->n_budgets; i++)
		intern_drop(&fleet->names, (*books)->budgets[i].name);
	free(*books);
	*books = NULL;
}

static struct fleet_books *room_for(const struct wire_books *from)
{
	struct fleet_books head = { .unread = (uint32_t)from->unread,
				    .legal_bytes = from->legal_bytes,
				    .engine = from->engine };
	for (unsigned i = 0; i < OWNER_COUNT; i++) {
		head.bounded |= from->bounds[i].kind == LIMIT_SET ? BIT(i) : 0;
		head.unbounded |= from->bounds[i].kind == LIMIT_NONE ? BIT(i) : 0;
		head.claimed |= qty_known(from->claims[i]) ? BIT(i) : 0;
	}
	head.n_budgets = (uint32_t)from->n_budgets;
	size_t n = (size_t)(__builtin_popcount(head.bounded) + __builtin_popcount(head.claimed));
	struct fleet_books *books =
		calloc(1, sizeof *books + head.n_budgets * sizeof books->budgets[0] + n * sizeof(uint64_t));
	if (books)
		memcpy(books, &head, sizeof head);
	return books;
}

/* Without memory for them there are none. */
void fleet_books_set(struct fleet *fleet, struct fleet_books **ret_books, const struct wire_books *from,
		     struct wall taken)
{
	fleet_books_drop(fleet, ret_books);
	struct fleet_books *books = room_for(from);
	if (!books)
		return;
	books->taken = taken;
	uint64_t *bytes = (uint64_t *)(void *)(books->budgets + books->n_budgets);
	for (unsigned i = 0; i < OWNER_COUNT; i++)
		if (books->bounded & BIT(i))
			*bytes++ = from->bounds[i].bytes;
	for (unsigned i = 0; i < OWNER_COUNT; i++)
		if (books->claimed & BIT(i))
			*bytes++ = from->claims[i].bytes;
	for (size_t i = 0; i < books->n_budgets; i++) {
		const struct wire_budget *budget = &from->budgets[i];
		books->budgets[i] = (struct fleet_budget){ intern_take(&fleet->names, budget->name), budget->bytes,
							   budget->owners, qty_known(budget->used_bytes) };
		if (!books->budgets[i].name) {
			fleet_books_drop(fleet, &books);
			return;
		}
	}
	*ret_books = books;
}
