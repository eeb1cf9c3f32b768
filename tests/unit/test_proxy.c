/* SPDX-License-Identifier: Apache-2.0 */
/* Which peers are proxies of ours, and what the users that they name may do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

#include <stdio.h>

#include "collector/proxy.h"
#include "support/scratch.h"

static void peers(void **state)
{
	static const struct {
		const char *list, *peer;
		bool listed;
	} rows[] = {
		{ "10.0.0.0/8", "10.255.0.1", true },
		{ "10.0.0.0/8", "11.0.0.1", false },
		{ "10.0.0.0/8", "::ffff:10.1.2.3", true }, /* the same address, written as v6 */
		{ "10.0.0.0/8", "a00::1", false },
		{ "192.0.2.7", "192.0.2.7", true },
		{ "192.0.2.7", "192.0.2.6", false },
		{ "192.0.2.4/30", "192.0.2.7", true },
		{ "192.0.2.4/30", "192.0.2.8", false },
		{ "192.0.2.5/30", "192.0.2.7", true }, /* bits behind the length do not count */
		{ "192.0.2.4/31", "192.0.2.6", false },
		{ "0.0.0.0/0", "203.0.113.9", true },
		{ "0.0.0.0/0", "2001:db8::1", false },
		{ "::/0", "2001:db8::1", true },
		{ "fd00::/8", "fdff::1", true },
		{ "fd00::/8", "fe80::1", false },
		{ "2001:db8::/33", "2001:db8:7fff::1", true },
		{ "2001:db8::/33", "2001:db8:8000::1", false },
		{ "::1", "::1", true },
		{ "::1", "127.0.0.1", false },
		{ "10.0.0.1, 10.0.0.2 ,::1", "10.0.0.2", true },
		{ "10.0.0.1", "", false },
		{ "10.0.0.1", "10.0.0.1:80", false },
		{ "0.0.0.0/0", "localhost", false },
	};
	/* One more than there is room for. */
	static const char many[] = "1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,"
				   "1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1";
	static const char *const bad[] = { "",
					   ",",
					   "10.0.0.0/33",
					   "::/129",
					   "10.0.0.0/",
					   "10.0.0.0/-1",
					   "10.0.0.0/8/8",
					   "10.0.0",
					   "proxy.svc",
					   "10.0.0.1 10.0.0.2",
					   "10.0.0.1,,10.0.0.2",
					   "[::1]",
					   "fe80::1%eth0",
					   "10.0.0.0/99999999999999999999",
					   many };
	struct proxy_peers found;
	struct err err;
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (proxy_peers_parse(rows[i].list, &found, &err) < 0)
			fail_msg("%s: %s", rows[i].list, err.message);
		if (proxy_peers_has(&found, rows[i].peer) != rows[i].listed)
			fail_msg("%s in %s", rows[i].peer, rows[i].list);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		found.n = 42;
		if (proxy_peers_parse(bad[i], &found, &err) == 0)
			fail_msg("'%s' is taken", bad[i]);
		assert_int_equal(err.kind, ERR_USAGE);
		assert_int_equal(found.n, 42);
	}
}

static const char text[] = "# who may what\n"
			   "operator root@example.com\n"
			   "viewer eve@example.com team-9\n"
			   "operator group:sre team-0,team-1\n"
			   "viewer group:dev\n"
			   "viewer * public\n";

static void roles(void **state)
{
	char cut[128 + 1];
	memset(cut, 'r', sizeof cut - 1);
	cut[sizeof cut - 1] = '\0';
	const struct {
		const char *user, *groups;
		enum proxy_says says;
		enum auth_role role;
		const char *namespace_; /* NULL: all */
	} rows[] = {
		{ "root@example.com", "", PROXY_USER, AUTH_OPERATOR, NULL },
		{ "ROOT@example.com", "", PROXY_USER, AUTH_VIEWER,
		  "public" }, /* another user: names are compared whole */
		{ "root@example.com.evil", "", PROXY_USER, AUTH_VIEWER, "public" },
		{ "ann", "sre", PROXY_USER, AUTH_OPERATOR, "team-0" },
		{ "ann", "ops,sre,dev", PROXY_USER, AUTH_OPERATOR, "team-0" },
		{ "ann", "ops , dev", PROXY_USER, AUTH_VIEWER, NULL },
		{ "ann", "sres,sr,*", PROXY_USER, AUTH_VIEWER, "public" },
		{ "eve@example.com", "sre", PROXY_USER, AUTH_VIEWER, "team-9" }, /* the first line that fits */
		{ "group:sre", "", PROXY_USER, AUTH_VIEWER, "public" },
		{ "*", "", PROXY_USER, AUTH_VIEWER, "public" },
		{ "J\xc3\xb6rg M.", "", PROXY_USER, AUTH_VIEWER, "public" },
		{ "a\x1b[2Jb", "sre", PROXY_NO_ROLE, AUTH_NONE, NULL },
		{ "a\x7f", "sre", PROXY_NO_ROLE, AUTH_NONE, NULL },
		{ cut, "sre", PROXY_NO_ROLE, AUTH_NONE, NULL }, /* cut it would be somebody else's name */
		{ cut + 1, "sre", PROXY_USER, AUTH_OPERATOR, "team-0" },
		{ "", "sre", PROXY_NO_ROLE, AUTH_NONE, NULL },
	};
	struct tokens tokens;
	struct err err = { 0 };
	(void)state;
	assert_int_equal(tokens_parse(STR(text), TOKENS_PROXY, &tokens, &err), 0);
	assert_int_equal(tokens.n, 5);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct auth_viewer viewer = { .name = "untouched" };
		enum proxy_says says = proxy_role(&tokens, str_of(rows[i].user), str_of(rows[i].groups), &viewer);
		bool all = viewer.n_namespaces == 0;
		if (says != rows[i].says || viewer.role != rows[i].role || all != (rows[i].namespace_ == NULL) ||
		    (!all && strcmp(viewer.namespaces[0], rows[i].namespace_) != 0) ||
		    strcmp(viewer.name, says == PROXY_USER ? rows[i].user : "untouched") != 0)
			fail_msg("%zu %s (%s): %d role %d name %s namespaces %zu", i, rows[i].user, rows[i].groups,
				 says, viewer.role, viewer.name, viewer.n_namespaces);
	}
	tokens_done(&tokens);
	/* A file without a line for everybody: nobody else is let in. */
	assert_int_equal(tokens_parse(STR("viewer ann\n"), TOKENS_PROXY, &tokens, &err), 0);
	struct auth_viewer viewer;
	assert_int_equal(proxy_role(&tokens, STR("bob"), STR("ann"), &viewer), PROXY_NO_ROLE);
	tokens_done(&tokens);
}

static void lines_that_are_none(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = { { "viewer\n", "line 1: expected 'ROLE USER|group:NAME|* [NAMESPACE,...]'" },
		     { "viewer ann team-0 more\n", "line 1: expected" },
		     { "\nadmin ann\n", "line 2: the role is neither" },
		     { "viewer ann a,,b\n", "line 1: the namespace has" } };
	struct tokens tokens = { .n = 42 };
	struct err err = { 0 };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_true(tokens_parse(str_of(rows[i].text), TOKENS_PROXY, &tokens, &err) < 0);
		if (strncmp(err.message, rows[i].says, strlen(rows[i].says)) != 0)
			fail_msg("%s: %s", rows[i].text, err.message);
		assert_int_equal(tokens.n, 42);
	}
}

/* It holds no secret: a ConfigMap's mode does. What others may write does not. */
static void modes(void **state)
{
	static const struct {
		mode_t mode;
		bool taken;
	} rows[] = { { 0600, true }, { 0644, true }, { 0444, true }, { 0664, false }, { 0646, false } };
	struct scratch scratch = scratch_new();
	char path[300];
	(void)state;
	scratch_file(&scratch, "roles", "viewer ann\n");
	(void)snprintf(path, sizeof path, "%s/roles", scratch.path);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct tokens tokens = { 0 };
		struct err err = { 0 };
		assert_int_equal(chmod(path, rows[i].mode), 0);
		if ((tokens_read(path, TOKENS_PROXY, &tokens, &err) == 0) != rows[i].taken)
			fail_msg("%04o: %s", (unsigned)rows[i].mode, err.message);
		tokens_done(&tokens);
	}
	scratch_done(&scratch);
}

static void who_may_say_it(void **state)
{
	static const struct {
		const char *peer, *headers[5];
		enum proxy_says says;
	} rows[] = {
		{ "10.0.0.1", { NULL }, PROXY_NOTHING },
		{ "192.0.2.1", { NULL }, PROXY_NOTHING },
		{ "10.0.0.1", { "x-auth-user", "root@example.com", NULL }, PROXY_USER },
		{ "192.0.2.1", { "x-auth-user", "root@example.com", NULL }, PROXY_STRANGER },
		{ "192.0.2.1", { "x-auth-groups", "sre", NULL }, PROXY_STRANGER },
		{ "10.0.0.1", { "x-auth-groups", "sre", NULL }, PROXY_NOTHING }, /* groups of nobody */
		{ "10.0.0.1", { "x-auth-user", "ann", "x-auth-groups", "sre", NULL }, PROXY_USER },
		{ "10.0.0.1",
		  { "x-forwarded-user", "ann", NULL },
		  PROXY_NOTHING }, /* not the header that was configured */
		{ "", { "x-auth-user", "root@example.com", NULL }, PROXY_STRANGER },
	};
	struct proxy proxy;
	struct tokens tokens;
	struct auth_viewer viewer;
	struct err err = { 0 };
	(void)state;
	assert_int_equal(proxy_init(&proxy, "10.0.0.0/8", "X-Auth-User", "X-AUTH-Groups", &err), 0);
	assert_int_equal(tokens_parse(STR(text), TOKENS_PROXY, &tokens, &err), 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct server_request request = { .headers = rows[i].headers };
		str_copy(request.peer, sizeof request.peer, str_of(rows[i].peer));
		if (proxy_viewer(&proxy, &tokens, &request, &viewer) != rows[i].says)
			fail_msg("%zu from '%s'", i, rows[i].peer);
	}
	tokens_done(&tokens);
	assert_int_equal(proxy_init(&proxy, "10.0.0.0/8", NULL, NULL, &err), 0);
	assert_string_equal(proxy.user_header, "x-forwarded-user");
	assert_string_equal(proxy.groups_header, "");
	static const char *const bad[] = {
		"",    "Origin", "HOST",     "a:b",
		"a b", "x\r\ny", "\xc3\xa9", "a-header-whose-name-is-much-too-long-for-a-header-of-anybody-at-all-1234"
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_true(proxy_init(&proxy, "10.0.0.0/8", bad[i], NULL, &err) < 0);
		assert_non_null(strstr(err.message, "--proxy-user-header"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peers), cmocka_unit_test(roles),          cmocka_unit_test(lines_that_are_none),
		cmocka_unit_test(modes), cmocka_unit_test(who_may_say_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
