/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/stat.h"

#include <limits.h>

#include "base/buf.h"
#include "base/limits.h"
#include "kernel/keys.h"
#include "sys/file.h"

enum {
	FIELD_PARENT = 4,
	FIELD_THREADS = 20,
	FIELD_START = 22,
	FIELD_STACK = 28
}; /* as proc_pid_stat(5) counts: pid is 1 */

/* Field `wanted` of what follows "state ", which begins with field 4. Some fields are negative (tty, priority). */
static bool field(struct str rest, unsigned wanted, uint64_t *ret_value)
{
	struct str word;
	for (unsigned number = FIELD_PARENT; str_split(&rest, ' ', &word); number++)
		if (number == wanted)
			return str_is_u64(word, ret_value);
	return false;
}

static bool parse_fields(struct str text, struct proc_stat *stat)
{
	uint64_t pid, parent;
	size_t close;
	if (!str_u64(&text, &pid) || pid > INT_MAX || !str_take(&text, STR(" (")))
		return false;
	close = text.len;
	while (close && text.ptr[close - 1] != ')')
		close--;
	if (close == 0)
		return false;
	struct str name = { text.ptr, close - 1 };
	struct str rest = str_skip(text, close);
	if (!str_take(&rest, STR(" ")) || rest.len < 2 || rest.ptr[1] != ' ')
		return false;
	stat->pid = (int)pid;
	stat->state = rest.ptr[0];
	str_copy(stat->name, sizeof stat->name, name);
	rest = str_skip(rest, 2);
	if (!field(rest, FIELD_PARENT, &parent) || parent > INT_MAX || !field(rest, FIELD_THREADS, &stat->n_threads) ||
	    !field(rest, FIELD_START, &stat->start_ticks))
		return false;
	stat->parent_pid = (int)parent;
	if (!field(rest, FIELD_STACK, &stat->start_stack))
		stat->start_stack = 0; /* only ever compared: nothing is lost */
	return true;
}

int stat_parse(struct str text, struct proc_stat *ret, struct err *err)
{
	struct proc_stat stat = { 0 };
	int r = keys_check_text(text, err);
	if (r < 0)
		return r;
	if (!parse_fields(text, &stat))
		return err_set(err, ERR_MALFORMED, "not a process's stat line");
	*ret = stat;
	return 0;
}

int stat_read(int pid_dirfd, struct proc_stat *ret, struct err *err)
{
	auto_buf struct buf bytes = { 0 };
	int r = file_read_at(pid_dirfd, "stat", LIMIT_PROC_FILE, &bytes, err);
	if (r < 0)
		return r;
	r = stat_parse(buf_str(&bytes), ret, err);
	if (r < 0)
		err_wrap(err, "stat");
	return r;
}

int procid_read(int pid_dirfd, struct process_id *ret, struct err *err)
{
	struct proc_stat stat = { 0 };
	int r = stat_read(pid_dirfd, &stat, err);
	if (r < 0)
		return r;
	*ret = (struct process_id){ stat.pid, stat.start_ticks };
	return 0;
}

int procid_same(int pid_dirfd, const struct process_id *id, struct err *err)
{
	struct process_id now;
	int r = procid_read(pid_dirfd, &now, err);
	if (r < 0)
		return r;
	if (now.pid != id->pid || now.start_ticks != id->start_ticks)
		return err_set(err, ERR_GONE, "process %d ended; its pid belongs to another now", id->pid);
	return 0;
}
