#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bankfull plan as its user meets it: exit status, what it refuses and in which words, and JSON that its schema takes.
set -u
bad=0
conf=$TMPDIR/config.yaml
result()
{
	if [ "$1" = 0 ]; then echo "ok - $2"; else echo "not ok - $2"; bad=1; fi
}
# says NAME STATUS PART TEXT OPTION...: the exit status, and a part of what is said on either output.
says()
{
	local name=$1 status=$2 part=$3 rc
	printf '%b' "$4" >"$conf"
	shift 4
	timeout 20 "$BANKFULL" plan --flink-conf "$conf" "$@" >"$TMPDIR/out" 2>&1 </dev/null
	rc=$?
	[ $rc -eq "$status" ] && tr -s ' \n' ' ' <"$TMPDIR/out" | grep -qF -- "$part"
	result $? "$name" || { echo "# status $rc"; sed 's/^/# /' "$TMPDIR/out"; }
}
process='taskmanager.memory.process.size'

says "what fits" 0 'It fits' "$process: 4g\n"
late()
{
	sleep 1
	printf '%s: 4g\n' "$process"
}
timeout 20 "$BANKFULL" plan --flink-conf <(late) >"$TMPDIR/out" 2>&1 && grep -q 'It fits' "$TMPDIR/out"
result $? "a pipe whose writer is late" || sed 's/^/# /' "$TMPDIR/out"
timeout 20 "$BANKFULL" plan --from-report '' >"$TMPDIR/out" 2>&1
[ $? -ne 0 ] && grep -q 'an empty file name' "$TMPDIR/out"
result $? "no name of a file" || sed 's/^/# /' "$TMPDIR/out"
says "what does not" 1 'It does not fit' "$process: 4g\n" --limit 4G
says "a limit of Kubernetes, binary" 0 'It fits' "$process: 4g\n" --limit 4Gi
says "a JobManager" 0 'flink-jobmanager' 'jobmanager.memory.process.size: 1600m\n' --jobmanager
says "--set in place of the file" 0 '2147483648' "$process: 4g\n" --set "$process=2g"
says "--set=KEY=VALUE" 0 '2147483648' "$process: 4g\n" "--set=$process=2g"
says "--slots" 0 'each slot is given 171.5 MiB' "$process: 4g\nstate.backend.type: rocksdb\n" --slots 8
says "a fraction" 2 "config.yaml:1: $process: '1.5g' has a fraction" "$process: 1.5g\n"
says "past 64 bits" 2 "'9999999999g' is more than 64 bits hold" "$process: 9999999999g\n"
says "nothing" 2 'JVM overhead (192.0 MiB (201326592)) alone take 469762048 bytes more' "$process: 0\n"
says "negative" 2 "'-1m' is negative" "$process: -1m\n"
says "a unit's typo" 2 "'4gg' has no unit that Flink knows" "$process: 4gg\n"
says "a unit of Kubernetes" 2 "'4Gi' has a unit of Kubernetes" "$process: 4Gi\n"
says "no value" 2 'config.yaml:2: a.b has no value' "$process: 4g\na.b:\n"
says "no size" 2 'no size is set' 'a.b: 1\n'
says "a size misspelt" 2 'config.yaml:2: taskmanager.memory.proces.size is no option: did you mean taskmanager.memory.process.size?' 'a.b: 1\ntaskmanager.memory.proces.size: 4g\n'
says "a size misspelt by --set" 2 '--set: taskmanager.memory.flink.sise is no option: did you mean' '' --set taskmanager.memory.flink.sise=4g
says "sizes of the other process" 2 'but one of a JobManager: plan that with --jobmanager' 'jobmanager.memory.process.size: 1600m\n'
says "a limit with a fraction" 0 'It fits' "$process: 1536m\n" --limit 1.5Gi
says "too small" 2 '302828749 bytes less than its parts' "$process: 500m\n"
says "two sizes at odds" 2 '268435456 bytes more' "$process: 1g\ntaskmanager.memory.flink.size: 1g\n"
says "no YAML" 2 'config.yaml:1: mapping values' 'a: b: c\n'
says "a tab" 2 'a tab in the indentation' '\tx: 1\n'
says "a key said twice" 2 'stands already on line 1' "$process: 4g\n$process: 4g\n"
says "a version nobody knows" 2 'no Flink version that is known here' "$process: 4g\n" --version 3.0
says "an empty file and options" 0 'It fits' '' --set "$process=4g"
says "a limit that is none" 2 "'4x' is no size" "$process: 4g\n" --limit 4x
says "no slots" 2 'slots' "$process: 4g\n" --slots 0
says "an option of report" 2 'no option --pid' "$process: 4g\n" --pid 1
says "control bytes" 2 'control characters are not allowed' "$process: 4\033[2Jg\n"

cp "$conf" "$TMPDIR/flink-conf.yaml"
printf '%s: 4g\n' "$process" >"$TMPDIR/flink-conf.yaml"
"$BANKFULL" plan --flink-conf "$TMPDIR/flink-conf.yaml" | grep -q 'flink-taskmanager 1.20'
result $? "flink-conf.yaml is of 1.20"
"$BANKFULL" plan --flink-conf "$TMPDIR/flink-conf.yaml" --version 2.3 2>&1 | grep -q 'reads config.yaml alone'
result $? "flink-conf.yaml of another version"
"$BANKFULL" plan --flink-conf "$TMPDIR/none" 2>/dev/null
[ $? -eq 3 ]
result $? "a file that is not there"
"$BANKFULL" plan 2>/dev/null
[ $? -eq 2 ]
result $? "nothing to plan"

# streams NAME STATUS PART OPTION...
streams()
{
	local name=$1 status=$2 part=$3 rc
	shift 3
	timeout 20 "$BANKFULL" plan --streams "$@" >"$TMPDIR/out" 2>&1 </dev/null
	rc=$?
	[ $rc -eq "$status" ] && tr -s ' \n' ' ' <"$TMPDIR/out" | grep -qF -- "$part"
	result $? "$name" || { echo "# status $rc"; sed 's/^/# /' "$TMPDIR/out"; }
}
streams "sixty instances" 0 '60 RocksDB instances on the fullest pod, and up to 5.74 GiB' --stores 2 --partitions 30
streams "one pod lost" 0 'one pod lost (2) 1 12' --stores 2 --partitions 12 --instances 3
streams "what does not fit" 1 'It does not fit' --stores 2 --partitions 30 --limit 4Gi
streams "a setter" 0 'It fits' --stores 2 --partitions 30 --limit 4Gi --setter cache=1g,manager=512m,write-buffer=8m
streams "a topology" 0 '5 stores in 12 tasks' --topology tests/fixtures/plan/topology.txt --partitions 6
streams "no partitions" 2 '--partitions N' --stores 2
streams "no stores" 2 '--topology FILE, or --stores N' --partitions 2
streams "a topology and stores" 2 'exclude each other' --partitions 2 --stores 2 --topology tests/fixtures/plan/topology.txt
streams "a topology that is none" 2 'no sub-topology' --partitions 2 --topology tests/fixtures/plan/config.yaml
streams "a topology that is not there" 3 'No such file' --partitions 2 --topology "$TMPDIR/none"
streams "a setter that is none" 2 "'cash=1g' is none of cache=SIZE" --partitions 2 --stores 1 --setter cash=1g
streams "options of Flink" 2 'takes no option of Flink' --partitions 2 --stores 1 --set a=b
streams "a number that is none" 2 "is no number" --partitions x --stores 1
streams "a number out of range" 2 "'0' is out of range: 1 to 100000 is accepted" --partitions 0 --stores 1
streams "a key of the setter twice" 2 'cache stands twice' --partitions 2 --stores 1 --setter cache=1g,cache=2g
streams "no heap" 2 "'0' is no size of a heap" --partitions 2 --stores 1 --heap 0
streams "a heap that nobody said" 0 'expected demand not known without --heap or --limit; without the heap: the JVM beside its heap 112.0 MiB, RocksDB' \
	--partitions 2 --stores 1
streams "a heap past the limit, and the limit in a unit of manifests" 1 'memory limit to 4894Mi, or give the heap less' \
	--partitions 2 --stores 1 --heap 4g --limit 2Gi
streams "a limit past 64 bits" 2 "'9999999999g' is more than 64 bits hold" --partitions 2 --stores 1 --limit 9999999999g
streams "one cache, in words" 0 'one cache of 1.00 GiB for all on a pod, and memtables of 48.0 MiB for each instance beside it' \
	--partitions 2 --stores 1 --setter cache=1g
head -n 12 tests/fixtures/plan/topology.txt >"$TMPDIR/cut.txt"
streams "a topology cut short" 2 'cut.txt: cut short: ' --partitions 2 --topology "$TMPDIR/cut.txt"

# What real applications said over JMX, in the captures that ship: stores that tell of a cache, and what the caches may hold.
mib=1048576
jmx()
{
	awk '/^kafka_streams_stream_state_metrics_block_cache_capacity\{/ { n++; sum += $NF; if ($NF > most) most = $NF }
		END { printf "%d %.0f %.0f\n", n, sum, most }' "tests/fixtures/streams_$1_jmx_jdk17/http/metrics.0"
}
planned() # OPTION...: instances and bytes on the one pod
{
	"$BANKFULL" plan --streams --format json "$@" | awk -F'[:,] *' '/"fullest_pod":/ { at = 1 }
		at && /"instances"/ { n = $2 } at && /"bound_bytes"/ { print n, $2; exit }'
}
[ "$(jmx default)" = "6 $((6 * 50 * mib)) $((50 * mib))" ] && [ "$(planned --stores 3 --partitions 2)" = "6 $((6 * (50 + 48) * mib))" ]
result $? "the default workload's stores and caches are those that are planned"
[ "$(jmx windowed)" = "2 $((6 * 50 * mib)) $((3 * 50 * mib))" ] && [ "$(planned --windowed-stores 1 --partitions 2)" = "6 $((6 * (50 + 48) * mib))" ]
result $? "a window store tells of three segments, as is planned"
[ "$(jmx bounded)" = "6 $((6 * 64 * mib)) $((64 * mib))" ] &&
	[ "$(planned --stores 3 --partitions 2 --setter cache=64m,manager=24m)" = "6 $((64 * mib))" ]
result $? "the bounded workload's stores tell of the one cache that is planned"

# The block of docs/plan.md is what the program prints.
"$BANKFULL" plan --set jobmanager.memory.process.size=500m --jobmanager >"$TMPDIR/out" 2>&1
grep -qxF -f "$TMPDIR/out" docs/plan.md
result $? "docs/plan.md shows what is printed"

leak=tests/fixtures/flink120_leak_jdk17
for n in 1 2 3; do "$BANKFULL" report --capture $leak --format json >"$TMPDIR/report-$n.json"; done
"$BANKFULL" plan --from-report "$TMPDIR"/report-*.json >"$TMPDIR/out" 2>&1
[ $? -eq 1 ] && grep -q '^1. raise jvm-overhead from 192.0 MiB' "$TMPDIR/out" && grep -q 'taskmanager.memory.jvm-overhead.max: 1392m' "$TMPDIR/out"
result $? "the right size of a TaskManager that overran its overhead"
"$BANKFULL" report --capture tests/fixtures/flink120_jobmanager_jdk17 --format json >"$TMPDIR/jm.json"
"$BANKFULL" plan --from-report "$TMPDIR/report-1.json" "$TMPDIR/jm.json" 2>&1 | grep -q 'size one at a time'
result $? "reports of two roles are refused"
"$BANKFULL" plan --from-report docs/plan.schema.json 2>&1 | grep -q 'no report of Bankfull'
result $? "what is no report is refused"
sed 's/report\.v1/report.v2/' "$TMPDIR/report-1.json" >"$TMPDIR/v2.json"
"$BANKFULL" plan --from-report "$TMPDIR/v2.json" 2>&1 | grep -q 'its schema is bankfull.report.v2, and this Bankfull reads bankfull.report.v1'
result $? "a report of another version is named"
"$BANKFULL" plan --from-report "$TMPDIR/jm.json" --format json | tr -d ' \n' |
	grep -q '"name":"limit","set_bytes":734003200,[^}]*"proposed_bytes":734003200'
result $? "where nothing changes the limit stays"
"$BANKFULL" plan --from-report 2>&1 | grep -q 'needs FILE'
result $? "no file at all"
"$BANKFULL" plan --from-report "$TMPDIR/none" 2>/dev/null
[ $? -eq 3 ]
result $? "a report that is not there"

# from_report NAME STATUS PART OPTION...
from_report()
{
	local name=$1 status=$2 part=$3 rc
	shift 3
	timeout 20 "$BANKFULL" plan "$@" >"$TMPDIR/out" 2>&1 </dev/null
	rc=$?
	[ $rc -eq "$status" ] && tr -s ' \n' ' ' <"$TMPDIR/out" | grep -qF -- "$part"
	result $? "$name" || { echo "# status $rc"; sed 's/^/# /' "$TMPDIR/out"; }
}
from_report "a limit past 64 bits" 2 "--limit: '9999999999g' is more than 64 bits hold" --streams --stores 1 --partitions 4 --limit 9999999999g
from_report "the same of Flink" 2 "--limit: '9999999999g' is more than 64 bits hold" --set taskmanager.memory.process.size=4g --limit 9999999999g
from_report "a heap of nothing" 2 "--heap: '0' is no size of a heap" --streams --stores 1 --partitions 4 --heap 0
from_report "no partitions" 2 "'0' is out of range: 1 to 100000" --streams --stores 1 --partitions 0
from_report "partitions of Flink" 2 '--partitions is of Kafka Streams' --from-report "$TMPDIR/report-1.json" --partitions 4 --instances 2
from_report "instances of Flink" 2 '--instances is of Kafka Streams' --from-report "$TMPDIR/report-1.json" --instances 2
# Where the parts of direct memory are from: the command line, Flink's metrics alone, the sum alone.
parts()
{
	python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
for name in sys.argv[2:]:
    report["engine"][name] = None
json.dump(report, sys.stdout)' "$TMPDIR/idle.json" "$@" >"$TMPDIR/parts.json"
}
"$BANKFULL" report --capture tests/fixtures/cases/c39_managed_idle --format json >"$TMPDIR/idle.json"
parts
from_report "direct memory as the process was started" 0 'direct is 343.0 MiB of network, 128.0 MiB of framework and 0 B of tasks: as the process was started' --from-report "$TMPDIR/parts.json"
parts framework_off_heap_bytes
from_report "direct memory as its buffers measure" 0 "the network's by Flink's metrics of its buffers" --from-report "$TMPDIR/parts.json"
parts framework_off_heap_bytes network_pool_bytes
from_report "direct memory by its sum alone" 0 'inferred from the sum alone' --from-report "$TMPDIR/parts.json"
for kind in default bounded windowed; do
	"$BANKFULL" report --capture "tests/fixtures/streams_${kind}_jmx_jdk17" --format json >"$TMPDIR/streams-$kind.json"
done
from_report "Streams: the default may pass the limit" 1 'by default the stores may grow past the limit' --from-report "$TMPDIR/streams-default.json"
from_report "Streams: it does not with one lost" 1 'new WriteBufferManager(128L << 20, CACHE)' --from-report "$TMPDIR/streams-default.json" --instances 3
sed 's/"budget_bytes": 268435456/"budget_bytes": 268435457/' "$TMPDIR/streams-default.json" >"$TMPDIR/streams-two.json"
from_report "Streams: what a setter bounds" 0 '6 RocksDB instances on a pod' --from-report "$TMPDIR/streams-bounded.json"
from_report "Streams: partitions on a pod, and pods" 1 'pods are needed, of which one may be lost' --from-report "$TMPDIR/streams-default.json" --instances 3 --partitions 6
from_report "Streams: partitions that nobody knows how many pods share" 2 'by --instances N how many pods share them' --from-report "$TMPDIR/streams-default.json" --partitions 6
from_report "Streams: two configurations" 2 'bytes apart' --from-report "$TMPDIR/streams-default.json" --from-report "$TMPDIR/streams-two.json"
from_report "Flink and Streams" 2 'size one at a time' --from-report "$TMPDIR/report-1.json" "$TMPDIR/streams-default.json"
from_report "an option that measured sizes do not take" 2 '--limit: --from-report goes by what was measured' --from-report "$TMPDIR/report-1.json" --limit 4Gi
# Over a day, given in another order than they were taken.
for n in 1 2 3; do sed "s/\"taken_ms\": [0-9]*/\"taken_ms\": $((n * 43200000))/; s/\"budget_bytes\": 268435456/\"budget_bytes\": 2147483648/" "$TMPDIR/streams-bounded.json" >"$TMPDIR/day-$n.json"; done
from_report "the heap of a day, in any order" 0 '-Xmx368m' --from-report "$TMPDIR/day-3.json" "$TMPDIR/day-1.json" "$TMPDIR/day-2.json"
from_report "nobody at a collector's address" 3 'nobody listens' --from-report http://127.0.0.1:1
from_report "an agent's address" 2 'is what agents speak' --from-report ws://127.0.0.1:1
from_report "a collector and files" 2 'not both' --from-report http://127.0.0.1:1 "$TMPDIR/report-1.json"
from_report "a selector of files" 2 "are a collector's" --from-report "$TMPDIR/report-1.json" --workload a
from_report "a token in the open" 2 'secrets come from files' --from-report http://127.0.0.1:1 --token secret
from_report "no such token" 3 '--token-file' --from-report http://127.0.0.1:1 --token-file "$TMPDIR/none"
from_report "a window that is none" 2 'since' --from-report http://127.0.0.1:1 --since 1s
from_report "a restore of a collector" 2 'by itself' --from-report http://127.0.0.1:1 --through-restore

if /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
	/usr/bin/python3 tests/cli/schema.py docs/plan.schema.json --lint
	result $? "the schema of plans is one, and describes every member"
	"$BANKFULL" plan --flink-conf tests/fixtures/plan/config.yaml --limit 4G --states 5 --format json >"$TMPDIR/a.json"
	"$BANKFULL" plan --flink-conf tests/fixtures/plan/config.yaml --jobmanager --format json >"$TMPDIR/b.json"
	"$BANKFULL" plan --set "$process=1" --format json >"$TMPDIR/c.json" 2>/dev/null
	"$BANKFULL" plan --set "$process=4g" --set state.backend.type=forst --set state.backend.forst.memory.managed=false --format json >"$TMPDIR/d.json"
	"$BANKFULL" plan --streams --stores 2 --partitions 12 --instances 3 --limit 2Gi --format json >"$TMPDIR/e.json"
	"$BANKFULL" plan --streams --windowed-stores 2 --partitions 3 --setter cache=64m --format json >"$TMPDIR/f.json"
	"$BANKFULL" plan --streams --stores 2 --partitions 3 --setter cache=64m --heap 1g --format json >"$TMPDIR/k.json"
	"$BANKFULL" plan --from-report "$TMPDIR"/report-*.json --format json >"$TMPDIR/g.json"
	"$BANKFULL" plan --from-report "$TMPDIR/jm.json" --format json >"$TMPDIR/h.json"
	"$BANKFULL" plan --from-report "$TMPDIR/streams-default.json" --instances 3 --format json >"$TMPDIR/i.json"
	"$BANKFULL" plan --from-report "$TMPDIR/streams-windowed.json" --format json >"$TMPDIR/j.json"
	/usr/bin/python3 tests/cli/schema.py docs/plan.schema.json "$TMPDIR"/?.json
	result $? "plans in JSON are what the schema says"
else
	echo "ok - plans in JSON # SKIP python3-jsonschema is not installed"
fi
exit $bad
