/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/leaf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "net/certs.h"
#include "sys/file.h"

enum { PATH_CAP = 4096, DAY_S = 86400, DUE_S = LEAF_DAYS * DAY_S / 3 };

static int read_authority(const char *directory, const char *file, struct buf *out, struct err *err)
{
	char path[PATH_CAP];
	(void)snprintf(path, sizeof path, "%s/%s", directory, file);
	int rc = file_read_at(AT_FDCWD, path, CERTS_PEM_MAX, out, err);
	if (rc < 0)
		err_wrap(err, "--tls-ca");
	return rc;
}

/* Whole or not at all, and the key for nobody else from its first byte on. */
static int write_file(const char *path, struct str bytes, mode_t mode, struct err *err)
{
	char fresh[PATH_CAP];
	if ((size_t)snprintf(fresh, sizeof fresh, "%s.new", path) >= sizeof fresh)
		return err_set(err, ERR_USAGE, "%.80s...: a path so long is none", path);
	(void)unlink(fresh);
	int rc = file_create_at(AT_FDCWD, fresh, bytes, mode, err);
	if (rc == 0 && rename(fresh, path) < 0)
		rc = err_sys(err, errno, "%.200s cannot be written", path);
	return rc;
}

/* One that ends with its authority gets no better by being made anew. */
static bool is_good(struct str cert, struct str ca, const char *names, int64_t now_s)
{
	int64_t left_s = certs_good_for(cert, ca, names, now_s), most_s = certs_good_for(ca, ca, "", now_s);
	return left_s > DUE_S || (left_s > 0 && left_s + DAY_S >= most_s);
}

int leaf_keep(const struct collectorconf *conf, struct wall now, bool *ret_made, struct err *err)
{
	struct err ignored;
	auto_buf struct buf ca = { .cap = CERTS_PEM_MAX }, key = { .cap = CERTS_PEM_MAX },
			    have = { .cap = CERTS_PEM_MAX };
	auto_certs_pair struct certs_pair pair = { 0 };
	*ret_made = false;
	int rc = read_authority(conf->tls_ca, "ca.crt", &ca, err);
	if (rc < 0)
		return rc;
	/* The key is written first: a certificate that is there has its key. */
	if (file_read_at(AT_FDCWD, conf->tls_cert, CERTS_PEM_MAX, &have, &ignored) == 0 &&
	    access(conf->tls_key, R_OK) == 0 && is_good(buf_str(&have), buf_str(&ca), conf->tls_names, now.ms / 1000))
		return 0;
	rc = read_authority(conf->tls_ca, "ca.key", &key, err);
	if (rc == 0)
		rc = certs_server(buf_str(&ca), buf_str(&key), conf->tls_names, now.ms / 1000, LEAF_DAYS, &pair, err);
	if (key.ptr)
		explicit_bzero(key.ptr, key.room);
	if (rc == 0)
		rc = write_file(conf->tls_key, buf_str(&pair.key), 0600, err);
	if (rc == 0)
		rc = write_file(conf->tls_cert, buf_str(&pair.cert), 0644, err);
	*ret_made = rc == 0;
	return rc;
}
