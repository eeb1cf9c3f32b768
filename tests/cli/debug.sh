#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 60
# `bankfull debug` and `bankfull doctor POD` with the real kubectl, against as much of an API server as it needs.
set -u
cd "$(dirname "$0")/../.." || exit 2
bankfull=${BANKFULL:-./bankfull}
bankfull=$(realpath "$bankfull")
work=${TMPDIR:-/tmp}/debug.$$
bad=0 api=''
mkdir -p "$work"
end() { [ -z "$api" ] || { kill "$api"; wait "$api"; } 2>/dev/null; api=''; }
trap 'end; rm -rf "$work"' EXIT
result() { if [ "$1" = 0 ]; then echo "ok - $2"; else echo "not ok - $2"; bad=1; fi; }

# Without kubectl it prints what to run.
PATH=/nonexistent "$bankfull" debug tm-1 -n fraud --uid 9999 --gid 9999 --image reg.example/bankfull:1 >"$work/out"
diff - "$work/out" <<'WANT'
echo '{"securityContext":{"runAsUser":9999,"runAsGroup":9999}}' >bankfull-debug.json
kubectl debug --namespace=fraud tm-1 --image=reg.example/bankfull:1 --target=flink-main-container --profile=restricted --custom=bankfull-debug.json --quiet --stdin -- bankfull report
WANT
result $? "without kubectl the command is printed"
PATH=/nonexistent "$bankfull" debug tm-1 >"$work/out" && grep -q '^# The user of the JVM is not known' "$work/out"
result $? "and says what it does not know"

refused() # name part arguments...
{
	local name=$1 part=$2 rc
	shift 2
	PATH=/nonexistent "$bankfull" "$@" >"$work/out" 2>"$work/err" </dev/null
	rc=$?
	{ [ $rc -eq 2 ] || [ $rc -eq 3 ]; } && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -qF -- "$part" "$work/err"
	result $? "$name"
	grep -qF -- "$part" "$work/err" || sed 's/^/# /' "$work/err"
}
refused "no pod" "say which pod" debug
refused "two pods" "one pod at a time" debug a b
refused "a pod with an option's name" "is no name of Kubernetes" debug 'a;b'
refused "a namespace of two words" "is no name of Kubernetes" debug a -n 'b c'
refused "a user of letters" "is no number" debug a --uid x
refused "doctor without kubectl" "no kubectl on PATH" doctor a
refused "doctor with an option of nobody" "--nonsense" doctor a --nonsense

command -v kubectl >/dev/null || { echo "ok - with kubectl # SKIP it is not installed"; exit $bad; }

# serve POD-JSON: an API server that has this pod alone
serve()
{
	end
	printf '%s' "$1" >"$work/pod.json"
	rm -f "$work/url" "$work/patched"
	python3 tests/support/kube_api.py "$work/pod.json" "$work/patched" >"$work/url" &
	api=$!
	for _ in $(seq 100); do
		[ ! -s "$work/url" ] || break
		sleep 0.1
	done
	cat >"$work/config" <<CONFIG
{"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
"clusters": [{"name": "c", "cluster": {"server": "$(cat "$work/url")"}}], "users": [{"name": "u", "user": {}}]}
CONFIG
	export KUBECONFIG=$work/config HOME=$work
}
serve '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"tm-1","namespace":"fraud"},
"spec":{"securityContext":{"runAsUser":1000,"runAsGroup":1001},"containers":[{"name":"flink-main-container","image":"flink:2.2"}]},
"status":{"phase":"Running","containerStatuses":[{"name":"flink-main-container","state":{"running":{}},"ready":true,"restartCount":0,"image":"","imageID":""}]}}'
"$bankfull" debug tm-1 --print -n fraud >"$work/out" && grep -q '"runAsUser":1000,"runAsGroup":1001' "$work/out" &&
	grep -q -- '--target=flink-main-container --profile=restricted' "$work/out"
result $? "with kubectl it knows container, user and group"
# kubectl then waits for the container, which nobody starts.
"$bankfull" debug -n fraud tm-1 >"$work/out" 2>&1 </dev/null &
waiting=$!
for _ in $(seq 150); do
	[ ! -s "$work/patched" ] || break
	sleep 0.1
done
{ kill "$waiting"; wait "$waiting"; } 2>/dev/null
python3 - "$work/patched" <<'CHECK'
import json, sys
new, = json.load(open(sys.argv[1]))["spec"]["ephemeralContainers"]
context = new["securityContext"]
assert new["targetContainerName"] == "flink-main-container" and new["command"] == ["bankfull", "report"], new
assert (context["runAsUser"], context["runAsGroup"]) == (1000, 1001), context
assert context["runAsNonRoot"] and not context["allowPrivilegeEscalation"], context
assert context["capabilities"] == {"drop": ["ALL"]} and context["seccompProfile"] == {"type": "RuntimeDefault"}, context
CHECK
result $? "the ephemeral container is the restricted profile's, with the pod's user and group"
"$bankfull" debug tm-9 -n fraud >"$work/out" 2>"$work/err"
[ $? -eq 3 ] && grep -q "kubectl get: " "$work/err"
result $? "a pod that is not there"
"$bankfull" doctor tm-1 -n fraud >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q '^ok    Kubernetes: 1.36 has native sidecars' "$work/out" && grep -q '^bad   sidecar: the pod has no container bankfull' "$work/out"
result $? "doctor names a pod without a sidecar"
exit $bad
