/* SPDX-License-Identifier: Apache-2.0 */
#include "support/wiremsg.h"

#include <stdio.h>
#include <string.h>

enum { MOST_BITS = 53 }; /* numbers end at 2^53 - 1 */

struct maker {
	struct prng *prng;
	bool wild;
};

static bool maybe(struct maker *m)
{
	return prng_one_in(m->prng, 2);
}

static uint64_t number(struct maker *m, uint64_t least)
{
	if (m->wild && prng_one_in(m->prng, 4))
		return prng_size(m->prng, true);
	uint64_t n = prng_u64(m->prng) >> (64 - 1 - prng_below(m->prng, MOST_BITS));
	return n < least ? least : n;
}

static struct qty qty(struct maker *m)
{
	if (maybe(m))
		return (struct qty){ 0 };
	return qty_of(number(m, 0), (enum qty_state)(1 + prng_below(m->prng, QTY_STATE_COUNT - 1)));
}

static struct signed_qty signed_qty(struct maker *m)
{
	if (maybe(m))
		return (struct signed_qty){ 0 };
	int64_t n = (int64_t)number(m, 0);
	return (struct signed_qty){ maybe(m) && n > INT64_MIN ? -n : n, true };
}

static struct count count(struct maker *m)
{
	return maybe(m) ? (struct count){ 0 } : count_of(number(m, 0));
}

static struct wall wall(struct maker *m)
{
	if (m->wild && prng_one_in(m->prng, 10))
		return (struct wall){ (int64_t)prng_u64(m->prng) };
	return (struct wall){ (int64_t)prng_below(m->prng, 253402300800000) };
}

static uint32_t u32(struct maker *m)
{
	return maybe(m) ? (uint32_t)prng_u64(m->prng) : 0;
}

static struct wire_epoch epoch(struct maker *m)
{
	struct wire_epoch epoch;
	for (size_t i = 0; i < sizeof epoch.bytes; i++)
		epoch.bytes[i] = (uint8_t)prng_u64(m->prng);
	return epoch;
}

/* Letters, and what JSON has to escape, and two and three bytes a letter. */
static void text(struct maker *m, char *dest, size_t cap, bool required)
{
	static const char *const letters[] = {
		"a",  "Z",  "0",    "-",    "/",        " ",        "\"",           "\\",
		"\n", "\t", "\x01", "\x7f", "\xc3\xa9", "\xc2\x85", "\xe2\x82\xac", "\xf0\x9f\x98\x80"
	};
	size_t len = 0, want = maybe(m) ? prng_below(m->prng, cap) : prng_below(m->prng, 12);
	if (required && want == 0)
		want = 1;
	memset(dest, 0, cap);
	if (required)
		dest[len++] = 'r';
	while (len < want) {
		const char *letter = letters[prng_below(m->prng, sizeof letters / sizeof letters[0])];
		if (len + strlen(letter) >= cap)
			break;
		memcpy(dest + len, letter, strlen(letter));
		len += strlen(letter);
		if (m->wild && prng_one_in(m->prng, 8) && len + 1 < cap)
			dest[len++] = (char)(0x80 + prng_below(m->prng, 128));
	}
}

static int owner(struct maker *m)
{
	return (int)prng_below(m->prng, OWNER_COUNT + 1) - 1;
}

static void head(struct maker *m, struct wire_head *ret)
{
	*ret = (struct wire_head){ epoch(m), number(m, 1), number(m, 0), wall(m) };
}

static void subject(struct maker *m, struct wire_subject *s)
{
	text(m, s->cluster, sizeof s->cluster, false);
	text(m, s->namespace_, sizeof s->namespace_, false);
	text(m, s->workload, sizeof s->workload, false);
	s->role = (enum wire_role)prng_below(m->prng, ROLE_COUNT);
	text(m, s->pod, sizeof s->pod, false);
	text(m, s->pod_uid, sizeof s->pod_uid, false);
	text(m, s->node, sizeof s->node, false);
	text(m, s->container, sizeof s->container, false);
	s->n_jobs = prng_below(m->prng, WIRE_JOBS_MAX + 1);
	for (size_t i = 0; i < s->n_jobs; i++)
		text(m, s->jobs[i], sizeof s->jobs[i], false);
	s->n_labels = prng_below(m->prng, WIRE_LABELS_MAX + 1);
	for (size_t i = 0; i < s->n_labels; i++) {
		text(m, s->labels[i].key, sizeof s->labels[i].key - 1, false);
		if (!m->wild) { /* one name once */
			memmove(s->labels[i].key + 1, s->labels[i].key, sizeof s->labels[i].key - 1);
			s->labels[i].key[0] = (char)('a' + i);
		}
		text(m, s->labels[i].value, sizeof s->labels[i].value, false);
	}
}

static void hello(struct maker *m, struct wire_hello *h)
{
	subject(m, &h->subject);
	text(m, h->program, sizeof h->program, false);
	text(m, h->jdk, sizeof h->jdk, false);
	text(m, h->engine, sizeof h->engine, false);
	h->mono_ms = number(m, 0);
	h->wall = wall(m);
	h->n_epochs = 1 + prng_below(m->prng, WIRE_EPOCHS_MAX);
	for (size_t i = 0; i < h->n_epochs; i++)
		h->epochs[i] = (struct wire_held){ epoch(m), number(m, 1), number(m, 0) };
}

static void context(struct maker *m, struct engine_context *c)
{
	text(m, c->job_state, sizeof c->job_state, false);
	c->checkpointing = (enum tristate)prng_below(m->prng, 3);
	c->restoring = (enum tristate)prng_below(m->prng, 3);
	c->rebalancing = (enum tristate)prng_below(m->prng, 3);
	c->backpressured_bp = count(m);
	c->busy_bp = count(m);
	c->records_lag_max = count(m);
	c->restarts = count(m);
}

static void limit(struct maker *m, struct limit *ret)
{
	ret->kind = (enum limit_kind)prng_below(m->prng, 3);
	if (ret->kind == LIMIT_SET)
		ret->bytes = number(m, 0);
}

static void books(struct maker *m, struct wire_books *b)
{
	for (int i = 0; i < OWNER_COUNT; i++) {
		limit(m, &b->bounds[i]);
		b->claims[i] = qty(m);
	}
	b->unread = prng_u64(m->prng);
	if (!m->wild)
		b->unread &= ((uint64_t)1 << OWNER_COUNT) - 1;
	b->legal_bytes = qty(m);
	struct engine_facts *e = &b->engine;
	e->backend = (enum state_backend)prng_below(m->prng, BACKEND_COUNT);
	e->batch = (enum tristate)prng_below(m->prng, 3);
	e->python = (enum tristate)prng_below(m->prng, 3);
	e->managed_reserved_bytes = qty(m);
	e->network_bytes = qty(m);
	e->framework_off_heap_bytes = qty(m);
	e->task_off_heap_bytes = qty(m);
	e->network_pool_bytes = qty(m);
	e->streams_instances = count(m);
	b->n_budgets = prng_below(m->prng, LEDGER_BUDGETS_MAX + 1);
	for (size_t i = 0; i < b->n_budgets; i++) {
		struct wire_budget *budget = &b->budgets[i];
		text(m, budget->name, sizeof budget->name, true);
		budget->bytes = qty(m);
		budget->used_bytes = qty(m);
		budget->owners = prng_u64(m->prng) & (((uint64_t)1 << OWNER_COUNT) - 1);
	}
}

static void sample(struct maker *m, struct wire_sample *s)
{
	head(m, &s->head);
	s->interval_ms = u32(m);
	s->urgent = maybe(m);
	s->pid = (int)prng_below(m->prng, 4194304);
	s->start_ticks = number(m, 0);
	s->access = (enum access_level)prng_below(m->prng, ACCESS_COUNT);
	limit(m, &s->limit);
	s->limit_told = maybe(m);
	s->charge_bytes = qty(m);
	s->floor_bytes = qty(m);
	s->swap_bytes = qty(m);
	s->expected_bytes = qty(m);
	s->freeboard_bytes = signed_qty(m);
	s->freeboard_level = (enum freeboard_level)prng_below(m->prng, FREEBOARD_LEVEL_COUNT);
	for (int i = 0; i < GROUP_COUNT; i++) {
		s->groups[i] = qty(m);
		s->grown_since_scan[i] = signed_qty(m);
	}
	s->events = (struct cgroup_events){ count(m), count(m), count(m), count(m), count(m), count(m) };
	s->some_avg10_bp = count(m);
	s->full_avg10_bp = count(m);
	s->refaults_file = count(m);
	s->has_composition = maybe(m);
	if (s->has_composition) {
		s->composition_age_ms = u32(m);
		for (int i = 0; i < OWNER_COUNT; i++)
			s->owners[i] = qty(m);
		s->residual_bytes = signed_qty(m);
		s->has_books = maybe(m);
		if (s->has_books)
			books(m, &s->books);
	}
	s->forecast.owner = -1;
	if (maybe(m)) {
		text(m, s->forecast.kind, sizeof s->forecast.kind, true);
		s->forecast.earliest_s = count(m);
		s->forecast.likely_s = count(m);
		s->forecast.latest_s = count(m);
		s->forecast.owner = owner(m);
	}
	context(m, &s->context);
}

static void finding(struct maker *m, struct wire_finding *f)
{
	head(m, &f->head);
	text(m, f->id, sizeof f->id, true);
	f->edge = (enum wire_edge)prng_below(m->prng, WIRE_EDGE_COUNT);
	text(m, f->rule, sizeof f->rule, true);
	f->severity = (enum severity)(1 + prng_below(m->prng, SEVERITY_COUNT - 1));
	f->owner = owner(m);
	text(m, f->title, sizeof f->title, false);
	f->opened = wall(m);
}

static void postmortem(struct maker *m, struct wire_postmortem *p)
{
	static const char timeline[] =
		"{\"timeline\":[{\"type\":\"sample\",\"epoch\":\"00112233445566778899aabbccddeeff\",\"seq\":1,"
		"\"mono_ms\":2,\"wall_ms\":3}]}";
	const char *const bodies[] = {
		"{}", timeline,
		"{\"why\":\"\\u001b \xe2\x82\xac \\\"\",\"n\":-9223372036854775808,\"list\":[null,true,false,0]}"
	};
	head(m, &p->head);
	text(m, p->id, sizeof p->id, true);
	p->parts = 1 + (unsigned)prng_below(m->prng, WIRE_PARTS_MAX);
	p->part = (unsigned)prng_below(m->prng, p->parts);
	p->cause = (enum death_cause)prng_below(m->prng, DEATH_CAUSE_COUNT);
	p->owner = owner(m);
	p->pid = (int)prng_below(m->prng, 4194304);
	p->died = wall(m);
	text(m, p->title, sizeof p->title, false);
	const char *body = bodies[prng_below(m->prng, 3)];
	p->body = (struct str){ body, strlen(body) };
}

static void welcome(struct maker *m, struct wire_welcome *w)
{
	w->n_acked = prng_below(m->prng, WIRE_EPOCHS_MAX + 1);
	for (size_t i = 0; i < w->n_acked; i++)
		w->acked[i] = (struct wire_position){ epoch(m), number(m, 0) };
	w->window = 1 + (uint32_t)prng_below(m->prng, UINT32_MAX);
	w->min_interval_ms = u32(m);
	w->max_frame = 1 + (uint32_t)prng_below(m->prng, UINT32_MAX);
	if (maybe(m))
		return;
	struct wire_policy *p = &w->policy;
	p->version = prng_u64(m->prng) | 1;
	p->interval_ms = u32(m);
	p->n_levels = prng_below(m->prng, maybe(m) ? 4 : WIRE_LEVELS_MAX + 1);
	for (size_t i = 0; i < p->n_levels; i++) {
		text(m, p->levels[i].rule, sizeof p->levels[i].rule, true);
		text(m, p->levels[i].name, sizeof p->levels[i].name, true);
		p->levels[i].raise = number(m, 0);
		p->levels[i].clear = number(m, 0);
	}
	p->n_silences = prng_below(m->prng, maybe(m) ? 4 : WIRE_SILENCES_MAX + 1);
	for (size_t i = 0; i < p->n_silences; i++) {
		text(m, p->silences[i].rule, sizeof p->silences[i].rule, true);
		text(m, p->silences[i].reason, sizeof p->silences[i].reason, false);
		p->silences[i].until = wall(m);
		p->silences[i].quiet = prng_below(m->prng, 2);
	}
}

void wiremsg_random(struct prng *prng, enum wire_type type, bool wild, struct wire_message *ret)
{
	struct maker m = { prng, wild };
	memset(ret, 0, sizeof *ret);
	ret->type = type;
	switch (type) {
	case WIRE_HELLO:
		hello(&m, &ret->hello);
		break;
	case WIRE_SAMPLE:
		sample(&m, &ret->sample);
		break;
	case WIRE_FINDING:
		finding(&m, &ret->finding);
		break;
	case WIRE_POSTMORTEM:
		postmortem(&m, &ret->postmortem);
		break;
	case WIRE_GAP:
		ret->gap.epoch = epoch(&m);
		ret->gap.from = number(&m, 1);
		ret->gap.to = number(&m, ret->gap.from);
		text(&m, ret->gap.reason, sizeof ret->gap.reason, false);
		break;
	case WIRE_BYE:
		text(&m, ret->bye.reason, sizeof ret->bye.reason, false);
		break;
	case WIRE_WELCOME:
		welcome(&m, &ret->welcome);
		break;
	case WIRE_ACK:
		ret->ack = (struct wire_position){ epoch(&m), number(&m, 0) };
		break;
	case WIRE_ERROR:
	default:
		ret->error.code = (enum wire_error_code)prng_below(prng, WIRE_ERR_COUNT);
		text(&m, ret->error.text, sizeof ret->error.text, false);
		break;
	}
}

/* --- the same? ---------------------------------------------------------------------------------- */

static bool same_qty(const struct qty *a, const struct qty *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i].state != b[i].state || (qty_known(a[i]) && a[i].bytes != b[i].bytes))
			return false;
	return true;
}

static bool same_signed(const struct signed_qty *a, const struct signed_qty *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i].known != b[i].known || (a[i].known && a[i].bytes != b[i].bytes))
			return false;
	return true;
}

static bool same_count(struct count a, struct count b)
{
	return a.known == b.known && (!a.known || a.n == b.n);
}

static bool same_head(const struct wire_head *a, const struct wire_head *b)
{
	return memcmp(&a->epoch, &b->epoch, sizeof a->epoch) == 0 && a->seq == b->seq && a->mono_ms == b->mono_ms &&
	       a->wall.ms == b->wall.ms;
}

#define SAME_TEXT(member) (strcmp(a->member, b->member) == 0)
#define SAME(member)      (a->member == b->member)

static bool same_hello(const struct wire_hello *a, const struct wire_hello *b)
{
	bool same = SAME_TEXT(subject.cluster) && SAME_TEXT(subject.namespace_) && SAME_TEXT(subject.workload) &&
		    SAME(subject.role) && SAME_TEXT(subject.pod) && SAME_TEXT(subject.pod_uid) &&
		    SAME_TEXT(subject.node) && SAME_TEXT(subject.container) && SAME(subject.n_jobs) &&
		    SAME(subject.n_labels) && SAME_TEXT(program) && SAME_TEXT(jdk) && SAME_TEXT(engine) &&
		    SAME(mono_ms) && SAME(wall.ms) && SAME(n_epochs);
	for (size_t i = 0; same && i < a->subject.n_jobs; i++)
		same = SAME_TEXT(subject.jobs[i]);
	for (size_t i = 0; same && i < a->subject.n_labels; i++)
		same = SAME_TEXT(subject.labels[i].key) && SAME_TEXT(subject.labels[i].value);
	for (size_t i = 0; same && i < a->n_epochs; i++)
		same = memcmp(&a->epochs[i].epoch, &b->epochs[i].epoch, sizeof a->epochs[i].epoch) == 0 &&
		       SAME(epochs[i].first) && SAME(epochs[i].last);
	return same;
}

static bool same_context(const struct engine_context *a, const struct engine_context *b)
{
	return SAME_TEXT(job_state) && SAME(checkpointing) && SAME(restoring) && SAME(rebalancing) &&
	       same_count(a->backpressured_bp, b->backpressured_bp) && same_count(a->busy_bp, b->busy_bp) &&
	       same_count(a->records_lag_max, b->records_lag_max) && same_count(a->restarts, b->restarts);
}

static bool same_events(const struct cgroup_events *a, const struct cgroup_events *b)
{
	return same_count(a->low, b->low) && same_count(a->high, b->high) && same_count(a->max, b->max) &&
	       same_count(a->oom, b->oom) && same_count(a->oom_kill, b->oom_kill) &&
	       same_count(a->oom_group_kill, b->oom_group_kill);
}

static bool same_forecast(const struct wire_forecast *a, const struct wire_forecast *b)
{
	return SAME_TEXT(kind) && same_count(a->earliest_s, b->earliest_s) && same_count(a->likely_s, b->likely_s) &&
	       same_count(a->latest_s, b->latest_s) && SAME(owner);
}

static bool same_books(const struct wire_books *a, const struct wire_books *b)
{
	bool same = same_qty(a->claims, b->claims, OWNER_COUNT) && SAME(unread) &&
		    same_qty(&a->legal_bytes, &b->legal_bytes, 1) && SAME(n_budgets);
	for (size_t i = 0; same && i < OWNER_COUNT; i++)
		same = SAME(bounds[i].kind) && (a->bounds[i].kind != LIMIT_SET || SAME(bounds[i].bytes));
	for (size_t i = 0; same && i < a->n_budgets; i++)
		same = SAME_TEXT(budgets[i].name) && same_qty(&a->budgets[i].bytes, &b->budgets[i].bytes, 1) &&
		       same_qty(&a->budgets[i].used_bytes, &b->budgets[i].used_bytes, 1) && SAME(budgets[i].owners);
	const struct engine_facts *x = &a->engine, *y = &b->engine;
	return same && SAME(engine.backend) && SAME(engine.batch) && SAME(engine.python) &&
	       same_qty(&x->managed_reserved_bytes, &y->managed_reserved_bytes, 1) &&
	       same_qty(&x->network_bytes, &y->network_bytes, 1) &&
	       same_qty(&x->framework_off_heap_bytes, &y->framework_off_heap_bytes, 1) &&
	       same_qty(&x->task_off_heap_bytes, &y->task_off_heap_bytes, 1) &&
	       same_qty(&x->network_pool_bytes, &y->network_pool_bytes, 1) &&
	       same_count(x->streams_instances, y->streams_instances);
}

static bool same_sample(const struct wire_sample *a, const struct wire_sample *b)
{
	return same_head(&a->head, &b->head) && SAME(interval_ms) && SAME(urgent) && SAME(pid) && SAME(start_ticks) &&
	       SAME(access) && SAME(limit.kind) && (a->limit.kind != LIMIT_SET || SAME(limit.bytes)) &&
	       SAME(limit_told) && same_qty(&a->charge_bytes, &b->charge_bytes, 1) &&
	       same_qty(&a->floor_bytes, &b->floor_bytes, 1) && same_qty(&a->swap_bytes, &b->swap_bytes, 1) &&
	       same_qty(&a->expected_bytes, &b->expected_bytes, 1) &&
	       same_signed(&a->freeboard_bytes, &b->freeboard_bytes, 1) && SAME(freeboard_level) &&
	       same_qty(a->groups, b->groups, GROUP_COUNT) &&
	       same_signed(a->grown_since_scan, b->grown_since_scan, GROUP_COUNT) &&
	       same_events(&a->events, &b->events) && same_count(a->some_avg10_bp, b->some_avg10_bp) &&
	       same_count(a->full_avg10_bp, b->full_avg10_bp) && same_count(a->refaults_file, b->refaults_file) &&
	       SAME(has_composition) && SAME(composition_age_ms) && same_qty(a->owners, b->owners, OWNER_COUNT) &&
	       same_signed(&a->residual_bytes, &b->residual_bytes, 1) && SAME(has_books) &&
	       same_books(&a->books, &b->books) && same_forecast(&a->forecast, &b->forecast) &&
	       same_context(&a->context, &b->context);
}

static bool same_finding(const struct wire_finding *a, const struct wire_finding *b)
{
	return same_head(&a->head, &b->head) && SAME_TEXT(id) && SAME(edge) && SAME_TEXT(rule) && SAME(severity) &&
	       SAME(owner) && SAME_TEXT(title) && SAME(opened.ms);
}

static bool same_postmortem(const struct wire_postmortem *a, const struct wire_postmortem *b)
{
	return same_head(&a->head, &b->head) && SAME_TEXT(id) && SAME(part) && SAME(parts) && SAME(cause) &&
	       SAME(owner) && SAME(pid) && SAME(died.ms) && SAME_TEXT(title);
}

static bool same_position(const struct wire_position *a, const struct wire_position *b)
{
	return memcmp(&a->epoch, &b->epoch, sizeof a->epoch) == 0 && SAME(seq);
}

static bool same_welcome(const struct wire_welcome *a, const struct wire_welcome *b)
{
	bool same = SAME(n_acked) && SAME(window) && SAME(min_interval_ms) && SAME(max_frame) && SAME(policy.version) &&
		    SAME(policy.interval_ms) && SAME(policy.n_levels) && SAME(policy.n_silences) &&
		    SAME(policy.n_refused) && SAME_TEXT(policy.refused);
	for (size_t i = 0; same && i < a->n_acked; i++)
		same = same_position(&a->acked[i], &b->acked[i]);
	for (size_t i = 0; same && i < a->policy.n_levels; i++)
		same = SAME_TEXT(policy.levels[i].rule) && SAME_TEXT(policy.levels[i].name) &&
		       SAME(policy.levels[i].raise) && SAME(policy.levels[i].clear);
	for (size_t i = 0; same && i < a->policy.n_silences; i++)
		same = SAME_TEXT(policy.silences[i].rule) && SAME_TEXT(policy.silences[i].reason) &&
		       SAME(policy.silences[i].until.ms) && SAME(policy.silences[i].quiet);
	return same;
}

bool wiremsg_same(const struct wire_message *a, const struct wire_message *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case WIRE_HELLO:
		return same_hello(&a->hello, &b->hello);
	case WIRE_SAMPLE:
		return same_sample(&a->sample, &b->sample);
	case WIRE_FINDING:
		return same_finding(&a->finding, &b->finding);
	case WIRE_POSTMORTEM:
		return same_postmortem(&a->postmortem, &b->postmortem);
	case WIRE_GAP:
		return memcmp(&a->gap.epoch, &b->gap.epoch, sizeof a->gap.epoch) == 0 && SAME(gap.from) &&
		       SAME(gap.to) && SAME_TEXT(gap.reason);
	case WIRE_BYE:
		return SAME_TEXT(bye.reason);
	case WIRE_WELCOME:
		return same_welcome(&a->welcome, &b->welcome);
	case WIRE_ACK:
		return same_position(&a->ack, &b->ack);
	case WIRE_ERROR:
		return SAME(error.code) && SAME_TEXT(error.text);
	case WIRE_TYPE_COUNT:
	default:
		return false;
	}
}
