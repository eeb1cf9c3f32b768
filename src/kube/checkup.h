/* SPDX-License-Identifier: Apache-2.0 */
/* What can be told of a pod from its description and status: does its sidecar run, and will it see the JVM. Pure. */
#ifndef KUBE_CHECKUP_H
#define KUBE_CHECKUP_H

#include "base/buf.h"
#include "base/err.h"

/* What was looked at, and how it stands. `fix` is said where it does not stand well. */
enum checkup_state { CHECKUP_OK, CHECKUP_NOTE, CHECKUP_BAD };
struct checkup {
	struct buf *out;
	unsigned n_bad;
};

/* "ok    token: ...", "bad   token: ...\n      fix: ..."; escaped. */
void checkup_say(struct checkup *checkup, enum checkup_state state, const char *what, const char *fix,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* `json`: a Pod as the API server has it. MALFORMED: it is none. `*ret_running`: the sidecar can be asked. */
int checkup_pod(struct checkup *checkup, struct str json, bool *ret_running, struct err *err)
	__attribute__((warn_unused_result));

/* `minor` of the server's version, and the text of /apis/admissionregistration.k8s.io/v1 ("" where it was not got). */
void checkup_server(struct checkup *checkup, unsigned minor, struct str admission);

#endif
