#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# beside: a collector that is fed what was recorded
# Earlier generations against the collector of now: what their agents said, and the stores that their collectors left
# (tests/fixtures/generations; tests/e2e/upgrade/prove records them). Needs no root.
# shellcheck source=tests/integration/python.bash
. "$(dirname "$0")/python.bash"
python_test upgrade "$@"
