/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence to a directory and back: the capture's two ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/esc.h"
#include "base/limits.h"
#include "sys/evidence.h"
#include "sys/file.h"

enum { MANIFEST_CAP = 256 * 1024 };

static const char manifest_head[] = "bankfull-capture ";

static bool any_name(void *context, const char *name)
{
	(void)name;
	*(bool *)context = true;
	return false;
}

static int open_new_directory(const char *directory, int *ret_fd, struct err *err)
{
	if (mkdir(directory, 0700) != 0 && errno != EEXIST)
		return err_sys(err, errno, "capture: cannot make %s", directory);
	auto_close int fd = -1;
	int rc = dir_open_at(AT_FDCWD, directory, &fd, err);
	bool used = false;
	if (rc == 0)
		rc = dir_list(fd, 1, any_name, &used, err);
	if (rc == 0 && used)
		rc = err_set(err, ERR_USAGE, "%s is not empty: give a directory that does not exist", directory);
	if (rc == 0)
		*ret_fd = TAKE_FD(fd);
	return rc;
}

/* "proc/smaps": one folder deep at most, both parts plain names. Checked when a manifest is read, too. */
static bool plain_name(struct str name, size_t *ret_slash)
{
	size_t slash = str_index(name, '/');
	if (name.len == 0 || name.len >= EVIDENCE_NAME_CAP || name.ptr[0] == '.' || slash == 0 || slash + 1 == name.len)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
			    c == '-';
		if (!word && !(c == '.' && i > 0 && name.ptr[i - 1] != '/') && !(c == '/' && i == slash))
			return false;
	}
	*ret_slash = slash;
	return true;
}

static int write_item(int root, const struct evidence_item *item, struct err *err)
{
	size_t slash;
	struct str name = str_of(item->name);
	if (!plain_name(name, &slash))
		return err_set(err, ERR_MALFORMED, "capture: '%s' is no name for a file", item->name);
	auto_close int folder = -1;
	int at = root;
	const char *file = item->name;
	if (slash < name.len) {
		char first[EVIDENCE_NAME_CAP];
		str_copy(first, sizeof first, (struct str){ name.ptr, slash });
		if (mkdirat(root, first, 0700) != 0 && errno != EEXIST)
			return err_sys(err, errno, "capture: cannot make %s", first);
		int rc = dir_open_beneath(root, first, &folder, err);
		if (rc < 0)
			return rc;
		at = folder;
		file = item->name + slash + 1;
	}
	return file_write_at(at, file, buf_str(&item->bytes), 0600, err);
}

int evidence_write(const struct evidence *evidence, const char *directory, const char *program_version, struct err *err)
{
	auto_close int root = -1;
	int rc = open_new_directory(directory, &root, err);
	if (rc < 0)
		return rc;
	auto_buf struct buf manifest = { .cap = MANIFEST_CAP };
	(void)buf_printf(&manifest, "%s%d\nversion %s\n", manifest_head, EVIDENCE_FORMAT, program_version);
	(void)buf_add(&manifest, buf_str(&evidence->facts));
	for (size_t i = 0; i < evidence->n; i++) {
		const struct evidence_item *item = &evidence->items[i];
		if (item->err.kind != ERR_NONE) {
			(void)buf_printf(&manifest, "gap %s %s %s\n", item->name, err_kind_names[item->err.kind],
					 item->err.message);
			continue;
		}
		rc = write_item(root, item, err);
		if (rc < 0)
			return rc;
		(void)buf_printf(&manifest, "file %s %zu\n", item->name, item->bytes.len);
	}
	(void)buf_puts(&manifest, "end\n");
	if (buf_failed(&manifest))
		return err_set(err, ERR_NOMEM, "capture: no memory for its manifest");
	return file_write_at(root, "manifest", buf_str(&manifest), 0600, err);
}

static int load_file(int root, struct str line, struct evidence *evidence, size_t *total, struct err *err)
{
	struct str name;
	uint64_t size;
	size_t slash;
	if (!str_split(&line, ' ', &name) || !plain_name(name, &slash) || !str_is_u64(line, &size))
		return err_set(err, ERR_MALFORMED,
			       "capture: a file line of its manifest is wrong: take the capture again");
	if (size > LIMIT_CAPTURE - *total)
		return err_set(err, ERR_LIMIT, "capture: larger than %d MiB", LIMIT_CAPTURE >> 20);
	*total += size;
	char path[EVIDENCE_NAME_CAP];
	str_copy(path, sizeof path, name);
	struct buf *bytes = evidence_new(evidence, path, size + 1);
	if (!bytes)
		return err_set(err, ERR_LIMIT, "capture: more than %d files", EVIDENCE_MAX);
	int rc = file_read_beneath(root, path, size + 1, bytes, err);
	if (rc < 0 && err && err->kind == ERR_GONE)
		return err_set(err, ERR_MALFORMED, "capture: file %s is missing: copy the whole directory", path);
	if (rc < 0 && err && err->kind == ERR_LIMIT)
		return err_set(
			err, ERR_MALFORMED,
			"capture: file %s has more than the %llu bytes of its manifest: copy the whole directory", path,
			(unsigned long long)size);
	if (rc < 0)
		err_wrap(err, "capture");
	if (rc == 0 && bytes->len != size)
		rc = err_set(err, ERR_MALFORMED,
			     "capture: file %s has %zu bytes, its manifest says %llu: copy the whole directory", path,
			     bytes->len, (unsigned long long)size);
	return rc;
}

static int load_gap(struct str line, struct evidence *evidence, struct err *err)
{
	struct str name, kind_name;
	char path[EVIDENCE_NAME_CAP], kind_text[32], message[320];
	if (!str_split(&line, ' ', &name) || name.len >= sizeof path || !str_split(&line, ' ', &kind_name))
		return err_set(err, ERR_MALFORMED,
			       "capture: a gap line of its manifest is wrong: take the capture again");
	str_copy(path, sizeof path, name);
	str_copy(kind_text, sizeof kind_text, kind_name);
	str_copy(message, sizeof message, line);
	enum err_kind kind = err_kind_find(kind_text);
	evidence_fail_set(evidence, path, kind == ERR_NONE ? ERR_IO : kind, message);
	return 0;
}

/* True: `line` is the end of the manifest. */
static int load_line(int root, struct str line, struct evidence *evidence, size_t *total, bool *ended, struct err *err)
{
	if (str_take(&line, STR("file ")))
		return load_file(root, line, evidence, total, err);
	if (str_take(&line, STR("gap ")))
		return load_gap(line, evidence, err);
	if (str_starts(line, STR("version "))) /* who wrote it: of the capture, not of the evidence */
		return 0;
	if (str_eq(line, STR("end")))
		*ended = true;
	else if (!buf_add(&evidence->facts, line) || !buf_putc(&evidence->facts, '\n'))
		return err_set(err, ERR_LIMIT, "capture: its manifest holds too much");
	return 0;
}

int evidence_load(const char *directory, struct evidence *ret_evidence, struct err *err)
{
	auto_close int root = -1;
	int rc = dir_open_at(AT_FDCWD, directory, &root, err);
	if (rc < 0) {
		if (err && err->kind == ERR_GONE)
			rc = err_set(err, ERR_USAGE, "%s: no such directory: give one that `bankfull capture -o` made",
				     directory);
		return rc;
	}
	auto_buf struct buf manifest = { .cap = MANIFEST_CAP };
	rc = file_read_beneath(root, "manifest", MANIFEST_CAP, &manifest, err);
	if (rc < 0) {
		if (err && err->kind == ERR_GONE)
			rc = err_set(err, ERR_MALFORMED,
				     "%s is no capture: it has no manifest (an interrupted capture has none)",
				     directory);
		return rc;
	}
	struct str rest = buf_str(&manifest), line;
	uint64_t format;
	if (!str_line(&rest, &line) || !str_take(&line, str_of(manifest_head)) || !str_is_u64(line, &format))
		return err_set(err, ERR_MALFORMED, "%s is no capture: its manifest does not start with '%sN'",
			       directory, manifest_head);
	if (format > EVIDENCE_FORMAT)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s is a capture of format %llu, this program reads %d: use a newer bankfull", directory,
			       (unsigned long long)format, EVIDENCE_FORMAT);
	size_t total = 0;
	bool ended = false;
	while (rc == 0 && !ended && str_line(&rest, &line))
		rc = load_line(root, line, ret_evidence, &total, &ended, err);
	if (rc == 0 && !ended)
		rc = err_set(err, ERR_MALFORMED, "%s: its manifest is cut: copy the whole directory", directory);
	return rc;
}
