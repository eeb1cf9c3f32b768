/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/version.h"

#include "base/str.h"

static bool is_confluent(struct str suffix)
{
	return str_starts(suffix, STR("-ccs")) || str_starts(suffix, STR("-ce"));
}

/* Confluent Platform 5.x to 7.x build on Kafka 2.x to 3.x and 8.x on 4.x, as its upgrade guides list them. */
static void map_confluent(struct version *version)
{
	uint32_t major = version->parts[0], minor = version->parts[1];
	if (major < 5 || major > 8)
		return; /* a Kafka version with Confluent's suffix */
	version->own_patches = true;
	version->snapshot = false; /* of theirs: of ours it says nothing more */
	version->parts[0] = major == 8 ? 4 : major == 7 ? 3 : 2;
	version->parts[1] = major == 6 ? minor + 6 : minor;
	version->parts[2] = version->parts[3] = 0;
}

bool version_parse(const char *text, struct version *ret_version)
{
	struct version version = { 0 };
	struct str rest = str_of(text);
	size_t n = 0;
	uint64_t part;
	while (n < VERSION_PARTS && str_u64(&rest, &part)) {
		version.parts[n++] = part > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)part;
		if (!str_take(&rest, STR(".")))
			break;
	}
	if (n < 2)
		return false;
	version.snapshot = str_has(rest, STR("SNAPSHOT"));
	if (is_confluent(rest))
		map_confluent(&version);
	*ret_version = version;
	return true;
}

int version_compare(const struct version *a, const struct version *b)
{
	for (size_t i = 0; i < VERSION_PARTS; i++)
		if (a->parts[i] != b->parts[i])
			return a->parts[i] < b->parts[i] ? -1 : 1;
	return (int)b->snapshot - (int)a->snapshot;
}

enum tristate version_from(const struct engine_state *engine, uint32_t major)
{
	struct version version;
	if (!version_parse(engine->version, &version))
		return TRISTATE_UNREAD;
	return version.parts[0] >= major ? TRISTATE_TRUE : TRISTATE_FALSE;
}
