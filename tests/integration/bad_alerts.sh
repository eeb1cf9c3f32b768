#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 200
# beside: it mostly waits
# Receivers, configurations, disks and ends that mean alerts and silences no good; see bad_alerts.py.
# shellcheck source=tests/integration/python.bash
. "$(dirname "$0")/python.bash"
python_test bad_alerts "$@"
