/* SPDX-License-Identifier: Apache-2.0 */
/* How a session ended, and when to come again. */
#include <stdio.h>

#include "agent/uplink.h"
#include "sys/clock.h"
#include "wire/wire.h"

enum {
	BLAMES_MAX = 2,
	LONG_FACTOR = 5,          /* of the longest backoff, where waiting alone mends nothing */
	DELAY_LEAST_MS = 10,      /* even by chance not at once */
	WS_PROTOCOL_ERROR = 1002, /* RFC 6455, 7.4.1 */
	WS_INVALID_DATA = 1007,
	WS_TOO_BIG = 1009,
};

enum end { END_PLAIN, END_LASTING, END_DENIED, END_PROTOCOL, END_RATE };

static enum end of_refusal(const struct wsclient_ended *ended, const char **advice)
{
	switch (ended->http_status) {
	case 401:
		*advice = "the collector does not know this agent: its token is missing, wrong or expired";
		return END_DENIED;
	case 403:
		*advice =
			"the collector refuses this agent: its namespace or service account is none of --allow-agents";
		return END_DENIED;
	case 404:
	case 400:
	case 426:
		*advice = "no collector answers at this URL: the path is /agent, and a proxy must pass WebSockets on";
		return END_PLAIN; /* or the proxy of a collector that is on its way up */
	default:
		*advice = "";
		return END_PLAIN;
	}
}

static enum end of_close(unsigned code, const char **advice)
{
	*advice = "";
	switch (code) {
	case WIRE_CLOSE_REPLACED:
		*advice = "another agent speaks under this one's identity: give each its own token or certificate";
		return END_LASTING;
	case WIRE_CLOSE_DENIED:
		*advice = "the collector no longer accepts this agent's token or certificate";
		return END_DENIED;
	case WIRE_CLOSE_PROTOCOL:
	case WIRE_CLOSE_SIZE:
	case WS_PROTOCOL_ERROR:
	case WS_INVALID_DATA:
	case WS_TOO_BIG:
		return END_PROTOCOL;
	case WIRE_CLOSE_RATE:
		return END_RATE;
	default:
		return END_PLAIN;
	}
}

static enum end of_error(enum wire_error_code code, const char **advice)
{
	static const unsigned closes[WIRE_ERR_COUNT] = {
		[WIRE_ERR_MALFORMED] = WIRE_CLOSE_PROTOCOL, [WIRE_ERR_TYPE] = WIRE_CLOSE_PROTOCOL,
		[WIRE_ERR_SEQUENCE] = WIRE_CLOSE_PROTOCOL,  [WIRE_ERR_STATE] = WIRE_CLOSE_PROTOCOL,
		[WIRE_ERR_SIZE] = WIRE_CLOSE_SIZE,          [WIRE_ERR_RATE] = WIRE_CLOSE_RATE,
		[WIRE_ERR_STORE] = WIRE_CLOSE_STORE,        [WIRE_ERR_REPLACED] = WIRE_CLOSE_REPLACED,
	};
	return of_close(closes[code], advice);
}

static enum end judge(const struct uplink *uplink, const struct wsclient_ended *ended, const char **advice)
{
	*advice = "";
	if (ended->end == WSCLIENT_REFUSED)
		return of_refusal(ended, advice);
	if (ended->end != WSCLIENT_CLOSED)
		return END_PLAIN;
	enum end end = of_close(ended->close_code, advice);
	/* The close may not have reached us, what it was for did. */
	return end == END_PLAIN && uplink->heard_error ? of_error(uplink->error, advice) : end;
}

/*
 * Full jitter (Brooker, "Exponential Backoff And Jitter", 2015): anything up to the bound, so that ten thousand agents
 * of a collector that was restarted do not come as one.
 */
static uint64_t delay(const struct uplink *uplink, enum end end, const struct wsclient_ended *ended, uint64_t chance)
{
	uint64_t least = DELAY_LEAST_MS, most = uplink->options.backoff_max_ms;
	if (uplink->cycle) {
		most = uplink->options.backoff_min_ms;
	} else if (end == END_LASTING) {
		least = most;
		most *= LONG_FACTOR;
	} else {
		unsigned doublings = uplink->attempts ? uplink->attempts - 1 : 0;
		uint64_t bound = doublings < 20 ? (uint64_t)uplink->options.backoff_min_ms << doublings : most;
		most = bound < most ? bound : most;
	}
	if (ended->end == WSCLIENT_REFUSED && ended->retry_after_s) {
		uint64_t after_s = ended->retry_after_s < UPLINK_RETRY_AFTER_MAX_S ? ended->retry_after_s
										   : UPLINK_RETRY_AFTER_MAX_S;
		/* Not before, and not all in that second. */
		least = after_s * 1000 > least ? after_s * 1000 : least;
		most = least + (most > least / 4 ? most : least / 4);
	}
	return least + (most > least ? chance % (most - least + 1) : 0);
}

/* Two sessions that sent nothing behind this message ended at it. */
static void blame(struct uplink *uplink)
{
	struct spool_epoch *epoch = spool_find(uplink->options.spool, uplink->last_sent.epoch);
	bool was_careful = uplink->careful;
	uplink->careful = true;
	uplink->careful_acks = 0;
	if (!was_careful || uplink->last_sent.seq == 0 || !epoch || epoch->index.acked >= uplink->last_sent.seq)
		return;
	bool again = uplink->blamed.seq == uplink->last_sent.seq &&
		     wire_epoch_same(uplink->blamed.epoch, uplink->last_sent.epoch);
	uplink->blames = again ? uplink->blames + 1 : 1;
	uplink->blamed = uplink->last_sent;
	if (uplink->blames < BLAMES_MAX)
		return;
	spool_refuse(uplink->options.spool, epoch, uplink->blamed.seq, SPOOL_UNWRITABLE);
	uplink->refused_total++;
	uplink->blames = 0;
}

void uplink_ended(struct uplink *uplink, struct mono now, const struct wsclient_ended *ended, uint64_t chance,
		  struct uplink_ended *ret_ended)
{
	const char *advice;
	enum end end = judge(uplink, ended, &advice);
	uint64_t refused = uplink->refused_total;
	bool denied = end == END_DENIED;
	if (denied && uplink->fresh)
		advice = "a fresher token is there by now";
	if (denied)
		end = uplink->fresh ? END_PLAIN : END_LASTING;
	if (uplink->state == UPLINK_UP && mono_ms_until(uplink->opened, now) >= UPLINK_STABLE_MS)
		uplink->attempts = 0;
	if (!uplink->cycle)
		uplink->attempts++;
	if (ended->end != WSCLIENT_CLOSED)
		uplink->failed_connects_total++;
	if (end == END_PROTOCOL)
		blame(uplink);
	if (end == END_RATE)
		uplink->own_window = uplink->own_window / 2 ? uplink->own_window / 2 : 1;
	struct uplink_ended e = { .delay_ms = delay(uplink, end, ended, chance),
				  .lasting = end == END_LASTING,
				  .denied = denied };
	e.event = ended->end == WSCLIENT_REFUSED     ? "collector-refuses"
		  : ended->end == WSCLIENT_UNREACHED ? "collector-unreached"
						     : "collector-closed";
	(void)snprintf(e.text, sizeof e.text, "%s%s%s%s", ended->why, advice[0] ? ": " : "", advice,
		       uplink->refused_total > refused ? "; the message it ended at twice is left out" : "");
	uplink->state = UPLINK_DOWN;
	uplink->cycle = false;
	*ret_ended = e;
}
