# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the e2e_*.sh tests share: a browser is there, or the test is left out; a directory of their own, removed afterwards.

set -u
: "${BUILD:=build/release}" "${TMPDIR:=/tmp}"
python=/usr/bin/python3 # Debian's, which has its selenium
child=''

e2e_begin() # NAME
{
	local tool
	for tool in chromium chromedriver; do
		if [ ! -x /usr/bin/$tool ]; then
			echo "ok - $1 # SKIP $tool is not installed"
			exit 0
		fi
	done
	if ! $python -c 'import selenium' 2>/dev/null; then
		echo "ok - $1 # SKIP python3-selenium is not installed"
		exit 0
	fi
	e2e_work=$(mktemp -d "$TMPDIR/e2e.XXXXXX") || exit 1
	export TMPDIR=$e2e_work # of the browser, too
	trap e2e_end EXIT
	trap 'exit 143' INT TERM HUP
}
e2e_end()
{
	trap - EXIT INT TERM HUP
	[ -z "$child" ] || { kill -TERM "$child" 2>/dev/null; wait "$child" 2>/dev/null; }
	[ -n "${KEEP:-}" ] || rm -rf "$e2e_work"
}

# e2e_run SCRIPT ARGUMENT...: one of tests/e2e, with the programs and the directory before its own arguments.
e2e_run()
{
	local rc
	$python "tests/e2e/$1" "$BUILD" "$e2e_work" "${@:2}" &
	child=$!
	wait $child
	rc=$?
	child=''
	return $rc
}
