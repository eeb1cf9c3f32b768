#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What build/VARIANT/replay refuses: one line that names the option, status 2, and the figures of an earlier run stay as they are.
set -u
bad=0
result()
{
	if [ "$1" = 0 ]; then echo "ok - $2"; else echo "not ok - $2"; bad=1; fi
}
# refuses PART OPTION...
refuses()
{
	local part=$1 rc
	shift
	echo earlier >"$TMPDIR/replay.json"
	timeout 20 "$BUILD/replay" -o "$TMPDIR/replay.json" "$@" >"$TMPDIR/out" 2>&1 </dev/null
	rc=$?
	[ $rc -eq 2 ] && [ "$(wc -l <"$TMPDIR/out")" -eq 1 ] && grep -qF -- "$part" "$TMPDIR/out" && grep -qx earlier "$TMPDIR/replay.json"
	result $? "refused:$(printf ' %q' "$@")" || { echo "# status $rc"; sed 's/^/# /' "$TMPDIR/out"; }
}

refuses "-d takes" -d x
refuses "-d takes" -d 7x
refuses "-d takes" -d ''
refuses "-d takes" -d ' 7'
refuses "-d takes" -d 1000001
refuses "-l takes" -l -1
refuses "-l takes" -l 98
refuses "-s takes" -s foo
refuses "-s takes" -s 18446744073709551616
refuses "'6' is no option" -d 5 6
refuses "q" -q

timeout 60 "$BUILD/replay" -o "$TMPDIR/replay.json" -d 0 -l 0 -s 0x1f >"$TMPDIR/out" 2>&1 && grep -q '"seed": 31,' "$TMPDIR/replay.json"
result $? "a seed in base 16, and nothing to run"
make -s --no-print-directory -n replay DAYS='x y' SEED=7 | grep -qF -- "-d 'x y' -l '6' -s '7'"
result $? "make hands on what it was given as one word"
exit $bad
