/* SPDX-License-Identifier: Apache-2.0 */
#include "config/alerttext.h"

#include "base/typo.h"

const char *const alert_field_names[ALERT_FIELD_COUNT] = {
	[ALERT_FIELD_CLUSTER] = "cluster",
	[ALERT_FIELD_NAMESPACE] = "namespace",
	[ALERT_FIELD_WORKLOAD] = "workload",
	[ALERT_FIELD_RULE] = "rule",
	[ALERT_FIELD_SEVERITY] = "severity",
	[ALERT_FIELD_PODS] = "pods",
	[ALERT_FIELD_WORKLOAD_PODS] = "workload_pods",
	[ALERT_FIELD_TITLE] = "title",
	[ALERT_FIELD_WORST] = "worst",
	[ALERT_FIELD_OWNER] = "owner",
	[ALERT_FIELD_STARTED] = "started",
	[ALERT_FIELD_RUNBOOK_URL] = "runbook_url",
	[ALERT_FIELD_DASHBOARD_URL] = "dashboard_url",
};
_Static_assert(sizeof alert_field_names / sizeof alert_field_names[0] == ALERT_FIELD_COUNT, "a name each");

static bool find_field(struct str name, enum alert_field *ret_field)
{
	for (unsigned i = 0; i < ALERT_FIELD_COUNT; i++) {
		if (!str_eq(str_of(alert_field_names[i]), name))
			continue;
		*ret_field = (enum alert_field)i;
		return true;
	}
	return false;
}

/* Takes the next name off `*rest`, and what stood before it. False: no more. `*ret_name` without its end is "{{...". */
static bool next_name(struct str *rest, struct str *ret_before, struct str *ret_name)
{
	size_t at = str_find(*rest, STR("{{"));
	*ret_before = (struct str){ rest->ptr, at };
	struct str tail = str_skip(*rest, at);
	if (!str_take(&tail, STR("{{")))
		return false;
	size_t end = str_find(tail, STR("}}"));
	if (end == tail.len) {
		*ret_name = str_skip(*rest, at);
		*rest = str_skip(tail, end);
		return true;
	}
	*ret_name = str_trim((struct str){ tail.ptr, end });
	*rest = str_skip(tail, end + 2);
	return true;
}

static int refuse_name(struct str name, struct err *err)
{
	char shown[TYPO_NAME_CAP], hint[TYPO_HINT_CAP];
	struct typo typo = { .said = name };
	str_copy(shown, sizeof shown, name);
	if (str_starts(name, STR("{{")))
		return err_set(err, ERR_USAGE, "'%s' is not closed: a name stands between {{ and }}", shown);
	for (unsigned i = 0; i < ALERT_FIELD_COUNT; i++)
		typo_offer(&typo, alert_field_names[i]);
	return err_set(err, ERR_USAGE, "there is no {{%s}}%s", shown, typo_hint(&typo, hint));
}

int alerttext_check(struct str text, struct err *err)
{
	struct str before, name;
	enum alert_field field;
	if (text.len == 0 || text.len >= ALERTTEXT_CAP)
		return err_set(err, ERR_USAGE, "a text of 1 to %d bytes", ALERTTEXT_CAP - 1);
	while (next_name(&text, &before, &name))
		if (!find_field(name, &field))
			return refuse_name(name, err);
	return 0;
}

void alerttext_render(const char *text, const char *const values[ALERT_FIELD_COUNT], struct buf *out)
{
	struct str rest = str_of(text), before, name;
	enum alert_field field;
	while (next_name(&rest, &before, &name)) {
		(void)buf_add(out, before); /* a full buf is sticky, and the caller's to ask */
		if (find_field(name, &field) && values[field])
			(void)buf_puts(out, values[field]);
	}
	(void)buf_add(out, before);
}
