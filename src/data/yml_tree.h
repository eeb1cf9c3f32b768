/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML as a tree whose nodes know where they stand in the text: for whoever edits a file of somebody else's and leaves
 * alone what is not his. Nothing is interpreted: scalars are their text, an alias is an alias, `<<` is a key like any
 * other (yml_tree_merged() follows it). Several documents, JSON, flow style, anchors, tags and CR LF are all accepted;
 * refused, each with "name:line: ", is what libyaml finds wrong, a key said twice in one mapping (Kubernetes reads one
 * of the two), keys that are no scalars, an alias without its anchor, a lone CR as a line's end, and what passes the caps.
 */
#ifndef DATA_YML_TREE_H
#define DATA_YML_TREE_H

#include "base/auto.h"
#include "base/err.h"
#include "base/str.h"

/* A rendered chart of 200 workloads is 1 MiB. libyaml slows down by the square of some nestings: hence the depth. */
enum {
	YML_TREE_TEXT_MAX = 8 * 1024 * 1024,
	YML_TREE_NODES_MAX = 400000,
	YML_TREE_DEPTH = 48,
	YML_TREE_ANCHORS_MAX = 1000
};

enum yml_kind { YML_SCALAR, YML_LIST, YML_MAP, YML_ALIAS };

/* Nodes are numbered in the order of the text; 0 is none. */
struct yml_node {
	enum yml_kind kind;
	bool flow;  /* a collection in {} or [] */
	bool plain; /* a scalar without quotes, no block */
	bool block; /* a scalar of | or > */
	bool used;  /* its anchor is referred to */
	/*
	 * Bytes of the text, its anchor and tag with it; a collection in block style ends with its last child, an empty
	 * plain scalar has no length and stands behind the colon or dash.
	 */
	size_t start, end;
	unsigned line, column;           /* of the start; line 1 and column 0 are the first */
	unsigned parent, first, next, n; /* children of a map: key, value, key, value; n: all of them */
	unsigned last;
	unsigned target;  /* of an alias */
	struct str value; /* of a scalar, unescaped */
};

/* Owned: yml_tree_done(). The text is the caller's and must outlive it. */
struct yml_tree {
	struct str text;
	struct yml_node *nodes;
	unsigned n;
	unsigned *documents; /* their root nodes; empty ones are not listed */
	unsigned n_documents;
	char *arena;
};

int yml_tree_parse(struct str text, const char *name, struct yml_tree *ret_tree, struct err *err)
	__attribute__((warn_unused_result));
void yml_tree_done(struct yml_tree *tree);
#define auto_yml_tree auto_(yml_tree_done)

static inline const struct yml_node *yml_at(const struct yml_tree *tree, unsigned node)
{
	return &tree->nodes[node];
}

/* The node itself, or what an alias stands for. */
unsigned yml_follow(const struct yml_tree *tree, unsigned node);

/* The value of this key of a map; the node of the key in `*ret_key` unless NULL. 0: no map, or no such key in it. */
unsigned yml_get(const struct yml_tree *tree, unsigned map, const char *key, unsigned *ret_key);
/* The same, also where a merge key (<<) brings it. */
unsigned yml_tree_merged(const struct yml_tree *tree, unsigned map, const char *key);

/* A scalar's text; "" for anything else, and for 0. */
struct str yml_text(const struct yml_tree *tree, unsigned node);

/* Nothing was written: an empty plain scalar, `~` or `null`. 0 is empty, too. */
bool yml_is_null(const struct yml_tree *tree, unsigned node);

#endif
