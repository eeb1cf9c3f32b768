#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An agent that cannot start, as a sidecar: it stays until a kubelet has seen it run, which then starts the main container.
set -u
bad=0
result() # ok? name
{
	[ "$1" = 0 ] && echo "ok - $2" && return
	echo "not ok - $2"
	bad=1
	return 1
}
now_ms() { date +%s%3N; }

begin=$(now_ms)
"$BANKFULL" agent --no-such-option 2>"$TMPDIR/err" </dev/null
rc=$? lasted=$(($(now_ms) - begin))
[ $rc -eq 2 ] && [ $lasted -lt 5000 ]
result $? "outside of a pod it ends at once" || echo "# status $rc after $lasted ms"

: >"$TMPDIR/err"
begin=$(now_ms)
BANKFULL_POD=orders-0 "$BANKFULL" agent --no-such-option 2>"$TMPDIR/err" </dev/null &
pid=$!
until [ -s "$TMPDIR/err" ] || [ $(($(now_ms) - begin)) -gt 5000 ]; do sleep 0.05; done
[ $(($(now_ms) - begin)) -lt 5000 ] && grep -q -- '--no-such-option' "$TMPDIR/err"
result $? "in a pod it says at once what is wrong"
wait $pid
rc=$? lasted=$(($(now_ms) - begin))
[ $rc -eq 2 ] && [ $lasted -ge 9900 ] && [ $lasted -lt 20000 ]
result $? "and ends ten seconds after it began, with the same status" || echo "# status $rc after $lasted ms"

: >"$TMPDIR/err"
begin=$(now_ms)
BANKFULL_POD=orders-0 "$BANKFULL" agent --no-such-option 2>"$TMPDIR/err" </dev/null &
pid=$!
until [ -s "$TMPDIR/err" ] || [ $(($(now_ms) - begin)) -gt 5000 ]; do sleep 0.05; done
sleep 0.3 # what it says comes before it waits
kill -TERM $pid
waited=$?
wait $pid
rc=$? lasted=$(($(now_ms) - begin))
[ $waited -eq 0 ] && [ $rc -eq 2 ] && [ $lasted -lt 8000 ]
result $? "asked to end it does not wait" || echo "# status $rc after $lasted ms"
exit $bad
