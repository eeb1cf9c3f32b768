# SPDX-License-Identifier: Apache-2.0
"""See tests/integration/e2e_a11y.sh.    a11y.py BUILD DIRECTORY [GLOB-OF-PAGES]"""
import fnmatch
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import axe  # noqa: E402
from browser import Browser  # noqa: E402
from pages import SIZES, pages  # noqa: E402
from scene import Scene  # noqa: E402
from kit import WORK, finish, ok  # noqa: E402

ONLY = sys.argv[3] if len(sys.argv) > 3 else "*"

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# rule of axe -> (where, why it is no violation). Nothing else is excepted.
EXCEPTIONS = {}

RUN = """
const [tags, done] = arguments;
axe.run(document, {runOnly: tags, preload: false, resultTypes: ['violations']}).then(
    (r) => done(r.violations.map((v) => ({id: v.id, impact: v.impact, help: v.help,
        nodes: v.nodes.map((n) => ({target: n.target.join(' '), html: n.html.slice(0, 200), why: n.failureSummary}))}))),
    (e) => done([{id: 'axe', impact: 'failed', help: String(e), nodes: []}]));
"""

# What a key or a finger can do something with, and whether Tab leads there. In a group of radio buttons one stop stands for all.
INTERACTIVE = """
return [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [role=button], [role=application], [onclick]')].filter((e) => {
    const s = getComputedStyle(e);
    return e.checkVisibility() && e.getClientRects().length && s.visibility !== 'hidden' && !e.disabled && !e.closest('[inert]') && e.type !== 'radio';
});
"""


# A live page exchanges elements for others that are the same to people.
SAME = """
window.__stops = new Set(); window.__dim = []; window.__hidden = [];
window.__same = (e) => [e.tagName, e.getAttribute('href'), e.name, e.dataset.sort, e.getAttribute('aria-label'), (e.innerText ?? '').slice(0, 30).replace(/[\\d▲▼ .]+/g, '')].join('|');
"""

STOP = """
const e = document.activeElement;
if (!e || e === document.body) return 'out';
if (window.__stops.has(window.__same(e))) return 'again';
window.__stops.add(window.__same(e));
const ring = (c) => (c.outlineStyle !== 'none' && parseFloat(c.outlineWidth) >= 1) || c.boxShadow !== 'none';
if (!ring(getComputedStyle(e)) && !ring(getComputedStyle(e.closest('label') ?? e)) && e.id !== 'main') window.__dim.push(e.outerHTML.slice(0, 160));
if (!e.getClientRects().length) window.__hidden.push(e.outerHTML.slice(0, 160));
return 'new';
"""


def darkened(b):
    """The page that is there, in the other scheme: no new load, and no look at it while it is on its way there."""
    b.media(dark=True)
    return b.driver.execute_async_script(DARK)


def rules(b, script, pages_):
    """axe-core on every page, in both schemes and all widths."""
    for page in pages_:
        bad = {}
        for width, height in SIZES.items():
            b.media()
            b.size(width, height)
            if not page.open(b):
                bad["not there"] = "%s does not say %r: %s" % (page.path, page.text, b.text("body")[:300])
                continue
            b.cdp("Runtime.evaluate", expression=script)
            look(b, bad, "%d px" % width, width)
            if darkened(b):
                look(b, bad, "%d px, dark" % width, width)
            else:
                bad["dark"] = "the page stays light at %d px" % width
        ok(not bad, "axe: %s" % page.name, "\n".join("%s: %s" % item for item in bad.items()))
    b.media()
    b.size(1280, 900)


def look(b, bad, where, width):
    """What is wrong with the page as it stands, into `bad`, once a rule."""
    for violation in b.driver.execute_async_script(RUN, TAGS):
        excepted = EXCEPTIONS.get(violation["id"], (None, ""))[0]
        nodes = [n for n in violation["nodes"] if excepted is None or excepted not in n["target"]]
        if nodes or not violation["nodes"]:
            bad.setdefault(violation["id"], "%s %s (%s): %s\n" % (violation["impact"], violation["help"], where, len(nodes)) + "\n".join(
                "  %s %s\n    %s" % (n["target"], n["html"], n["why"].replace("\n", " ")) for n in nodes[:3]))
    wide = b.js(TOO_WIDE)
    if wide > 0:
        bad.setdefault("overflow", "the page is %d px wider than %d: %s" % (wide, width, b.js(WIDER)))


# theme.js hears of the scheme by an event, docs.css needs none; transitions, if there will be any, have ended.
DARK = """
const done = arguments[0], end = performance.now() + 5000;
const dark = () => matchMedia('(prefers-color-scheme: dark)').matches && (document.documentElement.dataset.theme ?? 'dark') === 'dark';
const moving = () => document.getAnimations().some((a) => a instanceof CSSTransition);
const frame = (still) => requestAnimationFrame(() => {
    const now = dark() && !moving() ? still + 1 : 0;
    if (now === 3 || performance.now() > end) done(now === 3); else frame(now);
});
frame(0);
"""

TOO_WIDE = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
WIDER = """
return [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .slice(0, 4).map((e) => e.tagName + '.' + e.className).join(' ');
"""


def keyboard(b, pages_):
    """Tab reaches all that can be pressed, each shows that it has the focus, and none keeps it."""
    for page in pages_:
        page.open(b)
        b.js(SAME)
        count = len(b.js(INTERACTIVE))
        again = 0
        for _ in range(3 * count + 60):
            b.keys("Tab")
            again = again + 1 if b.js(STOP) == "again" else 0
            if again > 8:  # two of the same kind are no round
                break
        missed = b.js("return (function () {" + INTERACTIVE + "})().filter((e) => !window.__stops.has(window.__same(e)) && e.tabIndex >= 0)"
                      ".map((e) => e.outerHTML.slice(0, 160))")
        ok(not missed, "Tab reaches everything of %s (%d stops)" % (page.name, b.js("return window.__stops.size")), "\n".join(missed[:10]))
        dim = b.js("return window.__dim")
        ok(not dim, "and each shows the focus", "\n".join(dim[:10]))
        hidden = b.js("return window.__hidden")
        ok(not hidden, "and none of them is hidden", "\n".join(hidden[:10]))


# What may be exchanged by the next message while somebody stands on it.
STEADY = {"fleet": (".headline a", "th button", "tr a[data-main]", ".finding"), "pod": (".crumbs a", "main summary", ".act a", "main button"),
          "workload": (".act a", "td a", "main summary"), "alerts": ("main a", "header a")}


# How often alerts were asked for.
ASKED = "performance.getEntriesByType('resource').filter((e) => e.name.includes('/api/v1/alerts?')).length"


def steady(b, pages_):
    """The focus stays where it is while the page lives on."""
    for page in pages_:
        page.open(b)
        for selector in STEADY[page.name]:
            b.js("document.querySelector(arguments[0])?.focus()", selector)
            before = b.js("return document.activeElement.matches(arguments[0]) ? document.activeElement.innerText : null", selector)
            asked = b.js("return " + ASKED)
            b.driver.execute_async_script("setTimeout(arguments[0], 4500)")  # two pulses of the agents
            # Alerts come by no stream: the page asks for two lists anew, each 5 s, and paints them.
            anew = page.name != "alerts" or b.until("%s >= %d" % (ASKED, asked + 2)) and b.driver.execute_async_script("setTimeout(arguments[0], 200, true)")
            after = b.js("return document.activeElement.innerText")
            ok(before is not None and anew and b.js("return document.activeElement.matches(arguments[0])", selector),
               "the focus stays on %s of %s while agents speak" % (selector, page.name), (before, (after or "")[:100], anew))


def modes(b, pages_):
    """Reduced motion, forced colours, a zoom of 200 %."""
    for page in pages_:
        b.media(reduced=True)
        page.open(b)
        moving = b.js("return document.getAnimations().filter((a) => a.playState === 'running' && (a.effect?.getTiming().duration ?? 0) > 20)"
                      ".map((a) => a.effect?.target?.outerHTML.slice(0, 120))")
        if not ok(not moving, "nothing of %s moves for who wants no motion" % page.name, moving):
            continue
        b.media(forced=True, dark=True)
        page.open(b)
        shown = b.js("return matchMedia('(forced-colors: active)').matches && document.querySelector('h1, h2') !== null")
        ok(shown, "and it stands in forced colours")
        b.media()
        # The zoom of a browser: half as many pixels, each twice as large.
        b.cdp("Emulation.setDeviceMetricsOverride", width=640, height=450, deviceScaleFactor=2, mobile=False)
        page.open(b)
        wide = b.js(TOO_WIDE)
        cut = b.js(CUT)
        ok(wide <= 0, "and at twice the size", "%d px too wide: %s" % (wide, b.js(WIDER)))
        ok(not cut, "where no heading or button is cut", "\n".join(cut))
        b.size(1280, 900)
    b.media()


# Buttons and headings whose text does not fit into them. Names are cut on purpose, with the whole in the title.
CUT = """
return [...document.querySelectorAll('button, h1, h2, label, th')].filter((e) => e.getClientRects().length && !e.closest('.unseen') &&
    !e.classList.contains('unseen') && e.clientWidth && (e.scrollWidth > e.clientWidth + 2 || e.scrollHeight > e.clientHeight + 4) &&
    getComputedStyle(e).display !== 'inline').slice(0, 5).map((e) => e.outerHTML.slice(0, 160));
"""


def main():
    try:
        script = axe.source()
    except axe.Missing as error:
        ok(False, "axe-core is there", error)
        sys.exit(1)
    with Scene(WORK) as scene:
        scene.history()
        scene.silences()
        with Browser(WORK, scene.collector.url) as b:
            all_ = [page for page in pages(scene) if fnmatch.fnmatch(page.name, ONLY)]
            rules(b, script, all_)
            keyboard(b, [page for page in all_ if page.name not in ("silence-dialog", "keys", "docs", "rule", "not-here")])
            steady(b, [page for page in all_ if page.name in STEADY])
            modes(b, [page for page in all_ if page.name in ("fleet", "pod", "workload", "finding", "postmortem", "silences", "alerts", "silence-dialog")])
            b.clean("accessibility", [r"pods/999999"])
    finish()


main()
