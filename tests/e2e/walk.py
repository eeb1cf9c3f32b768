# SPDX-License-Identifier: Apache-2.0
"""See tests/integration/e2e_walk.sh.    walk.py BUILD DIRECTORY [PID-OF-A-JVM [TEST...]]"""
import json
import os
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402
from scene import Agent, Collector, Scene  # noqa: E402
from kit import BUILD, WORK, finish, free_port, ok, until, write  # noqa: E402
from wire_client import Client, Refused  # noqa: E402

PID = int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] != "-" else None
ONLY = sys.argv[4:]
WORST, DEAD = "fraud-detection-taskmanager-2-2", "fraud-detection-taskmanager-1-2"


def heading(b):
    return b.text("main h1")


# --- through the pages -----------------------------------------------------------------------------------------------

def clicks(b, scene):
    """The way of somebody who was called at night, with a mouse."""
    b.go("/")
    ok(b.shows("reaches its limit in about"), "the fleet says who is first", b.text()[:400])
    b.js("window.__head = document.querySelector('th button'); window.__tile = document.querySelector('.tile-pods .tile-number').firstChild")
    b.until("document.querySelector('.tile-pods .tile-number').firstChild !== window.__tile", 20)  # the fleet in figures has come anew
    ok(b.js("return window.__head.isConnected && window.__tile.isConnected === false"), "a head that somebody may be pressing stays while figures come")
    steps = [("#/", "Fleet")]

    def step(name, what, hash_, *texts):
        what()
        arrived = b.until(lambda: b.hash().startswith(hash_) and all(text in b.text() for text in texts))
        ok(arrived, name, (b.hash(), b.text()[:600]))
        steps.append((b.hash(), heading(b)))

    step("its row leads to the workload", lambda: b.click("tr a[data-main]", "fraud-detection"), "#/workloads/", "Who stands out", WORST)
    step("that to the pod", lambda: b.click("main a", WORST), "#/pods/", "Ledger", "rocksdb-block-cache", "Change now")
    step("that to the finding", lambda: b.click("main .act a", "RocksDB holds"), "#/findings/", "Evidence", "Settings in force")
    step("the path above it up to the pod", lambda: b.click("main a[href^='#/pods/']", WORST), "#/pods/", "Ledger")
    step("and to the workload", lambda: b.click("main a[href^='#/workloads/']", "fraud-detection"), "#/workloads/", "killed at its own limit")
    step("its last death to the post-mortem", lambda: b.click("main a", "killed at its own limit"), "#/postmortems/", "Who grew", "99 % sure")
    step("the header to silences", lambda: b.click("header a", "Silences"), "#/silences", "OPS-411")
    step("and to alerts", lambda: b.click("header a", "Alerts"), "#/alerts", "RocksDB holds")
    step("and back to the fleet", lambda: b.click("header a", "Fleet"), "#/", "reaches its limit")
    for n in range(len(steps) - 2, 0, -1):
        b.driver.back()
        if not b.until(lambda n=n: b.hash() == steps[n][0] and heading(b) == steps[n][1]):
            return ok(False, "Back goes the same way back", (n, steps[n], b.hash(), heading(b)))
    for n in range(2, len(steps)):
        b.driver.forward()
        if not b.until(lambda n=n: b.hash() == steps[n][0] and heading(b) == steps[n][1]):
            return ok(False, "Forward forth again", (n, steps[n], b.hash(), heading(b)))
    ok(True, "Back and Forward go the same way")
    for hash_, title in steps[1:-1]:
        b.go("/" + hash_)
        if not b.until(lambda: heading(b) == title and b.hash() == hash_):
            return ok(False, "a deep link leads to the same", (hash_, title, heading(b)))
    ok(True, "each of them is a deep link to the same")
    b.go("/#/?view=pods&ns=analytics&q=clickstream&sort=name")
    rows = b.until(lambda: b.js("return [...document.querySelectorAll('tbody tr a[data-main]')].map((a) => a.textContent)"))
    ok(rows == ["clickstream-sessions-%d" % n for n in range(3)], "and so is a view of the fleet", rows)
    b.clean("clicks")


def keyboard(b, scene):
    """The same way without a mouse."""
    b.go("/")
    b.shows("reaches its limit")
    b.keys("/")
    ok(b.until("document.activeElement.type === 'search'"), "/ searches", b.focused())
    b.keys(*"fraud")
    ok(b.shows("1 of 5 workloads match"), "letters filter", b.text()[:300])
    b.keys("Escape", "j")
    ok(b.until("document.activeElement.matches('tr a[data-main]')"), "j goes to the first row", b.focused())
    b.keys("Enter")
    ok(b.until(lambda: b.hash().startswith("#/workloads/") and "Who stands out" in b.text()), "Enter opens it", b.hash())
    ok(b.until("document.activeElement.matches('h1')"), "the focus is at the new heading", b.focused())
    ok(b.until("document.getElementById('announcer') !== null"), "and there is a place for announcements")
    ok(b.tab_to("main a", WORST), "Tab reaches its pod", b.focused())
    b.keys("Enter")
    ok(b.until(lambda: b.hash().startswith("#/pods/") and "Ledger" in b.text()), "Enter opens it", b.hash())
    ok(b.tab_to("main a", "RocksDB holds"), "Tab reaches the finding", b.focused())
    b.keys("Enter")
    ok(b.shows("Evidence") and b.hash().startswith("#/findings/"), "Enter opens it", b.hash())
    b.driver.back()
    ok(b.shows("Ledger") and b.tab_to("[role=application]", None), "Tab reaches the chart", b.focused())
    b.until("document.querySelector('.chart-plot canvas') !== null")
    b.keys("\ue012", "\ue012")  # the left arrow
    ok(b.until("document.querySelector('.chart-hair').hidden === false"), "arrows move its cursor")
    ok(b.until("/charge .* of .*, floor/.test(document.querySelector('main [aria-live]')?.textContent ?? '')"), "which is said", b.text()[-200:])
    ok(b.tab_to("main button", "Show as table"), "Tab reaches its table", b.focused())
    b.keys("Enter")
    ok(b.tab_to(".chart-table .scroll"), "which the keys scroll", b.focused())
    b.js("const e = document.querySelector('.chart-table .scroll'); e.scrollTop = 50; window.__top = e.scrollTop; window.__table = e")
    b.driver.execute_async_script("setTimeout(arguments[0], 4500)")  # two pulses of the agents
    ok(b.js("return window.__table.isConnected && window.__table.scrollTop === window.__top && document.activeElement === window.__table"),
       "and it stays under who reads it", b.focused())
    for keys, hash_ in (("gs", "#/silences"), ("ga", "#/alerts"), ("gf", "#/")):
        b.keys(*keys)
        ok(b.until(lambda: b.hash() == hash_), "%s goes to %s" % (" ".join(keys), hash_), b.hash())
    b.keys("?")
    ok(b.find("dialog[open]", "search in the fleet"), "? shows the keys")
    b.keys("Escape")
    ok(b.until("document.querySelector('dialog[open]') === null"), "Esc closes them")
    b.driver.back()  # alerts
    b.driver.back()  # silences
    b.driver.back()
    b.driver.back()
    ok(b.until(lambda: b.hash().startswith("#/workloads/") and "Deaths" in b.text()), "four times Back is the workload", b.hash())
    ok(b.tab_to("main a", "killed at its own limit"), "Tab reaches the death", b.focused())
    b.keys("Enter")
    ok(b.shows("Who grew"), "Enter opens the post-mortem", b.hash())
    b.clean("keyboard")


# --- as it happens ---------------------------------------------------------------------------------------------------

def replayed_death(b, scene):
    agent = scene.named("pricing-cache-0")
    pod = next(p for p in scene.collector.api("/pods")["items"] if p["subject"]["pod"] == agent.pod)
    b.go("/#/pods/" + pod["id"])
    b.shows("Ledger")
    b.js("window.__mark = 1")
    at = time.monotonic()
    agent.without_process()
    ok(b.shows("The watched process is gone"), "a page that is open says at once that the process is gone", b.text()[:500])
    seconds = time.monotonic() - at
    ok(seconds < 5, "within seconds", seconds)
    agent.death("killed at its own limit of 1 GiB; java-heap grew most", [], owner="java-heap", why="oom and oom_kill rose", confidence_pct=99)
    ok(b.find("main a", "killed at its own limit of 1 GiB", 15), "and links the post-mortem when it comes", b.text()[:500])
    b.click("main a", "killed at its own limit of 1 GiB")
    ok(b.shows("99 % sure") and b.js("return window.__mark") == 1, "which opens", b.text()[:300])
    b.clean("a death")


def real_death(b, scene):
    """A real JVM under a real agent, ended by SIGKILL."""
    if PID is None:
        return
    with open(os.path.join(WORK, "agent.log"), "w") as log:
        agent = subprocess.Popen(
            [os.path.join(BUILD, "bankfull"), "agent", "--pid", str(PID), "--limit", "512m", "--interval", "1s", "--smaps-interval", "5s",
             "--listen", "127.0.0.1:%d" % free_port(), "--collector", "ws://127.0.0.1:%d/agent" % scene.collector.port, "--namespace", "real",
             "--workload", "probe", "--pod", "probe-1", "--no-metrics"], stdout=subprocess.DEVNULL, stderr=log)
    try:
        b.go("/#/?ns=real")
        ok(b.find("tr a[data-main]", "probe", 30), "a real agent comes into the fleet while it is looked at", b.text()[:400])
        b.click("tr a[data-main]", "probe")
        b.shows("probe-1", 20)
        b.click("main a", "probe-1")
        ok(b.shows("java-heap", 20), "with the ledger of a real JVM", b.text()[:400])
        ok(b.until("document.querySelector('.chart-plot canvas') !== null"), "in a chart")
        at = time.monotonic()
        os.kill(PID, signal.SIGKILL)
        told = b.until(lambda: any(text in b.text() for text in ("The watched process is gone", "No process is watched in this pod now")), 15)
        ok(told, "killed by -9, its page says so", b.text()[:500])
        ok(time.monotonic() - at < 8, "within seconds", time.monotonic() - at)
        ok(b.find("main a[href^='#/postmortems/']", None, 40), "and links its post-mortem", b.text()[:600])
        b.click("main a[href^='#/postmortems/']")
        ok(b.shows("Last known ledger"), "which opens", b.text()[:400])
        b.clean("a real death")
    finally:
        agent.terminate()
        agent.wait(30)


def silence(b, scene):
    """From the dialog to the list, and ended there."""
    finding = scene.collector.api("/findings?rule=managed-idle")["items"][0]["id"]
    b.go("/#/findings/" + finding)
    b.shows("Silence or acknowledge")
    b.tab_to("main button", "Silence or acknowledge")
    b.keys("Enter")
    ok(b.find("dialog[open]", "Covers now"), "the dialog says what it would cover", b.text("dialog"))
    ok(b.js("return document.activeElement.name") == "reason", "and begins with why", b.focused())
    inside = [b.keys("Tab") or b.js("return document.activeElement === document.body || !!document.activeElement.closest('dialog')") for _ in range(25)]
    ok(all(inside), "Tab stays inside", inside)
    b.click("dialog input[name=reason]")
    b.keys(*"an e2e reason", "Enter")
    ok(b.until("document.querySelector('dialog[open]') === null"), "Enter makes it", b.text("dialog"))
    ok(b.until("document.activeElement.innerText?.includes('Silence or acknowledge')"), "the focus is where it was", b.focused())
    ok(b.until("document.getElementById('announcer').textContent.startsWith('Silenced until')"), "and it is said")
    b.keys("g", "s")
    ok(b.shows("an e2e reason"), "the list has it", b.text()[:500])
    b.js("[...document.querySelectorAll('tr')].find((r) => r.innerText.includes('an e2e reason')).querySelector('button').dataset.mine = '1'")
    b.click("[data-mine='1']")
    ok(b.find("[data-mine='1']", "Really end it?"), "one press ends nothing")
    b.click("[data-mine='1']", "Really end it?")
    ok(b.until(lambda: "an e2e reason" not in b.text()), "two do", b.text()[:400])
    b.click("summary", "Ended")
    ok(b.shows("an e2e reason"), "and among the ended it stays", b.text()[:900])
    b.click("summary", "Who did what")
    deeds = b.until("(() => { const r = [...document.querySelectorAll('tbody tr')].map((x) => x.innerText).filter((t) => t.includes('an e2e reason'));"
                    " return r.length >= 3 ? r : null; })()")
    ok(deeds, "and who did what: made and ended", b.text()[-700:])
    b.clean("silences")


def stale(b, scene):
    b.go("/#/?state=stale")
    ok(b.find("tr", "clickstream", 40), "an agent that is silent is shown as stale", b.text()[:400])
    pod = next(p for p in scene.collector.api("/pods")["items"] if p["subject"]["pod"] == "clickstream-sessions-2")
    b.go("/#/pods/" + pod["id"])
    ok(b.shows("stale", 10, ".page-head") and b.js("return !!document.querySelector('.page-stale')"), "and its page says so", b.text()[:300])
    agent = scene.named("clickstream-sessions-2")
    agent.say(agent.sample(books=False))
    ok(b.until(lambda: "connected" in b.text(".page-head")), "until it speaks again", b.text()[:300])
    b.clean("stale")


def restart(b, scene):
    b.go("/")
    b.until("document.querySelector('.live').dataset.state === 'live'")
    b.js("window.__mark = 2")
    scene.collector.stop()
    ok(b.until("/^lost/.test(document.querySelector('.live').innerText)"), "the collector ends: the page says lost", b.text("header"))
    ok(b.until("!document.getElementById('banner').hidden"), "and says it aloud", b.text("#banner"))
    ok("fraud-detection" in b.text() and b.js("return document.body.classList.contains('stale')"), "what was known stays, in grey", b.text()[:200])
    scene.collector.start()
    ok(b.until("document.querySelector('.live').dataset.state === 'live'", 30), "it comes back by itself", b.text("header"))
    ok(b.js("return window.__mark") == 2, "without a reload")
    ok(b.until("document.getElementById('banner').hidden && !document.body.classList.contains('stale')"), "the banner goes")
    ok(b.shows("reaches its limit in about", 30), "and so do agents and what they say", b.text()[:600])
    b.clean("a restart", [r"WebSocket connection to", r"ERR_CONNECTION_REFUSED", r"/api/v1/", "failed: net::ERR"])


def again(b, scene):
    """Whoever asks to try again gets the page, and one that is shown is not taken away by a request that fails."""
    death = scene.collector.api("/postmortems")["items"][0]["id"]
    b.go("/#/silences")
    b.shows("OPS-411")
    b.js("""const real = window.fetch; window.__away = true;
         window.fetch = async (url, ...more) => {
             if (window.__away)
                 throw new TypeError('away');
             const reply = await real(url, ...more);
             return /postmortems\\//.test(url) ? new Response(JSON.stringify({ ...await reply.json(), whole: false })) : reply;
         };""")
    for hash_, text in (("#/alerts", "RocksDB holds"), ("#/findings/" + scene.collector.api("/findings")["items"][0]["id"], "Opened"),
                        ("#/postmortems/" + death, "Who grew")):
        b.js("window.__away = true; location.hash = arguments[0]", hash_)
        ok(b.shows("The collector does not answer"), hash_.split("/")[1] + ": the page says that nobody answers", b.text()[:300])
        b.js("window.__away = false")
        b.click("main button", "Try again")
        ok(b.shows(text, 4) and "The collector does not answer" not in b.text(), "and is there when it is asked for again", b.text()[:300])
    b.js("window.__away = true")
    time.sleep(4)  # longer than a post-mortem that is not whole is left alone
    ok("Who grew" in b.text(), "a post-mortem that is shown stays while nobody answers", b.text()[:300])
    b.clean("again")


# --- who may -------------------------------------------------------------------------------------------------------

TOKENS = {"ops": "o" * 40, "eye": "e" * 40}


def guarded():
    """A collector that asks who one is, with a job in each of two namespaces."""
    where = os.path.join(WORK, "guarded")
    os.makedirs(where)
    tokens = write(os.path.join(where, "viewers"), "operator ops %(ops)s\nviewer eye %(eye)s team-a\n" % TOKENS)
    agent_tokens = write(os.path.join(where, "agents"), "one %s\ntwo %s\n" % ("1" * 40, "2" * 40))
    c = Collector(where, "--viewer-tokens", tokens, "--agent-tokens", agent_tokens)
    agents = []
    for n, team in enumerate(("a", "b")):
        agent = Agent(c, "visible-pod" if team == "a" else "sesame-pod", namespace="team-" + team, workload="visible-job" if team == "a" else "sesame-job",
                      node="node-a" if team == "a" else "sesame-node", jobs=("job-" + ("a" if team == "a" else "sesame"),), token=str(n + 1) * 40,
                      engine="flink 1.20.0" if team == "a" else "flink 1.99.7").connect()
        agent.say(agent.sample())
        agent.finding("freeboard-low", "of %s" % ("visible" if team == "a" else "sesame"), "critical")
        agent.death("death of %s" % ("visible" if team == "a" else "sesame"), [])
        agents.append(agent)
    c.api("/silences", TOKENS["ops"], method="POST", body={"kind": "silence", "matchers": {"namespace": "team-b", "workload": "sesame-job"},
                                                          "reason": "sesame reason", "until_ms": c.now_ms() + 3600000})
    return c, agents


def log_in(b, token):
    b.find("#token")
    b.js("document.getElementById('token').value = ''")
    b.click("#token")
    b.keys(*token, "Enter")


def login(c):
    with Browser(WORK, "http://localhost:%d" % c.port) as b:
        b.go("/#/silences")
        ok(b.until("location.pathname === '/login'"), "who is nobody is led to the login", b.js("return location.href"))
        log_in(b, "w" * 40)
        ok(b.shows("This token is not known here", 10, "body"), "a wrong token is told", b.text("body"))
        log_in(b, TOKENS["ops"])
        ok(b.until("location.pathname === '/' && location.hash === '#/silences'"), "a right one leads back", b.js("return location.href"))
        ok(b.shows("sesame reason") and b.shows("ops (operator)", 5, "header"), "as who one is", b.text("body")[:300])
        b.driver.refresh()
        ok(b.shows("sesame reason"), "and stays so")
        ok(b.js("return document.cookie") == "" and TOKENS["ops"] not in b.js("return document.documentElement.outerHTML + JSON.stringify({...localStorage, ...sessionStorage})"),
           "the token is nowhere that a script could read it")
        b.click("button", "Log out")
        ok(b.until("location.pathname === '/login'"), "Log out logs out", b.js("return location.href"))
        b.go("/")
        ok(b.until("location.pathname === '/login'"), "for good", b.js("return location.href"))
        b.clean("the login", [r"answered 401", r"status of 401", "api/v1/live"])


def without_script(c):
    """The browser sends the form by itself, with an Origin that the policy of the page decides."""
    with Browser(WORK, "http://localhost:%d" % c.port) as b:
        b.cdp("Emulation.setScriptExecutionDisabled", value=True)
        b.driver.get(b.origin + "/login")
        b.driver.find_element("id", "token").send_keys(TOKENS["ops"])
        b.driver.find_element("css selector", "form button").click()
        ok(until(10, lambda: b.driver.current_url == b.origin + "/") and b.driver.get_cookie("__Host-bankfull"),
           "without script one can log in", b.driver.page_source[:2000])


def namespaces(c):
    """What belongs to another namespace is nowhere in anything that reaches the browser."""
    b_side = {kind: c.api("/" + kind, TOKENS["ops"])["items"] for kind in ("findings", "postmortems", "pods", "workloads")}
    theirs = {kind: next(item["id"] for item in items if "sesame" in json.dumps(item)) for kind, items in b_side.items()}
    with Browser(WORK, "http://localhost:%d" % c.port) as b:
        b.go("/")
        log_in(b, TOKENS["eye"])
        ok(b.find("tr a[data-main]", "visible-job"), "a viewer of one namespace sees it", b.text()[:300])
        seen = [b.text("body")]
        for hash_ in ("#/?view=pods", "#/?q=sesam", "#/?ns=team-b", "#/alerts", "#/silences", *("#/%s/%s" % item for item in theirs.items())):
            b.go("/" + hash_)
            time.sleep(1)  # whatever comes late
            seen.append(b.text("body").replace("/api/v1/workloads/" + theirs["workloads"], ""))  # what was asked for is said
        ok(all("sesame" not in text for text in seen), "and no name of another, on any page",
           [text[:200] for text in seen if "sesame" in text])
        ok(sum("Not here" in text for text in seen) == 4, "what is another's is not here", [text[-300:] for text in seen[-4:]])
        b.go("/docs/rules/oom-kill")
        ok(b.shows("oom-kill", 5, "body"), "documentation is anybody's")
        b.collect()
        frames = [m["params"]["response"]["payloadData"] for m in b.network if m["method"] == "Network.webSocketFrameReceived"]
        ok(len(frames) > 3 and not any("sesame" in frame or "1.99.7" in frame or "team-b" in frame for frame in frames),
           "not in a frame of the live stream either", [f[:300] for f in frames if "sesame" in f])
        b.clean("namespaces", [r"answered 40[14]", r"status of 40[14]"])
    status, _, text = c.ask("/metrics", TOKENS["eye"])
    ok(status in (200, 403) and "sesame" not in text and "team-b" not in text, "nor in the metrics", text[:300])
    for path in ["/api/v1/%s/%s" % item for item in theirs.items()] + ["/api/v1/pods/%s/samples" % theirs["pods"], "/api/v1/pods/%s/events" % theirs["pods"]]:
        status, _, text = c.ask(path, TOKENS["eye"])
        if status != 404 or "sesame" in text.replace(path, ""):
            ok(False, "by id it is not there: " + path, (status, text[:200]))
    for path in ("fleet?q=sesame", "pods?q=sesame", "fleet", "workloads", "findings", "postmortems", "alerts", "silences"):
        text = c.ask("/api/v1/" + path, TOKENS["eye"])[2]
        if "sesame" in text:
            ok(False, "no list has it: " + path, text[:300])
    ok(True, "nor in the API")


def strangers(c):
    """Pages of other sites, and names that are not this site's."""
    for origin in ("http://evil.example", "null", "http://localhost:1", "https://localhost:%d" % c.port):
        try:
            Client(c.port, path="/api/v1/live", protocol="bankfull.live.v1", token=TOKENS["ops"], origin=origin).close()
            ok(False, "a stream from " + origin + " is refused")
        except Refused as refused:
            ok(refused.status == 403, "a stream from " + origin + " is refused", refused)
        status = c.ask("/api/v1/silences", method="POST", body={}, Cookie="__Host-bankfull=" + TOKENS["ops"], Origin=origin)[0]
        ok(status == 403, "and so is a write", status)
    open_one = Collector(os.path.join(WORK, "open"))
    try:
        for host, good in (("evil.example", False), ("localhost:%d" % open_one.port, True)):
            with socket.create_connection(("127.0.0.1", open_one.port), timeout=10) as s:
                s.sendall(("GET /api/v1/pods HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % host).encode())
                status = int(s.recv(4096).split()[1])
            ok(status == (200 if good else 403), "the name %s is %s" % (host.split(":")[0], "ours" if good else "refused"), status)
    finally:
        open_one.stop()


def main():
    os.makedirs(os.path.join(WORK, "open"))
    alone = [clicks, keyboard, stale, replayed_death, real_death, silence, again, restart]
    with_tokens = [login, without_script, namespaces, strangers]
    chosen = [t for t in alone if not ONLY or t.__name__ in ONLY]
    if chosen:
        where = os.path.join(WORK, "story")
        os.makedirs(where)
        with Scene(where) as scene:
            scene.history()
            scene.silences()
            with Browser(WORK, scene.collector.url) as b:
                for test in chosen:
                    attempt(test, b, scene)
    chosen = [t for t in with_tokens if not ONLY or t.__name__ in ONLY]
    if chosen:
        c, agents = guarded()
        try:
            for test in chosen:
                attempt(test, c)
        finally:
            for agent in agents:
                agent.close()
            c.stop()
    finish()


def attempt(test, *arguments):
    try:
        test(*arguments)
    except Exception as error:  # the others are worth to be seen
        ok(False, test.__name__, "%s: %s" % (type(error).__name__, str(error)[:1500]))


if __name__ == "__main__":
    main()
