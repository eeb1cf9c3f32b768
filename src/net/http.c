/* SPDX-License-Identifier: Apache-2.0 */
/* The one file that knows libcurl. */
#include "net/http.h"

#include "base/esc.h"
#include "base/limits.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

enum {
	URL_MAX = 1024,
	REFUSED_BODY_MAX = 64 * 1024,
	TIMEOUT_MS = 2000,
	CONNECT_TIMEOUT_MS = 500,
	HEADER_MAX = 16 * 1024
};

/* One transfer. */
struct transfer {
	const struct http_request *request;
	const struct http_post *post;   /* NULL: a GET */
	const struct http_login *login; /* NULL: as nobody */
	const atomic_bool *abandon;     /* NULL: nobody will */
	http_sink *sink;
	void *context;
	CURL *curl;
	size_t cap;
	uint64_t n_bytes;
	long status; /* known from the first byte of the body on */
	bool body_started;
	int failure;    /* 0, or what stopped the transfer from our side */
	struct err err; /* with failure */
	bool address_refused;
	char refused[INET6_ADDRSTRLEN];
	char shown[200]; /* the URL for messages: no query, escaped */
};

static bool global_ready;

static int prepare_curl(struct err *err)
{
	/* The flag has meant nothing since curl 7.57; the TLS library sets itself up on first use. */
	if (!global_ready && curl_global_init(CURL_GLOBAL_NOTHING) != CURLE_OK)
		return err_set(err, ERR_NOMEM, "libcurl does not start");
	global_ready = true;
	return 0;
}

void http_done(void)
{
	if (global_ready)
		curl_global_cleanup();
	global_ready = false;
}

/* --- addresses ------------------------------------------------------------------------ */

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
	const struct in6_addr *a6 = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	return IN6_IS_ADDR_LOOPBACK(a6) || (IN6_IS_ADDR_V4MAPPED(a6) && a6->s6_addr[12] == 127);
}

static bool is_link_local(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 16 == 0xa9fe;
	const struct in6_addr *a6 = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	return IN6_IS_ADDR_LINKLOCAL(a6) ||
	       (IN6_IS_ADDR_V4MAPPED(a6) && a6->s6_addr[12] == 169 && a6->s6_addr[13] == 254);
}

static bool same_address(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
	return memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
		      &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
}

/* Loopback, or an address of one of our interfaces that is not link-local. */
static bool is_ours(const struct sockaddr *address)
{
	if (address->sa_family != AF_INET && address->sa_family != AF_INET6)
		return false;
	if (is_loopback(address))
		return true;
	struct ifaddrs *interfaces;
	if (is_link_local(address) || getifaddrs(&interfaces) != 0)
		return false;
	bool found = false;
	for (const struct ifaddrs *i = interfaces; i && !found; i = i->ifa_next)
		found = i->ifa_addr && (i->ifa_addr->sa_family == AF_INET || i->ifa_addr->sa_family == AF_INET6) &&
			same_address(i->ifa_addr, address);
	freeifaddrs(interfaces);
	return found;
}

static void address_text(const struct sockaddr *address, char text[INET6_ADDRSTRLEN])
{
	const void *bytes = address->sa_family == AF_INET6
				    ? (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr
				    : (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr;
	if ((address->sa_family != AF_INET && address->sa_family != AF_INET6) ||
	    !inet_ntop(address->sa_family, bytes, text, INET6_ADDRSTRLEN))
		memcpy(text, "?", 2);
}

static int refuse_address(struct err *err, const char *shown, const char *address)
{
	return err_set(
		err, ERR_DENIED,
		"%s: found at the target, but %s is neither loopback nor an address of this pod; give the URL yourself if it is right",
		shown, address);
}

/* --- the URL -------------------------------------------------------------------------- */

struct url {
	CURLU *handle;
	char *scheme, *user, *password, *host, *port, *path;
};

static void url_done(struct url *url)
{
	curl_free(url->scheme);
	curl_free(url->user);
	curl_free(url->password);
	curl_free(url->host);
	curl_free(url->port);
	curl_free(url->path);
	curl_url_cleanup(url->handle);
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text <= 0x20 || *text == 0x7f)
			return true;
	return false;
}

/* Fills `url`; `shown` is set whatever happens. */
static int parse_url(const char *text, struct url *url, char shown[200], struct err *err)
{
	(void)snprintf(shown, 200, "the metrics URL");
	if (strlen(text) > URL_MAX)
		return err_set(err, ERR_USAGE, "a URL longer than %d bytes", URL_MAX);
	if (has_control(text))
		return err_set(err, ERR_USAGE, "a URL with blanks or control bytes in it");
	url->handle = curl_url();
	if (!url->handle)
		return err_set(err, ERR_NOMEM, "no memory for a URL");
	if (curl_url_set(url->handle, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK ||
	    curl_url_get(url->handle, CURLUPART_SCHEME, &url->scheme, 0) != CURLUE_OK ||
	    curl_url_get(url->handle, CURLUPART_HOST, &url->host, 0) != CURLUE_OK || !url->host[0] ||
	    curl_url_get(url->handle, CURLUPART_PATH, &url->path, 0) != CURLUE_OK)
		return err_set(err, ERR_USAGE, "this is no URL: write http://host:port/path");
	if (strcasecmp(url->scheme, "http") != 0 && strcasecmp(url->scheme, "https") != 0)
		return err_set(err, ERR_USAGE, "a URL with scheme '%.16s': only http and https are spoken",
			       url->scheme);
	(void)curl_url_get(url->handle, CURLUPART_PORT, &url->port, CURLU_DEFAULT_PORT);
	char raw[600];
	(void)snprintf(raw, sizeof raw, "%.8s://%.120s:%.6s%.120s", url->scheme, url->host, url->port ? url->port : "?",
		       url->path);
	(void)esc_copy(shown, 200, str_of(raw));
	(void)curl_url_get(url->handle, CURLUPART_USER, &url->user, 0);
	(void)curl_url_get(url->handle, CURLUPART_PASSWORD, &url->password, 0);
	if (url->user || url->password)
		return err_set(err, ERR_USAGE, "%s: a URL must not hold a user or password", shown);
	return 0;
}

/*
 * Every address of the host must be ours. Names are resolved here, so this may block as long as the resolver does.
 */
static int check_host(const struct url *url, const char *shown, struct err *err)
{
	char host[256];
	struct str name = str_of(url->host);
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *list = NULL;
	if (name.len > 1 && name.ptr[0] == '[')
		name = (struct str){ name.ptr + 1, name.len - 2 };
	str_copy(host, sizeof host, name);
	int code = getaddrinfo(host, NULL, &hints, &list);
	if (code != 0)
		return err_set(err, ERR_GONE, "%s: the host's name does not resolve: %s", shown, gai_strerror(code));
	int status = 0;
	for (const struct addrinfo *i = list; i && status == 0; i = i->ai_next)
		if (!is_ours(i->ai_addr)) {
			char text[INET6_ADDRSTRLEN];
			address_text(i->ai_addr, text);
			status = refuse_address(err, shown, text);
		}
	freeaddrinfo(list);
	return status;
}

int http_url_check(const char *url_text, bool discovered, struct err *err)
{
	auto_(url_done) struct url url = { 0 };
	char shown[200];
	int status = prepare_curl(err);
	if (status == 0)
		status = parse_url(url_text, &url, shown, err);
	return status == 0 && discovered ? check_host(&url, shown, err) : status;
}

/* --- the transfer --------------------------------------------------------------------- */

/* The address that is being connected to, checked at the last moment there is. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct transfer *transfer = context;
	(void)purpose;
	if (transfer->request->discovered && !is_ours(&address->addr)) {
		transfer->address_refused = true;
		address_text(&address->addr, transfer->refused);
		return CURL_SOCKET_BAD;
	}
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static bool is_html_type(const char *type)
{
	return strncasecmp(type, "text/html", 9) == 0 || strncasecmp(type, "application/xhtml", 17) == 0;
}

static int not_wanted(struct transfer *transfer, const char *what)
{
	return err_set(&transfer->err, ERR_MALFORMED, "%s answers %s, not %s: is the path right?", transfer->shown,
		       what, transfer->request->want == HTTP_WANT_JSON ? "JSON" : "metrics");
}

/* The first piece of a good body. */
static int check_start(struct transfer *transfer, struct str piece)
{
	const char *type = NULL;
	if (transfer->request->want == HTTP_WANT_ANY)
		return 0;
	(void)curl_easy_getinfo(transfer->curl, CURLINFO_CONTENT_TYPE, &type);
	if (type && is_html_type(type))
		return not_wanted(transfer, "an HTML page");
	struct str text = str_trim(piece);
	if (text.len && text.ptr[0] == '<')
		return not_wanted(transfer, "an HTML or XML page");
	if (transfer->request->want == HTTP_WANT_METRICS && text.len && (text.ptr[0] == '{' || text.ptr[0] == '['))
		return not_wanted(transfer, "JSON");
	return 0;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *context)
{
	struct transfer *transfer = context;
	struct str piece = { bytes, size * n };
	if (!transfer->body_started)
		(void)curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &transfer->status);
	transfer->n_bytes += piece.len;
	if (transfer->status < 200 ||
	    transfer->status > 299) /* its status is the message; a short body lets the transfer end well */
		return transfer->n_bytes <= REFUSED_BODY_MAX ? piece.len : 0;
	if (transfer->n_bytes > transfer->cap)
		transfer->failure = err_set(&transfer->err, ERR_LIMIT, "%s answers more than %zu bytes: not read",
					    transfer->shown, transfer->cap);
	else if (!transfer->body_started)
		transfer->failure = check_start(transfer, piece);
	transfer->body_started = true;
	if (transfer->failure == 0)
		transfer->failure = transfer->sink(transfer->context, piece, &transfer->err);
	return transfer->failure == 0 ? piece.len : 0;
}

/* Called about once a second while nothing moves (CURLOPT_XFERINFOFUNCTION(3)). */
static int on_progress(void *context, curl_off_t down, curl_off_t now_down, curl_off_t up, curl_off_t now_up)
{
	const struct transfer *transfer = context;
	(void)down;
	(void)now_down;
	(void)up;
	(void)now_up;
	return atomic_load(transfer->abandon);
}

static bool set_options(struct transfer *transfer, CURLU *url, struct curl_slist *headers)
{
	const struct http_request *request = transfer->request;
	CURL *curl = transfer->curl;
	unsigned timeout = request->timeout_ms ? request->timeout_ms : TIMEOUT_MS;
	unsigned connect = request->connect_timeout_ms    ? request->connect_timeout_ms
			   : timeout < CONNECT_TIMEOUT_MS ? timeout
							  : CONNECT_TIMEOUT_MS;
	bool good = true;
#define SET(option, value) good = good && curl_easy_setopt(curl, option, value) == CURLE_OK
	SET(CURLOPT_CURLU, url);
#if LIBCURL_VERSION_NUM >= 0x075500
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
#else
	SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_PROXY, "");
	SET(CURLOPT_NOPROXY, "*");
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_NOPROGRESS, 1L);
	SET(CURLOPT_FORBID_REUSE, 1L);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_BUFFERSIZE, 16384L);
	SET(CURLOPT_TIMEOUT_MS, (long)timeout);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)connect);
	SET(CURLOPT_USERAGENT, "bankfull");
	SET(CURLOPT_HTTPHEADER, headers);
	SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)transfer->cap);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, transfer);
	SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
	SET(CURLOPT_OPENSOCKETDATA, transfer);
	if (transfer->post) {
		SET(CURLOPT_POST, 1L);
		SET(CURLOPT_POSTFIELDS, transfer->post->body.ptr);
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)transfer->post->body.len);
		if (transfer->post->method)
			SET(CURLOPT_CUSTOMREQUEST, transfer->post->method);
	}
	if (transfer->abandon) {
		SET(CURLOPT_NOPROGRESS, 0L);
		SET(CURLOPT_XFERINFOFUNCTION, on_progress);
		SET(CURLOPT_XFERINFODATA, transfer);
	}
	if (transfer->login && transfer->login->ca_file) {
		SET(CURLOPT_CAINFO, transfer->login->ca_file);
		SET(CURLOPT_CAPATH, NULL);
	}
#undef SET
	return good;
}

static int refuse_status(const struct transfer *transfer, struct err *err)
{
	long status = transfer->status;
	if (status >= 300 && status < 400)
		return err_set(err, ERR_UNSUPPORTED, "%s answers %ld, a redirect: not followed, give the final URL",
			       transfer->shown, status);
	if ((status == 401 || status == 403) && transfer->login)
		return err_set(err, ERR_DENIED, "%s answers %ld: our own token is not accepted, or may not do this",
			       transfer->shown, status);
	if (status == 401 || status == 403)
		return err_set(err, ERR_DENIED, "%s answers %ld: it wants credentials, and none are ever sent",
			       transfer->shown, status);
	if (status == 404)
		return err_set(err, ERR_UNSUPPORTED, "%s answers 404: nothing is served under this path",
			       transfer->shown);
	return err_set(err, ERR_UNSUPPORTED, "%s answers %ld", transfer->shown, status);
}

static int explain(const struct transfer *transfer, CURLcode code, struct err *err)
{
	const struct http_request *request = transfer->request;
	const char *shown = transfer->shown;
	if (transfer->address_refused)
		return refuse_address(err, shown, transfer->refused);
	switch ((int)code) {
	case CURLE_OPERATION_TIMEDOUT:
		return err_set(err, ERR_TIMEOUT, "%s: no whole answer within %u ms (%llu bytes came)", shown,
			       request->timeout_ms ? request->timeout_ms : TIMEOUT_MS,
			       (unsigned long long)transfer->n_bytes);
	case CURLE_ABORTED_BY_CALLBACK:
		return err_set(err, ERR_TIMEOUT, "%s: abandoned", shown);
	case CURLE_FILESIZE_EXCEEDED:
		return err_set(err, ERR_LIMIT, "%s answers more than %zu bytes: not read", shown, transfer->cap);
	case CURLE_COULDNT_CONNECT:
		return err_set(err, ERR_GONE, "%s: nobody listens there", shown);
	case CURLE_COULDNT_RESOLVE_HOST:
		return err_set(err, ERR_GONE, "%s: the host's name does not resolve", shown);
	case CURLE_PARTIAL_FILE:
		return err_set(err, ERR_MALFORMED, "%s ends before the length it announced (%llu bytes came)", shown,
			       (unsigned long long)transfer->n_bytes);
	case CURLE_GOT_NOTHING:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_HTTP2:
		return err_set(err, ERR_MALFORMED, "%s does not speak HTTP: %s", shown, curl_easy_strerror(code));
	case CURLE_PEER_FAILED_VERIFICATION:
		return err_set(err, ERR_DENIED, "%s: its certificate is not one that we trust: %s", shown,
			       curl_easy_strerror(code));
	case CURLE_SSL_CACERT_BADFILE: /* curl says "path? access rights?" of a file that it has read, too */
		return err_set(err, ERR_USAGE, "%s holds no certificate of an authority: PEM is expected",
			       transfer->login && transfer->login->ca_file ? transfer->login->ca_file
									   : "the system's file of authorities");
	case CURLE_SSL_CONNECT_ERROR:
		return err_set(err, ERR_IO, "%s: no TLS handshake; without TLS there the address begins with http://",
			       shown);
	case CURLE_RECV_ERROR:
		if (!str_starts(str_of(shown), STR("http://")))
			return err_set(err, ERR_IO, "%s: %s", shown, curl_easy_strerror(code));
		return err_set(err, ERR_IO, "%s: cut before an answer; with TLS there the address begins with https://",
			       shown);
	case CURLE_OUT_OF_MEMORY:
		return err_set(err, ERR_NOMEM, "%s: no memory", shown);
	default:
		return err_set(err, ERR_IO, "%s: %s", shown, curl_easy_strerror(code));
	}
}

/* `*list` longer by one; false without memory. */
static bool add_header(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*list, line);
	if (longer)
		*list = longer;
	return longer != NULL;
}

/* The header with our own token: nothing that could end the line or the string early is ever put into it. */
static bool add_bearer(struct curl_slist **list, struct str token)
{
	auto_buf struct buf line = { .cap = HEADER_MAX };
	bool good = buf_puts(&line, "Authorization: Bearer ") && buf_add(&line, token);
	for (size_t i = 0; good && i < token.len; i++)
		good = token.ptr[i] > ' ' && token.ptr[i] < 0x7f;
	good = good && add_header(list, line.ptr);
	if (line.ptr)
		explicit_bzero(line.ptr, line.room);
	return good;
}

static bool make_headers(const struct transfer *transfer, struct curl_slist **list)
{
	const struct http_post *post = transfer->post;
	char type[128];
	if (!add_header(list, transfer->request->want == HTTP_WANT_JSON ? "Accept: application/json"
									: "Accept: text/plain;version=0.0.4,*/*;q=0.1"))
		return false;
	if (post) {
		(void)snprintf(type, sizeof type, "Content-Type: %s",
			       post->content_type ? post->content_type : "application/json");
		if (!add_header(list, type) || !add_header(list, "Expect:"))
			return false;
	}
	return !transfer->login || !transfer->login->bearer.len || add_bearer(list, transfer->login->bearer);
}

static int run(struct transfer *transfer, CURLU *url, struct http_meta *ret_meta, struct err *err)
{
	struct curl_slist *headers = NULL;
	bool with_headers = make_headers(transfer, &headers);
	transfer->curl = curl_easy_init();
	int status = 0;
	if (!transfer->curl || !with_headers || !set_options(transfer, url, headers)) {
		status = err_set(err, ERR_NOMEM, "%s: no memory for a request", transfer->shown);
	} else {
		CURLcode code = curl_easy_perform(transfer->curl);
		struct http_meta meta = { .body_bytes = transfer->n_bytes };
		const char *type = NULL;
		(void)curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &transfer->status);
		(void)curl_easy_getinfo(transfer->curl, CURLINFO_CONTENT_TYPE, &type);
		meta.status = transfer->status;
		if (transfer->login && transfer->login->ret_status)
			*transfer->login->ret_status = transfer->status;
		str_copy(meta.content_type, sizeof meta.content_type, str_of(type ? type : ""));
		if (transfer->failure < 0) {
			status = transfer->failure;
			if (err)
				*err = transfer->err;
		} else if (transfer->status && (transfer->status < 200 || transfer->status > 299)) {
			status = refuse_status(transfer, err);
		} else if (code != CURLE_OK) {
			status = explain(transfer, code, err);
		} else if (ret_meta) {
			*ret_meta = meta;
		}
	}
	curl_easy_cleanup(transfer->curl);
	curl_slist_free_all(headers);
	return status;
}

int http_get_to(const struct http_request *request, http_sink *sink, void *context, struct http_meta *ret_meta,
		struct err *err)
{
	auto_(url_done) struct url url = { 0 };
	struct transfer transfer = {
		.request = request,
		.sink = sink,
		.context = context,
		.cap = request->cap ? request->cap : LIMIT_HTTP_BODY,
	};
	int status = prepare_curl(err);
	if (status == 0)
		status = parse_url(request->url, &url, transfer.shown, err);
	return status == 0 ? run(&transfer, url.handle, ret_meta, err) : status;
}

static int add_piece(void *context, struct str piece, struct err *err)
{
	struct buf *body = context;
	if (buf_add(body, piece))
		return 0;
	if (body->state == BUF_NOMEM)
		return err_set(err, ERR_NOMEM, "no memory for an HTTP body");
	return err_set(err, ERR_LIMIT, "the HTTP body passes %zu bytes", body->cap);
}

/* Into a buffer, which on failure is as it was before. */
static int into(struct buf *body, size_t before, bool failed_before, int status)
{
	if (status < 0) {
		body->len = before;
		if (body->ptr)
			body->ptr[before] = '\0';
		if (!failed_before)
			body->state = BUF_OK;
	}
	return status;
}

int http_get(const struct http_request *request, struct buf *body, struct http_meta *ret_meta, struct err *err)
{
	size_t before = body->len;
	bool failed_before = buf_failed(body);
	return into(body, before, failed_before, http_get_to(request, add_piece, body, ret_meta, err));
}

/* A token leaves in the clear to nobody but ourselves. */
static int check_bearer(const struct url *url, const char *shown, struct err *err)
{
	struct in_addr v4;
	bool loopback = strcmp(url->host, "localhost") == 0 || strcmp(url->host, "[::1]") == 0 ||
			(inet_pton(AF_INET, url->host, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127);
	if (strcasecmp(url->scheme, "https") == 0 || loopback)
		return 0;
	return err_set(err, ERR_USAGE, "%s: a token is sent over https, or to loopback, only", shown);
}

/* A request that says who asks. */
static int ask_to(struct transfer *transfer, struct http_meta *ret_meta, struct err *err)
{
	auto_(url_done) struct url url = { 0 };
	transfer->cap = transfer->request->cap ? transfer->request->cap : LIMIT_HTTP_BODY;
	int status = prepare_curl(err);
	if (status == 0)
		status = parse_url(transfer->request->url, &url, transfer->shown, err);
	if (status == 0 && transfer->login->bearer.len && !transfer->login->in_the_clear)
		status = check_bearer(&url, transfer->shown, err);
	return status == 0 ? run(transfer, url.handle, ret_meta, err) : status;
}

/* Its whole answer. */
static int ask(struct transfer *transfer, struct buf *body, struct http_meta *ret_meta, struct err *err)
{
	size_t before = body->len;
	bool failed_before = buf_failed(body);
	transfer->sink = add_piece;
	transfer->context = body;
	return into(body, before, failed_before, ask_to(transfer, ret_meta, err));
}

int http_follow(const struct http_request *request, const struct http_login *login, http_sink *sink, void *context,
		const atomic_bool *abandon, struct err *err)
{
	struct transfer transfer = {
		.request = request, .login = login, .sink = sink, .context = context, .abandon = abandon
	};
	return ask_to(&transfer, NULL, err);
}

int http_get_as(const struct http_request *request, const struct http_login *login, struct buf *body,
		struct http_meta *ret_meta, struct err *err)
{
	struct transfer transfer = { .request = request, .login = login };
	return ask(&transfer, body, ret_meta, err);
}

int http_post(const struct http_request *request, const struct http_post *post, struct buf *body,
	      struct http_meta *ret_meta, struct err *err)
{
	struct transfer transfer = {
		.request = request, .post = post, .login = &post->login, .abandon = post->abandon
	};
	return ask(&transfer, body, ret_meta, err);
}
