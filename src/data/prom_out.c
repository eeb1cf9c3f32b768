/* SPDX-License-Identifier: Apache-2.0 */
#include "data/prom_out.h"

#include <inttypes.h>

#include "base/esc.h"

void prom_out_start(struct prom_out *out, struct buf *buf)
{
	*out = (struct prom_out){ .buf = buf };
}

void prom_out_family(struct prom_out *out, const char *name, enum prom_type type, const char *help)
{
	out->name = name;
	out->in_labels = false;
	(void)buf_printf(out->buf, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
			 type == PROM_COUNTER ? "counter" : "gauge");
}

/* The format wants \\, \" and \n; other control bytes and what is no UTF-8 would break a scrape: U+FFFD. */
static void add_value(struct buf *buf, struct str text)
{
	while (text.len) {
		size_t n = esc_utf8_len(text);
		unsigned char c = (unsigned char)text.ptr[0];
		if (n == 1 && (c == '"' || c == '\\'))
			(void)buf_printf(buf, "\\%c", c);
		else if (n == 1 && c == '\n')
			(void)buf_puts(buf, "\\n");
		else if (n == 0 || (n == 1 && (c < 0x20 || c == 0x7f)))
			(void)buf_puts(buf, "\xef\xbf\xbd");
		else
			(void)buf_add(buf, (struct str){ text.ptr, n });
		text = str_skip(text, n ? n : 1);
	}
}

void prom_out_label(struct prom_out *out, const char *name, const char *value)
{
	if (!out->in_labels)
		(void)buf_puts(out->buf, out->name);
	(void)buf_printf(out->buf, "%c%s=\"", out->in_labels ? ',' : '{', name);
	add_value(out->buf, str_of(value));
	(void)buf_putc(out->buf, '"');
	out->in_labels = true;
}

static void before_value(struct prom_out *out)
{
	(void)buf_puts(out->buf, out->in_labels ? "} " : out->name);
	if (!out->in_labels)
		(void)buf_putc(out->buf, ' ');
	out->in_labels = false;
}

void prom_out_u64(struct prom_out *out, uint64_t value)
{
	before_value(out);
	(void)buf_printf(out->buf, "%" PRIu64 "\n", value);
}

void prom_out_i64(struct prom_out *out, int64_t value)
{
	before_value(out);
	(void)buf_printf(out->buf, "%" PRIi64 "\n", value);
}

void prom_out_parts(struct prom_out *out, int64_t value, uint32_t per)
{
	uint64_t size = value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value;
	int decimals = 0;
	for (uint32_t left = per; left >= 10; left /= 10)
		decimals++;
	before_value(out);
	(void)buf_printf(out->buf, "%s%" PRIu64, value < 0 ? "-" : "", size / per);
	if (decimals)
		(void)buf_printf(out->buf, ".%0*" PRIu64, decimals, size % per);
	(void)buf_putc(out->buf, '\n');
}

void prom_out_gauge(struct prom_out *out, const char *name, const char *help, uint64_t value)
{
	prom_out_family(out, name, PROM_GAUGE, help);
	prom_out_u64(out, value);
}

void prom_out_counter(struct prom_out *out, const char *name, const char *help, uint64_t value)
{
	prom_out_family(out, name, PROM_COUNTER, help);
	prom_out_u64(out, value);
}
