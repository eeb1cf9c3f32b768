/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to look into a running pod that nobody prepared: what its description, as the API server has it, says of the
 * container to look at, and the kubectl command that puts an ephemeral container beside it.
 */
#ifndef KUBE_DEBUG_H
#define KUBE_DEBUG_H

#include "base/buf.h"
#include "base/err.h"

enum { DEBUG_NAME_CAP = 64, DEBUG_ARGS_MAX = 48, DEBUG_POD_JSON_MAX = 4 * 1024 * 1024 };

struct debug_pod {
	char container[DEBUG_NAME_CAP];
	bool shares;      /* one process namespace: its first process is the pause container's */
	bool has_sidecar; /* our own: it can be asked, nothing has to be added */
	bool user_known, group_known;
	uint64_t user, group;
	bool user_from_process; /* read from the running process, not from the description */
};

/*
 * `container`: NULL: by annotation, Flink's, or the only one. USAGE: no such one, or several; GONE: it does not run;
 * MALFORMED: this is no pod.
 */
int debug_pod_parse(struct str json, const char *container, struct debug_pod *ret_pod, struct err *err)
	__attribute__((warn_unused_result));

/* User and group from /proc/PID/status, where the description says none. */
void debug_pod_status(struct debug_pod *pod, struct str status);

struct debug_how {
	const char *context, *namespace_, *pod, *image; /* context, namespace: NULL: kubectl's own */
	const char *custom;                             /* the file with debug_custom() in it; NULL: none */
	char *const *command;                           /* ends with NULL; what to run in place of `report` */
	bool tty;
};

/* Part of a container's description: whom it runs as. Empty where nothing is known. */
void debug_custom(const struct debug_pod *pod, struct buf *out);

/* `kubectl ...`, ends with NULL; the strings live in `text` and in `how`. LIMIT: too many. */
int debug_command(const struct debug_pod *pod, const struct debug_how *how, struct buf *text,
		  const char *ret_args[DEBUG_ARGS_MAX], struct err *err) __attribute__((warn_unused_result));

/* As one would type it. */
void debug_show(const char *const args[], struct buf *out);

#endif
