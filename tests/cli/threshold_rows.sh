#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The thresholds on the pages of rules are those of the program.
exec "$(dirname "$0")/../../tools/threshold-rows"
