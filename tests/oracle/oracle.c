/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well the VMA splitter does without labels, against a JVM that knows them. Page by page.
 *
 *   oracle record PID DIR   keeps DIR/smaps and DIR/pages (runs of anonymous pages, "start-end bytes")
 *   oracle reduce DIR       the answers in DIR as captures keep them: without call stacks and names
 *   oracle report DIR       prints the confusion matrix of DIR; status 1 below 99 % of the labelled bytes
 *
 * DIR also holds the JVM's answers: heap_info, codecache, nmt, vm_flags (optional), jdk (its major version), and the
 * truth: nmt_detail, or system_map, or both. System.map labels a whole mapping when any range of NMT lies in it, also
 * where malloc's mappings have merged with it; where both are there, a page is labelled only if NMT's detail has a
 * range there too, and the matrix by System.map alone is printed as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jvm/answer.h"
#include "jvm/codecache.h"
#include "jvm/heapinfo.h"
#include "jvm/nmt.h"
#include "jvm/nmtdetail.h"
#include "jvm/sysmap.h"
#include "jvm/vmflags.h"
#include "kernel/pagemap.h"
#include "kernel/smaps.h"
#include "ledger/vmashape.h"
#include "sys/file.h"

enum { FILE_CAP = 64 << 20, AGREE_BP = 9900, NONE = CLASS_COUNT, ROWS };

struct runs {
	struct addr_range *items;
	size_t n, room;
};

struct matrix {
	uint64_t bytes[ROWS][CLASS_COUNT]; /* truth (NONE: unlabelled) by what the splitter said */
	uint64_t labelled, agreed;
};

static void die(const char *what, const struct err *err)
{
	fprintf(stderr, "oracle: %s: %s\n", what, err ? err->message : strerror(errno));
	exit(2);
}

/* --- reading ------------------------------------------------------------------------------- */

static bool load(int dir, const char *name, struct buf *text)
{
	struct err err;
	*text = (struct buf){ .cap = FILE_CAP };
	if (faccessat(dir, name, R_OK, 0) != 0)
		return false;
	if (file_read_at(dir, name, FILE_CAP, text, &err) < 0)
		die(name, &err);
	return text->len > 0;
}

static void runs_add(struct runs *runs, struct addr_range range)
{
	if (runs->n && runs->items[runs->n - 1].end == range.start) {
		runs->items[runs->n - 1].end = range.end;
		return;
	}
	if (runs->n == runs->room) {
		runs->room = runs->room ? runs->room * 2 : 1024;
		runs->items = realloc(runs->items, runs->room * sizeof *runs->items);
		if (!runs->items)
			die("memory", NULL);
	}
	runs->items[runs->n++] = range;
}

static void parse_runs(struct str text, struct runs *runs)
{
	struct str line;
	while (str_line(&text, &line)) {
		struct addr_range range;
		if (!str_hex(&line, &range.start) || !str_take(&line, STR("-")) || !str_hex(&line, &range.end) ||
		    range.start >= range.end)
			die("pages", &(struct err){ .message = "a line is no range" });
		runs_add(runs, range);
	}
}

static uint64_t runs_in(const struct runs *runs, struct addr_range range)
{
	size_t low = 0, high = runs->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (runs->items[middle].end > range.start)
			high = middle;
		else
			low = middle + 1;
	}
	uint64_t sum = 0;
	for (size_t i = low; i < runs->n && runs->items[i].start < range.end; i++) {
		uint64_t from = runs->items[i].start > range.start ? runs->items[i].start : range.start;
		uint64_t to = runs->items[i].end < range.end ? runs->items[i].end : range.end;
		sum += to - from;
	}
	return sum;
}

static bool maps(const struct vma_set *set, const char *name)
{
	for (size_t i = 0; i < set->n; i++)
		if (str_has(vma_name(set, &set->items[i]), str_of(name)))
			return true;
	return false;
}

static void load_snapshot(int dir, struct snapshot *s)
{
	struct buf text;
	struct err err;
	*s = (struct snapshot){ .page_bytes = 4096, .is_jvm = true };
	if (!load(dir, "smaps", &text) || smaps_parse(buf_str(&text), &s->vmas, &err) < 0)
		die("smaps", &err);
	buf_done(&text);
	s->vmas_read = true;
	s->allocator = maps(&s->vmas, "jemalloc") ? ALLOCATOR_JEMALLOC : ALLOCATOR_GLIBC;
	if (load(dir, "heap_info", &text) && heapinfo_parse(buf_str(&text), &s->heap, &err) < 0)
		die("heap_info", &err);
	buf_done(&text);
	if (load(dir, "codecache", &text) && codecache_parse(buf_str(&text), &s->code, &err) < 0)
		die("codecache", &err);
	buf_done(&text);
	if (load(dir, "vm_flags", &text) && vmflags_parse(buf_str(&text), &s->flags, &err) < 0)
		die("vm_flags", &err);
	buf_done(&text);
	s->nmt_read = load(dir, "nmt", &text);
	if (s->nmt_read && nmt_parse(buf_str(&text), &s->nmt, &err) < 0)
		die("nmt", &err);
	buf_done(&text);
	if (load(dir, "jdk", &text))
		s->jdk_major = atoi(text.ptr);
	buf_done(&text);
	s->gc = s->heap.gc ? s->heap.gc : s->flags.gc;
}

static void answer_queries(struct snapshot *s, const struct runs *pages)
{
	struct addr_range ranges[RESIDENT_RANGES_MAX];
	uint64_t bytes = 0;
	size_t n = vmasplit_queries(s, ranges);
	for (size_t i = 0; i < n; i++) {
		s->residents[i] = (struct resident_range){ ranges[i], runs_in(pages, ranges[i]) };
		bytes += ranges[i].end - ranges[i].start;
	}
	s->n_residents = n;
	printf("%zu pagemap queries, %" PRIu64 " MiB of addresses\n", n, bytes >> 20);
}

/* --- truth --------------------------------------------------------------------------------- */

static const struct jvm_region *region_at(const struct jvm_regions *regions, uint64_t address)
{
	for (size_t i = 0; i < regions->n; i++)
		if (regions->items[i].range.end > address)
			return regions->items[i].range.start <= address ? &regions->items[i] : NULL;
	return NULL;
}

static int class_of(const struct jvm_region *region)
{
	static const struct {
		const char *category;
		int class;
	} table[] = {
		{ "Java Heap", CLASS_HEAP },         { "Class", CLASS_METASPACE }, { "Metaspace", CLASS_METASPACE },
		{ "Shared class space", CLASS_CDS }, { "Code", CLASS_CODE },       { "GC", CLASS_GC },
		{ "Thread Stack", CLASS_STACKS },
	};
	for (size_t i = 0; region && i < sizeof table / sizeof table[0]; i++)
		if (strcmp(region->category, table[i].category) == 0)
			return table[i].class;
	return region ? CLASS_JVM : NONE;
}

static uint64_t next_border(const struct jvm_regions *regions, uint64_t at, uint64_t end)
{
	for (size_t i = 0; i < regions->n; i++) {
		const struct addr_range *range = &regions->items[i].range;
		/* Objects of an archive may end inside a page: the page is theirs. */
		uint64_t last = (range->end + 4095) / 4096 * 4096;
		if (range->start > at)
			return range->start < end ? range->start : end;
		if (last > at)
			return last < end ? last : end;
	}
	return end;
}

static enum vma_class guess_at(const struct vma_view *view, const struct vma_marks *marks, size_t index, uint64_t at,
			       uint64_t *ret_end)
{
	*ret_end = view->set->items[index].end;
	for (size_t i = 0; i < marks->n; i++) {
		const struct vma_mark *mark = &marks->items[i];
		if (mark->range.end <= at)
			continue;
		if (mark->range.start <= at) {
			*ret_end = mark->range.end < *ret_end ? mark->range.end : *ret_end;
			return mark->class;
		}
		*ret_end = mark->range.start < *ret_end ? mark->range.start : *ret_end;
		break;
	}
	return shape_class(view, index);
}

/* `detail` may be NULL, and then `map` is the truth; with both, what `map` labels is what `detail` says of the page. */
static void compare(const struct snapshot *s, const struct runs *pages, const struct jvm_regions *map,
		    const struct jvm_regions *detail, struct matrix *m)
{
	struct vma_view view;
	struct vma_marks marks;
	*m = (struct matrix){ 0 };
	view_of(s, &view);
	marks_find(&view, true, &marks);
	for (size_t i = 0; i < s->vmas.n; i++) {
		const struct vma *vma = &s->vmas.items[i];
		if (vma->kind == VMA_SHMEM)
			continue;
		for (uint64_t at = vma->start, end; at < vma->end; at = end) {
			enum vma_class guess = guess_at(&view, &marks, i, at, &end);
			if (map)
				end = next_border(map, at, end);
			if (detail)
				end = next_border(detail, at, end);
			int truth = class_of(region_at(map ? map : detail, at));
			if (map && detail && truth != NONE)
				truth = class_of(region_at(detail, at));
			uint64_t bytes = runs_in(pages, (struct addr_range){ at, end });
			m->bytes[truth][guess] += bytes;
			if (truth != NONE) {
				m->labelled += bytes;
				m->agreed += (int)guess == truth ? bytes : 0;
			}
		}
	}
}

/* --- printing ------------------------------------------------------------------------------ */

static unsigned basis_points(const struct matrix *m)
{
	return m->labelled ? (unsigned)(m->agreed * 10000 / m->labelled) : 0;
}

static void print_matrix(const char *title, const struct matrix *m)
{
	printf("%s: KiB, rows are the JVM's labels, columns what the splitter says\n%12s", title, "");
	for (int c = 0; c < CLASS_COUNT; c++)
		printf(" %9s", vma_class_names[c]);
	printf("\n");
	for (int r = 0; r <= NONE; r++) {
		uint64_t sum = 0;
		for (int c = 0; c < CLASS_COUNT; c++)
			sum += m->bytes[r][c];
		if (sum == 0)
			continue;
		printf("%12s", r == NONE ? "unlabelled" : vma_class_names[r]);
		for (int c = 0; c < CLASS_COUNT; c++)
			printf(" %9" PRIu64, m->bytes[r][c] >> 10);
		printf("\n");
	}
	unsigned bp = basis_points(m);
	printf("agreed on %" PRIu64 " of %" PRIu64 " KiB labelled: %u.%02u %%\n", m->agreed >> 10, m->labelled >> 10,
	       bp / 100, bp % 100);
}

/* What is malloc's by the truth, and what the splitter leaves to it. */
static void print_pool(const struct matrix *m)
{
	uint64_t truth = 0, said = 0;
	for (int r = 0; r <= NONE; r++)
		said += m->bytes[r][CLASS_MALLOC] + m->bytes[r][CLASS_POOL];
	for (int c = 0; c < CLASS_COUNT; c++)
		if (c != CLASS_LIBRARY && c != CLASS_STACKS && c != CLASS_CDS)
			truth += m->bytes[NONE][c];
	int64_t bp = truth ? ((int64_t)said - (int64_t)truth) * 10000 / (int64_t)truth : 0;
	printf("pool: %" PRIu64 " KiB, %" PRIu64 " KiB by the labels: %+.2f %%\n", said >> 10, truth >> 10,
	       (double)bp / 100);
}

/* The address space of what is left to malloc: its own account counts what it has mapped, resident or not. */
static void print_mapped(const struct snapshot *s)
{
	struct vma_view view;
	struct vma_marks marks;
	uint64_t mapped = 0;
	view_of(s, &view);
	marks_find(&view, true, &marks);
	for (size_t i = 0; i < s->vmas.n; i++) {
		const struct vma *vma = &s->vmas.items[i];
		for (uint64_t at = vma->start, end; at < vma->end && (vma->flags & VMA_WRITE); at = end) {
			enum vma_class class = guess_at(&view, &marks, i, at, &end);
			mapped += class == CLASS_MALLOC || class == CLASS_POOL ? end - at : 0;
		}
	}
	printf("mapped for malloc: %" PRIu64 " KiB\n", mapped >> 10);
}

static void print_split(const struct snapshot *s)
{
	struct vma_split split;
	vmasplit_run(s, &split);
	printf("split, KiB:");
	for (int c = 0; c < CLASS_COUNT; c++)
		printf(" %s%s %" PRIu64, vma_class_names[c], split.labelled[c] ? "" : "?", split.anon_bytes[c] >> 10);
	printf("; %zu stacks\n", split.n_stacks);
}

static void print_marks(const struct snapshot *s)
{
	struct vma_view view;
	struct vma_marks marks;
	view_of(s, &view);
	marks_find(&view, true, &marks);
	for (size_t i = 0; i < marks.n; i++)
		printf("%12" PRIx64 "-%-12" PRIx64 " %9" PRIu64 " KiB %s\n", marks.items[i].range.start,
		       marks.items[i].range.end, (marks.items[i].range.end - marks.items[i].range.start) >> 10,
		       vma_class_names[marks.items[i].class]);
}

static int report(const char *path)
{
	struct snapshot s;
	struct buf text;
	struct err err;
	struct runs pages = { 0 };
	struct jvm_regions detail = { 0 }, map = { 0 };
	struct matrix m;
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		die(path, NULL);
	load_snapshot(dir, &s);
	if (!load(dir, "pages", &text))
		die("pages", &(struct err){ .message = "not there" });
	parse_runs(buf_str(&text), &pages);
	buf_done(&text);
	bool has_detail = load(dir, "nmt_detail", &text);
	if (has_detail && nmtdetail_parse(buf_str(&text), &detail, &err) < 0)
		die("nmt_detail", &err);
	buf_done(&text);
	bool has_map = load(dir, "system_map", &text);
	if (has_map && sysmap_parse(buf_str(&text), &map, &err) < 0)
		die("system_map", &err);
	buf_done(&text);
	if (!has_map && !has_detail)
		die(path, &(struct err){ .message = "neither nmt_detail nor system_map" });
	answer_queries(&s, &pages);
	print_marks(&s);
	print_split(&s);
	if (has_map && has_detail) {
		compare(&s, &pages, &map, NULL, &m);
		print_matrix("System.map alone", &m);
	}
	compare(&s, &pages, has_map ? &map : NULL, has_detail ? &detail : NULL, &m);
	print_matrix(has_map && has_detail ? "System.map where NMT has a range"
		     : has_map             ? "System.map"
					   : "NMT detail",
		     &m);
	print_pool(&m);
	print_mapped(&s);
	unsigned bp = basis_points(&m);
	vma_set_done(&s.vmas);
	jvm_regions_done(&detail);
	jvm_regions_done(&map);
	free(pages.items);
	close(dir);
	return bp >= AGREE_BP ? 0 : 1;
}

/* --- recording ----------------------------------------------------------------------------- */

static void record_pages(int proc, const struct vma_set *set, struct buf *out)
{
	enum { PRESENT = 63, FILE_OR_SHARED = 61, EXCLUSIVE = 56, N = 4096 };
	static uint64_t entries[N];
	struct runs runs = { 0 };
	int fd = openat(proc, "pagemap", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("pagemap", NULL);
	for (size_t i = 0; i < set->n; i++) {
		const struct vma *vma = &set->items[i];
		if (vma->kind == VMA_SPECIAL || vma->kind == VMA_SHMEM || vma->anonymous_bytes == 0)
			continue;
		for (uint64_t at = vma->start; at < vma->end;) {
			size_t n = (vma->end - at) / 4096 < N ? (size_t)((vma->end - at) / 4096) : N;
			ssize_t got = pread(fd, entries, n * 8, (off_t)(at / 4096 * 8));
			if (got <= 0)
				break;
			for (size_t k = 0; k < (size_t)got / 8; k++, at += 4096)
				if (entries[k] >> PRESENT & 1 && entries[k] >> EXCLUSIVE & 1 &&
				    !(entries[k] >> FILE_OR_SHARED & 1))
					runs_add(&runs, (struct addr_range){ at, at + 4096 });
		}
	}
	for (size_t i = 0; i < runs.n; i++)
		(void)buf_printf(out, "%" PRIx64 "-%" PRIx64 " %" PRIu64 "\n", runs.items[i].start, runs.items[i].end,
				 runs.items[i].end - runs.items[i].start);
	free(runs.items);
	close(fd);
}

static int record(const char *pid, const char *path)
{
	struct buf smaps = { .cap = FILE_CAP }, slim = { .cap = FILE_CAP }, pages = { .cap = FILE_CAP };
	struct vma_set set = { 0 };
	struct err err;
	char name[32];
	(void)snprintf(name, sizeof name, "/proc/%.10s", pid);
	int proc = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0 || dir < 0)
		die(proc < 0 ? name : path, NULL);
	if (file_read_at(proc, "smaps", FILE_CAP, &smaps, &err) < 0 || smaps_slim(buf_str(&smaps), &slim, &err) < 0 ||
	    smaps_parse(buf_str(&slim), &set, &err) < 0)
		die("smaps", &err);
	record_pages(proc, &set, &pages);
	if (file_write_at(dir, "smaps", buf_str(&slim), 0644, &err) < 0 ||
	    file_write_at(dir, "pages", buf_str(&pages), 0644, &err) < 0)
		die(path, &err);
	vma_set_done(&set);
	buf_done(&smaps);
	buf_done(&slim);
	buf_done(&pages);
	close(proc);
	close(dir);
	return 0;
}

static int reduce(const char *path)
{
	static const struct {
		const char *name;
		enum answer answer;
	} files[] = {
		{ "vm_flags", ANSWER_FLAGS },
		{ "nmt_detail", ANSWER_NMT_DETAIL },
		{ "system_map", ANSWER_SYSTEM_MAP },
		{ "nmt", ANSWER_NMT },
	};
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		die(path, NULL);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct buf text, kept = { .cap = FILE_CAP };
		struct err err;
		if (load(dir, files[i].name, &text)) {
			if (answer_reduce(files[i].answer, buf_str(&text), &kept, &err) < 0)
				die(files[i].name, &err);
			if (unlinkat(dir, files[i].name, 0) != 0)
				die(files[i].name, NULL);
			if (file_write_at(dir, files[i].name, buf_str(&kept), 0644, &err) < 0)
				die(files[i].name, &err);
		}
		buf_done(&text);
		buf_done(&kept);
	}
	close(dir);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "reduce") == 0)
		return reduce(argv[2]);
	if (argc == 3 && strcmp(argv[1], "report") == 0)
		return report(argv[2]);
	if (argc == 4 && strcmp(argv[1], "record") == 0)
		return record(argv[2], argv[3]);
	fprintf(stderr, "usage: oracle record PID DIR\n       oracle reduce|report DIR\n");
	return 2;
}
