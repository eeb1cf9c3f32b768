/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a size of Kafka Streams: a limit, a flag, or a config setter that compiles. */
#include <stdio.h>

#include "base/units.h"
#include "plan/resize_parts.h"
#include "plan/streams_size_parts.h"

enum { MIB = 1 << 20 };

static struct streams_step *step_new(struct streams_size *size, const char *verb, const char *what,
				     const struct resize_row *row)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	struct streams_step *step = &size->steps[size->n_steps++];
	*step = (struct streams_step){ .title = "" };
	(void)snprintf(step->title, sizeof step->title, "%s %s from %s to %s", verb, what,
		       units_format(a, row->set_bytes), units_format(b, row->proposed_bytes));
	return step;
}

static void watch(struct streams_step *step, const char *steady, const char *restore)
{
	str_copy(step->steady, sizeof step->steady, str_of(steady));
	str_copy(step->restore, sizeof step->restore, str_of(restore));
}

static void put_limit_step(struct streams_size *size, const char *verb)
{
	const struct resize_row *row = &size->rows[STREAMS_SIZE_LIMIT];
	struct streams_step *step = step_new(size, verb, "the container's limit", row);
	(void)snprintf(step->fragment, sizeof step->fragment, "resources:\n  limits:\n    memory: %lluMi\n",
		       (unsigned long long)(row->proposed_bytes / MIB));
	watch(step, "freeboard in `bankfull report` stays positive through a full day's peak",
	      "the same on the fullest pod while another one is down and its tasks are restored");
}

static void put_heap_step(struct streams_size *size, const char *verb)
{
	const struct resize_row *row = &size->rows[STREAMS_SIZE_HEAP];
	struct streams_step *step = step_new(size, verb, "the heap", row);
	char bytes[RESIZE_SIZE_CAP];
	(void)snprintf(step->fragment, sizeof step->fragment, "-Xmx%s\n", resize_size_text(bytes, row->proposed_bytes));
	watch(step, "time in collections stays as it was, and the heap after a full one stays below two thirds",
	      "no OutOfMemoryError: Java heap space while the application catches up on an hour of records");
}

/*
 * As Kafka's own page on memory management has it: static, since Kafka Streams makes a setter for each store, and never
 * closed, since others still hold it. What a store had before is closed by RocksDBStore itself.
 */
static void put_setter_step(struct streams_size *size)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	struct streams_step *step = step_new(size, "lower", "RocksDB's cache", &size->rows[STREAMS_SIZE_CACHE]);
	if (size->by_default)
		(void)snprintf(step->title, sizeof step->title,
			       "bound all stores to one cache of %s, with %s of memtables within",
			       units_format(a, size->cache_bytes), units_format(b, size->manager_bytes));
	(void)snprintf(step->fragment, sizeof step->fragment,
		       "# rocksdb.config.setter=BoundedMemory\n"
		       "import java.util.Map;\n"
		       "import org.apache.kafka.streams.state.RocksDBConfigSetter;\n"
		       "import org.rocksdb.*;\n"
		       "public class BoundedMemory implements RocksDBConfigSetter {\n"
		       "    static { RocksDB.loadLibrary(); }\n"
		       "    private static final Cache CACHE = new LRUCache(%lluL << 20, -1, false, 0.1);\n"
		       "    private static final WriteBufferManager MEMTABLES =\n"
		       "        new WriteBufferManager(%lluL << 20, CACHE);\n"
		       "    @Override\n"
		       "    public void setConfig(String store, Options options, Map<String, Object> configs) {\n"
		       "        BlockBasedTableConfig table = (BlockBasedTableConfig) options.tableFormatConfig();\n"
		       "        table.setBlockCache(CACHE);\n"
		       "        table.setCacheIndexAndFilterBlocks(true);\n"
		       "        table.setCacheIndexAndFilterBlocksWithHighPriority(true);\n"
		       "        options.setTableFormatConfig(table);\n"
		       "        options.setWriteBufferManager(MEMTABLES);\n"
		       "        options.setWriteBufferSize(%lluL << 20);\n"
		       "    }\n"
		       "    @Override\n"
		       "    public void close(String store, Options options) { }\n"
		       "}\n",
		       (unsigned long long)(size->cache_bytes / MIB), (unsigned long long)(size->manager_bytes / MIB),
		       (unsigned long long)(size->buffer_bytes / MIB));
	watch(step,
	      "rocksdb-block-cache in `bankfull report` stays at its target, and neither process-latency nor write-stall-duration rises",
	      "the fullest pod restores the tasks of a lost one in the time that it took before");
}

void streams_size_steps(struct streams_size *size)
{
	const struct resize_row *heap = &size->rows[STREAMS_SIZE_HEAP], *limit = &size->rows[STREAMS_SIZE_LIMIT];
	bool more = limit->proposed_bytes > limit->set_bytes;
	if (more)
		put_limit_step(size, "raise");
	if (heap->proposed_bytes > heap->set_bytes)
		put_heap_step(size, "raise");
	/* By default the stores may pass the limit: to bound them is no economy. */
	size->raises = size->n_steps > 0 || (size->by_default && size->cache_bytes && limit->set_known);
	if (size->cache_bytes)
		put_setter_step(size);
	if (heap->proposed_bytes < heap->set_bytes)
		put_heap_step(size, "lower");
	if (!more && limit->proposed_bytes < limit->set_bytes)
		put_limit_step(size, "lower");
}
