/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/listen.h"

#define TLS .tls_cert = "c", .tls_key = "k"

static void what_may_be_served(void **state)
{
	static const struct {
		struct collectorconf conf;
		const char *says; /* "": it may */
		unsigned serves[2];
	} cases[] = {
		{ { .listen = "127.0.0.1:8480" }, "", { LISTEN_AGENTS | LISTEN_API | LISTEN_METRICS } },
		{ { .listen = "[::1]:8480" }, "", { LISTEN_AGENTS | LISTEN_API | LISTEN_METRICS } },
		{ { .listen = "127.0.0.1:1", .listen_agents = "127.0.0.1:2" },
		  "",
		  { LISTEN_API | LISTEN_METRICS, LISTEN_AGENTS } },
		{ { .listen = "127.0.0.1:1", .listen_agents = "off" }, "", { LISTEN_API | LISTEN_METRICS } },
		{ { .listen = "off", .listen_metrics = ":8482", .listen_agents = "127.0.0.1:2" },
		  "",
		  { LISTEN_AGENTS, LISTEN_METRICS } },
		{ { .listen = "off" }, "nowhere to listen", { 0 } },
		{ { 0 }, "nowhere to listen", { 0 } },
		{ { .listen = ":8480" },
		  "--listen :8480 is not loopback: add --tls-cert and --tls-key, --agent-tokens (or --client-ca, or "
		  "--review-url), --viewer-tokens (or --proxy-viewers), or say --insecure",
		  { 0 } },
		{ { .listen = "0.0.0.0:8480" }, "--listen 0.0.0.0:8480 is not loopback", { 0 } },
		{ { .listen = "[::]:8480" }, "--listen [::]:8480 is not loopback", { 0 } },
		{ { .listen = "10.0.0.1:8480" }, "--listen 10.0.0.1:8480 is not loopback", { 0 } },
		{ { .listen = ":1", .insecure = true }, "", { LISTEN_AGENTS | LISTEN_API | LISTEN_METRICS } },
		{ { .listen = ":1", TLS },
		  "--listen :1 is not loopback: add --agent-tokens (or --client-ca, or "
		  "--review-url), --viewer-tokens (or --proxy-viewers), or say --insecure",
		  { 0 } },
		{ { .listen = ":1", TLS, .agent_tokens = "t" },
		  "--listen :1 is not loopback: add --viewer-tokens (or --proxy-viewers), or say --insecure",
		  { 0 } },
		{ { .listen = ":1", TLS, .viewer_tokens = "v" },
		  "--listen :1 is not loopback: add --agent-tokens",
		  { 0 } },
		{ { .listen = ":1", .agent_tokens = "t", .viewer_tokens = "v" },
		  "--listen :1 is not loopback: add --tls-cert and --tls-key, or say --insecure",
		  { 0 } },
		{ { .listen = ":1", TLS, .agent_tokens = "t", .viewer_tokens = "v" },
		  "",
		  { LISTEN_AGENTS | LISTEN_API | LISTEN_METRICS } },
		{ { .listen = ":1", TLS, .agent_tokens = "t", .proxy_viewers = "p" },
		  "",
		  { LISTEN_AGENTS | LISTEN_API | LISTEN_METRICS } },
		{ { .listen_agents = ":2", TLS, .client_ca = "ca" }, "", { LISTEN_AGENTS } },
		{ { .listen_agents = ":2", TLS, .review_url = "u" }, "", { LISTEN_AGENTS } },
		{ { .listen_agents = ":2", TLS, .viewer_tokens = "v" },
		  "--listen-agents :2 is not loopback: add --agent-tokens",
		  { 0 } },
		{ { .listen = "127.0.0.1:1", .listen_agents = ":2", TLS, .agent_tokens = "t" },
		  "",
		  { LISTEN_API | LISTEN_METRICS, LISTEN_AGENTS } },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct listen_plan plan = { .n = 77 };
		struct err err = { 0 };
		int rc = listen_plan(&cases[i].conf, &plan, &err);
		if (strncmp(err.message, cases[i].says, strlen(cases[i].says)) != 0 || (rc == 0) != !cases[i].says[0])
			fail_msg("case %zu: '%s'", i, err.message);
		if (rc < 0) {
			assert_int_equal(err.kind, ERR_USAGE);
			assert_int_equal(plan.n, 77);
			continue;
		}
		assert_int_equal(plan.n, cases[i].serves[1] ? 2 : 1);
		for (size_t j = 0; j < plan.n; j++)
			assert_int_equal(plan.listeners[j].serves, cases[i].serves[j]);
		assert_int_equal(plan.open_viewers, !cases[i].conf.viewer_tokens && !cases[i].conf.proxy_viewers);
	}
}

static void hosts(void **state)
{
	static const struct {
		const char *host;
		bool address;
	} cases[] = { { "127.0.0.1", true },
		      { "127.0.0.1:8481", true },
		      { "localhost", true },
		      { "LocalHost:8481", true },
		      { "[::1]:8481", true },
		      { "[::1]", true },
		      { "10.1.2.3:1", true },
		      { "", false },
		      { ":8481", false },
		      { "evil.example", false },
		      { "evil.example:8481", false },
		      { "localhost.evil.example", false },
		      { "127.0.0.1.evil.example", false },
		      { "[evil]:1", false } };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (listen_host_is_address(str_of(cases[i].host)) != cases[i].address)
			fail_msg("'%s'", cases[i].host);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_may_be_served), cmocka_unit_test(hosts) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
