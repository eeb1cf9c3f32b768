/* SPDX-License-Identifier: Apache-2.0 */
/* A token that is renewed while the agent is connected, or is not. */
#include <inttypes.h>

#include "agent/outbox_parts.h"
#include "sys/clock.h"

static void say_stale(struct outbox *outbox, struct wall now)
{
	struct credential *credential = &outbox->credential;
	int64_t left_s = (credential->expires.ms - now.ms) / 1000;
	if (credential->said_stale)
		return;
	credential->said_stale = true;
	logger_say(outbox->log, SAY_WARNING, "token-stale",
		   "%s: the token %s %" PRId64
		   " s%s and nobody has renewed it: the kubelet does so at four fifths of its "
		   "life, but not through a subPath mount or a copy; mount the volume itself",
		   credential->path, left_s < 0 ? "expired" : "expires in", left_s < 0 ? -left_s : left_s,
		   left_s < 0 ? " ago," : ",");
}

/* As renew() does for a subject: nothing is lost by it, and only while nothing waits. */
static void show_fresh(struct outbox *outbox)
{
	struct outbox_counts counts;
	if (outbox->stopping || outbox->uplink.state != UPLINK_UP)
		return;
	outbox_count(outbox, &counts);
	if (counts.spooled_messages)
		return;
	logger_say(outbox->log, SAY_DEBUG, "token-renewed",
		   "the session is begun anew with the token that is there now");
	outbox->uplink.cycle = true;
	wsclient_close(outbox->client, 1000, "come again");
}

bool outbox_has_fresh_token(const struct outbox *outbox)
{
	enum credential_state state = credential_look(&outbox->credential, clock_wall());
	return state == CREDENTIAL_FRESH || state == CREDENTIAL_RENEW;
}

void outbox_tend_token(struct outbox *outbox)
{
	struct wall now = clock_wall();
	enum credential_state state = credential_look(&outbox->credential, now);
	if (state == CREDENTIAL_STALE)
		say_stale(outbox, now);
	else if (state != CREDENTIAL_WELL && outbox->denied && !outbox->attempting && !outbox->stopping)
		/* It waits for minutes because the last one was refused. */
		loop_timer_set(outbox->again, outbox_chance() % outbox->uplink.options.backoff_min_ms);
	else if (state == CREDENTIAL_RENEW)
		show_fresh(outbox);
}
