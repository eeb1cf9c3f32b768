#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/run-all is believed by everyone: whatever goes wrong in a test file must show in its sum.
set -u
unset ONLY CI
tree=$TMPDIR/tree
mkdir -p "$tree/tests/cli"
cp tests/run-all "$tree/tests/"
echo 0 >"$tree/tests/skips.txt"

try() # name expected-last-line expected-status what-the-output-must-hold script
{
	rm -f "$tree"/tests/cli/*
	printf '#!/bin/bash\n%s\n' "$5" >"$tree/tests/cli/case.sh"
	chmod +x "$tree/tests/cli/case.sh"
	local out status
	out=$("$tree/tests/run-all" release:cli 2>&1)
	status=$?
	if [ "${out##*$'\n'}" = "$2" ] && [ $status -eq "$3" ] && [[ $out == *"$4"* ]]; then
		echo "ok - $1"
	else
		echo "$out"
		echo "not ok - $1: wanted '$2', status $3 and '$4', got status $status"
	fi
}

try "passes are counted" "2 passed, 0 failed" 0 "" 'echo "ok - a"; echo "ok 2 - b"; echo "okay - c"'
try "failures are counted and shown" "1 passed, 2 failed" 1 "| the reason" \
	'echo "ok - a"; echo "the reason"; echo "not ok - b"; echo "not ok - c"; exit 1'
try "a failure fails whatever the status" "0 passed, 1 failed" 1 "" 'echo "not ok - a"'
try "a status fails whatever is printed" "1 passed, 1 failed" 1 "exit status 3" 'echo "ok - a"; exit 3'
try "no result is a failure" "0 passed, 1 failed" 1 "printed no test line" 'echo done'
try "a signal is a failure" "1 passed, 1 failed" 1 "ended by signal 11" 'echo "ok - a"; kill -SEGV $$'
try "a short plan is a failure" "1 passed, 1 failed" 1 "planned 2 tests, reported 1" 'echo 1..2; echo "ok - a"'
try "a time limit ends a file" "1 passed, 1 failed" 1 "over its time limit of 1 s" \
	'# time-limit: 1
echo "ok - a"; sleep 60'
try "a process left behind is a failure" "1 passed, 1 failed" 1 "left behind" 'echo "ok - a"; setsid sleep 61 &'
try "a skip is counted apart" "1 passed, 0 failed, 1 skipped" 0 "no JVM" \
	'echo "ok - a"; echo "ok - b # SKIP no JVM"'
CI=1 try "CI refuses more skips than allowed" "1 passed, 1 failed, 1 skipped" 1 "allows 0" \
	'echo "ok - a"; echo "ok - b # SKIP no JVM"'
mkdir -p "$tree/tests/e2e/release"
printf '%s\n' '# why' 'cli case b_c no such thing here' >"$tree/tests/e2e/release/skips.txt"
try "a failure with an excuse is a skip" "1 passed, 0 failed, 1 skipped" 0 "# SKIP no such thing here" \
	'echo "ok 1 - a"; echo "not ok 2 - b_c"; exit 1'
try "one without is none" "1 passed, 1 failed" 1 "! not ok 2 - b" 'echo "ok 1 - a"; echo "not ok 2 - b"; exit 1'
try "an excuse for one excuses no other" "0 passed, 1 failed, 1 skipped" 1 "! not ok 2 - b" \
	'echo "not ok 1 - b_c"; echo "not ok 2 - b"; exit 2'
try "a status beyond its excuses fails" "1 passed, 1 failed, 1 skipped" 1 "exit status 3" \
	'echo "ok 1 - a"; echo "not ok 2 - b_c"; exit 3'
try "an excuse that is not needed is said" "1 passed, 0 failed" 0 "skips.txt: b_c passes" 'echo "ok 1 - b_c"'
echo 'cli case * nothing of it' >"$tree/tests/e2e/release/skips.txt"
try "a whole file can be excused" "0 passed, 0 failed, 1 skipped" 0 "# SKIP nothing of it" 'echo "not ok - a"; exit 1'
rm -r "$tree/tests/e2e"
try "the input is empty" "1 passed, 0 failed" 0 "" 'read -r line || echo "ok - a"'
try "INT and QUIT are not ignored" "1 passed, 0 failed" 0 "" \
	'grep -q "^SigIgn:.*[0189]$" /proc/self/status && echo "ok - a"' # bits 1 and 2 of the last digit are clear

rm -f "$tree"/tests/cli/*
out=$("$tree/tests/run-all" release:cli 2>&1) && echo "not ok - no test at all is a failure" || echo "ok - no test at all is a failure"

# An interrupted run ends its tests, leaves nothing and says so by its status.
printf '#!/bin/bash\necho "ok - a"; setsid sleep 62 & sleep 62\n' >"$tree/tests/cli/case.sh"
chmod +x "$tree/tests/cli/case.sh"
"$tree/tests/run-all" release:cli >"$TMPDIR/out" 2>&1 &
pid=$!
for _ in $(seq 50); do
	grep -qsz "^TMPDIR=$TMPDIR/bankfull" /proc/[0-9]*/environ && break
	sleep 0.1
done
kill -TERM $pid
wait $pid
status=$?
for _ in $(seq 20); do # a killed process takes a moment to go
	mine=$(grep -lsz "^TMPDIR=$TMPDIR/bankfull" /proc/[0-9]*/environ)
	[ -n "$mine" ] || break
	sleep 0.1
done
if [ $status -eq 130 ] && [ -z "$mine" ] && ! compgen -G "$TMPDIR/bankfull.*" >/dev/null; then
	echo "ok - an interrupted run leaves nothing"
else
	cat "$TMPDIR/out"
	echo "not ok - an interrupted run leaves nothing: status $status, processes ${mine:-none}"
fi
