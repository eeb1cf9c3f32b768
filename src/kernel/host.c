/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/host.h"

#include <fcntl.h>
#include <stddef.h>

#include "base/limits.h"
#include "kernel/keys.h"
#include "sys/file.h"

static const struct key keys[] = {
	KEY("MemTotal", host_memory, total_bytes, KEY_KB),
	KEY("MemAvailable", host_memory, available_bytes, KEY_KB),
	KEY("SwapFree", host_memory, swap_free_bytes, KEY_KB),
};

int host_meminfo_parse(struct str text, struct host_memory *ret, struct err *err)
{
	struct host_memory memory = { 0 };
	int r = keys_parse(text, keys, sizeof keys / sizeof keys[0], ':', &memory, err);
	if (r < 0)
		return r;
	if (!qty_known(memory.total_bytes))
		return err_set(err, ERR_MALFORMED, "no line 'MemTotal'");
	*ret = memory;
	return 0;
}

int host_thp_parse(struct str text, enum thp_mode *ret, struct err *err)
{
	enum thp_mode mode = THP_UNREAD;
	struct str word;
	int r = keys_check_text(text, err);
	if (r < 0)
		return r;
	text = str_trim(text);
	while (str_split(&text, ' ', &word)) {
		if (!str_take(&word, STR("[")))
			continue;
		if (mode != THP_UNREAD)
			return err_set(err, ERR_MALFORMED, "two modes of transparent huge pages are in force");
		for (int i = THP_NEVER; i < THP_MODE_COUNT; i++) {
			struct str rest = word;
			if (str_take(&rest, str_of(thp_mode_names[i])) && str_eq(rest, STR("]")))
				mode = (enum thp_mode)i;
		}
		if (mode == THP_UNREAD)
			return err_set(err, ERR_MALFORMED, "an unknown mode of transparent huge pages");
	}
	if (mode == THP_UNREAD)
		return err_set(err, ERR_MALFORMED, "no mode of transparent huge pages is in force");
	*ret = mode;
	return 0;
}

int host_meminfo_read(struct buf *buf, struct err *err)
{
	return file_read_at(AT_FDCWD, "/proc/meminfo", LIMIT_PROC_FILE, buf, err);
}

int host_thp_read(struct buf *buf, struct err *err)
{
	return file_read_at(AT_FDCWD, "/sys/kernel/mm/transparent_hugepage/enabled", LIMIT_PROC_FILE, buf, err);
}
