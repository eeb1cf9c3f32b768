/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jvm/attach.h"
#include "kernel/stat.h"
#include "support/tight.h"
#include "sys/clock.h"
#include "sys/proc.h"

#define QUIT ((uint64_t)1 << 2)

/* A target that may be asked and signalled. */
static struct process_status fine_status(void)
{
	return (struct process_status){
		.state = 'S',
		.ns_pid = count_of(1),
		.uid_effective = count_of(geteuid()),
		.gid_effective = count_of(getegid()),
		.sig_caught = count_of(QUIT),
		.sig_ignored = count_of(0),
	};
}

static int check(const struct process_status *status, const struct jvm_flags *flags, bool is_jvm, uint64_t age_ms,
		 bool socket_exists, struct err *err)
{
	struct attach_target target = { { 7, 1 }, status, flags, is_jvm, age_ms };
	return attach_check(&target, socket_exists, err);
}

static void decision(void **state)
{
	(void)state;
	struct process_status fine = fine_status(), s;
	struct jvm_flags none = { 0 }, off = { .attach_disabled = true }, xrs = { .signals_reduced = true };
	struct err err = { 0 };
	assert_int_equal(check(&fine, &none, true, 60000, false, &err), 0);
	assert_int_equal(check(&fine, &none, true, 60000, true, &err), 0);

	/* With a socket no signal is needed: its reasons do not count. */
	s = fine;
	s.sig_caught = count_of(0);
	assert_true(check(&s, &none, true, 60000, false, &err) < 0);
	assert_int_equal(check(&s, &none, true, 60000, true, &err), 0);
	s.sig_caught = (struct count){ 0 };
	assert_true(check(&s, &none, true, 60000, false, &err) < 0);
	s = fine;
	s.sig_ignored = count_of(QUIT);
	assert_true(check(&s, &none, true, 60000, false, &err) < 0);
	assert_true(check(&fine, &none, true, ATTACH_AGE_MIN_MS - 1, false, &err) < 0);
	assert_int_equal(check(&fine, &none, true, ATTACH_AGE_MIN_MS - 1, true, &err), 0);
	assert_true(check(&fine, &xrs, true, 60000, false, &err) < 0);
	assert_int_equal(check(&fine, &xrs, true, 60000, true, &err), 0);
	assert_int_equal(err.kind, ERR_UNSUPPORTED);

	/* These count always. */
	for (int socket_exists = 0; socket_exists < 2; socket_exists++) {
		assert_true(check(&fine, &off, true, 60000, socket_exists, &err) < 0);
		assert_non_null(strstr(err.message, "DisableAttachMechanism"));
		assert_true(check(&fine, &none, false, 60000, socket_exists, &err) < 0);
		s = fine;
		s.state = 'T';
		assert_true(check(&s, &none, true, 60000, socket_exists, &err) < 0);
		assert_non_null(strstr(err.message, "stopped"));
		s.state = 'Z';
		assert_true(check(&s, &none, true, 60000, socket_exists, &err) < 0);
		assert_int_equal(err.kind, ERR_GONE);
		s = fine;
		s.ns_pid = (struct count){ 0 };
		assert_true(check(&s, &none, true, 60000, socket_exists, &err) < 0);
	}
}

static void replies(void **state)
{
	static const struct {
		const char *reply, *text;
		enum err_kind kind;
		const char *message;
	} cases[] = {
		{ "0\nhello\nworld\n", "hello\nworld\n", ERR_NONE, "" },
		{ "0\n", "", ERR_NONE, "" },
		{ "0", NULL, ERR_MALFORMED, "return code" },
		{ "", NULL, ERR_MALFORMED, "return code" },
		{ "x\nhello\n", NULL, ERR_MALFORMED, "return code" },
		{ "-1\njava.lang.IllegalArgumentException: Unknown diagnostic command\n", NULL, ERR_UNSUPPORTED,
		  "(-1): java.lang.Ill" },
		{ "101\n\n\n", NULL, ERR_UNSUPPORTED, "(101): no reason given" },
		{ "1\n\x1b[2Jgone\n", NULL, ERR_UNSUPPORTED, "\\x1b[2Jgone" },
		{ "99999999999999999999\nx\n", NULL, ERR_MALFORMED, "return code" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		auto_buf struct buf out = { .cap = 1000 };
		struct err err = { 0 };
		struct str reply = tight_of(str_of(cases[i].reply));
		int rc = attach_parse_reply(reply, &out, &err);
		tight_free(reply);
		assert_int_equal(rc == 0, cases[i].kind == ERR_NONE);
		assert_int_equal(err.kind, cases[i].kind);
		if (!strstr(err.message, cases[i].message))
			fail_msg("%s", err.message);
		if (cases[i].text)
			assert_true(str_eq(buf_str(&out), str_of(cases[i].text)));
	}
	auto_buf struct buf small = { .cap = 3 };
	struct err err = { 0 };
	assert_true(attach_parse_reply(STR("0\nlong\n"), &small, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
}

/* --- a scripted peer ---------------------------------------------------------------------------------- */

enum script { PEER_ANSWERS, PEER_SILENT, PEER_STOPS_HALFWAY, PEER_CLOSES, PEER_DEAF };

struct peer {
	int pid;
	char socket[64];
	struct process_status status;
	struct attach_target target;
	struct jvm_flags flags;
};

static void serve(int listener, enum script script)
{
	for (unsigned n = 0;; n++) {
		char request[256];
		int fd = accept(listener, NULL, NULL);
		if (fd < 0 || script == PEER_SILENT)
			(void)pause();
		ssize_t len = recv(fd, request, sizeof request, 0);
		if (len > 8 && script == PEER_STOPS_HALFWAY && strcmp(request + 7, "second") == 0) {
			(void)!write(fd, "0\nhalf", 6);
			(void)pause();
		}
		if (len > 8 && script != PEER_CLOSES) {
			(void)!write(fd, "0\n", 2);
			(void)!write(fd, request + 7, strlen(request + 7));
		}
		(void)close(fd);
	}
}

/* A process of ours that listens where a JVM would; pid 0 of `listen_as`: under its own pid. */
static void start_peer(struct peer *peer, enum script script)
{
	int ready[2];
	assert_int_equal(pipe(ready), 0);
	memset(peer, 0, sizeof *peer);
	peer->pid = fork();
	assert_true(peer->pid >= 0);
	if (peer->pid == 0) {
		struct sockaddr_un address = { .sun_family = AF_UNIX };
		(void)snprintf(address.sun_path, sizeof address.sun_path, "/tmp/.java_pid%d", getpid());
		(void)alarm(20);
		(void)unlink(address.sun_path); /* of a JVM with this pid that was killed, and could not */
		int listener = socket(AF_UNIX, SOCK_STREAM, 0);
		if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 ||
		    chmod(address.sun_path, 0600) < 0 || (script != PEER_DEAF && listen(listener, 5) < 0))
			_exit(1);
		(void)!write(ready[1], "", 1);
		if (script == PEER_DEAF)
			for (;;)
				(void)pause();
		serve(listener, script);
	}
	char byte;
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)snprintf(peer->socket, sizeof peer->socket, "/tmp/.java_pid%d", peer->pid);
	peer->status = fine_status();
	peer->status.ns_pid = count_of((uint64_t)peer->pid);
	peer->status.sig_caught = count_of(0); /* a signal would end it: the run must not send one */
	peer->target = (struct attach_target){ { 0, 0 }, &peer->status, &peer->flags, true, 60000 };
	auto_close int proc = -1, pid_fd = -1;
	struct err err = { 0 };
	assert_int_equal(proc_root_open("/proc", &proc, &err), 0);
	assert_int_equal(proc_open(proc, peer->pid, &pid_fd, &err), 0);
	assert_int_equal(procid_read(pid_fd, &peer->target.id, &err), 0);
}

static void stop_peer(struct peer *peer)
{
	int status = 0;
	(void)kill(peer->pid, SIGKILL);
	assert_int_equal(waitpid(peer->pid, &status, 0), peer->pid);
	/* It lived until now: nobody sent SIGQUIT. */
	assert_int_equal(WTERMSIG(status), SIGKILL);
	(void)unlink(peer->socket);
	/* No child of ours is left. */
	assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static const char *const two[] = { "first", "second" };

static void peer_answers(void **state)
{
	struct peer peer;
	struct attach_answer answers[2] = { 0 };
	struct err err = { 0 };
	(void)state;
	start_peer(&peer, PEER_ANSWERS);
	if (attach_run(&peer.target, two, 2, 5000, answers, &err) < 0)
		fail_msg("%s", err.message);
	assert_true(str_eq(buf_str(&answers[0].text), STR("first")));
	assert_true(str_eq(buf_str(&answers[1].text), STR("second")));
	attach_answers_done(answers, 2);
	stop_peer(&peer);
}

static void peer_hangs(void **state)
{
	struct peer peer;
	struct attach_answer answers[2] = { 0 };
	struct err err = { 0 };
	(void)state;
	start_peer(&peer, PEER_SILENT);
	struct mono start = clock_mono();
	int rc = attach_run(&peer.target, two, 2, 400, answers, &err);
	assert_true(mono_ms_until(start, clock_mono()) < 5000); /* the peer would hang for ever */
	assert_int_equal(rc < 0 ? err.kind : answers[0].err.kind, ERR_TIMEOUT);
	attach_answers_done(answers, 2);
	stop_peer(&peer);
}

/* What came whole is kept; what did not is a timeout, never half an answer. */
static void peer_stops_halfway(void **state)
{
	struct peer peer;
	struct attach_answer answers[2] = { 0 };
	struct err err = { 0 };
	(void)state;
	start_peer(&peer, PEER_STOPS_HALFWAY);
	assert_int_equal(attach_run(&peer.target, two, 2, 400, answers, &err), 0);
	assert_int_equal(answers[0].err.kind, ERR_NONE);
	assert_true(str_eq(buf_str(&answers[0].text), STR("first")));
	assert_int_equal(answers[1].err.kind, ERR_TIMEOUT);
	assert_int_equal(answers[1].text.len, 0);
	attach_answers_done(answers, 2);
	stop_peer(&peer);
}

static void peer_closes(void **state)
{
	struct peer peer;
	struct attach_answer answers[2] = { 0 };
	struct err err = { 0 };
	(void)state;
	start_peer(&peer, PEER_CLOSES);
	assert_int_equal(attach_run(&peer.target, two, 2, 2000, answers, &err), 0);
	assert_int_equal(answers[0].err.kind, ERR_MALFORMED);
	attach_answers_done(answers, 2);
	stop_peer(&peer);
}

static void refused(struct peer *peer, enum err_kind kind, const char *message)
{
	struct attach_answer answers[2] = { 0 };
	struct err err = { 0 };
	assert_true(attach_run(&peer->target, two, 2, 2000, answers, &err) < 0);
	if (err.kind != kind || !strstr(err.message, message))
		fail_msg("%s: %s", err_kind_names[err.kind], err.message);
	assert_null(answers[0].text.ptr);
}

/* A socket that nobody listens on would need the signal, and that is refused: it is not caught. */
static void stale_socket(void **state)
{
	struct peer peer;
	(void)state;
	start_peer(&peer, PEER_DEAF);
	refused(&peer, ERR_UNSUPPORTED, "does not catch SIGQUIT");
	(void)unlink(peer.socket);
	refused(&peer, ERR_UNSUPPORTED, "does not catch SIGQUIT");
	stop_peer(&peer);
}

static void wrong_file(void **state)
{
	struct peer peer, other;
	char command[64];
	(void)state;
	start_peer(&peer, PEER_DEAF);
	start_peer(&other, PEER_ANSWERS);
	(void)unlink(peer.socket);
	(void)snprintf(command, sizeof command, "%s", other.socket);
	assert_int_equal(symlink(command, peer.socket), 0);
	refused(&peer, ERR_UNSUPPORTED, "no socket");
	(void)unlink(peer.socket);
	(void)close(open(peer.socket, O_CREAT | O_EXCL | O_WRONLY, 0600));
	refused(&peer, ERR_UNSUPPORTED, "no socket");
	(void)unlink(peer.socket);
	assert_int_equal(link(other.socket, peer.socket), 0);
	refused(&peer, ERR_UNSUPPORTED, "another process");
	(void)kill(other.pid, SIGKILL);
	assert_int_equal(waitpid(other.pid, NULL, 0), other.pid);
	(void)unlink(other.socket);
	stop_peer(&peer);
}

static void wrong_process(void **state)
{
	struct peer peer;
	(void)state;
	start_peer(&peer, PEER_ANSWERS);
	peer.target.id.start_ticks++;
	refused(&peer, ERR_GONE, "another process");
	peer.target.id.start_ticks--;
	(void)kill(peer.pid, SIGSTOP);
	assert_int_equal(waitpid(peer.pid, NULL, WUNTRACED), peer.pid);
	refused(&peer, ERR_UNSUPPORTED, "stopped");
	(void)kill(peer.pid, SIGCONT);
	peer.flags.attach_disabled = true;
	refused(&peer, ERR_UNSUPPORTED, "DisableAttachMechanism");
	peer.flags.attach_disabled = false;
	peer.status.uid_effective = count_of(geteuid() + 1);
	refused(&peer, geteuid() == 0 ? ERR_UNSUPPORTED : ERR_DENIED, "uid");
	peer.status.uid_effective = count_of(geteuid());
	stop_peer(&peer);
	refused(&peer, ERR_GONE, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decision),           cmocka_unit_test(replies),
		cmocka_unit_test(peer_answers),       cmocka_unit_test(peer_hangs),
		cmocka_unit_test(peer_stops_halfway), cmocka_unit_test(peer_closes),
		cmocka_unit_test(stale_socket),       cmocka_unit_test(wrong_file),
		cmocka_unit_test(wrong_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
