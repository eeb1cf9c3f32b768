/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hsperfdata: the counters a HotSpot JVM keeps in a mapped file (format 2.0, unchanged from JDK 8 to 25;
 * hotspot/share/runtime/perfMemory.hpp, PerfDataPrologue and PerfDataEntry). Finding the file is
 * hsperffile.h's work. Depends on base, jvm and nouns only; pure; reentrant.
 *
 * Two steps, because only the first sees secrets:
 *   hsperf_decode  the file's bytes -> a listing of allow-listed counters, redacted, one a line:
 *                      sun.gc.metaspace.used=83184
 *                      java.property.java.vm.name="OpenJDK 64-Bit Server VM"
 *                  Strings stand in double quotes; `"` and `\` follow a backslash, other bytes outside
 *                  printable ASCII are \xNN. This text is what a capture holds.
 *   hsperf_parse   the listing -> struct jvm_perf.
 *
 * What the counters are worth: identity is exact; java.threads.* and java.cls.* are live; everything of
 * sun.gc.generation.* is as of the end of the last collection (until JDK 24 Serial and Parallel refresh eden
 * and old every 50 ms; with JDK-8241701 nobody does), and so are metaspace and class space, which may read
 * 83 kB where 362 kB are in use. JDK 17's G1 adds 8 to 24 bytes to capacities. ZGC of JDK 17 has one
 * generation, Shenandoah's first is all zero. Native threads, code cache and direct buffers are in none.
 */
#ifndef JVM_HSPERF_H
#define JVM_HSPERF_H

#include "bankfull/jvm.h"
#include "base/buf.h"
#include "base/err.h"

/*
 * Appends the listing to `out`. UNSUPPORTED: no major version 2, or the JVM is building or tearing the file
 * down (`accessible` 0: read again later); MALFORMED: wrong magic, offsets outside the file; LIMIT or NOMEM:
 * `out` is full. A wrong entry ends in an error, never in a partial listing; a name or value that the entry
 * cannot hold is MALFORMED. A line "overflow=N" follows when the JVM had no room for some counters.
 */
int hsperf_decode(struct str bytes, struct buf *out, struct err *err) __attribute__((warn_unused_result));

/*
 * Unknown lines are skipped, absent ones stay unread. MALFORMED: a line that is no name=value, or a number past
 * u64.
 */
int hsperf_parse(struct str listing, struct jvm_perf *ret_perf, struct err *err) __attribute__((warn_unused_result));

/* Appends the unescaped string counter `name` of a listing: "java.rt.vmArgs". False if it is not there. */
bool hsperf_find(struct str listing, struct str name, struct buf *out);

/*
 * Appends the JVM's options, JAVA_TOOL_OPTIONS and argument files among them, in the order in which they were applied.
 * `*ret_whole`: all of them are there. HotSpot keeps 1024 bytes; of longer ones the cut last word is left out, and a
 * listing of a capture that does not say is not whole. False if they are not there.
 */
bool hsperf_args(struct str listing, struct buf *out, bool *ret_whole);

#endif
