#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hold.py BANKFULL VERSION TRUTH FOLDER - holds `bankfull plan` to what Flink made of each configuration (PlanTruth).

Every byte of the JVM's flags and of the memory options of a valid one must be equal, and every invalid one refused with exit
status 2. Prints the disagreements, at most 20, and one line of figures; exit status 1 if there is any.
"""
import json
import os
import re
import subprocess
import sys


def plan(bankfull, version, folder, case):
    for name in ('config.yaml', 'flink-conf.yaml'):
        if os.path.exists(os.path.join(folder, name)):
            os.unlink(os.path.join(folder, name))
    path = os.path.join(folder, case['name'])
    with open(path, 'w', encoding='utf-8') as file:
        file.write(case['text'])
    command = [bankfull, 'plan', '--flink-conf', path, '--version', version, '--format', 'json']
    if case['role'] == 'jobmanager':
        command.append('--jobmanager')
    for pair in case['sets']:
        command += ['--set', pair]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    return done.returncode, done.stdout, done.stderr


def disagreement(case, status, out, err):
    """What is wrong, or None."""
    if 'error' in case:
        return None if status == 2 and err.startswith('bankfull plan: ') else f'Flink refuses ({case["error"]}), status {status}'
    if status not in (0, 1):
        return f'Flink takes it, status {status}: {err.strip()}'
    said = json.loads(out)
    if said['jvm_flags'] != case['jvm']:
        return f'flags {said["jvm_flags"]}, Flink {case["jvm"]}'
    theirs = {key: value for key, value in re.findall(r'-D (\S+)=(\S+)', case['dynamic']) if '.memory.' in key}
    ours = {option['key']: option['value'] for option in said['options']}
    if ours != theirs:
        return f'options {sorted(set(ours.items()) ^ set(theirs.items()))}'
    slots = re.search(r'numberOfTaskSlots=(-?\d+)', case['dynamic'])
    if slots and slots.group(1) != '-1' and str(said['sizes']['slots']) != slots.group(1):
        return f'slots {said["sizes"]["slots"]}, Flink {slots.group(1)}'
    return None


def main(bankfull, version, truth, folder):
    os.makedirs(folder, exist_ok=True)
    valid = invalid = wrong = 0
    with open(truth, encoding='utf-8') as file:
        for line in file:
            case = json.loads(line)
            what = disagreement(case, *plan(bankfull, version, folder, case))
            valid += 'error' not in case
            invalid += 'error' in case
            wrong += what is not None
            if what and wrong <= 20:
                print(f'# case {case["n"]} ({case["role"]}, {case["name"]}): {what}\n#   {case["text"]!r} {case["sets"]}')
    print(f'# {version}: {valid} valid, {invalid} invalid, {wrong} disagreements')
    return 1 if wrong or not valid or not invalid else 0


sys.exit(main(*sys.argv[1:]))
