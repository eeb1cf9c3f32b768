#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tables of settings in the documentation are those of the programs.
set -u
name='docs/configuration.md has the settings that the programs have'
if tools/setting-rows "$BANKFULL" "$BUILD/bankfull-collector" >"$TMPDIR/said" 2>&1; then
	echo "ok - $name"
else
	sed 's/^/# /' "$TMPDIR/said"
	echo "not ok - $name"
	exit 1
fi
