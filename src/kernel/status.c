/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/status.h"

#include <stddef.h>

#include "kernel/keys.h"

/* What may stand behind a key, and where it goes. */
enum line_kind {
	LINE_NAME,  /* text, as the kernel escapes it */
	LINE_STATE, /* "S (sleeping)" */
	LINE_IDS,   /* four ids: real, effective, saved, fs */
	LINE_LAST,  /* the last of a list of numbers: NSpid, outermost first */
	LINE_COUNT,
	LINE_MASK, /* 16 hex digits */
	LINE_KB,
};

struct line {
	struct str key;
	size_t offset;
	enum line_kind kind;
};

#define LINE(text, field, kind)                                                              \
	{                                                                                    \
		{ (text), sizeof(text) - 1 }, offsetof(struct process_status, field), (kind) \
	}

/* In the order of fs/proc/array.c: proc_pid_status(). */
static const struct line lines[] = {
	LINE("Name", name, LINE_NAME),
	LINE("State", state, LINE_STATE),
	LINE("Tgid", thread_group, LINE_COUNT),
	LINE("Uid", uid_real, LINE_IDS),
	LINE("Gid", gid_real, LINE_IDS),
	LINE("NSpid", ns_pid, LINE_LAST),
	LINE("VmPeak", vm_peak_bytes, LINE_KB),
	LINE("VmSize", vm_size_bytes, LINE_KB),
	LINE("VmLck", vm_locked_bytes, LINE_KB),
	LINE("VmHWM", vm_hwm_bytes, LINE_KB),
	LINE("VmRSS", vm_rss_bytes, LINE_KB),
	LINE("RssAnon", rss_anon_bytes, LINE_KB),
	LINE("RssFile", rss_file_bytes, LINE_KB),
	LINE("RssShmem", rss_shmem_bytes, LINE_KB),
	LINE("VmPTE", vm_pte_bytes, LINE_KB),
	LINE("VmSwap", vm_swap_bytes, LINE_KB),
	LINE("HugetlbPages", hugetlb_bytes, LINE_KB),
	LINE("Threads", n_threads, LINE_COUNT),
	LINE("SigIgn", sig_ignored, LINE_MASK),
	LINE("SigCgt", sig_caught, LINE_MASK),
	LINE("CapPrm", cap_permitted, LINE_MASK),
	LINE("CapEff", cap_effective, LINE_MASK),
};
enum { N_LINES = sizeof lines / sizeof lines[0] };

_Static_assert(offsetof(struct process_status, uid_fs) - offsetof(struct process_status, uid_real) ==
		       3 * sizeof(struct count),
	       "LINE_IDS fills four neighbours");
_Static_assert(offsetof(struct process_status, gid_fs) - offsetof(struct process_status, gid_real) ==
		       3 * sizeof(struct count),
	       "LINE_IDS fills four neighbours");

/* At most `cap` numbers separated by tabs or blanks; how many, 0 if anything else stands there. */
static size_t numbers(struct str rest, struct count *ret, size_t cap)
{
	size_t n = 0;
	for (str_blanks(&rest); rest.len; str_blanks(&rest)) {
		uint64_t value;
		if (n == cap || !str_u64(&rest, &value) || (rest.len && rest.ptr[0] != '\t' && rest.ptr[0] != ' '))
			return 0;
		ret[n++] = count_of(value);
	}
	return n;
}

/* 32 is what the kernel allows (MAX_PID_NS_LEVEL), and the outermost. */
enum { NS_LEVELS_MAX = 33 };

static bool put_last(struct str value, struct count *into)
{
	struct count list[NS_LEVELS_MAX];
	size_t n = numbers(value, list, NS_LEVELS_MAX);
	if (n == 0)
		return false;
	*into = list[n - 1];
	return true;
}

static bool put_mask(struct str value, struct count *into)
{
	uint64_t mask;
	if (!str_hex(&value, &mask) || value.len)
		return false;
	*into = count_of(mask);
	return true;
}

static bool put_kb(struct str value, struct qty *into)
{
	uint64_t bytes;
	if (!keys_kb(value, &bytes))
		return false;
	*into = qty_measured(bytes);
	return true;
}

static bool put_line(const struct line *line, struct str value, struct process_status *status)
{
	void *field = (char *)status + line->offset;
	uint64_t number;
	str_blanks(&value);
	switch (line->kind) {
	case LINE_NAME:
		str_copy(status->name, sizeof status->name, value);
		return true;
	case LINE_STATE:
		if (value.len)
			status->state = value.ptr[0];
		return value.len != 0;
	case LINE_IDS:
		return numbers(value, field, 4) == 4;
	case LINE_LAST:
		return put_last(value, field);
	case LINE_COUNT:
		if (!str_is_u64(value, &number))
			return false;
		*(struct count *)field = count_of(number);
		return true;
	case LINE_MASK:
		return put_mask(value, field);
	case LINE_KB:
		return put_kb(value, field);
	}
	return false;
}

static size_t find_line(size_t expected, struct str key)
{
	for (size_t i = 0; i < N_LINES; i++) {
		size_t at = (expected + i) % N_LINES;
		if (str_eq(lines[at].key, key))
			return at;
	}
	return N_LINES;
}

int status_parse(struct str text, struct process_status *ret, struct err *err)
{
	struct process_status status = { 0 };
	int r = keys_check_text(text, err);
	if (r < 0)
		return r;
	uint64_t seen = 0;
	size_t expected = 0;
	struct str line, key;
	for (unsigned number = 1; str_line(&text, &line); number++) {
		if (!str_split(&line, ':', &key))
			continue;
		size_t at = find_line(expected, key);
		if (at == N_LINES)
			continue;
		if (seen & (UINT64_C(1) << at))
			return err_set(err, ERR_MALFORMED, "line %u: '%s' twice", number, lines[at].key.ptr);
		if (!put_line(&lines[at], line, &status))
			return err_set(err, ERR_MALFORMED, "line %u: bad value of '%s'", number, lines[at].key.ptr);
		seen |= UINT64_C(1) << at;
		expected = at + 1;
	}
	if (!status.uid_real.known)
		return err_set(err, ERR_MALFORMED, "no line 'Uid'");
	*ret = status;
	return 0;
}
