/* SPDX-License-Identifier: Apache-2.0 */
#include "support/alertkit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#define T0_MS INT64_C(1764489600000)

struct alertconf *alertkit_conf(const char *text)
{
	auto_yml struct yml yml = { 0 };
	auto_buf struct buf whole = { .cap = 64 * 1024 };
	struct alertconf *conf = NULL;
	struct err err = { 0 };
	(void)buf_printf(&whole,
			 "alerts:\n  receivers:\n    - {name: am, type: alertmanager, url: 'http://127.0.0.1:9093'}\n"
			 "    - {name: hook, type: webhook, url: 'http://127.0.0.1:9/x'}\n%s",
			 text);
	if (yml_parse(buf_str(&whole), "f", &yml, &err) < 0 || alertconf_parse(&yml, "f", NULL, &conf, &err) < 0)
		fail_msg("%s", err.message);
	return conf;
}

struct alert_group alertkit_group(const char *workload, const char *rule, enum severity severity, unsigned n)
{
	struct alert_group group = {
		.cluster = "default", .namespace_ = "ns", .workload = workload, .rule = rule, .severity = severity
	};
	struct alert_figures *figures = &group.figures;
	figures->owner = -1;
	figures->n_pods = figures->n_workload_pods = n;
	(void)snprintf(figures->title, sizeof figures->title, "a title of %s", rule);
	for (unsigned i = 0; i < n && i < ALERT_WORST_MAX; i++) {
		struct alert_worst *worst = &figures->worst[figures->n_worst++];
		*worst =
			(struct alert_worst){ .agent = i + 1, .severity = severity, .freeboard_bytes = { 1000, true } };
		(void)snprintf(worst->pod, sizeof worst->pod, "p-%u", i);
	}
	return group;
}

struct mono alertkit_mono(int64_t ms)
{
	return (struct mono){ (uint64_t)(ms + 1000000) * 1000000 };
}

struct wall alertkit_wall(int64_t ms)
{
	return (struct wall){ T0_MS + ms };
}

static void save_one(struct alert *alert, int64_t *row)
{
	if (!alert->row)
		alert->row = ++*row;
	alert->unsaved = false;
	for (size_t i = 0; i < ALERT_RECEIVERS_MAX; i++)
		alert->deliveries[i].unsaved = false;
}

void alertkit_save(struct alert_book *book, int64_t now_ms, int64_t *row)
{
	alert_begin(book, alertkit_mono(now_ms));
	for (size_t i = 0; i < book->n_ended; i++)
		save_one(book->ended[i], row);
	for (size_t i = 0; i < book->n_active; i++)
		save_one(book->active[i], row);
}

size_t alertkit_tell(struct alert_book *book, unsigned receiver, int64_t now_ms, char *lines, size_t cap)
{
	struct alert_item items[ALERT_BATCH_MAX];
	size_t n = alert_due(book, receiver, alertkit_mono(now_ms), items, ALERT_BATCH_MAX), told = 0, len = 0;
	if (cap)
		lines[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		const struct alert *alert = items[i].alert;
		alert_told(book, receiver, &items[i], alertkit_mono(now_ms), alertkit_wall(now_ms));
		if (items[i].again)
			continue;
		told++;
		if (len < cap)
			len += (size_t)snprintf(lines + len, cap - len, "%s %s %s %s\n",
						items[i].edge == ALERT_EDGE_RESOLVED ? "resolved" : "firing",
						alert->workload, alert->rule, severity_names[alert->severity]);
	}
	return told;
}
