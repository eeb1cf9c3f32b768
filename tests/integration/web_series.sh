#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 60
# From a series of the API to a chart, in node: what is drawn is what was sampled, or is said not to be; marks, ranges of time
# and the timeline of a post-mortem.
set -u
cd "$(dirname "$0")/../.." || exit 2
: "${TMPDIR:=/tmp}"
work=$(mktemp -d "$TMPDIR/web_series.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Served they are modules by their tag; here a package says so, for node before 22.
cp src/collector/web/*.js "$work" && echo '{"type":"module"}' >"$work/package.json" || exit 2
TZ=Europe/Berlin exec node tests/integration/web_series.mjs "$work"
