/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/answer.h"

#include "jvm/option.h"
#include "jvm/take.h"

/* HotSpot's own numbers and words: nothing a user could have put there. */
static bool keep_all(struct str text, struct buf *out)
{
	return buf_add(out, text);
}

static bool keep_line(struct str line, struct buf *out)
{
	return buf_add(out, line) && buf_putc(out, '\n');
}

static bool keep_flags(struct str text, struct buf *out)
{
	struct str line, word;
	while (str_line(&text, &line)) {
		bool first = true;
		while (str_split(&line, ' ', &word)) {
			word = str_trim(word);
			if (word.len == 0)
				continue;
			if (!first)
				(void)buf_putc(out, ' ');
			first = false;
			if (!option_keep(word, out))
				(void)buf_puts(out, "<redacted>");
		}
		if (!first)
			(void)buf_putc(out, '\n');
	}
	return !buf_failed(out);
}

static bool keep_nmt(struct str text, struct buf *out)
{
	static const char *const starts[] = { "Native ", "Total:", "malloc:", "mmap:", "-", "(" };
	struct str line;
	while (str_line(&text, &line)) {
		struct str rest = str_trim(line);
		if (str_starts(line, STR("Virtual memory map:")))
			break;
		bool keep = rest.len == 0;
		for (size_t i = 0; i < sizeof starts / sizeof starts[0] && !keep; i++)
			keep = str_starts(rest, str_of(starts[i]));
		if (keep)
			(void)keep_line(line, out);
	}
	return !buf_failed(out);
}

/* The memory map without the call stacks. What is no map (tracking is off) is kept for its message. */
static bool keep_nmt_detail(struct str text, struct buf *out)
{
	struct str line;
	bool in_map = false;
	while (str_line(&text, &line)) {
		struct str rest = str_trim(line);
		if (str_starts(line, STR("Virtual memory map:")))
			in_map = true;
		else if (in_map && (str_starts(line, STR("Memory file details")) || str_starts(line, STR("Details:"))))
			break;
		else if (in_map && (!str_starts(rest, STR("[0x")) || str_find(rest, STR(" - ")) > str_index(rest, ']')))
			continue;
		else if (!in_map && !str_starts(rest, STR("Native ")))
			continue;
		(void)keep_line(line, out);
	}
	return !buf_failed(out);
}

/* The first 8 words of a row, a stack without its thread's name, and no file. */
static bool keep_row(struct str line, struct buf *out)
{
	struct str word;
	for (unsigned i = 0; i < 8 && line.len;) {
		(void)str_split(&line, ' ', &word);
		if (word.len == 0)
			continue;
		if (str_starts(word, STR("STACK-"))) {
			size_t name = 6 + str_index(str_skip(word, 6), '-');
			word.len = name < word.len ? name : word.len;
		}
		if (i > 0)
			(void)buf_putc(out, ' ');
		(void)buf_add(out, word);
		i++;
	}
	return buf_putc(out, '\n');
}

static bool keep_system_map(struct str text, struct buf *out)
{
	struct str line;
	while (str_line(&text, &line)) {
		line = str_trim(line);
		if (str_starts(line, STR("from ")) && str_has(line, STR(" info")))
			(void)keep_line(line, out);
		else if (str_starts(line, STR("0x")))
			(void)keep_row(line, out);
	}
	return !buf_failed(out);
}

const struct answer_kind answer_kinds[ANSWER_COUNT] = {
	[ANSWER_VERSION] = { "jvm/version", "VM.version", 8, true, keep_all },
	[ANSWER_FLAGS] = { "jvm/vm_flags", "VM.flags", 8, true, keep_flags },
	[ANSWER_HEAP_INFO] = { "jvm/heap_info", "GC.heap_info", 8, true, keep_all },
	[ANSWER_CODE_CACHE] = { "jvm/codecache", "Compiler.codecache", 9, true, keep_all },
	[ANSWER_NMT] = { "jvm/nmt", "VM.native_memory summary scale=b", 8, true, keep_nmt },
	[ANSWER_NMT_DETAIL] = { "jvm/nmt_detail", "VM.native_memory detail scale=b", 8, false, keep_nmt_detail },
	[ANSWER_MALLOC_INFO] = { "jvm/native_heap_info", "System.native_heap_info", 24, false, keep_all },
	[ANSWER_SYSTEM_MAP] = { "jvm/system_map", "System.map", 24, false, keep_system_map },
};

int answer_reduce(enum answer answer, struct str text, struct buf *out, struct err *err)
{
	if (answer_kinds[answer].reduce(text, out))
		return 0;
	if (out->state == BUF_NOMEM)
		return err_set(err, ERR_NOMEM, "%s: no memory", answer_kinds[answer].command);
	return err_set(err, ERR_LIMIT, "%s: the answer is too long", answer_kinds[answer].command);
}
