/* SPDX-License-Identifier: Apache-2.0 */
/* A metrics page: iterated, mapped for each engine, reduced; what is reduced must say the same. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "data/prom.h"
#include "engine/metricmap.h"

static void map_both(struct str page, const struct buf *reduced, enum engine kind)
{
	struct engine_state whole = { .kind = kind, .flink = { .n_slots = count_of(2) } }, part = whole;
	const char *what = "http/metrics.0";
	struct str text = buf_str(reduced);
	if (metricmap_read(&page, &what, 1, &whole, NULL, NULL) < 0)
		return;
	if (metricmap_read(&text, &what, 1, &part, NULL, NULL) < 0)
		abort();
	/*
	 * Cut or dropped labels may make series collide, never the other way round; the numbers of the rest are
	 * equal.
	 */
	if (whole.gauges.heap_used_bytes.bytes != part.gauges.heap_used_bytes.bytes &&
	    qty_known(whole.gauges.heap_used_bytes) && qty_known(part.gauges.heap_used_bytes))
		abort();
	if (whole.rocksdb.ambiguous && whole.rocksdb.n_stores.known && !part.rocksdb.n_stores.known)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str page = { (const char *)data, size };
	struct prom prom;
	struct prom_sample sample;
	char text[64];
	auto_buf struct buf out = { .cap = 1 << 20 }, again = { .cap = 1 << 20 };
	prom_start(&prom, page);
	while (prom_next(&prom, &sample))
		for (size_t i = 0; i < sample.n_labels; i++)
			(void)prom_unescape(text, sizeof text, sample.labels[i].value);
	metricmap_tm_id(page, (char[128]){ 0 });
	if (metrics_reduce(page, &out, NULL) < 0)
		return 0;
	if (metrics_reduce(buf_str(&out), &again, NULL) < 0 || !str_eq(buf_str(&out), buf_str(&again)))
		abort();
	map_both(page, &out, ENGINE_FLINK_TASKMANAGER);
	map_both(page, &out, ENGINE_KAFKA_STREAMS);
	return 0;
}
