#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the image must be: judge.py WORK ROOT BASE IMAGE ARCH, called by in_storage. TAP lines, and the sum."""
import json
import os
import stat
import struct
import subprocess
import sys
import tarfile
import time
import urllib.request

WORK, ROOT, BASE, IMAGE, ARCH = sys.argv[1:6] if len(sys.argv) == 6 else [''] * 5
PROGRAMS = ('bankfull', 'bankfull-collector', 'bankfull-watch')
OURS_MAX_BYTES = 35 * 1000 * 1000
MACHINES = {'amd64': 62, 'arm64': 183}  # e_machine
counts = [0, 0]


def ok(good, name, note=''):
    counts[not good] += 1
    print(('ok - ' if good else 'not ok - ') + name, flush=True)
    if not good:
        for line in str(note).splitlines()[:30]:
            print('# ' + line, flush=True)
    return good


def files_bytes(top):
    """Of each file once, however many names it has."""
    seen, total = set(), 0
    for folder, _, names in os.walk(top):
        for name in names:
            info = os.lstat(os.path.join(folder, name))
            if stat.S_ISREG(info.st_mode) and info.st_ino not in seen:
                seen.add(info.st_ino)
                total += info.st_size
    return total


def inside(*command):
    """In the image as its user, without a capability, on a root that is read-only, with a network of its own that has loopback alone."""
    return ['unshare', '--mount', '--net', '--propagation', 'private', 'sh', '-c',
            'ip link set lo up && mount --bind "$1" "$1" && mount --rbind /proc "$1/proc" && '
            'mount -t tmpfs -o mode=0750,uid=9999,gid=9999 state "$1/var/lib/bankfull" && mount --bind "$2" "$1/mnt" && '
            'mount -o remount,bind,ro "$1" && r=$1 && shift 2 && '
            'exec chroot "$r" /usr/bin/setpriv --reuid 9999 --regid 9999 --clear-groups --bounding-set=-all --no-new-privs "$@"',
            '-', ROOT, os.path.join(WORK, 'mnt'), *command]


def check_config():
    with open(os.path.join(WORK, 'image.json'), encoding='utf-8') as file:
        said = json.load(file)
    oci = said['OCIv1']
    config = oci['config']
    ok(oci['architecture'] == ARCH, 'the image says its architecture', oci['architecture'])
    ok(config.get('User') == '9999:9999', 'it runs as 9999:9999', config)
    ok(config.get('Entrypoint') == ['/usr/bin/bankfull'], 'its entry point is the tool', config)
    labels = config.get('Labels') or {}
    for label in ('title', 'description', 'licenses', 'version', 'revision', 'created'):
        ok(labels.get('org.opencontainers.image.' + label), 'label %s' % label, labels)
    ok(labels.get('org.opencontainers.image.version') == IMAGE.rsplit(':', 1)[1], 'its label is its version', labels)


def check_files():
    for name in PROGRAMS:
        path = os.path.join(ROOT, 'usr/bin', name)
        info = os.stat(path)
        ok((info.st_uid, info.st_gid, stat.S_IMODE(info.st_mode)) == (0, 0, 0o711), name + " is root's and 0711", oct(info.st_mode))
        with open(path, 'rb') as file:
            machine = struct.unpack('<H', file.read(20)[18:])[0]
        ok(machine == MACHINES[ARCH], name + ' is of the machine', machine)
    for file, line in (('passwd', 'bankfull:x:9999:9999:Bankfull:/nonexistent:/usr/sbin/nologin'), ('group', 'bankfull:x:9999:')):
        with open(os.path.join(ROOT, 'etc', file), encoding='utf-8') as text:
            ok(text.read().splitlines().count(line) == 1, 'an entry in ' + file)
    info = os.stat(os.path.join(ROOT, 'var/lib/bankfull'))
    ok((info.st_uid, info.st_gid, stat.S_IMODE(info.st_mode)) == (9999, 9999, 0o750), 'the directory of the state is of its user')
    ok(os.path.exists(os.path.join(ROOT, 'etc/ssl/certs/ca-certificates.crt')), 'authorities are there')
    ok(not os.path.exists(os.path.join(ROOT, 'usr/bin/gcc')), 'nothing of what built it is there')
    whole, base = files_bytes(ROOT), files_bytes(BASE)
    ok(0 < whole - base <= OURS_MAX_BYTES, 'our layers are at most 35 MB', whole - base)
    print('# %s: %.1f MB on a base of %.1f MB: %.1f MB are ours; as a file %.1f MB' % (
        IMAGE, whole / 1e6, base / 1e6, (whole - base) / 1e6, os.path.getsize(os.path.join(WORK, 'image.tar')) / 1e6))
    with tarfile.open(os.path.join(WORK, 'image.tar')) as tar:
        manifest = json.load(tar.extractfile('manifest.json'))
    ok(manifest[0]['RepoTags'] == [IMAGE], 'the file for air-gapped sites holds its name', manifest)


def check_programs():
    for name in PROGRAMS:
        done = subprocess.run(inside('/usr/bin/' + name, '--version'), capture_output=True, text=True, timeout=120)
        ok(done.returncode == 0 and done.stdout.startswith(name + ' '), name + ' runs on a root that is read-only', done.stdout + done.stderr)
        done = subprocess.run(inside('/bin/cat', '/usr/bin/' + name), capture_output=True, timeout=120)
        ok(done.returncode != 0 and not done.stdout, name + ' can be read by nobody')
    case = 'flink2_rocksdb_g1_jdk25'
    done = subprocess.run(inside('/usr/bin/bankfull', 'report', '--capture', '/mnt/' + case, '--format', 'json'), capture_output=True, text=True,
                          timeout=120)
    with open('tests/golden/%s.json' % case, encoding='utf-8') as file:
        ok(done.stdout == file.read(), 'a report of a capture is the golden one', done.stderr)


def ask(where, path):
    with urllib.request.urlopen('http://%s%s' % (where, path), timeout=10) as answer:
        return answer.read()


def check_collector():
    """Its network is its own, so it is asked from in there: by this script, started anew."""
    command = inside('/usr/bin/bankfull-collector', '--listen', '127.0.0.1:8480', '--data', '/var/lib/bankfull')
    collector = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said, ours = '', os.readlink('/proc/self/ns/net')
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end and collector.poll() is None:
            if os.readlink('/proc/%d/ns/net' % collector.pid) == ours:
                time.sleep(0.1)
                continue
            done = subprocess.run(['nsenter', '--net=/proc/%d/ns/net' % collector.pid, sys.executable, __file__, '--ask', '127.0.0.1:8480'],
                                  capture_output=True, text=True, timeout=60)
            said = done.stdout + done.stderr
            if done.returncode == 0:
                break
            time.sleep(0.5)
        ok(said == 'well\n', 'the collector serves its page, its API and its store', said)
    finally:
        collector.terminate()
        out, _ = collector.communicate(timeout=60)
    ok(collector.returncode == 0, 'and ends when it is asked to', out)


def main():
    if sys.argv[1] == '--ask':
        where = sys.argv[2]
        assert ask(where, '/readyz') and b'<html' in ask(where, '/') and b'bankfull' in ask(where, '/metrics')
        json.loads(ask(where, '/api/v1/fleet'))
        print('well')
        return
    os.makedirs(os.path.join(WORK, 'mnt'))
    subprocess.run(['cp', '-a', 'tests/fixtures/flink2_rocksdb_g1_jdk25', os.path.join(WORK, 'mnt')], check=True)
    subprocess.run(['chmod', '-R', 'a+rX', WORK + '/mnt'], check=True)
    check_config()
    check_files()
    check_programs()
    check_collector()
    print('%d passed, %d failed' % tuple(counts))
    sys.exit(1 if counts[1] else 0)


if __name__ == '__main__':
    main()
