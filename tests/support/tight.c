/* SPDX-License-Identifier: Apache-2.0 */
#include "support/tight.h"

#include <stdio.h>
#include <stdlib.h>

static char *block_of(size_t len)
{
	char *block = malloc(len ? len : 1);
	if (!block) {
		perror("tests: no memory");
		abort();
	}
	return block;
}

struct str tight_of(struct str text)
{
	char *block = block_of(text.len);
	if (text.len)
		memcpy(block, text.ptr, text.len);
	return (struct str){ block, text.len };
}

struct str tight_read(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END) != 0) {
		perror(path);
		abort();
	}
	size_t len = (size_t)ftell(file);
	rewind(file);
	char *block = block_of(len);
	if (fread(block, 1, len, file) != len) {
		perror(path);
		abort();
	}
	(void)fclose(file);
	return (struct str){ block, len };
}

void tight_free(struct str text)
{
	free((char *)(uintptr_t)text.ptr);
}

void tight_prefixes(struct str text, size_t at_most, void (*parse)(struct str prefix))
{
	size_t step = text.len / at_most + 1;
	for (size_t len = 0; len < text.len; len += text.len - len <= 200 ? 1 : step) {
		struct str prefix = tight_of((struct str){ text.ptr, len });
		parse(prefix);
		tight_free(prefix);
	}
}
