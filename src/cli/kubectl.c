/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/kubectl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/esc.h"
#include "sys/child.h"

bool kubectl_is_there(void)
{
	const char *path = getenv("PATH");
	struct str rest = str_of(path ? path : ""), part;
	while (str_split(&rest, ':', &part)) {
		char file[4096];
		int n = snprintf(file, sizeof file, "%.*s/kubectl", (int)part.len, part.ptr);
		if (part.len && n > 0 && (size_t)n < sizeof file && access(file, X_OK) == 0)
			return true;
	}
	return false;
}

/* In the child: what it says on both goes to us, for its complaints are ours to tell. */
static int work(void *context, int out_fd)
{
	if (dup2(out_fd, STDOUT_FILENO) < 0 || dup2(out_fd, STDERR_FILENO) < 0)
		return 127;
	(void)execvp("kubectl", context);
	return 127;
}

static struct str last_line(struct str text)
{
	struct str line, last = STR("it said nothing");
	while (str_line(&text, &line)) {
		line = str_trim(line);
		if (line.len)
			last = line;
	}
	return last;
}

int kubectl_ask(const char *const args[], unsigned timeout_ms, size_t cap, struct buf *out, struct err *err)
{
	struct child_result result;
	char said[200], **copy;
	size_t n = 0;
	while (args[n])
		n++;
	copy = calloc(n + 1, sizeof *copy);
	if (!copy)
		return err_set(err, ERR_NOMEM, "no memory");
	int rc = 0;
	for (size_t i = 0; i < n && rc == 0; i++)
		if (!(copy[i] = strdup(args[i])))
			rc = err_set(err, ERR_NOMEM, "no memory");
	if (rc == 0)
		rc = child_run(work, copy, mono_add_ms(clock_mono(), timeout_ms), cap, out, &result, err);
	for (size_t i = 0; i < n; i++)
		free(copy[i]);
	free(copy);
	if (rc < 0)
		err_wrap(err, "kubectl %s", args[1]);
	else if (result.exit_status != 0)
		rc = err_set(err, ERR_UNSUPPORTED, "kubectl %s: %s", args[1],
			     esc_copy(said, sizeof said, last_line(buf_str(out))));
	return rc;
}

int kubectl_become(const char *const args[], struct err *err)
{
	char *copy[64] = { NULL };
	for (size_t i = 0; i < 63 && args[i]; i++)
		if (!(copy[i] = strdup(args[i])))
			return err_set(err, ERR_NOMEM, "no memory");
	(void)fflush(NULL);
	(void)execvp("kubectl", copy);
	return err_sys(err, errno, "kubectl cannot be run");
}

int kubectl_file(struct str text, char ret_path[32], struct err *err)
{
	int fd = memfd_create("bankfull", 0); /* stays open in what we become */
	if (fd < 0 || write(fd, text.ptr, text.len) != (ssize_t)text.len)
		return err_sys(err, errno, "no file in memory can be made");
	(void)snprintf(ret_path, 32, "/proc/self/fd/%d", fd);
	return 0;
}
