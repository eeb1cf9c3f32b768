/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/topology.h"

/* Names of the stores that were seen in the sub-topology that is being read: views into the text. */
struct reading {
	struct topology *topology;
	struct topology_sub *sub;
	struct str stores[TOPOLOGY_STORES_MAX];
	size_t n_stores;
	size_t n_out, n_in; /* ends of arrows: "--> a, b" and "<-- a" */
	bool described;
	const char *name;
	unsigned line;
};

/* KStreamImplJoin and its left and outer kinds: two window stores, and one of key and time beside them. */
static bool is_windowed(struct str store)
{
	return str_has(store, STR("KSTREAM-JOINTHIS-")) || str_has(store, STR("KSTREAM-JOINOTHER-")) ||
	       str_has(store, STR("KSTREAM-OUTERTHIS-")) || str_has(store, STR("KSTREAM-OUTEROTHER-")) ||
	       str_ends(store, STR("-this-join-store")) || str_ends(store, STR("-other-join-store"));
}

static int add_store(struct reading *r, struct str store, struct err *err)
{
	for (size_t i = 0; i < r->n_stores; i++)
		if (str_eq(r->stores[i], store))
			return 0;
	if (r->n_stores == TOPOLOGY_STORES_MAX)
		return err_set(err, ERR_LIMIT, "%s:%u: more than %d stores in one sub-topology", r->name, r->line,
			       TOPOLOGY_STORES_MAX);
	r->stores[r->n_stores++] = store;
	r->sub->n_stores++;
	r->sub->n_windowed += is_windowed(store);
	return 0;
}

/* "... (stores: [a, b])". */
static int read_stores(struct reading *r, struct str line, struct err *err)
{
	struct str rest = str_skip(line, str_find(line, STR("(stores: [")));
	struct str store;
	if (!str_take(&rest, STR("(stores: [")))
		return 0;
	size_t end = str_index(rest, ']');
	if (end == rest.len)
		return err_set(err, ERR_MALFORMED,
			       "%s:%u: a list of stores that does not end: 'stores: [a, b])' is expected", r->name,
			       r->line);
	rest.len = end;
	int rc = 0;
	while (rc == 0 && str_split(&rest, ',', &store))
		if (str_trim(store).len)
			rc = add_store(r, str_trim(store), err);
	return rc;
}

static int begin(struct reading *r, struct str rest, struct err *err)
{
	uint64_t number;
	str_blanks(&rest);
	if (!str_u64(&rest, &number) || number > 1000000)
		return err_set(err, ERR_MALFORMED, "%s:%u: a sub-topology without its number", r->name, r->line);
	if (r->topology->n == TOPOLOGY_SUBS_MAX)
		return err_set(err, ERR_LIMIT, "%s:%u: more than %d sub-topologies", r->name, r->line,
			       TOPOLOGY_SUBS_MAX);
	r->sub = &r->topology->subs[r->topology->n++];
	*r->sub = (struct topology_sub){ .number = (unsigned)number, .global = str_has(rest, STR("global store")) };
	r->n_stores = 0;
	return 0;
}

static size_t count_names(struct str list)
{
	struct str name;
	size_t n = 0;
	while (str_split(&list, ',', &name))
		n += str_trim(name).len > 0 && !str_eq(str_trim(name), STR("none"));
	return n;
}

/* Each arrow stands at both of its ends: with fewer heads than tails, nodes and their stores are missing. */
static int check_whole(const struct reading *r, struct err *err)
{
	if (r->n_out == r->n_in)
		return 0;
	return err_set(
		err, ERR_MALFORMED,
		"%s: cut short: %zu arrows lead out of its nodes (-->) and %zu into them (<--): give all of what "
		"Topology.describe() prints",
		r->name, r->n_out, r->n_in);
}

static int read_line(struct reading *r, struct str line, struct err *err)
{
	if (str_starts(line, STR("Topologies:"))) {
		if (r->described)
			return err_set(err, ERR_MALFORMED, "%s:%u: a second description begins: give one of them",
				       r->name, r->line);
		r->described = true;
	} else if (str_take(&line, STR("Sub-topology:"))) {
		return begin(r, line, err);
	} else if (r->sub && str_starts(line, STR("Processor:"))) {
		return read_stores(r, line, err);
	} else if (r->sub && str_starts(line, STR("Source:"))) {
		r->sub->n_sources++;
	} else if (r->sub && str_take(&line, STR("-->"))) {
		r->n_out += count_names(line);
	} else if (r->sub && str_take(&line, STR("<--"))) {
		r->n_in += count_names(line);
	}
	return 0;
}

int topology_parse(struct str text, const char *name, struct topology *ret_topology, struct err *err)
{
	struct topology topology = { .n = 0 };
	struct reading reading = { .topology = &topology, .name = name };
	struct str rest = text, line;
	int rc = 0;
	if (text.len > TOPOLOGY_TEXT_MAX)
		return err_set(err, ERR_LIMIT, "%s: %zu bytes: at most %d are read", name, text.len, TOPOLOGY_TEXT_MAX);
	while (rc == 0 && str_line(&rest, &line)) {
		reading.line++;
		rc = read_line(&reading, str_trim(line), err);
	}
	if (rc < 0)
		return rc;
	if (topology.n == 0)
		return err_set(
			err, ERR_MALFORMED,
			"%s: no sub-topology: what Topology.describe() prints is expected, with lines 'Sub-topology: 0'",
			name);
	rc = check_whole(&reading, err);
	if (rc < 0)
		return rc;
	*ret_topology = topology;
	return 0;
}
