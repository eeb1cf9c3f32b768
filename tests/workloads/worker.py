#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second process whose memory grows, as a Python worker of the engine would: steadily, up to a bound, every page touched.

Ends when the time is over or stdin is closed, if that is a pipe. Says what it holds every 10 s on stdout: one JSON line.
"""
import argparse
import json
import os
import select
import stat
import sys
import time

STEP_S = 0.25
PAGE = 4096
CHUNK = 64 << 10


def touched(size):
    block = bytearray(size)
    for at in range(0, size, PAGE):
        block[at] = 1
    return block


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hold-mib", type=int, default=0)
    parser.add_argument("--grow-kib-per-s", type=float, default=0)
    parser.add_argument("--grow-max-mib", type=int, default=1024)
    parser.add_argument("--grow-after-s", type=float, default=0)
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()

    kept = [touched(1 << 20) for _ in range(args.hold_mib)]
    stdin = [sys.stdin] if stat.S_ISFIFO(os.fstat(0).st_mode) else []
    start = before = time.monotonic()
    grown, due, said = 0, 0.0, start - 10
    while (now := time.monotonic()) - start < args.seconds:
        if now - start >= args.grow_after_s:
            # After a stall it goes on at its pace and does not catch up at once.
            due += min(now - before, 4 * STEP_S) * args.grow_kib_per_s * 1024
        before = now
        while due >= CHUNK and grown < args.grow_max_mib << 20:
            kept.append(touched(CHUNK))
            due -= CHUNK
            grown += CHUNK
        if now - said >= 10:
            said = now
            print(json.dumps({"workload": "worker", "pid": os.getpid(), "wall_ms": int(time.time() * 1000),
                              "held": args.hold_mib << 20, "grown": grown}), flush=True)
        if stdin and select.select(stdin, [], [], STEP_S)[0]:
            if not os.read(0, 4096):
                break
        elif not stdin:
            time.sleep(STEP_S)


main()
