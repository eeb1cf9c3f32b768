/* SPDX-License-Identifier: Apache-2.0 */
/* A line of a watch of Kubernetes' pods: what is taken has its names, nothing to escape, and its caps. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "base/esc.h"
#include "collector/pod_seen.h"

static void check_text(const char *text, size_t cap)
{
	if (strnlen(text, cap) == cap || !esc_is_plain(str_of(text)))
		abort();
}

static void check_pod(const struct pod_seen *pod)
{
	check_text(pod->namespace_, sizeof pod->namespace_);
	check_text(pod->name, sizeof pod->name);
	check_text(pod->uid, sizeof pod->uid);
	check_text(pod->node, sizeof pod->node);
	check_text(pod->reason, sizeof pod->reason);
	check_text(pod->message, sizeof pod->message);
	if (!pod->namespace_[0] || !pod->name[0] || !pod->uid[0] || pod->n_ends > POD_ENDS_MAX)
		abort();
	for (unsigned i = 0; i < pod->n_ends; i++) {
		const struct pod_end *end = &pod->ends[i];
		check_text(end->container, sizeof end->container);
		check_text(end->reason, sizeof end->reason);
		check_text(end->message, sizeof end->message);
		if (!end->container[0] || end->exit_code < -1 || end->signal < 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pod_news news;
	struct err err = { 0 };
	if (pod_news_parse((struct str){ (const char *)data, size }, &news, &err) < 0)
		return 0;
	check_text(news.version, sizeof news.version);
	if (news.kind == POD_NEWS_SEEN || news.kind == POD_NEWS_GONE)
		check_pod(&news.pod);
	return 0;
}
