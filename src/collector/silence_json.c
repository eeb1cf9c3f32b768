/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/silence_json.h"

#include <inttypes.h>

#include "base/date.h"
#include "base/esc.h"
#include "base/typo.h"
#include "collector/api_parts.h"
#include "rules/pages.h"
#include "rules/rules.h"
#include "wire/put.h"

enum { SHOWN_CAP = 80 };

const char *const silence_kind_names[SILENCE_KIND_COUNT] = { "silence", "acknowledgement" };
const char *const silence_field_names[SILENCE_FIELD_COUNT] = { "cluster", "namespace", "workload", "pod", "rule" };

/* --- matchers ------------------------------------------------------------------------------------- */

static int take_severity(struct silence_matchers *m, struct str value, struct err *err)
{
	if (severity_find(value, &m->severity))
		return 0;
	return err_set(err, ERR_USAGE, "matchers.severity: one of info, notice, warning, critical");
}

static int take_field(struct silence_matchers *m, enum silence_field field, struct str value, struct err *err)
{
	if (value.len >= WIRE_NAME_CAP)
		return err_set(err, ERR_USAGE, "matchers.%s: at most %d bytes", silence_field_names[field],
			       WIRE_NAME_CAP - 1);
	str_copy(m->text[field], sizeof m->text[field], value);
	m->given |= 1U << field;
	if (glob_is(value))
		m->patterns |= 1U << field;
	return 0;
}

static int take_matcher(struct silence_matchers *m, struct str key, const struct js *value, struct err *err)
{
	struct str text;
	char shown[SHOWN_CAP], hint[TYPO_HINT_CAP];
	struct typo typo = { .said = key };
	bool is_text = js_str(value, &text);
	for (unsigned i = 0; i < SILENCE_FIELD_COUNT; i++) {
		if (str_eq(key, str_of(silence_field_names[i])))
			return is_text ? take_field(m, i, text, err)
				       : err_set(err, ERR_USAGE, "matchers.%s: a text", silence_field_names[i]);
		typo_offer(&typo, silence_field_names[i]);
	}
	if (str_eq(key, STR("severity")))
		return is_text ? take_severity(m, text, err) : err_set(err, ERR_USAGE, "matchers.severity: a text");
	typo_offer(&typo, "severity");
	return err_set(err, ERR_USAGE, "matchers has no '%s'%s", esc_copy(shown, sizeof shown, key),
		       typo_hint(&typo, hint));
}

/* An acknowledgement has names alone: a '*' in one of them is a '*'. */
static int compile(struct silence_matchers *m, enum silence_kind kind, struct err *err)
{
	int rc = 0;
	if (kind == SILENCE_ACKNOWLEDGEMENT)
		m->patterns = 0;
	for (unsigned i = 0; rc == 0 && i < SILENCE_FIELD_COUNT; i++) {
		if (!(m->patterns & 1U << i))
			continue;
		rc = glob_parse(str_of(m->text[i]), &m->globs[i], err);
		if (rc < 0)
			err_wrap(err, "matchers.%s", silence_field_names[i]);
	}
	return rc;
}

static int take_matchers(const struct js *object, enum silence_kind kind, struct silence_matchers *m, struct err *err)
{
	struct js_iter iter = { 0 };
	const struct js *value;
	struct str key;
	*m = (struct silence_matchers){ 0 };
	if (js_kind(object) != JS_OBJECT)
		return err_set(err, ERR_USAGE,
			       "matchers: an object of cluster, namespace, workload, pod, rule, severity");
	while (js_each(object, &iter, &key, &value)) {
		int rc = take_matcher(m, key, value, err);
		if (rc < 0)
			return rc;
	}
	if (!m->given && m->severity == SEVERITY_NONE)
		return err_set(err, ERR_USAGE, "matchers: at least one, or everything would be silent");
	return compile(m, kind, err);
}

int silence_matchers_read(struct str text, enum silence_kind kind, struct silence_matchers *ret_matchers,
			  struct err *err)
{
	auto_js struct js *root = NULL;
	struct silence_matchers matchers;
	int rc = js_parse(text, SILENCE_BODY_MAX, &root, err);
	if (rc == 0)
		rc = take_matchers(root, kind, &matchers, err);
	if (rc == 0)
		*ret_matchers = matchers;
	return rc;
}

/* --- a body --------------------------------------------------------------------------------------- */

/* A silence of a rule that is none covers nothing, and whoever wrote it would find out at night. */
static int check_rule(const struct silence_matchers *m, struct err *err)
{
	char shown[SHOWN_CAP], hint[TYPO_HINT_CAP];
	const char *said = m->text[SILENCE_RULE];
	struct typo typo = { .said = str_of(said) };
	if (!(m->given & 1U << SILENCE_RULE) || m->patterns & 1U << SILENCE_RULE || page_find(said))
		return 0;
	for (size_t i = 0; i < page_count; i++)
		typo_offer(&typo, page_table[i].name);
	return err_set(err, ERR_USAGE, "matchers.rule: no rule '%s'%s", esc_copy(shown, sizeof shown, str_of(said)),
		       typo_hint(&typo, hint));
}

/* An alert's identity: each of these by its name. The cluster may be left out where there is one. */
static int check_acknowledgement(const struct silence_matchers *m, struct err *err)
{
	const unsigned needed = 1U << SILENCE_NAMESPACE | 1U << SILENCE_WORKLOAD | 1U << SILENCE_RULE;
	if ((m->given & needed) != needed || m->given & 1U << SILENCE_POD)
		return err_set(
			err, ERR_USAGE,
			"matchers: an acknowledgement is of one alert: namespace, workload and rule by their names, without a pod");
	return 0;
}

static int take_kind(const struct js *value, enum silence_kind *ret_kind, struct err *err)
{
	struct str text;
	for (unsigned i = 0; js_str(value, &text) && i < SILENCE_KIND_COUNT; i++)
		if (str_eq(text, str_of(silence_kind_names[i]))) {
			*ret_kind = i;
			return 0;
		}
	return err_set(err, ERR_USAGE, "kind: silence or acknowledgement");
}

/* What is escaped wherever it is shown nobody needs in a reason; nor U+061C, a mark of direction too (UAX #9). */
static bool is_plain(struct str text)
{
	return esc_is_plain(text) && str_find(text, STR("\xd8\x9c")) == text.len;
}

static int take_reason(const struct js *value, struct silence *s, struct err *err)
{
	struct str text;
	if (!js_str(value, &text))
		return err_set(err, ERR_USAGE, "reason: a text: why nobody needs to be told");
	text = str_trim(text);
	if (text.len == 0 || text.len > SILENCE_REASON_MAX)
		return err_set(err, ERR_USAGE, "reason: 1 to %d bytes: why nobody needs to be told",
			       SILENCE_REASON_MAX);
	if (!is_plain(text))
		return err_set(err, ERR_USAGE, "reason: one line, without control characters and marks of direction");
	str_copy(s->reason, sizeof s->reason, text);
	return 0;
}

static int take_until(const struct js *value, struct wall now, struct silence *s, struct err *err)
{
	char day[DATE_TEXT_CAP];
	int64_t last = now.ms + SILENCE_LONGEST_DAYS * DATE_DAY_MS;
	if (!value && s->kind == SILENCE_ACKNOWLEDGEMENT) {
		s->until.ms = now.ms + SILENCE_ACKNOWLEDGED_MS;
		return 0;
	}
	if (!js_i64(value, &s->until.ms))
		return err_set(err, ERR_USAGE, "until_ms: when it ends, in milliseconds since 1970");
	if (s->until.ms <= now.ms)
		return err_set(err, ERR_USAGE, "until_ms: that has passed; here it is %" PRId64, now.ms);
	if (s->until.ms > last)
		return err_set(err, ERR_USAGE, "until_ms: longer than a year: at most to %s, and look again then",
			       date_format(day, last - last % DATE_DAY_MS));
	return 0;
}

static int check_members(const struct js *root, bool preview, struct err *err)
{
	static const char *const names[] = { "kind", "matchers", "reason", "until_ms" };
	size_t n = preview ? 2 : 4;
	struct js_iter iter = { 0 };
	const struct js *value;
	struct str key;
	char shown[SHOWN_CAP], hint[TYPO_HINT_CAP];
	if (js_kind(root) != JS_OBJECT)
		return err_set(err, ERR_USAGE, "an object is wanted: kind, matchers, reason, until_ms");
	while (js_each(root, &iter, &key, &value)) {
		struct typo typo = { .said = key };
		size_t i = 0;
		while (i < n && !str_eq(key, str_of(names[i])))
			typo_offer(&typo, names[i++]);
		if (i == n)
			return err_set(err, ERR_USAGE, "no member '%s' here%s", esc_copy(shown, sizeof shown, key),
				       typo_hint(&typo, hint));
	}
	return 0;
}

static int parse(struct str body, bool preview, struct wall now, struct silence *s, struct err *err)
{
	auto_js struct js *root = NULL;
	const struct js_caps caps = { .bytes = SILENCE_BODY_MAX, .depth = 4, .n_values = 64 };
	int rc = js_parse_within(body, &caps, &root, err);
	if (rc == 0)
		rc = check_members(root, preview, err);
	if (rc == 0 && (js_get(root, "kind") || !preview))
		rc = take_kind(js_get(root, "kind"), &s->kind, err);
	if (rc == 0)
		rc = take_matchers(js_get(root, "matchers"), s->kind, &s->matchers, err);
	if (rc == 0)
		rc = check_rule(&s->matchers, err);
	if (rc == 0 && s->kind == SILENCE_ACKNOWLEDGEMENT)
		rc = check_acknowledgement(&s->matchers, err);
	if (rc == 0 && !preview)
		rc = take_reason(js_get(root, "reason"), s, err);
	if (rc == 0 && !preview)
		rc = take_until(js_get(root, "until_ms"), now, s, err);
	return rc;
}

int silence_parse(struct str body, struct wall now, struct silence *ret_silence, struct err *err)
{
	struct silence s = { 0 };
	int rc = parse(body, false, now, &s, err);
	if (rc == 0)
		*ret_silence = s;
	return rc;
}

int silence_parse_preview(struct str body, struct silence *ret_silence, struct err *err)
{
	struct silence s = { 0 };
	int rc = parse(body, true, (struct wall){ 0 }, &s, err);
	if (rc == 0)
		*ret_silence = s;
	return rc;
}

/* --- writing -------------------------------------------------------------------------------------- */

void silence_put_matchers(struct js_out *out, const struct silence_matchers *m)
{
	js_out_object(out);
	for (unsigned i = 0; i < SILENCE_FIELD_COUNT; i++) {
		if (!(m->given & 1U << i))
			continue;
		js_out_key(out, silence_field_names[i]);
		js_out_text(out, m->text[i]);
	}
	if (m->severity != SEVERITY_NONE)
		put_text(out, "severity", severity_names[m->severity]);
	js_out_object_end(out);
}

void silence_put(struct js_out *out, const struct silence *s, struct wall now)
{
	/* One that has expired and was not yet ended by the next step. */
	struct wall ended = s->ended.ms == 0 && s->until.ms <= now.ms ? s->until : s->ended;
	js_out_object(out);
	api_put_id(out, "id", s->id);
	put_text(out, "kind", silence_kind_names[s->kind]);
	js_out_key(out, "matchers");
	silence_put_matchers(out, &s->matchers);
	put_text(out, "reason", s->reason);
	put_text(out, "author", s->author);
	api_put_wall(out, "created_ms", s->created);
	api_put_wall(out, "until_ms", s->until);
	api_put_bool(out, "active", ended.ms == 0);
	api_put_wall(out, "ended_ms", ended);
	put_text(out, "ended_by", ended.ms && s->ended.ms == 0 ? "expired" : s->ended_by);
	js_out_object_end(out);
}

void silence_put_brief(struct js_out *out, const char *key, const struct silence *s)
{
	js_out_key(out, key);
	if (!s) {
		js_out_null(out);
		return;
	}
	js_out_object(out);
	api_put_id(out, "id", s->id);
	put_text(out, "kind", silence_kind_names[s->kind]);
	put_text(out, "reason", s->reason);
	put_text(out, "author", s->author);
	api_put_wall(out, "until_ms", s->until);
	js_out_object_end(out);
}
