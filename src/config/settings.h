/* SPDX-License-Identifier: Apache-2.0 */
/* A table of settings: how flags, environment and file fill a structure. Internal to src/config and its two tables. */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include <stddef.h>

#include "bankfull/quantity.h"
#include "base/buf.h"
#include "base/err.h"
#include "data/yml.h"

enum setting_kind {
	SETTING_SWITCH,  /* bool */
	SETTING_TEXT,    /* const char * */
	SETTING_FILE,    /* const char *: a path */
	SETTING_SIZE,    /* uint64_t bytes */
	SETTING_LIMIT,   /* struct limit */
	SETTING_TIME,    /* uint64_t milliseconds; "5s", "250ms", "2m", "48h", "30d" */
	SETTING_SECONDS, /* the same as uint64_t seconds */
	SETTING_COUNT,   /* uint64_t */
	SETTING_SHARE,   /* uint64_t basis points: "0.2%" */
	SETTING_PID,     /* int */
	SETTING_URL,     /* http, https */
	SETTING_WS_URL,  /* ws, wss */
	SETTING_URLS,    /* const char *[], its count at `count_offset` */
	SETTING_LISTEN,  /* ADDRESS:PORT or "off" */
	SETTING_NAME,    /* char[cap] in the structure */
	SETTING_LABELS,  /* struct wire_label[cap]: "KEY=VALUE,KEY=VALUE"; its count at `count_offset` */
	SETTING_REFUSED, /* no setting: `help` says why, and what to use instead */
};

enum { SETTING_BY_FLAG = 1 << 0, SETTING_BY_ENV = 1 << 1, SETTING_BY_FILE = 1 << 2 };

struct setting_info {
	const char *name, *argument, *help; /* name: the flag's and the file's; the variable is BANKFULL_NAME */
	unsigned by;
	enum setting_kind kind;
	size_t offset;
	uint64_t least, most; /* of numbers; 0, 0: any */
	size_t cap;           /* of names and lists: most bytes, or items */
	size_t count_offset;  /* of lists */
};

enum { SETTINGS_MAX_IN_TABLE = 64 };

/* Where a setting was said last. */
enum setting_origin { ORIGIN_DEFAULT = 0, ORIGIN_FILE, ORIGIN_VARIABLE, ORIGIN_FLAG, ORIGIN_COUNT };

/* Kept beside the settings: the strings of the file, which all that was taken from it points into; and who said what. */
struct settings_text {
	struct buf file;
	unsigned char origin[SETTINGS_MAX_IN_TABLE]; /* enum setting_origin, in the order of the table */
};
void settings_text_done(struct settings_text *text);

struct settings_source {
	const struct setting_info *table;
	size_t n;
	bool (*foreign)(struct str key); /* keys of the file that belong to somebody else: "rules", "silences" */
	const char *const *sections;     /* the names of those, for messages; ends with NULL */
};

/*
 * Flags of argv[1..] over variables over the file that --config or BANKFULL_CONFIG names, into `target`. Variables that
 * begin with BANKFULL_ and are none of ours are left alone: Kubernetes makes some for every Service it finds.
 * `*ret_yml` is the whole file, for its sections; empty without one. "--help" sets `*ret_help` and ends the reading.
 */
int settings_load(const struct settings_source *source, int argc, char **argv, char *const environment[], void *target,
		  struct settings_text *text, struct yml *ret_yml, bool *ret_help, struct err *err)
	__attribute__((warn_unused_result));
void settings_help(const struct settings_source *source, struct buf *out);
/* A line for each setting that somebody said: name, value, by what. */
void settings_show(const struct settings_source *source, const void *target, const struct settings_text *text,
		   struct buf *out);

#endif
