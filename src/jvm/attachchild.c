/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/attachchild.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.h"
#include "sys/child.h"
#include "sys/file.h"

enum {
	NAME_CAP = 40,
	/* A listener is there 10 to 30 ms after the signal; the first look comes early, later ones cost nothing. */
	WAIT_FIRST_MS = 5,
	WAIT_MOST_MS = 50,
	/* How long a listener is waited for once nobody is left to use it: the trigger should not be taken from under the JVM's eyes. */
	ORPHAN_MS = 300,
	READ_CHUNK = 16 * 1024,
};

static bool send_frame(int out_fd, enum attach_event event, size_t command, struct str bytes)
{
	struct attach_frame frame = { (uint32_t)event, (uint32_t)command, bytes.len };
	return child_write(out_fd, (struct str){ (const char *)&frame, sizeof frame }) && child_write(out_fd, bytes);
}

static void send_error(int out_fd, enum attach_event event, size_t command, const struct err *err)
{
	/* When the parent is gone nobody is left to tell. */
	(void)send_frame(out_fd, event, command, (struct str){ (const char *)err, sizeof *err });
}

/* --- the process ------------------------------------------------------------------------------ */

/*
 * A paused container: its processes get our signal when they go on, and the trigger is gone by then. cgroup v1 shows them in state D; v2 in S,
 * and only the place they sleep in tells. Where that may not be known it reads "0".
 */
static bool is_frozen(int proc_fd, struct str state)
{
	auto_buf struct buf place = { .cap = LIMIT_PROC_FILE };
	if (str_eq(state, STR("D")))
		return true;
	return file_read_at(proc_fd, "wchan", LIMIT_PROC_FILE, &place, NULL) == 0 &&
	       (str_has(buf_str(&place), STR("freezer_trap")) || str_eq(buf_str(&place), STR("get_signal")));
}

/* Field 3 and 22 of /proc/<pid>/stat, after the name, which may hold anything. */
int attachchild_recheck(int proc_fd, const struct process_id *id, struct err *err)
{
	auto_buf struct buf text = { .cap = LIMIT_PROC_FILE };
	struct str word = { "", 0 }, state = { "", 0 };
	uint64_t start_ticks;

	int rc = file_read_at(proc_fd, "stat", LIMIT_PROC_FILE, &text, err);
	if (rc < 0)
		return rc;
	struct str rest = buf_str(&text);
	size_t end = rest.len;
	while (end > 0 && rest.ptr[end - 1] != ')')
		end--;
	rest = str_skip(rest, end);
	for (unsigned field = 2; field < 22; field++) {
		str_blanks(&rest);
		if (!str_split(&rest, ' ', &word))
			return err_set(err, ERR_MALFORMED, "stat: it ends before its field 22");
		state = field == 2 ? word : state;
		if (field == 2 && (str_eq(word, STR("T")) || str_eq(word, STR("t"))))
			return err_set(err, ERR_UNSUPPORTED,
				       "attach: pid %d is stopped (SIGSTOP or a debugger): continue it first", id->pid);
	}
	if (!str_is_u64(word, &start_ticks) || start_ticks != id->start_ticks)
		return err_set(err, ERR_GONE, "pid %d is another process now", id->pid);
	if (is_frozen(proc_fd, state))
		return err_set(
			err, ERR_UNSUPPORTED,
			"attach: pid %d is frozen (a paused container) or waits for a disk: ask again when it runs",
			id->pid);
	return 0;
}

/* --- the socket ------------------------------------------------------------------------------ */

static void socket_name(uint64_t ns_pid, char name[NAME_CAP])
{
	(void)snprintf(name, NAME_CAP, ".java_pid%" PRIu64, ns_pid);
}

static int check_socket(const struct stat *st, uint32_t owner, struct err *err)
{
	if (!S_ISSOCK(st->st_mode))
		return err_set(err, ERR_UNSUPPORTED, "attach: the file at the JVM's socket is no socket");
	if (st->st_uid != owner)
		return err_set(err, ERR_UNSUPPORTED, "attach: the socket belongs to uid %u, the JVM runs as %u",
			       (unsigned)st->st_uid, (unsigned)owner);
	return 1;
}

int attachchild_find_socket(int tmp_fd, uint64_t ns_pid, uint32_t owner, struct err *err)
{
	char name[NAME_CAP];
	struct stat st;
	socket_name(ns_pid, name);
	if (fstatat(tmp_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(err, errno, "attach: the JVM's socket");
	return check_socket(&st, owner, err);
}

static bool set_timeout(int fd, struct mono deadline)
{
	uint64_t ms = mono_ms_until(clock_mono(), deadline);
	struct timeval left = { (time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000) };
	/* 0 would mean for ever. */
	return ms > 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &left, sizeof left) == 0 &&
	       setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &left, sizeof left) == 0;
}

static int timed_out(struct err *err)
{
	return err_set(err, ERR_TIMEOUT, "attach: the JVM did not answer in time");
}

/*
 * Connects to the very inode that was checked: the name is opened first and then reached through /proc/self/fd, which
 * also keeps clear of sun_path's 108 bytes. -ECONNREFUSED with no message: nobody listens there any more.
 */
static int connect_socket(const struct attach_session *session, struct err *err)
{
	char name[NAME_CAP];
	struct stat st;
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	socket_name(session->ns_pid, name);
	auto_close int node = openat(session->dir_fds[ATTACH_DIR_TMP], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (node < 0 || fstat(node, &st) < 0)
		return err_sys(err, errno, "attach: the JVM's socket");
	int rc = check_socket(&st, session->euid, err);
	if (rc < 0)
		return rc;
	auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(err, errno, "attach: socket");
	if (!set_timeout(fd, session->deadline))
		return timed_out(err);
	(void)snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", node);
	if (connect(fd, (const struct sockaddr *)&address, sizeof address) < 0) {
		if (errno == ECONNREFUSED)
			return -ECONNREFUSED;
		return errno == EAGAIN ? timed_out(err) : err_sys(err, errno, "attach: connect to the JVM");
	}
	/* Whoever called listen(): user code can put a socket of its own at that name, and may as well be the JVM. */
	struct ucred peer;
	socklen_t len = sizeof peer;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return err_sys(err, errno, "attach: peer of the socket");
	if (peer.pid != session->id.pid)
		return err_set(err, ERR_UNSUPPORTED, "attach: another process (pid %d) listens on the JVM's socket",
			       (int)peer.pid);
	return TAKE_FD(fd);
}

/* --- one command -------------------------------------------------------------------------------- */

/* Version 1, "jcmd", one argument with the whole command, two empty ones; each ends in NUL. */
static int send_request(int fd, const char *command, struct err *err)
{
	auto_buf struct buf request = { .cap = 4096 };
	(void)buf_add(&request, (struct str){ "1\0jcmd\0", 7 });
	(void)buf_puts(&request, command);
	if (!buf_add(&request, (struct str){ "\0\0\0", 3 }))
		return request.state == BUF_NOMEM ? err_set(err, ERR_NOMEM, "attach: no memory for the command")
						  : err_set(err, ERR_USAGE, "attach: the command is too long");
	struct str rest = buf_str(&request);
	while (rest.len) {
		ssize_t n = send(fd, rest.ptr, rest.len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? timed_out(err) : err_sys(err, errno, "attach: send to the JVM");
		rest = str_skip(rest, (size_t)n);
	}
	return 0;
}

static int read_reply(int fd, struct mono deadline, struct buf *reply, struct err *err)
{
	for (;;) {
		char chunk[READ_CHUNK];
		if (!set_timeout(fd, deadline))
			return timed_out(err);
		ssize_t n = read(fd, chunk, sizeof chunk);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return timed_out(err);
		/* It resets the connection of a peer whose ids it does not like. */
		if (n < 0 && errno == ECONNRESET)
			return err_set(err, ERR_DENIED,
				       "attach: the JVM closed the connection: run as its user and group");
		if (n < 0)
			return err_sys(err, errno, "attach: read from the JVM");
		if (n == 0)
			return 0;
		if (!buf_add(reply, (struct str){ chunk, (size_t)n }))
			return reply->state == BUF_NOMEM ? err_set(err, ERR_NOMEM, "attach: no memory for the answer")
							 : err_set(err, ERR_LIMIT, "attach: the answer is too large");
	}
}

static int ask(const struct attach_session *session, const char *command, struct buf *reply, struct err *err)
{
	auto_close int fd = connect_socket(session, err);
	if (fd == -ECONNREFUSED)
		return err_set(err, ERR_GONE, "attach: nobody listens on the JVM's socket any more");
	if (fd < 0)
		return fd;
	int rc = send_request(fd, command, err);
	return rc < 0 ? rc : read_reply(fd, session->deadline, reply, err);
}

static void ask_all(const struct attach_session *session, int out_fd)
{
	for (size_t i = 0; i < session->n_commands; i++) {
		auto_buf struct buf reply = { .cap = LIMIT_JVM_ANSWER };
		struct err err = { 0 };
		if (ask(session, session->commands[i], &reply, &err) < 0)
			send_error(out_fd, ATTACH_COMMAND_ERROR, i, &err);
		else if (!send_frame(out_fd, ATTACH_REPLY, i, buf_str(&reply)))
			return;
	}
}

/* --- the trigger ------------------------------------------------------------------------------------ */

/* Effective ids of the target: HotSpot checks them on the socket, and the owner of the trigger. */
static int become_target(const struct attach_session *session, struct err *err)
{
	if (geteuid() == session->euid && getegid() == session->egid)
		return 0;
	(void)setgroups(0, NULL); /* not needed for the work; kept where it is not allowed */
	if (setegid(session->egid) < 0 || seteuid(session->euid) < 0)
		return err_sys(err, errno, "attach: take uid %u gid %u of the JVM", (unsigned)session->euid,
			       (unsigned)session->egid);
	/* The change of ids has cleared it. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	return 0;
}

static int send_quit(const struct attach_session *session, struct err *err)
{
	/* Again, at the last moment: a stopped process would print its threads once it goes on and the trigger is gone. */
	int rc = attachchild_recheck(session->proc_fd, &session->id, err);
	if (rc < 0)
		return rc;
	rc = -1;
	errno = ENOSYS;
#ifdef SYS_pidfd_send_signal
	if (session->pid_fd >= 0)
		rc = (int)syscall(SYS_pidfd_send_signal, session->pid_fd, SIGQUIT, NULL, 0U);
#endif
	if (rc < 0 && errno == ENOSYS)
		rc = kill(session->id.pid, SIGQUIT);
	return rc < 0 ? err_sys(err, errno, "attach: signal pid %d", session->id.pid) : 0;
}

/* The trigger in the directory `at`: made by us (1), there already (0), or not possible. */
static int make_trigger(const struct attach_session *session, unsigned at, const char *name, struct err *err)
{
	struct stat st;
	int dir = session->dir_fds[at];
	if (dir < 0)
		return err_set(err, ERR_DENIED, "attach: the JVM's working directory cannot be opened");
	auto_close int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST) {
		/* Another client's, who asks at the same time. A link may lead nowhere: the JVM would then print its threads. */
		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		    st.st_uid == session->euid)
			return 0;
		(void)err_set(err, ERR_UNSUPPORTED,
			      "attach: something that is no trigger file of the JVM's user stands at %s: remove it",
			      name);
		return -EEXIST;
	}
	if (fd < 0)
		return err_sys(err, errno, "attach: create the trigger file");
	/* An NFS or idmapped mount may give it another owner; the JVM would not take it. */
	if (fstat(fd, &st) < 0 || st.st_uid != session->euid) {
		(void)unlinkat(dir, name, 0);
		return err_set(err, ERR_UNSUPPORTED, "attach: the trigger file does not belong to the JVM's user");
	}
	return 1;
}

/* Polls until the socket takes a connection. */
static int await_socket(const struct attach_session *session, struct err *err)
{
	struct mono deadline = session->deadline;
	bool orphan = false;
	int wait_ms = WAIT_FIRST_MS;
	for (;;) {
		int rc = attachchild_find_socket(session->dir_fds[ATTACH_DIR_TMP], session->ns_pid, session->euid, err);
		if (rc < 0)
			return rc;
		if (rc > 0) {
			auto_close int fd = connect_socket(session, err);
			if (fd >= 0)
				return 0;
			if (fd != -ECONNREFUSED)
				return fd;
		}
		if (kill(session->id.pid, 0) < 0 && errno == ESRCH)
			return err_set(err, ERR_GONE, "attach: the JVM ended");
		if (!orphan && getppid() != session->parent) {
			struct mono soon = mono_add_ms(clock_mono(), ORPHAN_MS);
			deadline = mono_ms_until(soon, deadline) ? soon : deadline;
			orphan = true;
		}
		if (mono_ms_until(clock_mono(), deadline) == 0)
			return timed_out(err);
		(void)poll(NULL, 0, wait_ms);
		wait_ms = wait_ms * 2 < WAIT_MOST_MS ? wait_ms * 2 : WAIT_MOST_MS;
	}
}

static int trigger_and_wait(const struct attach_session *session, int out_fd, struct err *err)
{
	char name[NAME_CAP];
	unsigned at = ATTACH_DIR_CWD;

	(void)snprintf(name, sizeof name, ".attach_pid%" PRIu64, session->ns_pid);
	int made = make_trigger(session, at, name, err);
	/* What the JVM finds in its working directory is its answer: it looks in /tmp only if nothing is there. */
	if (made < 0 && made != -EEXIST)
		made = make_trigger(session, at = ATTACH_DIR_TMP, name, err);
	if (made < 0)
		return made;
	if (made && !send_frame(out_fd, ATTACH_TRIGGER_MADE, at, STR(""))) {
		(void)unlinkat(session->dir_fds[at], name, 0);
		return err_set(err, ERR_IO, "attach: nobody listens");
	}
	int rc = send_quit(session, err);
	if (rc == 0)
		rc = await_socket(session, err);
	if (made && unlinkat(session->dir_fds[at], name, 0) == 0)
		(void)send_frame(out_fd, ATTACH_TRIGGER_GONE, at, STR(""));
	return rc;
}

/*
 * While the trigger is there nothing may end this process but its parent, who cleans up after it: no key that is pressed at a terminal,
 * and not the parent's own end.
 */
static int start_listener(const struct attach_session *session, int out_fd, struct err *err)
{
	sigset_t all, before;

	if (!session->may_signal) {
		*err = session->refusal;
		return -EOPNOTSUPP;
	}
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, &before);
	(void)prctl(PR_SET_PDEATHSIG, 0);
	int rc = trigger_and_wait(session, out_fd, err);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (getppid() != session->parent)
		return err_set(err, ERR_GONE, "attach: nobody is left to ask for");
	return rc;
}

int attachchild_work(void *context, int out_fd)
{
	const struct attach_session *session = context;
	struct err err = { 0 };

	int rc = become_target(session, &err);
	if (rc == 0)
		rc = attachchild_find_socket(session->dir_fds[ATTACH_DIR_TMP], session->ns_pid, session->euid, &err);
	if (rc > 0) {
		auto_close int fd = connect_socket(session, &err);
		rc = fd >= 0 ? 0 : fd;
		/* A socket that a dead JVM left: this one replaces it when it is asked to listen. */
		if (fd == -ECONNREFUSED)
			rc = start_listener(session, out_fd, &err);
	} else if (rc == 0) {
		rc = start_listener(session, out_fd, &err);
	}
	if (rc < 0) {
		send_error(out_fd, ATTACH_SESSION_ERROR, 0, &err);
		return 1;
	}
	ask_all(session, out_fd);
	return 0;
}
