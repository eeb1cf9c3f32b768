#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# `bankfull report --svg`: what it writes, what it refuses to write, and that the picture says what the report says.
set -u
bad=0
capture=tests/fixtures/flink120_leak_jdk17
result() # ok? name
{
	if [ "$1" = 0 ]; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		sed 's/^/#   /' "$TMPDIR/err"
		bad=1
	fi
}
report() # arguments...: sets rc
{
	timeout 20 "$BANKFULL" report --capture $capture "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null
	rc=$?
}
refused() # name status stderr-part arguments...
{
	local name=$1 status=$2 part=$3
	shift 3
	report "$@"
	[ $rc -eq "$status" ] && [ "$(wc -l <"$TMPDIR/err")" -eq 1 ] && grep -qF -- "$part" "$TMPDIR/err"
	result $? "$name"
}
mkdir "$TMPDIR/d"

"$BANKFULL" report --capture $capture >"$TMPDIR/table" 2>"$TMPDIR/err" </dev/null
report --svg "$TMPDIR/d/a.svg"
[ $rc -eq 1 ] && cmp -s "$TMPDIR/table" "$TMPDIR/out" && [ ! -s "$TMPDIR/err" ] && [ -s "$TMPDIR/d/a.svg" ]
result $? 'a picture beside the table, and the status is that of the findings'
report --svg -
[ $rc -eq 1 ] && cmp -s "$TMPDIR/out" "$TMPDIR/d/a.svg"
result $? 'the picture alone on standard output'
report --svg "$TMPDIR/d/b.svg" --format json
[ $rc -eq 1 ] && cmp -s "$TMPDIR/d/b.svg" "$TMPDIR/d/a.svg" && python3 -c 'import json, sys; json.load(sys.stdin)' <"$TMPDIR/out"
result $? 'a picture beside JSON'
[ "$(ls "$TMPDIR/d")" = "$(printf 'a.svg\nb.svg')" ]
result $? 'no other file'

cmp -s "$TMPDIR/d/a.svg" docs/images/report.svg
result $? 'the picture that README.md shows is what the program draws: make screenshots'

refused 'a file that is there is not replaced' 2 'is there already' --svg "$TMPDIR/d/a.svg"
[ ! -s "$TMPDIR/out" ] && cmp -s "$TMPDIR/d/a.svg" "$TMPDIR/d/b.svg"
result $? 'and nothing was printed'
ln -s nowhere "$TMPDIR/d/link"
refused 'nor is a link that leads nowhere' 2 'is there already' --svg "$TMPDIR/d/link"
refused 'a directory' 2 'is there already' --svg "$TMPDIR/d"
refused 'no name' 2 '--svg: empty' --svg ''
refused 'two things for one standard output' 2 'exclude each other' --svg - --format json
refused 'no such directory' 3 'No such file or directory' --svg "$TMPDIR/none/a.svg"
refused 'a name that is too long' 3 'File name too long' --svg "$TMPDIR/d/$(printf 'x%.0s' {1..254})"
if [ "$(id -u)" -eq 0 ]; then
	refused 'a place that nobody may write to' 3 '/proc/nobody.svg' --svg /proc/nobody.svg
else
	chmod 500 "$TMPDIR/d"
	refused 'a place that nobody may write to' 3 'Permission denied' --svg "$TMPDIR/d/c.svg"
	chmod 700 "$TMPDIR/d"
fi

# A disk that is full: the file may not grow past one block. XFSZ would end the program before it can say anything.
(
	trap '' XFSZ
	ulimit -f 8
	timeout 20 "$BANKFULL" report --capture $capture --svg "$TMPDIR/d/full.svg" >/dev/null 2>"$TMPDIR/err" </dev/null
	[ $? -eq 3 ]
) && grep -qF full.svg "$TMPDIR/err" && [ ! -e "$TMPDIR/d/full.svg" ] && ! compgen -G "$TMPDIR/d/*.part" >/dev/null
result $? 'a full disk leaves neither the picture nor a part of it'
timeout 20 "$BANKFULL" report --capture $capture --svg - >/dev/full 2>"$TMPDIR/err" </dev/null
[ $? -eq 3 ] && grep -qF 'could not be written to standard output' "$TMPDIR/err"
result $? 'a standard output that is full'
timeout 20 "$BANKFULL" report --capture $capture --svg "$TMPDIR/d/late.svg" >/dev/full 2>"$TMPDIR/err" </dev/null
[ $? -eq 3 ] && cmp -s "$TMPDIR/d/late.svg" "$TMPDIR/d/a.svg"
result $? 'a table that could not be printed does not cost the picture'
timeout 20 "$BANKFULL" report --capture $capture --svg "$TMPDIR/d/head.svg" 2>"$TMPDIR/err" </dev/null | head -n 1 >/dev/null
cmp -s "$TMPDIR/d/head.svg" "$TMPDIR/d/a.svg"
result $? 'nor does a reader that goes away'
report --svg "$TMPDIR/none/b.svg"
[ $rc -eq 3 ] && cmp -s "$TMPDIR/out" "$TMPDIR/table"
result $? 'a picture that could not be written does not cost the table'
timeout 20 "$BANKFULL" report --capture "$TMPDIR/none" --svg "$TMPDIR/d/none.svg" >/dev/null 2>"$TMPDIR/err" </dev/null
[ $? -eq 2 ] && [ ! -e "$TMPDIR/d/none.svg" ]
result $? 'a report that failed leaves no picture'
mkdir -p "$TMPDIR/nothing"
cp $capture/manifest "$TMPDIR/nothing"
timeout 20 "$BANKFULL" report --capture "$TMPDIR/nothing" --svg "$TMPDIR/d/none.svg" >/dev/null 2>"$TMPDIR/err" </dev/null
[ $? -eq 3 ] && [ ! -e "$TMPDIR/d/none.svg" ]
result $? 'nor does one that could read nothing'

python3 tests/cli/report_svg.py "$BANKFULL" || bad=1
exit $bad
