/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/vmflags.h"

#include "jvm/option.h"

int vmflags_parse(struct str text, struct jvm_flags *flags, struct err *err)
{
	struct jvm_flags read = *flags;
	struct str line, word;
	bool any = false;

	while (str_line(&text, &line)) {
		while (str_split(&line, ' ', &word)) {
			word = str_trim(word);
			if (!str_starts(word, STR("-XX:")))
				continue;
			any = true;
			(void)option_apply(word, &read);
		}
	}
	if (!any)
		return err_set(err, ERR_MALFORMED, "VM.flags: there is no flag in it");
	/* MaxHeapSize and MaxRAM are printed when the JVM chose them itself; a percentage only when somebody gave one. */
	read.heap_origin = flags->heap_origin;
	if (read.heap_origin != HEAP_ORIGIN_SIZE && read.max_ram_percentage_bp)
		read.heap_origin = HEAP_ORIGIN_SHARE;
	*flags = read;
	return 0;
}
