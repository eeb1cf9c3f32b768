#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 240
# bankfull-collector against a foreign client, hostile clients, full disks, ends of all kinds, and an API server's
# TokenReview over a real TLS connection. Needs no root; as root the read-only directory is tried as another user.
# shellcheck source=tests/integration/python.bash
. "$(dirname "$0")/python.bash"
python_test collector "$@"
