/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/deep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/date.h"
#include "base/esc.h"
#include "sys/file.h"
#include "wire/put.h"

/* The kernel's TASK_COMM_LEN is 16 with its NUL; a reader of another kernel's is safe too. */
enum { COMM_MAX = 64 };

/* --- threads ---------------------------------------------------------------------------------- */

static size_t fold(char *dest, size_t cap, struct str comm)
{
	size_t len = 0;
	bool digits = false;
	for (size_t i = 0; i < comm.len && len < cap; i++) {
		bool digit = comm.ptr[i] >= '0' && comm.ptr[i] <= '9';
		if (!digit || !digits)
			dest[len++] = digit ? '#' : comm.ptr[i];
		digits = digit;
	}
	return len;
}

void deep_fold(struct deep_names *names, struct str comm)
{
	char folded[COMM_MAX], name[DEEP_NAME_CAP];
	(void)esc_copy(name, sizeof name, (struct str){ folded, fold(folded, sizeof folded, str_trim(comm)) });
	names->threads++;
	for (size_t i = 0; i < names->n; i++) {
		if (strcmp(names->names[i].name, name) == 0) {
			names->names[i].n++;
			return;
		}
	}
	if (names->n == DEEP_NAMES_MAX) {
		names->others++;
		return;
	}
	struct deep_name *added = &names->names[names->n++];
	str_copy(added->name, sizeof added->name, str_of(name));
	added->n = 1;
}

struct walk {
	int task_fd;
	struct deep_names *names;
};

static bool take_thread(void *context, const char *tid)
{
	struct walk *walk = context;
	char path[40], comm[COMM_MAX];
	if (snprintf(path, sizeof path, "%s/comm", tid) >= (int)sizeof path)
		return true;
	auto_close int fd = openat(walk->task_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	/* One that has ended meanwhile is none. */
	ssize_t n = fd < 0 ? -1 : read(fd, comm, sizeof comm);
	if (n > 0)
		deep_fold(walk->names, (struct str){ comm, (size_t)n });
	return true;
}

int deep_threads(int pid_fd, struct deep_names *names, struct err *err)
{
	auto_close int fd = openat(pid_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "task");
	memset(names, 0, sizeof *names);
	struct walk walk = { .task_fd = fd, .names = names };
	int rc = dir_list(fd, DEEP_THREADS_MAX, take_thread, &walk, err);
	names->whole = rc == 0;
	return rc < 0 && err->kind != ERR_LIMIT ? rc : 0;
}

static void put_threads(struct js_out *out, const struct deep_names *names)
{
	bool told[DEEP_NAMES_MAX] = { false };
	uint32_t left = names->threads;
	js_out_key(out, "threads");
	js_out_array(out);
	for (unsigned row = 0; row < DEEP_ROWS; row++) {
		size_t most = names->n;
		for (size_t i = 0; i < names->n; i++)
			if (!told[i] && (most == names->n || names->names[i].n > names->names[most].n))
				most = i;
		if (most == names->n)
			break;
		told[most] = true;
		left -= names->names[most].n;
		js_out_object(out);
		put_text(out, "name", names->names[most].name);
		put_count(out, "count", count_of(names->names[most].n));
		js_out_object_end(out);
	}
	js_out_array_end(out);
	put_count(out, "threads_total", names->whole ? count_of(names->threads) : (struct count){ 0 });
	put_count(out, "threads_of_other_names", count_of(left));
}

/* --- mappings ---------------------------------------------------------------------------------- */

static const char *const kinds[VMA_KIND_COUNT] = { "anonymous", "file", "shared", "malloc-heap", "stack", "special" };

/* Directories may name a customer: the last name of a path alone is told. */
static const char *name_of(const struct vma_set *set, const struct vma *vma, char dest[DEEP_NAME_CAP])
{
	struct str name = { vma->name_len ? set->names + vma->name_at : "", vma->name_len };
	while (name.len && name.ptr[0] != '[' && str_index(name, '/') < name.len)
		name = str_skip(name, str_index(name, '/') + 1);
	return esc_copy(dest, DEEP_NAME_CAP, name);
}

static void put_mappings(struct js_out *out, const struct vma_set *set)
{
	const struct vma *told[DEEP_ROWS];
	size_t n = 0;
	char name[DEEP_NAME_CAP];
	/* In order: each one that is larger than the smallest told takes its place. */
	for (size_t i = 0; i < set->n; i++) {
		size_t at = n;
		while (at > 0 && told[at - 1]->rss_bytes < set->items[i].rss_bytes)
			at--;
		if (at == DEEP_ROWS || set->items[i].rss_bytes == 0)
			continue;
		n += n < DEEP_ROWS;
		memmove(&told[at + 1], &told[at], (n - 1 - at) * sizeof told[0]);
		told[at] = &set->items[i];
	}
	js_out_key(out, "mappings");
	js_out_array(out);
	for (size_t i = 0; i < n; i++) {
		js_out_object(out);
		put_qty(out, "resident_bytes", qty_measured(told[i]->rss_bytes));
		put_qty(out, "size_bytes", qty_measured(told[i]->end - told[i]->start));
		put_text(out, "kind", kinds[told[i]->kind]);
		put_text(out, "name", name_of(set, told[i], name));
		js_out_object_end(out);
	}
	js_out_array_end(out);
	put_count(out, "mappings_total", count_of(set->n));
}

int deep_write(const struct snapshot *snapshot, const struct deep_names *names, struct buf *out, struct err *err)
{
	struct js_out js;
	char date[DATE_TEXT_CAP];
	buf_clear(out);
	js_out_start(&js, out, 0);
	js_out_object(&js);
	put_text(&js, "taken", date_format(date, snapshot->taken.ms));
	if (snapshot->vmas_read) {
		put_count(&js, "mappings_age_ms", count_of(snapshot->age_ms));
		put_mappings(&js, &snapshot->vmas);
	} else {
		put_text(&js, "mappings", NULL);
	}
	if (names)
		put_threads(&js, names);
	else
		put_text(&js, "threads", NULL);
	js_out_object_end(&js);
	int rc = js_out_end(&js, err);
	if (rc < 0)
		buf_clear(out);
	return rc;
}
