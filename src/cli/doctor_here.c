/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor_here.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/collect.h"
#include "agent/target.h"
#include "net/wsclient.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "wire/jwt.h"
#include "wire/wire.h"

enum { TRIES = 4, TOKEN_SOON_S = 30 };

static void look_at(struct checkup *checkup, const struct evidence *evidence, const char *name, const char *what,
		    const char *fix)
{
	const struct evidence_item *item = evidence_find(evidence, name);
	if (item && item->err.kind != ERR_NONE)
		checkup_say(checkup, CHECKUP_BAD, what, fix, "%s", item->err.message);
	else if (item)
		checkup_say(checkup, CHECKUP_OK, what, NULL, "it can be read");
}

void doctor_access(struct checkup *checkup, const struct agentconf *conf)
{
	struct err err = { 0 };
	struct collect_options options = {
		.pid = conf->pid, .no_attach = true, .no_metrics = true, .limit = conf->limit
	};
	size_t others = 0;
	if (!options.pid && target_first(NULL, &options.pid, &others, &err) < 0) {
		checkup_say(
			checkup, CHECKUP_BAD, "JVM",
			"is it started? Set shareProcessNamespace: true; another JVM than of Flink or Kafka Streams takes --pid",
			"%s", err.message);
		return;
	}
	checkup_say(checkup, CHECKUP_OK, "JVM", NULL, "process %d%s", options.pid,
		    others ? ", the first of several" : "");
	struct evidence *evidence = calloc(1, sizeof *evidence);
	if (!evidence)
		return;
	evidence_init(evidence);
	if (collect_run(&options, evidence, &err) < 0) {
		checkup_say(checkup, CHECKUP_BAD, "access", "try again", "%s", err.message);
	} else {
		static const char same[] =
			"give both containers the same runAsUser and runAsGroup, and drop all capabilities of both";
		look_at(checkup, evidence, "proc/smaps", "its mappings", same);
		look_at(checkup, evidence, "cgroup/memory.current", "its container's memory", same);
		look_at(checkup, evidence, "cgroup", "its container's cgroup",
			"a node on cgroup v1, or no right to look: say the limit by --limit, and the rest is read");
	}
	evidence_done(evidence);
	free(evidence);
}

static void look_at_token(struct checkup *checkup, const struct agentconf *conf)
{
	struct err err = { 0 };
	struct jwt jwt;
	auto_buf struct buf text = { .cap = JWT_MAX };
	static const char fix[] =
		"mount a projected serviceAccountToken with the collector's audience, readable by the sidecar's user";
	if (!conf->token_file)
		return;
	if (file_read_at(AT_FDCWD, conf->token_file, JWT_MAX, &text, &err) < 0) {
		checkup_say(checkup, CHECKUP_BAD, "token", fix, "%s", err.message);
		return;
	}
	struct str token = str_trim(buf_str(&text));
	if (jwt_parse(token, "", &jwt, &err) < 0) {
		checkup_say(checkup, CHECKUP_NOTE, "token", NULL,
			    "no service-account token, which a static one need not be");
		return;
	}
	int64_t left_s = (jwt.expires.ms - clock_wall().ms) / 1000;
	if (left_s < TOKEN_SOON_S)
		checkup_say(
			checkup, CHECKUP_BAD, "token",
			"the kubelet renews it at four fifths of its life, but not through a subPath mount or a copy: mount the volume itself. Is the node's clock right?",
			"it %s %lld s", left_s < 0 ? "has been expired for" : "expires in",
			(long long)(left_s < 0 ? -left_s : left_s));
	else if (conf->subject.pod[0] && jwt.pod[0] && strcmp(conf->subject.pod, jwt.pod) != 0)
		checkup_say(checkup, CHECKUP_BAD, "token", fix, "it is that of the pod %s, and this is %s", jwt.pod,
			    conf->subject.pod);
	else
		checkup_say(checkup, CHECKUP_OK, "token", NULL, "of the pod %s/%s, good for %lld s more",
			    jwt.namespace_, jwt.pod[0] ? jwt.pod : "(bound to none)", (long long)left_s);
}

void doctor_files(struct checkup *checkup, const struct agentconf *conf)
{
	if (conf->state_dir && access(conf->state_dir, W_OK | X_OK) == 0)
		checkup_say(checkup, CHECKUP_OK, "state directory", NULL, "%s can be written", conf->state_dir);
	else if (conf->state_dir)
		checkup_say(checkup, CHECKUP_BAD, "state directory",
			    "mount an emptyDir there; without it what is unsent is kept in memory alone",
			    "%s cannot be written", conf->state_dir);
	if (conf->ca_file && access(conf->ca_file, R_OK) != 0)
		checkup_say(checkup, CHECKUP_BAD, "authority", "mount the ConfigMap with ca.crt there",
			    "%s cannot be read", conf->ca_file);
	look_at_token(checkup, conf);
}

/* --- the collector --- */

struct call {
	struct loop *loop;
	struct loop_timer *timer;
	struct wsclient *client;
	struct wsclient_ended ended;
	bool open;
	unsigned tries;
};

static void on_open(void *context)
{
	struct call *call = context;
	call->open = true;
	wsclient_close(call->client, 1000, "doctor");
}

static void on_frame(void *context, struct str frame)
{
	(void)context;
	(void)frame;
}

static bool on_writable(void *context, struct buf *frame)
{
	(void)context;
	(void)frame;
	return false;
}

/* A token that it has not seen is answered by 503 until the API server has said what it is. */
static void on_end(void *context, const struct wsclient_ended *ended)
{
	struct call *call = context;
	call->ended = *ended;
	if (!call->open && ended->end == WSCLIENT_REFUSED && ended->http_status == 503 && ++call->tries < TRIES)
		loop_timer_set(call->timer, 1000 * (uint64_t)(ended->retry_after_s ? ended->retry_after_s : 1));
	else
		loop_stop(call->loop);
}

static void on_timer(void *context)
{
	struct call *call = context;
	if (wsclient_connect(call->client, NULL) < 0)
		loop_stop(call->loop);
}

static const char *fix_of(const struct wsclient_ended *ended)
{
	if (ended->end == WSCLIENT_UNREACHED)
		return "is the URL right, does a NetworkPolicy of this namespace let it out, does the name resolve, and is the CA the collector's?";
	switch (ended->http_status) {
	case 401:
		return "the token's audience must be the collector's --audience; its log says agent-refused, and why";
	case 403:
		return "add this pod's namespace or service account to the collector's --allow-agents (collector.allowAgents of the chart)";
	case 404:
		return "agents connect to /agent on the port of --listen-agents (8480)";
	case 503:
		return "the collector cannot reach the API server's token review: its log says review-failed";
	default:
		return "the collector's log says why";
	}
}

static void say_call(struct checkup *checkup, const struct call *call, const char *url)
{
	const struct wsclient_ended *ended = &call->ended;
	if (call->open)
		checkup_say(checkup, CHECKUP_OK, "collector", NULL, "%s takes this agent", url);
	else if (ended->end == WSCLIENT_REFUSED)
		checkup_say(checkup, CHECKUP_BAD, "collector", fix_of(ended), "%s refuses with status %u%s%s", url,
			    ended->http_status, ended->why[0] ? ": " : "", ended->why);
	else
		checkup_say(checkup, CHECKUP_BAD, "collector", fix_of(ended), "%s: %s", url, ended->why);
}

static void call_done(struct call *call)
{
	wsclient_free(call->client);
	loop_timer_free(call->timer);
	loop_free(call->loop);
}

void doctor_collector(struct checkup *checkup, const struct agentconf *conf)
{
	struct err err = { 0 };
	auto_(call_done) struct call call = { 0 };
	static const struct wsclient_events events = { on_open, on_frame, on_writable, on_end };
	struct wsclient_options options = { .url = conf->collector,
					    .protocol = WIRE_PROTOCOL,
					    .token_file = conf->token_file,
					    .ca_file = conf->ca_file,
					    .ca_pem = conf->ca_pem,
					    .cert_file = conf->cert_file,
					    .key_file = conf->key_file,
					    .server_name = conf->server_name,
					    .max_frame = 65536,
					    .connect_timeout_ms = 5000 };
	if (!conf->collector) {
		checkup_say(checkup, CHECKUP_NOTE, "collector", "BANKFULL_COLLECTOR names one",
			    "none is configured: /metrics and the log only");
		return;
	}
	int rc = loop_new(LOOP_POLL, NULL, NULL, &call.loop, &err);
	if (rc == 0)
		rc = loop_timer_new(call.loop, on_timer, &call, &call.timer, &err);
	if (rc == 0)
		rc = wsclient_new(call.loop, &options, &events, &call, &call.client, &err);
	if (rc == 0)
		rc = wsclient_connect(call.client, &err);
	if (rc == 0)
		rc = loop_run(call.loop, &err);
	if (rc < 0)
		checkup_say(checkup, CHECKUP_BAD, "collector", "the message says what is missing", "%s", err.message);
	else
		say_call(checkup, &call, conf->collector);
}
