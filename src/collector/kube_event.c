/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/kube_event.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/date.h"
#include "base/esc.h"
#include "data/js.h"

enum { POD_PART_MAX = 200, REASON_MAX = 128, INSTANCE_MAX = 128 };

static bool is_lower(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
}

/* FNV-1a, 64 bits. */
static uint64_t add_to_hash(uint64_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	while (*text++);
	return hash;
}

void kube_event_name(const struct kube_event *event, char dest[KUBE_EVENT_NAME_CAP])
{
	uint64_t hash = add_to_hash(UINT64_C(0xcbf29ce484222325), event->pod_uid);
	hash = add_to_hash(hash, event->finding);
	hash = add_to_hash(hash, severity_names[event->severity]);
	size_t len = strnlen(event->pod, POD_PART_MAX);
	/* A part of a name between dots ends with a letter or a digit (RFC 1123). */
	while (len && !is_lower(event->pod[len - 1]))
		len--;
	(void)snprintf(dest, KUBE_EVENT_NAME_CAP, "%.*s.%016" PRIx64, (int)len, event->pod, hash);
}

void kube_event_reason(const char *rule, char *dest, size_t cap)
{
	size_t n = 0;
	bool up = true;
	for (; *rule && n + 1 < cap; rule++) {
		if (!is_lower(*rule)) {
			up = true;
			continue;
		}
		dest[n++] = up && *rule >= 'a' ? (char)(*rule - 'a' + 'A') : *rule;
		up = false;
	}
	dest[n] = '\0';
}

static void put_note(struct js_out *js, const struct kube_event *event)
{
	char raw[KUBE_EVENT_NOTE_MAX], note[KUBE_EVENT_NOTE_MAX];
	(void)snprintf(raw, sizeof raw, "%.300s (%s%s%s; bankfull explain %s)%s%.400s", event->title,
		       severity_names[event->severity], event->owner ? ", " : "", event->owner ? event->owner : "",
		       event->rule, event->link[0] ? " " : "", event->link);
	js_out_key(js, "note");
	js_out_text(js, esc_copy(note, sizeof note, str_of(raw)));
}

static void put_regarding(struct js_out *js, const struct kube_event *event)
{
	char path[128];
	js_out_key(js, "regarding");
	js_out_object(js);
	js_out_key(js, "apiVersion");
	js_out_text(js, "v1");
	js_out_key(js, "kind");
	js_out_text(js, "Pod");
	js_out_key(js, "namespace");
	js_out_text(js, event->namespace_);
	js_out_key(js, "name");
	js_out_text(js, event->pod);
	js_out_key(js, "uid");
	js_out_text(js, event->pod_uid);
	if (event->container[0]) {
		(void)snprintf(path, sizeof path, "spec.containers{%s}", event->container);
		js_out_key(js, "fieldPath");
		js_out_text(js, path);
	}
	js_out_object_end(js);
}

int kube_event_encode(const struct kube_event *event, struct buf *out, struct err *err)
{
	char name[KUBE_EVENT_NAME_CAP], reason[REASON_MAX], instance[INSTANCE_MAX], at[DATE_TEXT_CAP], micro[40];
	struct js_out js;
	kube_event_name(event, name);
	kube_event_reason(event->rule, reason, sizeof reason);
	/* metav1.MicroTime is read with six decimals, no more and no fewer. */
	(void)date_format_instant(at, event->at.ms);
	(void)snprintf(micro, sizeof micro, "%.*s000Z", (int)(strlen(at) - 1), at);
	js_out_start(&js, out, 0);
	js_out_object(&js);
	js_out_key(&js, "apiVersion");
	js_out_text(&js, "events.k8s.io/v1");
	js_out_key(&js, "kind");
	js_out_text(&js, "Event");
	js_out_key(&js, "metadata");
	js_out_object(&js);
	js_out_key(&js, "name");
	js_out_text(&js, name);
	js_out_key(&js, "namespace");
	js_out_text(&js, event->namespace_);
	js_out_object_end(&js);
	js_out_key(&js, "eventTime");
	js_out_text(&js, micro);
	js_out_key(&js, "type");
	js_out_text(&js, "Warning");
	js_out_key(&js, "reason");
	js_out_text(&js, reason[0] ? reason : "Finding");
	js_out_key(&js, "action");
	js_out_text(&js, "Watched");
	js_out_key(&js, "reportingController");
	js_out_text(&js, "bankfull.io/collector");
	js_out_key(&js, "reportingInstance");
	js_out_text(&js, esc_copy(instance, sizeof instance,
				  str_of(event->instance[0] ? event->instance : "bankfull-collector")));
	put_regarding(&js, event);
	put_note(&js, event);
	js_out_object_end(&js);
	return js_out_end(&js, err);
}
