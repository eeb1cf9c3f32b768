#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# `bankfull doctor` where a sidecar would run it: a real JVM, a real collector, right and wrong credentials.
# shellcheck disable=SC2015 # result() cannot fail
# shellcheck source=tests/integration/truth.bash
. tests/integration/truth.bash

collector=''
cleanup_all()
{
	[ -z "$collector" ] || { kill "$collector" 2>/dev/null; wait "$collector" 2>/dev/null; }
	cleanup
}
trap cleanup_all EXIT
port=$(free_port)
mkdir -p "$work/data" "$work/state"
(umask 077; echo 'fraud/tm-1 0123456789abcdef0123' >"$work/agents"; echo '0123456789abcdef0123' >"$work/token"; echo 'fedcba9876543210fedc' >"$work/wrong")
"${BUILD:-build/release}/bankfull-collector" --listen "127.0.0.1:$port" --data "$work/data" --agent-tokens "$work/agents" >/dev/null 2>"$work/collector.log" </dev/null &
collector=$!
begin jvm probe --seconds 100 --heap 64m
up() { curl -s -m 2 -o /dev/null "http://127.0.0.1:$port/healthz"; }
until_true 10 up
doctor() { "$work/bankfull" doctor --pid "$pid" --limit 700m --collector "ws://127.0.0.1:$port/agent" "$@" >"$work/said" 2>&1; }
check() # NAME STATUS PART
{
	[ "$rc" = "$2" ] && grep -qF -- "$3" "$work/said"
	local ok=$?
	[ $ok = 0 ] || sed 's/^/# /' "$work/said"
	result $ok "$1"
}
doctor --token-file "$work/token" --state-dir "$work/state"; rc=$?
grep -q '^ok    JVM: process' "$work/said"; result $? 'the JVM is seen'
grep -q '^ok    its mappings: it can be read' "$work/said"; result $? 'its mappings can be read'
grep -q '^ok    state directory' "$work/said"; result $? 'the state directory is looked at'
grep -qF "ok    collector: ws://127.0.0.1:$port/agent takes this agent" "$work/said"; result $? 'the collector takes the token'
! grep -q 0123456789abcdef "$work/said"; result $? 'the token is not shown'
doctor --token-file "$work/wrong"; rc=$?
check 'a wrong token' 1 'refuses with status 401'
doctor --token-file "$work/none"; rc=$?
check 'no token' 1 'bad   token: '
doctor --token-file "$work/token" --state-dir /proc/none; rc=$?
check 'a state directory that cannot be written' 1 'bad   state directory: /proc/none cannot be written'
"$work/bankfull" doctor --pid "$pid" --collector "wss://127.0.0.1:$port/agent" >"$work/said" 2>&1; rc=$?
check 'TLS where there is none' 1 'bad   collector: wss://127.0.0.1'
"$work/bankfull" doctor --pid 4194303 >"$work/said" 2>&1; rc=$?
check 'a process that is not there' 1 'bad   access: '
"$work/bankfull" doctor --interval never >"$work/said" 2>&1; rc=$?
check 'settings that are wrong' 2 'interval'
grep -c '"event":"agent-error"' "$work/collector.log" | grep -qx 0; result $? 'the collector heard no error of it'
finish
