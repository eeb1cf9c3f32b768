/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the Nth call of a kind fail, for tests/fault/run.  Built twice: as a library to preload
 * (it then sees the calls of the libraries too), and, with FAULT_WRAP, as an object of a program
 * linked with --wrap (for sanitizer builds, whose allocator must not be preloaded over).
 *
 * Environment:
 *   FAULT_STATE  a file shared by the process and its children; the counts live there
 *   FAULT_CALL   alloc open stat read write fork: which kind counts
 *   FAULT_NTH    which call fails, from 1; 0 counts only
 *   FAULT_HOW    fail (default), or for every call of the kind: short (a few bytes at a time),
 *                eintr (each second call)
 *   FAULT_ERRNO  the errno to fail with; default one that fits the kind
 *
 * Without FAULT_STATE every call passes.
 */
#include "fault/fault.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define SHORT_BYTES 13 /* odd, and shorter than any line of /proc that matters */

/* The layout is read by tests/fault/run. */
struct state {
	_Atomic uint64_t calls; /* of the kind, by all processes */
	_Atomic uint64_t fired; /* calls made to fail */
	char what[240];         /* the call that failed, and from where */
	_Atomic uint64_t bytes; /* asked of the allocator */
};

enum kind { KIND_NONE, ALLOC, OPEN, STAT, READ, WRITE, FORK };

static struct state *state;
static enum kind armed;
static uint64_t nth;
static enum { FAIL, SHORT, EINTR_EACH } how;
static int fail_errno;

static const struct {
	const char *name;
	int errnum;
} kinds[] = {
	[KIND_NONE] = { "none", 0 }, [ALLOC] = { "alloc", ENOMEM }, [OPEN] = { "open", EMFILE },
	[STAT] = { "stat", EACCES }, [READ] = { "read", EIO },      [WRITE] = { "write", ENOSPC },
	[FORK] = { "fork", EAGAIN },
};

static enum kind kind_of(const char *call)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(call, kinds[i].name) == 0)
			return (enum kind)i;
	}
	abort();
}

__attribute__((constructor)) static void arm_by_environment(void)
{
	const char *path = getenv("FAULT_STATE"), *call = getenv("FAULT_CALL"), *n = getenv("FAULT_NTH");
	const char *mode = getenv("FAULT_HOW"), *errnum = getenv("FAULT_ERRNO");
	void *map;
	int fd;

	if (!path || !call)
		return;
	armed = kind_of(call);
	fail_errno = kinds[armed].errnum;
	nth = n ? strtoull(n, NULL, 10) : 0;
	how = !mode ? FAIL : strcmp(mode, "short") == 0 ? SHORT : strcmp(mode, "eintr") == 0 ? EINTR_EACH : FAIL;
	if (errnum)
		fail_errno = atoi(errnum);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || syscall(SYS_ftruncate, fd, (off_t)4096) < 0)
		_exit(99);
	map = (void *)syscall(SYS_mmap, NULL, (size_t)4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)0);
	if (map == MAP_FAILED)
		_exit(99);
	syscall(SYS_close, fd);
	state = map;
}

#ifdef FAULT_WRAP
void fault_arm(const char *call, uint64_t n)
{
	static struct state here;

	memset(&here, 0, sizeof(here));
	armed = kind_of(call);
	fail_errno = kinds[armed].errnum;
	nth = n;
	how = FAIL;
	state = &here;
}

uint64_t fault_bytes(void)
{
	return state ? state->bytes : 0;
}

uint64_t fault_disarm(void)
{
	uint64_t calls = state ? state->calls : 0;

	state = NULL;
	return calls;
}
#endif

/* True when this call is the one to fail; errno is then set. */
static bool hit(enum kind kind, const char *name, const char *detail, void *caller)
{
	uint64_t now;
	Dl_info from;

	if (!state || kind != armed)
		return false;
	now = atomic_fetch_add(&state->calls, 1) + 1;
	if (how == SHORT)
		return false;
	if (how == EINTR_EACH) {
		if (now % 2 == 0 || (kind != READ && kind != WRITE) || detail)
			return false; /* calls on a path do not wait */
		errno = EINTR;
		return true;
	}
	if (now != nth)
		return false;
	atomic_fetch_add(&state->fired, 1);
	if (!dladdr(caller, &from))
		memset(&from, 0, sizeof(from));
	snprintf(state->what, sizeof(state->what), "%s(%s) from %s+0x%lx", name, detail ? detail : "",
		 from.dli_fname ? from.dli_fname : "?", (unsigned long)((char *)caller - (char *)from.dli_fbase));
	errno = fail_errno;
	return true;
}

static size_t shorten(enum kind kind, size_t n)
{
	return state && kind == armed && how == SHORT && n > SHORT_BYTES ? SHORT_BYTES : n;
}

#define CALLER __builtin_return_address(0)

#ifdef FAULT_WRAP
#define NAME(f) __wrap_##f
#define REAL(f) __real_##f
#define DECLARE(ret, f, params) \
	ret __real_##f params;  \
	ret __wrap_##f params
#define FIND(f) ((void)0)
#else
#define NAME(f)                 f
#define REAL(f)                 real_##f
#define DECLARE(ret, f, params) static ret(*real_##f) params
#define FIND(f)                                                     \
	do {                                                        \
		if (!real_##f)                                      \
			*(void **)&real_##f = dlsym(RTLD_NEXT, #f); \
	} while (0)
#endif

/* A call that fails with -1 when hit: ret, name, parameters, kind, detail for the report, arguments. */
#define CALL(ret, f, params, kind, detail, failed, args) \
	DECLARE(ret, f, params);                         \
	ret NAME(f) params                               \
	{                                                \
		FIND(f);                                 \
		if (hit(kind, #f, detail, CALLER))       \
			return failed;                   \
		return REAL(f) args;                     \
	}

/* --- alloc: dlsym itself may allocate, so the preloaded ones use the C library's other names -- */
#ifdef FAULT_WRAP
DECLARE(void *, malloc, (size_t));
DECLARE(void *, calloc, (size_t, size_t));
DECLARE(void *, realloc, (void *, size_t));
#define real_malloc  __real_malloc
#define real_calloc  __real_calloc
#define real_realloc __real_realloc
#else
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
#define real_malloc  __libc_malloc
#define real_calloc  __libc_calloc
#define real_realloc __libc_realloc
#endif

static void add_bytes(size_t n)
{
	if (state && armed == ALLOC)
		atomic_fetch_add(&state->bytes, n);
}

void *NAME(malloc)(size_t n)
{
	add_bytes(n);
	return hit(ALLOC, "malloc", NULL, CALLER) ? NULL : real_malloc(n);
}

void *NAME(calloc)(size_t n, size_t size)
{
	add_bytes(n * size);
	return hit(ALLOC, "calloc", NULL, CALLER) ? NULL : real_calloc(n, size);
}

void *NAME(realloc)(void *p, size_t n)
{
	add_bytes(n); /* the whole of it: it may have to move */
	return hit(ALLOC, "realloc", NULL, CALLER) ? NULL : real_realloc(p, n);
}

CALL(void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t off), ALLOC, NULL, MAP_FAILED,
     (at, n, prot, flags, fd, off))

/* --- open: whatever gives a descriptor --------------------------------------------------- */
#define MODE_OF(flags, mode)                   \
	mode_t mode = 0;                       \
	if ((flags) & (O_CREAT | O_TMPFILE)) { \
		va_list ap;                    \
		va_start(ap, flags);           \
		mode = va_arg(ap, mode_t);     \
		va_end(ap);                    \
	}

#define OPEN_CALL(f)                                         \
	DECLARE(int, f, (const char *path, int flags, ...)); \
	int NAME(f)(const char *path, int flags, ...)        \
	{                                                    \
		MODE_OF(flags, mode)                         \
		FIND(f);                                     \
		if (hit(OPEN, #f, path, CALLER))             \
			return -1;                           \
		return REAL(f)(path, flags, mode);           \
	}
OPEN_CALL(open)
OPEN_CALL(open64)

#define OPENAT_CALL(f)                                                  \
	DECLARE(int, f, (int dirfd, const char *path, int flags, ...)); \
	int NAME(f)(int dirfd, const char *path, int flags, ...)        \
	{                                                               \
		MODE_OF(flags, mode)                                    \
		FIND(f);                                                \
		if (hit(OPEN, #f, path, CALLER))                        \
			return -1;                                      \
		return REAL(f)(dirfd, path, flags, mode);               \
	}
OPENAT_CALL(openat)
OPENAT_CALL(openat64)

CALL(int, __open_2, (const char *path, int flags), OPEN, path, -1, (path, flags))
CALL(int, __open64_2, (const char *path, int flags), OPEN, path, -1, (path, flags))
CALL(int, __openat_2, (int dirfd, const char *path, int flags), OPEN, path, -1, (dirfd, path, flags))
CALL(int, __openat64_2, (int dirfd, const char *path, int flags), OPEN, path, -1, (dirfd, path, flags))
CALL(FILE *, fopen, (const char *path, const char *mode), OPEN, path, NULL, (path, mode))
CALL(FILE *, fopen64, (const char *path, const char *mode), OPEN, path, NULL, (path, mode))
CALL(DIR *, opendir, (const char *path), OPEN, path, NULL, (path))
CALL(DIR *, fdopendir, (int fd), OPEN, NULL, NULL, (fd))
CALL(int, dup, (int fd), OPEN, NULL, -1, (fd))
CALL(int, pipe, (int fds[2]), OPEN, NULL, -1, (fds))
CALL(int, pipe2, (int fds[2], int flags), OPEN, NULL, -1, (fds, flags))
CALL(int, memfd_create, (const char *name, unsigned flags), OPEN, name, -1, (name, flags))
CALL(int, socket, (int family, int type, int protocol), OPEN, NULL, -1, (family, type, protocol))
CALL(int, connect, (int fd, const struct sockaddr *to, socklen_t n), OPEN, NULL, -1, (fd, to, n))

DECLARE(long, syscall, (long number, ...));
long NAME(syscall)(long number, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	FIND(syscall);
	if (number == SYS_openat2 && hit(OPEN, "openat2", (const char *)a[1], CALLER))
		return -1;
	if (number == SYS_pidfd_open && hit(OPEN, "pidfd_open", NULL, CALLER))
		return -1;
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* --- stat --------------------------------------------------------------------------------- */
CALL(int, stat, (const char *path, struct stat *st), STAT, path, -1, (path, st))
CALL(int, lstat, (const char *path, struct stat *st), STAT, path, -1, (path, st))
CALL(int, fstat, (int fd, struct stat *st), STAT, NULL, -1, (fd, st))
CALL(int, fstatat, (int dirfd, const char *path, struct stat *st, int flags), STAT, path, -1, (dirfd, path, st, flags))
CALL(ssize_t, readlink, (const char *path, char *out, size_t n), STAT, path, -1, (path, out, n))
CALL(ssize_t, readlinkat, (int dirfd, const char *path, char *out, size_t n), STAT, path, -1, (dirfd, path, out, n))

/* --- read ---------------------------------------------------------------------------------- */
CALL(ssize_t, read, (int fd, void *out, size_t n), READ, NULL, -1, (fd, out, shorten(READ, n)))
CALL(ssize_t, pread, (int fd, void *out, size_t n, off_t at), READ, NULL, -1, (fd, out, shorten(READ, n), at))
CALL(ssize_t, pread64, (int fd, void *out, size_t n, off_t at), READ, NULL, -1, (fd, out, shorten(READ, n), at))
CALL(ssize_t, recv, (int fd, void *out, size_t n, int flags), READ, NULL, -1, (fd, out, shorten(READ, n), flags))
CALL(ssize_t, __read_chk, (int fd, void *out, size_t n, size_t room), READ, NULL, -1, (fd, out, shorten(READ, n), room))
CALL(ssize_t, __pread_chk, (int fd, void *out, size_t n, off_t at, size_t room), READ, NULL, -1,
     (fd, out, shorten(READ, n), at, room))
CALL(ssize_t, __pread64_chk, (int fd, void *out, size_t n, off_t at, size_t room), READ, NULL, -1,
     (fd, out, shorten(READ, n), at, room))
CALL(ssize_t, __recv_chk, (int fd, void *out, size_t n, size_t room, int flags), READ, NULL, -1,
     (fd, out, shorten(READ, n), room, flags))

/* --- write --------------------------------------------------------------------------------- */
CALL(ssize_t, write, (int fd, const void *data, size_t n), WRITE, NULL, -1, (fd, data, shorten(WRITE, n)))
CALL(ssize_t, send, (int fd, const void *data, size_t n, int flags), WRITE, NULL, -1,
     (fd, data, shorten(WRITE, n), flags))
CALL(int, mkdir, (const char *path, mode_t mode), WRITE, path, -1, (path, mode))
CALL(int, mkdirat, (int dirfd, const char *path, mode_t mode), WRITE, path, -1, (dirfd, path, mode))

/* --- fork ---------------------------------------------------------------------------------- */
CALL(pid_t, fork, (void), FORK, NULL, -1, ())
DECLARE(int, pthread_create, (pthread_t * id, const pthread_attr_t *attr, void *(*run)(void *), void *arg));
int NAME(pthread_create)(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	FIND(pthread_create);
	return hit(FORK, "pthread_create", NULL, CALLER) ? EAGAIN : REAL(pthread_create)(id, attr, run, arg);
}
