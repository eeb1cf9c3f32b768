/* SPDX-License-Identifier: Apache-2.0 */
/* Which request goes where, by listener and path. */
#include "collector/app_parts.h"

static void refuse(struct server_reply *reply, unsigned status, unsigned retry_after_s, const char *text)
{
	reply->retry_after_s = retry_after_s;
	(void)server_refuse(reply, status, text);
}

/* Of a path that is for upgrades alone. */
static void refuse_plain(struct server_reply *reply, const char *text)
{
	refuse(reply, 426, 0, text);
	str_copy(reply->extra, sizeof reply->extra, STR("Upgrade: websocket\r\n"));
}

static bool is_agent_path(const struct server_request *request)
{
	return str_eq(request->path, STR("/agent"));
}

static bool is_live_path(const struct server_request *request)
{
	return str_eq(request->path, STR("/api/v1/live"));
}

/*
 * Open on loopback is open to every page in a browser here, if that page's own name resolves to 127.0.0.1 (DNS
 * rebinding): such a request has that name in Host. Beyond loopback, where it takes --insecure, names are in use that
 * nobody has told us, of a Service for one: there, writes and upgrades alone are held to web_host_ok().
 */
static bool is_rebound(const struct app *app, const struct server_request *request)
{
	return app->web.open && app->plan.listeners[request->listener].loopback && !web_host_ok(&app->web, request);
}

static bool is_api_path(struct str path)
{
	return str_starts(path, STR("/api/")) || str_eq(path, STR("/metrics")) || str_eq(path, STR("/healthz")) ||
	       str_eq(path, STR("/readyz"));
}

/* For people: the dashboard's API, and all around it. */
static void on_site(struct app *app, const struct server_request *request, struct server_reply *reply)
{
	if (is_rebound(app, request))
		refuse(reply, 403, 0,
		       "open on loopback: ask for localhost or the address itself, or say --public-url; not for another name");
	else if (is_live_path(request))
		refuse_plain(reply, "viewers speak WebSocket here, subprotocol " LIVE_PROTOCOL);
	else if (is_api_path(request->path))
		api_request(&app->api, API_ALL, request, clock_wall(), reply);
	else
		web_request(&app->web, request, loop_now(app->loop), reply);
	web_headers(request, reply);
}

static void on_request(void *context, const struct server_request *request, struct server_reply *reply)
{
	struct app *app = context;
	unsigned serves = app->plan.listeners[request->listener].serves;
	if ((serves & LISTEN_AGENTS) && is_agent_path(request)) {
		refuse_plain(reply, "agents speak WebSocket here, subprotocol " WIRE_PROTOCOL);
	} else if (serves == LISTEN_AGENTS) {
		refuse(reply, 404, 0, "this listener serves agents alone, at /agent");
	} else if (serves & LISTEN_API) {
		on_site(app, request, reply);
	} else {
		api_request(&app->api, API_METRICS, request, clock_wall(), reply);
	}
}

/* A page of somebody else must not look with the cookie of whoever looks at it. */
static struct live_viewer *upgrade_viewer(struct app *app, const struct server_request *request,
					  struct server_reply *reply)
{
	struct auth_viewer viewer;
	if (!auth_viewer(app->auth, request, &viewer, reply))
		return NULL;
	if (!web_host_ok(&app->web, request) || !web_origin_ok(&app->web, request)) {
		refuse(reply, 403, 0,
		       "live is for pages of this very site, or with Authorization: Bearer TOKEN for a tool");
		return NULL;
	}
	return live_open(app->live, &viewer, request->peer, reply);
}

static struct session *upgrade_agent(struct app *app, const struct server_request *request, struct server_reply *reply)
{
	struct auth_agent agent;
	/* Agents send none; a browser always does (RFC 6455 section 4.1), and no page has business here. */
	if (server_header(request, "origin").len) {
		refuse(reply, 403, 0, "no agent has an Origin");
		return NULL;
	}
	if (app->draining) {
		refuse(reply, 503, 5, "the collector stops");
		return NULL;
	}
	if (!auth_agent(app->auth, request, clock_wall(), &agent, reply))
		return NULL;
	struct session *session = ingest_open(app->ingest, &agent, request->peer);
	if (!session) {
		proof_free(agent.proof);
		refuse(reply, 503, 30, "no room for another agent");
	}
	return session;
}

static bool on_upgrade(void *context, const struct server_request *request, struct server_reply *reply,
		       void **ret_session)
{
	struct app *app = context;
	unsigned serves = app->plan.listeners[request->listener].serves;
	void *session = NULL;
	if ((serves & LISTEN_AGENTS) && is_agent_path(request) && request->protocol == ROUTE_AGENTS)
		session = upgrade_agent(app, request, reply);
	else if ((serves & LISTEN_API) && is_live_path(request) && request->protocol == ROUTE_LIVE)
		session = upgrade_viewer(app, request, reply);
	else
		refuse(reply, 404, 0,
		       "no WebSocket of this subprotocol is served here: agents at /agent, viewers at /api/v1/live");
	if (session)
		*ret_session = session;
	return session != NULL;
}

static void on_open(void *session, struct server_ws *ws)
{
	session_opened(session, ws);
}

static void on_frame(void *session, struct str frame)
{
	session_frame(session, frame);
}

static bool on_writable(void *session, struct buf *frame)
{
	return session_writable(session, frame);
}

static void on_closed(void *session, unsigned close_code)
{
	session_closed(session, close_code);
}

const struct server_events route_events = { on_request, on_upgrade, on_open, on_frame, on_writable, on_closed };
