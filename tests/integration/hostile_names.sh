#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# Names full of escape sequences, wherever a target may choose one; and several engines where one was expected.
# shellcheck disable=SC2015,SC2016 # ok() cannot fail; what is quoted is for an inner shell
# shellcheck source=tests/integration/hostile.bash
. tests/integration/hostile.bash

gcc -std=gnu11 -O1 -o "$work/java" tests/integration/hostile_fake.c || exit 1
# Clear the screen, set the title, a newline, C1, invalid and overlong UTF-8, a direction override.
evil=$'\e[2J\e]0;owned\a\nX\xc2\x9b2J\xff\xfe\xc0\x80\xed\xa0\x80\x7f\b\r'
dir=$work/lib$evil
mkdir "$dir"
head -c 8192 /dev/zero >"$dir/libjvm.so"
cp "$dir/libjvm.so" "$work/libjvm.so"
ln "$dir/libjvm.so" "$dir/librocksdbjni$evil.so"

target() # NAME LIBJVM HOW ARGV0 ARGUMENT...; sets pid
{
	local name=$1 library=$2 how=$3 argv0=$4
	shift 4
	HOSTILE_FAKE="$library $how" start "$name" bash -c 'exec -a "$1" "$2" "${@:3}"' bash "$argv0" "$work/java" "$@"
	for _ in $(seq 100); do grep -q READY "$work/$name.out" && break; sleep 0.05; done
}
shown() # NAME [OPTION...]: as table, JSON, capture, replay
{
	local name=$1 cap=$work/cap.$RANDOM
	shift
	run 8 report --pid "$pid" --no-attach "$@"
	verdict "$name, as a table" '0|1'
	run 8 report --pid "$pid" --no-attach --color always "$@"
	LC_ALL=C sed -i 's/\x1b\[[0-9]\{1,2\}m//g' "$work/run.out" # our own colours
	verdict "$name, in colour" '0|1'
	run 8 report --pid "$pid" --no-attach --format json "$@"
	verdict "$name, as JSON" '0|1'
	json 'sane()' || not_ok "$name, as JSON: whole"
	run 8 capture --pid "$pid" --no-attach -o "$cap" "$@"
	verdict "$name, as a capture" 0
	cp "$cap/manifest" "$work/run.out"
	verdict "$name, in the manifest" 0
	run 8 report --capture "$cap"
	verdict "$name, replayed" '0|1'
}

target plain "$work/libjvm.so" idle "java$evil" "-Dx$evil=$evil" "-XX:Foo$evil" "-Xmx1g$evil" "-javaagent:/$evil/jmx_prometheus$evil.jar=9$evil:x" -cp "$evil.jar" "Main$evil" "$evil"
shown "its command line"
target comm "$work/libjvm.so" name java -cp x.jar Main
shown "its process name"
export MALLOC_CONF="a:$evil" MALLOC_ARENA_MAX="2$evil" LD_PRELOAD_="$evil"
target environment "$work/libjvm.so" idle java -cp x.jar Main
unset MALLOC_CONF MALLOC_ARENA_MAX LD_PRELOAD_
shown "its environment"
# A path of blanks would part the words of HOSTILE_FAKE; this one has none.
spaceless=$work/lib$'\e[2J\xc2\x9b\xff'
mkdir -p "$spaceless" && cp "$work/libjvm.so" "$spaceless/"
target mapped "$spaceless/libjvm.so" idle java -cp x.jar Main
shown "its mapped files"
kill "$pid"

printf '%s\n' "taskmanager.memory.process.size: \"1728m$evil\"" "state.backend.type: \"rocksdb\\e[2J\"" "\"key\\e[2J\": \"\\x9b2J\"" >"$work/config.yaml"
printf 'taskmanager.memory.process.size: 1728m%s\nstate.backend.type: rocksdb\e[2J\nmetrics.reporter.x\e[2J.factory.class: PrometheusReporterFactory\n' "${evil//$'\n'/}" >"$work/flink-conf.yaml"
target flink "$work/libjvm.so" idle java -cp "flink-dist-2.3.0$evil.jar" org.apache.flink.runtime.taskexecutor.TaskManagerRunner \
	-D "taskmanager.memory.process.size=1728m$evil" -D "state.backend.type=$evil" -D "metrics.reporter.$evil.factory.class=PrometheusReporterFactory"
shown "Flink's command line"
for file in config.yaml flink-conf.yaml; do
	run 5 report --pid "$pid" --no-attach --no-metrics --flink-conf "$work/$file" --format json
	verdict "Flink's $file" '0|1|2'
	mkdir -p "$work/$evil" && cp "$work/$file" "$work/$evil/"
	run 5 report --pid "$pid" --no-attach --no-metrics --flink-conf "$work/$evil/$file"
	verdict "and where it stands" '0|1|2'
done
kill "$pid"

# Labels and names of metrics.
cat >"$work/serve.py" <<'END'
import http.server, sys
body = open(sys.argv[1], "rb").read()
class H(http.server.BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(body)
s = http.server.HTTPServer(("127.0.0.1", 0), H); print(s.server_address[1], flush=True); s.serve_forever()
END
{
	for field in block-cache-usage block-cache-capacity size-all-mem-tables estimate-table-readers-mem; do
		printf 'kafka_streams_stream_state_metrics_%s{rocksdb_state_id="s\e[2J\\n\xc2\x9b",task_id="0\a_0",thread_id="t\x7f\b"} 1048576\n' "${field//-/_}"
	done
	printf 'kafka_streams_stream_metrics_version{version="4\e[2J"} 1\n'
} >"$work/page"
start server "$python" "$work/serve.py" "$work/page"
for _ in $(seq 100); do [ -s "$work/server.out" ] && break; sleep 0.05; done
target streams "$work/libjvm.so" idle java -cp "kafka-streams-4.4.0$evil.jar:kafka-streams-4.4.0.jar" "Main$evil"
shown "a store's name" --metrics "http://127.0.0.1:$(cat "$work/server.out")/"
shown "a metrics address" --metrics "http://127.0.0.1:9/%1b%5b2J"
kill "$pid"
for option in --metrics --flink-conf --cgroup --config --limit --format --capture -o; do
	run 5 report --pid $$ "$option" "$evil"
	[ -z "$stray" ] && clean_text && [[ $rc == [23] && $err != *$'\n'* ]] && ok "$option with escape sequences" || not_ok "$option with escape sequences" "$stray"
done

# --- several engines, in a pid namespace of their own ---
if is_root; then
	cat >"$work/pods" <<'END'
# $1: work directory; arguments up to "--" are main classes, what follows is the program
work=$1; shift
while [ "$1" != -- ]; do
	HOSTILE_FAKE="$work/libjvm.so idle" "$work/java" -cp "$([[ $1 != App* ]] || echo kafka-streams-4.4.0.jar)" "$1" >/dev/null &
	shift
done
shift
sleep 0.3
"$@"
END
	flink=org.apache.flink.runtime.taskexecutor.TaskManagerRunner
	among=(unshare --pid --fork --mount-proc --kill-child bash "$work/pods" "$work")
	list_follows=1
	as=("${among[@]}" App "$flink" --)
	run 10 report
	verdict "two engines in one container" 2 "2 JVMs run an engine here: choose one with --pid" "kafka-streams App" "flink-taskmanager $flink"
	run 10 capture -o "$work/two"
	verdict "two engines, as a capture" 2 "choose one with --pid"
	as=("${among[@]}" App$'\e[2J\nX' App$'\xc2\x9b' --)
	run 10 report
	verdict "two engines with escape sequences" 2 "choose one with --pid"
	as=("${among[@]}" Main Other --)
	run 10 report
	verdict "two JVMs and no engine" 2 "none of the 2 JVMs here runs Flink or Kafka Streams: choose one with --pid"
	list_follows=0
	as=("${among[@]}" App Main Other --)
	run 10 report --no-attach --format json
	verdict "one engine among JVMs" '0|1'
	json 'd["target"]["engine"] == "kafka-streams" and sane()' && ok "is the one" || not_ok "is the one"
	as=()
else
	skip "two engines in one container" "needs root"
fi
finish
