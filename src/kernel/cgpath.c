/* SPDX-License-Identifier: Apache-2.0 */
/* Text in, paths out: the pure half. Opening is in cgopen.c. */
#include "kernel/cgpath.h"

#include "base/limits.h"
#include "kernel/keys.h"
#include "kernel/mountline.h"

/* Copy all of it or fail: a cut path is another path. */
static bool copy_path(char dest[CGPATH_CAP], struct str path)
{
	if (path.len >= CGPATH_CAP)
		return false;
	str_copy(dest, CGPATH_CAP, path);
	return true;
}

static bool has_word(struct str list, char separator, struct str word)
{
	struct str part;
	while (str_split(&list, separator, &part))
		if (str_eq(part, word))
			return true;
	return false;
}

int cgpath_parse(struct str text, struct cgpath *ret, struct err *err)
{
	struct cgpath paths = { 0 };
	int r = keys_check_text(text, err);
	if (r < 0)
		return r;
	struct str line;
	for (unsigned number = 1; str_line(&text, &line); number++) {
		struct str controllers;
		uint64_t hierarchy;
		/* "hierarchy:controllers:path", and the path may hold colons. */
		if (!str_u64(&line, &hierarchy) || !str_take(&line, STR(":")) || line.len == 0)
			return err_set(err, ERR_MALFORMED, "line %u: not 'number:controllers:path'", number);
		size_t colon = str_index(line, ':');
		if (colon == line.len)
			return err_set(err, ERR_MALFORMED, "line %u: not 'number:controllers:path'", number);
		controllers = (struct str){ line.ptr, colon };
		line = str_skip(line, colon + 1);
		bool is_v2 = hierarchy == 0 && controllers.len == 0;
		bool is_v1_memory = !is_v2 && has_word(controllers, ',', STR("memory"));
		if (!is_v2 && !is_v1_memory)
			continue;
		bool *has = is_v2 ? &paths.has_v2 : &paths.has_v1_memory;
		if (*has || line.len == 0 || line.ptr[0] != '/')
			return err_set(err, ERR_MALFORMED, "line %u: no path, or a second one", number);
		if (!copy_path(is_v2 ? paths.v2 : paths.v1_memory, line))
			return err_set(err, ERR_LIMIT, "line %u: path too long", number);
		*has = true;
	}
	*ret = paths;
	return 0;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

enum { ID_MIN = 12, ID_MAX = 64 };

/* "cri-containerd-<id>.scope", and crio-, docker-, libpod- alike; "...slice:cri-containerd:<id>"; "<id>". */
static bool id_of_name(struct str name, char ret_id[CGPATH_ID_CAP])
{
	if (str_ends(name, STR(".scope")))
		name.len -= STR(".scope").len;
	size_t from = name.len;
	while (from && is_hex(name.ptr[from - 1]))
		from--;
	size_t len = name.len - from;
	bool bare = from == 0;
	/* Words are hex at times ("cafe", "feed"): alone, only a full id is one. */
	if (len < ID_MIN || len > ID_MAX || (bare && len != ID_MAX))
		return false;
	struct str before = { name.ptr, from };
	if (!bare && !str_ends(before, STR("-")) && !str_ends(before, STR(":")))
		return false;
	/* CRI-O's monitor of a container, not the container; and a pod's uid ends in twelve hex digits. */
	if (str_ends(before, STR("conmon-")) || str_has(before, STR("pod")))
		if (!str_ends(before, STR("libpod-")) && !str_has(before, STR(":")))
			return false;
	str_copy(ret_id, CGPATH_ID_CAP, str_skip(name, from));
	return true;
}

bool cgpath_container_id(const char *path, char ret_id[CGPATH_ID_CAP])
{
	struct str rest = str_of(path);
	/* From the leaf upwards: with some runtimes the process sits in a child of the container's cgroup. */
	while (rest.len) {
		size_t slash = rest.len;
		while (slash && rest.ptr[slash - 1] != '/')
			slash--;
		if (id_of_name(str_skip(rest, slash), ret_id))
			return true;
		rest.len = slash ? slash - 1 : 0;
	}
	return false;
}

static bool add_mount(struct cgpath_mount *mounts, size_t *n, const struct mount_line *line)
{
	/* A ninth cgroup2 mount adds nothing that the first eight do not show. */
	if (*n == CGPATH_MOUNTS_MAX)
		return true;
	struct cgpath_mount *mount = &mounts[*n];
	if (!mountline_unescape(mount->root, sizeof mount->root, line->root) ||
	    !mountline_unescape(mount->point, sizeof mount->point, line->point) || mount->root[0] != '/' ||
	    mount->point[0] != '/')
		return false;
	++*n;
	return true;
}

int cgpath_mounts_parse(struct str text, struct cgpath_mounts *ret, struct err *err)
{
	struct cgpath_mounts mounts = { 0 };
	int r = keys_check_text(text, err);
	if (r < 0)
		return r;
	struct str rest;
	for (unsigned number = 1; str_line(&text, &rest); number++) {
		struct mount_line line;
		if (!mountline_split(rest, &line))
			return err_set(err, ERR_MALFORMED, "line %u: not a mount", number);
		bool ok = true;
		if (str_eq(line.type, STR("cgroup2")))
			ok = add_mount(mounts.v2, &mounts.n_v2, &line);
		else if (str_eq(line.type, STR("cgroup")) && has_word(line.super_options, ',', STR("memory")))
			ok = add_mount(mounts.v1_memory, &mounts.n_v1_memory, &line);
		if (!ok)
			return err_set(err, ERR_MALFORMED, "line %u: bad or too long path of a mount", number);
	}
	*ret = mounts;
	return 0;
}

bool cgpath_join(const struct cgpath_mount *mount, const char *path, char ret_dir[2 * CGPATH_CAP])
{
	struct str below = str_of(path), root = str_of(mount->root), point = str_of(mount->point);
	/* A root of "/" shows everything below our own namespace's root, but nothing beside it ("/../leaf"). */
	if (!str_eq(root, STR("/"))) {
		if (!str_take(&below, root) || (below.len && below.ptr[0] != '/'))
			return false;
	}
	while (below.len && below.ptr[0] == '/')
		below = str_skip(below, 1);
	/* Names above the reader's root are unknown to it, so a way up cannot be turned into a path. */
	struct str rest = below, part;
	while (str_split(&rest, '/', &part))
		if (str_eq(part, STR("..")))
			return false;
	while (point.len && point.ptr[point.len - 1] == '/')
		point.len--;
	str_copy(ret_dir, CGPATH_CAP, point);
	size_t len = strlen(ret_dir);
	if (below.len) {
		ret_dir[len++] = '/';
		str_copy(ret_dir + len, CGPATH_CAP, below);
	} else if (len == 0) {
		str_copy(ret_dir, CGPATH_CAP, STR("/"));
	}
	return true;
}
