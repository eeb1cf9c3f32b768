/* SPDX-License-Identifier: Apache-2.0 */
/* A subject in its row: JSON, so that sqlite3(1) shows it and a later version may add to it. */
#include "collector/store_db.h"
#include "data/js.h"

enum { SUBJECT_TEXT_MAX = 32 * 1024 };

int store_subject_write(const struct wire_hello *hello, struct buf *out, struct err *err)
{
	const struct wire_subject *s = &hello->subject;
	const struct {
		const char *key, *value;
	} fields[] = {
		{ "cluster", s->cluster },     { "namespace", s->namespace_ },
		{ "workload", s->workload },   { "pod", s->pod },
		{ "pod_uid", s->pod_uid },     { "node", s->node },
		{ "container", s->container }, { "program", hello->program },
		{ "jdk", hello->jdk },         { "engine", hello->engine },
	};
	struct js_out js;
	js_out_start(&js, out, 0);
	js_out_object(&js);
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		if (!fields[i].value[0])
			continue;
		js_out_key(&js, fields[i].key);
		js_out_text(&js, fields[i].value);
	}
	if (s->asserted) {
		js_out_key(&js, "asserted");
		js_out_bool(&js, true);
	}
	js_out_key(&js, "role");
	js_out_u64(&js, s->role);
	js_out_key(&js, "jobs");
	js_out_array(&js);
	for (size_t i = 0; i < s->n_jobs; i++)
		js_out_text(&js, s->jobs[i]);
	js_out_array_end(&js);
	js_out_key(&js,
		   "labels"); /* pairs in an array: two labels of one key, of whoever lies, would break an object */
	js_out_array(&js);
	for (size_t i = 0; i < s->n_labels; i++) {
		js_out_array(&js);
		js_out_text(&js, s->labels[i].key);
		js_out_text(&js, s->labels[i].value);
		js_out_array_end(&js);
	}
	js_out_array_end(&js);
	js_out_object_end(&js);
	return js_out_end(&js, err);
}

static void read_text(const struct js *value, char *dest, size_t cap)
{
	struct str text;
	if (js_str(value, &text))
		str_copy(dest, cap, text);
}

int store_subject_read(struct str text, struct wire_hello *ret_hello, struct err *err)
{
	auto_js struct js *root = NULL;
	struct wire_hello hello = { 0 };
	struct wire_subject s = { 0 };
	uint64_t role;
	int rc = js_parse(text, SUBJECT_TEXT_MAX, &root, err);
	if (rc < 0) {
		err_wrap(err, "store: subject of an agent");
		return rc;
	}
	read_text(js_get(root, "cluster"), s.cluster, sizeof s.cluster);
	read_text(js_get(root, "namespace"), s.namespace_, sizeof s.namespace_);
	read_text(js_get(root, "workload"), s.workload, sizeof s.workload);
	read_text(js_get(root, "pod"), s.pod, sizeof s.pod);
	read_text(js_get(root, "pod_uid"), s.pod_uid, sizeof s.pod_uid);
	read_text(js_get(root, "node"), s.node, sizeof s.node);
	read_text(js_get(root, "container"), s.container, sizeof s.container);
	read_text(js_get(root, "program"), hello.program, sizeof hello.program);
	read_text(js_get(root, "jdk"), hello.jdk, sizeof hello.jdk);
	read_text(js_get(root, "engine"), hello.engine, sizeof hello.engine);
	if (js_u64(js_get(root, "role"), &role) && role < ROLE_COUNT)
		s.role = (enum wire_role)role;
	s.asserted = js_bool(js_get(root, "asserted"), &s.asserted) && s.asserted;
	const struct js *jobs = js_get(root, "jobs"), *labels = js_get(root, "labels");
	for (; s.n_jobs < js_len(jobs) && s.n_jobs < WIRE_JOBS_MAX; s.n_jobs++)
		read_text(js_at(jobs, s.n_jobs), s.jobs[s.n_jobs], sizeof s.jobs[0]);
	for (; s.n_labels < js_len(labels) && s.n_labels < WIRE_LABELS_MAX; s.n_labels++) {
		struct wire_label *label = &s.labels[s.n_labels];
		read_text(js_at(js_at(labels, s.n_labels), 0), label->key, sizeof label->key);
		read_text(js_at(js_at(labels, s.n_labels), 1), label->value, sizeof label->value);
	}
	hello.subject = s;
	*ret_hello = hello;
	return 0;
}
