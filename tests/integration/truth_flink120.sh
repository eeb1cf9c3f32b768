#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 400
# A Flink 1.20 TaskManager of 1728m with 150 MiB and more in RocksDB under jemalloc: the books, the JDK's own figures, jemalloc's
# own account, what comes back when the stores close, silence on the defaults, a leak that is told.
# shellcheck source=tests/integration/truth.bash
. tests/integration/truth.bash

begin flink120 flink --version 1.20 --seconds 600 --rate 20000 --nmt summary --jemalloc 1
# shellcheck disable=SC2154  # set by truth.bash
"$home/bin/jcmd" "$pid" GC.heap_info >"$dir/heap"
await_state 400 200 60
result $? "flink120: 200 MiB of RocksDB"

report load.json --limit 1728m
judge 'flink120, under load' silent load.json 1728m

still
result $? "flink120: comes to rest"
report warm.json --limit 1728m
purge before
report_between still.json --limit 1728m
judge flink120 books still.json
judge flink120 gauges still.json before.truth
judge flink120 allocator_bounds still.json before.truth
judge flink120 claims still.json warm.json before.truth
replays flink120

tell leak 900 && report leak.json --limit 1728m
judge flink120 fires leak.json

purge leaked
tell close
purge closed
judge flink120 fall still.json leaked closed heap 10
finish
