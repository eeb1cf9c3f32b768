/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const err_kind_names[ERR_KIND_COUNT] = {
	[ERR_NONE] = "none",
	[ERR_GONE] = "gone",
	[ERR_DENIED] = "denied",
	[ERR_UNSUPPORTED] = "unsupported",
	[ERR_MALFORMED] = "malformed",
	[ERR_TIMEOUT] = "timeout",
	[ERR_LIMIT] = "limit",
	[ERR_USAGE] = "usage",
	[ERR_IO] = "io",
	[ERR_NOMEM] = "nomem",
};

static const int kind_errno[ERR_KIND_COUNT] = {
	[ERR_NONE] = EINVAL,
	[ERR_GONE] = ESRCH,
	[ERR_DENIED] = EACCES,
	[ERR_UNSUPPORTED] = EOPNOTSUPP,
	[ERR_MALFORMED] = EBADMSG,
	[ERR_TIMEOUT] = ETIMEDOUT,
	[ERR_LIMIT] = EFBIG,
	[ERR_USAGE] = EINVAL,
	[ERR_IO] = EIO,
	[ERR_NOMEM] = ENOMEM,
};

static enum err_kind kind_of_errno(int errnum)
{
	switch (errnum) {
	case ENOENT:
	case ESRCH:
	case ENODEV:
		return ERR_GONE;
	case EACCES:
	case EPERM:
		return ERR_DENIED;
	case ENOSYS:
	case EOPNOTSUPP:
	case ENOTDIR: /* these four: not what stands there was looked for */
	case EISDIR:
	case ELOOP:
	case ENAMETOOLONG:
		return ERR_UNSUPPORTED;
	case ETIMEDOUT:
	case EAGAIN:
		return ERR_TIMEOUT;
	case EFBIG:
	case E2BIG:
		return ERR_LIMIT;
	case ENOMEM:
		return ERR_NOMEM;
	default:
		return ERR_IO;
	}
}

int err_set(struct err *err, enum err_kind kind, const char *format, ...)
{
	if (err) {
		va_list args;
		va_start(args, format);
		err->kind = kind;
		err->errnum = 0;
		(void)vsnprintf(err->message, sizeof err->message, format, args);
		va_end(args);
	}
	return -kind_errno[kind];
}

int err_sys(struct err *err, int errnum, const char *format, ...)
{
	if (err) {
		va_list args;
		va_start(args, format);
		err->kind = kind_of_errno(errnum);
		err->errnum = errnum;
		int len = vsnprintf(err->message, sizeof err->message, format, args);
		va_end(args);
		if (len >= 0 && (size_t)len < sizeof err->message)
			(void)snprintf(err->message + len, sizeof err->message - (size_t)len, ": %s", strerror(errnum));
	}
	return errnum > 0 ? -errnum : -EIO;
}

void err_wrap(struct err *err, const char *format, ...)
{
	if (!err)
		return;
	char old[sizeof err->message];
	memcpy(old, err->message, sizeof old);
	va_list args;
	va_start(args, format);
	int len = vsnprintf(err->message, sizeof err->message, format, args);
	va_end(args);
	if (len >= 0 && (size_t)len < sizeof err->message)
		(void)snprintf(err->message + len, sizeof err->message - (size_t)len, ": %s", old);
}

enum err_kind err_kind_find(const char *name)
{
	for (int kind = 0; kind < ERR_KIND_COUNT; kind++)
		if (strcmp(err_kind_names[kind], name) == 0)
			return (enum err_kind)kind;
	return ERR_NONE;
}
