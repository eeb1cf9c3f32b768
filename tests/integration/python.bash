# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The head of tests that are a script in Python: the repository, the programs, a directory of its own, an end that both share.

set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
: "${BUILD:=build/release}" "${TMPDIR:=/tmp}"

# python_test NAME ARGUMENT...: tests/integration/NAME.py, with the programs and the directory before its own arguments.
python_test()
{
	local pid rc work
	work=$(mktemp -d "$TMPDIR/$1.XXXXXX") || exit 2
	python3 "tests/integration/$1.py" "$BUILD" "$work" "${@:2}" &
	pid=$!
	trap 'kill -TERM $pid 2>/dev/null; wait $pid; rm -rf "$work"; exit 143' INT TERM HUP
	wait $pid
	rc=$?
	if [ -n "${KEEP:-}" ]; then
		echo "# logs: $work"
	else
		[ $rc -eq 0 ] || echo '# the logs are gone; KEEP=1 keeps them'
		rm -rf "$work"
	fi
	exit $rc
}
