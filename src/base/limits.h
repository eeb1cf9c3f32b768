/* SPDX-License-Identifier: Apache-2.0 */
/* The cap of everything that is read or kept, and the reason for each number. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

enum {
	/* memory.stat is 1.5 KiB on Linux 6.18; cgroup files have no other that is larger than cgroup.procs. */
	LIMIT_CGROUP_FILE = 64 * 1024,
	/* status is 1.5 KiB; a cmdline may be as long as ARG_MAX, a Flink TaskManager's is 4 KiB. */
	LIMIT_PROC_FILE = 256 * 1024,
	/* 65,530 mappings (vm.max_map_count) x 700 bytes. */
	LIMIT_SMAPS = 64 * 1024 * 1024,
	LIMIT_VMAS = 262144,
	/* -XX:PerfDataMemorySize is 32 KiB by default; nobody raises it much. */
	LIMIT_HSPERF = 1024 * 1024,
	/* NMT summary is 5 KiB; detail and System.map of a large JVM some MiB. */
	LIMIT_JVM_ANSWER = 16 * 1024 * 1024,
	/* A TaskManager with thousands of states exports some MiB; a 100 MB body is refused. */
	LIMIT_HTTP_BODY = 16 * 1024 * 1024,
	/* Configuration: facts in docs/decisions: libyaml is quadratic in anchors, so files are small or refused. */
	LIMIT_CONFIG_FILE = 256 * 1024,
	LIMIT_YAML_DEPTH = 16,
	LIMIT_JSON_DEPTH = 32,
	LIMIT_PROCS = 65536,
	/* One whole capture in memory. */
	LIMIT_CAPTURE = 128 * 1024 * 1024,
};

#endif
