#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# No secret of a target leaves the reader: canaries are planted wherever a real one could stand (command line,
# environment, agent, configuration, metrics page, REST answers, URLs), and no output may hold one of them.
# The target is a small JVM that looks like a TaskManager; its metrics page is a file behind a server on loopback.
set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/integration/wait.bash
. tests/integration/wait.bash
bankfull=${BANKFULL:-build/release/bankfull}
work=$(mktemp -d "${TMPDIR:-/tmp}/canary.XXXXXX") || exit 2
jvm='' server='' agent='' collector='' tap='' bad=0
finish()
{
	local pid
	for pid in $agent $tap $collector $jvm $server; do
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

verdict() # name status
{
	if [ "$2" -eq 0 ]; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		bad=1
	fi
}
give_up() # why
{
	echo "not ok - $1"
	exit 1
}

# --- the target -------------------------------------------------------------------------------
package=org/apache/flink/runtime/taskexecutor
mkdir -p "$work/src/$package" "$work/CANARY-classpath" "$work/www/jobs" "$work/conf"
cat >"$work/src/$package/TaskManagerRunner.java" <<'END'
package org.apache.flink.runtime.taskexecutor;

public class TaskManagerRunner {
    public static void premain(String options) {}

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        Thread.sleep(110_000);
    }
}
END
javac -d "$work/CANARY-classpath" "$work/src/$package/TaskManagerRunner.java" || give_up "the target does not compile"
echo 'Premain-Class: org.apache.flink.runtime.taskexecutor.TaskManagerRunner' >"$work/agent.mf"
jar cfm "$work/jmx_prometheus_javaagent-1.0.1.jar" "$work/agent.mf" -C "$work/CANARY-classpath" . || give_up "no agent"

cat >"$work/www/metrics" <<'END'
# HELP flink_taskmanager_Status_JVM_Memory_Direct_MemoryUsed CANARY-help
# TYPE flink_taskmanager_Status_JVM_Memory_Direct_MemoryUsed gauge
flink_taskmanager_Status_JVM_Memory_Direct_MemoryUsed{host="10_0_0_1",tm_id="tm_1",password="CANARY-label",} 1048576.0
flink_taskmanager_CANARY_name{host="10_0_0_1",tm_id="tm_1",} 1.0
flink_taskmanager_job_task_operator_state_rocksdb_block_cache_usage{tm_id="tm_1",job_id="1",task_id="2",operator_id="3",subtask_index="0",s3_secret="CANARY-rocksdb",} 8388608.0
flink_taskmanager_job_task_operator_state_rocksdb_size_all_mem_tables{tm_id="tm_1",job_id="1",task_id="2",operator_id="3",subtask_index="0",s3_secret="CANARY-rocksdb",} 4194304.0
# CANARY-comment
CANARY_alone 3
END
echo '[{"key":"taskmanager.memory.process.size","value":"1728m"},{"key":"s3.secret-key","value":"CANARY-rest"},{"key":"env.java.opts","value":"-Dpassword=CANARY-restopts"}]' >"$work/www/jobmanager-config"
cat >"$work/serve.py" <<'END'
import http.server
import os
import sys

PAGES = {
    "/metrics": ("text/plain; version=0.0.4", open(os.path.join(sys.argv[1], "metrics"), "rb").read()),
    "/config": ("application/json", b'{"flink-version":"1.20.5","flink-revision":"CANARY-revision","features":{"web-user":"CANARY-user"}}'),
    "/jobmanager/config": ("application/json", open(os.path.join(sys.argv[1], "jobmanager-config"), "rb").read()),
    "/taskmanagers": ("application/json", b'{"taskmanagers":[{"id":"tm_1","path":"pekko.tcp://flink@127.0.0.1:1/user/rpc/taskmanager_0","dataPort":1,"hardware":{"managedMemory":1},"token":"CANARY-tm"}]}'),
    "/taskmanagers/tm_1": ("application/json", b'{"id":"tm_1","path":"pekko.tcp://flink@127.0.0.1:1/user/rpc/taskmanager_0","memoryConfiguration":{"managedMemory":1},"metrics":{"secret":"CANARY-metrics"}}'),
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind, body = PAGES.get(self.path.split("?")[0], ("text/html", b"<p>CANARY-html</p>"))
        self.send_response(200 if kind != "text/html" else 404)
        self.send_header("Content-Type", kind)
        self.send_header("X-Secret", "CANARY-header")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
END
python3 "$work/serve.py" "$work/www" >"$work/port" 2>/dev/null &
server=$!
for _ in $(seq 100); do [ -s "$work/port" ] && break; sleep 0.1; done
read -r port <"$work/port" || give_up "no metrics server"

cat >"$work/conf/config.yaml" <<END
# CANARY-yaml-comment
taskmanager.memory.process.size: 1728m
metrics.reporter.prom.factory.class: org.apache.flink.metrics.prometheus.PrometheusReporterFactory
metrics.reporter.prom.port: "$port"
s3.secret-key: CANARY-yaml
s3:
  access-key: CANARY-nested
security.ssl.internal.keystore-password: "CANARY-quoted"
env.java.opts.taskmanager: -Dpassword=CANARY-yaml-opts -Xmx1g
fs.azure.account.key.account.blob.core.windows.net: CANARY-account
taskmanager.numberOfTaskSlots: CANARY-notanumber
END
env 'AWS_SECRET_ACCESS_KEY=CANARY-environ' 'JDK_JAVA_OPTIONS=-Dtool.password=CANARY-jdkoptions' 'JAVA_TOOL_OPTIONS=-Dtool.secret=CANARY-tooloptions' \
	java -Xmx48m -XX:NativeMemoryTracking=summary "-XX:OnOutOfMemoryError=curl -d CANARY-oom http://127.0.0.1" "-XX:HeapDumpPath=$work/CANARY-heap" \
	"-javaagent:$work/jmx_prometheus_javaagent-1.0.1.jar=127.0.0.1:$port:$work/CANARY-agent.yaml" \
	-Dpassword=CANARY-property "-Djavax.net.ssl.keyStorePassword=CANARY-ssl" -cp "$work/CANARY-classpath" \
	org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir "$work/conf" --token CANARY-argument \
	-D s3.secret-key=CANARY-dynamic -D taskmanager.memory.managed.size=16777216b -Ds3.session-token=CANARY-joined CANARY-last \
	>"$work/jvm.out" 2>&1 &
jvm=$!
for _ in $(seq 300); do grep -q READY "$work/jvm.out" && break; sleep 0.1; done
grep -q READY "$work/jvm.out" || give_up "the target did not start"

# --- the bait is there, and is read -----------------------------------------------------------
[ "$(tr '\0' '\n' <"/proc/$jvm/cmdline" | grep -c CANARY)" -ge 9 ]
verdict "the command line holds canaries" $?
grep -qa CANARY "/proc/$jvm/environ"
verdict "so does the environment" $?

run=0
# no_canary NAME OPTION...: report as table and as JSON, capture, and the replay of the capture.
no_canary()
{
	local name=$1 out status=0
	shift
	run=$((run + 1))
	out=$work/out$run
	mkdir "$out"
	"$bankfull" report --pid "$jvm" "$@" >"$out/table" 2>"$out/table.err"
	"$bankfull" report --pid "$jvm" "$@" --format json >"$out/json" 2>"$out/json.err"
	"$bankfull" capture --pid "$jvm" "$@" -o "$out/capture" >"$out/capture.out" 2>"$out/capture.err"
	if [ -e "$out/capture/manifest" ]; then
		"$bankfull" report --capture "$out/capture" --format json >"$out/replay" 2>"$out/replay.err"
	fi
	if grep -raoE '[^ ]{0,40}CANARY[^ ]{0,30}' "$out" | sed -e "s#^$work/##" -e 's/^/# /' | grep .; then
		status=1
	fi
	verdict "$name: no canary in report, JSON or capture" $status
}

no_canary "found by itself"
grep -q '"engine": "flink-taskmanager"' "$work/out1/json" && [ -s "$work/out1/capture/proc/smaps" ]
verdict "the target was read" $?
[ -s "$work/out1/capture/conf/flink" ]
verdict "its configuration was read" $?
[ -s "$work/out1/capture/http/metrics.0" ]
verdict "its metrics page was read" $?

no_canary "configuration and REST named" --flink-conf "$work/conf/config.yaml" --flink-rest "http://127.0.0.1:$port"
grep -q 16777216 "$work/out2/capture/proc/cmdline"
verdict "sizes are kept" $?

# What the caller himself types may hold a secret, too.
no_canary "a URL with a password" --metrics "http://user:CANARY-urlpassword@127.0.0.1:$port/metrics"
no_canary "a URL with a token" --metrics "http://127.0.0.1:$port/metrics?token=CANARY-urltoken"
no_canary "a page that is none" --metrics "http://127.0.0.1:$port/nothing" --flink-rest "http://127.0.0.1:$port/nothing"

# An error about a file names the line, not its text.
printf 'a: CANARY-one\n\tb: CANARY-tab\n- &x CANARY-anchor\n' >"$work/broken.yaml"
no_canary "a broken configuration" --flink-conf "$work/broken.yaml"

# --- agent, wire and collector ----------------------------------------------------------------
# With tokens of their own that are canaries, and everything that leaves them looked through: log, standard output, state
# directory, /metrics, the wire as it passes, database, API.
out=$work/daemons
mkdir -p "$out/data" "$work/tokens"
agent_token=CANARY-agent-token-0123456789
viewer_token=CANARY-viewer-token-0123456789
(
	umask 077
	echo "$agent_token" >"$work/tokens/agent"
	echo "pod-1 $agent_token" >"$work/tokens/agents"
	echo "viewer ann $viewer_token" >"$work/tokens/viewers"
)
ask() { curl -s -m 5 -H "Authorization: Bearer $viewer_token" "http://127.0.0.1:$collector_port$1"; }
collector_port=$(free_port)
agent_port=$(free_port)
"$bankfull-collector" --listen "127.0.0.1:$collector_port" --data "$out/data" --agent-tokens "$work/tokens/agents" \
	--viewer-tokens "$work/tokens/viewers" --debug >"$out/collector.out" 2>"$out/collector.log" </dev/null &
collector=$!
until_true 10 grep -q '"listening"' "$out/collector.log" || give_up "the collector did not start"
python3 - "$collector_port" "$out/wire" "$work/tap-port" <<'END' &
import asyncio
import os
import sys

sys.path.insert(0, "tests/integration")
from wire_tap import Tap  # noqa: E402


class Scribe(Tap):
    def _note(self, text, upwards):
        with open(sys.argv[2], "ab") as f:
            f.write((text if isinstance(text, bytes) else str(text).encode()) + b"\n")
        return super()._note(text, upwards)


async def main():
    tap = Scribe(int(sys.argv[1]))
    port = await tap.start()
    with open(sys.argv[3] + ".new", "w") as f:
        f.write(str(port))
    os.rename(sys.argv[3] + ".new", sys.argv[3])
    await asyncio.sleep(100)


asyncio.run(main())
END
tap=$!
until_true 10 test -s "$work/tap-port" || give_up "no tap"
"$bankfull" agent --pid "$jvm" --collector "ws://127.0.0.1:$(cat "$work/tap-port")/agent" --token-file "$work/tokens/agent" \
	--state-dir "$out/state" --listen "127.0.0.1:$agent_port" --limit 1728m --interval 1s --smaps-interval 5s --scrape-interval 5s \
	--flink-conf "$work/conf/config.yaml" --flink-rest "http://127.0.0.1:$port" --debug >"$out/agent.out" 2>"$out/agent.log" </dev/null &
agent=$!
engine_seen() { curl -s -m 5 "http://127.0.0.1:$agent_port/metrics" | grep -q 'engine="flink-taskmanager"'; }
until_true 20 engine_seen
verdict "the agent reads the target" $?
sleep 6
curl -s -m 5 -H "Authorization: Bearer CANARY-wrong-token-0123456789" "http://127.0.0.1:$collector_port/api/v1/pods" >"$out/wrong"
curl -s -m 5 -H "Authorization: Bearer CANARY-wrong-token-0123456789" -H 'Connection: Upgrade' -H 'Upgrade: websocket' \
	-H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' -H 'Sec-WebSocket-Protocol: bankfull.v1' \
	"http://127.0.0.1:$collector_port/agent" >>"$out/wrong"
curl -s -m 5 "http://127.0.0.1:$agent_port/metrics" >"$out/agent.metrics"
cp -r "$out/state" "$out/state.before"
kill -KILL "$jvm"
until_true 10 grep -q postmortem "$out/agent.out"
verdict "its death is told" $?
has_postmortem() { ask /api/v1/postmortems | grep -q '"pid"'; }
until_true 10 has_postmortem
verdict "and has reached the collector" $?
for path in /metrics /api/v1/workloads /api/v1/pods /api/v1/pods/1 "/api/v1/pods/1/samples?from=0" /api/v1/findings /api/v1/postmortems \
	/api/v1/postmortems/1 /api/v1/findings/1; do
	ask "$path" >"$out/api${path//[\/?=]/-}"
done
cp -r "$out/state" "$out/state.after"
cp -r "$out/data" "$out/data.live"
kill -TERM "$agent"
wait "$agent"
agent=''
kill -TERM "$collector"
wait "$collector"
collector=''
grep -q '"type":"postmortem"' "$out/wire" && grep -q '"type":"sample"' "$out/wire" && grep -qa limit "$out/data/bankfull.db" && [ -s "$out/api-api-v1-postmortems-1" ]
verdict "there is something to look through" $?
found=0
if grep -raoE '[^ ]{0,40}CANARY[^ ]{0,30}' "$out" | sed -e "s#^$work/##" -e 's/^/# /' | grep .; then
	found=1
fi
verdict "agent, wire and collector: no canary in log, output, state, metrics, wire, database or API" $found
exit $bad
