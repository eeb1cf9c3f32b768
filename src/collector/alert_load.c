/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/alert_figures.h"
#include "collector/alerts_parts.h"
#include "collector/store_alert.h"
#include "data/js.h"

struct loading {
	struct alerts *alerts;
	struct alert alert;  /* the present one, with its deliveries */
	struct alert *found; /* what was read: they are put into the book when the query is over */
	size_t n, room;
};

static bool take_alert(void *context, const struct alert *alert, struct str text)
{
	struct loading *loading = context;
	auto_js struct js *figures = NULL;
	if (loading->n == loading->room)
		return false;
	loading->found[loading->n] = *alert;
	/* Texts are ours; one that cannot be read costs the figures of an alert, not the alert. */
	if (js_parse(text, ALERT_FIGURES_TEXT_MAX, &figures, NULL) == 0)
		alert_figures_read(figures, &loading->found[loading->n].figures);
	loading->n++;
	return true;
}

static void take_delivery(void *context, struct str receiver, const struct alert_delivery *delivery)
{
	struct loading *loading = context;
	const struct alertconf *conf = loading->alerts->conf;
	/* Of a receiver that is configured no more nothing is left to be done. */
	for (size_t i = 0; i < conf->n_receivers; i++)
		if (str_eq(receiver, str_of(conf->receivers[i].name)))
			loading->alert.deliveries[i] = *delivery;
}

static int restore(struct loading *loading, const struct alert *alert, struct mono now, struct wall wall,
		   struct err *err)
{
	struct alerts *alerts = loading->alerts;
	loading->alert = *alert;
	int rc = store_each_delivery(alerts->store, alert->row, take_delivery, loading, err);
	return rc < 0 ? rc : alert_book_restore(&alerts->book, &loading->alert, now, wall, err);
}

static int load(struct loading *loading, enum store_alerts_of which, size_t most, struct mono now, struct wall wall,
		struct err *err)
{
	loading->n = 0;
	int rc = store_each_alert(loading->alerts->store, which, most, take_alert, loading, err);
	/* Those that are over come newest first, and stand in the book oldest first. */
	for (size_t i = 0; rc == 0 && i < loading->n; i++)
		rc = restore(loading, &loading->found[which == STORE_ALERTS_OVER ? loading->n - 1 - i : i], now, wall,
			     err);
	return rc;
}

int alert_load(struct alerts *alerts, struct mono now, struct wall wall, struct err *err)
{
	enum { ROOM = 4 * ALERTS_MAX };
	auto_free struct alert *found = calloc(ROOM, sizeof *found);
	auto_free struct loading *loading = calloc(1, sizeof *loading);
	if (!found || !loading)
		return err_set(err, ERR_NOMEM, "no memory to read alerts back");
	*loading = (struct loading){ .alerts = alerts, .found = found, .room = ROOM };
	int rc = load(loading, STORE_ALERTS_OVER, ALERTS_ENDED_MAX, now, wall, err);
	return rc < 0 ? rc : load(loading, STORE_ALERTS_OPEN, ROOM, now, wall, err);
}

/* --- back ------------------------------------------------------------------------------------------------------ */

/* Ended ones first: of one key one alone is active in the store, too. */
static struct alert *nth(const struct alert_book *book, size_t i)
{
	return i < book->n_ended ? book->ended[i] : book->active[i - book->n_ended];
}

static bool is_unsaved(const struct alerts *alerts, const struct alert *alert)
{
	bool unsaved = alert->unsaved;
	for (size_t i = 0; i < alerts->conf->n_receivers; i++)
		unsaved = unsaved || alert->deliveries[i].unsaved;
	return unsaved;
}

static int put_alert(struct alerts *alerts, struct alert *alert, struct buf *text, struct err *err)
{
	struct js_out out;
	buf_clear(text);
	js_out_start(&out, text, 0);
	js_out_object(&out);
	alert_figures_put(&out, &alert->figures, ALERT_NAMES_RAW);
	js_out_object_end(&out);
	int rc = js_out_end(&out, err);
	return rc < 0 ? rc : store_alert_put(alerts->store, alert, buf_str(text), &alert->row, err);
}

static int put_one(struct alerts *alerts, struct alert *alert, struct buf *text, struct err *err)
{
	int rc = alert->unsaved ? put_alert(alerts, alert, text, err) : 0;
	for (size_t i = 0; rc == 0 && i < alerts->conf->n_receivers; i++)
		if (alert->deliveries[i].unsaved)
			rc = store_delivery_put(alerts->store, alert->row, alerts->conf->receivers[i].name,
						&alert->deliveries[i], err);
	return rc;
}

static void mark(const struct alerts *alerts, struct alert *alert)
{
	alert->unsaved = false;
	for (size_t i = 0; i < alerts->conf->n_receivers; i++)
		alert->deliveries[i].unsaved = false;
}

static int put_all(struct alerts *alerts, size_t n, struct err *err)
{
	auto_buf struct buf text = { .cap = ALERT_FIGURES_TEXT_MAX };
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = put_one(alerts, nth(&alerts->book, i), &text, err);
	return rc;
}

/* A row that was given in a batch that failed is none. */
static void take_back(struct alerts *alerts, const bool *had_row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!had_row[i])
			nth(&alerts->book, i)->row = 0;
}

int alert_save(struct alerts *alerts, struct err *err)
{
	const struct alert_book *book = &alerts->book;
	size_t n = book->n_ended + book->n_active, n_unsaved = 0;
	auto_free bool *had_row = calloc(n + 1, sizeof *had_row);
	if (!had_row)
		return err_set(err, ERR_NOMEM, "no memory to store alerts");
	for (size_t i = 0; i < n; i++) {
		const struct alert *alert = nth(book, i);
		had_row[i] = alert->row != 0;
		n_unsaved += is_unsaved(alerts, alert);
	}
	if (n_unsaved == 0)
		return 0;
	int rc = store_begin(alerts->store, err);
	if (rc < 0)
		return rc;
	rc = put_all(alerts, n, err);
	if (rc == 0)
		rc = store_commit(alerts->store, err);
	if (rc < 0) {
		store_rollback(alerts->store);
		take_back(alerts, had_row, n);
		return rc;
	}
	for (size_t i = 0; i < n; i++)
		mark(alerts, nth(book, i));
	return 0;
}
