#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# beside: it mostly waits
# bankfull-collector in a hostile world; see bad_wire.py. Needs no root, loopback only.
# shellcheck source=tests/integration/python.bash
. "$(dirname "$0")/python.bash"
python_test bad_wire "$@"
