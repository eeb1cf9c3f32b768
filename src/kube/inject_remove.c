/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/inject_parts.h"

struct removal {
	const char *name;
	const struct yml_tree *tree;
	struct graft graft;
	unsigned n; /* sidecars found */
};

static void removal_done(struct removal *removal)
{
	graft_done(&removal->graft);
}

static bool is_recorded(struct str record, const char *word)
{
	struct str part;
	while (str_split(&record, ',', &part))
		if (str_eq(part, str_of(word)))
			return true;
	return false;
}

/* The items of `key` of this name. */
static int drop_items(struct removal *r, unsigned spec, const char *key, const char *wanted, unsigned *ret_n,
		      struct err *err)
{
	const struct yml_tree *tree = r->tree;
	unsigned list = yml_follow(tree, yml_tree_merged(tree, spec, key));
	if (yml_at(tree, list)->kind != YML_LIST)
		return 0;
	for (unsigned at = yml_at(tree, list)->first; at; at = yml_at(tree, at)->next) {
		if (!str_eq(yml_text(tree, yml_tree_merged(tree, at, "name")), str_of(wanted)))
			continue;
		int rc = graft_check(&r->graft, at, err);
		if (rc < 0)
			return rc;
		graft_drop_item(&r->graft, at);
		++*ret_n;
	}
	return 0;
}

static void drop_key(struct removal *r, unsigned map, const char *key)
{
	unsigned at = 0;
	if (yml_get(r->tree, map, key, &at))
		graft_drop_key(&r->graft, at);
}

/* A collection that was made for the sidecar goes with it. */
static void drop_if_bare(struct removal *r, unsigned map, const char *key, struct str record, const char *word)
{
	unsigned value = yml_get(r->tree, map, key, NULL);
	if (value && yml_at(r->tree, value)->kind != YML_ALIAS && graft_is_bare(&r->graft, value) &&
	    is_recorded(record, word))
		drop_key(r, map, key);
}

static void drop_group(struct removal *r, unsigned spec, struct str record, struct str container)
{
	const struct yml_tree *tree = r->tree;
	if (is_recorded(record, "podRunAsGroup"))
		drop_key(r, yml_get(tree, spec, "securityContext", NULL), "runAsGroup");
	unsigned list = yml_follow(tree, yml_tree_merged(tree, spec, "containers"));
	if (!is_recorded(record, "runAsGroup") || yml_at(tree, list)->kind != YML_LIST)
		return;
	for (unsigned at = yml_at(tree, list)->first; at; at = yml_at(tree, at)->next)
		if (str_eq(yml_text(tree, yml_tree_merged(tree, at, "name")), container))
			drop_key(r, yml_get(tree, at, "securityContext", NULL), "runAsGroup");
}

/* What the sidecar says that it watches. */
static struct str watched(const struct removal *r, unsigned spec)
{
	static const char *const keys[] = { "initContainers", "containers" };
	const struct yml_tree *tree = r->tree;
	for (int i = 0; i < 2; i++) {
		unsigned list = yml_follow(tree, yml_tree_merged(tree, spec, keys[i]));
		unsigned at = yml_at(tree, list)->kind == YML_LIST ? yml_at(tree, list)->first : 0;
		for (; at; at = yml_at(tree, at)->next) {
			unsigned env = yml_follow(tree, yml_tree_merged(tree, at, "env"));
			if (!str_eq(yml_text(tree, yml_tree_merged(tree, at, "name")), STR(SIDECAR_NAME)))
				continue;
			unsigned one = yml_at(tree, env)->kind == YML_LIST ? yml_at(tree, env)->first : 0;
			for (; one; one = yml_at(tree, one)->next)
				if (str_eq(yml_text(tree, yml_tree_merged(tree, one, "name")),
					   STR("BANKFULL_CONTAINER")))
					return yml_text(tree, yml_tree_merged(tree, one, "value"));
		}
	}
	return STR("");
}

/* One template: that of a workload, or one layer of a FlinkDeployment's. */
static int strip(struct removal *r, unsigned holder, const char *key, unsigned template_, struct err *err)
{
	const struct yml_tree *tree = r->tree;
	struct graft *graft = &r->graft;
	unsigned spec = yml_tree_merged(tree, template_, "spec"),
		 metadata = yml_tree_merged(tree, template_, "metadata");
	unsigned annotations = yml_tree_merged(tree, metadata, "annotations"), n = 0, n_volumes = 0;
	struct str record = yml_text(tree, yml_get(tree, annotations, INJECTED_ANNOTATION, NULL));
	struct str container = watched(r, spec);
	int rc = drop_items(r, spec, "initContainers", SIDECAR_NAME, &n, err);
	if (rc == 0)
		rc = drop_items(r, spec, "containers", SIDECAR_NAME, &n, err);
	if (rc < 0 || (!n && !record.len))
		return rc;
	static const char *const volumes[] = { SIDECAR_STATE_VOLUME, SIDECAR_TOKEN_VOLUME, SIDECAR_CONFIG_VOLUME };
	for (int i = 0; i < 3 && rc == 0; i++)
		rc = drop_items(r, spec, "volumes", volumes[i], &n_volumes, err);
	if (rc == 0 && record.len)
		rc = graft_check(graft, annotations, err);
	if (rc < 0)
		return rc;
	r->n++;
	if (record.len)
		drop_key(r, annotations, INJECTED_ANNOTATION);
	if (is_recorded(record, "shareProcessNamespace"))
		drop_key(r, spec, "shareProcessNamespace");
	drop_group(r, spec, record, container);
	drop_if_bare(r, spec, "initContainers", record, "initContainers");
	drop_if_bare(r, spec, "containers", record, "containers");
	drop_if_bare(r, spec, "volumes", record, "volumes");
	drop_if_bare(r, metadata, "annotations", record, "annotations");
	drop_if_bare(r, template_, "metadata", record, "metadata");
	drop_if_bare(r, template_, "spec", record, "spec");
	if (key)
		drop_if_bare(r, holder, key, record, "podTemplate");
	return 0;
}

static int strip_site(struct removal *r, const struct site *site, struct err *err)
{
	if (site->type != SITE_FLINK)
		return strip(r, site->holder, NULL, site->template_, err);
	static const char *const parts[] = { NULL, "jobManager", "taskManager" };
	for (int i = 0; i < 3; i++) {
		unsigned holder = parts[i] ? yml_tree_merged(r->tree, site->holder, parts[i]) : site->holder;
		unsigned layer = site_flink_layer(r->tree, site, parts[i]);
		int rc = layer ? strip(r, holder, "podTemplate", layer, err) : 0;
		if (rc < 0)
			return rc;
	}
	return 0;
}

int inject_remove(struct str text, const char *name, struct buf *out, struct buf *notes, struct err *err)
{
	auto_yml_tree struct yml_tree tree = { 0 };
	auto_sites struct sites sites = { 0 };
	auto_(removal_done) struct removal removal = { .name = name, .tree = &tree };
	int rc = yml_tree_parse(text, name, &tree, err);
	if (rc == 0)
		rc = sites_find(&tree, name, &sites, err);
	if (rc == 0)
		rc = graft_start(&tree, name, &removal.graft, err);
	for (unsigned i = 0; i < sites.n && rc == 0; i++) {
		unsigned before = removal.n;
		rc = strip_site(&removal, &sites.items[i], err);
		if (rc == 0 && removal.n > before)
			site_note(notes, name, &sites.items[i], "the sidecar is taken out");
	}
	if (rc == 0)
		rc = graft_drop(&removal.graft, err);
	if (rc == 0 && notes && !removal.n)
		(void)buf_printf(notes, "%s: no sidecar is in it: it is as it was\n", name);
	return rc < 0 ? rc : edits_apply(&removal.graft.edits, text, out, err);
}
