/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/slowtext.h"

#include "base/limits.h"

static const struct {
	unsigned what;
	const char *prefix;
} sources[] = {
	{ SLOW_JVM, "jvm/" },
	{ SLOW_ENGINE, "http/" },
	{ SLOW_ENGINE, "conf/" },
	{ SLOW_ENGINE, "proc/state_dirs" },
};

static const char *const facts[] = { "conf_name", "metrics_url." };

static bool starts(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

bool slowtext_is_of(unsigned what, const char *name)
{
	/* The parent reads hsperfdata itself: a file costs nothing. */
	if (strcmp(name, "jvm/hsperf") == 0)
		return false;
	for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
		if (sources[i].what & what && starts(name, sources[i].prefix))
			return true;
	return false;
}

static bool is_fact_of(unsigned what, struct str key)
{
	for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
		if (what & SLOW_ENGINE && str_starts(key, str_of(facts[i])))
			return true;
	return false;
}

bool slowtext_encode(const struct evidence *evidence, unsigned what, struct buf *out)
{
	for (size_t i = 0; i < evidence->n; i++) {
		const struct evidence_item *item = &evidence->items[i];
		if (!slowtext_is_of(what, item->name))
			continue;
		if (item->err.kind != ERR_NONE)
			(void)buf_printf(out, "gap %s %s %s\n", item->name, err_kind_names[item->err.kind],
					 item->err.message);
		else
			(void)(buf_printf(out, "item %s %zu\n", item->name, item->bytes.len) &&
			       buf_add(out, buf_str(&item->bytes)) && buf_putc(out, '\n'));
	}
	struct str rest = buf_str(&evidence->facts), line;
	while (str_line(&rest, &line)) {
		struct str value = line, key;
		if (str_split(&value, ' ', &key) && is_fact_of(what, key))
			(void)(buf_puts(out, "fact ") && buf_add(out, line) && buf_putc(out, '\n'));
	}
	(void)buf_puts(out, "end\n");
	return !buf_failed(out);
}

/* One entry of the text. */
struct entry {
	enum { ENTRY_ITEM, ENTRY_GAP, ENTRY_FACT, ENTRY_END } kind;
	char name[EVIDENCE_NAME_CAP];
	struct str bytes; /* or the message, or the value */
	enum err_kind err;
};

static bool take_item(struct str *rest, struct str line, struct entry *ret)
{
	uint64_t len;
	if (!str_is_u64(line, &len) || len >= rest->len || rest->ptr[len] != '\n')
		return false;
	ret->kind = ENTRY_ITEM;
	ret->bytes = (struct str){ rest->ptr, len };
	*rest = str_skip(*rest, len + 1);
	return true;
}

static bool take_gap(struct str line, struct entry *ret)
{
	char kind[32];
	struct str name;
	if (!str_split(&line, ' ', &name) || name.len >= sizeof kind)
		return false;
	str_copy(kind, sizeof kind, name);
	ret->kind = ENTRY_GAP;
	ret->err = err_kind_find(kind);
	ret->bytes = line;
	return ret->err != ERR_NONE;
}

static bool take_entry(struct str *rest, unsigned what, struct entry *ret)
{
	struct str line, name;
	if (!str_line(rest, &line))
		return false;
	if (str_eq(line, STR("end"))) {
		ret->kind = ENTRY_END;
		return rest->len == 0;
	}
	bool item = str_take(&line, STR("item ")), gap = !item && str_take(&line, STR("gap ")),
	     fact = !item && !gap && str_take(&line, STR("fact "));
	if ((!item && !gap && !fact) || !str_split(&line, ' ', &name) || name.len >= sizeof ret->name)
		return false;
	str_copy(ret->name, sizeof ret->name, name);
	if (fact) {
		ret->kind = ENTRY_FACT;
		ret->bytes = line;
		return is_fact_of(what, name);
	}
	return slowtext_is_of(what, ret->name) && (item ? take_item(rest, line, ret) : take_gap(line, ret));
}

static int check(struct str text, unsigned what, const struct evidence *into, struct err *err)
{
	struct entry entry = { 0 };
	size_t n = 0, others = 0;
	for (size_t i = 0; i < into->n; i++)
		others += !slowtext_is_of(what, into->items[i].name);
	do {
		if (!take_entry(&text, what, &entry))
			return err_set(err, ERR_MALFORMED, "the answer of our own child is cut or wrong");
		n += entry.kind == ENTRY_ITEM || entry.kind == ENTRY_GAP;
	} while (entry.kind != ENTRY_END);
	return n > EVIDENCE_MAX - others ? err_set(err, ERR_LIMIT, "our own child answers with %zu texts", n) : 0;
}

static void forget(struct evidence *into, unsigned what)
{
	for (size_t i = into->n; i-- > 0;)
		if (slowtext_is_of(what, into->items[i].name))
			evidence_drop(into, into->items[i].name);
	struct str rest = buf_str(&into->facts), line;
	while (str_line(&rest, &line)) {
		struct str value = line, key;
		char name[EVIDENCE_NAME_CAP];
		if (!str_split(&value, ' ', &key) || key.len >= sizeof name || !is_fact_of(what, key))
			continue;
		str_copy(name, sizeof name, key);
		evidence_fact_drop(into, name);
		rest = buf_str(&into->facts); /* they moved */
	}
}

int slowtext_merge(struct str text, unsigned what, struct evidence *into, struct err *err)
{
	int rc = check(text, what, into, err);
	if (rc < 0)
		return rc;
	forget(into, what);
	struct entry entry = { 0 };
	while (take_entry(&text, what, &entry) && entry.kind != ENTRY_END) {
		if (entry.kind == ENTRY_FACT) {
			(void)evidence_fact_str(into, entry.name, entry.bytes);
			continue;
		}
		char message[sizeof((struct err *)0)->message];
		str_copy(message, sizeof message, entry.bytes);
		if (entry.kind == ENTRY_GAP) {
			evidence_fail_set(into, entry.name, entry.err, message);
			continue;
		}
		struct buf *bytes = evidence_new(into, entry.name, LIMIT_HTTP_BODY);
		if (bytes && !buf_add(bytes, entry.bytes))
			evidence_fail_set(into, entry.name, ERR_NOMEM, "no memory to keep it");
	}
	return 0;
}

void slowtext_failed(unsigned what, const struct err *err, struct evidence *into)
{
	forget(into, what);
	if (what & SLOW_JVM)
		evidence_fail(into, "jvm/attach", err);
	if (what & SLOW_ENGINE)
		evidence_fail(into, "http/metrics", err);
}
