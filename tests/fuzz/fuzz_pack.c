/* SPDX-License-Identifier: Apache-2.0 */
/* A blob of samples from a database that somebody may have damaged; what is read of it packs and reads the same again. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "collector/pack.h"

enum { POINTS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pack_point points[POINTS]; /* static: no padding differs between two runs of one input */
	struct pack_reader reader;
	size_t n = 0;
	bool more = true;
	if (pack_open((struct str){ (const char *)data, size }, &reader, NULL) < 0)
		return 0;
	enum pack_kind kind = reader.state.kind;
	while (n < POINTS && pack_next(&reader, &points[n], &more, NULL) == 0 && more)
		n++;
	auto_pack struct pack pack = { 0 };
	pack_start(&pack, kind);
	for (size_t i = 0; i < n; i++)
		if (!pack_add(&pack, &points[i]))
			abort();
	if (pack_open(buf_str(&pack.bytes), &reader, NULL) < 0)
		abort();
	for (size_t i = 0; i < n; i++) {
		struct pack_point again;
		if (pack_next(&reader, &again, &more, NULL) < 0 || !more)
			abort();
		const struct store_point *a = &points[i].point, *b = &again.point;
		if (again.seq != points[i].seq || a->received.ms != b->received.ms || a->wall.ms != b->wall.ms ||
		    a->n_samples != b->n_samples || a->charge_bytes.bytes != b->charge_bytes.bytes ||
		    a->freeboard_min_bytes.bytes != b->freeboard_min_bytes.bytes ||
		    a->owners[OWNER_COUNT - 1].bytes != b->owners[OWNER_COUNT - 1].bytes)
			abort();
	}
	return 0;
}
