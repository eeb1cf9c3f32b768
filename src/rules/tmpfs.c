/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files in memory. A tmpfs page is charged to who wrote it and cannot be dropped: without swap it is as hard as anon
 * (cgroup-v2.rst, shmem). Nothing in Flink's or the JVM's plan has room for it, and it outlives the process: what a dead
 * container wrote stays charged to the pod.
 */
#include "rules/all.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"

static struct qty held_by(const struct ledger *ledger)
{
	static const enum owner owners[] = { OWNER_TMPFS, OWNER_SHARED_MAPS };
	struct qty sum = { 0 };
	for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++) {
		const struct ledger_line *line = &ledger->lines[owners[i]];
		if (ledger->listed[owners[i]] && qty_known(line->bytes))
			sum = qty_known(sum) ? qty_add(sum, line->bytes) : line->bytes;
	}
	return sum;
}

static const struct tmpfs_mount *largest_mount(const struct snapshot *snapshot)
{
	const struct tmpfs_mount *best = NULL;
	for (size_t i = 0; i < snapshot->n_tmpfs; i++)
		if (qty_known(snapshot->tmpfs[i].used_bytes) &&
		    (!best || snapshot->tmpfs[i].used_bytes.bytes > best->used_bytes.bytes))
			best = &snapshot->tmpfs[i];
	return best;
}

static bool is_dev_shm(const struct tmpfs_mount *mount)
{
	return str_eq(str_of(mount->path), STR("/dev/shm"));
}

/* What the state backend keeps in files is as much as what lies in the mount: RocksDB's SST files in memory. */
static bool holds_state(const struct snapshot *snapshot, const struct tmpfs_mount *mount)
{
	struct qty sst = snapshot->engine.rocksdb.sst_bytes;
	return mount && !is_dev_shm(mount) && qty_known(sst) && sst.bytes >= (uint64_t)64 << 20 &&
	       mount->used_bytes.bytes >= sst.bytes - sst.bytes / 10;
}

static void observe(const struct rule_input *input, uint64_t held, const struct judged_limit *limit,
		    struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	finding_observation(
		finding,
		"Files in memory hold %s of %s, %s; without swap none of it can be reclaimed, and no budget of the JVM or the engine counts it.",
		units_format(a, held), units_format(b, limit->bytes), limit->name);
	size_t told = 0;
	for (size_t i = 0; i < snapshot->n_tmpfs && told < 3; i++) {
		const struct tmpfs_mount *mount = &snapshot->tmpfs[i];
		if (!qty_known(mount->used_bytes))
			continue;
		told++;
		finding_observation(finding, "%s has %s%s%s.", mount->path, units_format(a, mount->used_bytes.bytes),
				    mount->size.kind == LIMIT_SET ? " of " : "",
				    mount->size.kind == LIMIT_SET ? units_format(b, mount->size.bytes) : "");
	}
	if (!told)
		finding_missing(finding,
				"the mounts that hold the files: mountinfo and root of the process (same uid and gid)");
	if (holds_state(snapshot, largest_mount(snapshot)))
		finding_observation(finding, "RocksDB's files are %s: most likely they lie there.",
				    units_format(a, snapshot->engine.rocksdb.sst_bytes.bytes));
}

static void name_causes(const struct snapshot *snapshot, struct finding *finding)
{
	const struct tmpfs_mount *mount = largest_mount(snapshot);
	finding_cause(
		finding,
		"state or temporary files on an emptyDir of medium Memory (io.tmp.dirs, state.backend.rocksdb.localdir, state.dir, java.io.tmpdir below it): then the mount is named above and grows with the state");
	finding_cause(
		finding,
		"shared memory of another program (Python workers, POSIX shm): then /dev/shm holds it, or it is mapped and in no mount");
	finding_cause(
		finding,
		"files of a container that ended: what it wrote stays charged to the pod until it is deleted; then no process here has them open");
	if (mount && snapshot->cgroup.swap_max.kind == LIMIT_SET && snapshot->cgroup.swap_max.bytes)
		finding_cause(finding, "none of it is in use and it could be swapped: then memory.swap.current rises");
}

static void change_for(const struct rule_input *input, uint64_t held, struct finding *finding)
{
	const struct tmpfs_mount *mount = largest_mount(input->snapshot);
	finding_turn(finding, KNOB_FILES, TURN_SET);
	if (!mount)
		finding_change(
			finding,
			"find the files (du -x on each tmpfs of `mount -t tmpfs` in the container) and give their directory a volume on a disk");
	else if (is_dev_shm(mount))
		finding_change(
			finding,
			"remove what is left over in /dev/shm (ls -l /dev/shm), or let the program that writes there use a directory on a disk");
	else
		finding_change(
			finding,
			"back %s with a disk: in the pod's volumes replace emptyDir {medium: Memory} by emptyDir {} (with a sizeLimit the kubelet evicts the pod that passes it), and request ephemeral-storage of %lluMi",
			mount->path,
			(unsigned long long)(room_round_up(held > UINT64_MAX / 2 ? held : 2 * held) >> 20));
	finding_validate(finding, "steady: the tmpfs line of the report stays below %llu MiB through a full day's peak",
			 (unsigned long long)(judged_level(input, T_TMPFS_CHARGED_BYTES) >> 20));
	finding_validate(
		finding,
		"restore: the same while state is restored, and the time of restore and checkpoint on the disk is acceptable");
}

/*
 * ZGC keeps its heap in a memfd. Where its size could not be read (fstat of the descriptor) the heap stands in the tmpfs
 * line, and so it may where neither the collector nor smaps is known.
 */
static bool heap_may_be_inside(const struct rule_input *input)
{
	const struct snapshot *snapshot = input->snapshot;
	if (input->ledger->listed[OWNER_ZGC_HEAP] || !snapshot->is_jvm)
		return false;
	return snapshot->gc == GC_Z || (snapshot->gc == GC_UNKNOWN && !snapshot->vmas_read);
}

/*
 * Planned for: all but little of it lies in mounts that are bounded (sizeLimit of the emptyDir), and with these full
 * there is as much room left as freeboard-low asks for. What other containers add to a mount is charged to them, so this
 * is the most that can come.
 */
static bool is_bounded(const struct rule_input *input, uint64_t held, const struct judged_limit *limit)
{
	const struct snapshot *snapshot = input->snapshot;
	uint64_t in_mounts = 0, to_come = 0, critical;
	for (size_t i = 0; i < snapshot->n_tmpfs; i++) {
		const struct tmpfs_mount *mount = &snapshot->tmpfs[i];
		if (!qty_known(mount->used_bytes) || mount->size.kind != LIMIT_SET)
			return false;
		uint64_t used = mount->used_bytes.bytes;
		in_mounts = sat_add(in_mounts, used);
		to_come = sat_add(to_come, mount->size.bytes > used ? mount->size.bytes - used : 0);
	}
	if (sat_add(in_mounts, judged_level(input, T_TMPFS_CHARGED_BYTES)) < held)
		return false; /* the rest is in no mount that is seen, and nothing bounds it */
	uint64_t needed = sat_add(to_come, room_levels(input, limit->bytes, &critical));
	return input->ledger->freeboard_bytes.known && input->ledger->freeboard_bytes.bytes >= 0 &&
	       (uint64_t)input->ledger->freeboard_bytes.bytes >= needed;
}

static bool missing(const struct rule_input *input, struct qty held, struct finding *finding)
{
	if (!qty_known(held))
		finding_missing_file(
			finding, input->snapshot, "memory.stat",
			"the container's cgroup v2 was not read: files in memory that are not mapped are in no other counter");
	return finding->n_missing > 0;
}

enum rule_answer rule_tmpfs_charged(const struct rule_input *input, struct finding *finding)
{
	const struct ledger *ledger = input->ledger;
	struct qty held = held_by(ledger);
	struct judged_limit limit;
	if (missing(input, held, finding))
		return RULE_INCONCLUSIVE;
	if (held.bytes <= judged_level(input, T_TMPFS_CHARGED_BYTES))
		return RULE_SILENT;
	if (!judged_container(ledger, &limit)) {
		judged_missing(finding);
		return RULE_INCONCLUSIVE;
	}
	if (held.bytes <= judged_share(input, T_TMPFS_CHARGED_NOTICE, limit.bytes))
		return RULE_SILENT;
	if (heap_may_be_inside(input)) {
		finding_missing(
			finding,
			"the size of ZGC's heap file, which would be among the files in memory (/proc/PID/fd: same uid and gid)");
		return RULE_INCONCLUSIVE;
	}
	char a[UNITS_TEXT_CAP];
	const struct tmpfs_mount *mount = largest_mount(input->snapshot);
	bool bounded = is_bounded(input, held.bytes, &limit);
	bool grave = held.bytes > judged_share(input, T_TMPFS_CHARGED_WARNING, limit.bytes) && !bounded;
	finding->severity = grave ? SEVERITY_WARNING : SEVERITY_NOTICE;
	finding->owner = OWNER_TMPFS;
	finding->excess_bytes = held.bytes;
	finding_title(finding, "files in memory hold %s of the limit%s%.64s", units_format(a, held.bytes),
		      mount ? ", most of them in " : "", mount ? mount->path : "");
	observe(input, held.bytes, &limit, finding);
	if (bounded)
		finding_observation(finding, "The mounts are bounded: even full they leave enough room.");
	name_causes(input->snapshot, finding);
	finding_setting_bytes(finding, limit.setting, limit.bytes, limit.where);
	finding_bytes(finding, "files_in_memory_bytes", held.bytes);
	finding_bytes(finding, "limit_bytes", limit.bytes);
	if (mount)
		finding_bytes(finding, "largest_mount_bytes", mount->used_bytes.bytes);
	change_for(input, held.bytes, finding);
	return RULE_FIRED;
}
