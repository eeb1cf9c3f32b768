/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/metricmap.h"

#include "base/sat.h"
#include "engine/jobs.h"
#include "engine/metrictable.h"

/* FNV-1a over what tells one series of a gauge from another: its name and labels. */
static uint64_t add_hash(uint64_t hash, struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (unsigned char)text.ptr[i]) * 1099511628211u;
	return (hash ^ 0xff) * 1099511628211u;
}

static uint64_t identity_of(const struct prom_sample *sample)
{
	/* Labels may come in any order: their hashes are added, not chained. */
	uint64_t hash = add_hash(14695981039346656037u, sample->name);
	for (size_t i = 0; i < sample->n_labels; i++)
		if (sample->labels[i].value.len)
			hash += add_hash(add_hash(14695981039346656037u, sample->labels[i].name),
					 sample->labels[i].value);
	return hash;
}

/* What one page holds. */
struct page {
	struct gauge_cells gauges;
	struct stores stores[METRIC_SCHEMES];
	struct context_page context;
	uint64_t n_tickers;
	struct count hits, misses;
};

static void page_done(struct page *page)
{
	for (size_t i = 0; i < METRIC_SCHEMES; i++)
		stores_done(&page->stores[i]);
}

/* One Statistics a database, so the sum counts each look-up once. */
static void add_ticker(struct page *page, const struct prom_sample *sample)
{
	struct count *sum = metric_is_ticker_of(sample->name, STR("block_cache_hit"))    ? &page->hits
			    : metric_is_ticker_of(sample->name, STR("block_cache_miss")) ? &page->misses
											 : NULL;
	page->n_tickers++;
	if (sum && sample->is_u64)
		*sum = count_of(sat_add(sum->n, sample->u64));
}

static int read_samples(struct str text, const char *what, struct page *page, struct engine_state *state,
			struct engine_notes *notes, struct err *err)
{
	struct prom prom;
	struct prom_sample sample;
	prom_start(&prom, text);
	while (prom_next(&prom, &sample)) {
		struct metric_use use;
		metric_use(&sample, &use);
		if (use.kind == METRIC_GAUGE) {
			gauges_add(&page->gauges, use.family, use.field, use.sum, identity_of(&sample), sample.is_u64,
				   sample.u64);
		} else if (use.kind == METRIC_STORE) {
			struct store_id id = metric_store_id(&sample, &use);
			int status = stores_add(&page->stores[use.scheme], &id, use.property, sample.is_u64, sample.u64,
						err);
			if (status < 0)
				return status;
		}
		if (use.kind == METRIC_STORE || use.kind == METRIC_CONTEXT)
			jobs_add(state, &sample);
		if (use.kind == METRIC_TICKER)
			add_ticker(page, &sample);
		if (use.kind == METRIC_CONTEXT)
			context_add(&page->context, &sample);
	}
	int status = prom_end(&prom, err);
	if (status == 0 && prom.n_bad)
		engine_note(notes, what, ERR_MALFORMED,
			    "%zu lines are no metrics and were skipped; the first is line %zu: %s", prom.n_bad,
			    prom.first_bad_line, prom.why);
	if (status == 0 && prom.truncated)
		engine_note(notes, what, ERR_MALFORMED, "the page ends inside line %zu: that line was not used",
			    prom.n_lines);
	return status;
}

/* The schemes that this engine may use; the first that has stores is taken, so that nothing counts twice. */
static int claim_page(struct page *page, struct engine_state *state, const char *what, struct engine_notes *notes,
		      struct err *err)
{
	bool flink = state->kind == ENGINE_FLINK_TASKMANAGER;
	for (size_t i = flink ? 0 : 1; i < (flink ? 1 : METRIC_SCHEMES); i++) {
		if (page->stores[i].n == 0)
			continue;
		if (state->rocksdb.n_stores.known) {
			engine_note(notes, what, ERR_UNSUPPORTED,
				    "RocksDB was already read from another page: not added again");
			return 0;
		}
		return stores_claim(&page->stores[i], state, what, notes, err);
	}
	return 0;
}

/*
 * A page without tickers proves nothing: a reporter's filter may have cut them, and so did the reduction of captures
 * from before they were kept.
 */
static void count_tickers(const struct page *page, struct engine_state *state)
{
	struct count *count = &state->rocksdb.n_ticker_series;
	if (state->kind == ENGINE_FLINK_TASKMANAGER && page->n_tickers)
		*count = count_of(count->n + page->n_tickers);
	if (state->kind == ENGINE_FLINK_TASKMANAGER && page->hits.known && page->misses.known) {
		state->rocksdb.cache_hits = count_of(sat_add(state->rocksdb.cache_hits.n, page->hits.n));
		state->rocksdb.cache_misses = count_of(sat_add(state->rocksdb.cache_misses.n, page->misses.n));
	}
}

int metricmap_read(const struct str *pages, const char *const *whats, size_t n_pages, struct engine_state *state,
		   struct engine_notes *notes, struct err *err)
{
	for (size_t i = 0; i < n_pages; i++) {
		auto_(page_done) struct page page = { 0 };
		int status = read_samples(pages[i], whats[i], &page, state, notes, err);
		struct rocksdb_claim before = state->rocksdb;
		if (status == 0)
			status = claim_page(&page, state, whats[i], notes, err);
		/* Of the pages before; a claim starts anew. */
		state->rocksdb.n_ticker_series = before.n_ticker_series;
		state->rocksdb.cache_hits = before.cache_hits;
		state->rocksdb.cache_misses = before.cache_misses;
		state->rocksdb.metadata_hit_bp = before.metadata_hit_bp;
		if (status < 0)
			return status;
		count_tickers(&page, state);
		context_put(&page.context, state);
		(void)gauges_put(&page.gauges, &state->gauges, whats[i], notes);
	}
	return 0;
}

void metricmap_tm_id(struct str page, char ret_id[128])
{
	struct prom prom;
	struct prom_sample sample;
	struct str value;
	bool several = false;
	ret_id[0] = '\0';
	prom_start(&prom, page);
	while (prom_next(&prom, &sample)) {
		char id[128];
		if (!str_starts(sample.name, STR("flink_taskmanager_Status_")) ||
		    !prom_label(&sample, STR("tm_id"), &value))
			continue;
		(void)prom_unescape(id, sizeof id, value);
		several = several || (ret_id[0] && strcmp(id, ret_id) != 0);
		str_copy(ret_id, 128, str_of(id));
	}
	if (several)
		ret_id[0] = '\0';
}
