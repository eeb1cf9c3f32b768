/* SPDX-License-Identifier: Apache-2.0 */
/* What is served to browsers as it stands: build/<variant>/web_assets.c, made by tools/embed-web. */
#ifndef COLLECTOR_ASSETS_H
#define COLLECTOR_ASSETS_H

#include <stddef.h>

struct asset {
	const char *path; /* "/app.css", "/docs/rules/freeboard-low" */
	const char *content_type;
	const unsigned char *bytes;
	size_t len;
	const unsigned char *gzip; /* the same, compressed */
	size_t gzip_len;
	const char *etag; /* 64 bits of the content's SHA-256, in hex */
};

extern const struct asset asset_table[];
extern const size_t asset_count;

#endif
