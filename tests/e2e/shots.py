# SPDX-License-Identifier: Apache-2.0
"""
Pictures of every page, light and dark, in three widths: `make e2e-shots`, to be looked at.

    shots.py BUILD DIRECTORY OUT [GLOB]
"""
import fnmatch
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402
from pages import SIZES, Page, pages  # noqa: E402
from scene import Scene  # noqa: E402
from kit import WORK  # noqa: E402

OUT = sys.argv[3]
ONLY = sys.argv[4] if len(sys.argv) > 4 else "*"


def shoot(browser, page):
    for dark in (False, True):
        browser.media(dark=dark)
        for width, height in SIZES.items():
            browser.size(width, height)
            if not page.open(browser):
                print("shots: %s does not say %r" % (page.name, page.text))
            browser.picture(os.path.join(OUT, "%s-%d-%s.png" % (page.name, width, "dark" if dark else "light")))


def empty():
    """A collector that has never heard of anybody, and one that asks who one is."""
    where = os.path.join(WORK, "empty")
    os.makedirs(where)
    with Scene(where, tokens="viewer eye %s\n" % ("v" * 40)) as scene, Browser(where, scene.collector.url) as browser:
        shoot(browser, Page("login", "/login", "Token"))
    with Scene(where) as scene, Browser(where, scene.collector.url) as browser:
        shoot(browser, Page("fleet-empty", "/#/", "agent"))
        shoot(browser, Page("silences-empty", "/#/silences", "Nothing is silenced"))
        shoot(browser, Page("alerts-empty", "/#/alerts", "nothing calls anybody"))


def main():
    with Scene(WORK) as scene:
        scene.history()
        scene.silences()
        with Browser(WORK, scene.collector.url) as browser:
            for page in pages(scene):
                if fnmatch.fnmatch(page.name, ONLY):
                    shoot(browser, page)
            for line in browser.trouble(["pods/999999"]):
                print("shots: " + line)
    if fnmatch.fnmatch("fleet-empty", ONLY):
        empty()
    print("shots: in " + OUT)


main()
