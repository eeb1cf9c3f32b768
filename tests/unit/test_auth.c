/* SPDX-License-Identifier: Apache-2.0 */
/* Files of tokens, service-account tokens and what the API server answers: everything of auth.h that needs no server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>

#include "collector/review.h"
#include "collector/tokens.h"
#include "data/js.h"
#include "net/http.h"
#include "support/scratch.h"
#include "wire/jwt.h"

/* --- SHA-256 -------------------------------------------------------------------------------------- */

static void hashes(void **state)
{
	/* FIPS 180-4's examples. */
	static const struct {
		struct str text;
		uint8_t first, last;
	} cases[] = { { STR("abc"), 0xba, 0xad },
		      { STR(""), 0xe3, 0x55 },
		      { STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), 0x24, 0xc1 } };
	uint8_t digest[HASH_SHA256_LEN], other[HASH_SHA256_LEN];
	struct err err;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(hash_sha256(cases[i].text, digest, &err), 0);
		assert_int_equal(digest[0], cases[i].first);
		assert_int_equal(digest[31], cases[i].last);
	}
	memcpy(other, digest, sizeof other);
	assert_true(hash_same(digest, other));
	other[31] ^= 1;
	assert_false(hash_same(digest, other));
}

/* --- files of tokens ------------------------------------------------------------------------------ */

static const struct token_row *find(const struct tokens *tokens, const char *token)
{
	uint8_t digest[HASH_SHA256_LEN];
	struct err err;
	assert_int_equal(hash_sha256(str_of(token), digest, &err), 0);
	return tokens_find(tokens, digest);
}

static void agents(void **state)
{
	static const char text[] = "# who is who\n"
				   "\n"
				   "pod-1 0123456789abcdef-1\r\n"
				   "\t spiffe://lab/tm-2 \t 0123456789abcdef-2  \n"
				   "pod-3 0123456789abcdef-3";
	struct tokens tokens;
	struct err err = { 0 };
	(void)state;
	assert_int_equal(tokens_parse(STR(text), TOKENS_AGENTS, &tokens, &err), 0);
	assert_int_equal(tokens.n, 3);
	assert_string_equal(tokens.agents[find(&tokens, "0123456789abcdef-1")->who], "pod-1");
	assert_string_equal(tokens.agents[find(&tokens, "0123456789abcdef-2")->who], "spiffe://lab/tm-2");
	assert_string_equal(tokens.agents[find(&tokens, "0123456789abcdef-3")->who], "pod-3");
	assert_null(find(&tokens, "0123456789abcdef-4"));
	assert_null(find(&tokens, "0123456789abcdef-"));
	assert_null(find(&tokens, ""));
	tokens_done(&tokens);
}

static void viewers(void **state)
{
	static const char text[] = "viewer ann 0123456789abcdef-a streaming,batch\n"
				   "operator bob 0123456789abcdef-b\n";
	struct tokens tokens;
	struct err err = { 0 };
	(void)state;
	assert_int_equal(tokens_parse(STR(text), TOKENS_VIEWERS, &tokens, &err), 0);
	const struct auth_viewer *ann = &tokens.viewers[find(&tokens, "0123456789abcdef-a")->who];
	const struct auth_viewer *bob = &tokens.viewers[find(&tokens, "0123456789abcdef-b")->who];
	assert_int_equal(ann->role, AUTH_VIEWER);
	assert_string_equal(ann->name, "ann");
	assert_true(auth_sees(ann, "streaming") && auth_sees(ann, "batch"));
	assert_false(auth_sees(ann, "stream") || auth_sees(ann, "streaming,batch") || auth_sees(ann, ""));
	assert_int_equal(bob->role, AUTH_OPERATOR);
	assert_true(auth_sees(bob, "anything") && auth_sees(bob, ""));
	tokens_done(&tokens);
}

static void lines_that_are_none(void **state)
{
	static const struct {
		enum tokens_kind kind;
		const char *text, *says;
	} cases[] = {
		{ TOKENS_AGENTS, "a 0123456789abcdef\nonly-a-secret-word", "line 2: expected 'AGENT-ID TOKEN'" },
		{ TOKENS_AGENTS, "a 0123456789abcdef more", "line 1: expected" },
		{ TOKENS_AGENTS, "a b c d e f g secret", "line 1: expected" },
		{ TOKENS_AGENTS, "a secret", "line 1: the token must have 16 to 512" },
		{ TOKENS_AGENTS, "a 0123456789abcdef\nb 0123456789abcdef", "line 2: the same token" },
		{ TOKENS_AGENTS, "a\x01 0123456789abcdef", "line 1: the agent id has characters" },
		{ TOKENS_AGENTS, "a 0123456789abcdef\xc3\xa9", "line 1: the token must have" },
		{ TOKENS_VIEWERS, "admin ann 0123456789abcdef", "line 1: the role is neither viewer nor operator" },
		{ TOKENS_VIEWERS, "viewer ann", "line 1: expected 'ROLE NAME TOKEN" },
		{ TOKENS_VIEWERS, "viewer ann 0123456789abcdef a,,b", "line 1: the namespace has" },
		{ TOKENS_VIEWERS, "viewer ann 0123456789abcdef 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
		  "line 1: more than 16 namespaces" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct tokens tokens = { .n = 42 };
		struct err err = { 0 };
		assert_int_not_equal(tokens_parse(str_of(cases[i].text), cases[i].kind, &tokens, &err), 0);
		assert_int_equal(err.kind, ERR_USAGE);
		if (strncmp(err.message, cases[i].says, strlen(cases[i].says)) != 0)
			fail_msg("%s: %s", cases[i].text, err.message);
		assert_null(strstr(err.message, "secret"));
		assert_int_equal(tokens.n, 42);
	}
}

static void whose_file_it_is(void **state)
{
	static const struct {
		mode_t mode;
		bool taken;
	} cases[] = { { 0600, true },  { 0400, true },  { 0440, true },  { 0640, true }, { 0644, false },
		      { 0604, false }, { 0602, false }, { 0660, false }, { 0777, false } };
	struct scratch scratch = scratch_new();
	char path[300];
	(void)state;
	scratch_file(&scratch, "tokens", "a 0123456789abcdef\n");
	(void)snprintf(path, sizeof path, "%s/tokens", scratch.path);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct tokens tokens = { 0 };
		struct err err = { 0 };
		assert_int_equal(chmod(path, cases[i].mode), 0);
		int rc = tokens_read(path, TOKENS_AGENTS, &tokens, &err);
		if ((rc == 0) != cases[i].taken)
			fail_msg("%04o: %s", (unsigned)cases[i].mode, err.message);
		tokens_done(&tokens);
	}
	scratch_done(&scratch);
}

static void what_is_no_file(void **state)
{
	struct scratch scratch = scratch_new();
	struct tokens tokens = { 0 };
	struct err err = { 0 };
	char path[300];
	(void)state;
	(void)snprintf(path, sizeof path, "%s/pipe", scratch.path);
	assert_int_not_equal(tokens_read(path, TOKENS_AGENTS, &tokens, &err), 0);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_not_equal(tokens_read(path, TOKENS_AGENTS, &tokens, &err), 0); /* and it does not block */
	assert_int_equal(err.kind, ERR_USAGE);
	assert_int_not_equal(tokens_read(scratch.path, TOKENS_AGENTS, &tokens, &err), 0);
	scratch_done(&scratch);
}

static void a_file_that_changes(void **state)
{
	struct scratch scratch = scratch_new();
	struct tokens tokens = { 0 };
	struct err err = { 0 };
	char path[300], other[300];
	(void)state;
	(void)snprintf(path, sizeof path, "%s/tokens", scratch.path);
	(void)snprintf(other, sizeof other, "%s/other", scratch.path);
	scratch_file(&scratch, "tokens", "a 0123456789abcdef\n");
	(void)chmod(path, 0600);
	assert_int_equal(tokens_read(path, TOKENS_AGENTS, &tokens, &err), 0);
	assert_false(tokens_changed(&tokens, path));
	scratch_file(&scratch, "other", "b 0123456789abcdef\n");
	assert_int_equal(rename(other, path),
			 0); /* as a volume of Kubernetes swaps its link: the same size, another inode */
	assert_true(tokens_changed(&tokens, path));
	assert_int_equal(remove(path), 0);
	assert_false(tokens_changed(&tokens, path)); /* what held holds */
	tokens_done(&tokens);
	scratch_done(&scratch);
}

/* --- service-account tokens --------------------------------------------------------------------- */

static void encode(struct str text, struct buf *out)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	for (size_t i = 0; i < text.len; i += 3) {
		uint32_t bits = 0;
		size_t n = text.len - i < 3 ? text.len - i : 3;
		for (size_t j = 0; j < 3; j++)
			bits = bits << 8 | (j < n ? (unsigned char)text.ptr[i + j] : 0);
		for (size_t j = 0; j <= n; j++)
			(void)buf_putc(out, alphabet[bits >> (18 - 6 * j) & 63]);
	}
}

static int parse(const char *payload, struct jwt *jwt, struct err *err)
{
	auto_buf struct buf token = { .cap = 1 << 16 };
	(void)buf_puts(&token, "eyJhbGciOiJSUzI1NiJ9.");
	encode(str_of(payload), &token);
	(void)buf_puts(&token, ".c2lnbmF0dXJl");
	return jwt_parse(buf_str(&token), "bankfull.lab", jwt, err);
}

static void a_kubelets_token(void **state)
{
	/* The claims of a projected token of Kubernetes 1.32, shortened. */
	static const char payload[] =
		"{\"aud\":[\"bankfull.lab\"],\"exp\":1790000000,\"iat\":1789996400,\"iss\":\"https://kubernetes.default.svc\","
		"\"kubernetes.io\":{\"namespace\":\"streaming\",\"node\":{\"name\":\"worker-3\",\"uid\":\"n-1\"},"
		"\"pod\":{\"name\":\"fraud-taskmanager-1-1\",\"uid\":\"12345678-aaaa-bbbb-cccc-1234567890ab\"},"
		"\"serviceaccount\":{\"name\":\"flink\",\"uid\":\"s-1\"}},\"sub\":\"system:serviceaccount:streaming:flink\"}";
	struct jwt jwt;
	struct err err = { 0 };
	(void)state;
	assert_int_equal(parse(payload, &jwt, &err), 0);
	assert_true(jwt.for_audience);
	assert_int_equal(jwt.expires.ms, 1790000000000);
	assert_string_equal(jwt.namespace_, "streaming");
	assert_string_equal(jwt.account, "flink");
	assert_string_equal(jwt.pod, "fraud-taskmanager-1-1");
	assert_string_equal(jwt.pod_uid, "12345678-aaaa-bbbb-cccc-1234567890ab");
	assert_string_equal(jwt.node, "worker-3");
}

static void audiences(void **state)
{
	static const struct {
		const char *payload;
		bool ours;
	} cases[] = { { "{\"exp\":1,\"aud\":\"bankfull.lab\"}", true },
		      { "{\"exp\":1,\"aud\":[\"a\",\"bankfull.lab\"]}", true },
		      { "{\"exp\":1,\"aud\":[\"bankfull.labs\",\"bankfull\"]}", false },
		      { "{\"exp\":1,\"aud\":[]}", false },
		      { "{\"exp\":1,\"aud\":{\"bankfull.lab\":1}}", false },
		      { "{\"exp\":1}", false } };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct jwt jwt;
		struct err err = { 0 };
		assert_int_equal(parse(cases[i].payload, &jwt, &err), 0);
		assert_int_equal(jwt.for_audience, cases[i].ours);
	}
}

static void what_is_no_token(void **state)
{
	static const char *const payloads[] = {
		"",          "secret", "[]", "{}", "{\"exp\":\"1\"}", "{\"exp\":0}", "{\"exp\":-1}", "{\"exp\":1e30}",
		"{\"exp\":1"
	};
	static const char *const tokens[] = { "",          "secret",      "a.b",    "YQ.YQ",     "YQ.YQ.YQ.YQ",
					      "YQ.YQ.YQ.", ".YQ.YQ",      "YQ..YQ", "YQ.YQ.",    "YQ.Y+.YQ",
					      "YQ.YQ=.YQ", "YQ.YQYQY.YQ", "..",     "YQ.YQ.Y\nQ" };
	struct jwt jwt = { .expires = { 42 } };
	struct err err = { 0 };
	(void)state;
	for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++)
		if (parse(payloads[i], &jwt, &err) == 0 || err.kind != ERR_MALFORMED || strstr(err.message, "secret"))
			fail_msg("'%s': %s", payloads[i], err.message);
	for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++)
		if (jwt_parse(str_of(tokens[i]), "x", &jwt, &err) == 0 || err.kind != ERR_MALFORMED ||
		    strstr(err.message, "secret"))
			fail_msg("'%s': %s", tokens[i], err.message);
	/* {"exp":1} is a payload; four parts, of which the last is empty, are not three. */
	assert_int_equal(jwt_parse(STR("YQ.eyJleHAiOjF9.YQ"), "x", &jwt, &err), 0);
	jwt.expires.ms = 42;
	assert_int_not_equal(jwt_parse(STR("YQ.eyJleHAiOjF9.YQ."), "x", &jwt, &err), 0);
	static char large[JWT_MAX + 8];
	memset(large, 'A', sizeof large - 1);
	large[10] = large[20] = '.';
	assert_int_not_equal(jwt_parse(str_of(large), "x", &jwt, &err), 0);
	assert_int_equal(jwt.expires.ms, 42);
}

/* --- TokenReview ---------------------------------------------------------------------------------- */

static void questions(void **state)
{
	auto_buf struct buf out = { .cap = 4096 };
	struct err err = { 0 };
	(void)state;
	assert_int_equal(review_request(STR("a.b.c"), "bankfull.lab", &out, &err), 0);
	assert_string_equal(out.ptr, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
				     "\"spec\":{\"token\":\"a.b.c\",\"audiences\":[\"bankfull.lab\"]}}");
}

#define USER(extra) "\"user\":{\"username\":\"system:serviceaccount:streaming:flink\",\"uid\":\"1\"" extra "}"
#define POD                                                                 \
	",\"extra\":{\"authentication.kubernetes.io/pod-name\":[\"tm-1\"]," \
	"\"authentication.kubernetes.io/pod-uid\":[\"12345678-aaaa-bbbb-cccc\"]}"
#define GOOD "\"authenticated\":true,\"audiences\":[\"x\",\"bankfull.lab\"],"

static void answers(void **state)
{
	static const struct {
		const char *body;
		enum err_kind kind;
		const char *says;
	} cases[] = {
		{ "{\"status\":{" GOOD USER(POD) "}}", ERR_NONE, "" },
		{ "{\"status\":{\"authenticated\":false,\"error\":\"it is \\u001b[31mold\"}}", ERR_DENIED,
		  "not authenticated: it is \\x1b[31mold" },
		{ "{\"status\":{\"error\":\"x\"}}", ERR_DENIED, "not authenticated: x" },
		{ "{\"status\":{\"authenticated\":\"true\"}}", ERR_DENIED, "not authenticated" },
		{ "{\"status\":{\"authenticated\":true," USER(POD) "}}", ERR_DENIED,
		  "the token is not for our audience" },
		{ "{\"status\":{\"authenticated\":true,\"audiences\":[\"other\"]," USER(POD) "}}", ERR_DENIED,
		  "the token is not for our audience" },
		{ "{\"status\":{" GOOD USER("") "}}", ERR_DENIED, "the token is bound to no pod" },
		{ "{\"status\":{" GOOD USER(",\"extra\":{\"authentication.kubernetes.io/pod-uid\":[]}") "}}",
		  ERR_DENIED, "the token is bound to no pod" },
		{ "{\"status\":{" GOOD "\"user\":{\"username\":\"admin\"}}}", ERR_DENIED,
		  "the token is no service account's" },
		{ "{\"status\":{" GOOD "\"user\":{\"username\":\"system:serviceaccount:x\"}}}", ERR_DENIED,
		  "the token is no service account's" },
		{ "{\"status\":{" GOOD "\"user\":{\"username\":\"system:serviceaccount:x:\"}}}", ERR_DENIED,
		  "the token is no service account's" },
		{ "{\"kind\":\"Status\",\"status\":\"Failure\"}", ERR_MALFORMED, "the answer is no TokenReview" },
		{ "[]", ERR_MALFORMED, "the answer is no TokenReview" },
		{ "Forbidden", ERR_MALFORMED, "" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct auth_agent agent = { .id = "untouched" };
		struct err err = { 0 };
		int rc = review_answer(str_of(cases[i].body), "bankfull.lab", &agent, &err);
		if (err.kind != cases[i].kind || strncmp(err.message, cases[i].says, strlen(cases[i].says)) != 0)
			fail_msg("%s: %s", cases[i].body, err.message);
		assert_string_equal(agent.id, rc == 0 ? "12345678-aaaa-bbbb-cccc" : "untouched");
		if (rc < 0)
			continue;
		assert_string_equal(agent.namespace_, "streaming");
		assert_string_equal(agent.account, "flink");
		assert_string_equal(agent.pod, "tm-1");
		assert_string_equal(agent.node, "");
	}
}

static void where_to_ask(void **state)
{
	struct review_target target = { .api.base = "untouched" };
	struct auth_options options = { .review_url = "https://localhost/x" };
	struct err err = { 0 };
	(void)state;
	assert_int_not_equal(review_target_set(&options, &target, &err), 0); /* any audience would do */
	assert_int_equal(err.kind, ERR_USAGE);
	options.audience = "bankfull.lab";
	options.review_url = "ftp://localhost/x";
	assert_int_not_equal(review_target_set(&options, &target, &err), 0);
	assert_string_equal(target.api.base, "untouched");
	options.review_url = "https://localhost/x";
	assert_int_equal(review_target_set(&options, &target, &err), 0);
	assert_string_equal(target.api.base, "https://localhost/x");
	/* Our own token is not sent in the clear, whoever listens there. */
	auto_buf struct buf body = { .cap = 100 };
	const struct http_request request = { .url = "http://192.0.2.1/x" };
	const struct http_post post = { .login = { .bearer = STR("secret") }, .body = STR("{}") };
	assert_int_not_equal(http_post(&request, &post, &body, NULL, &err), 0);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_null(strstr(err.message, "secret"));
}

/* What an agent is told has the form of what the API tells (docs/openapi.json: Error). */
static void one_form_of_refusals(void **state)
{
	static const struct {
		unsigned status;
		const char *code;
	} cases[] = { { 400, "bad-request" },      { 401, "unauthorized" },       { 403, "forbidden" },
		      { 404, "not-found" },        { 405, "method-not-allowed" }, { 413, "too-large" },
		      { 426, "upgrade-required" }, { 503, "unavailable" },        { 500, "failed" } };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct server_reply reply = { .status = 200, .content_type = "text/plain", .body.cap = 1000 };
		struct err err = { 0 };
		struct str code, message;
		uint64_t status = 0;
		auto_js struct js *root = NULL;
		assert_true(server_refuse(&reply, cases[i].status, "it is so"));
		assert_int_equal(reply.status, cases[i].status);
		assert_string_equal(reply.content_type, "application/json");
		assert_int_equal(js_parse(buf_str(&reply.body), 1000, &root, &err), 0);
		assert_true(js_u64(js_path(root, "error.status"), &status) && status == cases[i].status);
		assert_true(js_str(js_path(root, "error.code"), &code) && str_eq(code, str_of(cases[i].code)));
		assert_true(js_str(js_path(root, "error.message"), &message) && str_eq(message, STR("it is so")));
		buf_done(&reply.body);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes),
		cmocka_unit_test(agents),
		cmocka_unit_test(viewers),
		cmocka_unit_test(lines_that_are_none),
		cmocka_unit_test(whose_file_it_is),
		cmocka_unit_test(what_is_no_file),
		cmocka_unit_test(a_file_that_changes),
		cmocka_unit_test(a_kubelets_token),
		cmocka_unit_test(audiences),
		cmocka_unit_test(what_is_no_token),
		cmocka_unit_test(questions),
		cmocka_unit_test(answers),
		cmocka_unit_test(where_to_ask),
		cmocka_unit_test(one_form_of_refusals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
