/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict for people: a root finding whole, what follows from it in a line or two below it. */
#include <stdio.h>
#include <string.h>

#include "base/date.h"
#include "base/units.h"
#include "cli/paint.h"
#include "rules/rules.h"

enum { INDENT = 12 };

static void list(struct paint *p, const char *title, const char *first, size_t stride, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		(void)buf_printf(p->out, "  %-9s ", i == 0 ? title : "");
		paint_wrapped(p, INDENT, INDENT, first + i * stride);
	}
}

/* "-Xmx = 301989888 (288.0 MiB; VM.flags)": as it was written, and for a size as people read it. */
static void setting_text(char *dest, size_t cap, const struct setting *setting)
{
	struct str value = str_of(setting->value);
	uint64_t bytes;
	char size[UNITS_TEXT_CAP];
	if (str_u64(&value, &bytes) && (value.len == 0 || str_eq(value, STR("b"))) && bytes >= 1 << 20)
		(void)snprintf(dest, cap, "%s = %s (%s; %s)", setting->key, setting->value, units_format(size, bytes),
			       setting->where);
	else
		(void)snprintf(dest, cap, "%s = %s (%s)", setting->key, setting->value, setting->where);
}

static enum tone tone_of(enum severity severity)
{
	return severity >= SEVERITY_CRITICAL ? TONE_RED : severity >= SEVERITY_WARNING ? TONE_YELLOW : TONE_BOLD;
}

/* `told`: the change to make first stands at the top already. */
static void change(struct paint *p, const struct finding *f, bool told)
{
	if (!f->change[0])
		return;
	if (f->when == CHANGE_NOW)
		list(p, "change", told ? "the one to do first, above" : f->change, 0, 1);
	else if (f->when == CHANGE_LATER)
		list(p, "later", f->change, 0, 1);
	else if (f->when == CHANGE_HELD)
		list(p, "later", "its change would undo another one of this report: make that one, then look again", 0,
		     1);
}

static void heading(struct paint *p, const char *before, const struct finding *f, unsigned indent)
{
	char line[128];
	(void)snprintf(line, sizeof line, "%s%s  %s", before, severity_names[f->severity], f->rule);
	paint_text(p, tone_of(f->severity), line);
	(void)buf_puts(p->out, ": ");
	paint_wrapped(p, indent, (unsigned)strlen(line) + 2, f->title);
}

/* What its root brings about: the change is the root's, but for relief that must come first. */
static void consequence(struct paint *p, const struct finding *f, bool told)
{
	heading(p, "  so  ", f, 6);
	if (f->severity < SEVERITY_WARNING)
		return;
	list(p, "seen", f->observation, 0, 1);
	change(p, f, told);
}

static void root(struct paint *p, const struct finding *f, bool told)
{
	(void)buf_putc(p->out, '\n');
	heading(p, "", f, 2);
	list(p, "seen", f->observation, 0, 1);
	if (f->severity >= SEVERITY_WARNING) {
		list(p, "or", f->competing_causes[0], sizeof f->competing_causes[0], f->n_causes);
		for (size_t i = 0; i < f->n_settings; i++) {
			char setting[320];
			setting_text(setting, sizeof setting, &f->effective_settings[i]);
			list(p, i == 0 ? "setting" : "", setting, 0, 1);
		}
	}
	change(p, f, told);
	if (f->severity >= SEVERITY_WARNING)
		list(p, "validate", f->validate[0], sizeof f->validate[0], f->n_validate);
	list(p, "missing", f->missing[0], sizeof f->missing[0], f->n_missing);
}

static void silenced(struct paint *p, const struct silenced *s)
{
	char until[DATE_TEXT_CAP], line[640];
	(void)snprintf(line, sizeof line, "silenced  %s (%s) until %s, because: %s. It says: %s", s->rule,
		       severity_names[s->severity], date_format(until, s->until.ms), s->reason, s->title);
	paint_wrapped(p, 10, 0, line);
}

static bool same_missing(const struct inconclusive *a, const struct inconclusive *b)
{
	if (a->n_missing != b->n_missing)
		return false;
	for (size_t i = 0; i < a->n_missing; i++)
		if (strcmp(a->missing[i], b->missing[i]) != 0)
			return false;
	return true;
}

/* Rules that lack the same inputs share the lines: what is missing is what matters about them. */
static void inconclusive(struct paint *p, const struct verdict *v)
{
	bool done[FINDINGS_MAX] = { false };
	for (size_t i = 0; i < v->n_inconclusive; i++) {
		char line[1024];
		if (done[i])
			continue;
		int used = snprintf(line, sizeof line, "inconclusive  %s", v->inconclusive[i].rule);
		for (size_t j = i + 1; j < v->n_inconclusive && used < (int)sizeof line; j++) {
			if (!same_missing(&v->inconclusive[i], &v->inconclusive[j]))
				continue;
			done[j] = true;
			used += snprintf(line + used, sizeof line - (size_t)used, ", %s", v->inconclusive[j].rule);
		}
		(void)buf_putc(p->out, '\n');
		paint_wrapped(p, 14, 0, line);
		list(p, "missing", v->inconclusive[i].missing[0], sizeof v->inconclusive[i].missing[0],
		     v->inconclusive[i].n_missing);
	}
}

void paint_headline(struct paint *p, const struct verdict *v)
{
	paint_tone(p, v->worst >= SEVERITY_WARNING ? tone_of(v->worst) : TONE_BOLD);
	paint_wrapped(p, 0, 0, v->headline);
	paint_tone(p, TONE_PLAIN);
	const struct finding *first = rules_first_change(v);
	if (first)
		list(p, "do first", first->change, 0, 1);
	(void)buf_putc(p->out, '\n');
}

void paint_verdict(struct paint *p, const struct verdict *v)
{
	bool told = v->worst >= SEVERITY_WARNING;
	for (size_t i = 0; i < v->n_findings; i++) {
		if (v->findings[i].root)
			consequence(p, &v->findings[i], told);
		else
			root(p, &v->findings[i], told);
	}
	if (v->n_silenced)
		(void)buf_putc(p->out, '\n');
	for (size_t i = 0; i < v->n_silenced; i++)
		silenced(p, &v->silenced[i]);
	inconclusive(p, v);
}
