#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
axe-core, the accessibility checker, as axe.lock pins it: taken once from the npm registry, kept beside other downloads in
${XDG_CACHE_HOME:-~/.cache}/bankfull, and held to its SHA-512 each time. It is run by tests alone and no part of the program.

    axe.py          fetches it if it is not there; says nothing when all is well
"""
import base64
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile


class Missing(Exception):
    pass


def pinned():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "axe.lock")) as lock:
        lines = [line.split() for line in lock if line.strip() and not line.startswith("#")]
    [(name, version, digest)] = lines
    return name, version, digest.removeprefix("sha512-")


def digest_of(path):
    with open(path, "rb") as file:
        return base64.b64encode(hashlib.sha512(file.read()).digest()).decode()


def tarball():
    """The path of the tarball, which is what was pinned."""
    name, version, digest = pinned()
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "bankfull")
    path = os.path.join(cache, "%s-%s.tgz" % (name, version))
    if os.path.exists(path) and digest_of(path) == digest:
        return path
    os.makedirs(cache, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as work:
        try:
            got = subprocess.run(["npm", "pack", "--loglevel=error", "--fetch-retries=0", "--pack-destination", work, "%s@%s" % (name, version)],
                                 cwd=work, capture_output=True, text=True, timeout=300)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Missing("%s %s cannot be fetched: %s" % (name, version, error)) from None
        files = [file for file in os.listdir(work) if file.endswith(".tgz")]
        if got.returncode or not files:
            raise Missing("%s %s cannot be fetched (no network, or a proxy whose authority is not trusted here?): %s" % (name, version, (got.stderr or got.stdout).strip()[-600:]))
        fetched = os.path.join(work, files[0])
        if digest_of(fetched) != digest:
            raise Missing("%s %s is not what axe.lock pins: sha512-%s" % (name, version, digest_of(fetched)))
        os.replace(fetched, path)
    return path


def source():
    """The script, as text."""
    with tarfile.open(tarball()) as tar:
        return tar.extractfile("package/axe.min.js").read().decode()


if __name__ == "__main__":
    try:
        tarball()
    except Missing as error:
        sys.exit("axe: %s" % error)
