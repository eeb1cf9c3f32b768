/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the picture. Internal to src/watch. Panes leave out `skip` lines and return how many they have. */
#ifndef WATCH_LAYOUT_PARTS_H
#define WATCH_LAYOUT_PARTS_H

#include "watch/layout.h"

enum style layout_style(enum severity severity);

/* layout_head.c: the room, in as many rows as it needs of `area`. */
void layout_title(struct area area, const struct layout_input *input);
unsigned layout_headline(struct area area, const struct layout_input *input);
unsigned layout_room(struct area area, const struct reading *reading);
void layout_tiny(struct area area, const struct layout_input *input);

/* layout_owners.c */
unsigned layout_owners(struct area area, const struct layout_input *input, unsigned skip);

/* layout_findings.c; layout_whole(): all of one finding. */
unsigned layout_findings(struct area area, const struct layout_input *input, bool chosen);
unsigned layout_whole(struct area area, const struct layout_input *input);
unsigned layout_events(struct area area, const struct layout_input *input, unsigned skip);

#endif
