# SPDX-License-Identifier: Apache-2.0
"""The table of all reports: tests/fixtures/cases/README.md."""
import re

from pods import CASES, LEFT_OUT

# Every report of the collection; C37 is judged with F06, C42 and C43 are constructed from others.
REPORTS = ('F01 F02 F04 F05 F06 F09 F10 F11 F12 F14 F16 F18 F19 F20 F21 F22 F23 F24 F25 F26 F28 F30 F32 F33 F34 F35 F36 F37 F38 F40 '
           'F42 F43 F45 F46 F47 F48 K02 K03 K04 K05 K06 K07 K08 K09 K11 K12 K14 K15 K16 K18 K19 K21 K22 K25 K26 K27 K28 K29 K30 '
           'R01 R03 R04 R07 R08 R09 R10 R11 R12 R14 R15 R18 R19 R20 R22 C37 C39 C42 C43').split()

HEAD = '''# Public trouble reports

Memory trouble of Flink, Kafka Streams and RocksDB in containers that somebody reported in public, each told as one reading of
the pod: a capture that `bankfull report --capture` replays. The figures of the report are in it; what the report does not say is
made up, and CASE.md of each folder says which is which. No capture here was taken from a real process: those are in the folders
beside this one.

`tools/make-cases` writes all of it from the descriptions in tests/cases; `tests/cases/verdicts` asks whether the program's verdict is
the expert's, and whether the books close. Eight mappings stand for all thread stacks, and four for mapped SST files.

A report that one reading cannot judge (a slope, a step, an exit status) is left out, with the reason.

| report | folder | title | rules | verdict, or why it is left out |
|---|---|---|---|---|
'''


def ids(source):
    return re.findall(r'\b[FKRC]\d\d\b', source)


def check():
    """Each report is judged or left out, not both."""
    judged = {name for case in CASES for name in ids(case.source)}
    out = {name for name, _, _ in LEFT_OUT}
    missing = [name for name in REPORTS if name not in judged | out]
    assert not missing, f'neither judged nor left out: {missing}'
    assert not judged & out, f'judged and left out: {sorted(judged & out)}'
    unknown = sorted((judged | out) - set(REPORTS))
    assert not unknown, f'no such report: {unknown}'


def readme():
    rows = []
    for case in CASES:
        names = ids(case.source)
        rows.append((REPORTS.index(names[0]) if names else len(REPORTS), case.folder,
                     f'| {", ".join(names) or "-"} | {case.folder} | {case.title} | {case.rules} | {case.verdict} |'))
    for name, title, why in LEFT_OUT:
        rows.append((REPORTS.index(name), '', f'| {name} | - | {title} | - | left out: {why} |'))
    return HEAD + '\n'.join(row for _, _, row in sorted(rows)) + '\n'
