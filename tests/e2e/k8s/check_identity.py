# SPDX-License-Identifier: Apache-2.0
"""Real bound tokens, a collector with the arguments and the rights of the chart, and real agents that show it what they have."""
import os

from bench import NAMESPACE, RELEASE, plain_pod, sidecar
from cluster import free_port, until

SPACE, NODE = "labelled", "node-1"


def pod(b, name):
    """Injected, and assigned to a node: its tokens name pod and node."""
    if not b.cluster.get("v1", "Node", NODE):
        b.cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
    thing = plain_pod(name)
    thing["spec"]["tolerations"] = [{"operator": "Exists"}]
    b.cluster.create(thing, SPACE)
    b.cluster.ask("POST", f"/api/v1/namespaces/{SPACE}/pods/{name}/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                                                                           "target": {"apiVersion": "v1", "kind": "Node", "name": NODE}})
    return b.cluster.get("v1", "Pod", name, SPACE)


def doctor(words):
    return [words[0], "doctor", "--collector-only"]


def ask(b, made, token=None, env=None):
    """What `bankfull doctor` of the sidecar says of the collector; with another token, if one is given."""
    env = dict(env or {})
    if token:
        path = os.path.join(b.where, "token")
        with open(path, "w", encoding="ascii") as f:
            f.write(token)
        env["BANKFULL_TOKEN_FILE"] = path
    process = b.hands.start(made, "bankfull", more_env=env, change=doctor)
    try:
        process.wait(40)
    finally:
        b.hands.end(process)
    return b.hands.said(process)


def taken(said):
    return "takes this agent" in said


def session(b, name):
    """Is an agent taken that nobody knew before?"""
    made = pod(b, name)
    said = ask(b, made) if sidecar(made) else ""
    b.cluster.delete("v1", "Pod", name, SPACE)
    return taken(said)


def rows(b, name):
    return [p for p in b.dashboard("/api/v1/pods")["items"] if name in (p.get("pod"), p.get("subject", {}).get("pod"))]


def connected(b, name):
    return [r for r in rows(b, name) if r["connected"]]


def an_agent(b):
    """The sidecar as the server made it, started for real."""
    made = pod(b, "tm-1")
    b.ok(made["spec"].get("nodeName") == NODE and sidecar(made), "a pod with its sidecar is assigned to a node", made)
    agent = b.hands.start(made, "bankfull", more_args=["--listen=off"])
    found = until(30, lambda: rows(b, "tm-1"))
    b.ok(found, "its agent is known to the collector", b.hands.said(agent)[-1500:] + b.hands.said(b.collector)[-1500:])
    whole = str(b.dashboard(f"/api/v1/pods/{found[0]['id']}")) if found else ""
    for what, text in (("namespace", SPACE), ("UID", made["metadata"]["uid"]), ("node", NODE)):
        b.ok(text in whole, f"by the {what} that the server knows", whole[:1000])
    b.ok(taken(ask(b, made)), "bankfull doctor in the sidecar says the same")
    return made, agent


def refusals(b, made):
    """Each by the same collector, over the same TLS."""
    audience = f"bankfull.{RELEASE}.{NAMESPACE}"
    good = b.cluster.token("default", SPACE, audience, made)
    b.ok(taken(ask(b, made, good)), "another token of the same pod is taken")
    head, body, signature = good.split(".")
    flip = "A" if signature[10] != "A" else "B"
    for name, token in (("a token for another audience", b.cluster.token("default", SPACE, "somebody-else", made)),
                        ("a token for the API server itself", b.cluster.token("default", SPACE, None, made)),
                        ("a token that is bound to no pod", b.cluster.token("default", SPACE, audience)),
                        ("a token that was changed", f"{head}.{body}.{signature[:10]}{flip}{signature[11:]}"),
                        ("no token of anybody", "this-is-no-token-of-anybody")):
        said = ask(b, made, token)
        b.ok(not taken(said) and "refuses with status 401" in said, f"{name}: 401", said)
    b.ok(good not in b.hands.said(b.collector) and signature not in b.hands.said(b.collector), "no token stands in the collector's log")


def another(b, made):
    """With the token of one pod and the name of another: it is still the one."""
    victim = pod(b, "victim")
    claims = {"BANKFULL_POD": "victim", "BANKFULL_POD_UID": victim["metadata"]["uid"], "BANKFULL_NAMESPACE": "plain", "BANKFULL_NODE": "elsewhere"}
    agent = b.hands.start(made, "bankfull", more_env=claims, more_args=["--listen=off"])
    until(20, lambda: rows(b, "tm-1"))
    until(10, lambda: "connected" in b.hands.said(agent))
    everything = str(b.dashboard("/api/v1/pods")["items"])
    b.ok(not rows(b, "victim") and victim["metadata"]["uid"] not in everything and "elsewhere" not in everything,
         "an agent that says it is another pod stays the one of its token", everything[:1500])
    b.hands.end(agent)


def outage(b, known):
    """Nobody can be asked: whom it knows, it knows, after a restart as well."""
    b.stop_collector()
    b.start_collector(instead=(b.cluster.url + "/apis", f"https://127.0.0.1:{free_port()}/apis"))
    b.ok(taken(ask(b, known["pod"], known["token"])), "the API server is away and the collector was restarted: a known agent is taken", b.hands.said(b.collector)[-1500:])
    fresh = b.cluster.token("default", SPACE, f"bankfull.{RELEASE}.{NAMESPACE}", known["pod"], 1200)
    said = ask(b, known["pod"], fresh)
    b.ok(not taken(said) and "status 503" in said, "one that is not known is asked to wait, and not refused", said)
    b.stop_collector()
    b.start_collector()
    b.ok(taken(ask(b, known["pod"], fresh)), "the server is back: it is taken")


def deleted(b, other):
    """Shown by the program of another pod, for this one has no kubelet any more that would give it its files."""
    made = pod(b, "gone")
    audience = f"bankfull.{RELEASE}.{NAMESPACE}"
    token = b.cluster.token("default", SPACE, audience, made)
    b.cluster.delete("v1", "Pod", "gone", SPACE)

    def refused():
        return "refuses with status 401" in ask(b, other, token)

    b.ok(until(30, refused, 2), "the token of a deleted pod: 401", b.hands.said(b.collector)[-1000:])
    pod(b, "gone")  # another one of that name
    b.ok(refused(), "nor is it that of the next pod of this name")
    b.cluster.delete("v1", "Pod", "gone", SPACE)


def deleted_while_connected(b):
    """A session is no longer than its pod, though its token is good for an hour by its own word."""
    b.stop_collector()
    b.start_collector(env={"BANKFULL_REVIEW_AGAIN": "10s"})
    made = pod(b, "leaves")
    agent = b.hands.start(made, "bankfull", more_args=["--listen=off"])
    b.ok(until(30, lambda: connected(b, "leaves")), "an agent is connected", rows(b, "leaves"))
    until(25, lambda: False)
    b.ok("agent-denied" not in b.hands.said(b.collector) and connected(b, "leaves"), "and stays while its pod is there, reviewed again",
         b.hands.said(b.collector)[-1000:])
    b.cluster.delete("v1", "Pod", "leaves", SPACE)
    b.ok(until(60, lambda: "agent-denied" in b.hands.said(b.collector)), "its pod is deleted: the session is ended", b.hands.said(b.collector)[-1000:])
    b.ok(until(10, lambda: not connected(b, "leaves")), "and it is shown so", rows(b, "leaves"))
    b.hands.end(agent)
    b.stop_collector()
    b.start_collector()


def allowed(b, made):
    """collector.allowAgents, with accounts that the server vouches for."""
    b.cluster.account("flink", SPACE)
    thing = plain_pod("by-flink", serviceAccountName="flink")
    b.cluster.create(thing, SPACE)
    flink = b.cluster.get("v1", "Pod", "by-flink", SPACE)
    b.upgrade("collector.allowAgents={" + SPACE + "/fl*}")
    b.ok(taken(ask(b, flink)), f"collector.allowAgents={SPACE}/fl*: a pod of the account flink is taken", b.hands.said(b.collector)[-1500:])
    said = ask(b, made)
    b.ok(not taken(said) and "status 403" in said and "agent-not-allowed" in b.hands.said(b.collector), "one of another account, that was known, is not: 403, and the log says so", said)
    b.upgrade("collector.allowAgents={other}")
    said = ask(b, flink)
    b.ok(not taken(said) and "status 403" in said, "nor one of another namespace", said)
    b.upgrade()
    b.ok(taken(ask(b, made)), "an empty list: all are")
    b.cluster.delete("v1", "Pod", "by-flink", SPACE)


def run(b):
    b.installed()
    b.start_collector()
    made, agent = an_agent(b)
    b.hands.end(agent)
    refusals(b, made)
    another(b, made)
    token = b.cluster.token("default", SPACE, f"bankfull.{RELEASE}.{NAMESPACE}", made)
    b.ok(taken(ask(b, made, token)), "a token is asked for once")
    outage(b, {"pod": made, "token": token})
    deleted(b, made)
    deleted_while_connected(b)
    allowed(b, made)
