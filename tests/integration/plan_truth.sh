#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 400
# `bankfull plan` against Flink's own classes: 2,400 random configurations of each of two versions, valid and invalid, in both
# formats of the file. The flags and options of the valid ones are equal to the byte, and every invalid one is refused. Another
# seed: SEED=7 tests/integration/plan_truth.sh.
set -u
work=$(mktemp -d "${TMPDIR:-/tmp}/plan.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
seed=${SEED:-20260101} failed=0

result()
{
	if [ "$1" = 0 ]; then echo "ok - $2"; else echo "not ok - $2"; failed=1; fi
}

for version in 1.20 2; do
	tests/workloads/run plan --dir "$work/$version" --version "$version" --seed "$seed" --count 2400 >"$work/truth-$version"
	result $? "Flink $version says what it makes of 2,400 configurations (seed $seed)"
	python3 tests/workloads/plan/hold.py "$BANKFULL" "${version/#2/2.x}" "$work/truth-$version" "$work/held-$version"
	result $? "the plan agrees with Flink $version in all of them"
done
exit $failed
