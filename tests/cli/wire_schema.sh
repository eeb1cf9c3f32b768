#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# The golden messages of the wire and what the encoder writes validate against docs/wire.schema.json, which refuses what is
# wrong; and the manual's examples are golden messages.
set -u
python=/usr/bin/python3
if ! $python -c 'import jsonschema' 2>/dev/null; then
	echo "ok - wire schema # SKIP python3-jsonschema is not installed"
	exit 0
fi
bad=0
check() # name argument...
{
	local name=$1
	shift
	if $python tests/cli/wire_schema.py "$@" >"$TMPDIR/said" 2>&1; then
		echo "ok - $name"
	else
		head -n 30 "$TMPDIR/said"
		echo "not ok - $name"
		bad=1
	fi
}

check "the schema of the wire is one, and describes every member" lint
check "the golden messages are valid" golden
check "a wrong kind is invalid, and so is a message without what it must have" mutants
check "the examples of the manual are golden messages, and it speaks of every member" manual
if FRAMES_OUT=$TMPDIR/frames "$BUILD/tests/prop_wire" >"$TMPDIR/said" 2>&1; then
	check "what the encoder writes is valid, and described" frames "$TMPDIR/frames"
else
	tail -n 20 "$TMPDIR/said"
	echo "not ok - no frames were written"
	bad=1
fi
exit $bad
