/* SPDX-License-Identifier: Apache-2.0 */
#include "data/prom.h"

#include <math.h>
#include <stdio.h>

static bool is_name_byte(char c, bool first)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':')
		return true;
	return !first && c >= '0' && c <= '9';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The whole of `text`, any case. `word` is lower case. */
static bool is_word(struct str text, struct str word)
{
	if (text.len != word.len)
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (lower(text.ptr[i]) != word.ptr[i])
			return false;
	return true;
}

/* A decimal number taken apart: digits (as many as fit u64) x 10^exponent. */
struct decimal {
	uint64_t digits;
	int64_t exponent;
	bool full;    /* digits no longer fit: the rest only moves the exponent */
	bool inexact; /* and one of the rest was not zero */
};

/* False if there is none. */
static bool take_digits(struct str *rest, bool fraction, struct decimal *d)
{
	bool any = false;
	for (; rest->len && is_digit(rest->ptr[0]); *rest = str_skip(*rest, 1)) {
		uint64_t digit = (uint64_t)(rest->ptr[0] - '0'), more;
		any = true;
		d->full = d->full || __builtin_mul_overflow(d->digits, (uint64_t)10, &more) ||
			  __builtin_add_overflow(more, digit, &more);
		if (d->full) {
			d->inexact = d->inexact || digit != 0;
			d->exponent += !fraction;
		} else {
			d->digits = more;
			d->exponent -= fraction;
		}
	}
	return any;
}

static bool take_exponent(struct str *rest, struct decimal *d)
{
	if (!rest->len || lower(rest->ptr[0]) != 'e')
		return true;
	*rest = str_skip(*rest, 1);
	bool minus = str_take(rest, STR("-"));
	if (!minus)
		(void)str_take(rest, STR("+"));
	int64_t exponent = 0;
	if (!rest->len || !is_digit(rest->ptr[0]))
		return false;
	for (; rest->len && is_digit(rest->ptr[0]); *rest = str_skip(*rest, 1))
		if (exponent < 100000)
			exponent = exponent * 10 + (rest->ptr[0] - '0');
	d->exponent += minus ? -exponent : exponent;
	return true;
}

/* digits x 10^exponent as a whole u64; false if it is none. */
static bool decimal_u64(struct decimal d, uint64_t *ret)
{
	if (d.inexact)
		return false;
	if (d.digits == 0) {
		*ret = 0;
		return true;
	}
	for (; d.exponent < 0; d.exponent++) {
		if (d.digits % 10 != 0)
			return false;
		d.digits /= 10;
	}
	for (; d.exponent > 0; d.exponent--)
		if (__builtin_mul_overflow(d.digits, (uint64_t)10, &d.digits))
			return false;
	*ret = d.digits;
	return true;
}

static double decimal_double(struct decimal d)
{
	/* Past these a double is 0 or infinite whatever the digits; keeps the loop short. */
	if (d.digits == 0 || d.exponent < -400)
		return 0;
	if (d.exponent > 400)
		return HUGE_VAL;
	long double value = (long double)d.digits;
	long double power = 1, base = 10;
	for (uint64_t n = (uint64_t)(d.exponent < 0 ? -d.exponent : d.exponent); n; n >>= 1) {
		if (n & 1)
			power *= base;
		base *= base;
	}
	value = d.exponent < 0 ? value / power : value * power;
	return value > (long double)1.7976931348623157e308 ? HUGE_VAL : (double)value;
}

bool prom_number(struct str text, double *ret_value, bool *ret_is_u64, uint64_t *ret_u64)
{
	struct str rest = text;
	bool minus = str_take(&rest, STR("-"));
	if (!minus)
		(void)str_take(&rest, STR("+"));
	*ret_is_u64 = false;
	*ret_u64 = 0;
	if (is_word(rest, STR("nan"))) {
		*ret_value = NAN;
		return true;
	}
	if (is_word(rest, STR("inf")) || is_word(rest, STR("infinity"))) {
		*ret_value = minus ? -HUGE_VAL : HUGE_VAL;
		return true;
	}
	struct decimal d = { 0 };
	bool any = take_digits(&rest, false, &d);
	if (str_take(&rest, STR(".")))
		any = take_digits(&rest, true, &d) || any;
	if (!any || !take_exponent(&rest, &d) || rest.len)
		return false;
	*ret_value = minus ? -decimal_double(d) : decimal_double(d);
	uint64_t whole;
	if (decimal_u64(d, &whole) && (!minus || whole == 0)) {
		*ret_is_u64 = true;
		*ret_u64 = whole;
	}
	return true;
}

static struct str take_name(struct str *rest)
{
	size_t n = 0;
	while (n < rest->len && is_name_byte(rest->ptr[n], n == 0))
		n++;
	struct str name = { rest->ptr, n };
	*rest = str_skip(*rest, n);
	return name;
}

/* After the opening quote: the raw value, and the closing quote taken. */
static bool take_quoted(struct str *rest, struct str *ret_value)
{
	for (size_t i = 0; i < rest->len; i++) {
		if (rest->ptr[i] == '\\') {
			i++;
		} else if (rest->ptr[i] == '"') {
			*ret_value = (struct str){ rest->ptr, i };
			*rest = str_skip(*rest, i + 1);
			return true;
		}
	}
	return false;
}

/* After the opening brace. Returns why it is bad, or NULL. */
static const char *take_labels(struct str *rest, struct prom_sample *sample)
{
	for (;;) {
		str_blanks(rest);
		if (str_take(rest, STR("}")))
			return NULL;
		if (sample->n_labels == PROM_LABELS_MAX)
			return "too many labels";
		struct prom_label *label = &sample->labels[sample->n_labels];
		label->name = take_name(rest);
		if (label->name.len == 0)
			return "no label name";
		str_blanks(rest);
		if (!str_take(rest, STR("=")))
			return "no '=' after a label name";
		str_blanks(rest);
		if (!str_take(rest, STR("\"")) || !take_quoted(rest, &label->value))
			return "a label value without its quotes";
		sample->n_labels++;
		str_blanks(rest);
		if (!str_take(rest, STR(",")) && (!rest->len || rest->ptr[0] != '}'))
			return "no ',' or '}' after a label";
	}
}

static struct str take_word(struct str *rest)
{
	size_t n = 0;
	while (n < rest->len && rest->ptr[n] != ' ' && rest->ptr[n] != '\t')
		n++;
	struct str word = { rest->ptr, n };
	*rest = str_skip(*rest, n);
	str_blanks(rest);
	return word;
}

static const char *parse_sample(struct str rest, struct prom_sample *sample)
{
	sample->n_labels = 0;
	sample->name = take_name(&rest);
	if (sample->name.len == 0)
		return "no metric name";
	size_t before = rest.len;
	str_blanks(&rest);
	bool apart = rest.len < before;
	if (str_take(&rest, STR("{"))) {
		const char *why = take_labels(&rest, sample);
		if (why)
			return why;
		apart = true;
		str_blanks(&rest);
	}
	if (!apart)
		return "a metric name with bytes that have no place in one";
	sample->text = take_word(&rest);
	if (!prom_number(sample->text, &sample->value, &sample->is_u64, &sample->u64))
		return "no number";
	sample->has_timestamp = false;
	if (rest.len && rest.ptr[0] != '#') {
		bool is_u64;
		uint64_t u64;
		if (!prom_number(take_word(&rest), &sample->timestamp, &is_u64, &u64))
			return "no number for a timestamp";
		sample->has_timestamp = true;
	}
	if (rest.len && !str_starts(rest, STR("# {")))
		return "bytes after the value";
	return NULL;
}

enum prom_kind prom_line(struct str line, struct prom_sample *ret_sample, const char **ret_why)
{
	struct str text = str_trim(line);
	const char *why = NULL;
	if (text.len == 0 || text.ptr[0] == '#')
		return PROM_COMMENT;
	if (line.len > PROM_LINE_MAX)
		why = "a line longer than 64 KiB";
	else if (memchr(text.ptr, '\0', text.len))
		why = "a NUL byte";
	else
		why = parse_sample(text, ret_sample);
	if (ret_why)
		*ret_why = why;
	return why ? PROM_BAD : PROM_SAMPLE;
}

void prom_start(struct prom *prom, struct str page)
{
	*prom = (struct prom){ .rest = page };
	/* A byte order mark, which some proxies put there. */
	(void)str_take(&prom->rest, STR("\xef\xbb\xbf"));
}

bool prom_next(struct prom *prom, struct prom_sample *ret_sample)
{
	while (prom->rest.len && !prom->eof_seen) {
		const char *why = NULL;
		size_t at = str_index(prom->rest, '\n');
		struct str line = { prom->rest.ptr, at };
		bool cut = at == prom->rest.len;
		prom->rest = str_skip(prom->rest, at + 1);
		prom->n_lines++;
		if (str_eq(str_trim(line), STR("# EOF"))) {
			prom->eof_seen = true;
			break;
		}
		if (cut) {
			prom->truncated = true;
			break;
		}
		switch (prom_line(line, ret_sample, &why)) {
		case PROM_SAMPLE:
			prom->n_samples++;
			return true;
		case PROM_BAD:
			if (prom->n_bad++ == 0) {
				prom->first_bad_line = prom->n_lines;
				str_copy(prom->why, sizeof prom->why, str_of(why));
			}
			break;
		case PROM_COMMENT:
		case PROM_END:
			break;
		}
	}
	return false;
}

int prom_end(const struct prom *prom, struct err *err)
{
	if (prom->n_samples == 0 && prom->n_bad != 0)
		return err_set(err, ERR_MALFORMED, "this is no metrics page: line %zu has %s, and no line is a sample",
			       prom->first_bad_line, prom->why);
	return 0;
}

bool prom_label(const struct prom_sample *sample, struct str name, struct str *ret_value)
{
	for (size_t i = 0; i < sample->n_labels; i++)
		if (str_eq(sample->labels[i].name, name)) {
			*ret_value = sample->labels[i].value;
			return true;
		}
	return false;
}

struct str prom_unescape(char *dest, size_t cap, struct str raw)
{
	size_t used = 0;
	for (size_t i = 0; i < raw.len && used + 1 < cap; i++) {
		char c = raw.ptr[i];
		if (c == '\\' && i + 1 < raw.len) {
			char next = raw.ptr[i + 1];
			if (next == 'n' || next == '\\' || next == '"') {
				c = next == 'n' ? '\n' : next;
				i++;
			}
		}
		dest[used++] = c;
	}
	if (cap)
		dest[used] = '\0';
	return (struct str){ dest, used };
}

const char *prom_looks_like(struct str head)
{
	(void)str_take(&head, STR("\xef\xbb\xbf"));
	head = str_trim(head);
	if (head.len == 0)
		return NULL;
	if (head.ptr[0] == '{' || head.ptr[0] == '[')
		return "JSON";
	if (str_starts(head, STR("<?xml")))
		return "XML";
	if (head.ptr[0] == '<')
		return "HTML";
	unsigned char c = (unsigned char)head.ptr[0];
	if (c < 0x20 || c >= 0x7f)
		return "binary data";
	return NULL;
}
