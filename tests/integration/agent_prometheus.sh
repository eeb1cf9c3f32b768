#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# A packaged Prometheus scrapes a live agent: what it stores is what the agent says, and an owner that is unread has no series.
# (That it scrapes the collector is tested by api.sh.)
# shellcheck source=tests/integration/truth.bash
. tests/integration/truth.bash

begin probe probe --seconds 100 --nmt summary -- --malloc-mib 64
listen=$(free_port) web=$(free_port)
"$work/bankfull" agent --pid "$pid" --limit 512Mi --listen "127.0.0.1:$listen" --interval 1s --smaps-interval 5s >/dev/null 2>"$work/agent.log" </dev/null &
others+=($!)
cat >"$work/prometheus.yml" <<END
scrape_configs:
  - {job_name: agent, scrape_interval: 500ms, scrape_timeout: 400ms, static_configs: [{targets: ["127.0.0.1:$listen"]}]}
END
prometheus --config.file "$work/prometheus.yml" --storage.tsdb.path "$work/tsdb" --web.listen-address "127.0.0.1:$web" \
	>"$work/prometheus.log" 2>&1 </dev/null &
others+=($!)

# The values of one expression, one a line.
query()
{
	curl -sG -m 5 "http://127.0.0.1:$web/api/v1/query" --data-urlencode "query=$1" 2>/dev/null |
		grep -oE '"value":\[[0-9.]+,"[^"]*"\]' | sed 's/.*,"//; s/"\]//'
}
for ((tries = 0; tries < 300; tries++)); do
	[ -z "$(query 'bankfull_owner_resident_bytes{owner="native-other"} > 0')" ] || break
	sleep 0.2
done
expect() # NAME EXPRESSION VALUE
{
	local got
	got=$(query "$2")
	[ "$got" = "$3" ] || echo "# $2: '$got', not '$3'"
	[ "$got" = "$3" ]
	result $? "$1"
}
expect 'the agent is up' up 1
expect 'it watches a JVM' bankfull_target_up 1
expect 'the limit is the one that was told' bankfull_limit_bytes 536870912
expect '64 MiB that nobody claims stand in native-other' 'max_over_time(bankfull_owner_resident_bytes{owner="native-other"}[1m]) > bool 60e6' 1
expect 'freeboard is limit less floor' 'bankfull_limit_bytes - bankfull_floor_bytes - bankfull_freeboard_bytes' 0
expect 'what is unread has no series' 'bankfull_owner_resident_bytes{owner="page-cache"}' ''
expect 'it takes every series' 'count(scrape_samples_scraped > 30)' 1
finish
