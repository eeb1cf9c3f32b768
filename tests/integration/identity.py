# SPDX-License-Identifier: Apache-2.0
"""Agents with service-account tokens: which are let in, and what becomes of one whose token ends while it is connected."""
import json
import os
import signal
import sqlite3
import ssl
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # noqa: E402
from kit import BUILD, PROGRAM, WORK, ok, until, write  # noqa: E402
from token_review import ReviewServer, make_token  # noqa: E402
from wire_client import Client, Refused  # noqa: E402

AUDIENCE = "bankfull.lab"
BANKFULL = os.path.join(BUILD, "bankfull")


def certificate():
    """One that is its own authority."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=lab", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{WORK}/key.pem",
                    "-out", f"{WORK}/cert.pem"], check=True, capture_output=True)


def token(uid, lives_s=None, **more):
    return make_token(AUDIENCE, 3600, uid, ends_s=lives_s and int(time.time() + lives_s), **more)


class Collector(kit.Collector):
    def __init__(self, name, reviewer, *options):
        own = write("own-token", "the-collectors-own-token\n")
        super().__init__(name, "--tls-cert", f"{WORK}/cert.pem", "--tls-key", f"{WORK}/key.pem", "--review-url",
                         f"https://localhost:{reviewer.port}/apis/authentication.k8s.io/v1/tokenreviews", "--review-ca",
                         f"{WORK}/cert.pem", "--review-token", own, "--audience", AUDIENCE, *options,
                         tls=ssl.create_default_context(cafile=f"{WORK}/cert.pem"))

    def attempt(self, shown):
        """Status of an upgrade, tried again while the token is being reviewed."""
        for _ in range(100):
            try:
                Client(self.port, tls=self.tls, token=shown).close()
                return 101
            except Refused as refused:
                if refused.status != 503:
                    return refused.status
            time.sleep(0.05)
        return 503

    def samples(self):
        """Of each agent id: how many samples are stored, by themselves or in rows of many; the last number; how many gaps."""
        with sqlite3.connect(f"file:{self.data}/bankfull.db?mode=ro", uri=True) as db:
            rows = db.execute("SELECT a.id, sum(n), max(last) FROM (SELECT epoch, 1 AS n, seq AS last FROM sample UNION ALL"
                              " SELECT epoch, samples, last_seq FROM chunk WHERE kind = 1) s JOIN epoch e ON e.epoch = s.epoch"
                              " JOIN agent a ON a.agent = e.agent GROUP BY s.epoch").fetchall()
            gaps = db.execute("SELECT count(*) FROM gap").fetchone()[0]
        return {row[0]: (row[1], row[2], gaps) for row in rows}


class Agent:
    """Of a process that is no JVM: it says so in each sample, and that is sent like any other."""

    def __init__(self, name, collector, shown):
        self.token = write(name + ".token", shown)
        self.log = f"{WORK}/{name}.log"
        self.target = subprocess.Popen(["sleep", "1000"])
        os.makedirs(f"{WORK}/{name}.state")
        self.process = subprocess.Popen(
            [BANKFULL, "agent", "--pid", str(self.target.pid), "--limit", "1Gi", "--interval", "1s", "--no-metrics", "--listen",
             "off", "--collector", f"wss://127.0.0.1:{collector.port}/agent", "--ca-file", f"{WORK}/cert.pem", "--token-file",
             self.token, "--state-dir", f"{WORK}/{name}.state", "--debug"],
            stdin=subprocess.DEVNULL, stdout=open(self.log, "ab"), stderr=subprocess.STDOUT)
        kit.running.extend([self.target, self.process])

    def renew(self, shown):
        write(os.path.basename(self.token), shown)

    def said(self, event):
        lines = []
        with open(self.log) as log:
            for line in log:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue
                if entry.get("event") == event:
                    lines.append(entry)
        return lines

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.target.terminate()
        return self.process.wait(20)


def who_is_allowed():
    reviewer = ReviewServer(f"{WORK}/cert.pem", f"{WORK}/key.pem")
    collector = Collector("allow", reviewer, "--allow-agents", "streaming/flink, team-*")
    ok(collector.attempt(token("uid-1")) == 101, "an account that is listed is let in")
    ok(collector.attempt(token("uid-2", namespace="team-a", account="default")) == 101, "so is one of a namespace that fits")
    n = len(reviewer.reviews)
    others = [token("uid-3", account="default"), token("uid-4", namespace="other"), token("uid-5", account="default")]
    ok([collector.attempt(other) for other in others] == [403] * 3, "others are refused with 403")
    ok(len(reviewer.reviews) == n, "and nobody is asked about them")
    said = [line for line in collector.said().splitlines() if "agent-not-allowed" in line]
    ok(len(said) == 2 and "add 'streaming/default' there" in said[0], "each account is said once, with what to do", said)
    ok(collector.metric("bankfull_collector_auth_not_allowed_total") == 3
       and collector.metric("bankfull_collector_auth_refused_total") == 3, "they are counted")
    ok(collector.attempt(token("uid-6", name="liar")) == 401, "what the API server says counts, not what the token says")
    shown = write("shown", others[0])
    done = subprocess.run([BANKFULL, "doctor", "--collector-only", "--collector", f"wss://127.0.0.1:{collector.port}/agent",
                           "--ca-file", f"{WORK}/cert.pem", "--token-file", shown], capture_output=True, text=True, timeout=60)
    ok(done.returncode == 1 and "collector.allowAgents" in done.stdout, "doctor says which setting it is",
       done.stdout + done.stderr)
    write("shown", token("uid-3", -100))
    done = subprocess.run([BANKFULL, "doctor", "--collector-only", "--collector", f"wss://127.0.0.1:{collector.port}/agent",
                           "--ca-file", f"{WORK}/cert.pem", "--token-file", shown], capture_output=True, text=True, timeout=60)
    ok(done.returncode == 1 and "has been expired for" in done.stdout and "subPath" in done.stdout,
       "doctor says of an expired token why nobody renewed it", done.stdout + done.stderr)
    collector.stop()
    collector.command[-1] = "nobody"
    collector.start()
    ok(collector.attempt(token("uid-1")) == 403, "one that was reviewed before is held to the list as well")
    collector.stop()
    for rules, part in [("Streaming", "--allow-agents: 'Streaming': no name"), ("a/b/c", "'a/b/c': no name")]:
        done = subprocess.run([*collector.command[:-1], rules], capture_output=True, text=True, timeout=30)
        ok(done.returncode == 2 and part in done.stderr, f"refused at the start: {rules}", done.stderr)
    done = subprocess.run([PROGRAM, "--listen", "127.0.0.1:0", "--data", collector.data, "--allow-agents", "a"],
                          capture_output=True, text=True, timeout=30)
    ok(done.returncode == 2 and "needs review-url" in done.stderr, "refused at the start: a list without reviews", done.stderr)
    reviewer.close()


def whole(collector, uid, least):
    """All samples of this agent are there, from the first to at least that number."""
    def look():
        n, last, gaps = collector.samples().get(uid, (0, 0, 0))
        return last >= least and n == last and not gaps and last
    return until(20, look, 0.5)


def a_token_that_ends():
    reviewer = ReviewServer(f"{WORK}/cert.pem", f"{WORK}/key.pem")
    collector = Collector("ends", reviewer)
    renewed = Agent("renewed", collector, token("uid-renewed", 60))
    stale = Agent("stale", collector, token("uid-stale", 14))
    ok(until(20, lambda: collector.metric("bankfull_collector_sessions") == 2, 0.2), "two agents are connected")
    renewed.renew(token("uid-renewed", 3600))
    ok(until(20, lambda: renewed.said("token-renewed"), 0.2), "one whose token was renewed shows it while the old one holds")
    ok(until(20, lambda: len(reviewer.reviews) >= 3, 0.2), "and it is reviewed anew")
    ok(until(20, lambda: stale.said("token-stale"), 0.2) and "subPath" in stale.said("token-stale")[0]["message"],
       "one that nobody renews is said", stale.said("token-stale"))
    ok(until(30, lambda: '"agent-denied"' in collector.said(), 0.2), "the collector closes it when it has ended")
    ok(until(20, lambda: [e for e in stale.said("collector-closed") if "4401" in e["message"]], 0.2), "and the agent says why")
    ok("uid-renewed" not in "".join(line for line in collector.said().splitlines() if "agent-denied" in line),
       "the other one is not concerned")
    seen = collector.samples().get("uid-stale", (0, 0, 0))[1]
    began = time.monotonic()
    stale.renew(token("uid-stale", 3600))
    ok(whole(collector, "uid-stale", seen + 2), "with a fresh token it is back, and no sample is missing", collector.samples())
    ok(time.monotonic() - began < 20, "long before a refused agent would come again by itself", time.monotonic() - began)
    ok(len(stale.said("token-stale")) == 1, "a stale token was said once")
    ok(whole(collector, "uid-renewed", 5), "no sample of the other one is missing", collector.samples())
    ok(not renewed.said("collector-refuses"), "and it was refused nothing worth a line", renewed.said("collector-refuses"))

    reviewer.close()
    collector.stop()
    collector.start()
    ok(until(20, lambda: collector.metric("bankfull_collector_sessions") == 2, 0.2),
       "both come back to a restarted collector while the API server is away")
    least = collector.samples()["uid-renewed"][1] + 2
    ok(whole(collector, "uid-renewed", least), "and go on", collector.samples())
    ok(renewed.end() == 0 and stale.end() == 0, "they end well")
    said = collector.said() + "".join(open(agent.log).read() for agent in (renewed, stale))
    ok("eyJ" not in said, "no token stands in any log")
    collector.stop()


def a_pod_that_is_deleted():
    """Its token is good by its own word for an hour."""
    reviewer = ReviewServer(f"{WORK}/cert.pem", f"{WORK}/key.pem")
    collector = Collector("again", reviewer, "--review-again", "10s")
    gone, stays = token("uid-gone"), token("uid-stays")
    agents = [Agent("gone", collector, gone), Agent("stays", collector, stays)]
    ok(until(20, lambda: collector.metric("bankfull_collector_sessions") == 2, 0.2), "two agents are connected")
    asked = lambda shown: len([r for r in reviewer.reviews if r["body"]["spec"]["token"] == shown])  # noqa: E731
    ok(until(30, lambda: asked(gone) >= 2 and asked(stays) >= 2, 0.2), "each is reviewed again while it is connected", (asked(gone), asked(stays)))
    ok(collector.metric("bankfull_collector_token_reviews_again_total") >= 2 and collector.metric("bankfull_collector_sessions") == 2, "and stays")
    reviewer.status = 500
    ok(until(40, lambda: collector.metric("bankfull_collector_token_review_failures_total") >= 2, 0.2)
       and collector.metric("bankfull_collector_sessions") == 2, "an API server that fails ends nothing")
    reviewer.deleted.add("uid-gone")
    reviewer.status = None
    ok(until(80, lambda: collector.metric("bankfull_collector_token_revoked_total") == 1, 0.2), "a refusal is heard")
    ok(until(10, lambda: [e for e in agents[0].said("collector-closed") if "4401" in e["message"]], 0.2), "and ends the session",
       collector.said()[-800:])
    ok(until(10, lambda: collector.metric("bankfull_collector_sessions") == 1, 0.2), "the other one's goes on")
    ok(collector.attempt(gone) == 401, "the token is refused from then on")
    reviewer.close()
    collector.stop()
    collector.start()
    ok(until(20, lambda: collector.metric("bankfull_collector_sessions") == 1, 0.2) and collector.attempt(gone) == 503,
       "also by the next run, which cannot ask, and knows the other one")
    for agent in agents:
        agent.end()
    ok("eyJ" not in collector.said(), "no token stands in the log")
    collector.stop()


if __name__ == "__main__":
    certificate()
    try:
        for test in (who_is_allowed, a_token_that_ends, a_pod_that_is_deleted):
            if len(sys.argv) > 3 and test.__name__ not in sys.argv[3:]:
                continue
            try:
                test()
            except Exception as error:  # whatever it is: the others are still run
                ok(False, test.__name__, f"{type(error).__name__}: {error} (line {error.__traceback__.tb_next.tb_lineno})")
    finally:
        kit.end_all()
    kit.finish()
