# SPDX-License-Identifier: Apache-2.0
"""What is known to fall short, and why: scenarios/shortfalls.toml. Its reasons stand in the score."""
import os
import tomllib

import keys

KEYS = ("scenario", "profile", "figure", "within_percent", "reason")


def read(scenarios):
    path = os.path.join(scenarios, "shortfalls.toml")
    try:
        with open(path, "rb") as file:
            known = tomllib.load(file).get("shortfall", [])
    except FileNotFoundError:
        return []
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    if not isinstance(known, list) or not all(isinstance(one, dict) for one in known):
        raise ValueError(f"{path}: entries are [[shortfall]]")
    return known


def strange(known, names, figures):
    """[text] of entries that are not as they should be. `names`: scenarios that there are; `figures`: {scenario: its figures}, with
    "" for those of a run. Of the replay, whose figures have owner and pace in them, the first words."""
    out = []
    for number, one in enumerate(known, 1):
        where = f"entry {number} ({one.get('scenario')} {one.get('figure')})"
        out += [f"{where}: no such key: {key}" for key in one if key not in KEYS]
        out += [f"{where}: wants {key}" for key in ("scenario", "figure", "reason") if not isinstance(one.get(key), str) or not one[key].strip()]
        if one.get("profile", keys.PROFILES[0]) not in keys.PROFILES:
            out.append(f"{where}: no such profile: {one['profile']}")
        if not isinstance(one.get("within_percent", 1.0), (int, float)):
            out.append(f"{where}: within_percent must be a number")
        scenario, figure = one.get("scenario"), one.get("figure")
        if scenario not in names and scenario not in figures:
            out.append(f"{where}: no such scenario")
        elif figure not in figures.get(scenario, figures[""]) and not (scenario == "replay" and str(figure).startswith(figures["replay"])):
            out.append(f"{where}: no such figure")
    return out


def idle(known, short, seen):
    """Entries whose scenario is among `seen`, [(scenario, profile)], and which explain nothing that falls short any more."""
    def explains(one):
        return any(of([one], found["scenario"], found["profile"], found["figure"]) for found in short)
    return [one for one in known if not explains(one) and
            any(name == one["scenario"] and one.get("profile", profile) == profile for name, profile in seen)]


def of(known, scenario, profile, figure):
    """The entry, or None."""
    return next((one for one in known if one.get("scenario") == scenario and one.get("figure") == figure and
                 one.get("profile", profile) == profile), None)
