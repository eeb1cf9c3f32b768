/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redaction of a JVM's command line, before anything is kept. Kept: the basename of argv[0], JVM options of option.h,
 * names of main class, main jar and agent jars, an agent's port, of a class path the jars that tell an engine's
 * version, of
 * properties (-Dkey=value, -D key=value, key=value) the values of allow-listed keys. Every other value is
 * `<redacted>`, other
 * program arguments whole. Arguments keep their number and positions. Depends on base and jvm only; pure.
 */
#ifndef JVM_CMDLINE_H
#define JVM_CMDLINE_H

#include "base/buf.h"

/*
 * /proc/<pid>/cmdline, NUL after each argument (a missing last one is added). False: `out` is full. What is
 * redacted twice stays as it is.
 */
bool cmdline_redact(struct str cmdline, struct buf *out);

/*
 * JVM options joined by blanks, as java.rt.vmArgs has them. A value may hold blanks itself, so no word is trusted
 * to start
 * where it seems to: what the tables do not know becomes `<redacted>` whole, its name included. Words stay joined
 * by one blank.
 */
bool cmdline_redact_words(struct str words, struct buf *out);

/* sun.rt.javaCommand: main class or jar, then arguments joined by blanks; as above. */
bool cmdline_redact_command(struct str command, struct buf *out);

/* The value of a property may be kept. */
bool cmdline_is_open_key(struct str key);

/* The launcher's option whose value is the next argument: -cp, --add-opens, ... (not -jar and -m, which end the options). */
bool cmdline_takes_value(struct str option);

#endif
