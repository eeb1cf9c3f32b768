/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one error convention.
 *
 * A function that can fail returns int: 0, or a negative errno value. Its last parameter is
 * `struct err *err`, owned by the caller, of fixed size, never allocated. On success `err` is
 * untouched; on failure every `ret_` output is untouched. Each level may put one clause before
 * the message with err_wrap(): "pid 42: nmt: line 7: no number after 'reserved='".
 *
 * A kind is a decision for the caller, not a cause. Missing data is no error: see quantity.h.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum err_kind {
	ERR_NONE = 0,
	ERR_GONE,        /* the process or cgroup went away while being read: normal */
	ERR_DENIED,      /* permission: say which and what it costs */
	ERR_UNSUPPORTED, /* this kernel, JVM or configuration does not have it */
	ERR_MALFORMED,   /* bytes that are not what they should be */
	ERR_TIMEOUT,
	ERR_LIMIT, /* larger than the cap in limits.h */
	ERR_USAGE, /* what the user gave is wrong */
	ERR_IO,    /* any other failure of the system */
	ERR_NOMEM,
	ERR_KIND_COUNT,
};

struct err {
	enum err_kind kind;
	int errnum; /* positive errno value, or 0 */
	char message[320];
};

extern const char *const err_kind_names[ERR_KIND_COUNT];

/* Fill `err` (may be NULL); returns the negative errno that fits the kind, for `return err_set(...)`. */
int err_set(struct err *err, enum err_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same from an errno value (positive): the kind is chosen from it and its text appended. */
int err_sys(struct err *err, int errnum, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Put "clause: " before the message. A message that does not fit is cut at its end. */
void err_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The kind of this name, ERR_NONE if there is none. */
enum err_kind err_kind_find(const char *name);

#endif
