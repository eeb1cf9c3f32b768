#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 60
# The dashboard's modules that need no page, in node: what they say of figures, names and queries; and that a size reads the
# same in a browser and in `bankfull report`, which are two pieces of code.
set -u
cd "$(dirname "$0")/../.." || exit 2
: "${BUILD:=build/release}" "${TMPDIR:=/tmp}"
work=$(mktemp -d "$TMPDIR/web_modules.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Served they are modules by their tag; here a package says so, for node before 22.
mkdir "$work/web" && cp src/collector/web/*.js "$work/web" && echo '{"type":"module"}' >"$work/web/package.json" || exit 2

cat >"$work/sizes.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include "base/units.h"
int main(void)
{
	char line[64], text[UNITS_TEXT_CAP];
	while (fgets(line, sizeof line, stdin))
		printf("%lld %s\n", atoll(line), units_format_signed(text, atoll(line)));
	return 0;
}
END
# The library may be one of a sanitizer's build: units.c stands alone, so it is compiled anew.
"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -Iinclude -Isrc -o "$work/sizes" "$work/sizes.c" src/base/units.c src/base/str.c src/base/err.c \
	2>"$work/said" || { sed 's/^/# /' "$work/said"; echo 'not ok - a program that writes sizes is built'; exit 1; }
# Edges of each unit and of the number of digits; up to 2^53, where a browser's whole numbers end.
for power in 0 10 20 30 40 50; do
	for m in 1 9 10 99 100 999 1000 1023 1024; do
		for around in -1 0 1; do
			echo $((m * (1 << power) + around))
			echo $((-(m * (1 << power)) * 95 / 100 + around))
			echo $((m * (1 << power) / 100 * 9995 / 100 + around))
		done
	done
done | awk '$1 <= 9007199254740991 && $1 >= -9007199254740991' | sort -nu | "$work/sizes" >"$work/sizes.txt"

exec node tests/integration/web_modules.mjs "$work/web" "$work/sizes.txt"
