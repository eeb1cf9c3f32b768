/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/notes.h"

#include <stdarg.h>
#include <stdio.h>

void engine_note(struct engine_notes *notes, const char *what, enum err_kind kind, const char *format, ...)
{
	if (!notes)
		return;
	struct gap gap = { .kind = (int)kind };
	str_copy(gap.what, sizeof gap.what, str_of(what));
	va_list args;
	va_start(args, format);
	(void)vsnprintf(gap.reason, sizeof gap.reason, format, args);
	va_end(args);
	for (size_t i = 0; i < notes->n; i++)
		if (strcmp(notes->items[i].what, gap.what) == 0 && strcmp(notes->items[i].reason, gap.reason) == 0)
			return;
	if (notes->n == ENGINE_NOTES_MAX)
		notes->n_dropped++;
	else
		notes->items[notes->n++] = gap;
}

void engine_note_err(struct engine_notes *notes, const char *what, const struct err *err)
{
	engine_note(notes, what, err->kind, "%s", err->message);
}

void engine_setting(struct engine_notes *notes, struct str key, struct str value, const char *where)
{
	if (!notes)
		return;
	for (size_t i = 0; i < notes->n_settings; i++)
		if (str_eq(str_of(notes->settings[i].key), key))
			return;
	if (notes->n_settings == SETTINGS_MAX) {
		notes->n_dropped++;
		return;
	}
	struct setting *setting = &notes->settings[notes->n_settings++];
	str_copy(setting->key, sizeof setting->key, key);
	str_copy(setting->value, sizeof setting->value, value);
	str_copy(setting->where, sizeof setting->where, str_of(where));
}
