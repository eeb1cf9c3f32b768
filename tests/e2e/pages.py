# SPDX-License-Identifier: Apache-2.0
"""Every page that the scene has, and how to know that it is there. Tests of looks go through all of them."""

SIZES = {400: 800, 1280: 900, 2560: 1440}


# What comes after the first text of a page.
PODS = "document.querySelector('.pods tbody tr') !== null"
CHART = "document.querySelector('.chart-plot canvas') !== null"


class Page:
    """name, address, a text of it and what else is there when it is whole; act(browser): what is done before it is looked at."""

    def __init__(self, name, path, text, whole="true", act=None):
        self.name, self.path, self.text, self.whole, self.act = name, path, text, whole, act

    def open(self, browser):
        browser.go(self.path)
        seen = browser.shows(self.text, 15, "body")
        browser.until("!document.querySelector('[role=status].state')")
        browser.until(self.whole, 5)
        if self.act:
            self.act(browser)
        # Two frames: what was put there is painted.
        browser.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 150)))")
        return seen


def dialog(browser):
    browser.click("button", "Silence or acknowledge")
    browser.until("document.querySelector('dialog[open] .covers')?.innerText.length > 5")


def keys(browser):
    browser.keys("?")
    browser.find("dialog[open]")


def table(browser):
    browser.click("button", "Show as table")


def pages(scene):
    """Of a scene with its history and silences."""
    api = scene.collector.api
    pods = {pod["subject"]["pod"]: pod for pod in api("/pods?limit=200")["items"]}
    worst = pods["fraud-detection-taskmanager-2-2"]
    finding = api("/findings?rule=rocksdb-over-budget")["items"][0]["id"]
    cleared = api("/findings?rule=metaspace-growth")["items"][0]["id"]
    death = api("/postmortems")["items"][0]["id"]
    return [
        Page("fleet", "/#/", "reaches its limit"),
        Page("fleet-pods", "/#/?view=pods", "reaches its limit"),
        Page("fleet-filtered", "/#/?ns=payments&severity=warning", "match"),
        Page("fleet-nothing", "/#/?q=there-is-no-such-thing", "Clear"),
        Page("workload", "/#/workloads/" + worst["workload_id"], "Who stands out", PODS),
        Page("pod", "/#/pods/" + worst["id"] + "?last=6h", "Ledger", CHART),
        Page("pod-stale", "/#/pods/" + pods["clickstream-sessions-2"]["id"] + "?last=6h", "Ledger", CHART),
        Page("pod-table", "/#/pods/" + pods["clickstream-sessions-1"]["id"] + "?last=6h", "Ledger", CHART, table),
        Page("finding", "/#/findings/" + finding, "Evidence"),
        Page("finding-cleared", "/#/findings/" + cleared, "cleared"),
        Page("silence-dialog", "/#/findings/" + finding, "Evidence", act=dialog),
        Page("postmortem", "/#/postmortems/" + death, "Who grew", CHART),
        Page("silences", "/#/silences", "OPS-411"),
        Page("alerts", "/#/alerts", "rocksdb-over-budget"),
        Page("keys", "/#/", "reaches its limit", act=keys),
        Page("not-here", "/#/pods/999999", "Not here"),
        Page("docs", "/docs/", "Bankfull"),
        Page("rule", "/docs/rules/rocksdb-over-budget", "rocksdb-over-budget"),
    ]
