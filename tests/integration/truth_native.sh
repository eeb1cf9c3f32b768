#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 300
# 300 MiB of malloc from threads the JVM does not know, in small and in large blocks, under glibc and jemalloc: the native pool
# and what else malloc gave out, against the allocator's own account.
# shellcheck source=tests/integration/truth.bash
. tests/integration/truth.bash

probe() # NAME JEMALLOC OPTION...: name.json and name.truth
{
	local name=$1
	begin "$name" probe --seconds 100 --nmt summary --jemalloc "$2" -- --direct-mib 48 --unsafe-mib 32 --threads 20 "${@:3}"
	sleep 3.5 # the attach protocol is not used before
	truth "$name.truth"
	report_between "$name.json"
	mv "$dir/$name."* "$work/"
	end_run
	dir=$work
}

try() # ALLOCATOR JEMALLOC
{
	local name
	probe "$1" "$2"
	for block in 8000 1048576; do
		name=$1-$block
		probe "$name" "$2" --malloc-mib 300 --malloc-block "$block" --malloc-threads 4
		judge "$name" books "$name.json"
		judge "$name" held "$name.json" "$name.truth"
		judge "$name" allocator "$name.json" "$name.truth" "$1.json" "$1.truth" 2
	done
}

try glibc 0
if { ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | grep -q 'libjemalloc\.so\.2'; then
	try jemalloc 1
else
	echo 'ok - jemalloc # SKIP libjemalloc.so.2 is not installed'
fi
finish
