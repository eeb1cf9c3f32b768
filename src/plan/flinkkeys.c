/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/flinkkeys.h"

/* The rows are FLINKKEY_<type>. */
#define VERSION(name) name,
#define KEY(key, current, versions, type)
static const char *const version_names[] = {
#include "plan/flinkkeys.inc"
};
#undef VERSION
#undef KEY
#define VERSION(name)
#define KEY(key, current, versions, type) { key, current, versions, FLINKKEY_##type },
static const struct flinkkey table[] = {
#include "plan/flinkkeys.inc"
};
#undef VERSION
#undef KEY

enum { TABLE_LEN = sizeof table / sizeof table[0], N_VERSIONS = sizeof version_names / sizeof version_names[0] };

/* Families whose keys are made up by who runs Flink, or belong to parts that are not in the table. */
static const char *const open_families[] = {
	"containerized.",
	"flink.",
	"fs.",
	"hadoop.",
	"metrics.reporter.",
	"metrics.scope.",
	"plugin.",
	"python.",
	"s3.",
	"s3a.",
	"security.",
	"table.",
	"sql-",
	"traces.",
	"yarn.",
	"external-resource.",
	"kubernetes.operator.",
	"job.autoscaler.",
	"env.",
	"events.",
};

unsigned flinkkeys_n_versions(void)
{
	return N_VERSIONS;
}

const char *flinkkeys_version(unsigned version)
{
	return version < N_VERSIONS ? version_names[version] : "";
}

bool flinkkeys_is_1x(unsigned version)
{
	return flinkkeys_version(version)[0] == '1';
}

/* The two numbers before the last dot of "2.3.0", or of "2.3" itself. */
static struct str minor_of(struct str version)
{
	size_t first = str_index(version, '.');
	struct str rest = str_skip(version, first + 1);
	size_t second = str_index(rest, '.');
	return (struct str){ version.ptr, first < version.len ? first + 1 + second : version.len };
}

int flinkkeys_version_find(struct str said, unsigned *ret_version, struct err *err)
{
	char shown[24];
	bool any_two = str_eq(said, STR("2")) || str_eq(said, STR("2.x"));
	for (unsigned i = N_VERSIONS; i-- > 0;) {
		struct str name = str_of(version_names[i]);
		if (any_two ? name.ptr[0] == '2' : str_eq(minor_of(said), minor_of(name))) {
			*ret_version = i;
			return 0;
		}
	}
	str_copy(shown, sizeof shown, said);
	return err_set(err, ERR_USAGE,
		       "'%s' is no Flink version that is known here: 1.20, 2.0 to %.*s, or 2.x for the newest", shown,
		       (int)minor_of(str_of(version_names[N_VERSIONS - 1])).len, version_names[N_VERSIONS - 1]);
}

const struct flinkkey *flinkkeys_find(struct str key, unsigned version)
{
	const struct flinkkey *older = NULL;
	for (size_t i = 0; i < TABLE_LEN; i++) {
		if (!(table[i].versions >> version & 1) || !str_eq(str_of(table[i].key), key))
			continue;
		if (!table[i].current)
			return &table[i];
		older = &table[i];
	}
	return older;
}

const struct flinkkey *flinkkeys_find_any(struct str key, unsigned *ret_version)
{
	for (unsigned version = N_VERSIONS; version-- > 0;) {
		const struct flinkkey *row = flinkkeys_find(key, version);
		if (!row)
			continue;
		*ret_version = version;
		return row;
	}
	return NULL;
}

const char *flinkkeys_older(const char *option, unsigned version, unsigned n)
{
	for (size_t i = 0; i < TABLE_LEN; i++)
		if (table[i].current && (table[i].versions >> version & 1) &&
		    str_eq(str_of(table[i].current), str_of(option)) && n-- == 0)
			return table[i].key;
	return NULL;
}

bool flinkkeys_is_open(struct str key, unsigned version)
{
	for (size_t i = 0; i < sizeof open_families / sizeof open_families[0]; i++)
		if (str_starts(key, str_of(open_families[i])))
			return true;
	for (size_t i = 0; i < TABLE_LEN; i++) {
		struct str option = str_of(table[i].key);
		if (table[i].type == FLINKKEY_MAP && (table[i].versions >> version & 1) && str_starts(key, option) &&
		    key.len > option.len && key.ptr[option.len] == '.')
			return true;
	}
	return false;
}

void flinkkeys_offer(struct typo *typo, unsigned version)
{
	for (size_t i = 0; i < TABLE_LEN; i++)
		if (!table[i].current && (table[i].versions >> version & 1))
			typo_offer(typo, table[i].key);
}
