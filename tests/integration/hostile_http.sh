#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# Metrics endpoints that hang, lie, flood and lead elsewhere; addresses that the target only pretends to serve.
# shellcheck disable=SC2015 # ok() cannot fail
# shellcheck source=tests/integration/hostile.bash
. tests/integration/hostile.bash

gcc -std=gnu11 -O1 -o "$work/java" tests/integration/hostile_fake.c || exit 1
head -c 8192 /dev/zero >"$work/libjvm.so"
: >"$work/requests"
start server "$python" tests/integration/hostile_http.py "$work/requests"
start idle "$work/java" "$work/libjvm.so" idle
jvm=$pid
for _ in $(seq 100); do [ -s "$work/server.out" ] && grep -q READY "$work/idle.out" && break; sleep 0.1; done
read -r port second <"$work/server.out"
url=http://127.0.0.1:$port

page() # PATH LIMIT-SECONDS EXPRESSION WORDS...
{
	local path=$1 limit=$2 expression=$3
	shift 3
	run "$limit" report --pid "$jvm" --no-attach --format json --http-timeout 1000 --metrics "$url$path"
	verdict "metrics from $path" '0|1' "$@"
	json "sane() and ($expression)" && ok "which gives no wrong number: $path" || not_ok "which gives no wrong number: $path"
}
gap='"http/metrics.0" in why and of("direct-buffers") is None'
page /good 5 'of("direct-buffers") == 1 << 20'
for path in /hang /drip /dripheader; do page $path 3 "$gap" "no whole answer within 1000 ms"; done
page /redirect 3 "$gap" "a redirect: not followed, give the final URL"
page /metadata 3 "$gap" "a redirect: not followed"
page /html 3 "$gap" "an HTML page, not metrics"
page /hiddenhtml 3 "$gap" "HTML"
page /json 3 "$gap" "JSON, not metrics"
page /large 3 "$gap" "answers more than 16777216 bytes: not read"
page /flood 5 "$gap" http/metrics.0
page /headers 5 "$gap" http/metrics.0
page /gzip 3 "$gap" http/metrics.0
page /short 3 "$gap" "ends before the length it announced"
page /cut 3 '"http/metrics.0" in why or of("direct-buffers") is None'
page /forbidden 3 "$gap" "403"
page /garbage 3 "$gap" "does not speak HTTP"
page /nothing 3 "$gap" "does not speak HTTP"
page /status 3 "$gap" "999"
page /missing 3 "$gap" "404: nothing is served under this path"
for path in /nan /inf /minf /negative /huge /overflow /long /words /half; do
	page $path 3 'of("direct-buffers") is None'
done
page /twice 3 'of("direct-buffers") in (None, 1 << 20)'
page /differ 3 'of("direct-buffers") is None'
for path in /nul /binary /escape /empty /line /labels; do page $path 3 'of("direct-buffers") is None'; done
page /cookie 3 True

# One deadline for an endpoint that hangs, not one a request.
for path in /hang/jolokia /drip/jolokia; do
	run 5 report --pid "$jvm" --no-attach --format json --http-timeout 1000 --metrics "$url$path"
	verdict "a Jolokia agent that hangs: $path" '0|1' "http/jolokia.0" "no whole answer within 1000 ms"
	[ "$ms" -lt 2500 ] || [ $asan = 1 ] && ok "costs one deadline: $path" || not_ok "costs one deadline: $path" "$ms ms"
done
run 5 report --pid "$jvm" --no-attach --format json --http-timeout 1000 --flink-rest "$url/hang"
verdict "a REST endpoint that hangs" '0|1' "http/flink_config" "no whole answer within 1000 ms"
[ "$ms" -lt 2500 ] || [ $asan = 1 ] && ok "costs one deadline" || not_ok "costs one deadline" "$ms ms"
for path in "" /html /json /good; do
	run 5 report --pid "$jvm" --no-attach --format json --flink-rest "$url$path"
	verdict "a REST endpoint that is none: '$path'" '0|1' "http/flink_"
done

# What the user gives and is wrong is the user's to mend.
for bad in "http://user:s3cret@127.0.0.1:$port/good" "http://s3cret@127.0.0.1:$port/good" "ftp://127.0.0.1/x" "file:///etc/passwd" "gopher://127.0.0.1/" \
	"127.0.0.1:$port/good" "http://" "http://127.0.0.1:99999/" "http://127.0.0.1:$port/a b" $'http://127.0.0.1/\e[2J' "" "$(printf 'http://h/%02000d' 1)"; do
	for option in --metrics --flink-rest; do
		run 5 report --pid "$jvm" --no-attach $option "$bad"
		verdict "$option '$(printf '%q' "${bad:0:40}")' is refused" 2
		[[ $out$err != *s3cret* ]] || not_ok "and its password not shown"
	done
done
run 5 capture -o "$work/cap" --pid "$jvm" --no-attach --metrics "$url/good?token=s3cret"
verdict "a capture with a token in the query" 0
! grep -rq s3cret "$work/cap" && ok "does not keep it" || not_ok "does not keep it" "$(grep -r s3cret "$work/cap")"

# Found at the target: whatever address it names, only our own is asked.
agent() # NAME WORDS ARGUMENT...
{
	local name=$1 words=$2
	shift 2
	HOSTILE_FAKE="$work/libjvm.so idle" start agent "$work/java" "$@"
	for _ in $(seq 100); do grep -q READY "$work/agent.out" && break; sleep 0.02; done
	run 8 report --pid "$pid" --no-attach --format json
	verdict "$name" '0|1' "$words"
	kill "$pid"
}
jmx=-javaagent:/x/jmx_prometheus_javaagent-1.0.1.jar
for host in 10.0.0.1 169.254.169.254 "[::ffff:169.254.169.254]" "[fe80::1]" 167772161 u:p@10.0.0.1 metadata.google.internal 10.0.0.1.; do
	agent "an agent that says it serves $host" "http/" "$jmx=$host:9:/c.yml" Main
	[[ $out != *"//$host"* && $out != *10.0.0.1* && $out != *169.254* ]] && [[ $out != *"http://"* || $out == *"http://127.0.0.1:9/"* ]] && ok "is looked for on loopback only: $host" || not_ok "is looked for on loopback only: $host"
done
agent "a Jolokia that says it serves a third host" "http://127.0.0.1:9/" "-javaagent:/x/jolokia-agent-jvm.jar=port=9,host=10.0.0.1" Main
agent "a reporter's host is not gone to" "http://127.0.0.1:$second/metrics" -cp flink-dist-1.20.5.jar org.apache.flink.runtime.taskexecutor.TaskManagerRunner \
	-D metrics.reporter.prom.factory.class=org.apache.flink.metrics.prometheus.PrometheusReporterFactory -D "metrics.reporter.prom.port=$second" -D metrics.reporter.prom.host=10.0.0.1
sed -i "/^$second /d" "$work/requests" # that one was right
agent "a discovered endpoint that redirects" "404" "$jmx=127.0.0.1:$port:/c.yml" Main

# Proxies of the environment are not asked.
export http_proxy=http://127.0.0.1:$second https_proxy=http://127.0.0.1:$second all_proxy=http://127.0.0.1:$second ALL_PROXY=http://127.0.0.1:$second
printf 'machine 127.0.0.1 login netrc password s3cret\n' >"$work/.netrc"
export HOME=$work
page /good 5 'of("direct-buffers") == 1 << 20'
unset http_proxy https_proxy all_proxy ALL_PROXY
! grep -q "^$second " "$work/requests" && ok "nothing went where a redirect or a proxy points" || not_ok "nothing went where a redirect or a proxy points" "$(grep "^$second " "$work/requests")"
! grep -qv ' -$' "$work/requests" && ok "no credentials were sent" || not_ok "no credentials were sent"
finish
