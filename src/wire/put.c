/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/put.h"

static void put_number(struct js_out *out, const char *key, bool known, uint64_t number)
{
	js_out_key(out, key);
	if (known)
		js_out_u64(out, number);
	else
		js_out_null(out);
}

void put_qty(struct js_out *out, const char *key, struct qty qty)
{
	put_number(out, key, qty_known(qty), qty.bytes);
}

void put_count(struct js_out *out, const char *key, struct count count)
{
	put_number(out, key, count.known, count.n);
}

void put_limit(struct js_out *out, const char *key, struct limit limit)
{
	put_number(out, key, limit.kind == LIMIT_SET, limit.bytes);
}

void put_signed(struct js_out *out, const char *key, struct signed_qty qty)
{
	js_out_key(out, key);
	if (qty.known)
		js_out_i64(out, qty.bytes);
	else
		js_out_null(out);
}

void put_text(struct js_out *out, const char *key, const char *text)
{
	js_out_key(out, key);
	if (text && text[0])
		js_out_text(out, text);
	else
		js_out_null(out);
}

void put_owner_names(struct js_out *out, uint64_t owners)
{
	js_out_key(out, "owners");
	js_out_array(out);
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		if (owners >> owner & 1)
			js_out_text(out, owner_table[owner].name);
	js_out_array_end(out);
}

void put_tristate(struct js_out *out, const char *key, enum tristate value)
{
	js_out_key(out, key);
	if (value == TRISTATE_UNREAD)
		js_out_null(out);
	else
		js_out_bool(out, value == TRISTATE_TRUE);
}

void put_context(struct js_out *out, const char *key, const struct engine_context *context)
{
	js_out_key(out, key);
	js_out_object(out);
	put_text(out, "job_state", context->job_state);
	put_tristate(out, "checkpointing", context->checkpointing);
	put_tristate(out, "restoring", context->restoring);
	put_tristate(out, "rebalancing", context->rebalancing);
	put_count(out, "backpressured_bp", context->backpressured_bp);
	put_count(out, "busy_bp", context->busy_bp);
	put_count(out, "records_lag_max", context->records_lag_max);
	put_count(out, "restarts", context->restarts);
	js_out_object_end(out);
}

void put_fact_sizes(struct js_out *out, const struct engine_facts *facts)
{
	put_qty(out, "managed_reserved_bytes", facts->managed_reserved_bytes);
	put_qty(out, "network_bytes", facts->network_bytes);
	put_qty(out, "framework_off_heap_bytes", facts->framework_off_heap_bytes);
	put_qty(out, "task_off_heap_bytes", facts->task_off_heap_bytes);
	put_qty(out, "network_pool_bytes", facts->network_pool_bytes);
}

void put_strings(struct js_out *out, const char *key, const char *first, size_t stride, size_t n)
{
	js_out_key(out, key);
	js_out_array(out);
	for (size_t i = 0; i < n; i++)
		js_out_text(out, first + i * stride);
	js_out_array_end(out);
}

void put_texts(struct js_out *out, const char *key, const char *const *texts, size_t n)
{
	js_out_key(out, key);
	js_out_array(out);
	for (size_t i = 0; i < n; i++)
		js_out_text(out, texts[i]);
	js_out_array_end(out);
}
