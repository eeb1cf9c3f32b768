# SPDX-License-Identifier: Apache-2.0
"""TAP lines of the lab's tests; `bad` is their exit status."""
bad = 0


def ok(good, name, note=""):
    global bad
    bad |= not good
    print(("ok - " if good else "not ok - ") + name, flush=True)
    if not good:
        for line in str(note).splitlines()[:40]:
            print("#   " + line)
