#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The books of every capture: each group closes, nothing is counted twice, nothing unread is a number, and the same
# capture is the same report every time. What is compared with is counted anew here, from the captured files themselves.
set -u
cd "$(dirname "$0")/../.." || exit 2
shopt -s nullglob
bankfull=${BANKFULL:-build/release/bankfull}
work=$(mktemp -d "${TMPDIR:-/tmp}/books.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
bad=0

cases=(tests/fixtures/*/manifest)
[ ${#cases[@]} -gt 0 ] || { echo "not ok - no capture in tests/fixtures"; exit 1; }
for manifest in "${cases[@]}"; do
	dir=${manifest%/*} name=$(basename "${manifest%/*}") args=() status=()
	[ ! -e "$dir/args" ] || mapfile -t args <"$dir/args"
	for format in json table; do
		for n in 1 2; do
			timeout 20 "$bankfull" report --capture "$dir" --format $format "${args[@]}" >"$work/$format.$n" 2>&1 </dev/null
			status+=($?)
		done
	done
	if [[ ! "${status[*]}" =~ ^(0 0 0 0|1 1 1 1)$ ]]; then
		cat "$work/json.1"
		echo "not ok - $name: exit statuses ${status[*]}"
		bad=1
	elif ! cmp "$work/json.1" "$work/json.2" || ! cmp "$work/table.1" "$work/table.2"; then
		echo "not ok - $name: two reports of one capture differ"
		bad=1
	else
		echo "ok - $name: the same report twice"
		/usr/bin/python3 tests/cli/books_check.py "$name" "$dir" "$work/json.1" || bad=1
	fi
done
exit $bad
