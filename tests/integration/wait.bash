# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What scripts that start our programs share: a port, and waiting for something.

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

until_true() # SECONDS COMMAND...
{
	local tries
	for ((tries = $1 * 5; tries > 0; tries--)); do
		"${@:2}" >/dev/null 2>&1 && return 0
		sleep 0.2
	done
	return 1
}
