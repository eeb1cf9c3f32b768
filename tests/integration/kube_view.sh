#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# beside: it waits
# Kubernetes' own view (--kube-pods, --kube-events) against a stand-in for its API server, over HTTPS: what is watched and
# told, with which token, what becomes of cuts, 410, 403, lines that are none, and of a restart.
# shellcheck source=tests/integration/python.bash
. "$(dirname "$0")/python.bash"
python_test kube_view "$@"
