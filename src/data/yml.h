/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict subset of YAML as a flat list of dotted keys. yml.c is the one owner of libyaml.
 *
 * `a: {b: 1}` and `a.b: 1` both give the key "a.b"; items of a sequence get "key[0]", "key[1]". Every scalar is a
 * string, as written: `no` is "no", `010` is "010". An empty value (`key:`) is "" with `empty` set, and so are {}
 * and [].
 *
 * Refused, each with "name:line: ": anchors, aliases and tags; a key said twice, in one mapping or by two
 * spellings; keys that are no scalars; a NUL in a scalar; more than LIMIT_YAML_DEPTH levels; text past
 * LIMIT_CONFIG_FILE; a second document; a top level that is no mapping; tabs as indentation; anything libyaml
 * finds wrong. An empty document is an empty list.
 */
#ifndef DATA_YML_H
#define DATA_YML_H

#include "base/auto.h"
#include "base/err.h"
#include "base/str.h"

enum { YML_KEY_MAX = 512, YML_ARENA_MAX = 2 * 1024 * 1024 };

struct yml_entry {
	struct str key; /* never empty, no NUL */
	struct str value;
	unsigned line; /* of the value's key; 1 is the first */
	bool empty;    /* nothing was written, or an empty collection */
	bool plain;    /* written without quotes: what YAML may take for a number, a switch or null */
};

/* Entries in the order of the file. Owned: yml_done(). */
struct yml {
	struct yml_entry *items;
	size_t n;
	char *arena;
};

/* `name` goes before each message: "config.yaml". */
int yml_parse(struct str text, const char *name, struct yml *ret_yml, struct err *err)
	__attribute__((warn_unused_result));
/*
 * The same, but a key of two spellings stands twice in the list, in the order of the file: for a file whose own reader
 * takes the last of them.
 */
int yml_parse_spellings(struct str text, const char *name, struct yml *ret_yml, struct err *err)
	__attribute__((warn_unused_result));
void yml_done(struct yml *yml);
#define auto_yml auto_(yml_done)

#endif
