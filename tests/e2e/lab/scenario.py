# SPDX-License-Identifier: Apache-2.0
"""A scenario as its folder says it (README.md has the keys), and a profile's share of it."""

import os
import sys
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "scenarios")
PROFILES = ("as-found", "instrumented")
KINDS = ("warn", "silent", "death", "access", "harmless")
KEYS = {"title", "kind", "machine", "clock", "mem_mib", "disk_mib", "limit", "memory_high", "pod_limit", "pod_limit_told", "swap", "minutes", "long_minutes",
        "seconds", "profiles", "jdk", "smoke", "workload", "truth", "expect", "expect_death", "action", "agent", "env", "tmpfs", "restart",
        "thp", "own_kernel", "script", "after_death_s", "end", "request", "oom_group", "kills", "cost"}
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size_bytes(text):
    return None if text == "max" else int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


class Wrong(Exception):
    """A scenario that cannot be run as it is written."""


class Scenario:
    def __init__(self, name):
        self.name = name
        path = os.path.join(FOLDER, name, "scenario.toml")
        try:
            with open(path, "rb") as f:
                self.raw = tomllib.load(f)
        except (OSError, tomllib.TOMLDecodeError) as e:
            raise Wrong(f"{name}: {e}") from e
        foreign = set(self.raw) - KEYS
        if foreign:
            raise Wrong(f"{name}: no such key: {', '.join(sorted(foreign))}")
        if self.get("kind") not in KINDS:
            raise Wrong(f"{name}: kind is one of {', '.join(KINDS)}")
        self.machine = self.get("machine", "uml")
        self.clock = self.get("clock", "virtual")
        self.mem_mib = self.get("mem_mib", 3072)
        self.disk_mib = self.get("disk_mib", 1024)
        self.profiles = self.get("profiles", list(PROFILES))
        self.seconds = self.get("seconds", 900)

    def get(self, key, default=None):
        return self.raw.get(key, default)

    @property
    def folder(self):
        return os.path.join(FOLDER, self.name)

    def minutes(self):
        long = self.get("long_minutes")
        return long if long and os.environ.get("LAB_LONG") else self.get("minutes", 10)

    def needs(self):
        """What tests/workloads/run must have built."""
        workload = self.get("workload", {})
        engine = workload.get("engine", "probe")
        if engine != "flink":
            return [engine]
        options = workload.get("options", [])
        return [f"flink-{options[options.index('--version') + 1] if '--version' in options else '1.20'}"]

    def options(self, profile, key):
        """A list of the workload, as `key` has it for all profiles and for this one."""
        workload = self.get("workload", {})
        return [*workload.get(key, []), *workload.get(profile, {}).get(key, [])]


def names():
    return sorted(n for n in os.listdir(FOLDER) if os.path.exists(os.path.join(FOLDER, n, "scenario.toml")))


def every():
    """Those that are asked for, or all. Ends the program if one is not as it should be."""
    try:
        return [Scenario(n) for n in names()]
    except Wrong as e:
        sys.exit(f"lab: {e}")
