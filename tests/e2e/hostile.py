# SPDX-License-Identifier: Apache-2.0
"""See tests/integration/e2e_hostile.sh.    hostile.py BUILD DIRECTORY"""
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402
from scene import Agent, Collector, GIB  # noqa: E402
from kit import WORK, finish, ok  # noqa: E402
from wire_client import Client, Closed, epoch, hello  # noqa: E402


NAMES = [
    "<script>pwned()</script>", "\"><img src=x onerror=pwned()>", "'-pwned()-'", "javascript:pwned()", "${pwned()}", "{{pwned()}}",
    "x\" onmouseover=\"pwned()\" style=\"position:fixed", "&lt;script&gt;pwned()&#60;/script&#62;", "\u202egnp.exe\u2066\u200b", "\u05d0\u05d1\u05d2 \u0639\u0631\u0628\u0649",
    "\U0001f9e8\U0001f469\u200d\U0001f469\u200d\U0001f467", "a\x1b[2J\x07\x7f\u0085b", "..%2f..%00%0a", "a b#c?d&e=f/g%", "W" * 250, "\u0300" * 80,
    "__proto__", "constructor", "<svg/onload=pwned()>", "]]>--><!--", "\ufeff\u2028\u2029\ufffe", "CON:prod:x:y",
]
LONG = "<b onclick=pwned()>" + "\u202e4 kB " * 450  # of the body of a finding


def people(c):
    agents = []
    for n, name in enumerate(NAMES):
        agent = Agent(c, name, namespace=cut(name, 60), workload=name, engine=cut(name, 31), jdk=cut(name, 30), program=cut(name, 20), node=name,
                      jobs=(cut(name, 60),), skew_s=(3600, -3600, 0)[n % 3], limit=GIB, owners={"native-other": 0.2})
        try:
            agent.connect()
            agent.say(agent.sample())
            agent.finding("native-growth", cut(name, 159), "critical", owner="native-other", observation=LONG, change=name, change_when="now",
                          competing_causes=[LONG, name], effective_settings=[{"key": name, "value": LONG, "where": name}], validate=[name],
                          evidence={name[:40]: 7}, missing=[name])
            agent.death(cut(name, 159), [], cause="container-limit", owner="native-other", why=LONG, confidence_pct=1,
                        life={"image": name, "engine": name, "jdk": name, "kernel": name, "thp": name, "jobs": [name]},
                        changed=[{"what": name, "before": LONG, "now": name}],
                        deep={"taken": name, "mappings": [{"resident_bytes": 1, "size_bytes": 1, "kind": name, "name": name}],
                              "threads": [{"name": name, "count": 1}], "threads_total": 1})
            agents.append(agent)
        except (Closed, OSError, AssertionError) as error:
            ok(False, "the collector takes a text that its schema allows: %r" % name[:30], "%s %s" % (error, c.said()[-400:]))
    return agents


def cut(text, size):
    return text.encode()[:size].decode(errors="ignore")


def refused(c):
    """What no schema allows reaches no page."""
    for what, pod in (("NUL", "nul\0nul"), ("4 kB", "kilo" * 1024)):
        client = Client(c.port)
        client.send(hello(pod, [(epoch(), 1, 0)], c.now_ms()))
        messages, code = client.until_closed()
        ok(code in (1008, 4400, 1002, 1003, 1007, 1009) or any(m["type"] == "error" for m in messages), "a name with %s is refused" % what, (messages, code))


def nothing_ran(b, where):
    bad = b.js("""
        const odd = [...document.querySelectorAll('main script, main img, main iframe, main style, main object, main b, main svg[onload]')].map((e) => e.outerHTML.slice(0, 100));
        for (const e of document.querySelectorAll('*'))
            for (const a of e.attributes)
                if (/^on/.test(a.name) || /^\\s*javascript:/i.test(a.value) && a.name === 'href') odd.push(e.outerHTML.slice(0, 100));
        if (window.__pwned) odd.push('it ran');
        return odd;""")
    wide = b.js("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    marks = b.js("return /[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\x1b\\x07]/.test(document.body.innerText + document.title)")
    return (["%s: %s" % (where, x) for x in bad] + (["%s: %d px too wide" % (where, wide)] if wide > 0 else [])
            + (["%s: a mark that turns or hides text is shown raw" % where] if marks else []))


def pages(b, c, _):
    bad, missing, n = [], [], 0
    api = c.api
    places = ["#/", "#/?view=pods", "#/alerts", "#/silences", "#/?q=" + urllib.parse.quote("<img src=x onerror=pwned()>"), "#/?ns=" + urllib.parse.quote(NAMES[1])]
    places += ["#/workloads/" + urllib.parse.quote(w["id"], safe="") for w in api("/workloads?limit=100")["items"]]
    places += ["#/pods/" + p["id"] for p in api("/pods?limit=100")["items"]]
    places += ["#/findings/" + urllib.parse.quote(f["id"], safe="") for f in api("/findings?limit=100")["items"] if f["rule"] == "native-growth"]
    places += ["#/postmortems/" + urllib.parse.quote(p["id"], safe="") for p in api("/postmortems?limit=100")["items"]]
    for width in (400, 1280):
        b.size(width)
        for place in places:
            b.go("/" + place)
            b.until("document.querySelector('main h1, main h2') && !document.querySelector('[role=status].state')", 10)
            b.driver.execute_async_script("setTimeout(arguments[0], 60)")
            bad += nothing_ran(b, "%s at %d" % (place[:60], width))
            if "Not here" in b.text() or "This cannot be shown" in b.text():
                missing.append(place)
            n += 1
    ok(not bad, "nothing of %d hostile texts runs, turns its surroundings or breaks a page (%d pages)" % (len(NAMES), n), "\n".join(bad[:12]))
    ok(not missing, "each of them has its page", "\n".join(missing[:12]))
    b.size(1280)


def shown(b, c, _):
    b.go("/#/?view=pods&q=gnp.exe")
    ok(b.shows("⟨U+202E⟩gnp.exe"), "what would be invisible is written out", b.text()[-300:])
    b.go("/#/?view=pods&q=" + urllib.parse.quote("<script>"))
    ok(b.shows("<script>pwned()</script>"), "what would be markup is text", b.text()[-300:])
    b.click("tr a[data-main]")
    ok(b.until(lambda: b.hash().startswith("#/pods/") and b.text("main h1") == NAMES[0]) and b.js("return document.title").startswith(NAMES[0]),
       "in the heading and in the title too", (b.hash(), b.text("main h1")))
    finding = next(f for f in c.api("/findings?limit=100")["items"] if f["title"] == NAMES[1])
    b.go("/#/findings/" + urllib.parse.quote(finding["id"], safe=""))
    b.shows("Evidence")
    b.click("button", "Silence or acknowledge")
    ok(b.find("dialog[open]", "Covers now: 1 pod, 1 open finding"), "a hostile name can be silenced: the patterns in it are escaped", b.text("dialog"))
    b.click("dialog input[name=reason]")
    b.keys(*"<img src=x onerror=pwned()>", "Enter")
    b.until("document.querySelector('dialog[open]') === null")
    b.go("/#/silences")
    ok(b.shows("<img src=x onerror=pwned()>") and not nothing_ran(b, ""), "and stands in the list with a hostile reason", b.text()[:400])
    b.go("/#/findings/%3Cscript%3Epwned()%3C%2Fscript%3E")
    ok(b.shows("Not here") and not nothing_ran(b, ""), "an address is no markup either", b.text()[:300])
    b.go("/#/%2e%2e/%2e%2e/etc?x=%00&javascript:pwned()")
    ok(b.shows("there is no such page", 10) and not nothing_ran(b, ""), "nor a path", b.text()[:300])


def clocks(b, c, agents):
    """Agents an hour ahead and an hour behind."""
    pods = c.api("/pods?limit=100")["items"]
    by_skew = {skew: next(p for p in pods if p["subject"]["pod"] == NAMES[n]) for n, skew in enumerate((3600, -3600, 0))}
    for skew, pod in by_skew.items():
        offset = c.api("/pods/" + pod["id"])["clock_offset_ms"]
        ok(abs(abs(offset) - abs(skew) * 1000) < 60000, "the clock of an agent %+d s off is known to be" % skew, offset)
        agent = next(a for a in agents if a.pod == pod["subject"]["pod"])
        agent.say(agent.sample())
        b.go("/#/pods/" + pod["id"] + "?last=15m")
        b.until("document.querySelector('.chart-plot canvas') !== null")
        head = b.text(".page-head")
        ok("connected" in head and "stale" not in head, "its pod is as live as others", head)
        at = b.until("(document.querySelector('.chart-body').innerText.match(/(\\d\\d):(\\d\\d):(\\d\\d)/) ?? [''])[0]")
        now = b.js("const d = new Date(); return d.getUTCHours() * 60 + d.getUTCMinutes()")
        minutes = int(at[:2]) * 60 + int(at[3:5]) if at else None
        ok(minutes is not None and abs(minutes - now) % 1440 in (0, 1, 2, 3, 4, 5, 1439), "and its samples stand where they were received", (at, now))


def main():
    c = Collector(WORK)
    agents = []
    try:
        agents = people(c)
        refused(c)
        with Browser(WORK, c.url) as b:
            b.cdp("Emulation.setTimezoneOverride", timezoneId="UTC")
            for test in (clocks, pages, shown):
                try:
                    test(b, c, agents)
                except Exception as error:  # the others are worth to be seen
                    ok(False, test.__name__, "%s: %s" % (type(error).__name__, str(error)[:1500]))
            b.clean("hostile names", [r"findings/.*script"])
        ok(c.ask("/healthz")[0] == 200, "the collector lives")
    finally:
        for agent in agents:
            agent.close()
        c.stop()
    finish()


main()
