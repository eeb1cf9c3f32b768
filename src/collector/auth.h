/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is asking. An agent is known by, in this order: a client certificate's SAN, a static token (which names exactly
 * one agent id), a Kubernetes service-account token reviewed by the API server (the pod's UID). With no method
 * configured, which is possible on loopback or with --insecure alone, the agent id is "namespace/pod" of its hello, or
 * "anonymous-<peer>:<first digits of its epoch>"; it proves nothing.
 *
 * Tokens of files are compared in constant time by their SHA-256, and held as nothing else. Files are read again when they change.
 * A review that is not cached is started and answered with 503 and Retry-After: its outcome is there by the next attempt. Tokens
 * that were reviewed are kept while their session lasts, and reviewed again (proof.h).
 */
#ifndef COLLECTOR_AUTH_H
#define COLLECTOR_AUTH_H

#include "collector/proof.h"
#include "collector/store.h"
#include "net/hash.h"
#include "net/loop.h"
#include "net/server.h"
#include "sys/logger.h"

struct auth;

enum auth_role { AUTH_NONE = 0, AUTH_VIEWER, AUTH_OPERATOR, AUTH_ROLE_COUNT };
enum { AUTH_NAMESPACES_MAX = 16, AUTH_REVIEW_AGAIN_MS = 600000 };

struct auth_options {
	const char *agent_tokens_file;  /* lines "AGENT-ID TOKEN"; NULL: none */
	const char *viewer_tokens_file; /* lines "ROLE NAME TOKEN [NAMESPACE,...]"; NULL: none */
	const char *proxy_viewers_file; /* lines "ROLE USER|group:NAME|* [NAMESPACE,...]"; NULL: no proxy is trusted */
	const char *proxy_peers, *proxy_user_header, *proxy_groups_header; /* as proxy_init() takes them */
	bool client_certificates; /* a SAN that the server verified is an identity */
	const char
		*review_url; /* https://kubernetes.default.svc/apis/authentication.k8s.io/v1/tokenreviews; NULL: none */
	const char *review_ca_file, *review_token_file;
	const char *audience;     /* of agents' tokens */
	uint64_t review_again_ms; /* how long a review holds; 0: AUTH_REVIEW_AGAIN_MS */
	const char *allow_agents; /* which service accounts, as allow_parse() takes them; NULL: all */
	bool open;                /* agents need no credentials: none are configured; loopback, or --insecure */
	bool open_viewers;        /* the same for people */
	struct logger *log;       /* or NULL */
};

struct auth_agent {
	char id[WIRE_NAME_CAP]; /* "" with `open`: the hello decides */
	char method[16];        /* "certificate", "token", "review", "open" */
	/* Where the review says so. */
	char namespace_[64], account[WIRE_NAME_CAP], pod[WIRE_NAME_CAP], node[WIRE_NAME_CAP];
	struct wall expires; /* ms 0: never */
	struct proof *proof; /* of "review": whoever is let in frees it at the end. NULL: it is not reviewed again */
};

struct auth_viewer {
	enum auth_role role;
	char name[128]; /* of a token's line; behind a proxy the user's, an e-mail address perhaps */
	char namespaces[AUTH_NAMESPACES_MAX][64];
	size_t n_namespaces; /* 0: all */
	/* How it was let in, for auth_viewer_again(): not there in what a file of tokens holds. */
	enum auth_way { AUTH_OPEN = 0, AUTH_TOKEN, AUTH_PROXY } way;
	uint8_t token_sha256[HASH_SHA256_LEN];
	unsigned generation; /* of the file of the proxy's viewers */
};

struct auth_counts {
	uint64_t accepted_total, refused_total, reviews_total, review_failures_total, review_hits_total, shed_total;
	uint64_t reviews_in_flight, not_allowed_total; /* the latter are of the refused */
	uint64_t reviews_again_total, revoked_total;   /* of the reviews; sessions whose token was refused by one */
};

int auth_new(struct loop *loop, const struct auth_options *options, struct store *store, struct auth **ret_auth,
	     struct err *err) __attribute__((warn_unused_result));
/* Not while a review is under way: its thread would outlive the program; nor while a session is. */
void auth_free(struct auth *auth);
/* Reviews under way are given up: auth_count() says when the last has ended. Ask for no more. */
void auth_stop(struct auth *auth);
/* Reads the files of tokens again; one that cannot be used leaves what held before. */
int auth_reload(struct auth *auth, struct err *err) __attribute__((warn_unused_result));

/* False: `reply` is filled (401, 403, or 503 with Retry-After). `now` judges expiry. */
bool auth_agent(struct auth *auth, const struct server_request *request, struct wall now, struct auth_agent *ret_agent,
		struct server_reply *reply);
/* The same for people and their tools: a trusted proxy's header, "Authorization: Bearer", or the cookie `__Host-bankfull`. */
bool auth_viewer(struct auth *auth, const struct server_request *request, struct auth_viewer *ret_viewer,
		 struct server_reply *reply);
/* The request shows a token of its own: "Authorization: Bearer". Of whom, auth_token() knows. */
bool auth_bearer(const struct server_request *request, struct str *ret_token);
/* The header, in lower case, by which a trusted proxy names users; NULL: none is trusted. */
const char *auth_proxy_header(const struct auth *auth);
/* Whose token this is, for a login. */
bool auth_token(struct auth *auth, struct str token, struct auth_viewer *ret_viewer);
/*
 * Of who was let in before and stays for long: by what is read now it would be let in again, with what it may see now.
 * Whom a proxy named may not be asked again: that holds until the file changes, and its line should not be kept for ever.
 */
bool auth_viewer_again(struct auth *auth, struct auth_viewer *viewer);
bool auth_sees(const struct auth_viewer *viewer, const char *namespace_);
/* Looks at the files where it is time to, and has tokens reviewed again. The number is another one once tokens of agents have been read again. */
unsigned auth_step(struct auth *auth);
/* The same of people's. */
unsigned auth_viewers_generation(const struct auth *auth);
/* By what is read now, an agent that was let in under this id by this method would be let in again. */
bool auth_holds(const struct auth *auth, const char *method, const char *id);
void auth_count(const struct auth *auth, struct auth_counts *ret_counts);

#endif
