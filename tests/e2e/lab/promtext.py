# SPDX-License-Identifier: Apache-2.0
"""metrics.prom of a run: pages of the agent's /metrics, each after a line `# at_ms N`."""
import re

SERIES = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


class Page:
    def __init__(self, at_ms):
        self.at_ms = at_ms
        self.series = {}  # name: [(labels, value)]

    def all(self, name):
        return self.series.get(name, [])

    def value(self, name, **labels):
        """The first series of this name with these labels; None: there is none."""
        for have, value in self.all(name):
            if all(have.get(key) == wanted for key, wanted in labels.items()):
                return value
        return None

    def by(self, name, label):
        return {labels[label]: value for labels, value in self.all(name) if label in labels}


def pages(text):
    """In their order. A page without any series (the agent did not answer) is left out."""
    out = []
    for line in text.splitlines():
        if line.startswith("# at_ms "):
            out.append(Page(int(line.split()[2])))
            continue
        found = None if line.startswith("#") else SERIES.match(line)
        if found and out:
            name, labels, value = found.groups()
            out[-1].series.setdefault(name, []).append((dict(LABEL.findall(labels or "")), float(value)))
    return [page for page in out if page.series]
