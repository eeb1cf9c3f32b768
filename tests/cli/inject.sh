#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `bankfull inject` over whole files: what it prints is tests/golden/inject, adding twice is adding once, taking out gives
# the file back. `tests/cli/inject.sh --update` rewrites the goldens; read the difference.
set -u
cd "$(dirname "$0")/../.." || exit 2
bankfull=${BANKFULL:-./bankfull}
given=tests/fixtures/inject want=tests/golden/inject
work=${TMPDIR:-/tmp}/inject.$$
mkdir -p "$work" "$want" && trap 'rm -rf "$work"' EXIT
bad=0
result() # ok? name
{
	if [ "$1" = 0 ]; then echo "ok - $2"; else echo "not ok - $2"; bad=1; fi
}

collector=(--image registry.example.com/bankfull:1 --collector wss://bankfull.monitoring.svc:8480/agent
	--audience bankfull.bankfull.monitoring --ca-file "$given/ca.pem")

# name file exactly-back? options...
case_()
{
	local name=$1 file=$given/$2 back=$3
	shift 3
	"$bankfull" inject -f "$file" "$@" >"$work/once" 2>"$work/notes"
	result $? "$name: printed"
	sed -i "s|$given/||" "$work/notes"
	cat "$work/notes" "$work/once" >"$work/all"
	[ "${update:-0}" = 0 ] || cp "$work/all" "$want/$name"
	cmp -s "$work/all" "$want/$name"
	result $? "$name: as $want/$name says"
	"$bankfull" inject -f - "$@" <"$work/once" >"$work/twice" 2>/dev/null && cmp -s "$work/once" "$work/twice"
	result $? "$name: twice is once"
	"$bankfull" inject -f "$work/once" --remove >"$work/back" 2>/dev/null
	if [ "$back" = exactly ]; then
		cmp -s "$work/back" "$file"
		result $? "$name: taken out, byte by byte"
	else
		"$bankfull" inject -f "$work/back" --remove 2>/dev/null | cmp -s - "$work/back" && ! grep -q bankfull "$work/back"
		result $? "$name: taken out without a trace"
	fi
	cp "$file" "$work/patched"
	"$bankfull" inject -f "$file" "$@" --dry-run >"$work/diff" 2>/dev/null && patch -s "$work/patched" "$work/diff" &&
		cmp -s "$work/patched" "$work/once"
	result $? "$name: the difference is the same"
}
[ "${1:-}" != --update ] || update=1
command -v patch >/dev/null || { echo "ok - inject # SKIP no patch"; exit 0; }

case_ streams streams.yaml exactly "${collector[@]}"
case_ flink flink.yaml exactly "${collector[@]}"
case_ flink-bare flink-bare.yaml exactly
case_ json list.json traceless --uid 1000 --gid 1000
case_ windows windows.yaml exactly
case_ ordinary flink.yaml exactly --kube-version 1.28 --resources cpu=300m,memory=96Mi
case_ streams-user streams.yaml exactly --uid 1000 --gid 1000

grep -c $'\r$' <("$bankfull" inject -f "$given/windows.yaml" 2>/dev/null) | grep -qx "$("$bankfull" inject -f "$given/windows.yaml" 2>/dev/null | wc -l)"
result $? "every line of a Windows file ends as the others do"

# name stderr-part options...: the YAML comes from stdin
refused()
{
	local name=$1 part=$2
	shift 2
	"$bankfull" inject "$@" >"$work/out" 2>"$work/err"
	local rc=$?
	[ $rc -eq 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -qF -- "$part" "$work/err"
	result $? "refused: $name"
	[ $rc -eq 2 ] && grep -qF -- "$part" "$work/err" || sed "s/^/# $rc: /" "$work/err"
}
pod=$'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: a, image: i}]\n'
refused "no file" "say which file: -f FILE" --remove
refused "a user without a group" "--uid without --gid" -f - --uid 5 <<<"$pod"
refused "a user of letters" "--uid: 'flink' is no number" -f - --uid flink <<<"$pod"
refused "a collector over http" "--collector: wss://HOST:8480/agent" -f - --collector http://x <<<"$pod"
refused "a collector without an audience" "--collector without --audience" -f - --collector wss://x/agent <<<"$pod"
refused "an image with a line's end" "--image: empty, or with characters" -f - --image $'a\nb' <<<"$pod"
refused "no certificate" "--ca-file: no certificate stands in" -f - --ca-file /dev/null <<<"$pod"
refused "resources of nobody" "is neither cpu=C nor memory=M" -f - --resources disk=1 <<<"$pod"
refused "no version" "--kube-version: '2' is none" -f - --kube-version 2 <<<"$pod"
refused "a container that is not there" "Say --container NAME: a" -f - --container b <<<"$pod"
refused "a template that is no YAML" "standard input:1: " -f - <<<'a: {{ .Values.x }}'
refused "a job on Kubernetes 1.28" "an ordinary sidecar never ends" -f "$given/streams.yaml" --kube-version 1.28
printf -- '-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n' >"$work/both.pem"
refused "an authority with its key" "holds a private key" -f - --ca-file "$work/both.pem" <<<"$pod"
"$bankfull" inject -f "$work/none" >"$work/out" 2>"$work/err"
[ $? -eq 3 ] && [ ! -s "$work/out" ]
result $? "a file that is not there is 3"
"$bankfull" inject -f - <<<$'a: b' 2>"$work/err" | grep -qx 'a: b' && grep -q 'nothing here describes a pod' "$work/err"
result $? "what is no pod passes as it is, and that is said"

# The chart's values.
cat >"$work/values.yaml" <<'V'
image: {repository: registry.example.com/bankfull, tag: "9"}
sidecar: {resources: {memory: 80Mi}}
V
"$bankfull" inject -f - --from-chart-values "$work/values.yaml" --release mem/ops <<<"$pod" >"$work/out" 2>/dev/null
for part in 'registry.example.com/bankfull:9' 'wss://mem-bankfull.ops.svc:8480/agent' 'bankfull.mem.ops' 'memory: 80Mi' 'cpu: 50m'; do
	grep -qF -- "$part" "$work/out"
	result $? "from the chart's values: $part"
done
exit $bad
