/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flink's configuration file: conf/config.yaml (2.x, and 1.20 where there is no flink-conf.yaml) and the legacy
 * flink-conf.yaml (1.20: one `key: value` a line, split at the first ": ", cut at '#', bad lines skipped, the last
 * duplicate wins). Keys that Flink 2.0 renamed are given under their new name.
 *
 * Also the one table of Flink keys whose values may be kept: whatever else stands in a configuration (addresses,
 * paths, tokens) becomes "<redacted>" before anything is stored. A kept value must look like a size, a number, a
 * switch or a class name too.
 */
#ifndef ENGINE_FLINKCONF_H
#define ENGINE_FLINKCONF_H

#include "base/buf.h"
#include "base/err.h"

enum flinkconf_format { FLINKCONF_YAML = 0, FLINKCONF_LEGACY };

struct flinkconf_entry {
	struct str key;   /* the current name */
	struct str said;  /* the name as written */
	struct str value; /* without blanks at its ends */
	struct str raw;   /* with them */
	unsigned line;    /* 0: a source without lines */
	bool redacted;    /* the value was taken out: it is set, to what is not known */
	bool plain;       /* YAML, without quotes: Flink takes what looks like a number for one */
	bool empty;       /* YAML, no value: Flink does not start with such a file; flinkconf_find() does not see it */
};

struct flinkconf {
	struct flinkconf_entry *items; /* owned: flinkconf_done() */
	size_t n;
	char *arena;
	char name[64];                 /* of the file, for "config.yaml:12" */
	unsigned n_bad_lines;          /* legacy format: what Flink itself warns of and skips */
	const struct flinkconf *below; /* looked into for what is not here: borrowed; NULL: nothing */
};

/* By the base name of its path: "flink-conf.yaml" is legacy. */
enum flinkconf_format flinkconf_format_of(struct str path);

int flinkconf_parse(struct str text, enum flinkconf_format format, const char *name, struct flinkconf *ret_conf,
		    struct err *err) __attribute__((warn_unused_result));
void flinkconf_done(struct flinkconf *conf);
#define auto_flinkconf auto_(flinkconf_done)

/*
 * The entry in force, or NULL: the last one under the current name of that key, else the last under an older one, as
 * Configuration looks keys up. `conf` may be NULL. A redacted one is returned: look at the flag. `ret_where` (may be
 * NULL): "config.yaml:12".
 */
const struct flinkconf_entry *flinkconf_find(const struct flinkconf *conf, const char *key, char ret_where[64]);

/* The current name of a key, itself if it was never renamed. */
struct str flinkconf_current_key(struct str key);

/* May the value of this key be kept, and does this value look like one that may? */
bool flinkconf_is_public(struct str key, struct str value);

/* As it may be shown: the value or FLINKCONF_REDACTED. False: the key itself may not. */
bool flinkconf_shown(struct str key, struct str value, struct str *ret_value);

/*
 * The text with every value that may not be kept replaced, comments and unreadable lines emptied, each key on the
 * line it had; of a YAML key with two spellings the one that Flink takes. It parses again with the same format. A YAML file that does not parse is an error: nothing of it
 * may be kept.
 */
int flinkconf_redact(struct str text, enum flinkconf_format format, const char *name, struct buf *ret_text,
		     struct err *err) __attribute__((warn_unused_result));

#define FLINKCONF_REDACTED "<redacted>"

#endif
