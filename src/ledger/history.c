/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of ticks and scans, and when it is thrown away. historyfit.c makes something of it. */
#include "ledger/history.h"

#include <string.h>

#include "ledger/historyparts.h"

size_t history_size(void)
{
	return sizeof(struct history);
}

void history_start(struct history *history)
{
	memset(history, 0, sizeof *history);
}

static void figure_clear(struct history_figure *figure)
{
	trend_clear(&figure->close);
	trend_clear(&figure->brief);
	trend_clear(&figure->whole);
	figure->pushed = figure->fitted_first = figure->fitted_last = figure->brief_last = (struct mono){ 0 };
}

static void owners_clear(struct history *history)
{
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		figure_clear(&history->owners[owner]);
	history->peak_other_bytes = (struct count){ 0 };
}

/* The short window goes on. */
static void figure_shorten(struct history_figure *figure)
{
	struct trend_series close = figure->close;
	figure_clear(figure);
	figure->close = close;
}

static void begin_windows(struct history *history, struct mono from, void (*begin)(struct history_figure *))
{
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		begin(&history->owners[owner]);
	begin(&history->floor);
	begin(&history->pool);
	begin(&history->threads);
	begin(&history->metaspace);
	begin(&history->classes);
	memset(history->events, 0, sizeof history->events);
	history->scans = 0;
	history->window_start = from;
	history->fit_now = true;
}

/* Another limit: the pace of the last minutes goes on below it, and what is told of days was told of another room. */
static void shorten(struct history *history, struct mono from)
{
	begin_windows(history, from, figure_shorten);
}

/* What was before tells nothing of what comes. */
static void cut(struct history *history, struct mono from)
{
	begin_windows(history, from, figure_clear);
	history->peak_other_bytes = (struct count){ 0 };
	memset(&history->refaults, 0, sizeof history->refaults);
	memset(&history->hits, 0, sizeof history->hits);
	memset(&history->misses, 0, sizeof history->misses);
	history->metaspace_source = history->classes_source = 0;
	history->n_recent = history->n_slots = history->next_slot = 0;
	history->books_known = false;
	history->close_start = from;
}

static void close_push(struct trend_series *close, struct mono now, uint64_t value)
{
	if (close->n && now.ns < close->points[close->n - 1].at.ns + history_ns(HISTORY_CLOSE_SPACING_S))
		return;
	trend_slide(close, now, value);
	if (now.ns > history_ns(HISTORY_CLOSE_S))
		trend_forget(close, (struct mono){ now.ns - history_ns(HISTORY_CLOSE_S) });
}

static void figure_push(const struct history *history, struct history_figure *figure, struct mono now, uint64_t value)
{
	close_push(&figure->close, now, value);
	if (now.ns < history->window_start.ns)
		return;
	if (figure->brief.n && now.ns < figure->pushed.ns + history_ns(HISTORY_SPACING_S))
		return;
	figure->pushed = now;
	trend_slide(&figure->brief, now, value);
	trend_push(&figure->whole, now, value);
	if (now.ns > history_ns(HISTORY_WHOLE_S))
		trend_forget(&figure->whole, (struct mono){ now.ns - history_ns(HISTORY_WHOLE_S) });
}

/* Rules of growth wait until `s` seconds from now. */
static void hold(struct history *history, struct mono now, uint64_t s)
{
	if (history->settled_at.ns <= now.ns)
		history->hold_since = now;
	if (history->settled_at.ns < now.ns + history_ns(s))
		history->settled_at.ns = now.ns + history_ns(s);
}

static void event(struct history *history, struct mono now, enum history_event kind)
{
	struct history_events *events = &history->events[kind];
	struct history_step *last = events->n ? &events->steps[events->n - 1] : NULL;
	bool merged = events->count && now.ns < events->last.ns + history_ns(STEP_MERGE_S);
	events->count++;
	events->last = now;
	if (merged)
		return;
	uint64_t recent[HISTORY_RECENT];
	memcpy(recent, history->recent, sizeof recent);
	bool known = history->n_recent >= 3;
	uint64_t level = known ? trend_median(recent, history->n_recent) : 0;
	if (last && !last->has_after && last->scans >= 3 && known) {
		last->after = level;
		last->has_after = true;
	}
	if (events->n == STEP_EVENTS_MAX) {
		memmove(events->steps, events->steps + 1, (STEP_EVENTS_MAX - 1) * sizeof events->steps[0]);
		events->n--;
	}
	events->steps[events->n++] = (struct history_step){ .at = now, .before = level, .has_before = known };
	history->fit_now = true;
}

/* A job that starts or restarts. Its counter lives as long as the job does: a change either way is another attempt. */
static void notice_restart(struct history *history, struct mono now, const struct engine_context *context,
			   bool page_read)
{
	const struct count *before = &history->context.restarts;
	if (!context->restarts.known) {
		history->tasks_gone |= page_read && before->known;
		return;
	}
	bool changed = before->known && before->n != context->restarts.n;
	if (!changed && !history->tasks_gone)
		return;
	history->tasks_gone = false;
	event(history, now, EVENT_RESTART);
	hold(history, now, SETTLE_RESTART_S);
}

static void notice_context(struct history *history, struct mono now, const struct engine_context *context,
			   bool page_read)
{
	struct engine_context *before = &history->context;
	notice_restart(history, now, context, page_read);
	if (context->rebalancing == TRISTATE_TRUE) {
		if (before->rebalancing != TRISTATE_TRUE)
			event(history, now, EVENT_REBALANCE);
		hold(history, now, SETTLE_REBALANCE_S);
	}
	if (context->checkpointing == TRISTATE_TRUE && before->checkpointing == TRISTATE_FALSE)
		event(history, now, EVENT_CHECKPOINT);
	if (context->restoring == TRISTATE_TRUE) {
		hold(history, now, SETTLE_RESTORE_S);
		history->hold_since = now; /* a restore lasts as long as it lasts, and shows its end */
	}
	struct count restarts = before->restarts;
	*before = *context;
	if (!context->restarts.known)
		before->restarts = restarts;
}

static bool same_limit(const struct limit *a, const struct limit *b)
{
	return a->kind == b->kind && (a->kind != LIMIT_SET || a->bytes == b->bytes);
}

static void notice_limit(struct history *history, struct mono now, const struct limit *limit)
{
	if (limit->kind == LIMIT_UNREAD || same_limit(limit, &history->limit))
		return;
	if (history->limit.kind != LIMIT_UNREAD) {
		history->limit_before = history->limit;
		history->limit_changed = now;
		history->limit_has_changed = true;
		shorten(history, now);
		event(history, now, EVENT_LIMIT);
	}
	history->limit = *limit;
}

/* When the process started, on the clock of `now`: the kernel counts it in hundredths of a second (USER_HZ) since boot. */
static struct mono started_at(const struct snapshot *snapshot, struct mono now)
{
	uint64_t ns;
	if (__builtin_mul_overflow(snapshot->process.start_ticks, (uint64_t)10000000, &ns) || ns > now.ns)
		return (struct mono){ 0 };
	return (struct mono){ ns };
}

static void notice_process(struct history *history, struct mono now, const struct snapshot *snapshot)
{
	const struct process_id *process = &snapshot->process;
	if (history->started && process->pid == history->process.pid &&
	    process->start_ticks == history->process.start_ticks)
		return;
	struct mono start = history->started ? now : started_at(snapshot, now);
	struct limit limit = history->limit;
	/* The long windows begin when the start has settled: a heap that fills and caches that warm up are no trend. */
	struct mono settled = { start.ns + history_ns(SETTLE_START_S) };
	bool settles = start.ns && settled.ns > now.ns;
	history_start(history);
	history->started = true;
	history->process = *process;
	history->limit = limit;
	history->last_tick = now;
	cut(history, settles ? settled : now);
	if (settles) {
		history->close_start.ns =
			start.ns + history_ns(BOOT_S) > now.ns ? start.ns + history_ns(BOOT_S) : now.ns;
		history->hold_since = now;
		history->settled_at = settled;
		event(history, now, EVENT_JVM_START);
	}
}

static void rate_push(struct history_rate *rate, struct mono now, const struct count *counter)
{
	if (!counter->known)
		return;
	if (rate->n && counter->n < rate->value[rate->n - 1])
		rate->n = 0; /* another cgroup, another database: it counts anew */
	if (rate->n && now.ns < rate->at[rate->n - 1].ns + history_ns(HISTORY_SLOT_S))
		return;
	if (rate->n == HISTORY_RATES) {
		memmove(rate->at, rate->at + 1, (HISTORY_RATES - 1) * sizeof rate->at[0]);
		memmove(rate->value, rate->value + 1, (HISTORY_RATES - 1) * sizeof rate->value[0]);
		rate->n--;
	}
	rate->at[rate->n] = now;
	rate->value[rate->n++] = counter->n;
}

static void slot_push(struct history *history, struct mono now, uint64_t floor)
{
	size_t last = history_slot(history, 0);
	if (history->n_slots && now.ns < history->slot_at[last].ns + history_ns(HISTORY_SLOT_S)) {
		history->slot[last] = floor > history->slot[last] ? floor : history->slot[last];
		return;
	}
	history->slot_at[history->next_slot] = now;
	history->slot[history->next_slot] = floor;
	history->next_slot = (history->next_slot + 1) % HISTORY_SLOTS;
	history->n_slots += history->n_slots < HISTORY_SLOTS;
}

void history_tick(struct history *history, struct mono now, const struct snapshot *snapshot,
		  const struct ledger *ledger, const struct engine_context *context)
{
	notice_process(history, now, snapshot);
	if (history_since_s(history->last_tick, now) > HISTORY_GAP_S)
		cut(history, now);
	history->last_tick = now;
	notice_limit(history, now, &ledger->limit);
	notice_context(history, now, context, snapshot->metrics_read);
	rate_push(&history->refaults, now, &snapshot->cgroup.stat.workingset_refault_file);
	rate_push(&history->hits, now, &snapshot->engine.rocksdb.cache_hits);
	rate_push(&history->misses, now, &snapshot->engine.rocksdb.cache_misses);
	if (now.ns < history->close_start.ns)
		return;
	if (qty_known(ledger->floor_bytes)) {
		figure_push(history, &history->floor, now, ledger->floor_bytes.bytes);
		slot_push(history, now, ledger->floor_bytes.bytes);
		history->fit_due = true;
	}
	if (snapshot->status.n_threads.known)
		figure_push(history, &history->threads, now, snapshot->status.n_threads.n);
}

/* The owners of anon whose bytes stand in native-other because they are unread. */
static uint64_t unread_of(const struct ledger *ledger)
{
	uint64_t mask = 0;
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		if (owner_table[owner].group == GROUP_ANON && ledger->listed[owner] &&
		    !qty_known(ledger->lines[owner].bytes))
			mask |= (uint64_t)1 << owner;
	return mask;
}

/*
 * False where this scan reads another set of owners than the window has: native-other then holds other bytes. One
 * attach that timed out is left out; a new state of things begins the owners' windows anew.
 */
static bool same_books(struct history *history, struct mono now, const struct ledger *ledger)
{
	uint64_t mask = unread_of(ledger);
	unsigned patience = now.ns < history->window_start.ns ? MASK_SCANS_AT_START : MASK_SCANS;
	if (!history->books_known)
		history->unread_mask = mask;
	history->books_known = true;
	if (mask == history->unread_mask) {
		history->other_mask_scans = 0;
		return true;
	}
	if (mask != history->other_mask)
		history->other_mask_scans = 0;
	history->other_mask = mask;
	if (++history->other_mask_scans < patience)
		return false;
	history->other_mask_scans = 0;
	history->unread_mask = mask;
	owners_clear(history);
	return true;
}

static void scan_owners(struct history *history, struct mono now, const struct ledger *ledger)
{
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		if (ledger->listed[owner] && qty_known(ledger->lines[owner].bytes))
			figure_push(history, &history->owners[owner], now, ledger->lines[owner].bytes.bytes);
	for (size_t i = 0; i < ledger->expected.n_parts; i++) {
		const struct demand_part *part = &ledger->expected.parts[i];
		if (!(part->owners >> OWNER_NATIVE_OTHER & 1))
			continue;
		uint64_t resident = part->bytes / 11 * 10; /* the part is 1.1 x of it */
		if (!history->peak_other_bytes.known || resident > history->peak_other_bytes.n)
			history->peak_other_bytes = count_of(resident);
	}
}

/* A figure that several sources tell, which differ: the best one seen in this window, and no other. */
static void push_best(const struct history *history, struct history_figure *figure, int *source, struct mono now,
		      const struct count *values, int n)
{
	for (int i = 0; i < n; i++) {
		int rank = n - i; /* 0: none yet */
		if (!values[i].known)
			continue;
		if (rank > *source) {
			figure_clear(figure);
			*source = rank;
		}
		if (rank == *source)
			figure_push(history, figure, now, values[i].n);
		return;
	}
}

static struct count bytes_count(struct qty q)
{
	return (struct count){ q.bytes, qty_known(q) };
}

static void scan_classes(struct history *history, struct mono now, const struct snapshot *snapshot,
			 const struct ledger *ledger)
{
	const struct jvm_perf *perf = &snapshot->perf;
	const struct ledger_line *line = &ledger->lines[OWNER_METASPACE];
	const struct count metaspace[] = {
		bytes_count(snapshot->engine.gauges.metaspace_used_bytes),
		bytes_count(qty_add(perf->metaspace_used_bytes, perf->class_space_used_bytes)),
		bytes_count(qty_add(snapshot->nmt.metadata_used_bytes, snapshot->nmt.class_space_used_bytes)),
		bytes_count(ledger->listed[OWNER_METASPACE] ? line->bytes : (struct qty){ 0 }),
	};
	struct count loaded = perf->classes_loaded;
	if (loaded.known && perf->classes_unloaded.known && perf->classes_unloaded.n <= loaded.n)
		loaded.n -= perf->classes_unloaded.n;
	const struct count classes[] = { snapshot->engine.gauges.classes_loaded, loaded, snapshot->nmt.n_classes };
	push_best(history, &history->metaspace, &history->metaspace_source, now, metaspace, 4);
	push_best(history, &history->classes, &history->classes_source, now, classes, 3);
}

static void scan_pool(struct history *history, struct mono now, uint64_t pool)
{
	figure_push(history, &history->pool, now, pool);
	if (now.ns < history->window_start.ns)
		return;
	if (history->n_recent == HISTORY_RECENT) {
		memmove(history->recent, history->recent + 1, (HISTORY_RECENT - 1) * sizeof history->recent[0]);
		history->n_recent--;
	}
	history->recent[history->n_recent++] = pool;
	for (int kind = 0; kind < EVENT_KIND_COUNT; kind++) {
		struct history_events *events = &history->events[kind];
		struct history_step *last = events->n ? &events->steps[events->n - 1] : NULL;
		if (!last || ++last->scans < HISTORY_RECENT || history_since_s(last->at, now) < STEP_SETTLE_S)
			continue;
		uint64_t recent[HISTORY_RECENT];
		memcpy(recent, history->recent, sizeof recent);
		uint64_t level = trend_median(recent, HISTORY_RECENT);
		/* What comes with the event and goes again, buffers of a restore, is no step. */
		last->after = last->has_after && last->after < level ? last->after : level;
		last->has_after = true;
	}
}

/* A minute is long for what fills the room in five: a scan that shows that the floor has moved is looked at at once. */
static bool has_moved(const struct history *history, struct mono now, const struct ledger *ledger)
{
	uint64_t floor = qty_or(ledger->floor_bytes, 0), then = history->fitted_floor;
	if (ledger->limit.kind != LIMIT_SET || history_since_s(history->fitted, now) < HISTORY_FIT_SOONEST_S)
		return false;
	return (floor > then ? floor - then : then - floor) > ledger->limit.bytes / HISTORY_MOVED_SHARE;
}

void history_scan(struct history *history, struct mono now, const struct snapshot *snapshot,
		  const struct ledger *ledger)
{
	if (now.ns < history->close_start.ns)
		return;
	if (same_books(history, now, ledger))
		scan_owners(history, now, ledger);
	scan_classes(history, now, snapshot, ledger);
	if (qty_known(ledger->native_pool_bytes))
		scan_pool(history, now, ledger->native_pool_bytes.bytes);
	history->scans += now.ns >= history->window_start.ns;
	history->fit_due = true;
	history->fit_now |= has_moved(history, now, ledger);
}
