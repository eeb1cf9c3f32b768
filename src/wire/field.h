/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that say what stands in a message: a row a member, with its key, what it is, and where in the struct it
 * stands. Encoder and decoder walk the same rows, so they cannot disagree. Internal to wire/.
 */
#ifndef WIRE_FIELD_H
#define WIRE_FIELD_H

#include "bankfull/wire.h"
#include "base/err.h"
#include "base/str.h"

/*
 * The largest whole number that every JSON library holds exactly (RFC 7493, section 2.2): 2^53 - 1. A quantity past it
 * is no quantity of a machine: it is left out as unread.
 */
#define WIRE_NUMBER_MAX INT64_C(9007199254740991)

/* The end of the year 9999, as far as date_format() goes. */
#define WIRE_WALL_MAX   INT64_C(253402300799999)

/* The fullest frame, a part of a post-mortem with 60 samples, has some 4,500: what is past this was made to hurt. */
enum { WIRE_VALUES_MAX = 8192 };

enum field_kind {
	/* One number. */
	FIELD_U64 = 0,
	FIELD_U32,
	FIELD_INT,
	FIELD_WALL,
	FIELD_LEVEL, /* u64: past WIRE_NUMBER_MAX it is written as that, for nothing reaches either */
	FIELD_COUNT,
	FIELD_QTY,
	FIELD_SIGNED,
	/* One word. */
	FIELD_EPOCH,
	FIELD_HEX, /* u64 as 16 hex digits: a hash, opaque, and too large for a number */
	FIELD_TEXT,
	FIELD_NAME,  /* an enum */
	FIELD_OWNER, /* enum owner in an int, or -1 */
	FIELD_BOOL,
	FIELD_TRISTATE,
	FIELD_LIMIT, /* a number, or "none" */
	/* Several values. */
	FIELD_OBJECT,
	FIELD_LIST,    /* of objects */
	FIELD_TEXTS,   /* of strings */
	FIELD_LABELS,  /* an object of strings whose names are the sender's */
	FIELD_QTYS,    /* an object, group or owner to bytes */
	FIELD_SIGNEDS, /* the same, signed */
	FIELD_LIMITS,  /* the same, a number or "none" */
	FIELD_OWNERS,  /* names of owners: a bit set of 1 << enum owner */
	FIELD_STATE,   /* names of this object's quantities that are not measured but in state `least` */
	FIELD_FINDING, /* written from a pointer, not read */
	FIELD_BODY,    /* written from a text, not read */
};

enum names_of { NAMES_GROUPS = 0, NAMES_OWNERS };

struct fields;

struct field {
	struct str key;
	enum field_kind kind;
	bool required; /* absent is MALFORMED, and 0 is written; a required text is not empty */
	bool lenient;  /* FIELD_NAME: an unknown one is `otherwise` */
	bool flagged;  /* FIELD_OBJECT: the bool at `count_at` says whether it is there */
	uint8_t least; /* of a number */
	uint8_t otherwise;
	uint16_t at;       /* offset in the struct */
	uint16_t size;     /* of a text with its NUL; of one element */
	uint16_t max;      /* most elements; number of names */
	uint16_t count_at; /* offset of the size_t that counts elements */
	enum names_of of;
	const char *const *names;
	const struct fields *fields;
};

struct fields {
	const struct field *rows;
	size_t n;    /* at most 64 */
	bool closed; /* a policy: members that are none of ours are counted as refused */
};

struct type_info {
	const struct fields *fields;
	size_t size; /* of its struct */
};
extern const struct type_info type_table[WIRE_TYPE_COUNT];

/* Number of names, and the i-th one, of groups or owners. */
int field_names(enum names_of of);
const char *field_name(enum names_of of, int i);
/* The index of a name, searched from behind `after` (-1: the start): they come in our order. -1: of a later version. */
int field_find_name(enum names_of of, struct str text, int after);

/* MALFORMED where the members contradict each other. */
int check_whole(enum wire_type type, const void *content, struct err *err) __attribute__((warn_unused_result));

#endif
