/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/auth.h"

#include <stdio.h>
#include <strings.h>

#include "base/esc.h"
#include "collector/auth_review.h"
#include "collector/login.h"
#include "collector/proxy.h"
#include "collector/tokens.h"
#include "net/hash.h"
#include "wire/jwt.h"

enum { LOOK_AGAIN_MS = 1000 }; /* at the files of tokens: two stat(2) a second at most */

struct auth {
	struct auth_options options;
	struct tokens agents, viewers, proxied;
	struct proxy proxy;      /* where there is a file of its viewers */
	struct reviews *reviews; /* NULL: none are made */
	struct loop *loop;
	struct mono looked;
	unsigned generation, viewers_generation, proxy_generation; /* of agents' tokens, viewers', the proxy's */
	struct auth_counts counts;
};

/* --- files ---------------------------------------------------------------------------------- */

static int read_again(struct tokens *tokens, const char *path, enum tokens_kind kind, struct err *err)
{
	struct tokens fresh;
	if (!path)
		return 0;
	int rc = tokens_read(path, kind, &fresh, err);
	if (rc < 0)
		return rc;
	tokens_done(tokens);
	*tokens = fresh;
	return 0;
}

int auth_reload(struct auth *auth, struct err *err)
{
	struct err second;
	int rc = read_again(&auth->agents, auth->options.agent_tokens_file, TOKENS_AGENTS, err);
	auth->generation += rc == 0;
	/* One that fails keeps none of the others from being read; the first failure is told. */
	int other =
		read_again(&auth->viewers, auth->options.viewer_tokens_file, TOKENS_VIEWERS, rc < 0 ? &second : err);
	rc = rc < 0 ? rc : other;
	auth->viewers_generation += other == 0;
	other = read_again(&auth->proxied, auth->options.proxy_viewers_file, TOKENS_PROXY, rc < 0 ? &second : err);
	auth->proxy_generation += other == 0;
	return rc < 0 ? rc : other;
}

static bool look_at(struct auth *auth, struct tokens *tokens, const char *path, enum tokens_kind kind)
{
	struct err err;
	if (!path || !tokens_changed(tokens, path))
		return false;
	if (read_again(tokens, path, kind, &err) < 0) {
		char shown[2 * sizeof err.message];
		logger_say(auth->options.log, SAY_ERROR, "tokens-unusable", "%s: what was read before still holds",
			   esc_copy(shown, sizeof shown, str_of(err.message)));
		return false;
	}
	logger_say(auth->options.log, SAY_INFO, "tokens-read", "%s was read again: %zu tokens", path, tokens->n);
	return true;
}

static void look_at_files(struct auth *auth)
{
	struct mono now = loop_now(auth->loop);
	if (mono_ms_until(now, mono_add_ms(auth->looked, LOOK_AGAIN_MS)))
		return;
	auth->looked = now;
	auth->generation += look_at(auth, &auth->agents, auth->options.agent_tokens_file, TOKENS_AGENTS);
	/* A viewer's is asked for at each request. */
	auth->viewers_generation += look_at(auth, &auth->viewers, auth->options.viewer_tokens_file, TOKENS_VIEWERS);
	auth->proxy_generation += look_at(auth, &auth->proxied, auth->options.proxy_viewers_file, TOKENS_PROXY);
}

unsigned auth_step(struct auth *auth)
{
	look_at_files(auth);
	if (auth->reviews)
		reviews_step(auth->reviews);
	return auth->generation;
}

unsigned auth_viewers_generation(const struct auth *auth)
{
	return auth->viewers_generation + auth->proxy_generation;
}

bool auth_holds(const struct auth *auth, const char *method, const char *id)
{
	if (strcmp(method, "token") != 0)
		return true;
	for (size_t i = 0; i < auth->agents.n; i++)
		if (strcmp(auth->agents.agents[i], id) == 0)
			return true;
	return false;
}

/* --- life ----------------------------------------------------------------------------------- */

int auth_new(struct loop *loop, const struct auth_options *options, struct store *store, struct auth **ret_auth,
	     struct err *err)
{
	struct auth *auth = calloc(1, sizeof *auth);
	if (!auth)
		return err_set(err, ERR_NOMEM, "no memory for authentication");
	auth->options = *options;
	auth->loop = loop;
	auth->looked = loop_now(loop);
	int rc = auth_reload(auth, err);
	if (rc == 0 && options->proxy_viewers_file)
		rc = proxy_init(&auth->proxy, options->proxy_peers, options->proxy_user_header,
				options->proxy_groups_header, err);
	if (rc == 0 && options->review_url)
		rc = reviews_new(loop, options, store, &auth->counts, &auth->reviews, err);
	if (rc < 0) {
		auth_free(auth);
		return rc;
	}
	*ret_auth = auth;
	return 0;
}

void auth_stop(struct auth *auth)
{
	if (auth->reviews)
		reviews_stop(auth->reviews);
}

void auth_free(struct auth *auth)
{
	if (!auth)
		return;
	reviews_free(auth->reviews);
	tokens_done(&auth->agents);
	tokens_done(&auth->viewers);
	tokens_done(&auth->proxied);
	free(auth);
}

void auth_count(const struct auth *auth, struct auth_counts *ret_counts)
{
	*ret_counts = auth->counts;
}

/* --- refusals ------------------------------------------------------------------------------- */

static void refuse(struct server_reply *reply, unsigned status, unsigned retry_after_s, const char *text)
{
	reply->retry_after_s = retry_after_s;
	(void)server_refuse(reply, status, text);
	if (status == 401)
		str_copy(reply->extra, sizeof reply->extra, STR("WWW-Authenticate: Bearer\r\n"));
}

bool auth_bearer(const struct server_request *request, struct str *ret_token)
{
	struct str header = server_header(request, "authorization");
	/* The scheme's case does not matter (RFC 9110 section 11.1). */
	if (header.len < 8 || strncasecmp(header.ptr, "Bearer ", 7) != 0)
		return false;
	*ret_token = str_trim(str_skip(header, 7));
	return ret_token->len > 0 && ret_token->len <= JWT_MAX;
}

/* --- agents --------------------------------------------------------------------------------- */

/* A name that a certificate gives: it becomes a row's key and stands in messages. */
static bool is_id(const char *text)
{
	size_t len = strlen(text);
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] >= 0x7f)
			return false;
	return len > 0 && len < WIRE_NAME_CAP;
}

static bool by_certificate(const struct auth *auth, const struct server_request *request, struct auth_agent *agent)
{
	for (size_t i = 0; auth->options.client_certificates && i < request->n_sans; i++) {
		if (!is_id(request->sans[i]))
			continue;
		str_copy(agent->id, sizeof agent->id, str_of(request->sans[i]));
		memcpy(agent->method, "certificate", sizeof "certificate");
		return true;
	}
	return false;
}

static bool by_token(const struct auth *auth, const uint8_t *digest, struct auth_agent *agent)
{
	const struct token_row *row = tokens_find(&auth->agents, digest);
	if (!row)
		return false;
	memcpy(agent->id, auth->agents.agents[row->who], sizeof agent->id);
	memcpy(agent->method, "token", sizeof "token");
	return true;
}

static bool by_review(struct auth *auth, struct str token, const uint8_t *digest, struct wall now,
		      struct auth_agent *agent, struct server_reply *reply)
{
	struct review_verdict verdict;
	reviews_ask(auth->reviews, token, digest, now, agent, &verdict);
	if (verdict.kind == REVIEW_GOOD)
		return true;
	if (verdict.kind == REVIEW_LATER) {
		refuse(reply, 503, verdict.retry_after_s, "the token is being reviewed: try again");
		return false;
	}
	auth->counts.refused_total++;
	if (verdict.kind == REVIEW_NOT_ALLOWED) {
		auth->counts.not_allowed_total++;
		refuse(reply, 403, 0, "agents of this namespace or service account are not allowed here");
		return false;
	}
	logger_say(auth->options.log, SAY_WARNING, "agent-refused", "a token is refused: %s", verdict.why);
	refuse(reply, 401, 0, "the token is not accepted");
	return false;
}

bool auth_agent(struct auth *auth, const struct server_request *request, struct wall now, struct auth_agent *ret_agent,
		struct server_reply *reply)
{
	struct auth_agent agent = { 0 };
	uint8_t digest[HASH_SHA256_LEN];
	struct str token = { 0 };
	struct err err;
	look_at_files(auth);
	bool known = by_certificate(auth, request, &agent);
	if (!known && auth->options.open) {
		memcpy(agent.method, "open", sizeof "open");
		known = true;
	}
	if (!known && auth_bearer(request, &token)) {
		if (hash_sha256(token, digest, &err) < 0) {
			refuse(reply, 503, 5, "no memory");
			return false;
		}
		known = by_token(auth, digest, &agent);
		if (!known && auth->reviews) {
			if (!by_review(auth, token, digest, now, &agent, reply))
				return false;
			known = true;
		}
	}
	if (!known) {
		auth->counts.refused_total++;
		logger_say(auth->options.log, SAY_WARNING, "agent-refused", "an agent at %s %s", request->peer,
			   token.len ? "showed a token that is not known here"
				     : "showed neither a token nor a certificate that is known here");
		refuse(reply, 401, 0, "an agent needs a client certificate or a token that is known here");
		return false;
	}
	auth->counts.accepted_total++;
	*ret_agent = agent;
	return true;
}

/* --- people --------------------------------------------------------------------------------- */

static bool cookie(const struct server_request *request, const char *name, struct str *ret_value)
{
	struct str rest = server_header(request, "cookie"), part;
	while (str_split(&rest, ';', &part)) {
		part = str_trim(part);
		if (!str_take(&part, str_of(name)) || !str_take(&part, STR("=")))
			continue;
		*ret_value = part;
		return part.len > 0;
	}
	return false;
}

const char *auth_proxy_header(const struct auth *auth)
{
	return auth->options.proxy_viewers_file ? auth->proxy.user_header : NULL;
}

/* `digest` may be that of `*ret_viewer`. */
static bool viewer_of(const struct auth *auth, const uint8_t digest[HASH_SHA256_LEN], struct auth_viewer *ret_viewer)
{
	const struct token_row *row = tokens_find(&auth->viewers, digest);
	if (!row)
		return false;
	struct auth_viewer viewer = auth->viewers.viewers[row->who];
	viewer.way = AUTH_TOKEN;
	memcpy(viewer.token_sha256, digest, sizeof viewer.token_sha256);
	*ret_viewer = viewer;
	return true;
}

bool auth_token(struct auth *auth, struct str token, struct auth_viewer *ret_viewer)
{
	uint8_t digest[HASH_SHA256_LEN];
	struct err err;
	look_at_files(auth);
	return hash_sha256(token, digest, &err) == 0 && viewer_of(auth, digest, ret_viewer);
}

/* The proxy, or somebody in its name, has answered who it is: `*ret_known`, or `reply` says why not. */
static bool by_proxy(struct auth *auth, const struct server_request *request, struct auth_viewer *ret_viewer,
		     struct server_reply *reply, bool *ret_known)
{
	enum proxy_says says = proxy_viewer(&auth->proxy, &auth->proxied, request, ret_viewer);
	*ret_known = says == PROXY_USER;
	if (says == PROXY_USER) {
		ret_viewer->way = AUTH_PROXY;
		ret_viewer->generation = auth->proxy_generation;
	}
	if (says == PROXY_NO_ROLE) {
		refuse(reply, 403, 0, "the proxy knows you, and no line of --proxy-viewers gives you a role");
	} else if (says == PROXY_STRANGER) {
		logger_say(auth->options.log, SAY_WARNING, "proxy-stranger",
			   "%s sent %s and is none of --proxy-peers: the request is refused", request->peer,
			   auth->proxy.user_header);
		refuse(reply, 401, 0, "a header that a proxy of ours alone may send came from another address");
	}
	return says != PROXY_NOTHING;
}

bool auth_viewer(struct auth *auth, const struct server_request *request, struct auth_viewer *ret_viewer,
		 struct server_reply *reply)
{
	struct str token;
	char from_cookie[LOGIN_TOKEN_CAP];
	bool known;
	look_at_files(auth);
	if (auth->options.open_viewers) {
		*ret_viewer = (struct auth_viewer){ .role = AUTH_OPERATOR, .name = "anonymous" };
		return true;
	}
	if (auth->options.proxy_viewers_file && by_proxy(auth, request, ret_viewer, reply, &known))
		return known;
	bool shown = auth_bearer(request, &token);
	/* With a wrong token the cookie does not count either: web_origin_ok() lets whoever shows one come from anywhere. */
	if (!shown && cookie(request, LOGIN_COOKIE, &token) &&
	    login_cookie_decode(token, from_cookie, sizeof from_cookie)) {
		token = str_of(from_cookie);
		shown = true;
	}
	if (shown && auth_token(auth, token, ret_viewer))
		return true;
	refuse(reply, 401, 0, "a token of a viewer or operator is needed: Authorization: Bearer TOKEN");
	return false;
}

bool auth_viewer_again(struct auth *auth, struct auth_viewer *viewer)
{
	look_at_files(auth);
	if (viewer->way == AUTH_OPEN)
		return auth->options.open_viewers;
	if (viewer->way == AUTH_PROXY)
		return viewer->generation == auth->proxy_generation;
	return viewer_of(auth, viewer->token_sha256, viewer);
}

bool auth_sees(const struct auth_viewer *viewer, const char *namespace_)
{
	for (size_t i = 0; i < viewer->n_namespaces; i++)
		if (strcmp(viewer->namespaces[i], namespace_) == 0)
			return true;
	return viewer->n_namespaces == 0;
}
