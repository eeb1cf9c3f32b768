#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# beside: it mostly waits
# Silences with real parts: made and ended over HTTP by people of several roles, refused from foreign pages, hidden from other
# namespaces, kept through a restart, over at their time; and a real agent of a real JVM that keeps still about what is
# silenced while the collector goes on showing it.
# shellcheck source=tests/integration/truth.bash
. tests/integration/truth.bash

python=/usr/bin/python3
if ! $python -c 'import jsonschema' 2>/dev/null; then
	echo 'ok - silences # SKIP python3-jsonschema is not installed'
	exit 0
fi
begin jvm probe --seconds 170 --heap 64m
$python tests/integration/silences.py "$BUILD" "$work" "$pid" || n_bad=1
finish
