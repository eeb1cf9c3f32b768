/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's attach protocol, version 1 (hotspot/os/posix/attachListener_posix.cpp; every JDK from 8 to 25 takes
 * it): asks a JVM diagnostic commands over its socket /tmp/.java_pid<nspid>, opening that socket by a trigger file
 * and one SIGQUIT where it is not there yet. Everything happens in one forked child with a deadline, so a
 * hanging JVM costs the caller no more than that, and a change of euid never reaches the caller.
 *
 * SIGQUIT ends a process that does not catch it and makes a JVM with the mechanism off print every thread, so:
 * attach_check() refuses unless the target maps libjvm.so, catches SIGQUIT and does not ignore it, was not started
 * with
 * DisableAttachMechanism or -Xrs, is older than ATTACH_AGE_MIN_MS and not stopped. At most one signal is sent a run,
 * and none if the socket exists. The trigger is unlinked in the child and, in case it was killed, in the parent.
 *
 * Access: the JVM takes peers of its own euid and egid, or root. A root caller switches the child to the target's
 * ids, because the trigger must belong to them.
 */
#ifndef JVM_ATTACH_H
#define JVM_ATTACH_H

#include "bankfull/jvm.h"
#include "bankfull/process.h"
#include "base/buf.h"
#include "base/err.h"

enum {
	/* HotSpot installs its SIGQUIT handler within the first 100 ms; slow containers take longer. */
	ATTACH_AGE_MIN_MS = 3000,
	/* A listener starts in 10 to 30 ms on an idle machine; each command here takes under 80 ms. */
	ATTACH_DEADLINE_MS = 5000,
	ATTACH_COMMANDS_MAX = 16,
};

struct attach_target {
	struct process_id id; /* as this process sees it: for kill and /proc */
	const struct process_status *status;
	const struct jvm_flags *flags; /* of its options: vmargs.h */
	bool is_jvm;                   /* jvmfind.h */
	uint64_t age_ms;               /* since the process started */
};

struct attach_answer {
	struct buf text; /* cap set by the caller or 0 for LIMIT_JVM_ANSWER; owned: attach_answers_done() */
	struct err err;  /* kind ERR_NONE: text holds the answer */
};

/*
 * May this target be asked, and may it be signalled? `socket_exists`: then no signal is needed. Pure. UNSUPPORTED
 * with what to do.
 */
int attach_check(const struct attach_target *target, bool socket_exists, struct err *err)
	__attribute__((warn_unused_result));

/*
 * Runs `commands` (as jcmd takes them: "VM.native_memory summary scale=b") in order, one connection each. 0: each
 * answer has
 * its own text or error. Negative: nothing was asked; UNSUPPORTED, DENIED (ids differ), GONE, TIMEOUT, IO, NOMEM;
 * answers
 * are empty then. A command past the deadline has ERR_TIMEOUT, those before it keep their text. Raw text: reduce it
 * with answer.h before it is kept.
 */
int attach_run(const struct attach_target *target, const char *const commands[], size_t n, unsigned deadline_ms,
	       struct attach_answer answers[], struct err *err) __attribute__((warn_unused_result));

void attach_answers_done(struct attach_answer answers[], size_t n);

/*
 * One reply as it came to its end: a decimal return code, LF, text. Appends the text to `out` if the code is 0,
 * else its first
 * line is the error: UNSUPPORTED. MALFORMED without a code. Pure.
 */
int attach_parse_reply(struct str reply, struct buf *out, struct err *err) __attribute__((warn_unused_result));

#endif
