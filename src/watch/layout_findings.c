/* SPDX-License-Identifier: Apache-2.0 */
/* What was found, in a line each; one of them whole; and what happened. */
#include <stdio.h>

#include "base/date.h"
#include "watch/layout_parts.h"

enum { LABEL = 10 };

static unsigned finding_line(struct area area, unsigned y, const struct finding *f, unsigned number, bool selected)
{
	char key[8] = "   ";
	if (number < 9)
		(void)snprintf(key, sizeof key, "%u  ", number + 1);
	unsigned x = area_printf(area, 0, y, STYLE_DIM, "%s%s", key, f->root ? "so  " : "");
	x = area_printf(area, x, y, layout_style(f->severity), "%s  %s", severity_names[f->severity], f->rule);
	x = area_put(area, x, y, STYLE_PLAIN, STR(": "));
	(void)area_put(area, x, y, STYLE_PLAIN, str_of(f->title));
	if (selected)
		area_style_row(area, y, STYLE_SELECTED);
	return y + 1;
}

static unsigned silenced_lines(struct area area, const struct reading *r, unsigned at, unsigned skip)
{
	char until[DATE_TEXT_CAP];
	for (size_t i = 0; i < r->verdict.n_silenced; i++, at++) {
		const struct silenced *s = &r->verdict.silenced[i];
		if (at >= skip)
			(void)area_printf(area, 3, at - skip, STYLE_DIM, "silenced  %s until %s: %s", s->rule,
					  date_format(until, s->until.ms), r->reasons[i]);
	}
	return at;
}

unsigned layout_findings(struct area area, const struct layout_input *input, bool chosen)
{
	const struct reading *r = input->reading;
	if (!r || !r->has_target)
		return 0;
	const struct verdict *v = &r->verdict;
	unsigned at = 0, skip = 0;
	if (chosen && input->view->selected >= area.rows && area.rows)
		skip = input->view->selected - area.rows + 1;
	for (size_t i = 0; i < v->n_findings; i++, at++)
		if (at >= skip)
			(void)finding_line(area, at - skip, &v->findings[i], (unsigned)i,
					   chosen && i == input->view->selected);
	if (v->n_findings == 0 && at >= skip)
		(void)area_put(area, 0, at++ - skip, STYLE_GOOD, STR("nothing is found"));
	at = silenced_lines(area, r, at, skip);
	if (v->n_inconclusive && at >= skip)
		(void)area_printf(area, 3, at++ - skip, STYLE_DIM,
				  "%zu rules want for inputs: bankfull report names them", v->n_inconclusive);
	return at;
}

/* --- one of them whole -------------------------------------------------------------------------------------------- */

struct whole {
	struct area area;
	unsigned at, skip;
};

static void tell(struct whole *w, const char *label, enum style style, const char *text)
{
	unsigned label_wide = w->area.columns > 36 ? LABEL : 2;
	if (!text[0])
		return;
	if (w->at >= w->skip && label_wide == LABEL)
		(void)area_put(w->area, 0, w->at - w->skip, STYLE_DIM, str_of(label));
	w->at += area_wrap(area_part(w->area, label_wide, 0, w->area.columns, w->area.rows), (int)w->at - (int)w->skip,
			   style, str_of(text));
}

static void tell_list(struct whole *w, const char *label, const char *first, size_t stride, size_t n)
{
	for (size_t i = 0; i < n; i++)
		tell(w, i ? "" : label, STYLE_PLAIN, first + i * stride);
}

static void tell_settings(struct whole *w, const struct finding *f)
{
	for (size_t i = 0; i < f->n_settings; i++) {
		const struct setting *s = &f->effective_settings[i];
		char text[320];
		(void)snprintf(text, sizeof text, "%s = %s (%s)", s->key, s->value, s->where);
		tell(w, i ? "" : "setting", STYLE_PLAIN, text);
	}
}

static void tell_change(struct whole *w, const struct finding *f)
{
	static const char *const labels[CHANGE_WHEN_COUNT] = { "change", "later", "change", "later" };
	const char *text = f->change;
	if (f->when == CHANGE_HELD)
		text = "its change would undo another one that is advised: make that one, then look again";
	else if (f->when == CHANGE_WITH_ROOT)
		text = "none of its own: what causes it is to be changed";
	tell(w, labels[f->when], STYLE_BOLD, text);
}

static void tell_evidence(struct whole *w, const struct finding *f)
{
	for (size_t i = 0; i < f->n_evidence; i++) {
		char text[160];
		(void)snprintf(text, sizeof text, "%s %lld", f->evidence[i].name, (long long)f->evidence[i].value);
		tell(w, i ? "" : "evidence", STYLE_DIM, text);
	}
}

unsigned layout_whole(struct area area, const struct layout_input *input)
{
	const struct verdict *v = &input->reading->verdict;
	if (input->view->selected >= v->n_findings)
		return area_wrap(area, 0, STYLE_DIM, STR("it is no longer found; Esc goes back"));
	const struct finding *f = &v->findings[input->view->selected];
	struct whole w = { area, 0, input->view->scroll };
	char heading[256];
	(void)snprintf(heading, sizeof heading, "%s: %s", f->rule, f->title);
	tell(&w, severity_names[f->severity], layout_style(f->severity), heading);
	if (f->root)
		tell(&w, "because of", STYLE_PLAIN, f->root);
	tell(&w, "seen", STYLE_PLAIN, f->observation);
	tell_list(&w, "or", f->competing_causes[0], sizeof f->competing_causes[0], f->n_causes);
	tell_settings(&w, f);
	tell_change(&w, f);
	tell_list(&w, "validate", f->validate[0], sizeof f->validate[0], f->n_validate);
	tell_list(&w, "missing", f->missing[0], sizeof f->missing[0], f->n_missing);
	tell_evidence(&w, f);
	return w.at;
}

/* --- what happened ------------------------------------------------------------------------------------------------ */

unsigned layout_events(struct area area, const struct layout_input *input, unsigned skip)
{
	const struct story_event *event;
	unsigned n = 0;
	for (; (event = story_event(input->story, n)); n++) {
		char date[DATE_TEXT_CAP];
		if (n < skip)
			continue;
		/* "2026-12-31T08:00:00.000Z": the time of day, of UTC. */
		(void)date_format_instant(date, event->at.ms);
		unsigned x = area_printf(area, 0, n - skip, STYLE_DIM, "%.8sZ ", strlen(date) > 19 ? date + 11 : date);
		(void)area_put(area, x, n - skip, layout_style(event->severity), str_of(event->text));
	}
	return n;
}
