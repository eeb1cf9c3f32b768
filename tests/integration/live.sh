#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 240
# beside: it mostly waits
# The live stream of a real collector: agents and viewers that owe nothing to its code, frames replayed against what the API
# shows, what a viewer should not send, one that does not read, foreign pages, tokens that vanish, a start on an old store.
# shellcheck source=tests/integration/python.bash
. "$(dirname "$0")/python.bash"
python_test live "$@"
