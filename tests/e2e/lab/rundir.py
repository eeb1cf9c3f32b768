# SPDX-License-Identifier: Apache-2.0
"""
One run of one scenario, as the guest left it in OUT/NAME.PROFILE/, read back. All times are the guest's wall clock in ms.

    run.json          scenario, profile, machine, kernel, limit_bytes, started_ms, ready_ms, ended_ms,
                      end: kill, time, exit or failed; kill_ms, first_max_ms, actions, main_pids (as the pod's PID namespace
                      numbers them), error
    cgroup.jsonl      each second, by root        truth.jsonl    what the workload holds, by itself
    metrics.prom      the agent's page each 15 s  agent.log, agent.out
    findings.json, postmortems.json, samples.json (raw: step 0), ...: what the collector's API answered at the end
    postmortem.json   a list of whole post-mortems, as the API tells each by its id
    findings.jsonl    each 15 s {at_ms, items}: /api/v1/findings; where it is missing, when a finding became grave is known
                      from metrics.prom, and its owner is that of its last state
    scenario.toml     the scenario as it was run; else that of the folder of scenarios
"""
import json
import os
import tomllib
from datetime import datetime

import keys
import promtext
import shortfalls
from owners import rank

HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIOS = os.path.join(HERE, "scenarios")
# What reading a directory raises that is not what a run leaves.
UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError)
RECORDED = ("cgroup.jsonl", "metrics.prom", "findings.jsonl")  # closed before run.json is written
ANSWERED = ("findings.json", "postmortems.json", "samples.json")


def of_date(text):
    return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def lines(path):
    """JSON lines; what was cut off by a kill at its end, or is no JSON, is left out."""
    out = []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    out.append(json.loads(line))
                except ValueError:
                    continue
    except FileNotFoundError:
        pass
    return [item for item in out if isinstance(item, dict)]


def load(path):
    """None: it is not there, or no JSON."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return json.load(file)
    except (FileNotFoundError, ValueError):
        return None


def answer(path):
    """None: it is not there. What is there and no JSON was cut off, and holds less than was said: ValueError."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return json.load(file)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ValueError(f"{os.path.basename(path)} is no whole JSON: {error}") from error


def items(answer, key="items"):
    """The rows of a list of the API, of several pages of one, or of several pods."""
    if answer is None:
        return []
    if isinstance(answer, dict):
        if key in answer:
            return answer[key]
        return [item for value in answer.values() if isinstance(value, (dict, list)) for item in items(value, key)]
    nested = [item for item in answer if isinstance(item, dict) and key in item]
    return [item for page in nested for item in page[key]] if nested else answer


def rows_of(path, key="items"):
    """The rows of an answer that was kept; TypeError: it has others than the API's."""
    rows = items(answer(path), key)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise TypeError(f"{os.path.basename(path)} has no rows")
    return rows


class Sight:
    """A finding as it was from at_ms until until_ms (None: to the end of the run)."""

    def __init__(self, item, at_ms, severity):
        self.id, self.rule, self.owner, self.title = item["id"], item["rule"], item.get("owner"), item.get("title") or ""
        self.at_ms, self.until_ms, self.severity = at_ms, None, severity


class Run:
    def __init__(self, path, scenarios=SCENARIOS):
        self.shortfalls = shortfalls.read(scenarios)
        self.path = path.rstrip("/")
        self.meta = self.read_meta()
        self.name, self.profile = self.meta["scenario"], self.meta["profile"]
        self.scenario = self.read_scenario(scenarios)
        self.ask_whether_whole()
        self.kind = self.scenario["kind"]
        self.truth = self.scenario.get("truth", {})
        self.rows = sorted(lines(self.file("cgroup.jsonl")), key=lambda row: row["at_ms"])
        self.truths = sorted(({"at_ms": line.get("wall_ms"), **line} for line in lines(self.file("truth.jsonl"))),
                             key=lambda line: line["at_ms"])
        self.pages = self.read_pages()
        self.points = sorted(rows_of(self.file("samples.json"), "points"), key=at_of)
        self.postmortems = rows_of(self.file("postmortem.json")) or rows_of(self.file("postmortems.json"))
        self.printed = [line for line in lines(self.file("agent.out")) if line.get("event") == "postmortem"]
        self.log = lines(self.file("agent.log"))
        self.sights = self.read_sights()

    def file(self, name):
        return os.path.join(self.path, name)

    def __str__(self):
        return f"{self.name} {self.profile}"

    def read_meta(self):
        """run.json is the last that a guest writes."""
        meta = answer(self.file("run.json"))
        if meta is None:
            raise ValueError("no run.json: it did not come to its end, or is no run")
        if not isinstance(meta, dict) or not all(isinstance(meta.get(key), str) for key in ("scenario", "profile")):
            raise ValueError("run.json does not say which scenario and profile it is of")
        folder, said = os.path.basename(os.path.abspath(self.path)), f"{meta['scenario']}.{meta['profile']}"
        if profile_of(folder) and folder != said:
            raise ValueError(f"its run.json is that of {said}")
        return meta

    def ask_whether_whole(self):
        """What a run that came to its end must have left: without it silence would be silence of what is gone."""
        if self.kind_is_scripted():
            return
        missing = [name for name in ANSWERED if not os.path.exists(self.file(name))]
        if missing and self.meta.get("end") != "failed":
            raise ValueError(f"no {', '.join(missing)}")
        for name in RECORDED:
            try:
                with open(self.file(name), "rb") as file:
                    if file.seek(0, os.SEEK_END) and file.seek(-1, os.SEEK_END) and file.read(1) != b"\n":
                        raise ValueError(f"{name} is cut off")
            except FileNotFoundError:
                continue

    def kind_is_scripted(self):
        return self.scenario.get("kind") in keys.SCRIPTED

    def read_scenario(self, scenarios):
        own = self.file("scenario.toml")
        path = own if os.path.exists(own) else os.path.join(scenarios, self.name, "scenario.toml")
        try:
            with open(path, "rb") as file:
                return tomllib.load(file)
        except FileNotFoundError as error:
            raise ValueError(f"there is no scenario {self.name!r}") from error
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def read_pages(self):
        try:
            with open(self.file("metrics.prom"), encoding="utf-8", errors="replace") as file:
                return promtext.pages(file.read())
        except FileNotFoundError:
            return []

    @property
    def cpus(self):
        """Of the guest."""
        return self.meta.get("cpus") or (1 if self.meta.get("machine") == "uml" else 2)

    # --- times ----------------------------------------------------------------------------------

    @property
    def kill_ms(self):
        return self.meta.get("kill_ms")

    @property
    def end_ms(self):
        """Of what is judged: the kill, or the end of the run."""
        return self.kill_ms or self.meta.get("ended_ms") or (self.rows[-1]["at_ms"] if self.rows else 0)

    def event_ms(self, name):
        """kill, end, ready, start, max (the first memory.events max), action N, or the beginning of an action's text."""
        known = {"kill": self.kill_ms, "end": self.meta.get("ended_ms"), "ready": self.meta.get("ready_ms"),
                 "start": self.meta.get("started_ms"), "max": self.meta.get("first_max_ms")}
        if name in known:
            return known[name]
        actions = self.meta.get("actions") or []
        if name.startswith("action ") and name[7:].isdigit():
            number = int(name[7:])
            return actions[number - 1]["at_ms"] if 0 < number <= len(actions) else None
        return next((action["at_ms"] for action in actions if action["do"].startswith(name)), None)

    # --- findings over time ---------------------------------------------------------------------

    def read_sights(self):
        found = {}
        for poll in lines(self.file("findings.jsonl")):
            for item in poll.get("items", []):
                see(found.setdefault(item["id"], []), item, item.get("updated_ms") or poll["at_ms"])
        for item in rows_of(self.file("findings.json")):
            if item["id"] not in found:
                found[item["id"]] = self.reconstruct(item)
            elif item["state"] == "cleared":
                close(found[item["id"]], item.get("cleared_ms") or item["updated_ms"])
            else:
                see(found[item["id"]], item, item["updated_ms"])
        return sorted((sight for sights in found.values() for sight in sights), key=lambda sight: sight.at_ms)

    def reconstruct(self, item):
        """Of a finding whose last state alone is known: how grave it was when, by the agent's pages."""
        sights, cleared = [], item.get("cleared_ms")
        for page in self.pages:
            severity = severity_on(page, item["rule"])
            if severity and page.at_ms >= item["opened_ms"] and (cleared is None or page.at_ms < cleared):
                if not sights or sights[-1].severity != severity:
                    step(sights, Sight(item, page.at_ms if sights else item["opened_ms"], severity))
        if not sights:
            sights = [Sight(item, item["opened_ms"], item["severity"])]
        elif rank(item["severity"]) > rank(sights[-1].severity) and item["updated_ms"] > sights[-1].at_ms:
            step(sights, Sight(item, item["updated_ms"], item["severity"]))
        close(sights, cleared)
        return sights


def at_of(point):
    return point.get("taken_ms") or point.get("received_ms") or 0


def severity_on(page, rule):
    for name in ("bankfull_finding_open", "bankfull_finding_silenced"):
        for labels, value in page.all(name):
            if labels.get("rule") == rule and value:
                return labels.get("severity")
    return None


def step(sights, sight):
    close(sights, sight.at_ms)
    sights.append(sight)


def close(sights, at_ms):
    if sights and sights[-1].until_ms is None:
        sights[-1].until_ms = at_ms


def see(sights, item, at_ms):
    """One more state of a finding: a new sight where its severity or owner is another one."""
    if item["state"] == "cleared":
        close(sights, item.get("cleared_ms") or at_ms)
        return
    if sights and (sights[-1].severity, sights[-1].owner) == (item["severity"], item.get("owner")):
        sights[-1].title = item.get("title") or sights[-1].title
        return
    step(sights, Sight(item, at_ms, item["severity"]))


def profile_of(folder):
    """Of a folder's name NAME.PROFILE; None: it is not one of a run."""
    return next((profile for profile in keys.PROFILES if folder.endswith(f".{profile}")), None)


def reason(error):
    """Why a directory cannot be read, in one line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, (ValueError, OSError)) else f"not what a run leaves ({type(error).__name__}: {text})"


def all_of(out, scenarios=SCENARIOS):
    """(all runs of OUT, in a stable order; [(scenario, profile, why)] of those that cannot be read)."""
    found, lost = [], []
    for name in sorted(os.listdir(out)):
        where, profile = os.path.join(out, name), profile_of(name)
        if not os.path.isdir(where) or not (profile or os.path.exists(os.path.join(where, "run.json"))):
            continue
        try:
            found.append(Run(where, scenarios))
        except UNREADABLE as error:
            lost.append((name.removesuffix(f".{profile}"), profile, reason(error)))
    return sorted(found, key=lambda run: (run.name, run.profile)), lost


def runs(out, scenarios=SCENARIOS):
    return all_of(out, scenarios)[0]
