/* SPDX-License-Identifier: Apache-2.0 */
/* The reduction of metrics pages (metricmap.h), piece by piece. */
#include "base/esc.h"
#include "engine/metricmap.h"
#include "engine/metrictable.h"

enum { KEPT_VALUE_MAX = 200 };

void metrics_reducer_start(struct metrics_reducer *reducer, struct buf *ret_page)
{
	*reducer = (struct metrics_reducer){ .out = ret_page, .line = { .cap = PROM_LINE_MAX } };
}

void metrics_reducer_done(struct metrics_reducer *reducer)
{
	buf_done(&reducer->line);
}

/* A label value as it stands, cut to KEPT_VALUE_MAX bytes, never inside an escape or a character. */
static struct str cut_value(struct str raw)
{
	size_t n = 0;
	while (n < raw.len) {
		size_t len = raw.ptr[n] == '\\' && n + 1 < raw.len ? 2 : esc_utf8_len(str_skip(raw, n));
		len = len ? len : 1;
		if (n + len > KEPT_VALUE_MAX)
			break;
		n += len;
	}
	return (struct str){ raw.ptr, n };
}

static void keep_sample(struct buf *out, const struct prom_sample *sample)
{
	bool any = false;
	(void)buf_add(out, sample->name);
	for (size_t i = 0; i < sample->n_labels; i++) {
		const struct prom_label *label = &sample->labels[i];
		if (!metric_label_is_kept(label->name))
			continue;
		(void)buf_putc(out, any ? ',' : '{');
		(void)buf_add(out, label->name);
		(void)buf_puts(out, "=\"");
		(void)buf_add(out, cut_value(label->value));
		(void)buf_putc(out, '"');
		any = true;
	}
	(void)buf_puts(out, any ? "} " : " ");
	(void)buf_add(out, sample->text);
	(void)buf_putc(out, '\n');
}

/* The name at the start of a line, as far as it goes. */
static struct str name_of(struct str line)
{
	size_t n = 0;
	while (n < line.len && line.ptr[n] != '{' && line.ptr[n] != ' ' && line.ptr[n] != '\t')
		n++;
	return (struct str){ line.ptr, n };
}

static int take_line(struct metrics_reducer *reducer, struct str line, struct err *err)
{
	struct prom_sample sample;
	if (reducer->ended)
		return 0;
	reducer->n_lines++;
	if (reducer->n_lines == 1)
		(void)str_take(&line, STR("\xef\xbb\xbf"));
	if (str_eq(str_trim(line), STR("# EOF"))) {
		reducer->ended = true;
		return 0;
	}
	/* Once the page has proved to be metrics, lines that nobody wants need no parsing. */
	if (reducer->n_samples && (line.len == 0 || line.ptr[0] == '#' || !metric_name_is_used(name_of(line))) &&
	    !(line.len && (line.ptr[0] == ' ' || line.ptr[0] == '\t')))
		return 0;
	switch (prom_line(line, &sample, NULL)) {
	case PROM_SAMPLE:
		reducer->n_samples++;
		if (metric_name_is_used(sample.name) && !(context_find(sample.name) && context_is_part(&sample))) {
			reducer->n_kept++;
			keep_sample(reducer->out, &sample);
		}
		break;
	case PROM_BAD:
		reducer->n_bad++;
		break;
	case PROM_COMMENT:
	case PROM_END:
		break;
	}
	if (reducer->out->state == BUF_NOMEM)
		return err_set(err, ERR_NOMEM, "no memory for a metrics page");
	if (buf_failed(reducer->out))
		return err_set(err, ERR_LIMIT, "the metrics page passes %zu bytes even when reduced",
			       reducer->out->cap);
	return 0;
}

/* Put a piece of an unfinished line aside; a line that is too long is skipped to its end and counted as bad. */
static int set_aside(struct metrics_reducer *reducer, struct str piece, struct err *err)
{
	if (reducer->skipping || piece.len == 0)
		return 0;
	if (buf_add(&reducer->line, piece))
		return 0;
	if (reducer->line.state == BUF_NOMEM)
		return err_set(err, ERR_NOMEM, "no memory for a line of metrics");
	reducer->skipping = true;
	reducer->n_bad++;
	return 0;
}

int metrics_reducer_feed(struct metrics_reducer *reducer, struct str piece, struct err *err)
{
	if (!reducer->head_checked && str_trim(piece).len) {
		const char *other = prom_looks_like(piece);
		if (other)
			return err_set(err, ERR_MALFORMED, "this is %s, not a metrics page", other);
		reducer->head_checked = true;
	}
	while (piece.len) {
		size_t at = str_index(piece, '\n');
		struct str part = { piece.ptr, at };
		bool whole = at < piece.len;
		int status = 0;
		piece = str_skip(piece, at + 1);
		if (whole && !reducer->skipping && reducer->line.len == 0) {
			status = take_line(reducer, part, err);
		} else {
			status = set_aside(reducer, part, err);
			if (status == 0 && whole && !reducer->skipping)
				status = take_line(reducer, buf_str(&reducer->line), err);
			if (whole) {
				buf_clear(&reducer->line);
				reducer->skipping = false;
			}
		}
		if (status < 0)
			return status;
	}
	return 0;
}

int metrics_reducer_end(struct metrics_reducer *reducer, struct err *err)
{
	if (reducer->n_samples == 0 && reducer->n_bad != 0)
		return err_set(err, ERR_MALFORMED, "this is no metrics page: none of its %llu lines is a sample",
			       (unsigned long long)reducer->n_lines);
	return 0;
}

int metrics_reduce(struct str page, struct buf *ret_page, struct err *err)
{
	auto_metrics_reducer struct metrics_reducer reducer;
	size_t before = ret_page->len;
	metrics_reducer_start(&reducer, ret_page);
	int status = metrics_reducer_feed(&reducer, page, err);
	if (status == 0)
		status = metrics_reducer_end(&reducer, err);
	if (status < 0) {
		ret_page->len = before;
		if (ret_page->ptr)
			ret_page->ptr[before] = '\0';
	}
	return status;
}
