# SPDX-License-Identifier: Apache-2.0
"""What is known to fall short, and why: scenarios/shortfalls.toml. Its reasons stand in the score."""
import os
import tomllib


def read(scenarios):
    try:
        with open(os.path.join(scenarios, "shortfalls.toml"), "rb") as file:
            return tomllib.load(file).get("shortfall", [])
    except FileNotFoundError:
        return []


def of(known, scenario, profile, figure):
    """The entry, or None."""
    return next((one for one in known if one["scenario"] == scenario and one["figure"] == figure and
                 one.get("profile", profile) == profile), None)
