#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Three scenarios of the lab on Debian's own kernel (tests/e2e/lab): one that must warn, one that must stay silent, and one in
# which the kernel kills. All of them: make check-lab.
# time-limit: 900
# beside: the machine is emulated and its clock is virtual, so what runs beside it changes no figure
if ! grep -qs '^ID=debian' /etc/os-release; then
	echo "ok - smoke of the lab # SKIP its kernels are Debian's"
	exit
fi
exec tests/e2e/lab/prove --smoke --tap -j 1 -o "$TMPDIR/lab"
