/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/put_finding.h"

#include "wire/put.h"

/* A change that is not to be made is not told. */
static void put_change(struct js_out *out, const struct finding *f)
{
	bool told = f->change[0] && (f->when == CHANGE_NOW || f->when == CHANGE_LATER);
	put_text(out, "change", told ? f->change : NULL);
	put_text(out, "change_when", f->change[0] ? change_when_names[f->when] : NULL);
	js_out_key(out, "turns");
	js_out_array(out);
	for (size_t i = 0; told && i < f->n_turns; i++) {
		js_out_object(out);
		put_text(out, "knob", knob_names[f->turns[i].knob]);
		put_text(out, "turn", turn_names[f->turns[i].turn]);
		js_out_object_end(out);
	}
	js_out_array_end(out);
}

void put_finding(struct js_out *out, const struct finding *f)
{
	js_out_object(out);
	put_text(out, "rule", f->rule);
	put_text(out, "severity", severity_names[f->severity]);
	put_text(out, "title", f->title);
	put_text(out, "observation", f->observation);
	put_text(out, "root", f->root);
	put_text(out, "owner", f->owner >= 0 ? owner_table[f->owner].name : NULL);
	put_qty(out, "excess_bytes", f->excess_bytes ? qty_measured(f->excess_bytes) : (struct qty){ 0 });
	put_strings(out, "competing_causes", f->competing_causes[0], sizeof f->competing_causes[0], f->n_causes);
	js_out_key(out, "effective_settings");
	js_out_array(out);
	for (size_t i = 0; i < f->n_settings; i++) {
		js_out_object(out);
		put_text(out, "key", f->effective_settings[i].key);
		put_text(out, "value", f->effective_settings[i].value);
		put_text(out, "where", f->effective_settings[i].where);
		js_out_object_end(out);
	}
	js_out_array_end(out);
	put_change(out, f);
	put_strings(out, "validate", f->validate[0], sizeof f->validate[0], f->n_validate);
	js_out_key(out, "evidence");
	js_out_object(out);
	for (size_t i = 0; i < f->n_evidence; i++) {
		js_out_key(out, f->evidence[i].name);
		js_out_i64(out, f->evidence[i].value);
	}
	js_out_object_end(out);
	put_strings(out, "missing", f->missing[0], sizeof f->missing[0], f->n_missing);
	js_out_object_end(out);
}
