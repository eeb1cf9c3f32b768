/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector's own certificate where it has an authority of its own (--tls-ca): written to --tls-cert and --tls-key,
 * which the listeners read again when they change, and anew while a third of its life is left. Its key never leaves them.
 */
#ifndef COLLECTOR_LEAF_H
#define COLLECTOR_LEAF_H

#include "bankfull/quantity.h"
#include "base/err.h"
#include "config/collectorconf.h"

enum { LEAF_DAYS = 90, LEAF_CHECK_MS = 600 * 1000 };

/* Looks, and makes one where it is due. `*ret_made`: it did. USAGE, MALFORMED: the authority or the names. */
int leaf_keep(const struct collectorconf *conf, struct wall now, bool *ret_made, struct err *err)
	__attribute__((warn_unused_result));

#endif
