#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Levels and silences from the configuration, `bankfull rules` and `bankfull explain`, as their user meets them.
set -u
bad=0
result() # ok? name
{
	if [ "$1" = 0 ]; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		bad=1
	fi
}
run() # arguments...: out, err and rc
{
	timeout 20 "$BANKFULL" "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null
	rc=$?
}
# name status stderr-part arguments...: stdout must be empty, stderr one line that holds the part.
refused()
{
	local name=$1 status=$2 part=$3
	shift 3
	run "$@"
	if [ $rc -eq "$status" ] && [ ! -s "$TMPDIR/out" ] && [ "$(wc -l <"$TMPDIR/err")" -eq 1 ] &&
		grep -qF -- "$part" "$TMPDIR/err" && ! LC_ALL=C grep -q '[^ -~]' "$TMPDIR/err"; then
		result 0 "$name"
	else
		echo "# status $rc, wanted $status with '$part'; $(wc -c <"$TMPDIR/out") bytes on stdout; stderr:"
		sed 's/^/#   /' "$TMPDIR/err"
		result 1 "$name"
	fi
}
prints() # name stdout-part arguments...: status 0, nothing on stderr
{
	local name=$1 part=$2
	shift 2
	run "$@"
	# Where a line breaks depends on the length of a path; what it says does not.
	if [ $rc -eq 0 ] && [ ! -s "$TMPDIR/err" ] &&
		{ grep -qF -- "$part" "$TMPDIR/out" || tr -s '\n ' '  ' <"$TMPDIR/out" | grep -qF -- "$part"; }; then
		result 0 "$name"
	else
		sed 's/^/#   /' "$TMPDIR/err" "$TMPDIR/out" | head -n 20
		result 1 "$name: status $rc, wanted '$part'"
	fi
}
yaml=$TMPDIR/my.yaml
in_days() { date -u -d "+$1 days" +%Y-%m-%d; }
end=$(in_days 30)

# --- what is refused, by every command that judges, before anything is read --------------------------------------
wrong() # name stderr-part text
{
	printf '%b' "$3" >"$yaml"
	for command in "report --capture $TMPDIR/none" rules "explain oom-kill"; do
		# shellcheck disable=SC2086 # the words are arguments
		refused "${command%% *}: $1" 2 "my.yaml:$2" $command --config "$yaml"
	done
}
wrong "a rule that is not there" "2: no rule 'freebord-low': did you mean 'freeboard-low'?" 'rules:\n  freebord-low: {}\n'
wrong "a threshold that is not there" "1: oom-kill has no threshold 'warning': it has kills" 'rules: {oom-kill: {warning: 1}}\n'
wrong "another kind of value" "1: oom-kill.kills: '1%' is no count" 'rules: {oom-kill: {kills: 1%}}\n'
wrong "levels that contradict each other" "3: freeboard-low.critical, 3 %, must be below" 'rules:\n  freeboard-low:\n    warning: 2%\n'
wrong "escape sequences in a name" "1: no rule 'a\\x1bc'" 'rules: {"a\\ec": {}}\n'
wrong "an ended silence" "1: the silence of oom-kill has ended on $(in_days -1): remove it" \
	"silences: [{rule: oom-kill, reason: x, until: $(in_days -1)}]\n"
wrong "a silence until today" "1: the silence of oom-kill has ended on $(in_days 0)" \
	"silences: [{rule: oom-kill, reason: x, until: $(in_days 0)}]\n"
wrong "a silence for ever" "1: the silence of oom-kill until $(in_days 400) is longer than a year: set a date up to" \
	"silences: [{rule: oom-kill, reason: x, until: $(in_days 400)}]\n"
wrong "a silence without a reason" "1: the silence of oom-kill has no reason" "silences: [{rule: oom-kill, until: $end}]\n"
# A capture judges nothing: it goes on to look for its process.
refused "a capture goes on past an ended silence" 3 "no process 4194303" capture -o "$TMPDIR/new" --pid 4194303 --config "$yaml"

# --- what a report does with them ---------------------------------------------------------------------------------
# Built: a process of 900 MiB in 1000 MiB, so freeboard-low is raised at 10 %, and no longer at 5 %.
mkdir -p "$TMPDIR/near/proc"
sed -E 's/^(VmRSS|RssAnon):.*/\1:\t  933888 kB/; s/^(RssFile|RssShmem|VmSwap):.*/\1:\t 0 kB/' \
	tests/fuzz/corpus/status/linux-6.1 >"$TMPDIR/near/proc/status"
printf 'bankfull-capture 1\nversion test\npid 42\nfile proc/status %s\nend\n' "$(stat -c %s "$TMPDIR/near/proc/status")" \
	>"$TMPDIR/near/manifest"
near() { run report --capture "$TMPDIR/near" --limit 1000m --color never --config "$yaml"; }
: >"$yaml"
near
[ $rc -eq 1 ] && grep -q '^warning  freeboard-low' "$TMPDIR/out"
result $? "without levels of its own the finding is raised"
echo 'rules: {freeboard-low: {warning: 5%}}' >"$yaml"
near
[ $rc -eq 0 ] && ! grep -q '^warning  freeboard-low' "$TMPDIR/out"
result $? "past a moved level it is not"
echo 'rules: {freeboard-low: {critical: 9.5%}}' >"$yaml"
near
[ $rc -eq 1 ] && grep -q '^critical  freeboard-low' "$TMPDIR/out"
result $? "a moved critical level makes it critical"
printf 'silences:\n- rule: freeboard-low\n  reason: known\n  until: %s\n' "$end" >"$yaml"
near
[ $rc -eq 0 ] && grep -q '^silenced  *freeboard-low' "$TMPDIR/out" && grep -q "until $end.*because: known" "$TMPDIR/out"
result $? "a silenced finding is named and does not count"
[ $rc -eq 0 ] || sed 's/^/#   /' "$TMPDIR/out" "$TMPDIR/err"

# --- the example of docs/configuration.md -------------------------------------------------------------------------
# A silence in the past would be refused: its end is moved to where it must be.
awk '/^```$/ && on { exit } on { print } /^```yaml/ { on = 1 }' docs/configuration.md | sed "s/until: .*/until: $end/" >"$yaml"
prints "rules: the example" "* warning         below 15 %       18 %" rules --config "$yaml"
grep -qF "* silenced until $end: the batch jobs fill it every night, known" "$TMPDIR/out" && grep -qF "* as $yaml says." "$TMPDIR/out"
result $? "rules: marks what the configuration changed"
prints "explain: the page, and what the configuration changes" "As $yaml says, warning: below 15 % of the limit, cleared at 18 %; warning-max:" \
	explain freeboard-low --config "$yaml"
prints "explain: a silence is told" "silenced until $end, because: the batch jobs fill" explain page-cache-benign --config "$yaml"

# --- rules and explain --------------------------------------------------------------------------------------------
prints "rules: without a configuration" "    kills           above 0          0" rules
! grep -q '^  \*' "$TMPDIR/out" && awk 'length > 100 { exit 1 }' "$TMPDIR/out"
result $? "rules: nothing is marked, and 100 columns hold it"
mkfifo "$TMPDIR/pipe"
refused "rules: a pipe is no configuration" 2 "pipe: not a regular file" rules --config "$TMPDIR/pipe"
refused "rules: an argument that is no option" 2 "'oom-kill' is no option" rules oom-kill
refused "explain: no rule named" 2 "say which rule: bankfull explain RULE" explain
refused "explain: a rule that is not there" 2 "no rule 'oom-kil': did you mean 'oom-kill'?" explain oom-kil
refused "explain: control bytes" 2 "\\x1b" explain "$(printf '\033[2J')"
refused "explain: two rules" 2 "'freeboard-low' is no option" explain oom-kill freeboard-low

run rules --format json
sed -n 's/^      "name": "\(.*\)",/\1/p' "$TMPDIR/out" >"$TMPDIR/names"
while read -r rule; do
	run explain "$rule"
	[ $rc -eq 0 ] && [ "$(head -n 1 "$TMPDIR/out")" = "$rule" ] && ! grep -q '[[:cntrl:]]' "$TMPDIR/out"
	result $? "explain $rule"
done <"$TMPDIR/names"
run explain freeboard-low --color always
grep -q "^$(printf '\033\[1m')freeboard-low" "$TMPDIR/out"
result $? "explain: headings are bold in colour"
if [ -e /dev/full ]; then
	for command in rules "explain freeboard-low"; do
		# shellcheck disable=SC2086 # the words are arguments
		"$BANKFULL" $command >/dev/full 2>"$TMPDIR/err"
		[ $? -eq 3 ] && grep -q 'could not be written to standard output' "$TMPDIR/err"
		result $? "${command%% *}: a full disk under standard output"
	done
fi
# At 80 columns, on a terminal; script(1) gives one.
if command -v script >/dev/null; then
	for command in rules "explain freeboard-low"; do
		script -qec "stty cols 80; $BANKFULL $command" /dev/null </dev/null 2>/dev/null | tr -d '\r' |
			sed 's/\x1b\[[0-9;]*m//g' >"$TMPDIR/out"
		[ "$(wc -l <"$TMPDIR/out")" -gt 20 ] && awk 'length > 80 { exit 1 }' "$TMPDIR/out"
		result $? "${command%% *}: fits a terminal of 80 columns"
	done
fi

# --- the levels that are printed read back ------------------------------------------------------------------------
run rules --format json
awk 'function text(line) { sub(/^ *"[a-z_]*": "?/, "", line); sub(/"?,?$/, "", line); return line }
	BEGIN { print "rules:" }
	/^      "name": / { rule = text($0) }
	/^      "judged_by": "agent"/ { print "  " rule ":" }
	/^          "name": / { name = text($0) }
	/^          "unit": / { share = text($0) == "basis_points" }
	/^          "(raise|clear)": / { n = text($0); tail = /"clear"/ ? "-clear" : ""
		printf "    %s%s: %s\n", name, tail, share ? sprintf("%d.%02d%%", n / 100, n % 100) : n }' "$TMPDIR/out" >"$yaml"
cp "$TMPDIR/out" "$TMPDIR/default"
run rules --format json --config "$yaml"
[ $rc -eq 0 ] && cmp "$TMPDIR/out" "$TMPDIR/default" && [ "$(grep -c '%$' "$yaml")" -gt 40 ]
result $? "the levels of rules --format json, as a configuration, change nothing"
exit $bad
