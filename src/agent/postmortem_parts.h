/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the post-mortem: postmortem.c decides what is said, postmortem_json.c writes it. */
#ifndef AGENT_POSTMORTEM_PARTS_H
#define AGENT_POSTMORTEM_PARTS_H

#include "agent/postmortem.h"
#include "data/js.h"

struct postmortem_change {
	char what[96];
	char before[200], now[200]; /* "": it was not there */
};

/* How `now` differs from the life before it; what one of them does not know is no difference. */
size_t postmortem_changes(const struct postmortem_life *before, const struct postmortem_life *now,
			  struct postmortem_change *ret_changes, size_t most);

int postmortem_write(const struct postmortem_input *input, const struct wire_postmortem *part0, struct buf *body,
		     struct err *err) __attribute__((warn_unused_result));

#endif
