# SPDX-License-Identifier: Apache-2.0
"""lab_scenario.py DIRECTORY: what tests/e2e/lab/keys.py, scenario.py and prove refuse. TAP; no guest is started."""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
LAB = os.path.join(TOP, "tests", "e2e", "lab")
sys.path[:0] = [HERE, LAB]
import keys  # noqa: E402
import lab_tap  # noqa: E402
import owners  # noqa: E402
import scenario as scenarios  # noqa: E402
from lab_tap import ok  # noqa: E402

WORK = sys.argv[1]

GOOD = """
title = "native memory leaks"
kind = "warn"
limit = "256M"
minutes = 40
[workload]
engine = "probe"
options = ["--gc", "Serial"]
[workload.instrumented]
jvm = ["-Xms8m"]
[truth]
owner = "native-other"
group = "native"
grows_percent_per_minute = 3.0
[[expect]]
rule = "limit-forecast"
owner = "native-other"
before = "limit"
[[action]]
at_s = 10
do = ["wait 5", "limit 192M"]
[expect_death]
cause = "container-limit"
killed = "main"
"""


def read(text):
    """(the scenario, or None; its file; what was said)"""
    folder = tempfile.mkdtemp(dir=WORK)
    os.mkdir(os.path.join(folder, "made"))
    path = os.path.join(folder, "made", "scenario.toml")
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    try:
        return scenarios.Scenario("made", folder), path, ""
    except scenarios.Wrong as error:
        return None, path, str(error)


def refused(old, new, *wanted):
    """With this changed, and nothing else, it is refused in one line that has its file, its key and these words."""
    assert old in GOOD, old
    _, path, said = read(GOOD.replace(old, new, 1))
    ok(said.startswith(f"{path}: ") and "\n" not in said and said.count("; ") == 0 and all(want in said for want in wanted),
       f"refused: {new.splitlines()[0] if new else 'without ' + old.strip()}", said or "it was taken")


def keys_and_values():
    made, _, said = read(GOOD)
    ok(made and made.options("instrumented", "jvm") == ["-Xms8m"], "one that is right is taken", said)
    for old, new, *wanted in (
            ("limit =", "limt =", "limt: no such key", "is it limit?"), ('kind = "warn"', 'kind = "wran"', "kind: must be one of"),
            ('kind = "warn"\n', "", "kind: wanted"), ('title = "native memory leaks"', "title = 7", "title: must be a text"),
            ('"256M"', '"256 MB"', "limit: must be a size"), ('"256M"', "256", "limit: must be a size"),
            ("minutes = 40", 'minutes = "40"', "minutes: must be a number"), ("minutes = 40", "minutes = 0", "minutes:"),
            ("minutes = 40", "minutes = nan", "minutes:"), ("minutes = 40", "minutes = 4\nmem_mib = true", "mem_mib:"),
            ("minutes = 40", 'profiles = ["as-fuond"]', "profiles: 'as-fuond'"), ("minutes = 40", "profiles = []", "profiles:"),
            ("minutes = 40", 'smoke = "sometimes"', "smoke:"), ("minutes = 40", 'tmpfs = "cache"', "tmpfs:"),
            ("minutes = 40", "env = { A = 1 }", "env:"), ("minutes = 40", 'machine = "kvm"', "machine:"),
            ("minutes = 40", 'own_kernel = "yes"', "own_kernel: must be true or false"), ("minutes = 40", 'script = "nothing.py"', "script:")):
        refused(old, new, *wanted)


def tables():
    for old, new, *wanted in (
            ("[workload]", "[[workload]]", ""), ('"probe"', '"probes"', "workload.engine"), ('engine = "probe"\n', "", "workload: wants engine"),
            ('["--gc", "Serial"]', '"--gc Serial"', "workload.options: must be a list"), ('["--gc", "Serial"]', '["--gc", 1]', "workload.options"),
            ("[workload.instrumented]", "[workload.instrumentd]", "workload.instrumentd: no such key"),
            ('jvm = ["-Xms8m"]', 'jmv = []', "workload.instrumented.jmv"),
            ('owner = "native-other"', 'owner = "native-othr"', "truth.owner", "is it native-other?"),
            ('owner = "native-other"', 'owner = ["native-other", "rocks"]', "truth.owner: 'rocks'"),
            ('group = "native"', 'group = "natives"', "truth.group: must be one of"), ("3.0", "-3.0", "truth.grows_percent_per_minute"),
            ('group = "native"', 'compare = "grwoth"', "truth.compare"),
            ('rule = "limit-forecast"', 'rule = "limit-forcast"', "expect 1.rule", "is it limit-forecast?"),
            ('rule = "limit-forecast"\n', "", "expect 1: wants rule"), ('before = "limit"', 'severity = "grave"', "expect 1.severity"),
            ('before = "limit"', 'bfore = "kill"', "expect 1.bfore", "is it before?"), ('before = "limit"', 'before = "kil"', "no event 'kil'"),
            ('before = "limit"', 'after = "action 2"', "no event 'action 2'"), ("[[expect]]", "[expect]", "expect: must be [[expect]]"),
            ('"container-limit"', '"contaner-limit"', "expect_death.cause"), ('killed = "main"', 'killed = "all"', "expect_death.killed"),
            ('killed = "main"', 'count = -1', "expect_death.count"), ('killed = "main"', 'findings = ["none-such"]', "expect_death.findings")):
        refused(old, new, *wanted)


def what_happens():
    for step, said in (("limt 192M", "is it limit?"), ("limit", "missing"), ("limit 1 2", "too many"), ("limit 192 MB", "too many"),
                       ("limit little", "must be a size"), ("signal agent TREM", "TREM"), ("signal all KILL", "all must be"),
                       ("link left", "must be one of up, down"), ("start 'python3", "quotation"), ("wait long", "wait takes seconds"),
                       ("collector rest", "must be one of"), ("engine run", "must be one of"), ("", "must be a step")):
        refused('"limit 192M"', f'"{step}", "limit 192M"', "action 1.do", said)
    refused("at_s = 10\n", "", "action 1: wants one of at_s")
    refused("at_s = 10", "at_s = 10\nafter_kill_s = 5", "action 1: wants one of at_s")
    refused("at_s = 10", 'at_s = "ten"', "action 1.at_s: must be seconds")


def beside_the_rest():
    refused('kind = "warn"', 'kind = "death"\nscript = ""', "script: must be a text")
    refused('kind = "warn"', 'kind = "access"', "script: wanted for kind access")
    for kind, gone, wanted in (("death", "expect_death", "expect_death: wanted"), ("silent", "workload", "workload: wanted"),
                               ("silent", "limit", "limit: wanted")):
        raw = {**scenarios.tomllib.loads(GOOD), "kind": kind}
        del raw[gone]
        ok([one.startswith(wanted) for one in keys.faults(raw)] == [True], f"a {kind} one without {gone}", keys.faults(raw))
    raw = {key: value for key, value in scenarios.tomllib.loads(GOOD).items() if key not in ("truth", "expect")}
    ok("judged by nothing" in " ".join(keys.faults(raw)), "one that would be judged by nothing", keys.faults(raw))
    several = keys.faults(scenarios.tomllib.loads(GOOD.replace("limit =", "limt =").replace("minutes = 40", "minutes = -1")))
    ok(len(several) == 2, "all that is wrong is told at once", several)


def files():
    for name, text in (("half a file", GOOD[:40]), ("no text", b"\xff\xfe\x00"), ("a key that stands twice", GOOD + 'killed = "main"\n'), ("nothing", "")):
        _, path, said = read(text)
        ok(said.startswith(f"{path}: ") and "\n" not in said, f"refused: {name}", said)


def names_are_the_products():
    """Owners, causes and words are kept here as well: they must be those of the agent and of the README."""
    def source(*parts):
        with open(os.path.join(TOP, *parts), encoding="utf-8") as file:
            return file.read()
    there = set(re.findall(r'\[OWNER_\w+\] = \{ "([a-z-]+)"', source("src", "ledger", "owners.c")))
    ok(set(owners.OWNERS) == there and len(owners.OWNERS) == len(there), "the owners are the ledger's", set(owners.OWNERS) ^ there)
    table = source("src", "ledger", "death.c").partition("death_cause_names")[2].partition("{")[2].partition("}")[0]
    ok(set(re.findall(r'"([a-z-]+)"', table)) == set(keys.CAUSES), "the causes are the post-mortem's", table)
    ok(set(re.findall(r'^\t\{ "([a-z-]+)", "', source("src", "rules", "table.c"), re.M)) <= set(keys.RULES), "each rule is known")
    readme = source("tests", "e2e", "lab", "README.md")
    unsaid = [key for key in (*keys.KEYS, *keys.TABLES) if f"`{key}`" not in readme and f"[{key}]" not in readme]
    ok(not unsaid, "the README has each key", unsaid)
    example = readme.partition("```toml\n")[2].partition("```")[0]
    made, _, said = read(example)
    ok(made, "the README's example is taken", said)


def prove(*arguments, **environment):
    done = subprocess.run([os.path.join(LAB, "prove"), *arguments], capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, "BUILD": "/nonexistent", **environment})
    return done.returncode, done.stdout, done.stderr


def what_prove_is_asked_for():
    for arguments, said in ((["nosuch"], "no scenario 'nosuch'"), (["nativ-leak"], "is it native-leak?"), ([""], "no scenario ''"),
                            (["idle."], "not run in a profile ''"), (["idle.found"], "not run in a profile 'found'"),
                            (["harmless.instrumented"], "but in as-found"), (["../scenarios/idle"], "no scenario"),
                            (["-j", "-1"], "-j takes"), (["--smoke", "idle"], "--smoke")):
        status, out, err = prove(*arguments)
        ok(status == 2 and not out and err.count("\n") == 1 and said in err, f"refused: prove {' '.join(arguments) or repr('')}", f"{status} {out}{err}")
    for name, value, good in (("LAB_LONG", "yes", False), ("LAB_LONG", "-1", False), ("MACHINE", "vm", False), ("LAB_LONG", "0", True),
                              ("LAB_LONG", "1", True), ("LAB_LONG", "", True), ("MACHINE", "uml", True)):
        status, out, err = prove("--list", "idle", **{name: value})
        ok((status == 0 and out.startswith("idle ") and not err) if good else (status == 2 and not out and err.count("\n") == 1 and name in err),
           f"{name}={value}: {'taken' if good else 'refused'}", f"{status} {out}{err}")
    status, _, err = prove("idle")
    ok(status == 3 and "make first" in err, "without a build there is nothing to prove", f"{status} {err}")
    status, out, _ = prove("--list")
    ok(status == 0 and len(out.splitlines()) == len(scenarios.names()), "what there is, is listed")


def long_or_not():
    made, _, _ = read(GOOD.replace("minutes = 40", "minutes = 4\nlong_minutes = 9"))
    for said, minutes in (("", 4), ("0", 4), ("1", 9)):
        os.environ["LAB_LONG"] = said
        ok(made.minutes() == minutes, f"LAB_LONG={said}: {minutes} minutes", made.minutes())
    del os.environ["LAB_LONG"]


for test in (keys_and_values, tables, what_happens, beside_the_rest, files, names_are_the_products, what_prove_is_asked_for, long_or_not):
    test()
sys.exit(lab_tap.bad)
