/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration of alerts that is taken: its routes decide on any subject, and its texts can be filled in with whatever
 * an agent named, which here is the configuration itself.
 */
#include <stdlib.h>

#include "collector/alert_text.h"
#include "config/alertconf.h"
#include "data/js.h"
#include "data/yml.h"
#include "fuzz/fuzz.h"

static void must_be_json(const struct buf *body)
{
	auto_js struct js *root = NULL;
	if (js_parse(buf_str(body), ALERT_BODY_MAX, &root, NULL) < 0)
		abort();
}

static void use(const struct alertconf *conf, struct str text)
{
	auto_buf struct buf batch = { .cap = ALERT_BODY_MAX }, event = { .cap = ALERT_BODY_MAX };
	static struct alert alert;
	alert = (struct alert){ .row = 1, .severity = SEVERITY_WARNING, .started.ms = 1, .figures.owner = -1 };
	str_copy(alert.namespace_, sizeof alert.namespace_, text);
	str_copy(alert.workload, sizeof alert.workload, text);
	str_copy(alert.rule, sizeof alert.rule, text);
	str_copy(alert.figures.title, sizeof alert.figures.title, text);
	alert.figures.n_worst = 1;
	str_copy(alert.figures.worst[0].pod, sizeof alert.figures.worst[0].pod, text);
	const struct alert_subject subject = { alert.cluster, alert.namespace_, alert.workload, alert.rule,
					       alert.severity };
	const struct alert_origin origin = { conf, "c", "https://b" };
	const struct alert_item item = { .alert = &alert, .edge = ALERT_EDGE_FIRING };
	int route;
	uint32_t receivers = alertconf_route(conf, &subject, &route);
	if (receivers >> conf->n_receivers || route < -1 || route >= (int)conf->n_routes)
		abort();
	if (alert_encode_batch(&origin, &item, 1, true, (struct wall){ 2 }, &batch, NULL) < 0 ||
	    alert_encode_event(&origin, 0, &item, (struct wall){ 2 }, &event, NULL) < 0)
		abort();
	must_be_json(&batch);
	must_be_json(&event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	auto_yml struct yml yml = { 0 };
	struct alertconf *conf = NULL;
	struct err err = { 0 };
	if (yml_parse(text, "f", &yml, &err) < 0 || alertconf_parse(&yml, "f", NULL, &conf, &err) < 0)
		return 0;
	use(conf, text);
	alertconf_free(conf);
	return 0;
}
