#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""merge.py LIST... - the lists of FlinkKeys, one a version (build/.../2.3.0.keys), as one table for C."""
import os
import sys


def main(paths):
    rows = {}
    versions = [os.path.basename(path)[:-len('.keys')] for path in paths]
    for bit, path in enumerate(paths):
        with open(path, encoding='utf-8') as file:
            for line in file:
                key, kind, current = line.rstrip('\n').split('\t')
                rows.setdefault((key, current, kind), 0)
                rows[key, current, kind] |= 1 << bit
    print('/* SPDX-License-Identifier: Apache-2.0 */')
    print('/* Written by tools/make-flink-keys from the published jars. Do not edit. */')
    for version in versions:
        print(f'VERSION("{version}")')
    for (key, current, kind), bits in sorted(rows.items()):
        shown = f'"{current}"' if current else 'NULL'
        print(f'KEY("{key}", {shown}, 0x{bits:02x}, {kind.upper()})')


main(sys.argv[1:])
