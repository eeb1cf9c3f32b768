#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 1100
# `bankfull plan --streams` against what real applications say over JMX: how many stores each has open and what their caches
# may hold, for the three workloads, and for one of two instances before and after the other is killed; and the setter that is
# proposed by what was measured there, compiled and run.
# shellcheck source=tests/integration/truth.bash
. tests/integration/truth.bash

# planned OPTION...: "INSTANCES BYTES" on the fullest pod: of the caches alone, as JMX knows no memtable's bound.
planned()
{
	"$BANKFULL" plan --streams "$@" --format json | python3 -c '
import json, sys
plan = json.load(sys.stdin)
for name in ("fullest_pod", "fullest_pod_one_lost"):
    if plan[name]:
        print(plan[name]["instances"])'
}

# seen URL: "SERIES CAPACITY": how many stores say what their cache holds, and the sum.
seen()
{
	curl -sf --noproxy '*' --max-time 10 "$1" | awk '
		/^kafka_streams_stream_state_metrics_block_cache_capacity\{/ { n++; sum += $NF }
		END { printf "%d %.0f\n", n, sum }'
}

# awaits SECONDS URL SERIES CAPACITY
awaits()
{
	local until=$((SECONDS + $1 * ${PATIENCE:-1})) now=''
	while [ $SECONDS -lt $until ]; do
		now=$(seen "$2")
		[ "$now" = "$3 $4" ] && return 0
		sleep 2
	done
	echo "# stores and capacity: $now, planned $3 $4"
	return 1
}
url() { sed -n 's/^metrics_url=//p' "$dir/ready"; }
mib=1048576

begin default streams --seconds 300 --rate 1000 --partitions 3 --stores 2
mapfile -t plan < <(planned --stores 2 --partitions 3)
[ "${plan[0]}" = 6 ] && awaits 60 "$(url)" 6 $((6 * 50 * mib))
result $? "default: six instances of 50 MiB each"

begin bounded streams --variant bounded --seconds 300 --rate 1000 --partitions 2
# Each store tells of the one cache they share.
mapfile -t plan < <(planned --stores 3 --partitions 2 --setter cache=64m,manager=24m,write-buffer=8m)
[ "${plan[0]}" = 6 ] && awaits 60 "$(url)" 6 $((6 * 64 * mib))
result $? "bounded: six instances, all of the one cache"

begin windowed streams --variant windowed --seconds 300 --rate 1000 --partitions 2
# A window store tells the sum of its segments: three live ones.
mapfile -t plan < <(planned --windowed-stores 1 --segments 3 --partitions 2)
[ "${plan[0]}" = 6 ] && awaits 120 "$(url)" 2 $((6 * 50 * mib))
result $? "windowed: two stores of three segments each"

begin lost streams --seconds 900 --rate 1000 --partitions 4 --stores 2 --set.session.timeout.ms 10000 --set.acceptable.recovery.lag 1000000000
mapfile -t plan < <(planned --stores 2 --partitions 4 --instances 2)
[ "${plan[*]}" = "4 8" ]
result $? "two pods have four instances each, and the one that is left has eight"
# again NAME [OPTION...]: the same application once more, with a place and a port of its own, and $work before its classes; sets
# second and port.
again()
{
	local argument name=$1 command=()
	shift
	mkdir -p "$work/$name/log"
	port=$(PYTHONPATH=tests/integration python3 -B -c 'import ports; print(ports.free_port())')
	while IFS= read -r -d '' argument; do
		case $argument in
		-javaagent:*) argument="${argument%%=*}=127.0.0.1:$port:$dir/conf/jmx.yaml" ;;
		-Dlog.file=*) argument=-Dlog.file=$work/$name/log/streams.log ;;
		"$dir") argument=$work/$name ;;
		esac
		[ "${command[*]: -1}" != -cp ] || argument=$work:$argument
		command+=("$argument")
	done <"/proc/$pid/cmdline"
	"${command[@]}" "$@" >"$work/$name/out" 2>&1 </dev/null &
	second=$!
	others+=("$second")
}
again second
awaits 120 "$(url)" 4 $((4 * 50 * mib)) && awaits 60 "http://127.0.0.1:$port/metrics" 4 $((4 * 50 * mib))
result $? "with two, each has what was planned"
kill -KILL "$second"
wait "$second" 2>/dev/null
awaits 180 "$(url)" 8 $((8 * 50 * mib))
result $? "with one lost, the other has what was planned"

# The setter that is proposed for what was measured there: compiled, and run by the application in place of the default.
"$BANKFULL" report --pid "$pid" --limit 1g --format json >"$work/live.json" 2>"$work/live.err"
"$BANKFULL" plan --from-report "$work/live.json" --instances 2 --format json | python3 -c '
import json, sys
plan = json.load(sys.stdin)
assert plan["instances"] == 8 and plan["instances_one_lost"] == 16, plan
print(plan["proposed_cache_bytes"], plan["proposed_manager_bytes"], file=open(sys.argv[1], "w"))
lines = [step["fragment"] for step in plan["steps"] if "import " in step["fragment"]][0].splitlines()
print("\n".join(line for line in lines if not line.startswith("#")))' "$work/proposed" >"$work/BoundedMemory.java" &&
	"$home/bin/javac" -Xlint:all -Werror -cp "tests/workloads/streams/target/lib/*" -d "$work" "$work/BoundedMemory.java"
result $? "the proposed setter compiles"
read -r cache manager <"$work/proposed"
again setter --set.rocksdb.config.setter BoundedMemory
page=http://127.0.0.1:$port/metrics
awaits 120 "$page" 4 $((4 * cache)) && awaits 60 "$(url)" 4 $((4 * 50 * mib))
result $? "with the proposed setter each of four stores tells of one cache of what is proposed, and the other pod's of their own"
kill -STOP "$pid" # its death would end the broker, too: after its session.timeout.ms it is lost as well
awaits 180 "$page" 8 $((8 * cache))
result $? "and each of eight, when the other pod is lost"

# sum METRIC: of all stores.
sum() { curl -sf --noproxy '*' --max-time 10 "$page" | awk -v name="kafka_streams_stream_state_metrics_$1{" 'index($0, name) == 1 { n++; sum += $NF } END { printf "%d %.0f\n", n, sum }'; }
most=0 seen_n=0 filled=0
for ((i = 0; i < 30; i++)); do
	read -r n bytes <<<"$(sum size_all_mem_tables)"
	[ "$n" = 8 ] && seen_n=$((seen_n + 1)) && [ "$bytes" -gt "$most" ] && most=$bytes
	read -r n bytes <<<"$(sum block_cache_usage)" # each tells of the one cache
	[ "$n" = 8 ] && [ $((bytes / 8)) -gt "$filled" ] && filled=$((bytes / 8))
	sleep 1
done
[ "$seen_n" -ge 20 ] && [ "$most" -gt 0 ] && [ "$most" -le "$manager" ] && [ "$filled" -gt 0 ] && [ "$filled" -le "$cache" ]
result $? "the memtables of eight stores, $((most / mib)) MiB, stay below the manager's $((manager / mib)) MiB, and the cache, $((filled / mib)) MiB, below its $((cache / mib)) MiB"
finish
