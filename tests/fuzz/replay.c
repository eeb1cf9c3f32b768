/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a libFuzzer entry over files and directories given as arguments, so that the corpus is
 * replayed under any compiler.  Each input is copied into a heap block of exactly its size: a
 * parser that reads one byte too far is caught by the address sanitizer.  Prints one TAP line a
 * file; a crash ends the program, and the line "# <file>" before it names the input at fault.
 */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INPUT_MAX_BYTES (64L << 20) /* far above any corpus file; a typo cannot eat the machine */

static unsigned n_run, n_failed;

static void fail(const char *path, const char *what)
{
	printf("not ok - %s: %s\n", path, what);
	n_failed++;
}

static void run_file(const char *path, long size)
{
	uint8_t *data;
	FILE *f;
	size_t len;

	if (size > INPUT_MAX_BYTES) {
		fail(path, "larger than the replay reads");
		return;
	}
	f = fopen(path, "rb");
	if (!f) {
		fail(path, strerror(errno));
		return;
	}
	len = (size_t)size;
	data = malloc(len ? len : 1);
	if (!data || fread(data, 1, len, f) != len) {
		fail(path, "cannot be read whole");
	} else {
		printf("# %s\n", path);
		fflush(stdout);
		(void)LLVMFuzzerTestOneInput(data, len);
		printf("ok - %s\n", path);
		n_run++;
	}
	free(data);
	fclose(f);
}

static void run_path(const char *path)
{
	struct dirent **names;
	struct stat st;
	int n;

	if (stat(path, &st) < 0) {
		fail(path, strerror(errno));
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		run_file(path, (long)st.st_size);
		return;
	}
	n = scandir(path, &names, NULL, alphasort);
	if (n < 0) {
		fail(path, strerror(errno));
		return;
	}
	for (int i = 0; i < n; i++) {
		char child[4096];

		if (names[i]->d_name[0] != '.') {
			int len = snprintf(child, sizeof(child), "%s/%s", path, names[i]->d_name);

			if (len < 0 || (size_t)len >= sizeof(child))
				fail(path, "path too long");
			else
				run_path(child);
		}
		free(names[i]);
	}
	free(names);
}

int main(int argc, char **argv)
{
	/* The empty input is always part of the corpus; no file can hold it under git. */
	uint8_t *none = calloc(1, 1);

	if (none)
		(void)LLVMFuzzerTestOneInput(none, 0);
	free(none);
	for (int i = 1; i < argc; i++)
		run_path(argv[i]);
	if (n_run == 0)
		fail(argv[0], "no input was run");
	return n_failed ? 1 : 0;
}
