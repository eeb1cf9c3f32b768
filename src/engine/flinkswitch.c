/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/flinkswitch.h"

#include <stdio.h>

#include "base/units.h"
#include "engine/args.h"
#include "engine/flinkbudget.h"

/* RocksDBConfigurableOptions.WRITE_BUFFER_SIZE of Flink 1.20 to 2.3, ForSt's alike. */
enum { WRITE_BUFFER_DEFAULT = 64 << 20 };

/* RocksDBNativeMetricOptions: each of these makes Flink attach a Statistics object to every database. */
static const char *const ticker_options[] = {
	"block-cache-hit",
	"block-cache-miss",
	"bloom-filter-useful",
	"bloom-filter-full-positive",
	"bloom-filter-full-true-positive",
	"bytes-read",
	"iter-bytes-read",
	"bytes-written",
	"compaction-read-bytes",
	"compaction-write-bytes",
	"stall-micros",
};

struct lookup {
	struct str cmdline;
	const struct flinkconf *conf;
	struct engine_notes *notes;
};

enum answer { ANSWER_ABSENT = 0, ANSWER_HIDDEN, ANSWER_SET };

static enum answer look_up(const struct lookup *look, const char *key, struct str *ret_value, char ret_where[64])
{
	if (flink_option(look->cmdline, look->conf, key, ret_value, ret_where))
		return ANSWER_SET;
	return flink_option_is_hidden(look->cmdline, look->conf, key) ? ANSWER_HIDDEN : ANSWER_ABSENT;
}

/* What the absence of an option says. */
static enum tristate absent(const struct lookup *look)
{
	return look->conf ? TRISTATE_FALSE : TRISTATE_UNREAD;
}

static void bad_value(const struct lookup *look, const char *key, struct str value, const char *where, const char *want)
{
	char shown[40];
	str_copy(shown, sizeof shown, value);
	engine_note(look->notes, "engine/settings", ERR_MALFORMED, "%s (%s): '%s' is no %s", key, where, shown, want);
}

static struct qty write_buffer(const struct lookup *look, const char *key)
{
	struct str value;
	char where[64];
	uint64_t bytes;
	switch (look_up(look, key, &value, where)) {
	case ANSWER_ABSENT:
		return look->conf ? qty_of(WRITE_BUFFER_DEFAULT, QTY_INFERRED) : (struct qty){ 0 };
	case ANSWER_HIDDEN:
		return (struct qty){ 0 };
	case ANSWER_SET:
		break;
	}
	engine_setting(look->notes, str_of(key), value, where);
	if (units_parse_flink(value, &bytes) && bytes <= INT64_MAX)
		return qty_measured(bytes);
	bad_value(look, key, value, where, "size");
	return (struct qty){ 0 };
}

static bool is_true(struct str value)
{
	return str_eq(value, STR("true")) || str_eq(value, STR("TRUE")) || str_eq(value, STR("True"));
}

static enum tristate tickers(const struct lookup *look, const char *backend)
{
	enum tristate answer = absent(look);
	for (size_t i = 0; i < sizeof ticker_options / sizeof *ticker_options; i++) {
		char key[112], where[64];
		struct str value;
		(void)snprintf(key, sizeof key, "state.backend.%s.metrics.%s", backend, ticker_options[i]);
		enum answer found = look_up(look, key, &value, where);
		if (found == ANSWER_SET && is_true(value)) {
			engine_setting(look->notes, str_of(key), value, where);
			answer = TRISTATE_TRUE;
		} else if (found == ANSWER_HIDDEN && answer != TRISTATE_TRUE) {
			answer = TRISTATE_UNREAD;
		}
	}
	return answer;
}

/* "0", "0 ms", "10min": a duration of Flink's TimeUtils is a whole number and a unit. */
static enum tristate manual_compaction(const struct lookup *look)
{
	static const char key[] = "state.backend.rocksdb.manual-compaction.min-interval";
	struct str value;
	char where[64];
	uint64_t number;
	enum answer found = look_up(look, key, &value, where);
	if (found == ANSWER_ABSENT)
		return absent(look);
	if (found == ANSWER_HIDDEN)
		return TRISTATE_UNREAD;
	engine_setting(look->notes, STR("state.backend.rocksdb.manual-compaction.min-interval"), value, where);
	if (str_u64(&value, &number))
		return number ? TRISTATE_TRUE : TRISTATE_FALSE;
	bad_value(look, key, value, where, "duration");
	return TRISTATE_UNREAD;
}

static bool same_word(struct str value, const char *word)
{
	struct str want = str_of(word);
	if (value.len != want.len)
		return false;
	for (size_t i = 0; i < value.len; i++)
		if ((value.ptr[i] & ~0x20) != want.ptr[i])
			return false;
	return true;
}

static enum tristate batch(const struct lookup *look)
{
	static const char key[] = "execution.runtime-mode";
	struct str value;
	char where[64];
	enum answer found = look_up(look, key, &value, where);
	if (found != ANSWER_SET)
		return found == ANSWER_ABSENT ? absent(look) : TRISTATE_UNREAD;
	engine_setting(look->notes, STR("execution.runtime-mode"), value, where);
	if (same_word(value, "BATCH"))
		return TRISTATE_TRUE;
	/* AUTOMATIC: each job's sources decide. */
	return same_word(value, "STREAMING") ? TRISTATE_FALSE : TRISTATE_UNREAD;
}

/*
 * PyFlink shows by its jar on the class path, by its options, and in thread mode by Python itself in the JVM (pemja).
 */
static bool shows_python(const struct lookup *look, struct str mapped)
{
	struct str rest = look->cmdline, argument;
	while (args_next(&rest, &argument)) {
		(void)str_take(&argument, STR("-D"));
		if (str_starts(argument, STR("python.")) || str_has(argument, STR("flink-python")) ||
		    str_has(argument, STR("pyflink")))
			return true;
	}
	if (str_has(mapped, STR("flink-python")) || str_has(mapped, STR("/libpython")) || str_has(mapped, STR("pemja")))
		return true;
	for (const struct flinkconf *conf = look->conf; conf; conf = conf->below)
		for (size_t i = 0; i < conf->n; i++)
			if (!conf->items[i].empty && str_starts(conf->items[i].key, STR("python.")))
				return true;
	return false;
}

void flink_switches_read(struct str cmdline, struct str mapped, const struct flinkconf *conf,
			 struct engine_state *state, struct engine_notes *notes)
{
	const struct lookup look = { cmdline, conf, notes };
	bool forst = state->backend == BACKEND_FORST;
	state->write_buffer_bytes = write_buffer(&look, forst ? "state.backend.forst.writebuffer.size"
							      : "state.backend.rocksdb.writebuffer.size");
	state->manual_compaction = manual_compaction(&look);
	state->batch = batch(&look);
	state->python = shows_python(&look, mapped) ? TRISTATE_TRUE : absent(&look);
	state->tickers = tickers(&look, forst ? "forst" : "rocksdb");
}
