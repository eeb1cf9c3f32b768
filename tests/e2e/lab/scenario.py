# SPDX-License-Identifier: Apache-2.0
"""A scenario as its folder says it (README.md has the keys), and a profile's share of it."""

import os
import tomllib

import keys

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "scenarios")
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size_bytes(text):
    return None if text == "max" else int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


class Wrong(Exception):
    """A scenario, or what is asked of it, that cannot be run as it is written."""


class Scenario:
    def __init__(self, name, folder=FOLDER):
        self.name = name
        path = os.path.join(folder, name, "scenario.toml")
        try:
            with open(path, "rb") as f:
                self.raw = tomllib.load(f)
        except OSError as e:
            raise Wrong(f"{path}: {e.strerror}") from e
        except ValueError as e:  # no TOML, or no UTF-8
            raise Wrong(f"{path}: {e}") from e
        wrong = keys.faults(self.raw)
        if not wrong and "script" in self.raw and not os.access(os.path.join(folder, name, self.raw["script"]), os.X_OK):
            wrong = [f"script: no program {self.raw['script']} beside it"]
        if wrong:
            raise Wrong(f"{path}: {'; '.join(wrong)}")
        self.machine = self.get("machine", "uml")
        self.clock = self.get("clock", "virtual")
        self.mem_mib = self.get("mem_mib", 3072)
        self.disk_mib = self.get("disk_mib", 1024)
        self.profiles = self.get("profiles", list(keys.PROFILES))
        self.seconds = self.get("seconds", 900)

    def get(self, key, default=None):
        return self.raw.get(key, default)

    @property
    def folder(self):
        return os.path.join(FOLDER, self.name)

    def minutes(self):
        long = self.get("long_minutes")
        return long if long and is_long() else self.get("minutes", 10)

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


def is_long():
    """Whether the long versions are asked for."""
    said = os.environ.get("LAB_LONG", "")
    if said not in ("", "0", "1"):
        raise Wrong(f"LAB_LONG is 1 or 0, and not {said!r}")
    return said == "1"


def names(folder=FOLDER):
    return sorted(n for n in os.listdir(folder) if os.path.exists(os.path.join(folder, n, "scenario.toml")))


def every(folder=FOLDER):
    """All of them; Wrong names the first that is not as it should be."""
    return [Scenario(n, folder) for n in names(folder)]
