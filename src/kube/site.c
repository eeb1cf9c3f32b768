/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/site.h"

#include <stdlib.h>

static const struct {
	const char *kind, *group; /* group: how apiVersion begins */
	enum site_type type;
	const char *path[4]; /* from the object to the map that holds `template` */
	const char *key;
} kinds[] = {
	{ "Deployment", "apps/", SITE_TEMPLATE, { "spec" }, "template" },
	{ "Deployment", "extensions/", SITE_TEMPLATE, { "spec" }, "template" },
	{ "StatefulSet", "apps/", SITE_TEMPLATE, { "spec" }, "template" },
	{ "DaemonSet", "apps/", SITE_TEMPLATE, { "spec" }, "template" },
	{ "DaemonSet", "extensions/", SITE_TEMPLATE, { "spec" }, "template" },
	{ "Job", "batch/", SITE_JOB, { "spec" }, "template" },
	{ "CronJob", "batch/", SITE_JOB, { "spec", "jobTemplate", "spec" }, "template" },
	{ "PodTemplate", "v1", SITE_TEMPLATE, { NULL }, "template" },
	{ "Pod", "v1", SITE_POD, { NULL }, NULL },
	{ "FlinkDeployment", "flink.apache.org/", SITE_FLINK, { "spec" }, "podTemplate" },
};

void sites_done(struct sites *sites)
{
	free(sites->items);
	*sites = (struct sites){ 0 };
}

static int add(struct sites *sites, const struct site *site, struct err *err)
{
	if (sites->n == SITES_MAX)
		return err_set(err, ERR_LIMIT, "more than %d workloads", SITES_MAX);
	if (sites->n == sites->room) {
		unsigned room = sites->room ? sites->room * 2 : 16;
		void *moved = realloc(sites->items, room * sizeof *sites->items);
		if (!moved)
			return err_set(err, ERR_NOMEM, "no memory");
		sites->items = moved;
		sites->room = room;
	}
	sites->items[sites->n++] = *site;
	return 0;
}

static int missing(const char *name, const struct site *site, const char *what, struct err *err)
{
	return err_set(err, ERR_USAGE, "%s:%u: this %s has no %s", name, site->line, site->kind, what);
}

static int take(const struct yml_tree *tree, const char *name, struct site site, size_t kind, struct sites *sites,
		struct err *err)
{
	unsigned at = site.object;
	for (size_t i = 0; i < 4 && kinds[kind].path[i]; i++) {
		at = yml_tree_merged(tree, at, kinds[kind].path[i]);
		if (yml_at(tree, yml_follow(tree, at))->kind != YML_MAP)
			return missing(name, &site, kinds[kind].path[i], err);
	}
	site.type = kinds[kind].type;
	site.key = kinds[kind].key;
	site.holder = at;
	site.template_ = site.key ? yml_tree_merged(tree, at, site.key) : site.object;
	site.spec = yml_tree_merged(tree, site.template_, "spec");
	if (yml_at(tree, yml_follow(tree, site.spec))->kind != YML_MAP) {
		if (site.type != SITE_FLINK || (site.spec && !yml_is_null(tree, site.spec)))
			return missing(name, &site, "pod's spec", err);
		site.spec = 0;
	}
	/* The same as none, so that both get the same. */
	if (site.type == SITE_FLINK && yml_at(tree, yml_follow(tree, site.spec))->n == 0)
		site.spec = 0;
	if (yml_is_null(tree, site.template_))
		site.template_ = 0;
	return add(sites, &site, err);
}

static int look(const struct yml_tree *tree, const char *name, unsigned object, struct sites *sites, struct err *err)
{
	struct str kind = yml_text(tree, yml_tree_merged(tree, object, "kind"));
	struct str version = yml_text(tree, yml_tree_merged(tree, object, "apiVersion"));
	if (yml_at(tree, yml_follow(tree, object))->kind != YML_MAP)
		return 0;
	unsigned items = yml_follow(tree, yml_get(tree, object, "items", NULL));
	if (str_ends(kind, STR("List")) && items && yml_at(tree, items)->kind == YML_LIST) {
		int rc = 0;
		/* A List in a List would be no Kubernetes object: its items are not looked at. */
		if (yml_at(tree, object)->parent)
			return 0;
		for (unsigned at = yml_at(tree, items)->first; at && rc == 0; at = yml_at(tree, at)->next)
			rc = look(tree, name, at, sites, err);
		return rc;
	}
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (!str_eq(kind, str_of(kinds[i].kind)) || !str_starts(version, str_of(kinds[i].group)))
			continue;
		struct site site = { .object = object, .kind = kinds[i].kind, .line = yml_at(tree, object)->line };
		site.name = yml_text(tree, yml_tree_merged(tree, yml_tree_merged(tree, object, "metadata"), "name"));
		return take(tree, name, site, i, sites, err);
	}
	sites->n_others++;
	return 0;
}

int sites_find(const struct yml_tree *tree, const char *name, struct sites *ret_sites, struct err *err)
{
	auto_sites struct sites sites = { 0 };
	for (unsigned i = 0; i < tree->n_documents; i++) {
		int rc = look(tree, name, tree->documents[i], &sites, err);
		if (rc < 0)
			return rc;
	}
	*ret_sites = sites;
	sites = (struct sites){ 0 };
	return 0;
}

unsigned site_flink_layer(const struct yml_tree *tree, const struct site *site, const char *part)
{
	unsigned at = yml_tree_merged(tree, site->object, "spec");
	if (part)
		at = yml_tree_merged(tree, at, part);
	unsigned layer = yml_tree_merged(tree, at, "podTemplate");
	return yml_is_null(tree, layer) ? 0 : layer;
}

struct str site_flink_setting(const struct yml_tree *tree, const struct site *site, const char *key)
{
	unsigned conf = yml_tree_merged(tree, yml_tree_merged(tree, site->object, "spec"), "flinkConfiguration");
	return yml_text(tree, yml_tree_merged(tree, conf, key));
}
