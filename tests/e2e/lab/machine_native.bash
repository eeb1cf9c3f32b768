# shellcheck shell=bash disable=SC2154 # variables of tests/e2e/lab/run, which reads this
# SPDX-License-Identifier: Apache-2.0
# This machine itself, where its memory controller is on cgroup v2 and we are root: no other kernel, the real clock. What
# runs there has a cgroup, a network and a process table of its own below a part of the hierarchy that is removed again,
# and an overlay over the files. Memory and disk are what there is: -m and -d say nothing.

start_machine() { # ARG...
	local unified=/sys/fs/cgroup part rc=0
	if [ "$(id -u)" != 0 ] || ! grep -qw memory "$unified/cgroup.controllers" 2>/dev/null; then
		echo 'lab: native needs root and the memory controller on cgroup v2: -k uml needs neither' >&2
		exit 125
	fi
	second "mount --bind /mnt/out /out" "$@" >"$scratch/second"
	mkdir -p "$scratch"/{over,work,new}
	part=$unified/bankfull-lab-$$
	echo '+memory +cpu +pids' >"$unified/cgroup.subtree_control"
	mkdir "$part"
	cat >"$scratch/first" <<END
#!/bin/bash
set -e
mount --make-rprivate /
mount -t overlay -o lowerdir=/,upperdir=$scratch/over,workdir=$scratch/work lab $scratch/new
mkdir -p $scratch/new/mnt/out
mount --bind $results $scratch/new/mnt/out
cp $scratch/second $scratch/new/lab-second
cd $scratch/new
exec chroot . /bin/bash /lab-second
END
	# The end of the script is a power-off, which the kernel turns into the end of a process table that is not its first.
	# Only what is inside has its cgroup: a cgroup with processes of its own has no controllers to give to those below.
	timeout "$seconds" unshare --mount --net --ipc --uts --pid --fork --kill-child \
		bash -c 'echo 0 >"$1/cgroup.procs" && exec unshare --cgroup bash "$2"' - "$part" "$scratch/first" </dev/null 2>"$scratch/err" || rc=$?
	echo 1 >"$part/cgroup.kill"
	remove_part "$part"
	[ "$rc" -ne 124 ] || return 124
}

# From the leaves up; what was killed takes a moment to be gone.
remove_part() { # DIR
	local try
	for try in {1..50}; do
		find "$1" -depth -type d -exec rmdir {} + 2>/dev/null || true
		[ -d "$1" ] || return 0
		sleep 0.1
	done
	echo "lab: $1 is left" >&2
}
