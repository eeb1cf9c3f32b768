#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 420
# beside: it compares no figures of the machine
# Names, titles and messages of agents who mean harm, in the dashboard in Chromium: markup, scripts, quotes, direction marks,
# control characters, 4 kB, emoji; nothing runs, no page breaks, each can be opened and silenced. Clocks an hour off.
# shellcheck source=tests/integration/e2e.bash
. tests/integration/e2e.bash

e2e_begin e2e_hostile
e2e_run hostile.py
