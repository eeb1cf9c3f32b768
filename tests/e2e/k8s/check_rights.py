# SPDX-License-Identifier: Apache-2.0
"""
Every right that the chart gives is taken away in turn, and what needs it fails: the real programs, as the real accounts. A right that no
scene below needs is one too many, and fails as well.
"""
import base64
import copy

from cluster import Failed, until

SPACE = "rights"
RBAC = "rbac.authorization.k8s.io/v1"


def split(rules):
    """One rule for each verb of each resource."""
    return [(verb, resource, {"apiGroups": [group], "resources": [resource], "verbs": [verb], **({"resourceNames": r["resourceNames"]} if "resourceNames" in r else {})})
            for r in rules for group in r.get("apiGroups", []) for resource in r.get("resources", []) for verb in r["verbs"]]


class Role:
    def __init__(self, b, role, binding):
        self.b, self.role = b, copy.deepcopy(role)
        self.kind, self.name = role["kind"], role["metadata"]["name"]
        self.subject = binding["subjects"][0]["name"]
        self.rules = split(role["rules"])
        for thing in (role, binding):
            thing = copy.deepcopy(thing)
            thing["metadata"].pop("annotations", None)
            b.cluster.create(thing, SPACE)

    def give(self, left_out=None):
        """All of it but one; the authorizer has heard of it when this returns."""
        rules = [rule for verb, resource, rule in self.rules if (verb, resource) != left_out]
        status, said = self.b.cluster.patch(RBAC, self.kind, self.name, SPACE, {"rules": rules})
        if status != 200:
            raise Failed(f"{self.kind} {self.name}: {said.get('message')}")
        for verb, resource, rule in self.rules:
            want = (verb, resource) != left_out
            name = rule.get("resourceNames", [""])[0]
            if not until(10, lambda: self.b.cluster.may(self.subject, SPACE, verb, resource, rule["apiGroups"][0], name) == want):
                raise Failed(f"{self.kind} {self.name}: {verb} {resource} is still {'refused' if want else 'granted'}")


class Scenes:
    """Each leaves True where the program did what it is there for."""

    def __init__(self, b, things):
        self.b = b
        self.jobs = {t["metadata"]["name"].rsplit("-", 2)[-2]: t for t in things if t["kind"] == "Job"}
        self.said = ""

    def program(self, hook):
        job = self.jobs[hook]
        pod = self.b.hands.pod_of({"metadata": {"namespace": SPACE}}, job["spec"]["template"], f"{hook}-tls")
        status, pod = self.b.cluster.create(pod, SPACE)
        if status != 201:
            raise Failed(f"the pod of {hook}: {pod.get('message')}")
        code, self.said = self.b.hands.run(pod)
        self.b.cluster.delete("v1", "Pod", f"{hook}-tls", SPACE)
        return code == 0

    def secret(self):
        found = self.b.cluster.get("v1", "Secret", "bankfull-ca", SPACE)
        return found and base64.b64decode(found["data"]["ca.crt"]).decode()

    def config(self):
        found = self.b.cluster.get("v1", "ConfigMap", "bankfull-ca", SPACE)
        return found and found["data"]["ca.crt"]

    def put(self, secret, config):
        for kind in ("Secret", "ConfigMap"):
            self.b.cluster.delete("v1", kind, "bankfull-ca", SPACE)
        if secret:
            self.b.cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bankfull-ca"}, "data": secret}, SPACE)
        if config:
            self.b.cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "bankfull-ca"}, "data": {"ca.crt": config}}, SPACE)

    def fresh(self):
        """Nothing is there: both are made."""
        self.put(None, None)
        return self.program("init") and bool(self.secret()) and self.secret() == self.config()

    def lost(self):
        """The ConfigMap holds another certificate: it gets the right one."""
        self.put(self.authority, "old")
        return self.program("init") and self.secret() == self.config()

    def kept(self):
        """All is there: it stays as it is."""
        self.put(self.authority, base64.b64decode(self.authority["ca.crt"]).decode())
        return self.program("init") and "it is kept" in self.said and self.secret() == self.config()

    def remove(self):
        self.put(self.authority, "x")
        return self.program("remove") and not self.secret() and not self.config()


def init_tls(b, things):
    scenes = Scenes(b, things)
    roles = {t["metadata"]["name"]: t for t in things if t["kind"] == "Role"}
    bindings = {t["metadata"]["name"]: t for t in things if t["kind"] == "RoleBinding"}
    needed = {"bankfull-init-tls": {("create", "secrets"): scenes.fresh, ("create", "configmaps"): scenes.fresh, ("get", "secrets"): scenes.kept,
                                    ("get", "configmaps"): scenes.kept, ("update", "configmaps"): scenes.lost},
              "bankfull-remove-tls": {("delete", "secrets"): scenes.remove, ("delete", "configmaps"): scenes.remove}}
    b.ok(sorted(roles) == sorted(needed), f"the roles of {SPACE} are those that are tried here", sorted(roles))
    for name in sorted(set(roles) & set(needed)):
        b.cluster.account(bindings[name]["subjects"][0]["name"], SPACE)
        role = Role(b, roles[name], bindings[name])
        role.give()
        if name == "bankfull-init-tls":
            b.ok(scenes.fresh(), f"{name}: with all of its rights an authority is made", scenes.said)
            scenes.authority = b.cluster.get("v1", "Secret", "bankfull-ca", SPACE)["data"]
            b.ok(scenes.kept(), f"{name}: and kept", scenes.said)
            b.ok(scenes.lost(), f"{name}: and a ConfigMap that was changed is mended", scenes.said)
        else:
            b.ok(scenes.remove(), f"{name}: with all of its rights both are deleted", scenes.said)
        every = {(verb, resource) for verb, resource, _ in role.rules}
        b.ok(every == set(needed[name]), f"{name}: no right but those that are tried here", every ^ set(needed[name]))
        for right in sorted(every & set(needed[name])):
            role.give(left_out=right)
            worked = needed[name][right]()
            b.ok(not worked and "may not do this" in scenes.said, f"{name}: without '{right[0]} {right[1]}' it fails and says so", scenes.said)
        role.give()


def review(b):
    """The collector's only right, by a collector that runs."""
    import check_identity
    b.installed()
    roles = [r for r in b.cluster.items(RBAC, "ClusterRole") if r["metadata"]["name"].startswith("bankfull-bankfull-")]
    b.ok([(r["rules"][0]["resources"], r["rules"][0]["verbs"]) for r in roles if len(r["rules"]) == 1] == [(["tokenreviews"], ["create"])],
         "the collector may create tokenreviews and nothing else in the cluster", [r["rules"] for r in roles])
    bound = [r["metadata"]["name"] for r in b.cluster.items(RBAC, "RoleBinding", "bankfull")]
    b.ok(not bound, "and nothing in its namespace, but while a hook runs", bound)
    if len(roles) != 1:
        return
    name = roles[0]["metadata"]["name"]

    def may(want):
        return until(10, lambda: b.cluster.may("bankfull", "bankfull", "create", "tokenreviews", "authentication.k8s.io", where="") == want)

    b.start_collector()
    b.ok(may(True) and check_identity.session(b, "with-right"), "with it an agent's token is taken", b.hands.said(b.collector)[-1500:])
    b.cluster.patch(RBAC, "ClusterRole", name, None, {"rules": []})
    b.ok(may(False) and not check_identity.session(b, "without-right") and "review-failed" in b.hands.said(b.collector),
         "without 'create tokenreviews' none is, and its log says so", b.hands.said(b.collector)[-1500:])
    b.cluster.patch(RBAC, "ClusterRole", name, None, {"rules": roles[0]["rules"]})
    b.ok(may(True), "it has it back")


def run(b):
    b.cluster.namespace(SPACE)
    init_tls(b, b.render(namespace=SPACE))
    review(b)
