#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 300
# The files of contrib/ at work: a real agent on a real JVM and the collector that it speaks to, found and relabelled by the
# example of a Prometheus configuration, with our rules loaded; then every expression of both Grafana dashboards is asked.
# shellcheck source=tests/integration/truth.bash
. tests/integration/truth.bash
if ! command -v prometheus >/dev/null; then
	echo "ok - grafana # SKIP prometheus is not installed"
	exit 0
fi

begin probe probe --seconds 270 --nmt summary -- --malloc-mib 64
"$work/bankfull" report --pid "$pid" --limit 1Gi --svg "$work/live.svg" >"$work/live.txt" 2>&1
[ $? -le 1 ] && python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$work/live.svg" && grep -q '>java-heap</text>' "$work/live.svg" &&
	grep -q '>limit 1.00 GiB (told)</text>' "$work/live.svg"
result $? 'a picture of a live JVM'

listen=$(free_port) web=$(free_port) serve=$(free_port)
mkdir "$work/data"
"${BANKFULL}-collector" --listen "127.0.0.1:$serve" --data "$work/data" --cluster lab >/dev/null 2>"$work/collector.log" </dev/null &
others+=($!)
# A limit that is close: rules must have something to say.
floor=$("$work/bankfull" report --pid "$pid" --format json | sed -n 's/^ *"floor_bytes": \([0-9]*\).*/\1/p')
"$work/bankfull" agent --pid "$pid" --limit $((floor + 4 * 1048576)) --listen "127.0.0.1:$listen" --interval 1s --smaps-interval 5s --namespace pay --workload fraud \
	--pod fraud-1 --collector "ws://127.0.0.1:$serve/agent" >/dev/null 2>"$work/agent.log" </dev/null &
others+=($!)

# The example as it stands, but for where targets come from: what Kubernetes would say of them is said here.
target() # PORT LABELS
{
	printf '    static_configs:\\n      - targets: ["127.0.0.1:%s"]\\n        labels: {%s}\\n' "$1" "$2"
}
agents=$(target "$listen" '__meta_kubernetes_pod_container_port_number: "9482", __meta_kubernetes_pod_phase: Running, __meta_kubernetes_namespace: pay, __meta_kubernetes_pod_name: fraud-1, __meta_kubernetes_pod_node_name: node-1, __meta_kubernetes_pod_label_app: fraud, __meta_kubernetes_pod_label_component: taskmanager')
collector=$(target "$serve" '__meta_kubernetes_pod_container_port_number: "8482"')
{
	echo 'global: {evaluation_interval: 1s}'
	awk -v agents="$agents" -v collector="$collector" '
		/^ *kubernetes_sd_configs:/ { printf "%s", n++ ? collector : agents; skip = 1; next }
		skip { skip = 0; next }
		{ sub("scrape_interval: 30s", "scrape_interval: 500ms\n    scrape_timeout: 400ms"); print }' contrib/prometheus/prometheus.yml
} >"$work/prometheus.yml"
cp contrib/prometheus/bankfull.rules.yml "$work"
prometheus --config.file "$work/prometheus.yml" --storage.tsdb.path "$work/tsdb" --web.listen-address "127.0.0.1:$web" \
	>"$work/prometheus.log" 2>&1 </dev/null &
others+=($!)

python3 tests/integration/grafana.py "http://127.0.0.1:$web" || n_bad=1
if [ "$n_bad" -ne 0 ]; then
	tail -n 5 "$work"/{agent,collector,prometheus}.log | sed 's/^/# /'
fi
finish
