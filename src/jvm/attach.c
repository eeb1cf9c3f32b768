/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/esc.h"
#include "base/limits.h"
#include "jvm/attachchild.h"
#include "sys/child.h"
#include "sys/file.h"
#include "sys/proc.h"

enum {
	SIGQUIT_BIT = 1 << 2,
	/* The child ends itself, and cleans up, this much before it would be killed. */
	CHILD_MARGIN_MS = 100,
	/* NMT detail is the only large answer. */
	OUTPUT_MAX = 2 * LIMIT_JVM_ANSWER,
};

/* --- the decision ---------------------------------------------------------------------------- */

/* Would SIGQUIT be harmless? Each reason says what to do about it. */
static int check_signal(const struct attach_target *target, struct err *err)
{
	const struct process_status *status = target->status;
	if (target->flags->signals_reduced)
		return err_set(err, ERR_UNSUPPORTED, "attach: the JVM runs with -Xrs, SIGQUIT would end it");
	if (!status->sig_caught.known || !status->sig_ignored.known)
		return err_set(err, ERR_UNSUPPORTED, "attach: status does not tell whether SIGQUIT is caught");
	if (!(status->sig_caught.n & SIGQUIT_BIT))
		return err_set(err, ERR_UNSUPPORTED, "attach: the process does not catch SIGQUIT, it would end it");
	if (status->sig_ignored.n & SIGQUIT_BIT)
		return err_set(err, ERR_UNSUPPORTED, "attach: the process ignores SIGQUIT");
	if (target->age_ms < ATTACH_AGE_MIN_MS)
		return err_set(err, ERR_UNSUPPORTED, "attach: the JVM started %" PRIu64 " ms ago; try again in %d s",
			       target->age_ms, ATTACH_AGE_MIN_MS / 1000);
	return 0;
}

int attach_check(const struct attach_target *target, bool socket_exists, struct err *err)
{
	const struct process_status *status = target->status;
	if (!target->is_jvm)
		return err_set(err, ERR_UNSUPPORTED, "attach: pid %d is no HotSpot JVM (no libjvm.so)", target->id.pid);
	if (status->state == 'Z' || status->state == 'X')
		return err_set(err, ERR_GONE, "attach: pid %d has ended", target->id.pid);
	if (status->state == 'T' || status->state == 't')
		return err_set(err, ERR_UNSUPPORTED,
			       "attach: pid %d is stopped (SIGSTOP or a debugger): continue it first", target->id.pid);
	if (!status->ns_pid.known || !status->uid_effective.known || !status->gid_effective.known)
		return err_set(err, ERR_UNSUPPORTED, "attach: status tells no NSpid, Uid or Gid");
	if (target->flags->attach_disabled)
		return err_set(err, ERR_UNSUPPORTED, "attach: off by the JVM's option -XX:+DisableAttachMechanism");
	return socket_exists ? 0 : check_signal(target, err);
}

/* --- what only the kernel can tell ---------------------------------------------------------------- */

static int check_ids(const struct process_status *status, struct err *err)
{
	if (geteuid() == 0 || (geteuid() == status->uid_effective.n && getegid() == status->gid_effective.n))
		return 0;
	return err_set(err, ERR_DENIED, "attach: the JVM answers its own user and group only: run as uid %u gid %u",
		       (unsigned)status->uid_effective.n, (unsigned)status->gid_effective.n);
}

struct doors {
	int proc_fd, root_fd, tmp_fd, cwd_fd, pid_fd;
};

static void doors_done(const struct doors *doors)
{
	const int *fds[] = { &doors->proc_fd, &doors->root_fd, &doors->tmp_fd, &doors->cwd_fd, &doors->pid_fd };
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
		auto_closep(fds[i]);
}

/* Descriptors of one process for good: its number may be given away meanwhile. */
static int open_doors(const struct process_id *id, struct doors *doors, struct err *err)
{
	auto_close int proc_root = -1;
	int rc = proc_root_open("/proc", &proc_root, err);
	if (rc == 0)
		rc = proc_open(proc_root, id->pid, &doors->proc_fd, err);
	if (rc < 0)
		return rc;
	doors->pid_fd = proc_pidfd(id->pid);
	rc = attachchild_recheck(doors->proc_fd, id, err);
	if (rc < 0)
		return rc;
	doors->root_fd = openat(doors->proc_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (doors->root_fd < 0)
		return err_sys(err, errno, "attach: the root of pid %d (needs its user and group, or CAP_SYS_PTRACE)",
			       id->pid);
	/* Without it the trigger goes to /tmp, where the JVM looks next. */
	doors->cwd_fd = openat(doors->proc_fd, "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir_open_under(doors->root_fd, "tmp", &doors->tmp_fd, err);
}

/* --- the child's frames ------------------------------------------------------------------------------ */

static bool take_bytes(struct str *rest, void *dest, size_t len)
{
	if (rest->len < len)
		return false;
	memcpy(dest, rest->ptr, len);
	*rest = str_skip(*rest, len);
	return true;
}

struct outcome {
	bool trigger_left;
	unsigned trigger_at;
	bool failed; /* the session: nothing was asked */
	struct err err;
	size_t n_answered;
};

static void take_answer(struct str bytes, struct attach_answer *answer)
{
	answer->err = (struct err){ 0 };
	if (attach_parse_reply(bytes, &answer->text, &answer->err) < 0)
		buf_clear(&answer->text);
}

/* Whole frames only: what follows an incomplete one was cut off by the child's end. */
static void read_frames(struct str rest, struct attach_answer answers[], size_t n, struct outcome *outcome)
{
	struct attach_frame frame;
	while (take_bytes(&rest, &frame, sizeof frame) && frame.len <= rest.len) {
		struct str bytes = { rest.ptr, (size_t)frame.len };
		rest = str_skip(rest, bytes.len);
		switch ((enum attach_event)frame.event) {
		case ATTACH_TRIGGER_MADE:
			outcome->trigger_left = true;
			outcome->trigger_at = frame.command < ATTACH_DIRS ? frame.command : ATTACH_DIR_TMP;
			break;
		case ATTACH_TRIGGER_GONE:
			outcome->trigger_left = false;
			break;
		case ATTACH_SESSION_ERROR:
			outcome->failed = take_bytes(&bytes, &outcome->err, sizeof outcome->err);
			break;
		case ATTACH_REPLY:
			if (frame.command < n)
				take_answer(bytes, &answers[frame.command]);
			outcome->n_answered++;
			break;
		case ATTACH_COMMAND_ERROR:
			if (frame.command < n)
				(void)take_bytes(&bytes, &answers[frame.command].err, sizeof(struct err));
			outcome->n_answered++;
			break;
		}
	}
}

/* --- the whole --------------------------------------------------------------------------------------- */

void attach_answers_done(struct attach_answer answers[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_done(&answers[i].text);
}

static void unlink_trigger(const struct attach_session *session, const struct outcome *outcome)
{
	char name[40];
	int dir = session->dir_fds[outcome->trigger_at];
	if (!outcome->trigger_left || dir < 0)
		return;
	(void)snprintf(name, sizeof name, ".attach_pid%" PRIu64, session->ns_pid);
	(void)unlinkat(dir, name, 0); /* ours: the child made it; gone is as good */
}

static int run_session(struct attach_session *session, struct attach_answer answers[], size_t n, unsigned deadline_ms,
		       struct err *err)
{
	struct outcome outcome = { 0 };
	struct child_result result = { .exit_status = -1 };
	auto_buf struct buf out = { .cap = OUTPUT_MAX };
	struct err why = { 0 };
	struct mono now = clock_mono();

	session->parent = getpid();
	session->deadline =
		mono_add_ms(now, deadline_ms > 2 * CHILD_MARGIN_MS ? deadline_ms - CHILD_MARGIN_MS : deadline_ms);
	int rc = child_run(attachchild_work, session, mono_add_ms(now, deadline_ms), OUTPUT_MAX, &out, &result, &why);
	for (size_t i = 0; i < n; i++) {
		answers[i].text.cap = answers[i].text.cap ? answers[i].text.cap : LIMIT_JVM_ANSWER;
		answers[i].err = (struct err){ 0 };
		if (rc < 0)
			answers[i].err = why;
		else
			(void)err_set(&answers[i].err, ERR_IO, "attach: the child ended without an answer");
	}
	read_frames(buf_str(&out), answers, n, &outcome);
	unlink_trigger(session, &outcome);
	if (!outcome.failed && outcome.n_answered > 0)
		return 0;
	if (outcome.failed)
		return err_set(err, outcome.err.kind, "%s", outcome.err.message);
	if (rc < 0)
		return err_set(err, why.kind, "attach: %s", why.message);
	return err_set(err, ERR_IO, "attach: the child ended without an answer (signal %d)", result.signal);
}

int attach_run(const struct attach_target *target, const char *const commands[], size_t n, unsigned deadline_ms,
	       struct attach_answer answers[], struct err *err)
{
	auto_(doors_done) struct doors doors = { -1, -1, -1, -1, -1 };
	if (n == 0 || n > ATTACH_COMMANDS_MAX)
		return err_set(err, ERR_USAGE, "attach: %zu commands", n);
	/* With a socket assumed: what is refused now is refused before anything is opened. */
	int rc = attach_check(target, true, err);
	if (rc == 0)
		rc = check_ids(target->status, err);
	if (rc == 0)
		rc = open_doors(&target->id, &doors, err);
	if (rc < 0)
		return rc;
	struct attach_session session = {
		.id = target->id,
		.proc_fd = doors.proc_fd,
		.pid_fd = doors.pid_fd,
		.dir_fds = { [ATTACH_DIR_CWD] = doors.cwd_fd, [ATTACH_DIR_TMP] = doors.tmp_fd },
		.ns_pid = target->status->ns_pid.n,
		.euid = (uint32_t)target->status->uid_effective.n,
		.egid = (uint32_t)target->status->gid_effective.n,
		.commands = commands,
		.n_commands = n,
	};
	session.may_signal = attach_check(target, false, &session.refusal) == 0;
	return run_session(&session, answers, n, deadline_ms, err);
}

int attach_parse_reply(struct str reply, struct buf *out, struct err *err)
{
	struct str line;
	uint64_t code;
	if (str_index(reply, '\n') == reply.len || !str_line(&reply, &line))
		return err_set(err, ERR_MALFORMED, "attach: the answer starts with no return code");
	/* JNI_ERR is -1. */
	bool negative = str_take(&line, STR("-"));
	if (!str_is_u64(line, &code))
		return err_set(err, ERR_MALFORMED, "attach: the answer starts with no return code");
	if (code == 0) {
		if (buf_add(out, reply))
			return 0;
		return out->state == BUF_NOMEM ? err_set(err, ERR_NOMEM, "attach: no memory for the answer")
					       : err_set(err, ERR_LIMIT, "attach: the answer is too large");
	}
	char shown[120] = "no reason given";
	while (str_line(&reply, &line)) {
		line = str_trim(line);
		if (line.len == 0)
			continue;
		/* "java.lang.IllegalArgumentException: Unknown diagnostic command" */
		(void)esc_copy(shown, sizeof shown, line);
		break;
	}
	return err_set(err, ERR_UNSUPPORTED, "attach: the JVM refused (%s%" PRIu64 "): %s", negative ? "-" : "", code,
		       shown);
}
