/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/build.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/refresh.h"
#include "base/limits.h"
#include "engine/build.h"
#include "jvm/answer.h"
#include "jvm/codecache.h"
#include "jvm/heapinfo.h"
#include "jvm/hsperf.h"
#include "jvm/jvmfind.h"
#include "jvm/mallocinfo.h"
#include "jvm/nmt.h"
#include "jvm/nmtdetail.h"
#include "jvm/vmargs.h"
#include "jvm/vmflags.h"
#include "jvm/vmversion.h"
#include "kernel/cgpath.h"
#include "kernel/cgread.h"
#include "kernel/host.h"
#include "kernel/memfd.h"
#include "kernel/pagemap.h"
#include "kernel/smaps.h"
#include "kernel/stat.h"
#include "kernel/status.h"
#include "kernel/tmpfs.h"

void build_gap(struct snapshot *s, const char *what, const struct err *err)
{
	if (s->n_gaps == GAPS_MAX)
		return;
	struct gap *gap = &s->gaps[s->n_gaps++];
	str_copy(gap->what, sizeof gap->what, str_of(what));
	str_copy(gap->reason, sizeof gap->reason, str_of(err->message));
	gap->kind = (int)err->kind;
}

static void setting_put(struct snapshot *s, const char *key, const char *value, const char *where)
{
	if (s->n_settings == SETTINGS_MAX)
		return;
	struct setting *setting = &s->settings[s->n_settings++];
	str_copy(setting->key, sizeof setting->key, str_of(key));
	str_copy(setting->value, sizeof setting->value, str_of(value));
	str_copy(setting->where, sizeof setting->where, str_of(where));
}

/* The text of `name`, or a gap if it was tried and failed. False: nothing to parse. */
static bool text_of(const struct evidence *e, struct snapshot *s, const char *name, struct str *ret_text)
{
	const struct evidence_item *item = evidence_find(e, name);
	if (!item)
		return false;
	if (item->err.kind != ERR_NONE) {
		build_gap(s, name, &item->err);
		return false;
	}
	*ret_text = buf_str(&item->bytes);
	return true;
}

static void build_facts(const struct evidence *e, struct snapshot *s)
{
	struct str text;
	s->taken.ms = (int64_t)evidence_fact_u64(e, "taken_ms", 0);
	uint64_t pid = evidence_fact_u64(e, "pid", 0);
	s->process.pid = pid <= INT32_MAX ? (int)pid : 0;
	s->process.start_ticks = evidence_fact_u64(e, "start_ticks", 0);
	s->host_cpus = (uint32_t)evidence_fact_u64(e, "host_cpus", 1);
	s->page_bytes = (uint32_t)evidence_fact_u64(e, "page_bytes", 4096);
	if (evidence_fact_find(e, "kernel", &text))
		str_copy(s->kernel, sizeof s->kernel, text);
	if (evidence_fact_find(e, "machine_cgroup", &text))
		str_copy(s->machine_cgroup, sizeof s->machine_cgroup, text);
	uint64_t bytes = evidence_fact_u64(e, "told_limit", 0);
	if (bytes)
		s->told_limit = limit_set(bytes);
	bytes = evidence_fact_u64(e, "pod_limit", 0);
	if (bytes)
		s->pod_limit = limit_set(bytes);
	if (evidence_fact_find(e, "pod_others", &text))
		s->pod_others_bytes = qty_of(evidence_fact_u64(e, "pod_others", 0), QTY_INFERRED);
	s->cgroup.kind = (enum cgroup_kind)evidence_fact_u64(e, "cgroup_kind", CGROUP_UNREAD);
	if (s->cgroup.kind >= CGROUP_KIND_COUNT)
		s->cgroup.kind = CGROUP_UNREAD;
}

static void build_host(const struct evidence *e, struct snapshot *s)
{
	struct str text;
	struct err err = { 0 };
	struct host_memory memory;
	if (text_of(e, s, "host/meminfo", &text)) {
		if (host_meminfo_parse(text, &memory, &err) < 0) {
			build_gap(s, "host/meminfo", &err);
		} else {
			s->host_memory_bytes = memory.total_bytes;
			s->host_available_bytes = memory.available_bytes;
			s->host_swap_free_bytes = memory.swap_free_bytes;
		}
	}
	if (text_of(e, s, "host/thp", &text) && host_thp_parse(text, &s->thp, &err) < 0)
		build_gap(s, "host/thp", &err);
	if (text_of(e, s, "proc/tmpfs", &text)) {
		s->tmpfs_read = tmpfs_parse(text, s->tmpfs, &s->n_tmpfs, &err) == 0;
		if (!s->tmpfs_read)
			build_gap(s, "proc/tmpfs", &err);
	}
}

void build_beside(const struct evidence *e, struct snapshot *s)
{
	struct str text;
	struct err err = { 0 };
	if (text_of(e, s, "proc/pagemap", &text) &&
	    pagemap_parse(text, s->residents, RESIDENT_RANGES_MAX, &s->n_residents, &err) < 0)
		build_gap(s, "proc/pagemap", &err);
	struct memfd_heap heap;
	if (text_of(e, s, "proc/memfd", &text)) {
		if (memfd_parse(text, &heap, &err) < 0)
			build_gap(s, "proc/memfd", &err);
		else
			s->memfd_heap_bytes = qty_measured(heap.bytes);
	}
}

static void build_process(const struct evidence *e, struct snapshot *s)
{
	struct str text;
	struct err err = { 0 };
	if (text_of(e, s, "proc/status", &text)) {
		s->process_read = status_parse(text, &s->status, &err) == 0;
		if (!s->process_read)
			build_gap(s, "proc/status", &err);
	}
	struct cgpath *path = malloc(sizeof *path);
	if (path && text_of(e, s, "proc/cgroup", &text) && cgpath_parse(text, path, &err) == 0)
		if (!cgpath_container_id(path->v2, s->container_id))
			(void)cgpath_container_id(path->v1_memory, s->container_id);
	free(path);
	struct smaps_rollup rollup;
	if (text_of(e, s, "proc/smaps_rollup", &text)) {
		if (smaps_rollup_parse(text, &rollup, &err) < 0)
			build_gap(s, "proc/smaps_rollup", &err);
		else
			s->rollup_anon_bytes = rollup.anonymous_bytes;
	}
	if (text_of(e, s, "proc/smaps", &text)) {
		s->vmas_read = smaps_parse(text, &s->vmas, &err) == 0;
		if (!s->vmas_read)
			build_gap(s, "proc/smaps", &err);
	}
	build_beside(e, s);
}

void build_limit_gap(struct snapshot *s)
{
	struct err err = { 0 };
	if (s->told_limit.kind == LIMIT_SET && s->cgroup.max.kind == LIMIT_SET &&
	    s->told_limit.bytes != s->cgroup.max.bytes) {
		(void)err_set(&err, ERR_USAGE, "--limit says %llu bytes, memory.max %llu: the cgroup's counts",
			      (unsigned long long)s->told_limit.bytes, (unsigned long long)s->cgroup.max.bytes);
		build_gap(s, "limit", &err);
	}
}

static void build_cgroup(const struct evidence *e, struct snapshot *s)
{
	struct str text;
	struct err err = { 0 };
	(void)text_of(e, s, "cgroup", &text);
	for (size_t i = 0; i < cg_n_files; i++) {
		char name[EVIDENCE_NAME_CAP];
		(void)snprintf(name, sizeof name, "cgroup/%s", cg_files[i].name);
		if (text_of(e, s, name, &text) &&
		    cg_parse_file(cg_files[i].name, text, s->process.pid, &s->cgroup, &err) < 0)
			build_gap(s, name, &err);
	}
	cg_settle(&s->cgroup);
	build_limit_gap(s);
}

/* Where the maximum heap stands; VM.flags prints it too where nobody gave one. */
static const char *heap_where(const struct snapshot *s, const char *where)
{
	if (s->flags.heap_origin == HEAP_ORIGIN_DEFAULT)
		return "VM.flags: chosen by the JVM, no option sizes it";
	if (s->flags.heap_origin == HEAP_ORIGIN_SHARE)
		return "VM.flags: from a share of memory";
	return where;
}

/* In this order: the command line, what was added by environment (hsperfdata knows), what the JVM says is in force. */
static void build_flags(const struct evidence *e, struct snapshot *s)
{
	struct str text;
	struct err err = { 0 };
	struct vmargs args;
	const char *where = "command line";
	(void)text_of(e, s, "proc/cmdline", &text); /* its gap */
	vmargs_parse(evidence_text(e, "proc/cmdline"), &args);
	s->flags = args.flags;
	auto_buf struct buf words = { .cap = LIMIT_PROC_FILE };
	bool whole;
	if (hsperf_args(evidence_text(e, "jvm/hsperf"), &words, &whole))
		(whole ? vmargs_apply_all : vmargs_apply_words)(buf_str(&words), &s->flags);
	if (text_of(e, s, answer_kinds[ANSWER_FLAGS].evidence, &text)) {
		if (vmflags_parse(text, &s->flags, &err) < 0)
			build_gap(s, answer_kinds[ANSWER_FLAGS].evidence, &err);
		else
			where = "VM.flags";
	}
	const struct {
		const char *key;
		struct qty value;
	} sizes[] = {
		{ "-Xmx", s->flags.max_heap_bytes },
		{ "-XX:MaxDirectMemorySize", s->flags.max_direct_bytes },
		{ "-XX:MaxMetaspaceSize", s->flags.max_metaspace_bytes },
		{ "-XX:ReservedCodeCacheSize", s->flags.reserved_code_cache_bytes },
	};
	char value[24];
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		if (!qty_known(sizes[i].value))
			continue;
		(void)snprintf(value, sizeof value, "%llu", (unsigned long long)sizes[i].value.bytes);
		setting_put(s, sizes[i].key, value, i == 0 ? heap_where(s, where) : where);
	}
	uint32_t bp = s->flags.max_ram_percentage_bp;
	(void)snprintf(value, sizeof value, bp % 100 ? "%u.%02u" : "%u", bp / 100, bp % 100);
	if (bp)
		setting_put(s, "-XX:MaxRAMPercentage", value, where);
	if (s->flags.container_support_off)
		setting_put(s, "-XX:UseContainerSupport", "false", where);
}

#define PARSE_ANSWER(answer, parse, target)                     \
	(text_of(e, s, answer_kinds[answer].evidence, &text) && \
	 (parse(text, target, &err) == 0 || (build_gap(s, answer_kinds[answer].evidence, &err), false)))

static void build_jvm(const struct evidence *e, struct snapshot *s)
{
	struct str text;
	struct err err = { 0 };
	struct vmversion version;
	s->is_jvm = s->vmas_read ? jvmfind_is_jvm(&s->vmas) : evidence_find(e, "jvm/hsperf") != NULL;
	if (!s->is_jvm)
		return;
	build_flags(e, s);
	(void)text_of(e, s, "jvm/attach", &text);
	if (text_of(e, s, "jvm/hsperf", &text)) {
		s->perf_read = hsperf_parse(text, &s->perf, &err) == 0;
		if (!s->perf_read)
			build_gap(s, "jvm/hsperf", &err);
	}
	if (PARSE_ANSWER(ANSWER_VERSION, vmversion_parse, &version)) {
		str_copy(s->jdk, sizeof s->jdk, str_of(version.jdk));
		s->jdk_major = version.major;
	} else if (s->perf_read && s->perf.java_version[0]) {
		str_copy(s->jdk, sizeof s->jdk, str_of(s->perf.java_version));
		s->jdk_major = vmversion_major(str_of(s->jdk));
	}
	(void)PARSE_ANSWER(ANSWER_HEAP_INFO, heapinfo_parse, &s->heap);
	(void)PARSE_ANSWER(ANSWER_CODE_CACHE, codecache_parse, &s->code);
	s->nmt_read = PARSE_ANSWER(ANSWER_NMT, nmt_parse, &s->nmt);
	(void)PARSE_ANSWER(ANSWER_NMT_DETAIL, nmtdetail_parse, &s->regions);
	(void)PARSE_ANSWER(ANSWER_MALLOC_INFO, mallocinfo_parse, &s->malloc_info);
	s->gc = jvmfind_gc(&s->heap, &s->flags, s->perf_read ? &s->perf : NULL);
}

bool build_mapped_names(const struct vma_set *vmas, struct buf *out)
{
	struct str last = STR("");
	for (size_t i = 0; i < vmas->n; i++) {
		const struct vma *vma = &vmas->items[i];
		struct str name = vma_name(vmas, vma);
		if (vma->kind != VMA_FILE || !str_has(name, STR(".so")) || str_eq(name, last) ||
		    str_has(name, STR("\n")))
			continue;
		last = name;
		if (!buf_add(out, name) || !buf_putc(out, '\n'))
			return false;
	}
	return true;
}

static enum allocator allocator_of(struct str mapped)
{
	static const struct {
		struct str part;
		enum allocator allocator;
	} table[] = {
		{ { "libjemalloc", 11 }, ALLOCATOR_JEMALLOC }, { { "libtcmalloc", 11 }, ALLOCATOR_TCMALLOC },
		{ { "libmimalloc", 11 }, ALLOCATOR_MIMALLOC }, { { "ld-musl-", 8 }, ALLOCATOR_MUSL },
		{ { "/libc.so.6", 10 }, ALLOCATOR_GLIBC },     { { "/libc-2.", 8 }, ALLOCATOR_GLIBC },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (str_has(mapped, table[i].part))
			return table[i].allocator;
	return ALLOCATOR_UNKNOWN;
}

static void build_allocator(const struct evidence *e, struct snapshot *s, struct str mapped)
{
	s->allocator = allocator_of(mapped);
	struct str rest, line;
	if (!text_of(e, s, "proc/environ", &rest))
		return;
	while (str_line(&rest, &line)) {
		struct str key, value = line;
		char name[32], text[80];
		uint64_t n;
		if (!str_split(&value, '=', &key))
			continue;
		str_copy(name, sizeof name, key);
		str_copy(text, sizeof text, value);
		setting_put(s, name, text, "environment");
		if (str_eq(key, STR("MALLOC_ARENA_MAX")) && str_is_u64(value, &n))
			s->malloc_arena_max = count_of(n);
	}
}

static int build_engine(const struct evidence *e, struct snapshot *s, struct str mapped, struct err *err)
{
	struct str text, conf_name = STR("config.yaml");
	struct engine_notes *notes = calloc(1, sizeof *notes);
	if (!notes)
		return err_set(err, ERR_NOMEM, "no memory for the engine's notes");
	char name[EVIDENCE_NAME_CAP], conf[64];
	(void)evidence_fact_find(e, "conf_name", &conf_name);
	str_copy(conf, sizeof conf, conf_name);
	(void)text_of(e, s, "conf/flink", &text);
	(void)text_of(e, s, "http/metrics", &text);
	struct engine_evidence in = {
		.cmdline = evidence_text(e, "proc/cmdline"),
		.mapped = mapped,
		.conf = evidence_text(e, "conf/flink"),
		.conf_name = conf,
		.flink_taskmanager = evidence_text(e, "http/flink_taskmanager"),
		.flink_config = evidence_text(e, "http/flink_config"),
		.flink_jm_config = evidence_text(e, "http/flink_jobmanager_config"),
		.flink_jobs = evidence_text(e, "http/flink_jobs"),
		.flink_job_metrics = evidence_text(e, "http/flink_job_metrics"),
		.state_dirs = evidence_text(e, "proc/state_dirs"),
	};
	for (size_t i = 0; i < ENGINE_PAGES_MAX; i++) {
		(void)snprintf(name, sizeof name, "http/metrics.%zu", i);
		if (text_of(e, s, name, &text))
			in.pages[in.n_pages++] = text;
	}
	for (size_t i = 0; i < ENGINE_ANSWERS_MAX; i++) {
		(void)snprintf(name, sizeof name, "http/jolokia.%zu", i);
		if (text_of(e, s, name, &text))
			in.jolokia[in.n_jolokia++] = text;
	}
	static const char *const rest[] = { "http/flink_config",      "http/flink_taskmanagers",
					    "http/flink_taskmanager", "http/flink_jobmanager_config",
					    "http/flink_jobs",        "http/flink_job_metrics",
					    "proc/state_dirs" };
	for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
		(void)text_of(e, s, rest[i], &text);
	int rc = engine_build(&in, &s->engine, NULL, &s->metrics_read, notes, err);
	for (size_t i = 0; i < notes->n && s->n_gaps < GAPS_MAX; i++)
		s->gaps[s->n_gaps++] = notes->items[i];
	for (size_t i = 0; i < notes->n_settings && s->n_settings < SETTINGS_MAX; i++)
		s->settings[s->n_settings++] = notes->settings[i];
	free(notes);
	return rc;
}

enum access_level build_access(const struct snapshot *s)
{
	if (s->vmas_read)
		return qty_known(s->cgroup.stat.anon_bytes) ? ACCESS_FULL : ACCESS_PROCESS;
	return s->process_read ? ACCESS_STATUS : ACCESS_NONE;
}

/* All that was read of the mappings, and by them. */
static void move_mappings(struct snapshot *from, struct snapshot *to)
{
	to->vmas = from->vmas;
	from->vmas = (struct vma_set){ 0 };
	to->vmas_read = from->vmas_read;
	from->vmas_read = false;
	memcpy(to->residents, from->residents, sizeof to->residents);
	to->n_residents = from->n_residents;
	to->memfd_heap_bytes = from->memfd_heap_bytes;
	to->age_ms = from->age_ms;
}

/* Process and JVM: what the split of mappings needs. NULL without memory. */
static struct snapshot *build_base(const struct evidence *evidence, struct snapshot *old, struct buf *mapped)
{
	struct snapshot *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	build_facts(evidence, s);
	build_host(evidence, s);
	build_process(evidence, s);
	if (old)
		move_mappings(old, s);
	build_jvm(evidence, s);
	(void)build_mapped_names(&s->vmas, mapped);
	build_allocator(evidence, s, buf_str(mapped));
	return s;
}

int build_for_split(const struct evidence *evidence, struct snapshot **ret_snapshot, struct err *err)
{
	auto_buf struct buf mapped = { .cap = LIMIT_PROC_FILE };
	struct snapshot *s = build_base(evidence, NULL, &mapped);
	if (!s)
		return err_set(err, ERR_NOMEM, "no memory for a snapshot");
	*ret_snapshot = s;
	return 0;
}

int build_again(const struct evidence *evidence, struct snapshot *old, struct snapshot **ret_snapshot, struct err *err)
{
	auto_buf struct buf mapped = { .cap = LIMIT_PROC_FILE };
	struct snapshot *s = build_base(evidence, old, &mapped);
	if (!s)
		return err_set(err, ERR_NOMEM, "no memory for a snapshot");
	build_cgroup(evidence, s);
	int rc = s->process.pid > 0 ? build_engine(evidence, s, buf_str(&mapped), err)
				    : err_set(err, ERR_MALFORMED, "the evidence names no pid");
	if (rc < 0) {
		if (old)
			move_mappings(s, old);
		build_free(s);
		return rc;
	}
	s->access = build_access(s);
	*ret_snapshot = s;
	return 0;
}

int build_run(const struct evidence *evidence, struct snapshot **ret_snapshot, struct err *err)
{
	return build_again(evidence, NULL, ret_snapshot, err);
}

void build_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	snapshot_done(snapshot);
	free(snapshot);
}
