/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/foreign.h"

#include <stdio.h>

#include "base/str.h"

enum { SEEN_MAX = 32 };

static struct str path_of(const struct vma_set *set, const struct vma *vma)
{
	if (vma->kind != VMA_FILE || vma->name_len == 0)
		return (struct str){ "", 0 };
	return (struct str){ set->names + vma->name_at, vma->name_len };
}

static struct str base_of(struct str path)
{
	size_t at = path.len;
	while (at > 0 && path.ptr[at - 1] != '/')
		at--;
	return str_skip(path, at);
}

/* The directory of the JDK's libraries, from .../lib/server/libjvm.so (JDK 8: .../lib/amd64/server/libjvm.so). */
static struct str jdk_directory(const struct vma_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		struct str path = path_of(set, &set->items[i]);
		if (!str_ends(path, STR("/server/libjvm.so")))
			continue;
		path.len -= sizeof "/server/libjvm.so" - 1;
		struct str last = base_of(path);
		if (!str_eq(last, STR("lib")) && last.len < path.len)
			path.len -= last.len + 1;
		return path;
	}
	return (struct str){ "", 0 };
}

/* RocksDB has lines of its own, Netty's transport holds direct buffers, allocators hold what others asked for. */
static bool is_known(struct str name)
{
	static const struct str parts[] = { { "rocksdbjni", 10 }, { "forstjni", 8 }, { "netty", 5 },
					    { "jemalloc", 8 },    { "tcmalloc", 8 }, { "mimalloc", 8 } };
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (str_has(name, parts[i]))
			return true;
	return false;
}

static bool is_foreign(struct str path, struct str jdk)
{
	static const struct str system[] = {
		{ "/lib/", 5 }, { "/lib64/", 7 }, { "/usr/lib/", 9 }, { "/usr/lib64/", 11 }
	};
	struct str name = base_of(path);
	if (!str_ends(name, STR(".so")) && !str_has(name, STR(".so.")))
		return false;
	for (size_t i = 0; i < sizeof system / sizeof system[0]; i++)
		if (str_starts(path, system[i]))
			return false;
	bool of_jdk = jdk.len && path.len > jdk.len && str_starts(path, jdk) && path.ptr[jdk.len] == '/';
	return !of_jdk && !is_known(name);
}

size_t foreign_find(const struct snapshot *snapshot, char ret_names[FOREIGN_TEXT_CAP])
{
	const struct vma_set *set = &snapshot->vmas;
	struct str jdk = jdk_directory(set), seen[SEEN_MAX];
	size_t n = 0, used = 0;
	ret_names[0] = '\0';
	for (size_t i = 0; i < set->n && n < SEEN_MAX; i++) {
		struct str path = path_of(set, &set->items[i]);
		bool again = !is_foreign(path, jdk);
		for (size_t j = 0; j < n && !again; j++)
			again = str_eq(seen[j], path);
		if (again)
			continue;
		seen[n++] = path;
		char name[FOREIGN_NAME_CAP];
		str_copy(name, sizeof name, base_of(path));
		if (n <= FOREIGN_MAX)
			used += (size_t)snprintf(ret_names + used, FOREIGN_TEXT_CAP - used, "%s%s", n > 1 ? ", " : "",
						 name);
	}
	return n;
}
