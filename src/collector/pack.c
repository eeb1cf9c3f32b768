/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/pack.h"

enum { FLAG_STATES = 1, FLAG_COMPOSITION = 2, FLAG_SEQ = 4, FLAG_COUNT = 8, FLAG_NO_LIMIT = 16, FLAGS_KNOWN = 31 };
enum { PAGE_BITS = 12, PAGE_MASK = (1 << PAGE_BITS) - 1 };

/* The fields, in the order in which they are written. */
enum {
	F_OWNER = 0,
	F_GROUP = F_OWNER + OWNER_COUNT,
	F_CHARGE = F_GROUP + GROUP_COUNT,
	F_LIMIT,
	F_FLOOR,
	F_FREEBOARD,
	F_CHARGE_MAX,
	F_FLOOR_MAX,
	F_FREEBOARD_MIN,
	F_COUNT
};
_Static_assert((int)F_COUNT == (int)PACK_FIELD_COUNT, "a field was added: raise PACK_FIELD_COUNT");

/* --- a point as one row of numbers ------------------------------------------------------------ */

struct row {
	uint64_t values[F_COUNT];
	uint8_t states[F_COUNT];
};

static void put_qty(struct row *row, int field, struct qty q)
{
	row->values[field] = q.bytes;
	row->states[field] = (uint8_t)q.state;
}

static void put_signed(struct row *row, int field, struct signed_qty q)
{
	row->values[field] = (uint64_t)q.bytes;
	row->states[field] = q.known;
}

static struct qty get_qty(const struct row *row, int field)
{
	if (row->states[field] == QTY_UNREAD)
		return (struct qty){ 0 };
	return qty_of(row->values[field], (enum qty_state)row->states[field]);
}

static struct signed_qty get_signed(const struct row *row, int field)
{
	if (!row->states[field])
		return (struct signed_qty){ 0 };
	return (struct signed_qty){ (int64_t)row->values[field], true };
}

static void row_of_point(const struct store_point *point, struct row *row)
{
	for (int i = 0; i < OWNER_COUNT; i++)
		put_qty(row, F_OWNER + i, point->owners[i]);
	for (int i = 0; i < GROUP_COUNT; i++)
		put_qty(row, F_GROUP + i, point->groups[i]);
	put_qty(row, F_CHARGE, point->charge_bytes);
	put_qty(row, F_FLOOR, point->floor_bytes);
	put_qty(row, F_CHARGE_MAX, point->charge_max_bytes);
	put_qty(row, F_FLOOR_MAX, point->floor_max_bytes);
	put_signed(row, F_FREEBOARD, point->freeboard_bytes);
	put_signed(row, F_FREEBOARD_MIN, point->freeboard_min_bytes);
	put_qty(row, F_LIMIT, point->no_limit ? (struct qty){ 0 } : point->limit_bytes);
}

static void point_of_row(const struct row *row, enum pack_kind kind, uint8_t flags, struct store_point *point)
{
	bool has_composition = flags & FLAG_COMPOSITION;
	*point = (struct store_point){ .has_composition = has_composition, .no_limit = flags & FLAG_NO_LIMIT };
	for (int i = 0; has_composition && i < OWNER_COUNT; i++)
		point->owners[i] = get_qty(row, F_OWNER + i);
	for (int i = 0; i < GROUP_COUNT; i++)
		point->groups[i] = get_qty(row, F_GROUP + i);
	bool minutes = kind == PACK_MINUTES;
	point->charge_bytes = get_qty(row, F_CHARGE);
	point->charge_max_bytes = get_qty(row, minutes ? F_CHARGE_MAX : F_CHARGE);
	point->floor_bytes = get_qty(row, F_FLOOR);
	point->floor_max_bytes = get_qty(row, minutes ? F_FLOOR_MAX : F_FLOOR);
	point->freeboard_bytes = get_signed(row, F_FREEBOARD);
	point->freeboard_min_bytes = get_signed(row, minutes ? F_FREEBOARD_MIN : F_FREEBOARD);
	point->limit_bytes = get_qty(row, F_LIMIT);
}

/* Whether blobs of this shape have the field at all. */
static bool in_shape(const struct pack_state *state, int field)
{
	if (field < F_GROUP)
		return (unsigned)field < state->n_owners;
	if (field < F_CHARGE)
		return (unsigned)(field - F_GROUP) < state->n_groups;
	return field <= F_FREEBOARD || state->kind == PACK_MINUTES;
}

static bool is_coded(const struct pack_state *state, const struct row *row, int field, bool has_composition)
{
	if (!in_shape(state, field) || row->states[field] == 0)
		return false;
	return field >= F_GROUP || has_composition;
}

/*
 * The value that `field` would have if nothing unusual happened, from the point before and from the fields of this one
 * that come before it: a group grows by what its owners grew, the charge by what the groups did, freeboard is limit
 * less floor.
 */
static uint64_t expected(const struct pack_state *before, const struct row *now, int field)
{
	const uint64_t *then = before->values, *here = now->values;
	uint64_t value = then[field];
	if (field < F_GROUP || field == F_LIMIT)
		return value;
	if (field < F_CHARGE) {
		for (int i = 0; i < OWNER_COUNT; i++)
			if ((int)owner_table[i].group == field - F_GROUP)
				value += here[F_OWNER + i] - then[F_OWNER + i];
	} else if (field == F_CHARGE || field == F_FLOOR) {
		for (int i = 0; i < GROUP_COUNT; i++) /* page cache is what the kernel can take back */
			if (field == F_CHARGE || i != GROUP_FILE)
				value += here[F_GROUP + i] - then[F_GROUP + i];
	} else if (field == F_FREEBOARD) {
		value += (here[F_LIMIT] - here[F_FLOOR]) - (then[F_LIMIT] - then[F_FLOOR]);
	} else {
		value = here[field == F_CHARGE_MAX ? F_CHARGE : field == F_FLOOR_MAX ? F_FLOOR : F_FREEBOARD];
	}
	return value;
}

/* --- bytes --------------------------------------------------------------------------------------- */

static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t) - (int64_t)(difference >> 63);
}

static uint64_t unzigzag(uint64_t coded)
{
	return coded >> 1 ^ (uint64_t) - (int64_t)(coded & 1);
}

static bool put_varint(struct buf *buf, uint64_t value)
{
	while (value >= 0x80) {
		(void)buf_putc(buf, (char)(value | 0x80)); /* sticky: the last one tells */
		value >>= 7;
	}
	return buf_putc(buf, (char)value);
}

static bool take_byte(struct str *rest, uint8_t *ret)
{
	if (rest->len == 0)
		return false;
	*ret = (uint8_t)rest->ptr[0];
	*rest = str_skip(*rest, 1);
	return true;
}

static bool take_varint(struct str *rest, uint64_t *ret)
{
	uint64_t value = 0;
	uint8_t byte;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (!take_byte(rest, &byte) || (shift == 63 && byte > 1))
			return false;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

static bool put_difference(struct buf *buf, uint64_t difference)
{
	uint64_t coded, pages = 0;
	if ((difference & PAGE_MASK) == 0) {
		pages = 1;
		coded = zigzag((uint64_t)((int64_t)difference >> PAGE_BITS));
	} else {
		coded = zigzag(difference);
	}
	uint64_t more = coded >> 6;
	(void)buf_putc(buf, (char)(pages | (coded & 63) << 1 | (more ? 0x80 : 0)));
	return more ? put_varint(buf, more) : !buf_failed(buf);
}

static bool take_difference(struct str *rest, uint64_t *ret)
{
	uint8_t first;
	uint64_t more = 0;
	if (!take_byte(rest, &first) || ((first & 0x80) && !take_varint(rest, &more)) || more >> 58)
		return false;
	uint64_t difference = unzigzag(more << 6 | (first >> 1 & 63));
	*ret = first & 1 ? difference << PAGE_BITS : difference;
	return true;
}

static void put_states(struct buf *buf, const struct pack_state *state, const uint8_t *states)
{
	unsigned byte = 0, at = 0;
	for (int i = 0; i < F_COUNT; i++) {
		if (!in_shape(state, i))
			continue;
		byte |= (unsigned)states[i] << at;
		at += 2;
		if (at == 8) {
			(void)buf_putc(buf, (char)byte);
			byte = at = 0;
		}
	}
	if (at)
		(void)buf_putc(buf, (char)byte);
}

static bool state_is_one(int field, unsigned state)
{
	return state < (field == F_FREEBOARD || field == F_FREEBOARD_MIN ? 2U : (unsigned)QTY_STATE_COUNT);
}

static bool take_states(struct str *rest, const struct pack_state *state, uint8_t *states)
{
	uint8_t byte = 0;
	unsigned at = 8;
	for (int i = 0; i < F_COUNT; i++) {
		states[i] = 0;
		if (!in_shape(state, i))
			continue;
		if (at == 8) {
			if (!take_byte(rest, &byte))
				return false;
			at = 0;
		}
		states[i] = byte >> at & 3;
		if (!state_is_one(i, states[i]))
			return false;
		at += 2;
	}
	return true;
}

/* --- the series ------------------------------------------------------------------------------------- */

/* What is not in the blob goes on as it was, so that it is still there to tell what comes later. */
static void carry(const struct pack_state *state, struct row *row, bool has_composition)
{
	for (int i = 0; i < F_COUNT; i++)
		if (!is_coded(state, row, i, has_composition))
			row->values[i] = state->values[i];
}

static void go_on(struct pack_state *state, const struct row *row, const struct pack_point *point)
{
	uint64_t received = (uint64_t)point->point.received.ms;
	state->pace = state->n ? received - state->received : 0;
	state->received = received;
	state->wall = (uint64_t)point->point.wall.ms;
	state->seq = point->seq;
	state->n_samples = point->point.n_samples;
	memcpy(state->values, row->values, sizeof state->values);
	memcpy(state->states, row->states, sizeof state->states);
	state->n++;
}

void pack_done(struct pack *pack)
{
	buf_done(&pack->bytes);
}

void pack_start(struct pack *pack, enum pack_kind kind)
{
	buf_clear(&pack->bytes);
	pack->bytes.cap = PACK_CAP;
	pack->state =
		(struct pack_state){ .kind = kind, .n_owners = OWNER_COUNT, .n_groups = GROUP_COUNT, .n_samples = 1 };
	const char head[4] = { PACK_VERSION, (char)kind, OWNER_COUNT, GROUP_COUNT };
	(void)buf_add(&pack->bytes, (struct str){ head, sizeof head }); /* sticky: pack_add() tells */
}

static void put_head(struct buf *buf, const struct pack_state *state, const struct row *row,
		     const struct pack_point *point)
{
	bool states = memcmp(row->states, state->states, sizeof row->states) != 0;
	bool in_order = point->seq == state->seq + 1, count = point->point.n_samples != state->n_samples;
	(void)buf_putc(buf, (char)((states ? FLAG_STATES : 0) | (point->point.has_composition ? FLAG_COMPOSITION : 0) |
				   (in_order ? 0 : FLAG_SEQ) | (count ? FLAG_COUNT : 0) |
				   (point->point.no_limit ? FLAG_NO_LIMIT : 0)));
	if (states)
		put_states(buf, state, row->states);
	if (!in_order)
		(void)put_varint(buf, zigzag(point->seq - state->seq - 1));
	if (count)
		(void)put_varint(buf, point->point.n_samples);
	uint64_t step = (uint64_t)point->point.received.ms - state->received;
	uint64_t wall_step = (uint64_t)point->point.wall.ms - state->wall;
	(void)put_varint(buf, zigzag(step - state->pace));
	(void)put_varint(buf, zigzag(wall_step - step));
}

static void put_fields(struct buf *buf, const struct pack_state *state, bool composition, const struct row *row)
{
	uint8_t changed[(F_COUNT + 7) / 8] = { 0 };
	uint64_t differences[F_COUNT];
	unsigned n_known = 0;
	for (int i = 0; i < F_COUNT; i++) {
		if (!is_coded(state, row, i, composition))
			continue;
		differences[n_known] = row->values[i] - expected(state, row, i);
		if (differences[n_known] != 0)
			changed[n_known / 8] |= (uint8_t)(1U << n_known % 8);
		n_known++;
	}
	(void)buf_add(buf, (struct str){ (const char *)changed, (n_known + 7) / 8 });
	for (unsigned i = 0; i < n_known; i++)
		if (differences[i] != 0)
			(void)put_difference(buf, differences[i]);
}

bool pack_add(struct pack *pack, const struct pack_point *given)
{
	struct pack_state *state = &pack->state;
	struct pack_point point = *given;
	struct row row;
	if (state->n >= PACK_POINTS_MAX)
		return false;
	if (state->kind == PACK_SAMPLES)
		point.point.n_samples = 1;
	row_of_point(&point.point, &row);
	if (!point.point.has_composition) /* the states of the last composition stay, or they would be told again */
		memcpy(row.states, state->states, OWNER_COUNT);
	for (int i = 0; i < F_COUNT; i++)
		if (!in_shape(state, i))
			row.states[i] = 0;
	carry(state, &row, point.point.has_composition);
	put_head(&pack->bytes, state, &row, &point);
	put_fields(&pack->bytes, state, point.point.has_composition, &row);
	go_on(state, &row, &point);
	return !buf_failed(&pack->bytes);
}

int pack_open(struct str blob, struct pack_reader *ret_reader, struct err *err)
{
	uint8_t version, kind, owners, groups;
	if (!take_byte(&blob, &version) || !take_byte(&blob, &kind) || !take_byte(&blob, &owners) ||
	    !take_byte(&blob, &groups))
		return err_set(err, ERR_MALFORMED, "series: shorter than its head");
	if (version != PACK_VERSION)
		return err_set(err, ERR_MALFORMED, "series: version %u is not known here", version);
	if ((kind != PACK_SAMPLES && kind != PACK_MINUTES) || owners > OWNER_COUNT || groups > GROUP_COUNT)
		return err_set(err, ERR_MALFORMED, "series: kind %u with %u owners and %u groups", kind, owners,
			       groups);
	*ret_reader = (struct pack_reader){ .rest = blob };
	ret_reader->state = (struct pack_state){
		.kind = (enum pack_kind)kind, .n_owners = owners, .n_groups = groups, .n_samples = 1
	};
	return 0;
}

/* Everything of a point but its fields. */
static bool take_head(struct str *rest, const struct pack_state *state, uint8_t flags, struct row *row,
		      struct pack_point *point)
{
	uint64_t seq = 0, n = state->n_samples, received, wall;
	if ((flags & FLAG_STATES) && !take_states(rest, state, row->states))
		return false;
	if ((flags & FLAG_NO_LIMIT) && row->states[F_LIMIT])
		return false;
	if ((flags & FLAG_SEQ) && !take_varint(rest, &seq))
		return false;
	if ((flags & FLAG_COUNT) && (!take_varint(rest, &n) || n > UINT32_MAX || state->kind == PACK_SAMPLES))
		return false;
	if (!take_varint(rest, &received) || !take_varint(rest, &wall))
		return false;
	point->seq = state->seq + 1 + unzigzag(seq);
	point->point.n_samples = (uint32_t)n;
	uint64_t step = state->pace + unzigzag(received);
	point->point.received.ms = (int64_t)(state->received + step);
	point->point.wall.ms = (int64_t)(state->wall + step + unzigzag(wall));
	return true;
}

static bool take_fields(struct str *rest, const struct pack_state *state, bool composition, struct row *row)
{
	unsigned n_known = 0;
	for (int i = 0; i < F_COUNT; i++)
		n_known += is_coded(state, row, i, composition);
	struct str changed = { rest->ptr, (n_known + 7) / 8 };
	if (rest->len < changed.len)
		return false;
	*rest = str_skip(*rest, changed.len);
	carry(state, row, composition);
	n_known = 0;
	for (int i = 0; i < F_COUNT; i++) {
		uint64_t difference = 0;
		if (!is_coded(state, row, i, composition))
			continue;
		if (((unsigned char)changed.ptr[n_known / 8] >> n_known % 8 & 1) && !take_difference(rest, &difference))
			return false;
		row->values[i] = expected(state, row, i) + difference;
		n_known++;
	}
	return true;
}

int pack_next(struct pack_reader *reader, struct pack_point *ret_point, bool *ret_more, struct err *err)
{
	struct pack_state *state = &reader->state;
	struct row row;
	struct pack_point point = { 0 }, whole;
	uint8_t flags;
	if (reader->rest.len == 0) {
		*ret_more = false;
		return 0;
	}
	memset(row.values, 0, sizeof row.values);
	memcpy(row.states, state->states, sizeof row.states);
	if (state->n >= PACK_POINTS_MAX || !take_byte(&reader->rest, &flags) || (flags & ~FLAGS_KNOWN) ||
	    !take_head(&reader->rest, state, flags, &row, &point) ||
	    !take_fields(&reader->rest, state, flags & FLAG_COMPOSITION, &row))
		return err_set(err, ERR_MALFORMED, "series: point %zu is cut or damaged", state->n + 1);
	whole.seq = point.seq;
	point_of_row(&row, state->kind, flags, &whole.point);
	whole.point.received = point.point.received;
	whole.point.wall = point.point.wall;
	whole.point.n_samples = point.point.n_samples;
	go_on(state, &row, &whole);
	*ret_point = whole;
	*ret_more = true;
	return 0;
}
