/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points of one agent's series as few bytes: what the store keeps of samples. PURE.
 *
 *     blob     version u8 (1) · kind u8 · owners u8 · groups u8 · point...
 *     point    flags u8 · [states] · [seq] · [n] · received · wall · changed · value...
 *     flags    1 states follow (else those of the point before) · 2 it has a composition · 4 seq follows (else one
 *              more than before) · 8 n_samples follows (else as before; 1 in a series of samples) · 16 there is no limit,
 *              and its state is 0: a limit without this is unread
 *     states   two bits a field, lowest first, padded to bytes: 0 unread, 1 measured, 2 derived, 3 inferred; of
 *              freeboards 0 unread, 1 known
 *     seq, received, wall   zigzag varints: what differs from the expected. `received` is expected to go on at the pace
 *              of the point before, `wall` to go with `received`
 *     changed  one bit a field that is known, in the order below; only those that differ from the expected have a value
 *     value    the difference: zigzag, in pages of 4096 bytes if the lowest bit of the first byte is set, else in bytes;
 *              six bits in the first byte, then varint
 *
 * Fields: the owners (where the point has a composition), the groups, charge, limit, floor, freeboard; in a series of
 * minutes also the highest charge and floor and the lowest freeboard. What is expected of a field follows from those
 * before it (pack.c: expected()), so that what is a sum of others costs one bit. Differences are modulo 2^64: nothing
 * overflows and any number comes back as it was. A field that is unread comes back as 0.
 *
 * An owner's or group's place on disk is its number in the enum: new ones are appended, or the version goes up.
 */
#ifndef COLLECTOR_PACK_H
#define COLLECTOR_PACK_H

#include "base/buf.h"
#include "collector/store_read.h"

enum pack_kind { PACK_SAMPLES = 1, PACK_MINUTES = 2 };

enum {
	PACK_VERSION = 1,
	PACK_POINTS_MAX = 4096, /* of one blob; the store makes them smaller */
	PACK_FIELD_COUNT = OWNER_COUNT + GROUP_COUNT + 7,
	PACK_POINT_MAX = 512 + PACK_FIELD_COUNT * 11, /* most bytes of one point */
	PACK_CAP = 4 + PACK_POINTS_MAX * PACK_POINT_MAX,
};

/* A point and the number it has in its epoch: of a minute, the highest of its samples. */
struct pack_point {
	uint64_t seq;
	struct store_point point;
};

/* What the next point is told by. */
struct pack_state {
	enum pack_kind kind;
	unsigned n_owners, n_groups;
	size_t n; /* points so far */
	uint64_t seq, received, pace, wall, n_samples;
	uint64_t values[PACK_FIELD_COUNT];
	uint8_t states[PACK_FIELD_COUNT];
};

struct pack {
	struct buf bytes;
	struct pack_state state;
};

void pack_done(struct pack *pack);
#define auto_pack auto_(pack_done)

/* Begins a blob in `pack`, which is {0} or was used before. */
void pack_start(struct pack *pack, enum pack_kind kind);
/* False: no memory, or PACK_POINTS_MAX are in. */
bool pack_add(struct pack *pack, const struct pack_point *point);

struct pack_reader {
	struct str rest;
	struct pack_state state;
};

/* MALFORMED: a version or kind that is none, or more owners or groups than there are. Borrows `blob`. */
int pack_open(struct str blob, struct pack_reader *ret_reader, struct err *err) __attribute__((warn_unused_result));
/* The next point; `*ret_more` false: there was none. */
int pack_next(struct pack_reader *reader, struct pack_point *ret_point, bool *ret_more, struct err *err)
	__attribute__((warn_unused_result));

#endif
