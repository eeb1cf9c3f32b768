/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engine's readers have to say beside their numbers: inputs that are missing, contradict each other or
 * could not be used (as gaps), and the settings in force with the place they were read from. Plain data; full
 * lists drop the rest and count it.
 */
#ifndef ENGINE_NOTES_H
#define ENGINE_NOTES_H

#include "bankfull/snapshot.h"
#include "base/err.h"
#include "base/str.h"

enum { ENGINE_NOTES_MAX = 24 };

struct engine_notes {
	struct gap items[ENGINE_NOTES_MAX];
	size_t n, n_dropped;
	struct setting settings[SETTINGS_MAX];
	size_t n_settings;
};

/*
 * `what` is the evidence's name ("http/metrics.0", "proc/cmdline"); the same what and reason twice is one note.
 * `notes` may be NULL.
 */
void engine_note(struct engine_notes *notes, const char *what, enum err_kind kind, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void engine_note_err(struct engine_notes *notes, const char *what, const struct err *err);

/* The first place that names a key stands: sources are visited strongest first. */
void engine_setting(struct engine_notes *notes, struct str key, struct str value, const char *where);

#endif
