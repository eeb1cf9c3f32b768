/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report_read.h"

#include "wire/put.h"

void report_read_host(struct js_out *out, const struct snapshot *s)
{
	js_out_key(out, "host");
	js_out_object(out);
	put_qty(out, "memory_bytes", s->host_memory_bytes);
	put_qty(out, "available_bytes", s->host_available_bytes);
	put_qty(out, "swap_free_bytes", s->host_swap_free_bytes);
	js_out_key(out, "thp");
	js_out_text(out, s->thp == THP_UNREAD ? NULL : thp_mode_names[s->thp]);
	js_out_object_end(out);
}

void report_read_tmpfs(struct js_out *out, const struct snapshot *s)
{
	js_out_key(out, "tmpfs");
	if (!s->tmpfs_read) {
		js_out_null(out);
		return;
	}
	js_out_array(out);
	for (size_t i = 0; i < s->n_tmpfs; i++) {
		const struct tmpfs_mount *mount = &s->tmpfs[i];
		js_out_object(out);
		js_out_key(out, "path");
		js_out_text(out, mount->path);
		put_qty(out, "used_bytes", mount->used_bytes);
		put_limit(out, "size_bytes", mount->size);
		js_out_object_end(out);
	}
	js_out_array_end(out);
}

static void put_rocksdb(struct js_out *out, const struct rocksdb_claim *claim)
{
	js_out_key(out, "rocksdb");
	js_out_object(out);
	put_count(out, "stores", claim->n_stores);
	put_count(out, "flush_pending", claim->n_flush_pending);
	put_count(out, "write_stopped", claim->n_write_stopped);
	put_count(out, "write_delayed", claim->n_write_delayed);
	put_count(out, "immutable_memtables", claim->n_immutable);
	put_count(out, "open_iterators", claim->n_open_iterators);
	put_count(out, "ticker_series", claim->n_ticker_series);
	js_out_object_end(out);
}

void report_read_engine(struct js_out *out, const struct snapshot *s)
{
	const struct engine_state *engine = &s->engine;
	js_out_key(out, "engine");
	js_out_object(out);
	put_qty(out, "write_buffer_bytes", engine->write_buffer_bytes);
	put_tristate(out, "tickers", engine->tickers);
	put_tristate(out, "manual_compaction", engine->manual_compaction);
	put_tristate(out, "batch", engine->batch);
	put_tristate(out, "python", engine->python);
	const struct engine_facts facts = engine_facts(engine);
	put_fact_sizes(out, &facts);
	put_rocksdb(out, &engine->rocksdb);
	js_out_key(out, "streams");
	js_out_object(out);
	put_count(out, "instances", engine->streams.n_instances);
	put_count(out, "key_value_stores", engine->streams.n_kv);
	put_count(out, "window_stores", engine->streams.n_window);
	put_count(out, "session_stores", engine->streams.n_session);
	js_out_object_end(out);
	js_out_object_end(out);
}
