/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/jobs.h"

#include <string.h>

#include "base/esc.h"

enum { UUID_LEN = 36 };

static bool is_uuid(struct str text)
{
	static const char digits[] = "0123456789abcdef";
	if (text.len < UUID_LEN)
		return false;
	for (size_t i = 0; i < UUID_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;
		if (dash ? text.ptr[i] != '-' : !memchr(digits, text.ptr[i], sizeof digits - 1))
			return false;
	}
	return true;
}

struct str jobs_application(struct str client)
{
	for (size_t i = 1; i + 1 + UUID_LEN <= client.len; i++) {
		struct str rest = str_skip(client, i + 1);
		if (client.ptr[i] == '-' && is_uuid(rest) && (rest.len == UUID_LEN || rest.ptr[UUID_LEN] == '-'))
			return (struct str){ client.ptr, i };
	}
	return (struct str){ "", 0 };
}

static void insert(struct engine_state *state, const char *name)
{
	size_t at = 0;
	while (at < state->n_jobs && strcmp(state->jobs[at], name) < 0)
		at++;
	if (state->n_jobs == WIRE_JOBS_MAX || (at < state->n_jobs && strcmp(state->jobs[at], name) == 0))
		return;
	memmove(state->jobs[at + 1], state->jobs[at], (state->n_jobs - at) * sizeof state->jobs[0]);
	str_copy(state->jobs[at], sizeof state->jobs[0], str_of(name));
	state->n_jobs++;
}

void jobs_add_client(struct engine_state *state, struct str client)
{
	char name[sizeof state->jobs[0]];
	struct str application = jobs_application(client);
	if (application.len)
		insert(state, esc_copy(name, sizeof name, application));
}

void jobs_add(struct engine_state *state, const struct prom_sample *sample)
{
	char raw[256], name[sizeof state->jobs[0]];
	struct str value;
	if (state->kind == ENGINE_KAFKA_STREAMS) {
		if (prom_label(sample, STR("thread_id"), &value) || prom_label(sample, STR("client_id"), &value))
			jobs_add_client(state, prom_unescape(raw, sizeof raw, value));
	} else if (prom_label(sample, STR("job_name"), &value)) {
		insert(state, esc_copy(name, sizeof name, prom_unescape(raw, sizeof raw, value)));
	}
}
