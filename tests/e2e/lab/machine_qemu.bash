# shellcheck shell=bash disable=SC2154 # variables of tests/e2e/lab/run, which reads this
# SPDX-License-Identifier: Apache-2.0
# An emulated x86 machine with Debian's newest kernel, which is downloaded once and unpacked, not installed. Needs
# qemu-system-x86, kmod and cpio.

fetch_kernel() {
	local package
	package=$(apt-cache depends linux-image-amd64 | awk '$1 == "Depends:" && /linux-image/ { print $2; exit }')
	[ -n "$package" ] || { echo "lab: no linux-image-amd64 in the package lists (apt-get update?)" >&2; return 1; }
	mkdir -p "$cache"
	(cd "$scratch" && apt-get -q download "$package" >&2 && dpkg -x "$package"_*.deb "$cache/kernel")
}
vmlinuz() { find "$cache/kernel/boot" -name 'vmlinuz-*' 2>/dev/null | sort -V | tail -n 1; }

start_machine() { # ARG...
	local image release root=$scratch/initial share module word file name order=() speed
	needs qemu-system-x86_64 modprobe depmod cpio
	[ -n "$(vmlinuz)" ] || fetch_kernel || exit 125
	image=$(vmlinuz)
	release=${image##*/vmlinuz-}

	# The first file system holds busybox and what it takes to reach the second: this machine's files.
	mkdir -p "$root"/{bin,modules,proc,dev,host,mnt}
	cp "$(command -v busybox)" "$root/bin/busybox"
	[ -e "$cache/kernel/lib/modules/$release/modules.dep" ] || depmod -b "$cache/kernel" "$release"
	for module in virtio_pci 9pnet_virtio 9p overlay brd ext4 veth; do
		while read -r word file _; do
			[ "$word" = insmod ] || continue
			name=${file##*/}
			[ -e "$root/modules/$name" ] && continue
			cp "$file" "$root/modules/"
			order+=("$name")
		done < <(modprobe -d "$cache/kernel" -S "$release" --show-depends "$module")
	done
	share='trans=virtio,version=9p2000.L,msize=262144'
	second "mount -t 9p -o $share out /out" "$@" >"$root/second"
	cat >"$root/init" <<END
#!/bin/busybox sh
busybox() { /bin/busybox "\$@"; }
busybox mount -t devtmpfs dev /dev
for name in ${order[*]}; do
	options=
	[ \$name != brd.ko ] || options='rd_nr=1 rd_size=$((disk * 1024))'
	busybox insmod /modules/\$name \$options || echo "lab: no module \$name"
done
busybox mount -t 9p -o ro,cache=loose,$share files /host
mke2fs() { busybox chroot /host $(command -v mke2fs) "\$@"; }
busybox mount --bind /dev /host/dev
$(disk_over /host | sed "s#^$(command -v mke2fs) #mke2fs #")
busybox cp /second /mnt/new/lab-second
exec /bin/busybox switch_root /mnt/new /bin/bash /lab-second
END
	chmod +x "$root/init"
	(cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) >"$scratch/initrd"
	# A virtual clock counts instructions, one a nanosecond, and jumps when there are none (docs/devel/tcg-icount.rst of QEMU).
	speed=(-accel tcg,thread=multi -smp "${cpus:-2}")
	[ "$clock" = real ] || speed=(-accel tcg,thread=single -icount shift=0,sleep=off -smp 1)
	timeout "$seconds" qemu-system-x86_64 "${speed[@]}" -cpu max -m "$memory" -nodefaults -display none -no-reboot \
		-serial stdio -kernel "$image" -initrd "$scratch/initrd" \
		-append 'console=ttyS0 quiet panic=1 mitigations=off psi=1' \
		-virtfs "local,path=/,mount_tag=files,security_model=none,readonly=on,multidevs=remap" \
		-virtfs "local,path=$results,mount_tag=out,security_model=none,multidevs=remap" \
		</dev/null 2>"$scratch/err" | stdbuf -oL tr -d '\r' || return "${PIPESTATUS[0]}"
}
