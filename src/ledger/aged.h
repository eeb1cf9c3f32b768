/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Books between two scans: PURE, no allocation.
 *
 * Who owns which byte is known at a smaps scan only. Between scans the cgroup's counters are fresh: limit, charge, floor,
 * freeboard and the groups come from them, the lines stay those of the scan with their age, and what a group has grown
 * since stands beside it. Were old mappings set against new counters, all growth would seem to be other processes'.
 */
#ifndef LEDGER_AGED_H
#define LEDGER_AGED_H

#include "bankfull/ledger.h"
#include "bankfull/snapshot.h"

enum { AGED_DERIVED_MS = 600000 };

/* The books as closed at a scan. {0}: there was none yet. */
struct aged_mark {
	bool known;
	struct ledger ledger;
	struct qty rss_anon_bytes;
};

/* The ledger of `snapshot` was closed just now. */
void aged_keep(const struct snapshot *snapshot, const struct ledger *ledger, struct aged_mark *ret_mark);

/*
 * Lines of a scan older than AGED_DERIVED_MS are no longer measured but derived: scans then are not merely paid for slowly (at
 * most eight intervals of 30 s), they are refused, and who owned what at the last one is a guess at who owns it now.
 *
 * `ledger` is recon_run()'s of a snapshot whose mappings are those of the mark: put the mark's lines in place of its own,
 * `age_ms` old. Where there is no cgroup, the floor is the scan's and what RssAnon has moved since, inferred.
 */
void aged_apply(const struct aged_mark *mark, const struct snapshot *snapshot, uint32_t age_ms, struct ledger *ledger);

/* What the counter of each group has moved since the mark; unknown where either was not read. */
void aged_grown(const struct aged_mark *mark, const struct ledger *ledger, struct signed_qty ret_grown[GROUP_COUNT]);

#endif
