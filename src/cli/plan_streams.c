/* SPDX-License-Identifier: Apache-2.0 */
/* A plan of Kafka Streams: reads the topology, prints what its stores come to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/plan.h"
#include "plan/quantity.h"
#include "plan/streamsplan.h"
#include "sys/file.h"
#include "wire/put.h"

enum { OUT_CAP = 4 << 20 };

static void row(struct paint *p, const char *what, const struct streams_pods *pods)
{
	char size[UNITS_TEXT_CAP], name[64];
	(void)snprintf(name, sizeof name, "%s (%llu)", what, (unsigned long long)pods->pods);
	(void)buf_printf(p->out, "%-34s %10llu %12llu %12s\n", name, (unsigned long long)pods->copies,
			 (unsigned long long)pods->instances, units_format(size, pods->native_bytes.bytes));
}

/* One cache for all; memtables are within it where a manager charges them, and else each instance's own. */
static void say_shared(struct paint *p, const struct streams_setter *setter)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	(void)buf_printf(p->out, "by the setter one cache of %s for all on a pod, ",
			 units_format(a, setter->cache_bytes));
	if (setter->manager_bytes)
		(void)buf_printf(p->out, "and memtables of %s within\n\n", units_format(b, setter->manager_bytes));
	else
		(void)buf_printf(p->out, "and memtables of %s for each instance beside it\n\n",
				 units_format(b, streams_memtable_bytes(setter)));
}

static void head(struct paint *p, const struct plan_options *options, const struct streamsplan *plan)
{
	char line[256], a[UNITS_TEXT_CAP];
	(void)snprintf(line, sizeof line,
		       "kafka-streams  %llu store%s in %llu task%s  %llu RocksDB instances in all, up to %s",
		       (unsigned long long)plan->stores, plan->stores == 1 ? "" : "s", (unsigned long long)plan->tasks,
		       plan->tasks == 1 ? "" : "s", (unsigned long long)plan->instances_all,
		       units_format(a, plan->all_bytes.bytes));
	paint_tone(p, TONE_BOLD);
	paint_wrapped(p, 2, 0, line);
	paint_tone(p, TONE_PLAIN);
	if (plan->setter.cache_bytes)
		say_shared(p, &plan->setter);
	else
		(void)buf_printf(p->out, "%s %s each%s\n\n", options->setter ? "by the setter" : "by default",
				 units_format(a, plan->instance_bytes),
				 options->setter ? "" : ": a cache of 50 MiB and 3 memtables of 16 MiB");
}

static int table(const struct plan_options *options, const struct streamsplan *plan, const struct plan_face *face,
		 struct buf *out, struct err *err)
{
	struct paint p = paint_start(out, face->color, face->columns);
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	paint_headline(&p, plan->verdict);
	head(&p, options, plan);
	paint_text(&p, TONE_BOLD, "FULLEST POD                            COPIES    INSTANCES     UP TO");
	(void)buf_putc(out, '\n');
	row(&p, "all pods there", &plan->steady);
	if (plan->lost.pods)
		row(&p, "one pod lost", &plan->lost);
	if (plan->warmup_instances)
		(void)buf_printf(out, "while tasks move, warm-up replicas may add %llu instances for a while\n",
				 (unsigned long long)plan->warmup_instances);
	if (qty_known(plan->expected.bytes))
		(void)buf_printf(out, "\nexpected demand %s:", units_format(a, plan->expected.bytes.bytes));
	else
		(void)buf_puts(out, "\nexpected demand not known without --heap or --limit; without the heap:");
	for (size_t i = 0; i < plan->expected.n_parts; i++)
		(void)buf_printf(out, "%s %s %s", i ? "," : "", plan->expected.parts[i].what,
				 units_format(b, plan->expected.parts[i].bytes));
	(void)buf_putc(out, '\n');
	if (plan->limit.kind == LIMIT_SET)
		(void)buf_printf(out, "limit %s (told)\n", units_format(a, plan->limit.bytes));
	if (plan->proposed_cache_bytes)
		(void)buf_printf(out,
				 "a setter with one cache of %llum and a write buffer manager of %llum would save %s\n",
				 (unsigned long long)(plan->proposed_cache_bytes >> 20),
				 (unsigned long long)(plan->proposed_manager_bytes >> 20),
				 units_format(a, plan->saved_bytes));
	paint_verdict(&p, plan->verdict);
	return buf_failed(out) ? err_set(err, ERR_NOMEM, "no memory for the plan") : 0;
}

static void put_number(struct js_out *out, const char *key, uint64_t number)
{
	js_out_key(out, key);
	js_out_u64(out, number);
}

static void put_pods(struct js_out *out, const char *key, const struct streams_pods *pods)
{
	js_out_key(out, key);
	if (!pods->pods) {
		js_out_null(out);
		return;
	}
	js_out_object(out);
	put_number(out, "pods", pods->pods);
	put_number(out, "copies", pods->copies);
	put_number(out, "instances", pods->instances);
	put_qty(out, "bound_bytes", pods->native_bytes);
	js_out_object_end(out);
}

static int json(const struct streamsplan *plan, struct buf *buf, struct err *err)
{
	struct js_out out;
	js_out_start(&out, buf, 2);
	js_out_object(&out);
	put_text(&out, "schema", "bankfull.plan.v1");
	put_text(&out, "kind", "streams");
	put_number(&out, "stores", plan->stores);
	put_number(&out, "tasks", plan->tasks);
	put_number(&out, "instances", plan->instances_all);
	put_qty(&out, "bound_bytes", plan->all_bytes);
	put_number(&out, "instance_bytes", plan->instance_bytes);
	put_pods(&out, "fullest_pod", &plan->steady);
	put_pods(&out, "fullest_pod_one_lost", &plan->lost);
	put_number(&out, "warmup_instances", plan->warmup_instances);
	put_number(&out, "saved_bytes", plan->saved_bytes);
	put_qty(&out, "proposed_cache_bytes",
		qty_of(plan->proposed_cache_bytes, plan->proposed_cache_bytes ? QTY_DERIVED : QTY_UNREAD));
	put_qty(&out, "proposed_manager_bytes",
		qty_of(plan->proposed_manager_bytes, plan->proposed_manager_bytes ? QTY_DERIVED : QTY_UNREAD));
	put_limit(&out, "limit_bytes", plan->limit);
	plan_put_demand(&out, "expected_demand", &plan->expected);
	plan_put_verdict(&out, plan->verdict);
	js_out_object_end(&out);
	int rc = js_out_end(&out, err);
	if (rc == 0 && !buf_putc(buf, '\n'))
		rc = err_set(err, ERR_NOMEM, "no memory for the plan");
	return rc;
}

static int read_topology(const char *path, struct topology *topology, struct err *err)
{
	auto_buf struct buf text = { .cap = TOPOLOGY_TEXT_MAX };
	const char *slash = strrchr(path, '/');
	int rc = file_read_named(path, TOPOLOGY_TEXT_MAX, &text, err);
	if (rc < 0)
		return rc;
	rc = topology_parse(buf_str(&text), slash ? slash + 1 : path, topology, err);
	if (rc < 0)
		err->kind = ERR_USAGE; /* the file is the user's to mend */
	return rc;
}

static int read_sizes(const struct plan_options *options, struct streamsplan_ask *ask, struct err *err)
{
	int rc = options->setter ? streams_setter_parse(str_of(options->setter), &ask->setter, err) : 0;
	if (rc == 0 && options->limit) {
		rc = quantity_parse(str_of(options->limit), &ask->limit.bytes, err);
		ask->limit.kind = LIMIT_SET;
		if (rc < 0)
			err_wrap(err, "--limit");
	}
	if (rc == 0 && options->heap) {
		rc = units_parse(str_of(options->heap), &ask->heap_bytes, err);
		if (rc == 0 && (ask->heap_bytes == 0 || ask->heap_bytes > INT64_MAX))
			rc = err_set(err, ERR_USAGE, "'%.40s' is no size of a heap: such as 512m or 2g is accepted",
				     options->heap);
		if (rc < 0)
			err_wrap(err, "--heap");
	}
	return rc;
}

int plan_streams(const struct plan_options *options, int *ret_status, struct err *err)
{
	auto_free struct topology *topology = NULL;
	auto_streamsplan struct streamsplan plan = { 0 };
	auto_buf struct buf out = { .cap = OUT_CAP };
	struct streamsplan_ask ask = {
		.stores = options->stores,
		.windowed = options->windowed,
		.segments = options->segments,
		.partitions = options->partitions,
		.pods = options->instances ? options->instances : 1,
		.standbys = options->standbys,
		.threads = options->threads,
	};
	if (!ask.partitions)
		return err_set(err, ERR_USAGE,
			       "--streams: say how many partitions the input topics have: --partitions N");
	if (!options->topology && !ask.stores && !ask.windowed)
		return err_set(
			err, ERR_USAGE,
			"--streams: say which stores there are: --topology FILE, or --stores N and --windowed-stores N");
	if (options->topology && ask.stores)
		return err_set(err, ERR_USAGE,
			       "--stores and --topology exclude each other: the topology says its stores");
	int rc = read_sizes(options, &ask, err);
	if (rc == 0 && options->topology) {
		topology = calloc(1, sizeof *topology);
		rc = topology ? read_topology(options->topology, topology, err) : err_set(err, ERR_NOMEM, "no memory");
		ask.topology = topology;
	}
	if (rc == 0)
		rc = streamsplan_run(&ask, &plan, err);
	if (rc < 0)
		return rc;
	const struct plan_face face = { options->colored, command_columns() };
	rc = options->json ? json(&plan, &out, err) : table(options, &plan, &face, &out, err);
	*ret_status = plan.verdict->worst >= SEVERITY_WARNING ? EXIT_FINDING : EXIT_OK;
	return rc < 0 ? rc : command_print(&out, "the plan", err);
}
