/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bankfull-collector init-tls`: the authority of an installation, made once and kept in a Secret of Kubernetes (ca.crt,
 * ca.key), its certificate also in a ConfigMap (ca.crt) for agents. One that is there is kept, so that an upgrade breaks no
 * agent. Runs in a pod, with its service account.
 */
#ifndef COLLECTOR_INIT_TLS_H
#define COLLECTOR_INIT_TLS_H

#include "base/buf.h"
#include "base/err.h"

struct init_tls_options {
	const char *secret, *config_map;
	bool remove; /* take both away */
	/* NULL: as a pod finds them */
	const char *api, *api_ca_file, *api_token_file, *namespace_;
};

enum { INIT_TLS_DAYS = 3650 };

/* `said`: one line for each thing that was done. USAGE: a name; DENIED: the service account may not; ... */
int init_tls(const struct init_tls_options *options, int64_t now_s, struct buf *said, struct err *err)
	__attribute__((warn_unused_result));

#endif
