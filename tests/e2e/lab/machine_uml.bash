# shellcheck shell=bash disable=SC2154 # variables of tests/e2e/lab/run, which reads this
# SPDX-License-Identifier: Apache-2.0
# User Mode Linux: the kernel is a process, its memory a file, its processes are traced. It runs programs at the processor's
# own speed; a system call or a page fault costs it some ten times what they cost here. Its clock can be virtual
# (Documentation/virt/uml/user_mode_linux_howto_v2.rst; time-travel in arch/um/kernel/time.c).
#
# It has one processor, no huge pages, and 512 GiB of address space a process, which is too little for ZGC.

# Each page that does not lie beside its neighbour is a mapping of a process here, and of those the kernel allows 65,530 by
# default: 256 MiB in a container may pass that, and its process is killed for it.
maps_min=1048576
allow_maps() {
	local now
	now=$(</proc/sys/vm/max_map_count)
	[ "$now" -ge $maps_min ] || echo $maps_min 2>/dev/null >/proc/sys/vm/max_map_count || {
		echo "lab: vm.max_map_count is $now: as root, sysctl -w vm.max_map_count=$maps_min" >&2
		return 1
	}
}

start_machine() { # ARG...
	local kernel at cpu options=()
	allow_maps || exit 125
	kernel=$("$here/kernel" ${LAB_KERNEL:+"$LAB_KERNEL"}) || exit 125
	second "mount -t hostfs -o $results out /out" "$@" >"$scratch/second"
	# The first script is read from this machine's files, and by the time they are hidden bash has all of it: a function.
	cat >"$scratch/first" <<END
#!/bin/bash
busybox() { $(command -v busybox) "\$@"; }
first() {
	PATH=$PATH
	busybox mount -t devtmpfs dev /dev
	$(disk_over /)
	busybox cp $scratch/second /mnt/new/lab-second
	cd /mnt/new && busybox mkdir -p lab-old && busybox pivot_root . lab-old
	exec busybox chroot . /bin/bash -c 'busybox umount -l /lab-old; exec /bin/bash /lab-second'
}
first
END
	chmod +x "$scratch/first"
	# Its memory is a file that is mapped to run programs from: not every file system may.
	at=/dev/shm
	[ -w "$at" ] && [ "$(df -Pm "$at" | awk 'NR == 2 { print $4 }')" -gt "$memory" ] || at=$scratch
	[ "$clock" = real ] || options+=(time-travel)
	# Who traces and who is traced take turns: on one processor that is four times as quick as on two.
	cpu=${LAB_CPU:-$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }' | shuf -n 1)}
	mkdir -p "$scratch/uml"
	TMPDIR=$at taskset -c "$cpu" timeout "$seconds" "$kernel" "mem=${memory}M" "uml_dir=$scratch/uml" umid=lab rootfstype=hostfs rootflags=/ ro "init=$scratch/first" \
		con0=null,fd:1 con=null ssl=null psi=1 quiet loglevel=1 "ramdisk_size=$((disk * 1024))" "${options[@]}" </dev/null 2>"$scratch/err" | stdbuf -oL tr -d '\r' ||
		return "${PIPESTATUS[0]}"
}
