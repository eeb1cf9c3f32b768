/* SPDX-License-Identifier: Apache-2.0 */
/* A pod in full: its ledger, against budgets, bounds and claims. Too much for a list. */
#include "collector/api_parts.h"
#include "collector/fleet_books.h"
#include "wire/put.h"

static void put_line(struct js_out *out, enum owner owner, struct qty bytes, const struct fleet_books *books)
{
	struct limit bound = books ? fleet_bound(books, owner) : (struct limit){ 0 };
	js_out_object(out);
	put_text(out, "owner", owner_table[owner].name);
	put_text(out, "group", ledger_group_names[owner_table[owner].group]);
	put_qty(out, "bytes", bytes);
	put_text(out, "state", qty_state_names[bytes.state]);
	put_limit(out, "bound_bytes", bound);
	api_put_bool(out, "unbounded", bound.kind == LIMIT_NONE);
	put_qty(out, "claim_bytes", books ? fleet_claim(books, owner) : (struct qty){ 0 });
	js_out_object_end(out);
}

static void put_ledger(struct js_out *out, const struct fleet_composition *composition, const struct fleet_books *books)
{
	js_out_key(out, "ledger");
	if (!composition->known) {
		js_out_null(out);
		return;
	}
	js_out_array(out);
	for (unsigned i = 0; i < OWNER_COUNT; i++) {
		struct qty bytes = fleet_owner(composition, (enum owner)i);
		if (qty_known(bytes) || (books && books->unread >> i & 1))
			put_line(out, (enum owner)i, bytes, books);
	}
	js_out_array_end(out);
}

static void put_budgets(struct js_out *out, const struct fleet_composition *composition,
			const struct fleet_books *books)
{
	js_out_key(out, "budgets");
	if (!books) {
		js_out_null(out);
		return;
	}
	js_out_array(out);
	for (size_t i = 0; i < books->n_budgets; i++) {
		const struct fleet_budget *budget = &books->budgets[i];
		js_out_object(out);
		put_text(out, "budget", budget->name);
		put_qty(out, "bytes", budget->bytes);
		put_qty(out, "used_bytes", fleet_budget_used(composition, budget));
		put_owner_names(out, budget->owners);
		js_out_object_end(out);
	}
	js_out_array_end(out);
}

/* What says whether a budget is too large, and of which parts it is. */
static void put_engine(struct js_out *out, const struct fleet_books *books)
{
	js_out_key(out, "engine");
	if (!books) {
		js_out_null(out);
		return;
	}
	const struct engine_facts *facts = &books->engine;
	js_out_object(out);
	put_text(out, "state_backend", facts->backend == BACKEND_UNKNOWN ? NULL : state_backend_names[facts->backend]);
	put_tristate(out, "batch", facts->batch);
	put_tristate(out, "python", facts->python);
	put_fact_sizes(out, facts);
	put_count(out, "streams_instances", facts->streams_instances);
	js_out_object_end(out);
}

void api_put_pod_whole(struct js_out *out, const struct fleet_pod *pod, const struct silences *silences,
		       struct wall now)
{
	const struct fleet_books *books = fleet_books(&pod->composition);
	js_out_object(out);
	api_put_pod_members(out, pod, silences, now);
	put_ledger(out, &pod->composition, books);
	put_budgets(out, &pod->composition, books);
	put_engine(out, books);
	js_out_key(out, "demand");
	js_out_object(out);
	put_qty(out, "expected_bytes", pod->latest.expected_bytes);
	put_qty(out, "legal_bytes", books ? books->legal_bytes : (struct qty){ 0 });
	js_out_object_end(out);
	struct signed_qty age = { books ? now.ms - books->taken.ms : 0, books != NULL };
	age.bytes = age.bytes > 0 ? age.bytes : 0;
	put_signed(out, "books_age_ms", age);
	js_out_object_end(out);
}
