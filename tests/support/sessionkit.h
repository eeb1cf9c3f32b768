/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions without sockets: frames are given and taken by hand, the time is what the test says, the store is a real one in
 * a directory of the test's own.
 */
#ifndef BANKFULL_TESTS_SESSIONKIT_H
#define BANKFULL_TESTS_SESSIONKIT_H

#include "collector/fleet_read.h"
#include "collector/inferred.h"
#include "collector/store_read.h"
#include "support/scratch.h"
#include "support/storekit.h"

struct rig {
	struct scratch scratch;
	struct store *store;
	struct fleet *fleet;
	struct ingest *ingest;
	struct mono now;
	struct wall wall;
};

/* options NULL: the defaults. */
void rig_init(struct rig *rig, const struct ingest_options *options);
void rig_done(struct rig *rig);
/* The same for cmocka: *state is the rig. */
int rig_set_up(void **state);
int rig_tear_down(void **state);
/* The collector ends and starts again on the same directory. */
void rig_restart(struct rig *rig);
/* Time passes, and what is due is done. */
void rig_pass(struct rig *rig, uint64_t ms);

struct session *rig_open(struct rig *rig, const char *id);
void rig_frame(struct session *session, const char *text);
void rig_message(struct session *session, const struct wire_message *message);
/* A hello of this id with epochs `first` to `last` of storekit, the last one live; its clock is the rig's. */
void rig_hello(struct rig *rig, struct session *session, unsigned first, unsigned last);
void rig_sample(struct session *session, unsigned epoch, uint64_t seq);
void rig_gap(struct session *session, unsigned epoch, uint64_t from, uint64_t to);

/* open, hello with one epoch, and welcomed. */
struct session *rig_agent(struct rig *rig, const char *id, unsigned epoch);

/*
 * What the session has to send now, in one line: "welcome(1=0 2=17)", "ack(1=3)", "error(sequence)", and ">4400" where it is
 * being closed. Epochs by their number in storekit. Valid until the next call.
 */
const char *rig_said(struct session *session);

/* All post-mortems that are stored: how many, and the last that is told of, with its text. Valid until the next call. */
struct rig_postmortem {
	unsigned n;
	struct store_postmortem_row row;
	char text[WIRE_FRAME_MAX];
};
struct rig_postmortem *rig_postmortem(struct rig *rig);

#endif
