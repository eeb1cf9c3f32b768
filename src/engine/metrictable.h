/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of metric names and labels: which sample is what. One place, used by the map and by the reduction
 * alike.
 */
#ifndef ENGINE_METRICTABLE_H
#define ENGINE_METRICTABLE_H

#include "data/prom.h"
#include "engine/context.h"
#include "engine/gauges.h"
#include "engine/stores.h"

/* What a sample is to us. */
struct metric_use {
	enum { METRIC_UNUSED = 0, METRIC_GAUGE, METRIC_STORE, METRIC_TICKER, METRIC_CONTEXT } kind;
	enum gauge_family family;
	enum gauge_field field;
	bool sum;
	unsigned scheme; /* of stores: naming schemes are never added to each other */
	enum rocksdb_property property;
	struct str state; /* Flink: the state's name out of the metric's; else empty */
};

enum { METRIC_SCHEMES = 4 }; /* Flink, and three of Kafka Streams */

void metric_use(const struct prom_sample *sample, struct metric_use *ret_use);

/* "rocksdb_<ticker>" of Flink's RocksDB: what only a Statistics object counts, one for each database. */
bool metric_is_ticker(struct str name);

/* A ticker of this name, in lower case: "block_cache_hit". */
bool metric_is_ticker_of(struct str name, struct str ticker);

/* Does any table use this name, whatever its labels? */
bool metric_name_is_used(struct str name);

/* May this label leave the reader? */
bool metric_label_is_kept(struct str name);

/* Identity of a store by the sample's labels. Raw values: equal text is an equal value. */
struct store_id metric_store_id(const struct prom_sample *sample, const struct metric_use *use);

#endif
