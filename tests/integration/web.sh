#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# beside: it mostly waits
# What bankfull-collector serves to browsers, as curl, a crawler and hostile clients meet it: headers, documentation whose
# links lead somewhere, the login over TLS with a cookie, foreign origins and names, a trusted proxy and its impostors.
# shellcheck source=tests/integration/python.bash
. "$(dirname "$0")/python.bash"
for tool in python3 curl openssl; do
	if ! command -v $tool >/dev/null; then
		echo "ok - web # SKIP $tool is not installed"
		exit 0
	fi
done
python_test web "$@"
