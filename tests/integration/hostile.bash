# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the hostile_*.sh tests share: JVMs to read, one bounded run of the program, and the checks that hold after
# every run whatever the input was: it ended in time, said one line, left no child, no trigger file and no thread dump,
# and the target lives.
#
# The work directory is one that other users can enter, so that a test may drop to another uid, and not below /tmp, which
# a test may cover by another in a mount namespace.

set -u
work=$(mktemp -d /var/tmp/hostile.XXXXXX) || exit 1
chmod 711 "$work"
mine=()      # pids this file started
jvms=()      # those of them that must survive, "pid:output file"
bankfull=$work/bankfull
python=$(python3 -c 'import sys; print(sys.executable)') || exit 1 # no wrapper of it a hundred times
cp "$BANKFULL" "$bankfull" && chmod 755 "$bankfull" || exit 1
# The address sanitizer needs room, and is slow.
asan=0
case ${VARIANT:-release} in *asan) asan=1 ;; esac
: "$asan"

cleanup()
{
	trap - EXIT INT TERM HUP
	local pid
	for pid in "${mine[@]}"; do kill -CONT "$pid" 2>/dev/null; kill -TERM "$pid" 2>/dev/null; done
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		for pid in "${mine[@]}"; do kill -0 "$pid" 2>/dev/null && sleep 0.1 && continue 2; done
		break
	done
	for pid in "${mine[@]}"; do kill -KILL "$pid" 2>/dev/null; done
	wait 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

n_bad=0
ok() { echo "ok - $1"; }
skip() { echo "ok - $1 # SKIP $2"; }
not_ok()
{
	n_bad=$((n_bad + 1))
	echo "  status $rc after $ms ms; stderr: ${err:0:1500}"
	echo "  stdout: ${out:0:600}"
	echo "not ok - $1${2:+: $2}"
}
finish()
{
	local jvm
	for jvm in "${jvms[@]}"; do jvm_is_well "$jvm" || { rc=0 ms=0 out='' err=''; not_ok "the target lives on and prints nothing" "$well"; }; done
	[ "$n_bad" -eq 0 ]
	exit
}
is_root() { [ "$(id -u)" = 0 ]; }

# Compiles the target class once a file.
classes()
{
	[ -d "$work/classes" ] && return
	mkdir "$work/classes" && javac -d "$work/classes" tests/integration/HostileTarget.java || exit 1
	chmod -R a+rX "$work/classes"
}

# start NAME COMMAND...: in the background, its output in $work/NAME.out; sets `pid`.
start()
{
	local name=$1
	shift
	: >"$work/$name.out"
	"$@" >"$work/$name.out" 2>&1 </dev/null &
	pid=$!
	mine+=("$pid")
}

# Options that make a JVM small and its start quick.
small=(-Xmx48m -Xms48m -XX:TieredStopAtLevel=1)

# start_jvm NAME [JAVA OPTION...] [-- ARGUMENT...]: `prefix` (an array) stands before java. Sets `pid`; call await_jvm before use.
prefix=()
start_jvm()
{
	local name=$1 options=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
	[ $# -eq 0 ] || shift
	[[ ${options[*]} == *GC* ]] || options+=(-XX:+UseSerialGC)
	classes
	start "$name" "${prefix[@]}" java "${small[@]}" "${options[@]}" -cp "$work/classes" HostileTarget "$@"
	jvms+=("$pid:$work/$name.out")
}

# Until all JVMs say READY, and are old enough to be asked by the attach protocol.
await_jvms()
{
	local jvm tries
	for jvm in "${jvms[@]}"; do
		for ((tries = 0; tries < 300; tries++)); do
			grep -q READY "${jvm#*:}" && break
			sleep 0.1
		done
		if ! grep -q READY "${jvm#*:}"; then
			cat "${jvm#*:}"
			echo "not ok - the JVM ${jvm#*:} starts"
			exit 1
		fi
	done
	sleep 3.2
}

# The JVM lives and has said nothing but READY (a SIGQUIT too many makes it print its threads).
jvm_is_well()
{
	well=''
	kill -0 "${1%%:*}" 2>/dev/null || well="JVM ${1%%:*} has ended"
	[ "$(grep -cv -e '^READY$' -e '^WARNING: ' "${1#*:}")" = 0 ] || well="the JVM printed: $(grep -v '^READY$' "${1#*:}" | head -c 300)"
	[ -z "$well" ]
}

# run LIMIT-SECONDS ARGUMENT...: sets rc, out, err, ms. `as` (an array) stands before the program.
as=()
run()
{
	local limit=$1 from=${EPOCHREALTIME/./} sid left
	shift
	[ $asan = 0 ] || limit=$((limit * 4))
	: >"$work/run.out"; : >"$work/run.err"
	setsid timeout -k 2 "$limit" "${as[@]}" "$bankfull" "$@" >"$work/run.out" 2>"$work/run.err" </dev/null &
	sid=$!
	wait "$sid" 2>/dev/null
	rc=$?
	ms=$(((${EPOCHREALTIME/./} - from) / 1000))
	{
		out=$(<"$work/run.out")
		err=$(<"$work/run.err")
	} 2>/dev/null # NUL bytes are dropped
	left=$(pgrep -s "$sid" | tr '\n' ' ')
	stray=''
	[ -z "$left" ] || { stray="left processes $left"; pkill -KILL -s "$sid"; }
	[ "$rc" != 124 ] && [ "$rc" != 137 ] || stray="did not end within $limit s"
	[ "$rc" -lt 128 ] || [ "$rc" = "${signal_is_right:-}" ] || stray="${stray:-ended by signal $((rc - 128))}"
	case $err in *Sanitizer* | *"runtime error"*) stray="a sanitizer speaks" ;; esac
}

# What no output may ever hold: control bytes but newline (and tab), C1, invalid UTF-8.
clean_text()
{
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$work/run.out" "$work/run.err" &&
		iconv -f UTF-8 -t UTF-8 "$work/run.out" "$work/run.err" >/dev/null 2>&1
}

# verdict NAME STATUS [WORDS...]: the last run ended with STATUS (several: "0|1"), well; each of WORDS (a fixed text) stands in its
# output, and a failure (status 2, 3) is one line of stderr that starts with the program's name.
verdict()
{
	local name=$1 want=$2 word
	shift 2
	[ -z "$stray" ] || { not_ok "$name" "$stray"; return; }
	[[ "|$want|" == *"|$rc|"* ]] || { not_ok "$name" "status $rc, not $want"; return; }
	clean_text || { not_ok "$name" "raw control bytes"; return; }
	if [ "$rc" -ge 2 ] && [ "$rc" -lt 126 ] && [ "${list_follows:-0}" = 0 ]; then # 127: it could not be loaded
		[[ $err == "bankfull"* && $err != *$'\n'* && -n $err ]] || { not_ok "$name" "not one line of error"; return; }
		[ -z "$out" ] || { not_ok "$name" "an error and a report"; return; }
	fi
	# A table wraps its lines.
	local said
	for word in "$@"; do
		[[ $out$err == *"$word"* ]] && continue
		said=$(tr -s ' \n\t' ' ' <<<"$out$err")
		[[ $said == *"$word"* ]] || { not_ok "$name" "does not say '$word'"; return; }
	done
	no_trigger || { not_ok "$name" "$trigger"; return; }
	ok "$name"
}

# No trigger file where one could have been made.
no_trigger()
{
	local jvm pid dir
	trigger=''
	for jvm in "${jvms[@]}"; do
		pid=${jvm%%:*}
		for dir in "/proc/$pid/cwd" "/proc/$pid/root/tmp"; do
			compgen -G "$dir/.attach_pid$(awk '/^NSpid/ { print $NF }' "/proc/$pid/status" 2>/dev/null)" >/dev/null && trigger="a trigger file is left in $dir"
		done
	done
	[ -z "$trigger" ]
}

# json EXPRESSION: of the last run's output, as python sees it in d; reasons(d) is {what: reason}.
json()
{
	"$python" tests/integration/hostile_json.py "$work/run.out" "$1"
}
