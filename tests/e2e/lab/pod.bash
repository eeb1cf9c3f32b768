# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the scripts that run inside tests/e2e/lab/run share: a pod on a real cgroup v2, without Kubernetes. The caller sets
# `work`, a directory that every user may search; main.log in it is what the main container said.
#
# The layout is that of a pod with shareProcessNamespace: two containers with a cgroup, a private cgroup namespace and
# a limit each, one PID namespace, the same uid and gid 9999, and no capability at all.

pods=/sys/fs/cgroup/kubepods.slice
pod=$pods/kubepods-burstable-pod0b5a11f0.slice
user=9999
sequence=0 main='' side='' started=''

say() { printf '%s: [%d s] %s\n' "$(basename "$0")" "$SECONDS" "$*"; }

# A JVM names its hsperfdata by the user's name: there is none without an entry.
name_user() {
	echo "streaming:x:$user:$user:streaming:/tmp:/bin/sh" >>/etc/passwd
	echo "streaming:x:$user:" >>/etc/group
}

# A container has the name that containerd gives it.
new_pod() { # LIMIT
	sequence=$((sequence + 1))
	main=$pod/cri-containerd-$(printf 'main%s' "$sequence" | sha256sum | cut -c 1-64).scope
	side=$pod/cri-containerd-$(printf 'side%s' "$sequence" | sha256sum | cut -c 1-64).scope
	mkdir -p "$pod"
	echo +memory >"$pods/cgroup.subtree_control"
	echo +memory >"$pod/cgroup.subtree_control"
	mkdir "$main" "$side"
	echo "$1" >"$main/memory.max"
	echo 0 >"$main/memory.swap.max" 2>/dev/null || true
	echo 1 >"$main/memory.oom.group"
	echo 64M >"$side/memory.max"
}

# Replaces the calling subshell.
enter() { # CGROUP COMMAND...
	local cgroup=$1
	shift
	echo "$BASHPID" >"$cgroup/cgroup.procs"
	# shellcheck disable=SC2016 # for the inner shell
	exec unshare --cgroup --mount bash -c '
		umount /sys/fs/cgroup
		mount -t cgroup2 cgroup /sys/fs/cgroup
		if [ -n "${TMPFS_MIB:-}" ]; then
			mkdir -p /cache
			mount -t tmpfs cache /cache
			head -c "${TMPFS_MIB}M" /dev/zero >/cache/index
		fi
		if [ -n "${READ:-}" ]; then
			cat $READ >/dev/null
		fi
		exec setpriv --reuid "$0" --regid "$0" --clear-groups --inh-caps=-all --bounding-set=-all "$@"' "$user" "$@"
}

# in_main COMMAND...: in the main container, in the background.
in_main() {
	(enter "$main" "$@") </dev/null >>"$work/main.log" 2>&1 &
	started=$!
}

await() { # SECONDS there|gone FILE
	local until=$((SECONDS + $1)) now
	while now=gone && { [ ! -e "$3" ] || now=there; } && [ "$now" != "$2" ]; do
		[ "$SECONDS" -lt "$until" ] || { say "$3: not $2 in time"; tail -n 20 "$work/main.log"; return 1; } >&2
		sleep 0.2
	done
}
