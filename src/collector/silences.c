/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/silences.h"

#include <stdlib.h>

#include "base/auto.h"
#include "base/esc.h"
#include "collector/silence_json.h"
#include "collector/silence_parts.h"
#include "collector/store_audit.h"
#include "collector/store_silence.h"

enum {
	TEXT_CAP = 8192,  /* a silence as JSON: six texts, at worst each byte of them as \u00XX */
	DWELL_MS = 60000, /* an alert that comes again within a minute has not been resolved */
};

/* --- the active ones -------------------------------------------------------------------------------- */

static int take_in(struct silences *silences, const struct silence *silence, struct err *err)
{
	struct silence_entry *entry = malloc(sizeof *entry);
	if (!entry)
		return err_set(err, ERR_NOMEM, "no memory for a silence");
	*entry = (struct silence_entry){ .silence = *silence, .place = silences->n_active };
	silences->active[silences->n_active++] = entry;
	silences->n_kind[silence->kind]++;
	silences->n_parts += silence_parts(&silence->matchers);
	silence_index_add(silences, entry);
	silences->version++;
	return 0;
}

static void take_out(struct silences *silences, struct silence_entry *entry)
{
	silence_index_remove(silences, entry);
	silences->n_kind[entry->silence.kind]--;
	silences->n_parts -= silence_parts(&entry->silence.matchers);
	struct silence_entry *last = silences->active[--silences->n_active];
	silences->active[entry->place] = last;
	last->place = entry->place;
	free(entry);
	silences->version++;
}

static struct silence_entry *find(const struct silences *silences, int64_t id)
{
	for (size_t i = 0; i < silences->n_active; i++)
		if (silences->active[i]->silence.id == id)
			return silences->active[i];
	return NULL;
}

/* --- rows ----------------------------------------------------------------------------------------- */

static bool of_row(const struct store_silence_row *row, struct silence *ret)
{
	struct silence s = { .id = row->row, .created = row->created, .until = row->until, .ended = row->ended };
	if (row->kind >= SILENCE_KIND_COUNT || silence_matchers_read(row->matchers, row->kind, &s.matchers, NULL) < 0)
		return false; /* of a later version, or damaged */
	s.kind = row->kind;
	str_copy(s.reason, sizeof s.reason, row->reason);
	str_copy(s.author, sizeof s.author, row->author);
	str_copy(s.ended_by, sizeof s.ended_by, row->ended_by);
	*ret = s;
	return true;
}

struct reading {
	struct silences *silences; /* to fill, or NULL */
	silences_fn *fn;
	void *context;
	size_t unreadable;
	struct err *err;
	int rc;
};

static bool load_row(void *context, const struct store_silence_row *row)
{
	struct reading *r = context;
	struct silence silence;
	if (!of_row(row, &silence))
		r->unreadable++;
	else if (r->silences->n_active < SILENCES_ACTIVE_MAX)
		r->rc = take_in(r->silences, &silence, r->err);
	return r->rc == 0;
}

static int load(struct silences *silences, struct err *err)
{
	struct reading r = { .silences = silences, .err = err };
	int rc = store_each_silence(silences->store, STORE_SILENCES_ACTIVE, (struct wall){ 0 }, 0, SILENCES_ACTIVE_MAX,
				    load_row, &r, err);
	if (rc == 0 && r.unreadable)
		logger_say(silences->log, SAY_ERROR, "silences-unreadable",
			   "%zu silences of the store cannot be read and do not hold", r.unreadable);
	return rc < 0 ? rc : r.rc;
}

static bool pass_row(void *context, const struct store_silence_row *row)
{
	struct reading *r = context;
	struct silence silence;
	return !of_row(row, &silence) || r->fn(r->context, &silence);
}

int silences_each(struct silences *silences, enum silences_of which, struct wall now, int64_t below, silences_fn *fn,
		  void *context, struct err *err)
{
	static const enum store_silences_of of[] = { [SILENCES_ALL] = STORE_SILENCES_ALL,
						     [SILENCES_ACTIVE] = STORE_SILENCES_ACTIVE,
						     [SILENCES_ENDED] = STORE_SILENCES_ENDED };
	struct reading r = { .fn = fn, .context = context };
	return store_each_silence(silences->store, of[which], now, below, STORE_SILENCES_MAX + SILENCES_ACTIVE_MAX,
				  pass_row, &r, err);
}

struct one {
	int64_t id;
	struct silence *ret;
	bool found;
};

static bool is_it(void *context, const struct silence *silence)
{
	struct one *one = context;
	one->found = silence->id == one->id;
	if (one->found)
		*one->ret = *silence;
	return false;
}

int silences_read(struct silences *silences, int64_t id, struct silence *ret_silence, struct err *err)
{
	struct one one = { .id = id, .ret = ret_silence };
	int rc = id == INT64_MAX ? 0
				 : silences_each(silences, SILENCES_ALL, (struct wall){ 0 }, id + 1, is_it, &one, err);
	return rc < 0 || one.found ? rc : err_set(err, ERR_GONE, "no silence %lld", (long long)id);
}

/* --- life ------------------------------------------------------------------------------------------- */

int silences_new(struct store *store, struct logger *log, struct silences **ret_silences, struct err *err)
{
	struct silences *silences = calloc(1, sizeof *silences);
	if (!silences)
		return err_set(err, ERR_NOMEM, "no memory for silences");
	silences->store = store;
	silences->log = log;
	silences->version = 1;
	int rc = load(silences, err);
	if (rc < 0) {
		silences_free(silences);
		return rc;
	}
	*ret_silences = silences;
	return 0;
}

void silences_free(struct silences *silences)
{
	if (!silences)
		return;
	for (size_t i = 0; i < silences->n_active; i++)
		free(silences->active[i]);
	free(silences);
}

uint64_t silences_version(const struct silences *silences)
{
	return silences->version;
}

size_t silences_active(const struct silences *silences, enum silence_kind kind)
{
	return silences->n_kind[kind];
}

/* --- what people do ------------------------------------------------------------------------------ */

static const char *namespace_of(const struct silence *s)
{
	const unsigned bit = 1U << SILENCE_NAMESPACE;
	return (s->matchers.given & bit) && !(s->matchers.patterns & bit) ? s->matchers.text[SILENCE_NAMESPACE] : "";
}

static int text_of(const struct silence *s, struct wall now, struct buf *text, struct err *err)
{
	struct js_out out;
	js_out_start(&out, text, 0);
	silence_put(&out, s, now);
	return js_out_end(&out, err);
}

/* Its line of the audit, in the open batch. */
static int put_deed(struct silences *silences, const char *what, const struct silence *before,
		    const struct silence *after, const struct deed *deed, struct err *err)
{
	auto_buf struct buf was = { .cap = TEXT_CAP };
	auto_buf struct buf is = { .cap = TEXT_CAP };
	int rc = before ? text_of(before, deed->at, &was, err) : 0;
	if (rc == 0)
		rc = text_of(after, deed->at, &is, err);
	const struct audit_entry entry = { .at = deed->at,
					   .who = deed->who,
					   .peer = deed->peer,
					   .what = what,
					   .namespace_ = namespace_of(after),
					   .before = buf_str(&was),
					   .after = buf_str(&is) };
	return rc == 0 ? store_audit_put(silences->store, &entry, err) : rc;
}

static int close_batch(struct silences *silences, int rc, struct err *err)
{
	if (rc == 0)
		return store_commit(silences->store, err);
	store_rollback(silences->store);
	return rc;
}

/* Under the row's own id, which only the store can give. */
static int put_new(struct silences *silences, struct silence *s, const struct deed *deed, struct err *err)
{
	auto_buf struct buf matchers = { .cap = TEXT_CAP };
	struct js_out out;
	js_out_start(&out, &matchers, 0);
	silence_put_matchers(&out, &s->matchers);
	int rc = js_out_end(&out, err);
	const struct store_silence_row row = { .kind = s->kind,
					       .matchers = buf_str(&matchers),
					       .reason = str_of(s->reason),
					       .author = str_of(s->author),
					       .created = s->created,
					       .until = s->until };
	if (rc == 0)
		rc = store_silence_add(silences->store, &row, &s->id, err);
	return rc == 0 ? put_deed(silences, "silence-create", NULL, s, deed, err) : rc;
}

/* A name may be what a proxy's header says. */
static void say(const struct silences *silences, const char *event, const struct silence *s, const char *who)
{
	char shown[2 * sizeof s->author];
	logger_say(silences->log, SAY_INFO, event, "%s %lld by %s", silence_kind_names[s->kind], (long long)s->id,
		   esc_copy(shown, sizeof shown, str_of(who)));
}

int silences_add(struct silences *silences, const struct silence *draft, const struct deed *deed, int64_t *ret_id,
		 int64_t *ret_other, struct err *err)
{
	struct silence s = *draft;
	*ret_other = 0;
	for (size_t i = 0; i < silences->n_active; i++) {
		const struct silence *other = &silences->active[i]->silence;
		if (other->kind != s.kind || other->until.ms <= deed->at.ms ||
		    !silence_same(&other->matchers, &s.matchers))
			continue;
		*ret_other = other->id;
		return err_set(err, ERR_USAGE, "%s %lld has these very matchers: end it first",
			       silence_kind_names[s.kind], (long long)other->id);
	}
	if (silences->n_active == SILENCES_ACTIVE_MAX)
		return err_set(err, ERR_USAGE, "%d are active already: end some of them", SILENCES_ACTIVE_MAX);
	if (silences->n_parts + silence_parts(&s.matchers) > SILENCES_PARTS_MAX && s.matchers.patterns)
		return err_set(err, ERR_USAGE, "too many patterns are active already: give names, or end some of them");
	s.id = 0;
	s.created = deed->at;
	s.ended = (struct wall){ 0 };
	s.ended_by[0] = '\0';
	str_copy(s.author, sizeof s.author, str_of(deed->who));
	int rc = store_begin(silences->store, err);
	if (rc < 0)
		return rc;
	rc = close_batch(silences, put_new(silences, &s, deed, err), err);
	if (rc == 0)
		rc = take_in(silences, &s, err);
	if (rc < 0)
		return rc;
	say(silences, "silence-created", &s, s.author);
	*ret_id = s.id;
	return 0;
}

int silences_end(struct silences *silences, int64_t id, const struct deed *deed, struct err *err)
{
	struct silence_entry *entry = find(silences, id);
	if (!entry)
		return 0;
	struct silence after = entry->silence;
	after.ended = deed->at;
	str_copy(after.ended_by, sizeof after.ended_by, str_of(deed->who));
	int rc = store_begin(silences->store, err);
	if (rc < 0)
		return rc;
	rc = store_silence_end(silences->store, id, after.ended, after.ended_by, err);
	if (rc == 0)
		rc = put_deed(silences, "silence-end", &entry->silence, &after, deed, err);
	rc = close_batch(silences, rc, err);
	if (rc < 0)
		return rc;
	say(silences, "silence-ended", &after, after.ended_by);
	take_out(silences, entry);
	return 0;
}

/* --- what ends by itself ------------------------------------------------------------------------- */

static bool has_open(const struct fleet_findings *findings, const struct silence_matchers *m)
{
	for (unsigned i = 0; i < findings->n; i++)
		if (strcmp(findings->items[i].rule, m->text[SILENCE_RULE]) == 0 &&
		    (m->severity == SEVERITY_NONE || m->severity == findings->items[i].severity))
			return true;
	return false;
}

/* Is anything that this acknowledgement covers still open? */
static bool is_open(const struct fleet *fleet, const struct silence_matchers *m)
{
	const struct fleet_workload *const *workloads;
	bool there;
	if (!m->text[SILENCE_NAMESPACE][0] && !m->text[SILENCE_WORKLOAD][0] && has_open(fleet_own_findings(fleet), m))
		return true;
	size_t place = fleet_workload_at(fleet, m->text[SILENCE_CLUSTER], m->text[SILENCE_NAMESPACE],
					 m->text[SILENCE_WORKLOAD], &there);
	if (!there)
		return false;
	(void)fleet_workloads(fleet, &workloads);
	for (const struct fleet_pod *pod = workloads[place]->pods; pod; pod = pod->next)
		if (has_open(&pod->findings, m))
			return true;
	return false;
}

/* What it ended by, or NULL: it goes on. */
static const char *over(struct silence_entry *entry, const struct fleet *fleet, struct mono now, struct wall wall)
{
	const struct silence *s = &entry->silence;
	if (s->until.ms <= wall.ms)
		return "expired";
	if (s->kind != SILENCE_ACKNOWLEDGEMENT)
		return NULL;
	if (is_open(fleet, &s->matchers))
		entry->not_open_since = (struct mono){ 0 };
	else if (entry->not_open_since.ns == 0)
		entry->not_open_since = now;
	else if (!mono_ms_until(now, mono_add_ms(entry->not_open_since, DWELL_MS)))
		return "resolved";
	return NULL;
}

int silences_step(struct silences *silences, const struct fleet *fleet, struct mono now, struct wall wall,
		  struct err *err)
{
	struct silence_entry *ended[SILENCES_ACTIVE_MAX];
	size_t n = 0;
	int rc = 0;
	for (size_t i = 0; i < silences->n_active; i++) {
		struct silence_entry *entry = silences->active[i];
		const char *by = over(entry, fleet, now, wall);
		if (!by)
			continue;
		if (n == 0)
			rc = store_begin(silences->store, err);
		if (n == 0 && rc < 0)
			return rc;
		/* One that expired while nobody looked has ended when it should. */
		struct wall at = entry->silence.until.ms < wall.ms ? entry->silence.until : wall;
		if (rc == 0)
			rc = store_silence_end(silences->store, entry->silence.id, at, by, err);
		ended[n++] = entry;
	}
	if (n == 0)
		return 0;
	rc = close_batch(silences, rc, err);
	for (size_t i = 0; rc == 0 && i < n; i++)
		take_out(silences, ended[i]);
	return rc;
}
