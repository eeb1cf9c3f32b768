/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/init_tls.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/base64.h"
#include "collector/kube_api.h"
#include "data/js.h"
#include "net/certs.h"
#include "sys/file.h"

enum { BODY_CAP = 256 * 1024, NAME_CAP = 254, TIMEOUT_MS = 10000 };

#define ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

/* The API server, as this pod's service account. */
struct api {
	struct kube_api kube;
	char namespace_[NAME_CAP];
	struct buf *said;
};

static bool is_name(const char *name)
{
	return name[0] && strlen(name) < NAME_CAP && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.")];
}

static int api_open(const struct init_tls_options *o, struct api *api, struct err *err)
{
	auto_buf struct buf namespace_ = { .cap = NAME_CAP };
	int rc = kube_api_set(o->api, o->api_ca_file, o->api_token_file, &api->kube, err);
	if (rc == 0 && !o->namespace_)
		rc = file_read_at(AT_FDCWD, ACCOUNT "/namespace", NAME_CAP - 1, &namespace_, err);
	if (rc < 0)
		return rc;
	str_copy(api->namespace_, sizeof api->namespace_,
		 o->namespace_ ? str_of(o->namespace_) : str_trim(buf_str(&namespace_)));
	if (!is_name(api->namespace_) || !is_name(o->secret) || !is_name(o->config_map))
		return err_set(err, ERR_USAGE, "namespace, Secret and ConfigMap are names of Kubernetes");
	return 0;
}

/* `method` NULL: GET. The status also of what was refused. `name` NULL: the collection. */
static int call(struct api *api, const char *method, const char *kind, const char *name, struct str body,
		struct buf *answer, long *ret_status, struct err *err)
{
	char path[2 * NAME_CAP + 64];
	(void)snprintf(path, sizeof path, "/api/v1/namespaces/%s/%s%s%s", api->namespace_, kind, name ? "/" : "",
		       name ? name : "");
	const struct kube_request request = {
		.method = method, .path = path, .body = body, .cap = BODY_CAP, .timeout_ms = TIMEOUT_MS
	};
	return kube_call(&api->kube, &request, answer, ret_status, err);
}

static void object_start(struct js_out *js, struct buf *out, const char *kind, const char *name)
{
	js_out_start(js, out, 0);
	js_out_object(js);
	js_out_key(js, "apiVersion");
	js_out_text(js, "v1");
	js_out_key(js, "kind");
	js_out_text(js, kind);
	js_out_key(js, "metadata");
	js_out_object(js);
	js_out_key(js, "name");
	js_out_text(js, name);
	js_out_key(js, "labels");
	js_out_object(js);
	js_out_key(js, "app.kubernetes.io/managed-by");
	js_out_text(js, "bankfull-init-tls");
	js_out_object_end(js);
	js_out_object_end(js);
}

static int secret_body(const char *name, const struct certs_pair *pair, struct buf *out, struct err *err)
{
	struct js_out js;
	object_start(&js, out, "Secret", name);
	js_out_key(&js, "type");
	js_out_text(&js, "Opaque");
	js_out_key(&js, "stringData");
	js_out_object(&js);
	js_out_key(&js, "ca.crt");
	js_out_str(&js, buf_str(&pair->cert));
	js_out_key(&js, "ca.key");
	js_out_str(&js, buf_str(&pair->key));
	js_out_object_end(&js);
	js_out_object_end(&js);
	return js_out_end(&js, err);
}

static int config_map_body(const char *name, struct str cert, struct buf *out, struct err *err)
{
	struct js_out js;
	object_start(&js, out, "ConfigMap", name);
	js_out_key(&js, "data");
	js_out_object(&js);
	js_out_key(&js, "ca.crt");
	js_out_str(&js, cert);
	js_out_object_end(&js);
	js_out_object_end(&js);
	return js_out_end(&js, err);
}

static bool secret_text(const struct js *root, const char *key, struct buf *out)
{
	struct str text;
	return js_str(js_get(js_get(root, "data"), key), &text) && base64_decode(text, out);
}

static int read_secret(const struct init_tls_options *o, struct str json, int64_t now_s, struct buf *cert,
		       struct err *err)
{
	auto_js struct js *root = NULL;
	auto_buf struct buf key = { .cap = CERTS_PEM_MAX };
	int rc = js_parse(json, BODY_CAP, &root, err);
	if (rc < 0)
		return rc;
	if (!secret_text(root, "ca.crt", cert) || !secret_text(root, "ca.key", &key))
		return err_set(
			err, ERR_MALFORMED,
			"the Secret %s has no ca.crt and ca.key: another one's? Give it another name, or delete it",
			o->secret);
	rc = certs_check_authority(buf_str(cert), buf_str(&key), now_s, err);
	if (rc < 0)
		err_wrap(err, "the Secret %s", o->secret);
	explicit_bzero(key.ptr, key.room);
	return rc;
}

/* Somebody else may be making it at the same time: the first one's holds. */
static int keep_secret(struct api *api, const struct init_tls_options *o, int64_t now_s, struct buf *cert,
		       struct err *err)
{
	auto_buf struct buf answer = { .cap = BODY_CAP }, body = { .cap = BODY_CAP };
	auto_certs_pair struct certs_pair pair = { 0 };
	long status;
	int rc = call(api, NULL, "secrets", o->secret, STR(""), &answer, &status, err);
	if (rc == 0) {
		(void)buf_printf(api->said, "the Secret %s has an authority: it is kept\n", o->secret);
		return read_secret(o, buf_str(&answer), now_s, cert, err);
	}
	if (status != 404)
		return rc;
	rc = certs_authority("Bankfull", now_s, INIT_TLS_DAYS, &pair, err);
	if (rc == 0)
		rc = secret_body(o->secret, &pair, &body, err);
	if (rc == 0)
		rc = call(api, "POST", "secrets", NULL, buf_str(&body), &answer, &status, err);
	if (body.ptr)
		explicit_bzero(body.ptr, body.room);
	if (rc < 0 && status == 409) {
		buf_clear(&answer);
		rc = call(api, NULL, "secrets", o->secret, STR(""), &answer, &status, err);
		return rc < 0 ? rc : read_secret(o, buf_str(&answer), now_s, cert, err);
	}
	if (rc < 0)
		return rc;
	(void)buf_printf(api->said, "an authority was made, good for %d days: Secret %s\n", INIT_TLS_DAYS, o->secret);
	return buf_add(cert, buf_str(&pair.cert)) ? 0 : err_set(err, ERR_NOMEM, "no memory");
}

static int keep_config_map(struct api *api, const struct init_tls_options *o, struct str cert, struct err *err)
{
	auto_buf struct buf answer = { .cap = BODY_CAP }, body = { .cap = BODY_CAP };
	auto_js struct js *root = NULL;
	struct str have = STR("");
	long status;
	int rc = config_map_body(o->config_map, cert, &body, err);
	if (rc < 0)
		return rc;
	rc = call(api, NULL, "configmaps", o->config_map, STR(""), &answer, &status, err);
	if (rc < 0 && status != 404)
		return rc;
	bool there = rc == 0;
	if (there && js_parse(buf_str(&answer), BODY_CAP, &root, NULL) == 0 &&
	    js_str(js_get(js_get(root, "data"), "ca.crt"), &have) && str_eq(have, cert))
		return 0;
	buf_clear(&answer);
	rc = there ? call(api, "PUT", "configmaps", o->config_map, buf_str(&body), &answer, &status, err)
		   : call(api, "POST", "configmaps", NULL, buf_str(&body), &answer, &status, err);
	if (rc == 0)
		(void)buf_printf(api->said, "its certificate stands in the ConfigMap %s\n", o->config_map);
	return rc;
}

static int take_away(struct api *api, const char *kind, const char *name, struct err *err)
{
	auto_buf struct buf answer = { .cap = BODY_CAP };
	long status;
	int rc = call(api, "DELETE", kind, name, STR(""), &answer, &status, err);
	if (rc < 0 && status == 404)
		return 0;
	if (rc == 0)
		(void)buf_printf(api->said, "%s %s is deleted\n", kind, name);
	return rc;
}

int init_tls(const struct init_tls_options *options, int64_t now_s, struct buf *said, struct err *err)
{
	struct api api = { .said = said };
	auto_buf struct buf cert = { .cap = CERTS_PEM_MAX };
	int rc = api_open(options, &api, err);
	if (rc < 0)
		return rc;
	if (options->remove) {
		rc = take_away(&api, "configmaps", options->config_map, err);
		return rc < 0 ? rc : take_away(&api, "secrets", options->secret, err);
	}
	rc = keep_secret(&api, options, now_s, &cert, err);
	return rc < 0 ? rc : keep_config_map(&api, options, buf_str(&cert), err);
}
