# SPDX-License-Identifier: Apache-2.0
"""
Chromium as packaged, without a screen, and all that it complains about.

    with Browser(work, origin) as b:    b.go('/#/alerts'); b.until('...'); b.clean('the walk', expect=[...])

A test that ends has looked at three things in clean(): the console (an error or a violation of the policy is there), where
requests went (nowhere but to the origin), and which of them failed (none but the expected).
"""
import json
import os
import re
import shutil
import sys
import tempfile
import time
import urllib.parse

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "integration"))
from kit import ok  # noqa: E402

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
KEYS = {"Tab": Keys.TAB, "Enter": Keys.ENTER, "Escape": Keys.ESCAPE, "Shift": Keys.SHIFT}

# What a page would not show by itself. `pwned` is what hostile names try to call.
WATCH = """
window.__violations = [];
document.addEventListener('securitypolicyviolation', (e) => {
    window.__violations.push(e.violatedDirective + ' ' + e.blockedURI);
    console.error('policy violated: ' + e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sourceFile + ':' + e.lineNumber);
});
window.addEventListener('unhandledrejection', (e) => console.error('unhandled rejection: ' + (e.reason?.stack ?? e.reason)));
window.pwned = () => { window.__pwned = true; console.error('pwned'); };
"""


class Browser:
    def __init__(self, work, origin, width=1280, height=900):
        self.origin, self.profile = origin, tempfile.mkdtemp(prefix="profile.", dir=work)
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        arguments = ["--headless=new", "--user-data-dir=" + self.profile, "--no-first-run", "--disable-background-networking",
                     "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage", "--disable-gpu",
                     "--lang=en-GB", "--force-device-scale-factor=1", "--window-size=%d,%d" % (width, height),
                     "--hide-scrollbars", "--enable-precise-memory-info", "--js-flags=--expose-gc", "--no-proxy-server"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # Chromium's refuses to run as root
        for argument in arguments:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        options.add_experimental_option("perfLoggingPrefs", {"enableNetwork": True, "enablePage": False})
        self.service = Service(DRIVER, log_path=os.path.join(work, "chromedriver.log"))
        self.driver = webdriver.Chrome(service=self.service, options=options)
        self.driver.set_script_timeout(60)
        self.driver.set_page_load_timeout(60)
        self.driver.get("about:blank")
        self.console, self.network = [], []
        self.collect()
        self.console, self.network = [], []  # of the browser's own first page
        self.cdp("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        self.size(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.driver.quit()
        except WebDriverException:
            pass
        shutil.rmtree(self.profile, ignore_errors=True)

    def cdp(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    # --- how it looks ---

    def size(self, width, height=900):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, dark=False, reduced=False, forced=False):
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced else "no-preference"},
            {"name": "forced-colors", "value": "active" if forced else "none"}])

    def picture(self, path, whole=True, most=6000):
        """The page as a PNG, all of its height (at most `most` pixels of it)."""
        import base64
        size = self.js("return [document.documentElement.clientWidth, Math.max(innerHeight, document.documentElement.scrollHeight)]")
        clip = {"clip": {"x": 0, "y": 0, "width": size[0], "height": min(most, size[1]), "scale": 1}} if whole else {}
        shot = self.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **clip)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    # --- what is there ---

    def go(self, path):
        """A new load, also where only what stands behind # differs."""
        self.driver.get("about:blank")
        self.driver.get(self.origin + path)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector="main"):
        return self.js("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def hash(self):
        return self.js("return location.hash")

    def until(self, condition, seconds=10.0):
        """A JavaScript expression, or a Python function, until it is true; what it was at last."""
        end = time.monotonic() + seconds
        while True:
            try:
                value = condition() if callable(condition) else self.js("return (%s)" % condition)
            except WebDriverException as error:  # between two pages
                value = None
                if time.monotonic() > end:
                    raise error
            if value or time.monotonic() > end:
                return value
            time.sleep(0.05)

    def shows(self, text, seconds=10.0, selector="main"):
        return self.until(lambda: text in self.text(selector), seconds)

    def find(self, selector, text=None, seconds=10.0):
        """The first visible element that matches and has this text."""
        return self.until(lambda: self.js(
            "return [...document.querySelectorAll(arguments[0])].find((e) => e.getClientRects().length &&"
            " (arguments[1] === null || e.innerText.includes(arguments[1]))) ?? null", selector, text), seconds)

    def click(self, selector, text=None, seconds=10.0):
        """As a person does: where the middle of it is. A live page may exchange it in between, so it is tried again."""
        end = time.monotonic() + seconds
        while True:
            element = self.find(selector, text, max(0.1, end - time.monotonic()))
            try:
                if element is None:
                    raise AssertionError("there is no %s %r in: %s" % (selector, text, self.text("body")[:600]))
                element.click()
                return
            except WebDriverException as error:
                if time.monotonic() > end:
                    raise AssertionError("%s %r cannot be clicked: %s" % (selector, text, str(error)[:300])) from None
                time.sleep(0.1)

    def keys(self, *keys):
        """Letters, or names of KEYS, to whatever has the focus; ("Shift", "Tab") together."""
        for key in keys:
            chain = webdriver.ActionChains(self.driver)
            if isinstance(key, tuple):
                chain.key_down(KEYS[key[0]]).send_keys(KEYS.get(key[1], key[1])).key_up(KEYS[key[0]])
            else:
                chain.send_keys(KEYS.get(key, key))
            chain.perform()

    def focused(self):
        """What has the focus, in words."""
        return self.js("const e = document.activeElement; return e ? (e.tagName.toLowerCase() + (e.id ? '#' + e.id : '') + ' ' +"
                       " (e.getAttribute('aria-label') ?? e.innerText ?? '').slice(0, 60).replace(/\\s+/g, ' ')).trim() : ''")

    def tab_to(self, selector, text=None, most=80, back=False):
        """By the Tab key alone."""
        for _ in range(most):
            self.keys(("Shift", "Tab") if back else "Tab")
            if self.js("const e = document.activeElement; return e.matches(arguments[0]) &&"
                       " (arguments[1] === null || e.innerText.includes(arguments[1]))", selector, text):
                return True
        return False

    def heap_bytes(self):
        """Of the scripts, of the documents (Blink's objects), and buffers."""
        self.cdp("HeapProfiler.collectGarbage")
        usage = self.cdp("Runtime.getHeapUsage")
        return usage["usedSize"] + usage.get("embedderHeapUsedSize", 0) + usage.get("backingStorageSize", 0)

    # --- what it complains about ---

    def collect(self):
        self.console += self.driver.get_log("browser")
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"].startswith("Network."):
                self.network.append(message)

    def requests(self):
        return [m["params"]["request"]["url"] for m in self.network if m["method"] == "Network.requestWillBeSent"]

    def trouble(self, expect=()):
        """Everything that should not have been, since the last time."""
        self.collect()
        urls, out = {}, []
        for message in self.network:
            method, p = message["method"], message["params"]
            if method == "Network.requestWillBeSent":
                urls[p["requestId"]] = p["request"]["url"]
                out += self.foreign(p["request"]["url"])
            elif method == "Network.webSocketCreated":
                urls[p["requestId"]] = p["url"]
                out += self.foreign(p["url"].replace("ws", "http", 1))
            elif method == "Network.responseReceived" and p["response"]["status"] >= 400:
                out.append("answered %d: %s" % (p["response"]["status"], p["response"]["url"]))
            elif method == "Network.loadingFailed" and not p.get("canceled") and p["errorText"] != "net::ERR_ABORTED":
                out.append("failed: %s %s" % (p["errorText"], urls.get(p["requestId"])))
        out += ["console: %s" % entry["message"] for entry in self.console if entry["level"] in ("SEVERE", "WARNING")]
        self.console, self.network = [], []
        return [line for line in out if not any(re.search(pattern, line) for pattern in expect)]

    def foreign(self, url):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme in ("data", "blob", "about") or "%s://%s" % (parts.scheme, parts.netloc) == self.origin:
            return []
        return ["another origin: " + url]

    def clean(self, name, expect=()):
        violations = self.js("return window.__violations ?? []")
        left = self.trouble(expect) + ["violation: " + v for v in violations]
        ok(not left, name + ": no error, no violation, no other origin, no failed request", "\n".join(left))
