#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# The probe of tests/workloads: each kind of memory grows to its bound and the truth line says so, and so does the kernel or
# the JVM; the probe is started again when asked, or when it dies, also below a wrapper in a PID namespace of its own.
# shellcheck source=tests/integration/truth.bash
. tests/integration/truth.bash

# anon MIB: whether the JVM has at least so much anonymous memory more than an idle one, some 16 MiB.
anon_is_over()
{
	[ "$(awk '/^RssAnon:/ { print $2 }' "/proc/$pid/status")" -ge $((($1 + 12) * 1024)) ]
}

# grown KIND CHECK... -- OPTION...: to 24 MiB.
grown()
{
	local kind=$1 key=grown_${1//-/_} tries check=()
	shift
	while [ "$1" != -- ]; do check+=("$1"); shift; done
	shift
	begin "$kind" probe --seconds 60 -- --grow "$kind" --grow-kib-per-s 24576 --grow-max-mib 24 "$@"
	for ((tries = 0; tries < 40; tries++)); do
		truth now
		[ "$(figure now "$key")" -ge $((23 << 20)) ] && break
		sleep 0.5
	done
	[ "$(figure now "$key")" -ge $((23 << 20)) ] && [ "$(figure now "$key")" -le $((26 << 20)) ]
	result $? "$kind: $key is what was asked for"
	"${check[@]}"
	result $? "$kind: and it is there"
}
metaspace_is_over()
{
	[ "$(figure now metaspace_committed)" -ge $((24 << 20)) ]
}
much_is_free()
{
	[ "$(figure now free)" -ge $((20 << 20)) ] && [ "$(figure now in_use)" -le $((16 << 20)) ]
}
stacks_are_there()
{
	[ "$(figure now threads)" -ge 46 ]
}
file_is_there()
{
	[ "$(stat -c %s "$dir/grown-0.bin")" -eq $((24 << 20)) ]
}
nothing_more()
{
	! anon_is_over 40
}

for kind in heap direct unsafe malloc; do
	grown "$kind" anon_is_over 23 --
done
grown malloc-churn much_is_free --
grown classes metaspace_is_over --
grown threads stacks_are_there -- --grow-threads-per-min 3000 --thread-stack-kib 512
mkdir "$work/disk"
grown files nothing_more -- --grow-dir "$work/disk"
dir=$work/disk
file_is_there
result $? "files: they have that size"

# said WORD: until run's stdout has it.
said()
{
	local tries
	for ((tries = 0; tries < 200; tries++)); do
		grep -q "$1" "$dir/said" && return
		sleep 0.1
	done
	return 1
}
restarts() # NAME STATUS OPTION...
{
	local name=$1 first
	begin "$@" --restart always
	first=$pid
	touch "$dir/restart"
	said RESTARTED
	result $? "$name: started again when asked"
	pid=$(sed -n 's/^probe_pid=//p' "$dir/ready")
	[ "$pid" != "$first" ] && ! kill -0 "$first" 2>/dev/null && tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q MemoryProbe
	result $? "$name: the ready file names the new JVM"
	kill -KILL "$pid"
	said "ENDED probe_pid=$pid"
	result $? "$name: its end is seen"
	end_run
	! pgrep -f "MemoryProbe.*--dir $dir " >/dev/null
	result $? "$name: nothing is left behind"
}
restarts plain probe --seconds 60
if unshare --pid --fork true 2>/dev/null; then
	restarts wrapped probe --seconds 60 --enter "unshare --pid --fork --mount-proc"
else
	echo 'ok - wrapped # SKIP no PID namespace may be made'
fi
finish
