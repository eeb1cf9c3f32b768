/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/listen.h"

#include <arpa/inet.h>
#include <strings.h>

#include "net/lookup.h"

static bool given(const char *text)
{
	return text && strcmp(text, "off") != 0;
}

/* "--tls-cert and --tls-key", "--viewer-tokens": what this one still needs; "" when nothing. */
static void find_missing(const struct collectorconf *conf, const struct listen_plan *plan, unsigned serves, char *dest,
			 size_t cap)
{
	auto_buf struct buf list = { .cap = cap - 1 };
	if (!conf->tls_cert)
		(void)buf_puts(&list, ", --tls-cert and --tls-key");
	if ((serves & LISTEN_AGENTS) && plan->open_agents)
		(void)buf_puts(&list, ", --agent-tokens (or --client-ca, or --review-url)");
	if ((serves & LISTEN_API) && plan->open_viewers)
		(void)buf_puts(&list, ", --viewer-tokens (or --proxy-viewers)");
	str_copy(dest, cap, str_skip(buf_str(&list), 2));
}

static int add(const struct collectorconf *conf, struct listen_plan *plan, const char *flag, const char *text,
	       unsigned serves, struct err *err)
{
	char missing[200];
	int i = (int)plan->n;
	int rc = setting_listen(text, plan->listeners[i].address, &plan->listeners[i].port, err);
	if (rc < 0) {
		err_wrap(err, "--%s", flag);
		return rc;
	}
	plan->listeners[i].name = serves == LISTEN_METRICS ? "metrics" : serves == LISTEN_AGENTS ? "agents" : "api";
	plan->listeners[i].serves = serves;
	plan->listeners[i].loopback = lookup_is_loopback(plan->listeners[i].address);
	plan->n++;
	if (plan->listeners[i].loopback || conf->insecure || serves == LISTEN_METRICS)
		return 0;
	find_missing(conf, plan, serves, missing, sizeof missing);
	return missing[0] ? err_set(err, ERR_USAGE, "--%s %s is not loopback: add %s, or say --insecure", flag, text,
				    missing)
			  : 0;
}

int listen_plan(const struct collectorconf *conf, struct listen_plan *ret_plan, struct err *err)
{
	struct listen_plan plan = {
		.open_agents = !conf->agent_tokens && !conf->client_ca && !conf->review_url,
		.open_viewers = !conf->viewer_tokens && !conf->proxy_viewers,
	};
	/* `off` is an answer, too: agents are then served nowhere. */
	unsigned all = conf->listen_agents ? LISTEN_API | LISTEN_METRICS : LISTEN_AGENTS | LISTEN_API | LISTEN_METRICS;
	int rc = 0;
	if (given(conf->listen))
		rc = add(conf, &plan, "listen", conf->listen, all, err);
	if (rc == 0 && given(conf->listen_agents))
		rc = add(conf, &plan, "listen-agents", conf->listen_agents, LISTEN_AGENTS, err);
	if (rc == 0 && given(conf->listen_metrics))
		rc = add(conf, &plan, "listen-metrics", conf->listen_metrics, LISTEN_METRICS, err);
	if (rc == 0 && plan.n == 0)
		rc = err_set(err, ERR_USAGE, "nowhere to listen: add --listen 127.0.0.1:8480");
	if (rc == 0)
		*ret_plan = plan;
	return rc;
}

bool listen_host_is_address(struct str host)
{
	char name[LISTEN_ADDRESS_CAP];
	unsigned char binary[sizeof(struct in6_addr)];
	uint64_t port;
	bool bracketed = str_take(&host, STR("["));
	size_t len = str_index(host, bracketed ? ']' : ':');
	if (len == 0 || len >= sizeof name || (bracketed && len == host.len))
		return false;
	str_copy(name, sizeof name, (struct str){ host.ptr, len });
	host = str_skip(host, bracketed ? len + 1 : len);
	if (host.len && (!str_take(&host, STR(":")) || !str_is_u64(host, &port) || port > UINT16_MAX))
		return false;
	return strcasecmp(name, "localhost") == 0 || inet_pton(AF_INET, name, binary) == 1 ||
	       inet_pton(AF_INET6, name, binary) == 1;
}
