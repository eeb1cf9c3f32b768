/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/esc.h"
#include "base/units.h"
#include "cli/plan.h"

static void head(struct paint *p, const struct flinkplan *plan, const char *file)
{
	static const char *const ways[] = { "its parts", "Flink's total size", "its process size" };
	char line[512], shown[256];
	const struct engine_state *engine = &plan->snapshot->engine;
	(void)snprintf(line, sizeof line, "%s %s  %s  sized by %s%s%s", engine_names[engine->kind], engine->version,
		       file ? esc_copy(shown, sizeof shown, str_of(file)) : "no file", ways[plan->derived.way],
		       engine->backend != BACKEND_UNKNOWN ? "  state backend " : "",
		       engine->backend != BACKEND_UNKNOWN ? state_backend_names[engine->backend] : "");
	paint_tone(p, TONE_BOLD);
	paint_wrapped(p, 2, 0, line);
	paint_tone(p, TONE_PLAIN);
}

static void part(struct paint *p, unsigned indent, const char *name, struct qty bytes, const char *flag)
{
	char size[UNITS_TEXT_CAP];
	if (!qty_known(bytes))
		return;
	(void)buf_printf(p->out, "%*s%-*s %14llu %12s  %s\n", (int)indent, "", 30 - (int)indent, name,
			 (unsigned long long)bytes.bytes, units_format(size, bytes.bytes), flag);
}

static void sizes(struct paint *p, const struct flinkplan *plan)
{
	const struct flink_budget *b = &plan->derived.budget;
	bool is_task = plan->derived.role == DERIVE_TASKMANAGER;
	(void)buf_putc(p->out, '\n');
	paint_text(p, TONE_BOLD, "PART                                    BYTES         SIZE  ENFORCED BY");
	(void)buf_putc(p->out, '\n');
	part(p, 0, "process", b->process_bytes, "");
	part(p, 2, "flink", b->flink_bytes, "");
	part(p, 4, "heap", b->heap_bytes, "-Xmx");
	part(p, 6, "framework heap", b->framework_heap_bytes, "");
	part(p, 6, "task heap", b->task_heap_bytes, "");
	part(p, 4, is_task ? "direct" : "off-heap", b->direct_bytes,
	     plan->derived.direct_limited ? "-XX:MaxDirectMemorySize" : "nothing");
	part(p, 6, "framework off-heap", b->framework_off_heap_bytes, "");
	part(p, 6, "task off-heap", b->task_off_heap_bytes, "");
	part(p, 6, "network", b->network_bytes, "");
	part(p, 4, "managed", b->managed_bytes, "nothing");
	part(p, 2, "metaspace", b->metaspace_bytes, "-XX:MaxMetaspaceSize");
	part(p, 2, "jvm-overhead", b->overhead_bytes, "nothing");
}

static void flags(struct paint *p, const struct flinkplan *plan)
{
	auto_buf struct buf text = { .cap = 1024 };
	if (!flinkplan_flags(&plan->derived, &text))
		return;
	(void)buf_puts(p->out, "\nJVM flags  ");
	paint_wrapped(p, 11, 11, text.ptr);
}

static void rocksdb(struct paint *p, const struct flinkplan *plan)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	const struct rocksdb_budget *r = &plan->rocksdb;
	if (!qty_known(r->cache_bytes))
		return;
	char line[256];
	(void)snprintf(line, sizeof line,
		       "each %s is given %s: a cache of %s (%llu), of it write buffers up to %s (%llu)",
		       r->sharing == ROCKSDB_PER_PROCESS ? "process" : "slot", units_format(a, r->grant_bytes.bytes),
		       units_format(b, r->cache_bytes.bytes), (unsigned long long)r->cache_bytes.bytes,
		       units_format(c, r->write_buffers_bytes.bytes), (unsigned long long)r->write_buffers_bytes.bytes);
	(void)buf_puts(p->out, "RocksDB    ");
	paint_wrapped(p, 11, 11, line);
}

static void demand(struct paint *p, const struct flinkplan *plan)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	const struct ledger *l = plan->ledger;
	(void)buf_putc(p->out, '\n');
	paint_text(p, TONE_BOLD, "DEMAND                                                SIZE  OWNERS");
	(void)buf_putc(p->out, '\n');
	for (size_t i = 0; i < l->expected.n_parts; i++) {
		const struct demand_part *d = &l->expected.parts[i];
		char owners[512] = "";
		size_t used = 0;
		for (int owner = 0; owner < OWNER_COUNT && used < sizeof owners; owner++)
			if ((d->owners >> owner & 1) && owner != OWNER_ZGC_HEAP)
				used += (size_t)snprintf(owners + used, sizeof owners - used, "%s%s", used ? ", " : "",
							 owner_table[owner].name);
		(void)buf_printf(p->out, "%-46s %11s  ", d->what, units_format(a, d->bytes));
		paint_wrapped(p, 60, 60, owners);
	}
	(void)buf_printf(p->out, "\nexpected demand %s   legal demand %s\nlimit %s%s",
			 units_format(a, l->expected.bytes.bytes), units_format(b, l->legal.bytes.bytes),
			 units_format(c, l->limit.bytes), plan->limit_told ? " (told)" : "");
	(void)buf_printf(p->out, "   on native Kubernetes %s, %lluMi (limit-factor %g)\n",
			 units_format(a, plan->kubernetes_bytes), (unsigned long long)(plan->kubernetes_bytes >> 20),
			 plan->limit_factor);
}

int plan_flink_table(const struct flinkplan *plan, const char *file, const struct plan_face *face, struct buf *out,
		     struct err *err)
{
	struct paint p = paint_start(out, face->color, face->columns);
	paint_headline(&p, plan->verdict);
	head(&p, plan, file);
	sizes(&p, plan);
	flags(&p, plan);
	rocksdb(&p, plan);
	demand(&p, plan);
	paint_verdict(&p, plan->verdict);
	return buf_failed(out) ? err_set(err, ERR_NOMEM, "no memory for the plan") : 0;
}
