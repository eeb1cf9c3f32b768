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

import promtext
import shortfalls
from owners import rank

HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIOS = os.path.join(HERE, "scenarios")


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


class Sight:
    """A finding as it was from at_ms until until_ms (None: to the end of the run)."""

    def __init__(self, item, at_ms, severity):
        self.id, self.rule, self.owner, self.title = item["id"], item["rule"], item.get("owner"), item.get("title") or ""
        self.at_ms, self.until_ms, self.severity = at_ms, None, severity


class Run:
    def __init__(self, path, scenarios=SCENARIOS):
        self.shortfalls = shortfalls.read(scenarios)
        self.path = path.rstrip("/")
        self.meta = load(self.file("run.json"))
        if not isinstance(self.meta, dict):
            raise ValueError(f"{self.path}: no run.json")
        self.name, self.profile = self.meta["scenario"], self.meta["profile"]
        self.scenario = self.read_scenario(scenarios)
        self.kind = self.scenario["kind"]
        self.truth = self.scenario.get("truth", {})
        self.rows = sorted(lines(self.file("cgroup.jsonl")), key=lambda row: row["at_ms"])
        self.truths = sorted(({"at_ms": line.get("wall_ms"), **line} for line in lines(self.file("truth.jsonl"))),
                             key=lambda line: line["at_ms"])
        self.pages = self.read_pages()
        self.points = sorted(items(load(self.file("samples.json")), "points"), key=at_of)
        self.postmortems = items(load(self.file("postmortem.json"))) or items(load(self.file("postmortems.json")))
        self.printed = [line for line in lines(self.file("agent.out")) if line.get("event") == "postmortem"]
        self.log = lines(self.file("agent.log"))
        self.sights = self.read_sights()

    def file(self, name):
        return os.path.join(self.path, name)

    def __str__(self):
        return f"{self.name} {self.profile}"

    def read_scenario(self, scenarios):
        own = self.file("scenario.toml")
        path = own if os.path.exists(own) else os.path.join(scenarios, self.name, "scenario.toml")
        with open(path, "rb") as file:
            return tomllib.load(file)

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
        for item in items(load(self.file("findings.json"))):
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


def runs(out, scenarios=SCENARIOS):
    """All runs of OUT, in a stable order."""
    names = sorted(name for name in os.listdir(out) if os.path.exists(os.path.join(out, name, "run.json")))
    return sorted((Run(os.path.join(out, name), scenarios) for name in names), key=lambda run: (run.name, run.profile))
