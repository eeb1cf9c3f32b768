#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 900
# Every page of the dashboard for people who do not see, point or read as most do: axe-core (WCAG 2.2 A and AA, best practice)
# in light and dark at 400, 1280 and 2560 px; all that can be pressed by Tab, with a focus that shows; no motion, forced
# colours, text of twice the size.
# shellcheck source=tests/integration/e2e.bash
. tests/integration/e2e.bash

e2e_begin e2e_a11y
e2e_run a11y.py "$@"
