# SPDX-License-Identifier: Apache-2.0
"""See watch.sh.    watch.py BUILD DIRECTORY"""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # noqa: E402
from kit import WORK, finish, ok, until  # noqa: E402

BUILD = os.path.abspath(kit.BUILD)
BANKFULL = os.path.join(BUILD, "bankfull")
children = []


# --- a JVM ------------------------------------------------------------------------------------------------------------

SOURCE = """public class Still {
    static byte[][] held = new byte[80][];
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < held.length; i++) held[i] = new byte[1 << 20];
        System.gc();
        System.out.println("ready");
        Thread.sleep(600000);
    }
}
"""


def jvm():
    process = subprocess.Popen(["java", "-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:NativeMemoryTracking=summary", "-cp",
                                WORK, "Still"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    children.append(process)
    process.stdout.readline()
    return process


# --- terminals ----------------------------------------------------------------------------------------------------------

class Pane:
    """A command in a terminal of tmux, which says afterwards how it ended and what the terminal is like."""
    n = 0

    def __init__(self, command, columns=80, rows=24, **env):
        Pane.n += 1
        self.out = os.path.join(WORK, "pane-%d" % Pane.n)
        settings = {"LC_ALL": "C.UTF-8", "TERM": "screen", **env}
        script = "stty -a >%s.before; env %s %s; echo $? >%s.status; stty -a >%s.after; sleep 600" % (
            self.out, " ".join("%s=%s" % pair for pair in settings.items()), command, self.out, self.out)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", "p%d" % Pane.n, "-x", str(columns), "-y", str(rows),
                  "/bin/bash -c '%s'" % script)
        self.name = "p%d" % Pane.n

    @staticmethod
    def tmux(*args):
        return subprocess.run(["tmux", "-u", "-S", SOCKET, *args], capture_output=True, timeout=20, check=True,
                              env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout.decode()

    def screen(self):
        return self.tmux("capture-pane", "-p", "-t", self.name)

    def shows(self, *parts, seconds=20):
        return until(seconds, lambda: all(part in self.screen() for part in parts), 0.1)

    def keys(self, *keys):
        self.tmux("send-keys", "-t", self.name, *keys)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-t", self.name, "-x", str(columns), "-y", str(rows))

    def pid(self):
        """Of bankfull-watch: the child of the pane's shell."""
        shell = self.tmux("display-message", "-p", "-t", self.name, "#{pane_pid}").strip()
        return int(subprocess.run(["ps", "-o", "pid=", "--ppid", shell], capture_output=True, text=True).stdout.split()[0])

    def reader(self):
        return int(subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.pid())], capture_output=True,
                                  text=True).stdout.split()[0])

    def status(self):
        path = self.out + ".status"
        if not until(10, lambda: os.path.exists(path) and open(path).read()):
            return None
        return int(open(path).read())

    def as_it_was(self):
        until(5, lambda: os.path.exists(self.out + ".after") and open(self.out + ".after").read())
        flags = [re.sub(r"(rows|columns) \d+;", "", open(self.out + end).read()) for end in (".before", ".after")]
        return flags[0] == flags[1]


def command(target, *options):
    return " ".join([BANKFULL, "watch", "--pid", str(target.pid), "--limit", "700m", "--interval", "1s", *options])


# --- what it shows --------------------------------------------------------------------------------------------------------

def row(text, owner):
    found = re.search(r"^\s*%s +([0-9.]+ [KMGT]?i?B)" % owner, text, re.M)
    return found.group(1) if found else None


def figures(target):
    pane = Pane(command(target), 100, 40)
    ok(pane.shows("java-heap", "thread-stacks", seconds=30), "owners are there after the first scan", pane.screen())

    def same():
        report = subprocess.run([BANKFULL, "report", "--pid", str(target.pid), "--limit", "700m"], capture_output=True,
                                text=True, timeout=60).stdout
        screen = pane.screen()
        owners = ("java-heap", "thread-stacks", "code-cache", "gc", "metaspace", "jvm-cds", "library-data")
        report_figures = {owner: row(report, owner) for owner in owners}
        screen_figures = {owner: row(screen, owner) for owner in owners}
        same.why = (report_figures, screen_figures)
        return report_figures == screen_figures and all(report_figures.values())
    ok(until(40, same), "its figures are the report's", same.why)
    ok("limit 700.0 MiB (told)" in pane.screen(), "the limit that it was told", pane.screen())
    return pane


def keys(pane):
    pane.keys("Tab")
    ok(pane.shows("[findings"), "Tab goes to the findings", pane.screen())
    pane.keys("Enter")
    ok(pane.shows("seen", "validate", "Esc back"), "Enter opens one whole", pane.screen())
    pane.keys("Escape")
    ok(pane.shows("[findings", "q quit"), "Esc goes back", pane.screen())
    pane.keys("1")
    ok(pane.shows("Esc back"), "a number opens it, too", pane.screen())
    pane.keys("Tab")
    ok(pane.shows("[events", "watching process"), "events", pane.screen())
    pane.keys("Tab", "s", "s")
    ok(pane.shows("by name"), "s sorts", pane.screen())
    pane.keys("?")
    ok(pane.shows("what the kernel cannot take back"), "? explains", pane.screen())
    pane.keys("?", "p")
    ok(pane.shows("PAUSED", "java-heap"), "p pauses", pane.screen())
    pane.keys("p", "s")
    ok(pane.shows("live", "by bytes"), "and p again goes on", pane.screen())
    pane.keys("r")
    ok(pane.shows("asking JVM and engine", seconds=10) or pane.shows("OWNER (0 s", seconds=10),
       "r reads again now", pane.screen())


def sizes(pane):
    pane.resize(20, 5)
    ok(pane.shows("free ", "java-heap", "q quit"), "20 x 5 has what matters", pane.screen())
    pane.resize(200, 50)
    ok(pane.shows("[owners]", "findings", "events", "time to limit"), "200 x 50 has all of it at once", pane.screen())
    pane.resize(80, 24)
    ok(pane.shows("q quit", "[owners]"), "and 80 x 24 again", pane.screen())
    ok(all(len(line) <= 80 for line in pane.screen().splitlines()), "no line is longer", pane.screen())


def trouble(pane):
    reader = pane.reader()
    os.kill(reader, signal.SIGSTOP)
    ok(pane.shows("STALE", "no reading for", seconds=25), "a reader that hangs is told of", pane.screen())
    pane.keys("?")
    ok(pane.shows("what the kernel cannot take back", seconds=3), "and keys are answered meanwhile", pane.screen())
    pane.keys("?")
    os.kill(reader, signal.SIGCONT)
    ok(pane.shows("live", seconds=10), "it goes on", pane.screen())
    os.kill(reader, signal.SIGKILL)
    ok(pane.shows("ended by signal 9", seconds=5), "a reader that fell is told of", pane.screen())
    ok(until(20, lambda: "ended by signal" not in pane.screen() and "java-heap" in pane.screen()),
       "and started again", pane.screen())


def death(pane, target):
    target.kill()
    target.wait()
    ok(pane.shows("the JVM has ended", seconds=10), "a JVM that is killed is told of", pane.screen())
    pane.keys("Tab", "Tab")
    ok(pane.shows("has ended:"), "with the verdict among the events", pane.screen())
    pane.keys("q")
    ok(pane.status() == 0 and pane.as_it_was(), "q ends it with 0, and the terminal is as it was")


# --- how it ends ------------------------------------------------------------------------------------------------------------

def ends(target):
    for name, number, wanted in (("SIGTERM", signal.SIGTERM, 143), ("SIGINT", signal.SIGINT, 0),
                                 ("SIGHUP", signal.SIGHUP, 129), ("SIGSEGV", signal.SIGSEGV, 139)):
        pane = Pane(command(target))
        pane.shows("time to limit")
        readers = pane.reader()
        os.kill(pane.pid(), number)
        status = pane.status()
        ok(status == wanted and pane.as_it_was(), "%s: the terminal is as it was" % name, (status, pane.screen()))
        ok(until(5, lambda: not os.path.exists("/proc/%d" % readers)), "%s: and no reader is left" % name)
    pane = Pane(command(target))
    pane.shows("time to limit")
    pane.keys("C-c")
    ok(pane.status() == 0 and pane.as_it_was(), "Ctrl-C ends it")
    pane = Pane(command(target))
    pane.shows("time to limit")
    pane.keys("C-s")
    time.sleep(1.5)
    os.kill(pane.pid(), signal.SIGTERM)
    ok(pane.status() is not None, "a terminal that takes nothing (Ctrl-S) does not keep it", pane.screen())


def stops(target):
    """A shell with job control: Ctrl-Z, then fg."""
    Pane.n += 1
    name = "p%d" % Pane.n
    Pane.tmux("-f", "/dev/null", "new-session", "-d", "-s", name, "-x", "80", "-y", "24",
              "env PS1=prompt: LC_ALL=C.UTF-8 TERM=screen /bin/bash --norc -i")
    pane = Pane.__new__(Pane)
    pane.name = name
    pane.keys(command(target), "Enter")
    pane.shows("time to limit")
    pane.keys("C-z")
    ok(pane.shows("Stopped"), "Ctrl-Z stops it, and the shell is there", pane.screen())
    pane.keys("echo it is $((6*7))", "Enter")
    ok(pane.shows("it is 42"), "on a terminal as it was", pane.screen())
    pane.keys("fg", "Enter")
    ok(pane.shows("time to limit", "q quit"), "fg paints it again", pane.screen())
    pane.keys("q")
    pane.keys("echo it is $((7*7))", "Enter")
    ok(pane.shows("it is 49"), "q after that", pane.screen())


# --- other terminals ------------------------------------------------------------------------------------------------------

def terminals(target):
    for name in ("vt100", "xterm", "xterm-256color", "linux"):
        pane = Pane(command(target), TERM=name)
        ok(pane.shows("time to limit", "[owners]"), "TERM=%s" % name, pane.screen())
        pane.keys("q")
        ok(pane.status() == 0, "TERM=%s: q" % name)
    pane = Pane(command(target), LC_ALL="C", NO_COLOR="1")
    pane.shows("java-heap", seconds=30)
    screen = pane.screen()
    ok("time to limit" in screen and all(ord(c) < 127 for c in screen) and "####" in screen,
       "without UTF-8 it is all ASCII", screen)
    pane.keys("q")
    for name in ("dumb", "nonsense-1", ""):
        pane = Pane(command(target), 100, 40, TERM=name)
        ok(pane.shows("a picture each", "time to limit", seconds=20), "TERM=%s is written on plainly" % name, pane.screen())
        pane.keys("q", "Enter")
        ok(pane.status() == 0, "TERM=%s: q and Enter end it" % name, pane.screen())


def refusals(target):
    run = subprocess.run([BANKFULL, "watch", "--pid", str(target.pid)], capture_output=True, text=True, timeout=20,
                         stdin=subprocess.DEVNULL)
    ok(run.returncode == 2 and run.stdout == "" and run.stderr == "bankfull watch: watch needs a terminal: use bankfull report\n",
       "no terminal: one clear line", run)
    pane = Pane(BANKFULL + " watch --pid 4194303 --limit 700m")
    ok(pane.status() == 3 and "no process 4194303" in pane.screen(), "no such process: an ordinary line", pane.screen())
    pane = Pane(BANKFULL + " watch --interval 1ms")
    ok(pane.status() == 2 and "is not between 1s and 1m" in pane.screen(), "an interval of nothing", pane.screen())
    alone = os.path.join(WORK, "alone")
    os.mkdir(alone)
    shutil.copy(BANKFULL, alone)
    run = subprocess.run([os.path.join(alone, "bankfull"), "watch"], capture_output=True, text=True, timeout=20,
                         env={"PATH": "/nowhere"})
    ok(run.returncode == 2 and "bankfull-watch is neither beside this program nor in PATH" in run.stderr and
       run.stderr.count("\n") == 1, "without its program it says what is missing", run)
    run = subprocess.run([os.path.join(alone, "bankfull"), "watch", "--help"], capture_output=True, text=True, timeout=20,
                         env={"PATH": BUILD})
    ok(run.returncode == 0 and "usage: bankfull watch" in run.stdout, "and finds it in PATH", run)


def hangup(target):
    """The terminal goes away: whoever held it has ended."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
        os.execv(BANKFULL, command(target).split())
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    seen = b""
    while b"freeboard" not in seen and select.select([fd], [], [], 20)[0]:
        seen += os.read(fd, 65536)
    os.close(fd)
    ended = until(10, lambda: os.waitpid(pid, os.WNOHANG)[0] == pid)
    ok(ended, "a terminal that goes away ends it")
    if not ended:
        os.kill(pid, signal.SIGKILL)


def main():
    with open(os.path.join(WORK, "Still.java"), "w", encoding="ascii") as file:
        file.write(SOURCE)
    subprocess.run(["javac", "-d", WORK, file.name], check=True, timeout=120)
    target = jvm()
    pane = figures(target)
    keys(pane)
    sizes(pane)
    trouble(pane)
    terminals(target)
    ends(target)
    stops(target)
    hangup(target)
    refusals(target)
    death(pane, target)


# A path of a socket has 107 bytes at most, and TMPDIR may be long.
directory = tempfile.mkdtemp(prefix="bw", dir="/tmp")
SOCKET = os.path.join(directory, "s")
try:
    main()
finally:
    subprocess.run(["tmux", "-S", SOCKET, "kill-server"], capture_output=True, timeout=20, check=False)
    for child in children:
        child.kill()
    shutil.rmtree(directory, ignore_errors=True)
finish()
