# SPDX-License-Identifier: Apache-2.0
"""See grafana.sh.    grafana.py PROMETHEUS"""
import glob
import json
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

PROMETHEUS = sys.argv[1]
bad = 0

# What the JVM of this test has not: no cgroup v2 on every machine that runs it, no engine, nothing that grows or is silenced.
ABSENT = {
    "the cgroup's": {"bankfull_charge_bytes", "bankfull_group_bytes", "bankfull_throttle_room_bytes", "bankfull_memory_events_total",
                     "bankfull_memory_pressure_ratio", "bankfull_refaults_file_total", "bankfull_residual_bytes", "bankfull_workload_charge_bytes"},
    "an engine's": {"bankfull_engine_time_ratio", "bankfull_engine_records_lag_max", "bankfull_engine_restarts_total", "bankfull_engine_doing"},
    "of a JVM that has every bound": {"bankfull_legal_demand_bytes"},
    "of what grows": {"bankfull_forecast_seconds"},
    "of what somebody silenced": {"bankfull_finding_silenced"},
    "of receivers and caps that are configured": {"bankfull_collector_alert_oldest_due_seconds", "bankfull_collector_store_cap_bytes"},
}
MAY_BE_ABSENT = set().union(*ABSENT.values())
TARGET = {"job", "instance", "cluster", "namespace", "workload", "pod", "node", "role"}
PROCESS = {"process_cpu_seconds_total", "process_resident_memory_bytes"}


def ok(good, name, why=()):
    global bad
    bad += not good
    print(("ok - " if good else "not ok - ") + name, flush=True)
    for line in list(why)[:30] if not good else []:
        print("#   " + str(line)[:400], flush=True)


def api(path, **parameters):
    url = "%s/api/v1/%s?%s" % (PROMETHEUS, path, urllib.parse.urlencode(parameters))
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            return json.load(reply)["data"]
    except urllib.error.HTTPError as e:
        return {"error": json.load(e).get("error", str(e)), "result": []}
    except OSError:
        return {"error": "no answer", "result": []}


def query(expression):
    return api("query", query=expression)


def wait(expression, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = query(expression)["result"]
        if got:
            return got
        time.sleep(0.3)
    return []


def documented():
    """name -> labels, from the tables of docs/metrics.md."""
    with open("docs/metrics.md", encoding="utf-8") as file:
        rows = re.findall(r"^\| `(\w+)` \| \w+ \|[^|]*\|([^|]*)\|", file.read(), re.M)
    names = {}
    for name, labels in rows:
        names.setdefault(name, set()).update(re.findall(r"`(\w+)`", labels))
    return names


def concrete(expression):
    expression = re.sub(r"\$__(rate_)?interval", "30s", expression)
    return re.sub(r"\$(cluster|namespace|workload|pod|collector)\b", ".*", expression)


def names_of(expression):
    return set(re.findall(r"\b(?:bankfull|process)_[a-z0-9_]+", expression))


def check_names(where, expression, names):
    wrong = []
    used = names_of(expression)
    for name in used - set(names):
        wrong.append("%s: %s is not in docs/metrics.md" % (where, name))
    for name, matchers in re.findall(r"\b((?:bankfull|process)_[a-z0-9_]+)\{([^}]*)\}", expression):
        for label in re.findall(r"(\w+)\s*(?:=~|!=|!~|=)", matchers):
            if label not in names.get(name, set()) | TARGET:
                wrong.append("%s: %s has no label %s" % (where, name, label))
    known = set().union(*(names.get(name, set()) for name in used)) | TARGET
    for labels in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression):
        for label in re.split(r",\s*", labels):
            if label not in known:
                wrong.append("%s: nothing in it has a label %s" % (where, label))
    return wrong


def check_shape(name, board):
    """What Grafana 10 takes; what a person would not see at once."""
    wrong = []
    for key in ("uid", "title", "schemaVersion", "panels", "templating", "time", "refresh", "tags"):
        if key not in board:
            wrong.append("no " + key)
    if board.get("uid") != name or board.get("schemaVersion", 0) < 38 or "id" in board or "__inputs" in board:
        wrong.append("uid, version or what an export leaves behind")
    panels, seen = board["panels"], set()
    ids = [panel["id"] for panel in panels]
    if len(set(ids)) != len(ids):
        wrong.append("ids are not unique")
    text = json.dumps(board)
    for variable in board["templating"]["list"]:
        if not re.search(r"\$(\{%s[:}]|%s\b)" % (variable["name"], variable["name"]), text):
            wrong.append("nothing uses $%s" % variable["name"])
    for panel in panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        if cells & seen or at["x"] + at["w"] > 24:
            wrong.append("%s overlaps or is too wide" % panel["title"])
        seen |= cells
        if panel["type"] == "row":
            continue
        refs = [target["refId"] for target in panel["targets"]]
        if len(set(refs)) != len(refs) or any(t["datasource"]["uid"] != "${datasource}" for t in panel["targets"] + [panel]):
            wrong.append("%s: references or data source" % panel["title"])
        if panel["fieldConfig"]["defaults"].get("noValue") is None:
            wrong.append("%s: does not say what it shows without a value" % panel["title"])
        if panel["fieldConfig"]["defaults"].get("custom", {}).get("spanNulls"):
            wrong.append("%s: draws over gaps" % panel["title"])
    return wrong


def expressions(board):
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield "%s, %s" % (panel["title"], target["refId"]), target["expr"]
    for annotation in board["annotations"]["list"]:
        yield annotation["name"], annotation["expr"]


def variables(board):
    for variable in board["templating"]["list"]:
        got = re.fullmatch(r"label_values\((.+), (\w+)\)", variable.get("definition", ""))
        if got:
            yield variable["name"], got[1], got[2]


def check_board(path, names):
    with open(path, encoding="utf-8") as file:
        board = json.load(file)
    name = path.rsplit("/", 1)[1][:-len(".json")]
    wrong = check_shape(name, board)
    ok(not wrong, name + ": its shape", wrong)
    wrong, empty, n, full = [], [], 0, 0
    for where, expression in expressions(board):
        n += 1
        wrong += check_names(where, expression, names)
        got = query(concrete(expression))
        if "error" in got:
            wrong.append("%s: %s" % (where, got["error"]))
        full += bool(got["result"])
        if not got["result"] and not names_of(expression) & MAY_BE_ABSENT and " > 0" not in expression:
            empty.append("%s: %s" % (where, expression))
    ok(not wrong and n > 20, "%s: its %d expressions are PromQL, their names and labels those of docs/metrics.md" % (name, n), wrong)
    ok(not empty and full * 2 > n, "%s: %d of them have an answer here" % (name, full), empty)
    wrong = []
    for variable, metric, label in variables(board):
        if not query("count by (%s) (%s)" % (label, concrete(metric)))["result"]:
            wrong.append("$%s" % variable)
    ok(not wrong, name + ": its variables have values", wrong)
    return board


def check_colours(board):
    with open("src/collector/web/app.css", encoding="utf-8") as file:
        light = file.read().split("\n}")[0]
    theirs = dict(re.findall(r"--owner-([a-z-]+): (#[0-9a-f]{6});", light))
    del theirs["residual"]
    ours = {}
    for panel in board["panels"]:
        if panel["title"].startswith("Owners"):
            for override in panel["fieldConfig"]["overrides"]:
                if override["matcher"]["id"] == "byName":
                    ours[override["matcher"]["options"]] = override["properties"][0]["value"]["fixedColor"]
    return [key for key in set(ours) | set(theirs) if ours.get(key) != theirs.get(key)]


def main():
    agent = wait('bankfull_owner_resident_bytes{owner="native-other"} > 0 and on (instance) bankfull_freeboard_bytes')
    labels = agent[0]["metric"] if agent else {}
    ok({key: labels.get(key) for key in ("namespace", "workload", "pod", "role", "node", "job")} ==
       {"namespace": "pay", "workload": "fraud", "pod": "fraud-1", "role": "taskmanager", "node": "node-1", "job": "bankfull-agents"},
       "the example finds the agent and names its pod and workload", [labels])
    got = wait('bankfull_workload_floor_bytes{cluster="lab",namespace="pay",workload="fraud"}')
    ok(got, "the collector's labels are its own", [query("bankfull_workload_floor_bytes")])

    wait("namespace_workload:bankfull_freeboard_ratio:min")
    groups = api("rules")["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    sick = [(rule["name"], rule.get("lastError")) for rule in rules if rule["health"] != "ok"]
    ok(len(rules) >= 25 and not sick, "%d rules are evaluated" % len(rules), sick)
    calls = wait('ALERTS{alertname=~"BankfullCritical|BankfullWarning",namespace="pay",workload="fraud",rule="freeboard-low"}', 100)
    ok(len(calls) == 1 and "pod" not in calls[0]["metric"], "a finding of the agent becomes an alert of its workload", [query("bankfull_finding_open"), calls])
    calls = query('ALERTS{alertname=~"BankfullWorkload.*"}')["result"]
    ok(not calls, "and not another one by the collector's page", calls)

    names = documented()
    paths = sorted(glob.glob("contrib/grafana/*.json"))
    ok([path.rsplit("/", 1)[1] for path in paths] == ["bankfull-fleet.json", "bankfull-pod.json"], "two dashboards", paths)
    for path in paths:
        wrong = check_colours(check_board(path, names))
        ok(not wrong, "an owner has the colour that it has in the collector's dashboard", wrong)
    return bad > 0


sys.exit(main())
