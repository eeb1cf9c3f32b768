/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/vmversion.h"

int vmversion_major(struct str version)
{
	uint64_t major, minor;
	if (!str_u64(&version, &major))
		return 0;
	if (major == 1 && str_take(&version, STR(".")) && str_u64(&version, &minor))
		major = minor;
	return major > 0 && major < 1000 ? (int)major : 0;
}

int vmversion_parse(struct str text, struct vmversion *ret_version, struct err *err)
{
	struct vmversion version = { 0 };
	struct str line;

	while (str_line(&text, &line)) {
		line = str_trim(line);
		struct str rest = line;
		if (str_take(&rest, STR("JDK "))) {
			version.major = vmversion_major(rest);
			str_copy(version.jdk, sizeof version.jdk, rest);
		} else if (str_has(line, STR(" version "))) {
			str_copy(version.vm, sizeof version.vm, line);
			/* JDK 8 has no second line. */
			if (version.major == 0)
				version.major = vmversion_major(str_skip(line, str_find(line, STR(" version ")) + 9));
		}
	}
	if (version.major == 0)
		return err_set(err, ERR_MALFORMED, "VM.version: there is no version in it");
	*ret_version = version;
	return 0;
}
