# SPDX-License-Identifier: Apache-2.0
"""See api.sh.    api.py BUILD DIRECTORY"""
import asyncio
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.parse

import websockets

sys.path.insert(0, os.path.dirname(__file__))
import kit  # noqa: E402
import openapi  # noqa: E402
from kit import WORK, Collector, finish, free_port, now_ms, ok  # noqa: E402


# --- agents --------------------------------------------------------------------------------------------------------

def subject(n):
    return {"namespace": "team-%d" % (n % 2), "workload": "job-%d" % (n % 2), "role": "taskmanager",
            "pod": "job-%d-taskmanager-1-%d" % (n % 2, n), "pod_uid": "00000000-0000-4000-8000-%012d" % n,
            "node": "node-%d" % n, "container": "flink-main-container", "jobs": ["fraud"],
            "labels": {"app.kubernetes.io/name": "job-%d" % (n % 2)}}


def sample(epoch, seq, floor):
    return {"type": "sample", "epoch": epoch, "seq": seq, "mono_ms": seq * 5000, "wall_ms": now_ms(), "interval_ms": 5000,
            "pid": 8, "start_ticks": 77, "access": "full", "limit_bytes": 4 << 30, "charge_bytes": floor + (64 << 20),
            "floor_bytes": floor, "freeboard_bytes": (4 << 30) - floor, "freeboard_level": "container",
            "groups_bytes": {"anon": floor, "file": 64 << 20}, "derived": ["floor_bytes"],
            "composition": {"age_ms": 0, "owners_bytes": {"java-heap": 1 << 30, "native-other": floor - (1 << 30)},
                            "books": {"bounds_bytes": {"java-heap": 2 << 30, "metaspace": "none"},
                                      "claims_bytes": {"native-other": 5}, "unread": ["metaspace"], "legal_bytes": 6 << 30,
                                      "budgets": [{"budget": "heap", "bytes": 2 << 30, "used_bytes": 1 << 30,
                                                   "owners": ["java-heap"]},
                                                  {"budget": "metaspace", "bytes": 3, "owners": ["metaspace"]}]}},
            "context": {"checkpointing": seq == 2}}


def messages(n, epoch):
    """What agent n has to say."""
    head = {"epoch": epoch, "mono_ms": 9000, "wall_ms": now_ms()}
    out = [sample(epoch, seq, (3000 + 100 * n) << 20) for seq in range(1, 6)]
    out.append({"type": "gap", "epoch": epoch, "from": 6, "to": 9, "reason": "spool-full"})
    finding = {"type": "finding", "seq": 10, "id": "native-growth/8-77/%d" % n, "edge": "opened", "rule": "native-growth",
               "severity": "critical" if n == 0 else "warning", "owner": "native-other", "opened_ms": now_ms(),
               "title": "native memory \x1b[2Jgrows", "finding": {"rule": "native-growth", "title": "x"}, **head}
    out.append(finding)
    if n == 1:
        out.append({**{k: v for k, v in finding.items() if k not in ("finding", "title")}, "seq": 11, "edge": "cleared"})
    if n == 0:
        for part in (0, 1):
            out.append({"type": "postmortem", "seq": 11 + part, "id": "death/8-77", "part": part, "parts": 2,
                        "cause": "container-limit", "owner": "native-other", "pid": 8, "died_ms": now_ms(),
                        "title": "killed at its limit", "body": {"timeline": []} if part else {"why": "oom rose"}, **head})
    return out


async def agent(port, n, stop):
    epoch = "%032x" % (n + 1)
    said = messages(n, epoch)
    last = said[-1].get("seq") or said[-1]["to"]
    async with websockets.connect("ws://127.0.0.1:%d/agent" % port, subprotocols=["bankfull.v1"], compression=None) as ws:
        await ws.send(json.dumps({"type": "hello", "subject": subject(n), "program": "0.1.0", "jdk": "17.0.11",
                                  "engine": "flink 1.20.0", "mono_ms": 1, "wall_ms": now_ms() - (60000 if n == 3 else 0),
                                  "epochs": [{"epoch": epoch, "first": 1, "last": last}]}))
        welcome = json.loads(await ws.recv())
        assert welcome["type"] == "welcome", welcome
        for message in said:
            await ws.send(json.dumps(message))
        acked = 0
        while acked < last:
            answer = json.loads(await asyncio.wait_for(ws.recv(), 20))
            assert answer["type"] == "ack", answer
            acked = answer["seq"]
        stop["acked"] += 1
        await stop["event"].wait()
        if n == 2:
            await ws.send(json.dumps({"type": "bye", "reason": "stopping"}))


async def with_agents(port, n, work):
    """Runs work() in a thread while n agents are connected and all they said is acked."""
    stop = {"acked": 0, "event": asyncio.Event()}
    tasks = [asyncio.create_task(agent(port, i, stop)) for i in range(n)]
    try:
        while stop["acked"] < n:
            for task in tasks:
                if task.done():
                    task.result()
            await asyncio.sleep(0.02)
        return await asyncio.to_thread(work)
    finally:
        stop["event"].set()
        await asyncio.gather(*tasks)


# --- what is asked ---------------------------------------------------------------------------------------------------

answered = {}


def check(collector, path, token=None, status=200):
    """One reply, held to the document."""
    got, headers, body = collector.ask(path, token)
    plain = path.split("?")[0]
    why = openapi.trouble(plain, got, headers.get("content-type", ""), body)
    if why is None and got != status:
        why = "status %d: %s" % (got, body[:300])
    if why is not None:
        raise AssertionError("%s: %s" % (path, why))
    if got == 200:
        answered.setdefault(openapi.template_of(plain), 0)
        answered[openapi.template_of(plain)] += 1
    return json.loads(body) if headers.get("content-type", "") == "application/json" else body


def write(collector, path, body, status=200):
    """One POST and its reply, held to the document."""
    got, headers, text = collector.ask(path, method="POST", body=body)
    why = openapi.trouble(path, got, headers["content-type"], text, "post")
    assert got == status and why is None, "%s: %d %s %s" % (path, got, why, text[:300])
    answered.setdefault(openapi.template_of(path), 0)
    return json.loads(text)


def attempt(name, fn, *args):
    try:
        fn(*args)
        ok(True, name)
    except Exception as error:  # what a test of a test would want to know
        ok(False, name, "%s: %s" % (type(error).__name__, error))


def silences(c):
    """Made, read and ended; silences.py has the rest."""
    finding = check(c, "/api/v1/findings?open=true")["items"][0]
    body = {"matchers": {"workload": finding["subject"]["workload"]}}
    preview = write(c, "/api/v1/silences/preview", body)
    assert preview["pods"] == 2 and preview["allowed"], preview
    body |= {"kind": "silence", "reason": "known", "until_ms": now_ms() + 60000}
    made = write(c, "/api/v1/silences", body, 201)
    assert check(c, "/api/v1/silences/" + made["id"]) == made == check(c, "/api/v1/silences")["items"][0]
    assert check(c, "/api/v1/findings/" + finding["id"])["silenced"]["id"] == made["id"]
    status, headers, text = c.ask("/api/v1/silences/" + made["id"], method="DELETE")
    why = openapi.trouble("/api/v1/silences/" + made["id"], status, headers["content-type"], text, "delete")
    assert status == 200 and why is None, (status, why)
    assert len(check(c, "/api/v1/audit")["items"]) == 2
    check(c, "/api/v1/me")


def every_path(c):
    pods = check(c, "/api/v1/pods")
    assert len(pods["items"]) == 4, pods
    for pod in pods["items"]:
        whole = check(c, "/api/v1/pods/" + pod["id"])
        lines = {line["owner"]: line for line in whole["ledger"]}
        assert set(lines) == {"java-heap", "metaspace", "native-other"}, lines
        assert lines["metaspace"]["bytes"] is None and lines["metaspace"]["unbounded"], lines
        assert lines["java-heap"]["bound_bytes"] == 2 << 30 and lines["native-other"]["claim_bytes"] == 5, lines
        assert [b["used_bytes"] for b in whole["budgets"]] == [1 << 30, None], whole["budgets"]
        assert whole["demand"]["legal_bytes"] == 6 << 30 and "ledger" not in pod
        marks = check(c, "/api/v1/pods/%s/events" % pod["id"])["items"]
        at = {m["kind"]: m for m in marks}
        assert sorted(m["kind"] for m in marks) == ["agent-start", "checkpoint-end", "checkpoint-start"], marks
        assert at["checkpoint-end"]["value"] == at["checkpoint-end"]["at_ms"] - at["checkpoint-start"]["at_ms"], marks
        series = check(c, "/api/v1/pods/%s/samples" % pod["id"] + "?step=0")
        assert len(series["points"]) == 5 and len(series["gaps"]) == 1, series
        assert series["gaps"][0]["from_seq"] == 6 and series["gaps"][0]["to_seq"] == 9
    workloads = check(c, "/api/v1/workloads")
    assert [w["workload"] for w in workloads["items"]] == ["job-0", "job-1"], workloads
    for workload in workloads["items"]:
        one = check(c, "/api/v1/workloads/" + workload["id"])
        members = check(c, "/api/v1/workloads/%s/pods?past=true" % workload["id"])["items"]
        assert [m["present"] for m in members] == [True, True], members
        assert check(c, "/api/v1/workloads/%s/pods?limit=1" % workload["id"])["next"] == members[0]["id"]
        owners = check(c, "/api/v1/workloads/%s/owners" % workload["id"])
        assert owners["pods_counted"] == 2 and [o["owner"] for o in owners["owners"]] == ["java-heap", "native-other"], owners
        assert one["pods_connected"] == 2 and one["limit"] == {"bytes": 8 << 30, "of_pods": 2}, one
    rows = check(c, "/api/v1/fleet?view=pods&sort=name")
    assert {r["id"] for r in rows["rows"]} == {p["id"] for p in pods["items"]} and rows["summary"]["pods"] == 4, rows
    assert [r["pod"] for r in rows["rows"]] == sorted(r["pod"] for r in rows["rows"]), rows
    rows = check(c, "/api/v1/fleet")
    assert {r["id"] for r in rows["rows"]} == {w["id"] for w in workloads["items"]}, rows
    findings = check(c, "/api/v1/findings?limit=1000")
    assert len(findings["items"]) == 4, findings
    for finding in findings["items"]:
        whole = check(c, "/api/v1/findings/" + finding["id"])
        assert whole["finding"]["rule"] == "native-growth", whole
        assert "\x1b" not in json.dumps(whole)
    assert len(check(c, "/api/v1/findings?open=true")["items"]) == 3
    deaths = check(c, "/api/v1/postmortems?cause=container-limit")
    assert len(deaths["items"]) == 1, deaths
    whole = check(c, "/api/v1/postmortems/" + deaths["items"][0]["id"])
    assert whole["whole"] and len(whole["bodies"]) == 2 and whole["bodies"][0] == {"why": "oom rose"}, whole
    check(c, "/api/v1/alerts")
    silences(c)
    for path in ("/metrics", "/healthz", "/readyz", "/docs/rules/oom-kill"):
        check(c, path)
    left = set(openapi.DOCUMENT["paths"]) - set(answered)
    assert not left, "never answered: %s" % left


def filters(c):
    for path, n in (("pods?namespace=team-0", 2), ("pods?pod=job-1-taskmanager-1-3", 1), ("pods?node=node-9", 0),
                    ("pods?" + urllib.parse.urlencode({"label.app.kubernetes.io/name": "job-1"}), 2), ("pods?job=fraud", 4),
                    ("pods?q=MANAGER-1-3", 1), ("pods?engine=flink", 4), ("pods?engine=kafka-streams", 0),
                    ("workloads?q=job-1-", 1),
                    ("pods?role=jvm", 0), ("pods?severity=critical", 1), ("findings?workload=job-1", 2),
                    ("findings?severity=critical", 1), ("findings?from=2020-01-01&to=2020-01-02", 0),
                    ("postmortems?namespace=team-1", 0), ("workloads?node=node-3", 1), ("pods?cluster=prod", 4)):
        items = check(c, "/api/v1/" + path)["items"]
        assert len(items) == n, "%s: %d items, not %d" % (path, len(items), n)
    seen, cursor = [], ""
    while True:
        page = check(c, "/api/v1/pods?limit=1" + cursor)
        seen += [pod["id"] for pod in page["items"]]
        if page["next"] is None:
            break
        cursor = "&cursor=" + urllib.parse.quote(page["next"])
    assert len(seen) == 4 and len(set(seen)) == 4, seen


def every_parameter(c):
    """Each documented parameter is taken where the document says so, and refused elsewhere."""
    values = {"role": "jvm", "limit": "5", "cursor": {"/api/v1/workloads": "a:b:c"}, "severity": "notice", "open": "true",
              "cause": "node", "from": "2026-01-01", "to": "2036-01-01", "step": "5m", "connected": "true", "past": "true",
              "active": "true"}
    query = {p["name"]: p for p in openapi.DOCUMENT["components"]["parameters"].values() if p["in"] == "query"}
    pod = check(c, "/api/v1/pods")["items"][0]["id"]
    for path, method, operation in openapi.operations():
        if not path.startswith("/api/v1") or method != "get":
            continue
        taken = {openapi.resolve(p)["name"] for p in operation["parameters"]}
        concrete = path.replace("{id}", pod)
        for name in query:
            value = values.get(name, "x")
            value = value.get(path, "7") if isinstance(value, dict) else value
            status, _, body = c.ask("%s?%s=%s" % (concrete, name.replace("KEY", "a"), value))
            refused = status == 400 and ("no parameter" in body or "filter by " in body)
            assert refused != (name in taken), "%s: %s: %d %s" % (path, name, status, body[:200])


def the_world_as_it_is(c):
    pods = {pod["subject"]["pod"]: pod for pod in check(c, "/api/v1/pods")["items"]}
    pod = pods["job-0-taskmanager-1-0"]
    assert pod["connected"] and pod["sample"]["age_ms"] < 20000, pod
    assert pod["sample"]["freeboard_bytes"] == (4 << 30) - (3000 << 20), pod
    assert pod["sample"]["swap_bytes"] is None and pod["sample"]["groups"]["kernel"] is None, pod
    assert {o["owner"] for o in pod["composition"]["owners"]} == {"java-heap", "native-other"}, pod
    assert pod["findings"][0]["rule"] == "native-growth" and pod["findings"][0]["severity"] == "critical", pod
    assert 55000 < pods["job-1-taskmanager-1-3"]["clock_offset_ms"] < 65000, pods["job-1-taskmanager-1-3"]
    assert pods["job-1-taskmanager-1-1"]["findings"] == [], "cleared, and still shown as open"
    worst = check(c, "/api/v1/workloads?namespace=team-1")["items"][0]
    assert worst["worst_freeboard_bytes"] == (4 << 30) - (3300 << 20), worst
    assert worst["worst_pod"] == pods["job-1-taskmanager-1-3"]["id"], worst


def refusals(c):
    for path, status in (("/api/v1/pods?limit=0", 400), ("/api/v1/pods?x=1", 400), ("/api/v1/pods/999999", 404),
                         ("/api/v1/findings/1:none", 404), ("/api/v1/workloads/a:b:c", 404),
                         ("/api/v1/pods/1/samples?step=x", 400), ("/api/v1/postmortems?cause=x", 400),
                         ("/docs/rules/none", 404)):
        body = check(c, path, status=status)
        assert body["error"]["status"] == status and "\n" not in body["error"]["message"], body
    for path in ("/api/v1/live", "/nothing", "/docs/rules/..%2f..%2fetc%2fpasswd"):
        status, _, body = c.ask(path)
        assert status in (400, 404, 426), (path, status, body)
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        status, headers, body = c.ask("/api/v1/pods", method=method)
        assert status == 405 and headers["allow"] == "GET, HEAD", (method, status, headers, body)
    status, headers, body = c.ask("/api/v1/pods", method="HEAD")
    assert status == 200 and body == "" and int(headers["content-length"]) > 1000, (status, headers, body)


def unchanged(c):
    finding = check(c, "/api/v1/findings")["items"][0]["id"]
    for path in ("/api/v1/findings/" + finding, "/docs/rules/oom-kill"):
        _, headers, _ = c.ask(path)
        status, again, body = c.ask(path, If_None_Match=headers["etag"])
        assert status == 304 and body == "" and again["etag"] == headers["etag"], (path, status, body)
        assert c.ask(path, If_None_Match='"other"')[0] == 200, path


def metrics(c):
    page = check(c, "/metrics")
    for line in ('bankfull_collector_sessions 4', 'bankfull_collector_samples_total 20', 'bankfull_collector_gaps_total 4',
                 'bankfull_workload_pods{cluster="prod",namespace="team-1",workload="job-1",state="connected"} 2',
                 'bankfull_workload_findings{cluster="prod",namespace="team-0",workload="job-0",severity="critical"} 1'):
        assert line + "\n" in page, line
    assert "taskmanager-1" not in page and "node-" not in page and "java-heap" not in page
    on_page, in_book = {}, {}
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", page, re.M):
        labels = set()
        for line in re.findall(r"^%s(?:\{(.*)\})? \S+$" % name, page, re.M):
            labels |= set(re.findall(r'(\w+)="', line))
        on_page[name] = (kind, tuple(sorted(labels)))
    with open("docs/metrics.md") as book:
        text = book.read().split("\n## The collector\n")[1].split("\n## ")[0]
    for name, kind, labels in re.findall(r"^\| `(\w+)` \| (\w+) \| [^|]+ \| ([^|]*) \|", text, re.M):
        in_book[name] = (kind, tuple(sorted(re.findall(r"`(\w+)`", labels))))
    differ = [(n, on_page.get(n), in_book.get(n)) for n in sorted(set(on_page) | set(in_book)) if on_page.get(n) != in_book.get(n)]
    assert not differ, "page and docs/metrics.md differ: %s" % differ


def alerts(c):
    """Two workloads with the same rule at different severities are two alerts; what is asked for is what comes."""
    for _ in range(100):
        items = check(c, "/api/v1/alerts")["items"]
        if items:
            break
        time.sleep(0.1)
    everything = {(a["workload"], a["rule"], a["severity"]) for a in items}
    assert ("job-0", "native-growth", "critical") in everything, items
    alert = next(a for a in items if a["workload"] == "job-0" and a["rule"] == "native-growth")
    assert alert["pods"] == len(alert["worst"]) and alert["ended_ms"] is None and alert["silenced"] is None, alert
    assert [d["receiver"] for d in alert["deliveries"]] == ["alertmanager"] and alert["route"] is None, alert
    assert alert["deliveries"][0]["state"] in ("waiting", "due", "failing"), alert
    for query, n in (("namespace=team-0", 1), ("namespace=team-9", 0), ("rule=oom-kill", 0), ("active=false", 0),
                     ("severity=critical&rule=native-growth&workload=job-0", 1)):
        got = [a for a in check(c, "/api/v1/alerts?" + query)["items"] if a["rule"] == "native-growth"]
        assert len(got) == n, (query, got)
    for query in ("pod=x", "node=x", "role=jvm", "open=true", "cursor=x"):
        assert c.ask("/api/v1/alerts?" + query)[0] == 400, query


def promtool(c):
    said = subprocess.run(["promtool", "check", "metrics"], input=c.ask("/metrics")[2].encode(), capture_output=True)
    assert said.returncode == 0 and not said.stdout + said.stderr, (said.stdout + said.stderr).decode()


def prometheus(c):
    """A real one scrapes the page, and answers with what stands there."""
    port, home = free_port(), os.path.join(WORK, "prometheus")
    os.makedirs(home)
    with open(os.path.join(home, "config.yml"), "w") as file:
        json.dump({"scrape_configs": [{"job_name": "collector", "scrape_interval": "500ms", "scrape_timeout": "400ms",
                                       "static_configs": [{"targets": ["127.0.0.1:%d" % c.port]}]}]}, file)
    with open(os.path.join(home, "log"), "wb") as log:
        process = subprocess.Popen(["prometheus", "--config.file", os.path.join(home, "config.yml"), "--storage.tsdb.path",
                                    os.path.join(home, "data"), "--web.listen-address", "127.0.0.1:%d" % port],
                                   stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def query(text):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/api/v1/query?" + urllib.parse.urlencode({"query": text}))
        return [r["value"][1] for r in json.loads(connection.getresponse().read())["data"]["result"]]
    try:
        value = []
        for _ in range(300):
            try:
                value = query("bankfull_collector_sessions")
            except (OSError, ValueError, KeyError):
                pass
            if value or process.poll() is not None:
                break
            time.sleep(0.1)
        assert value == ["4"] and query("up") == ["1"], (value, open(os.path.join(home, "log")).read()[-1500:])
        assert query("sum(bankfull_workload_limit_bytes)") == [str(16 << 30)]
        assert query('min(bankfull_workload_worst_freeboard_ratio)') == ["0.1943"]
    finally:
        process.terminate()
        process.wait(20)


# --- viewers, after a restart ---------------------------------------------------------------------------------------

ANN, OPS = "ann-" + "a" * 40, "ops-" + "b" * 40


def viewers(c):
    check(c, "/api/v1/pods", status=401)
    check(c, "/api/v1/pods/1", token="wrong" * 8, status=401)
    check(c, "/metrics", status=401)
    every = check(c, "/api/v1/pods", OPS)["items"]
    own = check(c, "/api/v1/pods", ANN)["items"]
    assert len(every) == 4 and [p["subject"]["namespace"] for p in own] == ["team-0", "team-0"], own
    assert check(c, "/api/v1/pods?namespace=team-1", ANN)["items"] == []
    assert {w["namespace"] for w in check(c, "/api/v1/workloads", ANN)["items"]} == {"team-0"}
    assert {f["subject"]["namespace"] for f in check(c, "/api/v1/findings", ANN)["items"]} == {"team-0"}
    assert len(check(c, "/api/v1/findings", OPS)["items"]) == 4
    assert {a["namespace"] for a in check(c, "/api/v1/alerts", ANN)["items"]} == {"team-0"}
    assert {a["namespace"] for a in check(c, "/api/v1/alerts", OPS)["items"]} >= {"team-0"}
    for other in (p for p in every if p["subject"]["namespace"] == "team-1"):
        check(c, "/api/v1/pods/" + other["id"], ANN, status=404)
        for what in ("samples", "events"):
            check(c, "/api/v1/pods/%s/%s" % (other["id"], what), ANN, status=404)
        for what in ("", "/pods", "/pods?past=true", "/owners"):
            check(c, "/api/v1/workloads/" + other["workload_id"] + what, ANN, status=404)
    for other in (f for f in check(c, "/api/v1/findings", OPS)["items"] if f["subject"]["namespace"] == "team-1"):
        check(c, "/api/v1/findings/" + other["id"], ANN, status=404)
    page = check(c, "/metrics", ANN)
    assert "team-0" in page and "team-1" not in page
    for path in ("/healthz", "/readyz", "/docs/rules/agent-silent"):
        assert "team-" not in check(c, path)


def remembered(c):
    pods = {pod["subject"]["pod"]: pod for pod in check(c, "/api/v1/pods", OPS)["items"]}
    for n in range(4):
        pod = pods["job-%d-taskmanager-1-%d" % (n % 2, n)]
        assert not pod["connected"] and pod["said_bye"] == (n == 2), pod
        assert pod["sample"]["freeboard_bytes"] == (4 << 30) - ((3000 + 100 * n) << 20), pod
        assert len(pod["findings"]) == (n != 1), pod
        assert pod["clock_offset_ms"] is None and pod["sample"]["pid"] is None, pod
        assert (pod["last_postmortem_ms"] is not None) == (n == 0), pod
        assert pod["engine_version"] == "flink 1.20.0" and pod["jdk"] and pod["agent_version"], pod
    workload = check(c, "/api/v1/workloads", OPS)["items"][0]
    assert workload["pods_connected"] == 0 and workload["limit"]["bytes"] is None, workload


def main():
    faults = list(openapi.lint())
    ok(not faults, "the OpenAPI file is whole", "\n".join(faults))
    # A receiver that nobody reaches: its alerts are due, and seen to be.
    c = Collector("data", "--cluster", "prod", "--disk-cap", "1Gi", "--alertmanager", "http://127.0.0.1:%d" % free_port(),
                  "--kube-pods", "--kube-events", "--kube-url", "http://127.0.0.1:%d" % free_port())  # nobody is there

    def connected():
        attempt("every path answers, and as the document says", every_path, c)
        attempt("filters and pages", filters, c)
        attempt("every parameter is taken where it is documented, and nowhere else", every_parameter, c)
        attempt("pods and workloads as their agents told", the_world_as_it_is, c)
        attempt("alerts, of whom and for whom", alerts, c)
        attempt("refusals, methods, HEAD", refusals, c)
        attempt("what did not change is not sent again", unchanged, c)
        attempt("metrics: all that is documented, no more, no pod", metrics, c)
        for name, test, tool in (("promtool finds nothing", promtool, "promtool"),
                                 ("a real Prometheus scrapes it", prometheus, "prometheus")):
            if shutil.which(tool):
                attempt(name, test, c)
            else:
                print("ok - %s # SKIP %s is not installed" % (name, tool), flush=True)
    asyncio.run(with_agents(c.port, 4, connected))
    ok(c.stop() == 0, "it stops cleanly")

    tokens = kit.write("viewers", "viewer ann %s team-0\noperator ops %s\n" % (ANN, OPS))
    c = Collector("data", "--cluster", "prod", "--viewer-tokens", tokens)
    attempt("a viewer sees its namespaces alone", viewers, c)
    attempt("a restart remembers pods, figures and findings", remembered, c)
    ok(c.stop() == 0, "it stops cleanly again")
    finish()


main()
