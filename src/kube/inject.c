/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three texts: without any sidecar (inject_remove), with the frame that it needs (the annotation, and a FlinkDeployment's
 * podTemplate), with the sidecar. Each is parsed anew, so positions never go stale. The last one is checked: without the
 * sidecar it says what the first one says.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/esc.h"
#include "kube/inject_parts.h"

struct stage {
	const char *name;
	const struct inject_options *options;
	const struct yml_tree *tree;
	struct graft graft;
	struct buf *notes; /* NULL: not in this stage */
};

/* Where the sidecar of one site goes. */
struct target {
	struct site site; /* its template and spec are those of the layer */
	struct pod pod;
	struct identity identity;
	const char *layer; /* of a FlinkDeployment: NULL for the common one */
};

static void stage_done(struct stage *stage)
{
	graft_done(&stage->graft);
}

void site_note(struct buf *notes, const char *name, const struct site *site, const char *format, ...)
{
	char shown[100], text[400];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (notes)
		(void)buf_printf(notes, "%s:%u: %s/%s: %s\n", name, site->line, site->kind,
				 esc_copy(shown, sizeof shown, site->name), text);
}

static const char *list_key(const struct stage *stage)
{
	return stage->options->ordinary ? "containers" : "initContainers";
}

static unsigned length(const struct yml_tree *tree, unsigned template_, const char *key)
{
	unsigned spec = yml_tree_merged(tree, template_, "spec");
	const struct yml_node *list = yml_at(tree, yml_follow(tree, yml_tree_merged(tree, spec, key)));
	return list->kind == YML_LIST ? list->n : 0;
}

/* What is put at the end of a list of `mine` meets nothing at its position in the other layers. */
static bool meets_nothing(const struct stage *stage, unsigned mine, const unsigned others[2])
{
	const char *keys[] = { list_key(stage), "volumes" };
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
			if (length(stage->tree, others[k], keys[i]) > length(stage->tree, mine, keys[i]))
				return false;
	return true;
}

/*
 * The operator merges the lists of its layers by position unless told otherwise, so that a sidecar may end up inside
 * another container: it goes where its position is free.
 */
static int choose_layer(const struct stage *stage, struct target *target, struct err *err)
{
	const struct yml_tree *tree = stage->tree;
	unsigned common = site_flink_layer(tree, &target->site, NULL);
	unsigned jobs = site_flink_layer(tree, &target->site, "jobManager");
	unsigned tasks = site_flink_layer(tree, &target->site, "taskManager");
	struct str by_name =
		site_flink_setting(tree, &target->site, "kubernetes.operator.pod-template.merge-arrays-by-name");
	if (str_eq(by_name, STR("true")) || meets_nothing(stage, common, (const unsigned[2]){ jobs, tasks }))
		return 0;
	if (!tasks || !meets_nothing(stage, tasks, (const unsigned[2]){ common, common }))
		return err_set(
			err, ERR_USAGE,
			"%s:%u: the operator merges the lists of this podTemplate with others by position, and the sidecar would fall into another container: set kubernetes.operator.pod-template.merge-arrays-by-name: \"true\" in flinkConfiguration",
			stage->name, yml_at(tree, tasks ? tasks : jobs)->line);
	target->layer = "taskManager";
	target->site.holder = yml_tree_merged(tree, target->site.holder, "taskManager");
	target->site.template_ = tasks;
	target->site.spec = yml_tree_merged(tree, tasks, "spec");
	return 0;
}

static int refuse_pod(const struct stage *stage, const struct target *target, struct err *err)
{
	const struct yml_tree *tree = stage->tree;
	unsigned host = yml_tree_merged(tree, target->site.spec, "hostPID");
	unsigned shares = yml_tree_merged(tree, target->site.spec, "shareProcessNamespace");
	if (target->pod.host_pid)
		return err_set(
			err, ERR_USAGE,
			"%s:%u: hostPID: the sidecar would see every JVM of the node and take another pod's for its own",
			stage->name, yml_at(tree, host)->line);
	if (!target->pod.shares && !yml_is_null(tree, shares))
		return err_set(
			err, ERR_USAGE,
			"%s:%u: shareProcessNamespace is off here, and without it the sidecar sees no JVM: take the line out, or leave this pod out",
			stage->name, yml_at(tree, shares)->line);
	if (stage->options->ordinary && target->site.type == SITE_JOB)
		return err_set(
			err, ERR_USAGE,
			"%s:%u: an ordinary sidecar never ends, and this %s would not either: it takes the native ones of Kubernetes 1.29",
			stage->name, target->site.line, target->site.kind);
	return 0;
}

static int find_target(const struct stage *stage, const struct site *site, struct target *ret, struct err *err)
{
	struct target target = { .site = *site };
	int rc = site->type == SITE_FLINK ? choose_layer(stage, &target, err) : 0;
	if (rc == 0)
		rc = pod_look(stage->tree, stage->name, &target.site, stage->options->container, &target.pod, err);
	if (rc == 0)
		rc = refuse_pod(stage, &target, err);
	if (rc == 0)
		rc = identity_of(stage->name, stage->tree, &target.site, &target.pod, stage->options, &target.identity,
				 err);
	if (rc == 0)
		*ret = target;
	return rc;
}

static void mark(struct buf *record, const char *word)
{
	(void)buf_printf(record, "%s%s", record->len ? "," : "", word);
}

/* What removal will have to take away besides the sidecar's own. */
static void record_of(const struct stage *stage, const struct target *target, struct buf *record)
{
	const struct yml_tree *tree = stage->tree;
	unsigned template_ = target->site.template_, spec = target->site.spec;
	unsigned metadata = yml_tree_merged(tree, template_, "metadata");
	if (!yml_tree_merged(tree, target->site.holder, "podTemplate") && !template_)
		mark(record, "podTemplate");
	if (!yml_tree_merged(tree, template_, "spec"))
		mark(record, "spec");
	if (!metadata)
		mark(record, "metadata");
	if (!yml_tree_merged(tree, metadata, "annotations"))
		mark(record, "annotations");
	if (!target->pod.shares)
		mark(record, "shareProcessNamespace");
	if (!yml_tree_merged(tree, spec, list_key(stage)))
		mark(record, list_key(stage));
	if (!yml_tree_merged(tree, spec, "volumes"))
		mark(record, "volumes");
	if (target->identity.tell_group)
		mark(record, target->identity.tell_pod ? "podRunAsGroup" : "runAsGroup");
	if (!record->len)
		mark(record, "sidecar");
}

static void emit_annotation(struct emit *e, unsigned depth, struct str record)
{
	if (depth >= 2)
		emit_map(e, "metadata");
	if (depth >= 1)
		emit_map(e, "annotations");
	emit_text(e, INJECTED_ANNOTATION, record);
	for (unsigned i = 0; i < depth; i++)
		emit_end(e);
}

/* metadata stands before spec, where it is looked for. */
static int frame_metadata(struct stage *stage, const struct target *target, struct str record, struct err *err)
{
	const struct yml_tree *tree = stage->tree;
	struct emit *e;
	unsigned spec_key = 0;
	(void)yml_get(tree, target->site.template_, "spec", &spec_key);
	int rc = graft_begin(&stage->graft, target->site.template_, false, &e, err);
	if (rc < 0)
		return rc;
	const struct yml_node *key = yml_at(tree, spec_key);
	size_t line = line_start(tree->text, key->start);
	if (spec_key && e->style == EMIT_BLOCK && key->start - line == key->column &&
	    str_trim((struct str){ tree->text.ptr + line, key->start - line }).len == 0)
		stage->graft.at = line;
	emit_annotation(e, 2, record);
	return graft_end(&stage->graft, err);
}

static int frame_existing(struct stage *stage, const struct target *target, struct str record, struct err *err)
{
	const struct yml_tree *tree = stage->tree;
	unsigned metadata = yml_tree_merged(tree, target->site.template_, "metadata");
	unsigned annotations = yml_tree_merged(tree, metadata, "annotations");
	struct emit *e;
	if (!metadata)
		return frame_metadata(stage, target, record, err);
	int rc = graft_begin(&stage->graft, annotations ? annotations : metadata, false, &e, err);
	if (rc < 0)
		return rc;
	emit_annotation(e, annotations ? 0 : 1, record);
	return graft_end(&stage->graft, err);
}

static void emit_skeleton(struct emit *e, const struct target *target, struct str record, bool whole)
{
	if (whole)
		emit_annotation(e, 2, record);
	emit_map(e, "spec");
	if (!target->pod.shares)
		emit_word(e, "shareProcessNamespace", "true");
	emit_end(e);
}

/* A FlinkDeployment may have no podTemplate, or an empty one. */
static int frame_flink(struct stage *stage, const struct target *target, struct str record, struct err *err)
{
	struct emit *e;
	const struct yml_node *template_ = yml_at(stage->tree, yml_follow(stage->tree, target->site.template_));
	bool whole = !target->site.template_ || template_->n == 0;
	unsigned null_template = yml_tree_merged(stage->tree, target->site.holder, "podTemplate");
	unsigned at = target->site.template_ ? target->site.template_
		      : null_template        ? null_template
					     : target->site.holder;
	unsigned null_spec = yml_tree_merged(stage->tree, target->site.template_, "spec");
	if (null_spec)
		at = null_spec;
	int rc = graft_begin(&stage->graft, at, false, &e, err);
	if (rc < 0)
		return rc;
	if (null_spec) {
		emit_word(e, "shareProcessNamespace", "true");
	} else if (at == target->site.holder) {
		emit_map(e, "podTemplate");
		emit_skeleton(e, target, record, true);
		emit_end(e);
	} else {
		emit_skeleton(e, target, record, whole);
	}
	rc = graft_end(&stage->graft, err);
	return rc == 0 && !whole ? frame_existing(stage, target, record, err) : rc;
}

static int frame(struct stage *stage, const struct site *site, struct err *err)
{
	struct target target;
	auto_buf struct buf record = { .cap = 400 };
	int rc = find_target(stage, site, &target, err);
	if (rc < 0)
		return rc;
	record_of(stage, &target, &record);
	if (!target.site.spec)
		return frame_flink(stage, &target, buf_str(&record), err);
	return frame_existing(stage, &target, buf_str(&record), err);
}

static int fill_list(struct stage *stage, const struct target *target, const char *key,
		     void (*emit)(struct emit *, const struct sidecar *), const struct sidecar *sidecar,
		     struct err *err)
{
	struct emit *e;
	unsigned list = yml_tree_merged(stage->tree, target->site.spec, key);
	int rc = graft_begin(&stage->graft, list ? list : target->site.spec, list != 0, &e, err);
	if (rc < 0)
		return rc;
	if (!list)
		emit_list(e, key);
	emit(e, sidecar);
	if (!list)
		emit_end(e);
	return graft_end(&stage->graft, err);
}

static int fill_word(struct stage *stage, unsigned map, const char *key, const char *word, struct err *err)
{
	struct emit *e;
	int rc = graft_begin(&stage->graft, map, false, &e, err);
	if (rc < 0)
		return rc;
	emit_word(e, key, word);
	return graft_end(&stage->graft, err);
}

static void tell(const struct stage *stage, const struct target *target)
{
	const struct pod *pod = &target->pod;
	char shown[80];
	(void)esc_copy(shown, sizeof shown, pod->main_name);
	site_note(stage->notes, stage->name, &target->site, "the sidecar watches '%s'%s", shown,
		  target->layer ? " of the TaskManagers; the JobManager's template has no room for it" : "");
	if (!target->identity.known && !pod->flink)
		site_note(
			stage->notes, stage->name, &target->site,
			"note: '%s' says no runAsUser: the sidecar sees the JVM only if that runs as 9999:9999, or where the platform gives both one user (OpenShift): else say --uid and --gid",
			shown);
	if (target->identity.known && !pod->user.known)
		site_note(stage->notes, stage->name, &target->site,
			  "note: '%s' says no runAsUser: its image has to run as %llu:%llu", shown,
			  (unsigned long long)target->identity.user, (unsigned long long)target->identity.group);
	if (stage->options->ordinary)
		site_note(
			stage->notes, stage->name, &target->site, "warning: an ordinary sidecar: %s",
			pod->flink
				? "Flink drops a TaskManager when any of its containers ends, and the agent may be killed like any other"
				: "it starts and ends with the others, in no order");
	if (target->identity.root)
		site_note(stage->notes, stage->name, &target->site,
			  "warning: the sidecar runs as root, as the container does");
}

static int fill(struct stage *stage, const struct site *site, struct err *err)
{
	struct target target;
	char number[32];
	int rc = find_target(stage, site, &target, err);
	if (rc < 0)
		return rc;
	struct sidecar sidecar = { .options = stage->options, .pod = &target.pod, .identity = target.identity };
	if (site->type != SITE_POD)
		sidecar.workload = site->name;
	sidecar.metrics_url = pod_annotation(stage->tree, &target.site, "bankfull.io/metrics-url");
	sidecar.flink_rest = pod_annotation(stage->tree, &target.site, "bankfull.io/flink-rest");
	pod_labels(stage->tree, &target.site, &target.pod, sidecar.labels);
	sidecar.config = pod_annotation(stage->tree, &target.site, "bankfull.io/config");
	if (target.identity.tell_group) {
		(void)snprintf(number, sizeof number, "%llu", (unsigned long long)target.identity.group);
		rc = fill_word(stage, yml_follow(stage->tree, target.identity.tell_group), "runAsGroup", number, err);
	}
	if (rc == 0)
		rc = fill_list(stage, &target, list_key(stage), sidecar_emit, &sidecar, err);
	if (rc == 0)
		rc = fill_list(stage, &target, "volumes", sidecar_volumes_emit, &sidecar, err);
	if (rc == 0 && !target.pod.shares)
		rc = fill_word(stage, target.site.spec, "shareProcessNamespace", "true", err);
	return rc;
}

/* The same on the text as it is, for what should be known and for what is wrong, with the lines of that text. */
static int look(struct stage *stage, const struct site *site, struct err *err)
{
	struct target target;
	int rc = find_target(stage, site, &target, err);
	if (rc == 0 && target.site.spec)
		rc = fill(stage, site, err);
	if (rc == 0)
		tell(stage, &target);
	return rc;
}

/* The label that keeps the admission policy away, said as a label or as an annotation. */
static bool is_declined(const struct yml_tree *tree, const struct site *site)
{
	unsigned metadata = yml_tree_merged(tree, site->template_, "metadata");
	struct str label =
		yml_text(tree, yml_tree_merged(tree, yml_tree_merged(tree, metadata, "labels"), "bankfull.io/inject"));
	if (!label.len)
		label = pod_annotation(tree, site, "bankfull.io/inject");
	return str_eq(label, STR("disabled")) || str_eq(label, STR("false"));
}

typedef int step(struct stage *stage, const struct site *site, struct err *err);

static int run(struct str text, const char *name, const struct inject_options *options, step *each, struct buf *notes,
	       struct buf *out, struct err *err)
{
	auto_yml_tree struct yml_tree tree = { 0 };
	auto_sites struct sites sites = { 0 };
	auto_(stage_done) struct stage stage = { .name = name, .options = options, .tree = &tree, .notes = notes };
	int rc = yml_tree_parse(text, name, &tree, err);
	if (rc == 0)
		rc = sites_find(&tree, name, &sites, err);
	if (rc == 0)
		rc = graft_start(&tree, name, &stage.graft, err);
	for (unsigned i = 0; i < sites.n && rc == 0; i++) {
		if (!is_declined(&tree, &sites.items[i]))
			rc = each(&stage, &sites.items[i], err);
		else
			site_note(notes, name, &sites.items[i], "declines by bankfull.io/inject: it is as it was");
	}
	if (rc == 0 && notes && !sites.n)
		(void)buf_printf(notes, "%s: nothing here describes a pod: it is as it was\n", name);
	return rc < 0 ? rc : edits_apply(&stage.graft.edits, text, out, err);
}

/* Without the sidecar it says what the text said without one. */
static int verify(struct str bare, struct str edited, const char *name, struct err *err)
{
	auto_buf struct buf again = { .cap = INJECT_OUT_MAX };
	auto_yml_tree struct yml_tree before = { 0 }, after = { 0 };
	int rc = inject_remove(edited, name, &again, NULL, err);
	if (rc == 0)
		rc = yml_tree_parse(bare, name, &before, err);
	if (rc == 0)
		rc = yml_tree_parse(buf_str(&again), name, &after, err);
	if (rc == 0 && !trees_agree(&before, &after))
		rc = err_set(
			err, ERR_UNSUPPORTED,
			"%s: it is laid out in a way in which a sidecar cannot be added without changing something else",
			name);
	return rc;
}

int inject_add(struct str text, const char *name, const struct inject_options *options, struct buf *out,
	       struct buf *notes, struct err *err)
{
	auto_buf struct buf bare = { .cap = INJECT_OUT_MAX }, looked = { .cap = INJECT_OUT_MAX },
			    framed = { .cap = INJECT_OUT_MAX }, filled = { .cap = INJECT_OUT_MAX };
	int rc = inject_remove(text, name, &bare, NULL, err);
	if (rc == 0)
		rc = run(buf_str(&bare), name, options, look, notes, &looked, err);
	if (rc == 0)
		rc = run(buf_str(&bare), name, options, frame, NULL, &framed, err);
	if (rc == 0)
		rc = run(buf_str(&framed), name, options, fill, NULL, &filled, err);
	if (rc == 0)
		rc = verify(buf_str(&bare), buf_str(&filled), name, err);
	if (rc < 0 && bare.len && !str_eq(text, buf_str(&bare)))
		err_wrap(err, "lines counted without the sidecar that is there");
	if (rc < 0)
		return rc;
	return buf_add(out, buf_str(&filled)) ? 0 : err_set(err, ERR_LIMIT, "%s: the result is too long", name);
}
