/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of a test's own, below TMPDIR, and its removal with all that is in it. */
#ifndef BANKFULL_TESTS_SCRATCH_H
#define BANKFULL_TESTS_SCRATCH_H

struct scratch {
	char path[256];
	int fd;
};

struct scratch scratch_new(void); /* ends the test if it cannot */
void scratch_done(struct scratch *scratch);

/* A file of this text, below the directory; missing directories on the way are made. */
void scratch_file(const struct scratch *scratch, const char *path, const char *text);
void scratch_dir(const struct scratch *scratch, const char *path);
void scratch_link(const struct scratch *scratch, const char *path, const char *target);

#endif
