#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 360
# beside: it mostly waits
# Who may be an agent, and how it stays one: service accounts that are allowed, tokens that are renewed, that are not, that are reviewed again, and an API
# server that is away. Real agents and a real collector over TLS, and a TokenReview server. Needs no root.
# shellcheck source=tests/integration/python.bash
. "$(dirname "$0")/python.bash"
python_test identity "$@"
