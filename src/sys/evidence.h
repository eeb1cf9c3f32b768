/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evidence: all that one reading saw, as named texts, already redacted; and why each missing one is missing.
 *
 * The same set comes from a live target or from a capture on disk, and everything after it is a pure function of
 * it: that is why a replay gives the same report. A capture is a plain-text tree, one file a name ("proc/smaps"),
 * and `manifest`, written last, that lists every file with its size and every gap: a tree without a manifest, or
 * with a file missing or cut, is refused. `facts` are "key value" pairs of the manifest: time, pid, host.
 */
#ifndef SYS_EVIDENCE_H
#define SYS_EVIDENCE_H

#include "base/buf.h"
#include "base/err.h"

enum { EVIDENCE_MAX = 112, EVIDENCE_NAME_CAP = 48, EVIDENCE_FORMAT = 1 };

struct evidence_item {
	char name[EVIDENCE_NAME_CAP];
	struct buf bytes;
	struct err err; /* kind ERR_NONE: bytes were read */
};

struct evidence {
	struct evidence_item items[EVIDENCE_MAX];
	size_t n;
	struct buf facts; /* "key value\n" lines, values escaped */
};

void evidence_init(struct evidence *evidence);
void evidence_done(struct evidence *evidence);

/*
 * A buffer of at most `cap` bytes to read `name` into, replacing what stood there. NULL only when EVIDENCE_MAX names
 * are taken: a mistake of ours.
 */
struct buf *evidence_new(struct evidence *evidence, const char *name, size_t cap);

/* `name` is missing because of `err`; what was read of it is dropped. The same message from live and replay. */
void evidence_fail(struct evidence *evidence, const char *name, const struct err *err);
void evidence_fail_set(struct evidence *evidence, const char *name, enum err_kind kind, const char *message);

/* Forget `name`, bytes and failure alike. */
void evidence_drop(struct evidence *evidence, const char *name);

/* NULL if nobody tried. */
const struct evidence_item *evidence_find(const struct evidence *evidence, const char *name);

/* The bytes of `name`; len 0 if missing. */
struct str evidence_text(const struct evidence *evidence, const char *name);
bool evidence_has(const struct evidence *evidence, const char *name);

bool evidence_fact(struct evidence *evidence, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool evidence_fact_str(struct evidence *evidence, const char *key, struct str value);
void evidence_fact_drop(struct evidence *evidence, const char *key);
/* A view into the facts; false if absent. */
bool evidence_fact_find(const struct evidence *evidence, const char *key, struct str *ret_value);
uint64_t evidence_fact_u64(const struct evidence *evidence, const char *key, uint64_t otherwise);

/* `directory` must not exist or be empty. On an error what was written stays, without a manifest: no capture. */
int evidence_write(const struct evidence *evidence, const char *directory, const char *program_version, struct err *err)
	__attribute__((warn_unused_result));

/* MALFORMED: no capture, or not whole. UNSUPPORTED: of a newer format. All bounded by LIMIT_CAPTURE. */
int evidence_load(const char *directory, struct evidence *ret_evidence, struct err *err)
	__attribute__((warn_unused_result));

#endif
