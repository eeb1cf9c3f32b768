/* SPDX-License-Identifier: Apache-2.0 */
/* The greedy search of E. Myers, "An O(ND) difference algorithm and its variations" (1986). */
#include "kube/diff.h"

#include <stdlib.h>

struct lines {
	struct str *items; /* with their LF; the last may have none */
	size_t n;
};

struct script {
	unsigned char *removed, *added; /* by line of the one and of the other text */
};

static void lines_done(struct lines *lines)
{
	free(lines->items);
}

static void script_done(struct script *script)
{
	free(script->removed);
	free(script->added);
}

static int split(struct str text, struct lines *ret, struct err *err)
{
	size_t n = 0, at = 0;
	for (size_t i = 0; i < text.len; i++)
		n += text.ptr[i] == '\n';
	ret->items = calloc(n + 1, sizeof *ret->items);
	if (!ret->items)
		return err_set(err, ERR_NOMEM, "no memory");
	while (at < text.len) {
		size_t end = at + str_index(str_skip(text, at), '\n');
		end += end < text.len;
		ret->items[ret->n++] = (struct str){ text.ptr + at, end - at };
		at = end;
	}
	return 0;
}

/* `reached[d]` holds, for each diagonal, how far the first text was gone through with d changes. */
struct search {
	const struct lines *a, *b;
	size_t skip, n_a, n_b; /* of what is left between a common head and a common tail */
	int **reached;
	int d;
};

static void search_done(struct search *search)
{
	for (int d = 0; search->reached && d <= search->d; d++)
		free(search->reached[d]);
	free(search->reached);
}

static struct str line_a(const struct search *s, int i)
{
	return s->a->items[s->skip + (size_t)i];
}

static struct str line_b(const struct search *s, int i)
{
	return s->b->items[s->skip + (size_t)i];
}

/* From diagonal k - 1 by a removal, or from k + 1 by an addition: whichever is further. */
static bool by_addition(const int *before, int d, int k)
{
	return k == -d || (k != d && before[(k - 1) + d - 1] < before[(k + 1) + d - 1]);
}

static bool round_of(struct search *s, int d)
{
	int *now = s->reached[d];
	const int *before = d ? s->reached[d - 1] : NULL;
	for (int k = -d; k <= d; k += 2) {
		int x = 0;
		if (d)
			x = by_addition(before, d, k) ? before[k + 1 + d - 1] : before[k - 1 + d - 1] + 1;
		int y = x - k;
		while (x >= 0 && y >= 0 && x < (int)s->n_a && y < (int)s->n_b && str_eq(line_a(s, x), line_b(s, y))) {
			x++;
			y++;
		}
		now[k + d] = x;
		if (x >= (int)s->n_a && y >= (int)s->n_b)
			return true;
	}
	return false;
}

static void walk_back(const struct search *s, struct script *script)
{
	int k = (int)s->n_a - (int)s->n_b;
	for (int d = s->d; d > 0; d--) {
		const int *before = s->reached[d - 1];
		bool addition = by_addition(before, d, k);
		k = addition ? k + 1 : k - 1;
		int x = before[k + d - 1], y = x - k;
		if (addition)
			script->added[s->skip + (size_t)y] = 1;
		else
			script->removed[s->skip + (size_t)x] = 1;
	}
}

static int search(struct search *s, struct script *script, struct err *err)
{
	bool found = false;
	s->reached = calloc(DIFF_CHANGES_MAX + 1, sizeof *s->reached);
	if (!s->reached)
		return err_set(err, ERR_NOMEM, "no memory");
	for (int d = 0; d <= DIFF_CHANGES_MAX && !found; d++) {
		s->reached[d] = calloc(2 * (size_t)d + 1, sizeof **s->reached);
		s->d = d;
		if (!s->reached[d])
			return err_set(err, ERR_NOMEM, "no memory");
		found = round_of(s, d);
	}
	if (found) {
		walk_back(s, script);
		return 0;
	}
	memset(script->removed + s->skip, 1, s->n_a);
	memset(script->added + s->skip, 1, s->n_b);
	return 0;
}

static void show(struct buf *out, char sign, struct str line)
{
	(void)buf_putc(out, sign);
	(void)buf_add(out, line);
	if (!line.len || line.ptr[line.len - 1] != '\n')
		(void)buf_puts(out, "\n\\ No newline at end of file\n");
}

/* One hunk: from the first change at or after (i, j) to where more than twice the context is the same. */
static bool hunk(const struct lines *a, const struct lines *b, const struct script *script, size_t *i, size_t *j,
		 struct buf *out)
{
	while (*i < a->n && !script->removed[*i] && !script->added[*j]) {
		++*i;
		++*j;
	}
	if (*i == a->n && *j == b->n)
		return false;
	size_t context = *i < DIFF_CONTEXT ? *i : DIFF_CONTEXT, from_a = *i - context, from_b = *j - context;
	size_t x = *i, y = *j, same = 0;
	while ((x < a->n || y < b->n) && same <= 2 * DIFF_CONTEXT) {
		bool removed = x < a->n && script->removed[x], added = y < b->n && script->added[y];
		same = removed || added ? 0 : same + 1;
		x += removed || !added;
		y += added || !removed;
		if (removed && added) /* counted as two steps of one change */
			same = 0;
	}
	size_t over = same > DIFF_CONTEXT ? same - DIFF_CONTEXT : 0;
	size_t n_a = x - over - from_a, n_b = y - over - from_b;
	(void)buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", from_a + (n_a > 0), n_a, from_b + (n_b > 0), n_b);
	for (size_t p = from_a, q = from_b; p < x - over || q < y - over;) {
		if (p < x - over && script->removed[p])
			show(out, '-', a->items[p++]);
		else if (q < y - over && script->added[q])
			show(out, '+', b->items[q++]);
		else {
			show(out, ' ', a->items[p++]);
			q++;
		}
	}
	*i = x;
	*j = y;
	return true;
}

int diff_unified(struct str before, struct str after, const char *name, struct buf *out, struct err *err)
{
	auto_(lines_done) struct lines a = { 0 }, b = { 0 };
	auto_(script_done) struct script script = { 0 };
	auto_(search_done) struct search s = { .a = &a, .b = &b };
	int rc = split(before, &a, err);
	if (rc == 0)
		rc = split(after, &b, err);
	if (rc < 0 || str_eq(before, after))
		return rc;
	script.removed = calloc(a.n + 1, 1);
	script.added = calloc(b.n + 1, 1);
	if (!script.removed || !script.added)
		return err_set(err, ERR_NOMEM, "no memory");
	size_t tail = 0, least = a.n < b.n ? a.n : b.n;
	while (s.skip < least && str_eq(a.items[s.skip], b.items[s.skip]))
		s.skip++;
	while (tail < least - s.skip && str_eq(a.items[a.n - 1 - tail], b.items[b.n - 1 - tail]))
		tail++;
	s.n_a = a.n - s.skip - tail;
	s.n_b = b.n - s.skip - tail;
	rc = search(&s, &script, err);
	if (rc < 0)
		return rc;
	(void)buf_printf(out, "--- %s\n+++ %s\n", name, name);
	size_t i = 0, j = 0;
	while (hunk(&a, &b, &script, &i, &j, out))
		;
	return buf_failed(out) ? err_set(err, ERR_LIMIT, "the difference is too long") : 0;
}
