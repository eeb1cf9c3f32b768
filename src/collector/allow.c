/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/allow.h"

#include <stdlib.h>

#include "base/auto.h"
#include "base/esc.h"

static const char how[] = "write NAMESPACE or NAMESPACE/SERVICEACCOUNT, * and ? as in a shell";

/* What such a name may hold (RFC 1123), and the signs of a pattern: "system:serviceaccount:a:b" would allow nobody. */
static bool is_pattern(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr("-.*?[]!", c))))
			return false;
	}
	return text.len > 0;
}

static int take_half(struct str text, char *dest, size_t cap, struct glob *glob, struct err *err)
{
	if (!is_pattern(text) || text.len >= cap)
		return err_set(err, ERR_USAGE, "no name: %s", how);
	str_copy(dest, cap, text);
	return glob_parse(str_of(dest), glob, err);
}

static int take_rule(struct str part, struct allow_rule *rule, struct err *err)
{
	size_t slash = str_index(part, '/');
	*rule = (struct allow_rule){ 0 };
	int rc = take_half((struct str){ part.ptr, slash }, rule->namespace_, sizeof rule->namespace_,
			   &rule->namespace_glob, err);
	if (rc == 0 && slash < part.len)
		rc = take_half(str_skip(part, slash + 1), rule->account, sizeof rule->account, &rule->account_glob,
			       err);
	return rc;
}

/* There is room for as many rules as there are commas, and one more. */
static int take_rules(struct str rest, struct allow *allow, struct err *err)
{
	struct str part;
	char shown[80];
	while (str_split(&rest, ',', &part)) {
		int rc = take_rule(str_trim(part), &allow->rules[allow->n], err);
		if (rc < 0) {
			err_wrap(err, "'%s'", esc_copy(shown, sizeof shown, str_trim(part)));
			return rc;
		}
		allow->n++;
	}
	return 0;
}

int allow_parse(const char *text, struct allow *ret_allow, struct err *err)
{
	auto_(allow_done) struct allow allow = { 0 };
	struct str rest = str_of(text ? text : "");
	size_t n = 1;
	for (size_t i = 0; i < rest.len; i++)
		n += rest.ptr[i] == ',';
	if (n > ALLOW_RULES_MAX)
		return err_set(err, ERR_USAGE, "more than %d namespaces and service accounts", ALLOW_RULES_MAX);
	allow.rules = calloc(n, sizeof *allow.rules);
	if (!allow.rules)
		return err_set(err, ERR_NOMEM, "no memory for %zu namespaces and service accounts", n);
	int rc = take_rules(rest, &allow, err);
	if (rc < 0)
		return rc;
	*ret_allow = allow;
	allow = (struct allow){ 0 };
	return 0;
}

void allow_done(struct allow *allow)
{
	free(allow->rules);
	*allow = (struct allow){ 0 };
}

bool allow_has(const struct allow *allow, const char *namespace_, const char *account)
{
	for (size_t i = 0; i < allow->n; i++) {
		const struct allow_rule *rule = &allow->rules[i];
		if (glob_match(&rule->namespace_glob, rule->namespace_, str_of(namespace_)) &&
		    (!rule->account[0] || glob_match(&rule->account_glob, rule->account, str_of(account))))
			return true;
	}
	return allow->n == 0;
}
