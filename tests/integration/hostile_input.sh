#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# What the user gives: sizes, configuration files, cgroups, captures that are not whole; and where the output cannot go.
# shellcheck disable=SC2015,SC2016 # ok() cannot fail; what is quoted is for an inner shell
# shellcheck source=tests/integration/hostile.bash
. tests/integration/hostile.bash

gcc -std=gnu11 -O1 -o "$work/java" tests/integration/hostile_fake.c || exit 1
head -c 8192 /dev/zero >"$work/libjvm.so"
start idle "$work/java" "$work/libjvm.so" idle
jvm=$pid
for _ in $(seq 100); do grep -q READY "$work/idle.out" && break; sleep 0.05; done
one=(report --pid "$jvm" --no-attach --no-metrics)

for size in 1.5g -1 0 0m 99999999999999999999 18446744073709551616 16777216t 1x 'm' '' ' 1g' '1 g' 0x10 1e9 nan "$(printf '%0500d' 1)x" $'1g\e[2J' ٣g; do
	for option in --limit --pod-limit; do
		run 5 "${one[@]}" $option "$size"
		verdict "$option '$(printf %q "${size:0:30}")'" 2 "$option"
	done
done
run 5 "${one[@]}" --limit 1g --format json
verdict "--limit 1g" '0|1'
json 'd["limit_bytes"] == 1 << 30 and d["limit_state"] == "told"' && ok "is what it says" || not_ok "is what it says"
for bad in --nothing --limit=1g=2g --format=xml --color=purple --http-timeout=0 --http-timeout=60001 --no-attach=1 -x extra --; do
	run 5 "${one[@]}" "$bad"
	verdict "report $bad" 2
done
run 5 nothing
verdict "no such command" 2
run 5 $'\e[2Jreport'
verdict "a command with an escape sequence" 2
run 5 capture --pid "$jvm"
verdict "a capture without a directory" 2 "-o DIR"
run 5 report --capture /nonexistent --pid 1
verdict "--capture and --pid" 2 "exclude each other"

# --- configuration files ---
yaml() # NAME STATUS OPTION CONTENT WORDS...
{
	local name=$1 status=$2 option=$3
	printf '%b' "$4" >"$work/conf.yaml"
	shift 4
	run 5 "${one[@]}" "$option" "$work/conf.yaml"
	verdict "$option: $name" "$status" "$@"
}
deep=$(printf '%*s' 10000 '' | tr ' ' '[')
nested=''
for i in $(seq 40); do nested+="$(printf '%*sa%s:\\n' $((i * 2)) '' "$i")"; done
bomb='a: \&a [x,x,x,x,x,x,x,x,x]\nb: \&b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: \&c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nlimit: *c\n'
for option in --config --flink-conf; do
	yaml "tabs" 2 $option 'limit:\t1g\n\tpod-limit: 2g\n' conf.yaml
	yaml "an anchor and an alias" 2 $option 'a: &x 1g\nlimit: *x\n' conf.yaml
	yaml "a billion laughs" 2 $option "${bomb//\\&/&}" conf.yaml
	yaml "a key twice" 2 $option 'limit: 1g\nlimit: 2g\n' conf.yaml
	yaml "10,000 levels" 2 $option "limit: $deep\n" conf.yaml
	yaml "40 levels" 2 $option "$nested" conf.yaml
	yaml "a NUL" 2 $option 'limit: 1g\0\n' conf.yaml
	yaml "binary" 2 $option '\x00\x01\xff\xfe\x80' conf.yaml
	yaml "a list for a whole" 2 $option '- a\n- b\n' conf.yaml
	yaml "a tag" 2 $option 'limit: !!python/object:os.system 1g\n' conf.yaml
	yaml "two documents" 2 $option 'limit: 1g\n---\nlimit: 2g\n' conf.yaml
	yaml "an escape sequence" 2 $option '\x1b[2J: 1g\n' conf.yaml
	yaml "not closed" 2 $option 'limit: "1g\n' conf.yaml
	head -c 300000 /dev/zero | tr '\0' '#' >"$work/conf.yaml"
	run 5 "${one[@]}" $option "$work/conf.yaml"
	verdict "$option: too large" 2 "larger than"
	truncate -s 10G "$work/conf.yaml"
	run 5 "${one[@]}" $option "$work/conf.yaml"
	verdict "$option: 10 GB" 2 "larger than"
	run 5 "${one[@]}" $option "$work/none.yaml"
	verdict "$option: not there" 2 none.yaml
	run 5 "${one[@]}" $option "$work"
	verdict "$option: a directory" 2
	run 5 "${one[@]}" $option /dev/zero
	verdict "$option: /dev/zero" 2
	mkfifo "$work/fifo.$option"
	run 5 "${one[@]}" $option "$work/fifo.$option"
	verdict "$option: a FIFO does not block" '0|2'
done
rm -f "$work/conf.yaml"
yaml "a size that is none" 2 --config 'limit: 1.5g\n' "conf.yaml:1" limit
yaml "an unknown key" 2 --config 'limits: 1g\n' "unknown key 'limits'"
yaml "a URL with a password" 2 --config 'metrics: http://u:s3cret@h/\n' conf.yaml
[[ $err != *s3cret* ]] || not_ok "and does not show it"
yaml "a Flink size that is none" '0|1' --flink-conf 'taskmanager.memory.process.size: 1.5g\n'
yaml "a negative Flink size" '0|1' --flink-conf 'taskmanager.memory.process.size: -1\n'
if is_root; then
	echo "limit: 1g" >"$work/conf.yaml" && chmod 600 "$work/conf.yaml"
	as=(setpriv --reuid 9999 --regid 9999 --clear-groups)
	run 5 report --config "$work/conf.yaml"
	verdict "--config: may not be read" 2 conf.yaml "Permission denied"
	as=()
else
	skip "--config: may not be read" "needs root"
fi

# --- a cgroup that is none ---
for dir in /nonexistent "$work" /proc /etc/passwd /sys/fs/cgroup/memory /dev/null; do
	[ -e "$dir" ] || [ "$dir" = /nonexistent ] || continue
	[ "$(stat -fc %T "$dir" 2>/dev/null)" != cgroup2fs ] || continue
	run 5 "${one[@]}" --cgroup "$dir"
	verdict "--cgroup $dir" 2 "$dir"
done
run 5 "${one[@]}" --cgroup "$(printf '/%0300d' 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1)"
verdict "--cgroup, too long" 2

# --- captures ---
cap=$work/cap
run 5 capture -o "$cap" --pid "$jvm" --no-attach --no-metrics --limit 1g
verdict "a capture" 0
run 5 report --capture "$cap" --format json
verdict "its replay" '0|1'
cp "$work/run.out" "$work/whole.json"
damaged() # NAME STATUS COMMAND (in the copy) WORDS...
{
	local name=$1 status=$2 how=$3
	shift 3
	rm -rf "$work/bad"
	cp -r "$cap" "$work/bad"
	(cd "$work/bad" && eval "$how") || not_ok "prepare: $name"
	run 5 report --capture "$work/bad" --format json
	verdict "a capture, $name" "$status" "$@"
	[ "$rc" -ge 2 ] || json 'sane()' || not_ok "a capture, $name: sane"
}
damaged "without its manifest" 3 'rm manifest' "it has no manifest"
damaged "of a newer version" 3 'sed -i "1s/ .*/ 2/" manifest' "use a newer bankfull"
damaged "of version 99999999999999999999" 3 'sed -i "1s/ .*/ 99999999999999999999/" manifest' "is no capture"
damaged "with a file missing" 3 'rm proc/smaps' "file proc/smaps is missing: copy the whole directory"
damaged "with a directory missing" 3 'rm -r proc' "is missing: copy the whole directory"
damaged "with a file cut" 3 'truncate -s -1 proc/smaps' "its manifest says"
damaged "with a file grown" 3 'echo >>proc/smaps' proc/smaps
damaged "with its manifest cut" 3 'sed -i "\$d" manifest' "its manifest is cut"
damaged "with an empty manifest" 3 ': >manifest' "is no capture"
damaged "with a binary manifest" 3 'head -c 5000 /dev/urandom >manifest' "is no capture"
damaged "with a manifest of 10 GB" 3 'truncate -s 10G manifest' "larger than"
damaged "whose manifest is a FIFO" 3 'rm manifest; mkfifo manifest' "not a regular file"
damaged "with a link out" 3 "rm proc/smaps; ln -s /etc/passwd proc/smaps" "leads out"
damaged "with a path that climbs" 3 'sed -i "s,^file proc/smaps,file ../../../../etc/passwd," manifest' "a file line of its manifest is wrong"
damaged "with an absolute path" 3 'sed -i "s,^file proc/smaps,file /etc/passwd," manifest' "a file line of its manifest is wrong"
damaged "with a size past all bounds" 3 'sed -i "s,^\(file proc/smaps\) .*,\1 99999999999," manifest' "larger than"
damaged "with a size that wraps" 3 'sed -i "s,^\(file proc/smaps\) .*,\1 18446744073709551615," manifest' "larger than"
damaged "with a thousand files" 3 'for i in $(seq 1000); do echo "file proc/x$i 0"; : >proc/x$i; done >m; sed -i "/^end/d" manifest; cat m >>manifest; echo end >>manifest' "more than"
damaged "with a file twice" '0|1|3' 'grep "^file proc/smaps" manifest >m; sed -i "/^end/d" manifest; cat m >>manifest; echo end >>manifest'
damaged "with escape sequences in its manifest" '0|1|3' 'sed -i "s/^kernel .*/kernel \x1b[2J\xc2\x9b\xff/; s/^gap \(.*\)/gap \1 \x1b]0;x\x07/" manifest'
damaged "with an escape sequence for a name" '0|1|3' 'sed -i "s/^gap jvm.attach/gap \x1b[2J/" manifest'
damaged "without a pid" 3 'sed -i "/^pid /d" manifest' "pid"
damaged "of pid 99999999999999999999" '0|1|3' 'sed -i "s/^pid .*/pid 99999999999999999999/" manifest'
for file in proc/smaps proc/status proc/stat proc/cmdline proc/cgroup; do
	[ -f "$cap/$file" ] || continue
	fix="sed -i \"s,^\(file $file\) .*,\1 \$(stat -c %s $file),\" manifest"
	damaged "with an empty $file" '0|1|3' ": >$file; $fix"
	damaged "with a binary $file" '0|1|3' "head -c 20000 /dev/urandom >$file; $fix"
	damaged "with a $file full of NUL" '0|1|3' "head -c 20000 /dev/zero >$file; $fix"
	damaged "with a half $file" '0|1|3' "truncate -s \$((\$(stat -c %s $file) / 2)) $file; $fix"
	damaged "with a $file of 20 MB" '0|1|3' "yes ffff | head -c 20000000 >$file; $fix"
done
run 5 report --capture "$work/none"
verdict "no capture there" 2 "no such directory"
run 5 report --capture "$work/whole.json"
verdict "a file for a capture" '2|3' "whole.json"
mkdir "$work/void"
run 5 report --capture "$work/void"
verdict "an empty directory for a capture" 3 "has no manifest"

# --- where a capture cannot go ---
mkdir "$work/full" && : >"$work/full/x"
run 5 capture -o "$work/full" --pid "$jvm" --no-attach
verdict "a capture into a directory that is not empty" 2 "is not empty"
run 5 capture -o "$work/full/x" --pid "$jvm" --no-attach
verdict "a capture into a file" '2|3' "$work/full/x"
run 5 capture -o "$work/a/b/c" --pid "$jvm" --no-attach
verdict "a capture below nothing" '2|3' "$work/a/b/c"
if is_root; then
	as=(setpriv --reuid 9999 --regid 9999 --clear-groups)
	mkdir "$work/closed"
	run 5 capture -o "$work/closed/c" --pid "$jvm"
	verdict "a capture into a directory of others" 3 "Permission denied"
	# A small disk of its own: full in the middle, or before the manifest.
	for size in 4k 8k 16k 32k; do
		as=(unshare --mount sh -c 'mount -t tmpfs -o size='"$size"' none "$1" && cd / && shift && "$@"; s=$?; cp -r '"$work/void"' '"$work/got.$size"'; exit $s' sh "$work/void")
		run 5 capture -o "$work/void/c" --pid "$jvm" --no-attach --no-metrics
		as=()
		if [ "$rc" = 0 ]; then
			run 5 report --capture "$work/got.$size/c" --format json
			verdict "a capture that just fits a disk of $size" '0|1'
		else
			verdict "a capture on a full disk of $size" 3 "No space left on device"
			if [ -d "$work/got.$size/c" ]; then
				run 5 report --capture "$work/got.$size/c"
				verdict "which is refused: $size" 3 "has no manifest"
			fi
		fi
	done
	as=(unshare --mount sh -c 'mount -t tmpfs -o ro none "$1" && cd / && shift && exec "$@"' sh "$work/void")
	run 5 capture -o "$work/void/c" --pid "$jvm" --no-attach
	verdict "a capture on a read-only file system" 3 "Read-only"
	as=()
else
	skip "a capture on a full disk" "needs root"
fi
# Killed in the middle: no manifest, no capture.
taken=0 whole=0
for i in 1 2 3 4 5 6 7 8 9; do
	"$bankfull" capture -o "$work/k$i" --pid "$jvm" --no-attach --no-metrics 2>/dev/null &
	victim=$!
	sleep "0.0$(printf '%02d' $((i * 4)))"
	kill -KILL "$victim" 2>/dev/null
	wait "$victim" 2>/dev/null
	[ -d "$work/k$i" ] || continue
	taken=$((taken + 1))
	run 5 report --capture "$work/k$i" --format json
	if [ -f "$work/k$i/manifest" ] && tail -n 1 "$work/k$i/manifest" | grep -qx end; then
		whole=$((whole + 1))
		[ "$rc" -le 1 ] || { not_ok "a whole capture is replayed"; break; }
	else
		[ "$rc" = 3 ] || { not_ok "an interrupted capture is refused"; break; }
	fi
done
[ -z "$stray" ] && ok "an interrupted capture is refused ($taken begun, $whole whole)" || not_ok "an interrupted capture is refused" "$stray"

# --- where a report cannot go, and too little of everything ---
limited() # NAME STATUS SHELL-COMMAND WORDS...; the command sees the program as "$@"
{
	local name=$1 status=$2 how=$3
	shift 3
	as=(bash -c "$how" bash)
	run 5 "${one[@]}"
	verdict "$name" "$status" "$@"
	as=()
}
limited "standard output is full" 3 '"$@" >/dev/full' "could not be written to standard output"
limited "standard output is closed" 3 '"$@" >&-' "could not be written to standard output"
limited "standard error is closed" '0|1' '"$@" 2>&-'
limited "standard input is closed" '0|1' '"$@" <&-'
limited "all three are closed" 3 '"$@" <&- >&- 2>&-; s=$?; echo bankfull: closed >&2; exit $s'
# Whether the reader is gone before the last bytes are written is a race: then SIGPIPE ends it.
signal_is_right=141
limited "a reader that goes away" '0|1|141' '"$@" | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}'
unset signal_is_right
for word in --version --help "report --help" "capture --help"; do
	as=(bash -c "\"\$1\" $word >/dev/full" bash)
	run 5
	verdict "$word, standard output full" 3
	as=()
done
run 5 report --help
verdict "--help" 0 "exit status"
# libcgroup leaks some bytes where it cannot open a file: none of ours.
for n in 3 4 5 6 7 8 10 16; do
	limited "$n descriptors" '0|1|2|3|127' "ulimit -n $n; export ASAN_OPTIONS=\$ASAN_OPTIONS:detect_leaks=0; exec \"\$@\""
done
if [ $asan = 0 ]; then
	for kb in 10000 20000 30000 40000 50000 60000 80000 100000; do
		limited "$kb KiB of address space" '0|1|3|127' "ulimit -v $kb; exec \"\$@\""
	done
else
	skip "little address space" "the address sanitizer needs much"
fi
limited "no process may be made" '0|1|3' 'ulimit -u 1; exec "$@"'
as=(bash -c 'ulimit -f 0; exec "$@"' bash)
run 5 "${one[@]}"
[ "$rc" = 3 ] && [ -z "$stray$out" ] && ok "no file may be written" || not_ok "no file may be written" "$stray" # nor its error
as=()
limited "SIGCHLD is ignored" '0|1' 'trap "" CHLD; exec "$@"'
limited "an empty environment" '0|1' 'exec env -i "$@"'
limited "a strange locale" '0|1' 'LC_ALL=tr_TR.UTF-8 exec "$@"'
limited "a working directory that is gone" '0|1' 'd=$(mktemp -d) && cd "$d" && rmdir "$d" && exec "$@"'
kill -0 "$jvm" && ok "the target lives on" || not_ok "the target lives on"
finish
