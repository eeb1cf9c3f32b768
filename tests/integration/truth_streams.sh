#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 400
# A Kafka Streams application with the default stores, 150 MiB and more in RocksDB, glibc's malloc: the books, glibc's own
# account, what comes back when the stores close.
# shellcheck source=tests/integration/truth.bash
. tests/integration/truth.bash

begin streams streams --seconds 600 --rate 10000 --nmt summary
# shellcheck disable=SC2154  # set by truth.bash
"$home/bin/jcmd" "$pid" GC.heap_info >"$dir/heap"
await_state 250 150 60
result $? "streams: 150 MiB of RocksDB"

still
result $? "streams: comes to rest"
report warm.json --limit 2g
purge before
report_between still.json --limit 2g
judge streams books still.json
judge streams gauges still.json before.truth
judge streams allocator_bounds still.json before.truth
judge streams claims still.json warm.json before.truth
replays streams

tell close
purge closed
judge streams fall still.json before closed heap 10
finish
