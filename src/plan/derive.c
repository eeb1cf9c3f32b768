/* SPDX-License-Identifier: Apache-2.0 */
/* The part that both processes share: the three ways, metaspace and overhead. */
#include "plan/derive.h"

#include <stdio.h>

#include "base/units.h"
#include "plan/derive_parts.h"
#include "plan/flinkkeys.h"

const char *const derive_way_names[] = { "parts", "flink-size", "process-size" };

enum { MIB = 1 << 20, REFUSED_ROOM = 40 /* of what a command puts before it */ };

const char *derive_size_text(char dest[DERIVE_SIZE_CAP], uint64_t bytes)
{
	char size[UNITS_TEXT_CAP];
	(void)snprintf(dest, DERIVE_SIZE_CAP, "%s (%llu)", units_format(size, bytes), (unsigned long long)bytes);
	return dest;
}

const char *derive_key_text(const struct deriving *d, const char *key, char dest[DERIVE_KEY_CAP])
{
	char where[DECLARED_WHERE_CAP];
	bool mapped = d->mapped && strcmp(d->mapped, key) == 0;
	const char *said = !mapped                                           ? key
			   : declared_has(d->declared, d->keys->legacy_heap) ? d->keys->legacy_heap
									     : d->keys->legacy_heap_mb;
	(void)snprintf(dest, DERIVE_KEY_CAP, "%s (%s)", said, declared_where(d->declared, said, where));
	return dest;
}

bool derive_has(const struct deriving *d, const char *key)
{
	return (d->mapped && strcmp(d->mapped, key) == 0) || declared_has(d->declared, key);
}

int derive_get(const struct deriving *d, const char *key, uint64_t otherwise, uint64_t *ret_bytes, struct err *err)
{
	if (!d->mapped || strcmp(d->mapped, key) != 0)
		return declared_size(d->declared, key, otherwise, ret_bytes, err);
	*ret_bytes = d->mapped_bytes;
	return 0;
}

int derive_add(uint64_t *sum, uint64_t more, struct err *err)
{
	if (more > INT64_MAX - *sum)
		return err_set(err, ERR_USAGE, "the sizes sum up to more than 64 bits hold");
	*sum += more;
	return 0;
}

int derive_range(const struct deriving *d, const struct range_keys *keys, struct range *ret_range, struct err *err)
{
	struct range range;
	char a[DERIVE_SIZE_CAP], b[DERIVE_SIZE_CAP], where[DECLARED_WHERE_CAP], low[DERIVE_KEY_CAP],
		high[DERIVE_KEY_CAP];
	int rc = derive_get(d, keys->min, keys->min_default, &range.min, err);
	if (rc == 0)
		rc = derive_get(d, keys->max, keys->max_default, &range.max, err);
	if (rc == 0)
		rc = declared_float(d->declared, keys->fraction, keys->fraction_default, &range.fraction, err);
	if (rc < 0)
		return rc;
	if (range.min > range.max)
		return err_set(err, ERR_USAGE, "%s is %s and %s %s: the smallest is %llu bytes more than the largest",
			       derive_key_text(d, keys->min, low), derive_size_text(a, range.min),
			       derive_key_text(d, keys->max, high), derive_size_text(b, range.max),
			       (unsigned long long)(range.min - range.max));
	if (!(range.fraction >= 0 && range.fraction < 1))
		return err_set(err, ERR_USAGE, "%s: %s is %g: at least 0 and less than 1 is accepted",
			       declared_where(d->declared, keys->fraction, where), keys->fraction, range.fraction);
	*ret_range = range;
	return 0;
}

static uint64_t within(const struct range *range, uint64_t bytes)
{
	return bytes > range->max ? range->max : bytes < range->min ? range->min : bytes;
}

int derive_share(const struct range *range, uint64_t of, bool inverse, uint64_t *ret_bytes, struct err *err)
{
	double factor = inverse ? range->fraction / (1 - range->fraction) : range->fraction;
	uint64_t share;
	if (!number_multiply(of, factor, &share))
		return err_set(err, ERR_USAGE, "the sizes sum up to more than 64 bits hold");
	*ret_bytes = within(range, share);
	return 0;
}

static int overhead_range(const struct deriving *d, struct range *ret_range, struct err *err)
{
	const struct range_keys keys = { d->keys->overhead_min, d->keys->overhead_max, d->keys->overhead_fraction,
					 192ull * MIB,          1024ull * MIB,         DERIVE_TENTH };
	return derive_range(d, &keys, ret_range, err);
}

/* Of the whole process first, then what Flink shares out. */
static int from_process(const struct deriving *d, struct process_split *split, struct err *err)
{
	char a[DERIVE_SIZE_CAP], b[DERIVE_SIZE_CAP], c[DERIVE_SIZE_CAP], key[DERIVE_KEY_CAP];
	struct range range;
	uint64_t process, outside;
	int rc = derive_get(d, d->keys->process, 0, &process, err);
	if (rc == 0)
		rc = derive_get(d, d->keys->metaspace, 256ull * MIB, &split->metaspace, err);
	if (rc == 0)
		rc = overhead_range(d, &range, err);
	if (rc == 0)
		rc = derive_share(&range, process, false, &split->overhead, err);
	if (rc < 0)
		return rc;
	outside = split->metaspace;
	rc = derive_add(&outside, split->overhead, err);
	if (rc < 0)
		return rc;
	if (outside > process)
		return err_set(err, ERR_USAGE,
			       "%s is %s, but metaspace (%s) and JVM overhead (%s) alone take %llu bytes more",
			       derive_key_text(d, d->keys->process, key), derive_size_text(a, process),
			       derive_size_text(b, split->metaspace), derive_size_text(c, split->overhead),
			       (unsigned long long)(outside - process));
	split->flink = process - outside;
	return 0;
}

/* What a process size leaves must be a legal overhead. */
static int overhead_as_rest(const struct deriving *d, struct process_split *split, struct err *err)
{
	char a[DERIVE_SIZE_CAP], b[DERIVE_SIZE_CAP], c[DERIVE_SIZE_CAP], of[UNITS_TEXT_CAP];
	char key[DERIVE_KEY_CAP], edge[DERIVE_KEY_CAP];
	struct range range;
	uint64_t process, inside = split->flink;
	int rc = derive_get(d, d->keys->process, 0, &process, err);
	if (rc == 0)
		rc = derive_add(&inside, split->metaspace, err);
	if (rc < 0)
		return rc;
	if (process < inside)
		return err_set(err, ERR_USAGE,
			       "%s is %s, but Flink's memory (%s) and metaspace (%s) take %llu bytes more",
			       derive_key_text(d, d->keys->process, key), derive_size_text(a, process),
			       derive_size_text(b, split->flink), derive_size_text(c, split->metaspace),
			       (unsigned long long)(inside - process));
	rc = overhead_range(d, &range, err);
	if (rc < 0)
		return rc;
	split->overhead = process - inside;
	if (split->overhead >= range.min && split->overhead <= range.max)
		return 0;
	bool less = split->overhead < range.min;
	return err_set(
		err, ERR_USAGE,
		"%s, %s, less Flink's memory and metaspace leaves %s of JVM overhead, %llu bytes %s than %s allows, %s",
		derive_key_text(d, d->keys->process, key), units_format(of, process),
		derive_size_text(a, split->overhead),
		(unsigned long long)(less ? range.min - split->overhead : split->overhead - range.max),
		less ? "less" : "more", derive_key_text(d, less ? d->keys->overhead_min : d->keys->overhead_max, edge),
		derive_size_text(b, less ? range.min : range.max));
}

int derive_outside(const struct deriving *d, struct process_split *split, struct err *err)
{
	struct range range;
	uint64_t inside = split->flink;
	int rc = derive_get(d, d->keys->metaspace, 256ull * MIB, &split->metaspace, err);
	if (rc == 0)
		rc = derive_add(&inside, split->metaspace, err);
	if (rc < 0)
		return rc;
	if (derive_has(d, d->keys->process))
		return overhead_as_rest(d, split, err);
	rc = overhead_range(d, &range, err);
	if (rc == 0)
		rc = derive_share(&range, inside, true, &split->overhead, err);
	if (rc == 0)
		rc = derive_add(&inside, split->overhead, err);
	return rc;
}

/* 1.20 takes the heap sizes of before 1.10: *.heap.size, then *.heap.mb. */
static int map_legacy(struct deriving *d, struct err *err)
{
	int32_t mib;
	if (!flinkkeys_is_1x(d->declared->version) || declared_has(d->declared, d->keys->mapped))
		return 0;
	int rc = 0;
	if (declared_has(d->declared, d->keys->legacy_heap)) {
		rc = declared_size(d->declared, d->keys->legacy_heap, 0, &d->mapped_bytes, err);
	} else if (declared_has(d->declared, d->keys->legacy_heap_mb)) {
		rc = declared_int(d->declared, d->keys->legacy_heap_mb, 0, &mib, err);
		if (rc == 0 && mib < 0)
			return err_set(err, ERR_USAGE, "%s is %d: less than 0", d->keys->legacy_heap_mb, (int)mib);
		d->mapped_bytes = rc == 0 ? (uint64_t)mib << 20 : 0;
	} else {
		return 0;
	}
	d->mapped = d->keys->mapped;
	return rc;
}

/* A refusal of what is left says what it is left of, where both find room. */
static int rest_of_process(const struct deriving *d, const struct process_split *split, struct flink_budget *budget,
			   struct err *err)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP], key[DERIVE_KEY_CAP], before[160];
	int rc = d->keys->from_flink(d, split->flink, budget, err);
	if (rc == 0 || !err)
		return rc;
	(void)snprintf(before, sizeof before, "%s, %s, less %s of metaspace and %s of overhead",
		       derive_key_text(d, d->keys->process, key),
		       units_format(a, split->flink + split->metaspace + split->overhead),
		       units_format(b, split->metaspace), units_format(c, split->overhead));
	if (strlen(before) + strlen(err->message) + REFUSED_ROOM < sizeof err->message)
		err_wrap(err, "%s", before);
	return rc;
}

/* The sizes that would have done. */
static void offer_sizes(const struct deriving *d, struct typo *typo)
{
	const char *const sizes[] = { d->keys->process, d->keys->flink, d->keys->part, d->keys->other_part };
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		if (sizes[i])
			typo_offer(typo, sizes[i]);
}

/* What was said under a name of no option, and is nearly that of a size. False: nothing was. */
static bool misspelt_size(const struct deriving *d, const struct flinkconf_entry *entry, const char *file, char *dest,
			  size_t cap)
{
	struct typo typo = { .said = entry->said };
	char shown[TYPO_NAME_CAP + 1], where[DECLARED_WHERE_CAP] = "--set";
	if (flinkkeys_find(entry->said, d->declared->version))
		return false;
	offer_sizes(d, &typo);
	if (!typo.meant)
		return false;
	str_copy(shown, sizeof shown, entry->said);
	if (file)
		(void)snprintf(where, sizeof where, "%.60s:%u", file, entry->line);
	(void)snprintf(dest, cap, "%s: %s is no option: did you mean %s?", where, shown, typo.meant);
	return true;
}

static const char *role_of(const struct derive_keys *keys)
{
	return keys == &derive_jobmanager_keys ? "JobManager" : "TaskManager";
}

static int nothing_set(const struct deriving *d, struct err *err)
{
	const struct declared *declared = d->declared;
	const struct flinkconf *file = declared->file;
	char misspelt[224];
	bool found = false;
	/* What --set says counts before the file. */
	for (size_t i = 0; i < declared->n_sets && !found; i++)
		found = misspelt_size(d, &declared->sets[i], NULL, misspelt, sizeof misspelt);
	for (size_t i = 0; file && i < file->n && !found; i++)
		found = misspelt_size(d, &file->items[i], file->name, misspelt, sizeof misspelt);
	if (found)
		return err_set(err, ERR_USAGE, "no size is set. %s", misspelt);
	const struct deriving other = { .declared = declared,
					.keys = d->keys == &derive_jobmanager_keys ? &derive_taskmanager_keys
										   : &derive_jobmanager_keys };
	if (derive_has(&other, other.keys->process) || derive_has(&other, other.keys->flink))
		return err_set(err, ERR_USAGE,
			       "no size of a %s is set, but one of a %s: plan that %s --jobmanager, or set %s",
			       role_of(d->keys), role_of(other.keys),
			       other.keys == &derive_jobmanager_keys ? "with" : "without", d->keys->process);
	if (file && file->n_bad_lines)
		return err_set(
			err, ERR_USAGE,
			"no size is set, and %u of the lines of %s are no 'key: value', with a blank behind the colon: Flink skips them",
			file->n_bad_lines, file->name);
	return err_set(err, ERR_USAGE, "no size is set: Flink wants %s, or %s, or %s", d->keys->process, d->keys->flink,
		       d->keys->parts_text);
}

int derive(const struct declared *declared, enum derive_role role, struct derived *ret_derived, struct err *err)
{
	const struct derive_keys *keys = role == DERIVE_JOBMANAGER ? &derive_jobmanager_keys : &derive_taskmanager_keys;
	struct deriving d = { .declared = declared, .keys = keys };
	struct derived derived = { .role = role };
	struct process_split split = { 0 };
	int rc = declared_check_file(declared, err);
	if (rc == 0)
		rc = map_legacy(&d, err);
	if (rc < 0)
		return rc;
	if (derive_has(&d, keys->part) && (!keys->other_part || derive_has(&d, keys->other_part))) {
		derived.way = DERIVE_BY_PARTS;
		rc = keys->from_parts(&d, &derived.budget, &split.flink, err);
		if (rc == 0)
			rc = derive_outside(&d, &split, err);
	} else if (derive_has(&d, keys->flink)) {
		derived.way = DERIVE_BY_FLINK_SIZE;
		rc = derive_get(&d, keys->flink, 0, &split.flink, err);
		if (rc == 0)
			rc = keys->from_flink(&d, split.flink, &derived.budget, err);
		if (rc == 0)
			rc = derive_outside(&d, &split, err);
	} else if (derive_has(&d, keys->process)) {
		derived.way = DERIVE_BY_PROCESS_SIZE;
		rc = from_process(&d, &split, err);
		if (rc == 0)
			rc = rest_of_process(&d, &split, &derived.budget, err);
	} else {
		rc = nothing_set(&d, err);
	}
	if (rc < 0)
		return rc;
	derived.budget.metaspace_bytes = qty_of(split.metaspace, QTY_DERIVED);
	derived.budget.overhead_bytes = qty_of(split.overhead, QTY_DERIVED);
	rc = keys->finish(&d, &derived, err);
	if (rc == 0)
		*ret_derived = derived;
	return rc;
}
