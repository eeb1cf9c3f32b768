#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the kernel allows whoever runs this to read of a process: {file: "ok" or the name of the error} as JSON, and what it
says of its anonymous memory (`RssAnon`, in bytes, of status).

usage: reader.py PID USER     the user's name as the JVM has it
"""

import errno
import json
import sys

FILES = ("stat", "status", "cmdline", "cgroup", "mountinfo", "maps", "smaps", "smaps_rollup", "pagemap", "environ",
         "root/sys/fs/cgroup/memory.current", "root/sys/fs/cgroup/memory.stat", "root/sys/fs/cgroup/memory.max",
         "root/sys/fs/cgroup/memory.events")


def attempt(path):
    try:
        with open(path, "rb", buffering=0) as f:
            return "ok" if f.read(8) else "empty"  # pagemap gives entries of 8 bytes
    except OSError as e:
        return errno.errorcode[e.errno]


def main():
    proc = f"/proc/{sys.argv[1]}"
    said = {name: attempt(f"{proc}/{name}") for name in FILES}
    said["hsperf"] = attempt(f"{proc}/root/tmp/hsperfdata_{sys.argv[2]}/{sys.argv[1]}")
    if said["status"] == "ok":
        with open(f"{proc}/status", encoding="ascii") as f:
            said["RssAnon"] = next(int(line.split()[1]) << 10 for line in f if line.startswith("RssAnon"))
    print(json.dumps(said))


if __name__ == "__main__":
    main()
