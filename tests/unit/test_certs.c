/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base64.h"
#include "net/certs.h"

enum { DAY = 86400 };

static const int64_t now_s = 1800000000; /* 2027 */

static void signs_for_names(void **state)
{
	(void)state;
	auto_certs_pair struct certs_pair ca = { 0 }, leaf = { 0 }, other = { 0 };
	static const char names[] = "bankfull.mon.svc,localhost,127.0.0.1,::1";
	assert_int_equal(certs_authority("Test", now_s, 3650, &ca, NULL), 0);
	assert_int_equal(certs_authority("Test", now_s, 3650, &other, NULL), 0);
	struct str cert = buf_str(&ca.cert), key = buf_str(&ca.key);
	assert_int_equal(certs_server(cert, key, names, now_s, 90, &leaf, NULL), 0);
	assert_true(str_starts(buf_str(&leaf.key), STR("-----BEGIN PRIVATE KEY-----")));
	struct str mine = buf_str(&leaf.cert);
	assert_int_equal(certs_good_for(mine, cert, names, now_s), 90 * DAY);
	assert_int_equal(certs_good_for(mine, cert, "localhost", now_s + DAY), 89 * DAY);
	assert_int_equal(certs_good_for(mine, cert, "elsewhere", now_s), 0);
	assert_int_equal(certs_good_for(mine, cert, "127.0.0.2", now_s), 0);
	assert_int_equal(certs_good_for(mine, cert, names, now_s + 91 * DAY), 0);
	assert_int_equal(certs_good_for(mine, cert, names, now_s - 2 * DAY), 0);
	assert_int_equal(certs_good_for(mine, buf_str(&other.cert), names, now_s), 0);
	assert_int_equal(certs_good_for(STR(""), cert, names, now_s), 0);
	assert_int_equal(certs_good_for(mine, STR("no"), names, now_s), 0);
	/* The name alone is the same: the key is not. */
	struct err err = { 0 };
	assert_true(certs_check_authority(cert, buf_str(&other.key), now_s, &err) < 0);
	assert_true(certs_check_authority(mine, buf_str(&leaf.key), now_s, &err) < 0); /* no authority */
	assert_true(certs_check_authority(cert, key, now_s + 3651 * (int64_t)DAY, &err) < 0);
	assert_int_equal(certs_check_authority(cert, key, now_s, NULL), 0);
}

static void never_outlives(void **state)
{
	(void)state;
	auto_certs_pair struct certs_pair ca = { 0 }, leaf = { 0 };
	assert_int_equal(certs_authority("Test", now_s, 10, &ca, NULL), 0);
	assert_int_equal(certs_server(buf_str(&ca.cert), buf_str(&ca.key), "a", now_s, 90, &leaf, NULL), 0);
	assert_int_equal(certs_good_for(buf_str(&leaf.cert), buf_str(&ca.cert), "a", now_s), 10 * DAY);
}

static void refuses_names(void **state)
{
	(void)state;
	static const char *const names[] = { "",        ",",    "a b", "A",
					     "a,DNS:b", "a\nb", "x/y", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q" };
	auto_certs_pair struct certs_pair ca = { 0 };
	assert_int_equal(certs_authority("Test", now_s, 10, &ca, NULL), 0);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct certs_pair leaf = { 0 };
		struct err err = { 0 };
		assert_true(certs_server(buf_str(&ca.cert), buf_str(&ca.key), names[i], now_s, 90, &leaf, &err) < 0);
		assert_null(leaf.cert.ptr);
		assert_true(err.message[0] != '\0');
	}
}

static void decodes_base64(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want; /* NULL: refused */
	} cases[] = {
		{ "", "" },        { "YQ==", "a" },       { "YQ", "a" },          { "YWI=", "ab" },
		{ "YWJj", "abc" }, { "_-8", "\xff\xef" }, { "/+8=", "\xff\xef" }, { "Y", NULL },
		{ "YQ=a", NULL },  { "Y Q=", NULL },      { "====", NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		auto_buf struct buf out = { .cap = 64 };
		assert_int_equal(base64_decode(str_of(cases[i].text), &out), cases[i].want != NULL);
		if (cases[i].want)
			assert_true(str_eq(buf_str(&out), str_of(cases[i].want)));
	}
	auto_buf struct buf small = { .cap = 2 };
	assert_false(base64_decode(STR("YWJj"), &small));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(signs_for_names),
		cmocka_unit_test(never_outlives),
		cmocka_unit_test(refuses_names),
		cmocka_unit_test(decodes_base64),
	};
	return cmocka_run_group_tests_name("certs", tests, NULL, NULL);
}
