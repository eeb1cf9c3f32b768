#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 400
# A Flink 2 TaskManager of 4096m with 150 MiB and more in RocksDB, glibc's malloc, no NMT, as most run: the books, the JDK's own
# figures, what comes back when the stores close, silence on the defaults.
# shellcheck source=tests/integration/truth.bash
. tests/integration/truth.bash

begin flink2 flink --version 2 --seconds 600 --rate 20000 --process-size 4096m
# shellcheck disable=SC2154  # set by truth.bash
"$home/bin/jcmd" "$pid" GC.heap_info >"$dir/heap"
await_state 400 200 60
result $? "flink2: 200 MiB of RocksDB"

report load.json --limit 4096m
judge 'flink2, under load' silent load.json 4096m

still
result $? "flink2: comes to rest"
report warm.json --limit 4096m
purge before
report_between still.json --limit 4096m
judge flink2 books still.json
judge flink2 gauges still.json before.truth
judge flink2 claims still.json warm.json before.truth
replays flink2

tell close
purge closed
judge flink2 fall still.json before closed heap 10
finish
