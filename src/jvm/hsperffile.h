/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and reads a JVM's hsperfdata file, `tmp/hsperfdata_<user>/<nspid>` below the target's root: HotSpot
 * hard-codes /tmp and uses the pid the process sees itself as. The rules are HotSpot's own
 * (hotspot/os/posix/perfMemory_posix.cpp: is_directory_secure, is_file_secure): the directory is none behind a
 * link, the file is regular, of the target's effective uid, with one link, and neither is writable for
 * others. A file may outlive a killed JVM and its pid may be used again, so it counts only if the process maps
 * its inode now.
 */
#ifndef JVM_HSPERFFILE_H
#define JVM_HSPERFFILE_H

#include "bankfull/jvm.h"
#include "bankfull/process.h"
#include "base/buf.h"
#include "base/err.h"

/*
 * Appends the redacted listing (hsperf.h) of the process whose root directory is open as `root_fd` to `out`.
 * `maps`: its
 * /proc/<pid>/maps or smaps. UNSUPPORTED: no such file, or none that is trusted (the message says why);
 * DENIED, GONE, and what hsperf_decode says. Costs one directory listing and one read of 32 KiB.
 */
int hsperffile_read(int root_fd, const struct process_status *status, struct str maps, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));

/*
 * The directory the file of this process stands in, open, or -1: whoever wants to know afterwards how the JVM ended keeps
 * it, for /tmp may be a mount that goes with the container.
 */
int hsperffile_keep(int root_fd, const struct process_status *status, struct str maps);

/*
 * Whether the JVM left its file behind when it ended (tried on OpenJDK 17.0.15 and 25.0.3): it is gone after an exit, halt(),
 * SIGTERM or a crash, and stays after SIGKILL and after os::_exit(3) of -XX:+ExitOnOutOfMemoryError. `dir_fd` -1: unread. Look
 * soon: the next JVM with this /tmp clears away what the dead left.
 */
enum tristate hsperffile_left(int dir_fd, const struct process_status *status);

/*
 * What the file still says after the JVM's end, if it left it: its counters as of the last collection. Fails as
 * hsperffile_read().
 */
int hsperffile_last(int dir_fd, const struct process_status *status, struct jvm_perf *ret_perf, struct err *err)
	__attribute__((warn_unused_result));

/* The mapping of inode `inode` at a path that ends in "/hsperfdata_<any>/<pid>" is in `maps`. Pure. */
bool hsperffile_is_mapped(struct str maps, uint64_t pid, uint64_t inode);

#endif
