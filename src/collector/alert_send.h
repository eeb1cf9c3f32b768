/* SPDX-License-Identifier: Apache-2.0 */
/* One message to one receiver, on a thread of the pool: it blocks until the answer, or the receiver's timeout. */
#ifndef COLLECTOR_ALERT_SEND_H
#define COLLECTOR_ALERT_SEND_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/alertconf.h"

enum { ALERT_TOKEN_MAX = 8192, ALERT_ANSWER_MAX = 64 * 1024 };

struct alert_message {
	/* All of it is the message's own: it may outlive whoever began it. */
	char url[ALERT_URL_CAP + 32], token_file[ALERT_PATH_CAP], ca_file[ALERT_PATH_CAP];
	const char *content_type; /* a literal; NULL: JSON */
	unsigned timeout_ms;
	struct buf body;
	atomic_bool abandon;
	/* Written by the thread, read after it. */
	int rc;
	struct err err;
	long status;
};

/* The token is read from its file here and kept nowhere. */
void alert_send(struct alert_message *message);

/*
 * TOLD: it has it. FAILED: it may take the same later. REFUSED: it will not take this one (400, 413, 415, 422), whenever
 * it is sent. PURE.
 */
enum alert_outcome { ALERT_TOLD = 0, ALERT_FAILED, ALERT_REFUSED };
enum alert_outcome alert_outcome_of(int rc, long status);

#endif
