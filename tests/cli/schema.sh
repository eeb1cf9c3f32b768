#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every report validates against docs/report.schema.json, the list of rules against docs/rules.schema.json, and each schema
# says what each member is.
set -u
python=/usr/bin/python3
if ! $python -c 'import jsonschema' 2>/dev/null; then
	echo "ok - schema # SKIP python3-jsonschema is not installed"
	exit 0
fi
bad=0
schema=docs/report.schema.json
check() # name file...
{
	local name=$1
	shift
	if $python tests/cli/schema.py "$schema" "$@" >"$TMPDIR/said" 2>&1; then
		echo "ok - $name"
	else
		head -n 20 "$TMPDIR/said"
		echo "not ok - $name"
		bad=1
	fi
}

# The schema itself, and that it refuses what is wrong.
check "the schema is one, and describes every member" --lint

capture() # name: a capture of nothing but what stands on stdin (manifest lines)
{
	mkdir -p "$TMPDIR/$1/proc"
	{ echo "bankfull-capture 1"; echo "version test"; cat; echo end; } >"$TMPDIR/$1/manifest"
}
report() # directory output
{
	"$BANKFULL" report --capture "$1" --format json >"$2" 2>"$2.err"
	[ $? -le 1 ] || { cat "$2.err"; return 1; }
}

# Built: a process of which only status could be read, with names that nobody would choose.
cp tests/fuzz/corpus/status/linux-6.1 "$TMPDIR/status"
capture bare <<EOF
pid 42
file proc/status $(stat -c %s "$TMPDIR/status")
gap proc/smaps denied not yours: \\x1b[2J "quotes" <b>
gap cgroup unsupported no cgroup v2
EOF
cp "$TMPDIR/status" "$TMPDIR/bare/proc/status"
if report "$TMPDIR/bare" "$TMPDIR/bare.json"; then
	check "a report of almost nothing" "$TMPDIR/bare.json"
else
	echo "not ok - a report of almost nothing"
	bad=1
fi

n=0
for manifest in tests/fixtures/*/manifest; do
	[ -e "$manifest" ] || continue
	dir=${manifest%/*}
	if report "$dir" "$TMPDIR/$(basename "$dir").json"; then
		n=$((n + 1))
	else
		echo "not ok - $dir cannot be reported"
		bad=1
	fi
done
[ $n -eq 0 ] || check "the reports of $n captures" "$TMPDIR"/[!b]*.json

schema=docs/rules.schema.json
check "the schema of rules is one, and describes every member" --lint
"$BANKFULL" rules --format json >"$TMPDIR/rules"
check "the list of rules" "$TMPDIR/rules"
end=$(date -u -d '+30 days' +%Y-%m-%d)
printf 'rules: {freeboard-low: {warning: 15%%}}\nsilences: [{rule: oom-kill, reason: x, until: %s}]\n' "$end" >"$TMPDIR/yaml"
"$BANKFULL" rules --format json --config "$TMPDIR/yaml" >"$TMPDIR/rules"
check "the list of rules with a configuration" "$TMPDIR/rules"
exit $bad
