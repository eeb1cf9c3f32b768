#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The rules for Prometheus: promtool has nothing to say, their own tests pass, no rule goes without one, each metric is one
# of docs/metrics.md and each runbook a page that the collector serves.
set -u
bad=0
dir=contrib/prometheus
result() # ok? name
{
	if [ "$1" = 0 ]; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		sed 's/^/#   /' "$TMPDIR/said" | head -n 30
		bad=1
	fi
}
if ! command -v promtool >/dev/null; then
	echo "ok - rules for Prometheus # SKIP promtool is not installed"
	exit 0
fi
promtool check rules $dir/bankfull.rules.yml >"$TMPDIR/said" 2>&1
result $? 'promtool takes the rules'
promtool test rules $dir/bankfull_test.yml >"$TMPDIR/said" 2>&1
result $? 'what fires, what does not, what resolves, what is unread'

# A rule that nothing tests is a guess.
names=$(sed -n 's/^ *- \(alert\|record\): //p' $dir/bankfull.rules.yml | sort -u)
for name in $names; do
	grep -qF "$name" $dir/bankfull_test.yml || echo "$name"
done >"$TMPDIR/said"
[ "$(wc -l <<<"$names")" -ge 25 ] && [ ! -s "$TMPDIR/said" ]
result $? 'each rule has a test'

# Names without what they are recorded as; a level of docs/metrics.md is a name between backticks.
grep -v '^ *#' $dir/bankfull.rules.yml | grep -oE '(^|[^:[:alnum:]_])bankfull_[a-z0-9_]+' | grep -oE 'bankfull_[a-z0-9_]+' | sort -u >"$TMPDIR/used"
while read -r metric; do
	grep -qF "\`$metric\`" docs/metrics.md || echo "$metric is not in docs/metrics.md"
done <"$TMPDIR/used" >"$TMPDIR/said"
[ "$(wc -l <"$TMPDIR/used")" -ge 15 ] && [ ! -s "$TMPDIR/said" ]
result $? 'each metric is in docs/metrics.md'

grep -oE 'https://bankfull.example/docs/[a-z/-]+' $dir/bankfull.rules.yml | sed 's|.*/docs/||' | sort -u >"$TMPDIR/pages"
while read -r page; do
	[ "$page" = rules/ ] || [ -s "docs/$page.md" ] || echo "no page docs/$page.md"
done <"$TMPDIR/pages" >"$TMPDIR/said"
[ ! -s "$TMPDIR/said" ] && [ "$(grep -c 'runbook_url:' $dir/bankfull.rules.yml)" -eq "$(grep -c 'alert:' $dir/bankfull.rules.yml)" ]
result $? 'each alert has a runbook, and it exists'

# By workload: no label of a pod in an alert of workloads, and no figure in a label.
! grep -nE 'labels:.*[$]value' $dir/bankfull.rules.yml >"$TMPDIR/said"
result $? 'no figure is a label'
exit $bad
