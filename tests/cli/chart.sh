#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# charts/bankfull by the real helm: lint, what it renders for a matrix of values (tests/golden/chart), what it refuses, that
# two renders are byte-equal, that every value is documented and in the schema, that manifests/ is what it renders.
# `tests/cli/chart.sh --update` rewrites goldens and manifests; read the difference.
set -u
cd "$(dirname "$0")/../.." || exit 2
chart=charts/bankfull want=tests/golden/chart
work=$(mktemp -d "${TMPDIR:-/tmp}/chart.XXXXXX") bad=0
trap 'rm -rf "$work"' EXIT
result() { if [ "$1" = 0 ]; then echo "ok - $2"; else echo "not ok - $2"; bad=1; fi; }

# Every value of values.yaml has a row in the chart's README, and every row is a value.
python3 - "$chart" <<'DOC'
import re, sys
try:
    import yaml
except ImportError:
    sys.exit(0)
chart = sys.argv[1]
leaves = set()
whole = {"node.resources", "collector.config", "collector.podSecurityContext", "collector.resources", "tls.certManager.issuerRef"}
def walk(value, path):
    if isinstance(value, dict) and value and path not in whole and not path.endswith(".labels"):
        for key, below in value.items():
            walk(below, f"{path}.{key}" if path else key)
    else:
        leaves.add(path)
walk(yaml.safe_load(open(f"{chart}/values.yaml")), "")
rows = set(re.findall(r"^\| `([A-Za-z.]+)` \|", open(f"{chart}/README.md").read(), re.M))
for path in sorted(leaves - rows): print(f"# {path} has no row in {chart}/README.md")
for path in sorted(rows - leaves): print(f"# {path} of {chart}/README.md is no value")
sys.exit(leaves != rows)
DOC
result $? "every value is documented, and nothing else"

helm=${HELM:-$(command -v helm)}
[ -n "$helm" ] || { echo "ok - with helm # SKIP it is not installed"; exit $bad; }
render() # RELEASE NAMESPACE OPTION...
{
	"$helm" template "$1" "$chart" --namespace "$2" --kube-version 1.36.0 "${@:3}" 2>"$work/err"
	local rc=$?
	grep -v 'found symbolic link' "$work/err" >&2
	return $rc
}
"$helm" lint "$chart" >"$work/lint" 2>&1; result $? "helm lint"

case_() # NAME RELEASE NAMESPACE OPTION...
{
	local name=$1
	shift
	render "$@" >"$work/$name" 2>"$work/said"
	result $? "$name: rendered"
	sed 's/^/# /' "$work/said"
	render "$@" 2>/dev/null | cmp -s - "$work/$name"
	result $? "$name: two renders are byte-equal"
	[ "${update:-0}" = 0 ] || { mkdir -p "$want"; cp "$work/$name" "$want/$name"; }
	cmp -s "$work/$name" "$want/$name"
	result $? "$name: as $want/$name says"
}
[ "${1:-}" != --update ] || update=1
digest=$(printf 'a%.0s' {1..64})
case_ default bankfull bankfull
case_ injection mem ops --set-string image.tag=9 --set injection.force=true,image.digest="sha256:$digest"
case_ everything bankfull bankfull --set injection.force=true,prePull.enabled=true,viewers.existingSecret=v,viewers.publicUrl=https://b.example.com,ingress.enabled=true,ingress.host=b.example.com,ingress.tlsSecret=t,monitoring.serviceMonitor.enabled=true,monitoring.podMonitor.enabled=true,collector.config.alertmanager=http://am:9093,persistence.enabled=false --set 'collector.allowAgents={streaming,team-*/flink}'
case_ own-certificate bankfull bankfull --set tls.existingSecret=mine,injection.enabled=false,persistence.existingClaim=old
case_ cert-manager bankfull bankfull --set tls.certManager.enabled=true,tls.certManager.issuerRef.name=ca,injection.enabled=false
case_ view bankfull bankfull --set rbac.events=true,rbac.pods=true
case_ view-namespaces bankfull bankfull --set rbac.events=true,rbac.pods=true,injection.enabled=false --set "rbac.namespaces={fraud,pay}"
case_ node bankfull bankfull --set node.enabled=true,collector.nodeAgents[0]=ops/other,node.match[0]=fraud/*,node.nodeSelector.streams=yes
case_ openshift bankfull bankfull -f manifests/values-openshift.yaml

render bankfull bankfull --set monitoring.prometheusRule.enabled=true,monitoring.dashboards.enabled=true >"$work/rules"
result $? "rules and dashboards are rendered"
if command -v promtool >/dev/null && python3 -c 'import yaml' 2>/dev/null; then
	python3 - "$work/rules" "$work/rules.yml" <<'RULES'
import sys, yaml
rule, = [d for d in yaml.safe_load_all(open(sys.argv[1])) if d and d["kind"] == "PrometheusRule"]
yaml.safe_dump(rule["spec"], open(sys.argv[2], "w"))
RULES
	promtool check rules "$work/rules.yml" >/dev/null
	result $? "promtool takes the rules as rendered"
else
	echo "ok - promtool takes the rules as rendered # SKIP no promtool"
fi

refused() # NAME PART OPTION...
{
	local name=$1 part=$2
	shift 2
	! render bankfull bankfull "$@" >"$work/out" 2>"$work/said" && grep -qF -- "$part" "$work/said"
	result $? "refused: $name"
	grep -qF -- "$part" "$work/said" || sed 's/^/# /' "$work/said"
}
refused "no TLS" "tls.enabled=false: agents show a token" --set tls.enabled=false
refused "two replicas" "the collector keeps one SQLite file" --set collector.replicas=2
refused "a value misspelt" "'colector' not allowed" --set colector.replicas=1
refused "a value below misspelt" "'enable' not allowed" --set persistence.enable=false
refused "a value of the wrong type" "want boolean" --set-string persistence.enabled=maybe
refused "a size that is none" "does not match pattern" --set persistence.size=big
refused "an account that is none" "does not match pattern" --set 'collector.allowAgents={system:serviceaccount:a:b}'
refused "a digest that is none" "does not match pattern" --set image.digest=latest
refused "two sources of a certificate" "exclude each other" --set tls.existingSecret=a,tls.certManager.enabled=true,tls.certManager.issuerRef.name=b
refused "cert-manager without an issuer" "needs tls.certManager.issuerRef.name" --set tls.certManager.enabled=true
refused "an Ingress without viewers" "needs viewers.existingSecret" --set ingress.enabled=true,ingress.host=a.b
refused "injection without the authority" "needs its authority: set tls.ca" --set tls.existingSecret=a
refused "namespaces of no right" "neither is set" --set "rbac.namespaces={fraud}"
refused "a namespace that is none" "does not match pattern" --set rbac.pods=true --set "rbac.namespaces={FRAUD}"
refused "node mode without the authority" "needs its authority: set tls.ca" --set tls.existingSecret=a,injection.enabled=false,node.enabled=true
refused "a node agent that is no account" "does not match pattern" --set collector.nodeAgents[0]=everybody
refused "a pattern without a namespace" "does not match pattern" --set node.match[0]=fraud
refused "no service account" "needs serviceAccount.name" --set serviceAccount.create=false
refused "a collector in the clear" "does not match pattern" --set sidecar.collectorUrl=ws://a

"$helm" template bankfull "$chart" --namespace bankfull --kube-version 1.36.0 --set injection.enabled=true 2>/dev/null | grep -q MutatingAdmissionPolicy
[ $? -ne 0 ]; result $? "no policy where the server is not known to have it"
"$helm" template bankfull "$chart" --namespace bankfull --kube-version 1.36.0 --api-versions admissionregistration.k8s.io/v1/MutatingAdmissionPolicy 2>/dev/null | grep -q 'kind: MutatingAdmissionPolicyBinding'
result $? "the policy where it has"
"$helm" template bankfull "$chart" --namespace bankfull --kube-version 1.36.0 --api-versions admissionregistration.k8s.io/v1/MutatingAdmissionPolicy --set injection.enabled=false 2>/dev/null | grep -q MutatingAdmissionPolicy
[ $? -ne 0 ]; result $? "the kill switch"
! "$helm" template bankfull "$chart" --kube-version 1.28.0 >/dev/null 2>&1; result $? "refused: Kubernetes 1.28"

# manifests/ is the chart's.
manifest() # FILE OPTION...
{
	{
		echo "# What charts/bankfull renders, without its hooks, for kubectl: tests/cli/chart.sh --update writes it."
		render bankfull bankfull --no-hooks "${@:2}"
	} >"$work/manifest"
	[ "${update:-0}" = 0 ] || cp "$work/manifest" "manifests/$1"
	cmp -s "$work/manifest" "manifests/$1"
	result $? "manifests/$1 is what the chart renders"
}
manifest collector.yaml --set test.enabled=false
{
	echo "# A DaemonSet in node mode (docs/node.md), beside the collector with --node-agents=bankfull/bankfull-node. Its namespace must be privileged."
	render bankfull bankfull --set node.enabled=true -s templates/node.yaml
} >"$work/node"
[ "${update:-0}" = 0 ] || cp "$work/node" manifests/examples/node-mode.yaml
cmp -s "$work/node" manifests/examples/node-mode.yaml; result $? "manifests/examples/node-mode.yaml is what the chart renders"
render bankfull bankfull --set injection.force=true -s templates/injection.yaml >"$work/injection"
[ "${update:-0}" = 0 ] || cp "$work/injection" manifests/injection.yaml
cmp -s "$work/injection" manifests/injection.yaml; result $? "manifests/injection.yaml is what the chart renders"

render bankfull bankfull -s templates/init-tls.yaml | python3 -c '
import sys
docs = [d for d in sys.stdin.read().split("---\n") if d.strip() and "remove-tls" not in d]
print("---\n" + "---\n".join(docs), end="")' >"$work/init-tls"
[ "${update:-0}" = 0 ] || cp "$work/init-tls" manifests/init-tls.yaml
cmp -s "$work/init-tls" manifests/init-tls.yaml; result $? "manifests/init-tls.yaml is what the chart renders"
for source in manifests/examples/*.src.yaml; do
	made=${source%.src.yaml}.yaml
	"${BANKFULL:-./bankfull}" inject -f "$source" --image bankfull:0.1.0 --collector wss://bankfull.bankfull.svc:8480/agent \
		--audience bankfull.bankfull.bankfull >"$work/example" 2>/dev/null
	[ "${update:-0}" = 0 ] || cp "$work/example" "$made"
	cmp -s "$work/example" "$made"; result $? "$made is what bankfull inject makes of $source"
done

# The library's sidecar is that of bankfull inject.
cp -r tests/fixtures/chart/user "$work/user" && mkdir -p "$work/user/charts" && cp -r charts/bankfull-sidecar "$work/user/charts/"
printf 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: app\nspec:\n  containers:\n    - {name: app, image: i, resources: {limits: {memory: 1Gi}}}\n' |
	"${BANKFULL:-./bankfull}" inject -f - --image bankfull:1 --collector wss://b.m.svc:8480/agent --audience b.m --uid 1000 --gid 1000 >"$work/injected.yaml" 2>/dev/null
"$helm" template user "$work/user" --kube-version 1.36.0 >"$work/library.yaml" 2>"$work/said"
result $? "the library template is rendered"
if python3 -c 'import yaml' 2>/dev/null; then
	python3 - "$work/injected.yaml" "$work/library.yaml" <<'SAME'
import sys, yaml
a, b = (yaml.safe_load(open(f))["spec"] for f in sys.argv[1:])
env = a["initContainers"][0]["env"]
for variable in env:
    if variable["name"] == "BANKFULL_WORKLOAD": break
else:
    env.insert(4, {"name": "BANKFULL_WORKLOAD", "value": "app"})  # a Pod is no workload to bankfull inject
assert a["initContainers"] == b["initContainers"], (a["initContainers"], b["initContainers"])
assert a["volumes"] == b["volumes"] and a["shareProcessNamespace"] is b["shareProcessNamespace"] is True
SAME
	result $? "it is the sidecar of bankfull inject"
fi
"$helm" template user "$work/user" --kube-version 1.36.0 --set bankfull.group=null >/dev/null 2>"$work/said"
[ $? -ne 0 ] && grep -q 'user and group go together' "$work/said"; result $? "refused: the library with a user and no group"
exit $bad
