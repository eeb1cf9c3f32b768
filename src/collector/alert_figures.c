/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/alert_figures.h"

#include "base/esc.h"
#include "collector/api_parts.h"
#include "rules/rules.h"
#include "wire/put.h"

static void put_name(struct js_out *out, const char *key, const char *name, enum alert_names names)
{
	char shown[256];
	js_out_key(out, key);
	js_out_text(out, names == ALERT_NAMES_RAW ? name : esc_copy(shown, sizeof shown, str_of(name)));
}

static void put_worst(struct js_out *out, const struct alert_worst *worst, enum alert_names names)
{
	js_out_object(out);
	if (worst->agent)
		api_put_id(out, "id", worst->agent);
	else
		put_text(out, "id", NULL); /* the collector itself is no pod */
	put_name(out, "pod", worst->pod, names);
	put_text(out, "severity", severity_names[worst->severity]);
	put_signed(out, "freeboard", worst->freeboard_bytes);
	put_signed(out, "freeboard_bp", worst->freeboard_bp);
	js_out_object_end(out);
}

void alert_figures_put(struct js_out *out, const struct alert_figures *figures, enum alert_names names)
{
	api_put_u64(out, "pods", figures->n_pods);
	api_put_u64(out, "workload_pods", figures->n_workload_pods);
	put_name(out, "title", figures->title, names);
	api_put_owner(out, "owner", figures->owner);
	js_out_key(out, "worst");
	js_out_array(out);
	for (size_t i = 0; i < figures->n_worst; i++)
		put_worst(out, &figures->worst[i], names);
	js_out_array_end(out);
}

static struct signed_qty read_signed(const struct js *value)
{
	struct signed_qty read = { 0 };
	read.known = js_i64(value, &read.bytes);
	return read;
}

static void read_worst(const struct js *object, struct alert_worst *worst)
{
	struct str text;
	uint64_t agent;
	*worst = (struct alert_worst){ .severity = SEVERITY_NONE };
	if (js_str(js_get(object, "id"), &text) && str_is_u64(text, &agent) && agent <= INT64_MAX)
		worst->agent = (int64_t)agent;
	if (js_str(js_get(object, "pod"), &text))
		str_copy(worst->pod, sizeof worst->pod, text);
	if (js_str(js_get(object, "severity"), &text))
		(void)severity_find(text, &worst->severity); /* else it stays SEVERITY_NONE */
	worst->freeboard_bytes = read_signed(js_get(object, "freeboard"));
	worst->freeboard_bp = read_signed(js_get(object, "freeboard_bp"));
}

static uint32_t read_count(const struct js *value)
{
	uint64_t n = 0;
	return js_u64(value, &n) && n <= UINT32_MAX ? (uint32_t)n : 0;
}

void alert_figures_read(const struct js *object, struct alert_figures *ret_figures)
{
	struct alert_figures figures = { .owner = -1 };
	struct str text;
	figures.n_pods = read_count(js_get(object, "pods"));
	figures.n_workload_pods = read_count(js_get(object, "workload_pods"));
	if (js_str(js_get(object, "title"), &text))
		str_copy(figures.title, sizeof figures.title, text);
	if (js_str(js_get(object, "owner"), &text))
		for (int i = 0; i < OWNER_COUNT; i++)
			if (str_eq(text, str_of(owner_table[i].name)))
				figures.owner = i;
	const struct js *worst = js_get(object, "worst");
	for (size_t i = 0; i < js_len(worst) && figures.n_worst < ALERT_WORST_MAX; i++)
		read_worst(js_at(worst, i), &figures.worst[figures.n_worst++]);
	*ret_figures = figures;
}
