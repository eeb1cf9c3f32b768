/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel shows a process to another one of the same user *and group* alone (ptrace(2), PTRACE_MODE_READ with FSCREDS):
 * a sidecar with the right user and the group of its own image is blind.
 */
#include "base/esc.h"
#include "kube/inject_parts.h"

enum { FLINK_ID = 9999 }; /* user and group `flink` of the images of Apache Flink; ours are the same */

static int differs(const char *name, const struct said *said, const char *what, const char *option, uint64_t wanted,
		   struct err *err)
{
	return err_set(err, ERR_USAGE,
		       "%s:%u: %s is %llu here and %s says %llu: the sidecar sees the JVM under the same one alone",
		       name, said->line, what, (unsigned long long)said->value, option, (unsigned long long)wanted);
}

static int check_told(const char *name, const struct pod *pod, const struct inject_options *options, struct err *err)
{
	if (options->has_user && pod->user.known && pod->user.value != options->user)
		return differs(name, &pod->user, "runAsUser", "--uid", options->user, err);
	if (options->has_group && pod->group.known && pod->group.value != options->group)
		return differs(name, &pod->group, "runAsGroup", "--gid", options->group, err);
	if (pod->user.known && pod->user.value == 0 && !options->has_user)
		return err_set(
			err, ERR_USAGE,
			"%s:%u: the container runs as root: give it a runAsUser, or say --uid 0 --gid 0 for a sidecar that is root with the same capabilities (PodSecurity refuses both)",
			name, pod->user.line);
	return 0;
}

/* The group, where the text does not say it; may ask for it to be said beside runAsUser. */
static int find_group(const char *name, const struct pod *pod, const struct inject_options *options,
		      struct identity *id, struct err *err)
{
	id->group = options->group;
	if (pod->group.known)
		id->group = pod->group.value;
	else if (!options->has_group && pod->user.known && pod->flink && pod->user.value == FLINK_ID)
		id->group = FLINK_ID;
	else if (!options->has_group)
		return err_set(
			err, ERR_USAGE,
			"%s:%u: runAsUser without runAsGroup: the group is then each image's own, and the sidecar needs the JVM's: say --gid GROUP, which is written beside it",
			name, pod->user.known ? pod->user.line : 0);
	if (!pod->group.known && pod->user.known)
		id->tell_group = pod->user.map;
	return 0;
}

/* Layers of a FlinkDeployment are merged into one pod: they may not say two things. */
static int check_layers(const char *name, const struct yml_tree *tree, const struct site *site,
			const struct identity *id, struct err *err)
{
	static const char *const parts[] = { NULL, "jobManager", "taskManager" };
	for (int i = 0; i < 3; i++) {
		struct site layer = *site;
		struct pod pod;
		layer.template_ = site_flink_layer(tree, site, parts[i]);
		layer.spec = yml_tree_merged(tree, layer.template_, "spec");
		if (!layer.template_)
			continue;
		int rc = pod_look(tree, name, &layer, FLINK_CONTAINER, &pod, err);
		if (rc < 0)
			return rc;
		const struct said *said[] = { &pod.user, &pod.group };
		uint64_t wanted[] = { id->user, id->group };
		for (int k = 0; k < 2; k++)
			if (said[k]->known &&
			    (!(k ? id->known || id->group_known : id->known) || said[k]->value != wanted[k]))
				return err_set(
					err, ERR_USAGE,
					"%s:%u: runAs%s is said in one layer of the pod's template and not, or otherwise, in the one that gets the sidecar: say runAsUser and runAsGroup in spec.podTemplate",
					name, said[k]->line, k ? "Group" : "User");
	}
	return 0;
}

int identity_of(const char *name, const struct yml_tree *tree, const struct site *site, const struct pod *pod,
		const struct inject_options *options, struct identity *ret, struct err *err)
{
	struct identity id = { .group_known = pod->group.known, .group = pod->group.value };
	int rc = check_told(name, pod, options, err);
	if (rc < 0)
		return rc;
	if (pod->user.known || options->has_user) {
		if (options->has_user && !options->has_group && !pod->user.known)
			return err_set(err, ERR_USAGE, "--uid without --gid: the sidecar needs the JVM's group, too");
		id.known = true;
		id.user = pod->user.known ? pod->user.value : options->user;
		rc = find_group(name, pod, options, &id, err);
		id.root = id.user == 0;
		id.tell_pod = id.tell_group && id.tell_group == yml_tree_merged(tree, pod->spec, "securityContext");
	}
	if (rc == 0 && site->type == SITE_FLINK)
		rc = check_layers(name, tree, site, &id, err);
	if (rc == 0)
		*ret = id;
	return rc;
}
