/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Additions to the maps and lists of a YAML text, and removals from them, in the style that stands there: whole lines in
 * block style, JSON within {} and []. Everything else stays as it is, byte by byte.
 *
 *     graft_begin(g, map, &e, err); emit_word(e, "key", "true"); graft_end(g, err);
 */
#ifndef KUBE_GRAFT_H
#define KUBE_GRAFT_H

#include "data/yml_tree.h"
#include "kube/edits.h"
#include "kube/emit.h"

/* Owned: graft_done(). The tree must outlive it. */
struct graft {
	const struct yml_tree *tree;
	const char *name, *newline;
	unsigned dash; /* how lists of this text stand under their keys: 0 or 2 */
	struct edits edits;
	struct buf piece;
	struct emit e;
	size_t at;
	unsigned depth;
	const char *close; /* what ends the piece, in flow style */
	unsigned char *gone;
	size_t dropped_from, dropped_to; /* the last run of whole lines that go */
};

int graft_start(const struct yml_tree *tree, const char *name, struct graft *ret_graft, struct err *err)
	__attribute__((warn_unused_result));
void graft_done(struct graft *graft);
#define auto_graft auto_(graft_done)

/*
 * `node`: a map, a list, or the empty value of a key that is to become one (`list` says which). USAGE, naming the line,
 * where an alias shares it: the change would be made in two places.
 */
int graft_begin(struct graft *graft, unsigned node, bool list, struct emit **ret_emit, struct err *err)
	__attribute__((warn_unused_result));
int graft_end(struct graft *graft, struct err *err) __attribute__((warn_unused_result));

/* USAGE where an alias shares the node. */
int graft_check(const struct graft *graft, unsigned node, struct err *err) __attribute__((warn_unused_result));

/* An item of a list, or a key with its value, is to go. */
void graft_drop_item(struct graft *graft, unsigned item);
void graft_drop_key(struct graft *graft, unsigned key);
/* All that stands in it is to go. */
bool graft_is_bare(const struct graft *graft, unsigned node);
/* Turn what is to go into edits; a collection that loses all it has becomes [] or {}. */
int graft_drop(struct graft *graft, struct err *err) __attribute__((warn_unused_result));

#endif
