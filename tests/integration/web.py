# SPDX-License-Identifier: Apache-2.0
"""See web.sh.    web.py BUILD DIRECTORY"""
import gzip
import html.parser
import json
import os
import re
import ssl
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(__file__))
import kit  # noqa: E402
from kit import BUILD, PROGRAM, WORK, end_all, finish, free_port, now_ms, ok, write  # noqa: E402

HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
CSP = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
       "base-uri 'none'; form-action 'self'; frame-ancestors 'none'")


class Collector(kit.Collector):
    def ask(self, path, method="GET", body=None, connection=None, **headers):
        """Status, headers, bytes."""
        return self.request(method, path, None, body, connection, **headers)


# --- what is served ------------------------------------------------------------------------------------------------

class Page(html.parser.HTMLParser):
    """What a page leads to and loads, and the ids in it."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids, self.inline, self.title, self.tags = [], [], set(), [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.tags.append(tag)
        if "id" in a:
            if a["id"] in self.ids:
                self.inline.append("twice: " + a["id"])
            self.ids.add(a["id"])
        if tag == "a":
            self.links.append(a["href"])
        if tag in ("link", "script", "img"):
            self.loads.append(a.get("href") or a.get("src") or "inline " + tag)
        self.inline += [name for name in a if name == "style" or name.startswith("on")]
        self.inline += [tag] if tag in ("style", "iframe", "object", "base") else []


def crawl(c):
    """Every page that is reached from the first ones, and all that they load."""
    seen, todo, wrong, fragments = {}, ["/", "/login", "/docs/", "/docs/rules/"], [], []
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        status, headers, body = c.ask(path, Accept=HTML)
        seen[path] = None
        if status in (301, 303):
            todo.append(headers["location"])
            continue
        if status != 200:
            wrong.append("%s: %d" % (path, status))
            continue
        if headers["content-security-policy"] != CSP or headers["x-content-type-options"] != "nosniff" or \
           headers["referrer-policy"] != "same-origin" or "etag" not in headers:
            wrong.append("%s: %s" % (path, headers))
        kind, text = headers["content-type"], body.decode()
        if kind.startswith("text/html"):
            page = seen[path] = Page(text)
            wrong += ["%s: within the page: %s" % (path, what) for what in page.inline]
            if path.startswith("/docs/") and ("script" in page.tags or page.tags.count("h1") != 1):
                wrong.append("%s: tags %s" % (path, page.tags))
            for href in page.links + page.loads:
                url = urllib.parse.urlsplit(urllib.parse.urljoin("http://here" + path, href))
                if url.netloc == "here":
                    todo.append(url.path)
                    if url.fragment and not url.fragment.startswith("/"):
                        fragments.append((path, url.path, url.fragment))
                elif href in page.loads:
                    wrong.append("%s loads %s" % (path, href))
        elif kind.startswith("text/javascript"):
            for name in re.findall(r'\b(?:from|import)\s*\(?\s*["\'](\.?/[^"\' ]+)["\']', text):
                todo.append(urllib.parse.urlsplit(urllib.parse.urljoin("http://here" + path, name)).path)
    for path, target, fragment in fragments:
        if not seen.get(target) or fragment not in seen[target].ids:
            wrong.append("%s: no #%s in %s" % (path, fragment, target))
    return seen, wrong


def served():
    c = Collector("served")
    seen, wrong = crawl(c)
    ok(not wrong, "every link of every page leads somewhere, each reply has its headers, nothing is loaded from elsewhere",
       "\n".join(wrong))
    rules = [path for path in seen if re.fullmatch(r"/docs/rules/[a-z-]+", path)]
    ok(len(rules) == len([f for f in os.listdir("docs/rules") if f.endswith(".md")]), "the page of each rule is reached",
       len(rules))
    ok("/docs/collector" in seen and "/docs/openapi.json" in seen and "/NOTICE" in seen,
       "and the documentation, the API's description, the licences", sorted(seen))
    heads = []
    for path in sorted(seen) + ["/nothing", "/api/v1/pods", "/api/v1/nothing", "/healthz"]:
        with_body = c.ask(path, Accept=HTML)
        head = c.ask(path, "HEAD", Accept=HTML)
        same = ("content-type", "content-length", "etag", "content-security-policy")
        if head[0] != with_body[0] or head[2] or any(head[1].get(n) != with_body[1].get(n) for n in same) or \
           int(head[1]["content-length"]) != len(with_body[2]):
            heads.append((path, with_body[:2], head))
    ok(not heads, "HEAD is GET without its body", heads)
    status, headers, body = c.ask("/", Accept=HTML, Accept_Encoding="gzip")
    plain = c.ask("/", Accept=HTML)
    ok(headers["content-encoding"] == "gzip" and gzip.decompress(body) == plain[2] and headers["etag"] != plain[1]["etag"]
       and "Accept-Encoding" in headers["vary"], "gzip for who takes it", headers)
    for encoding, tag in (("gzip", headers["etag"]), ("identity", plain[1]["etag"])):
        again = c.ask("/", Accept=HTML, Accept_Encoding=encoding, If_None_Match=tag)
        ok(again[0] == 304 and not again[2] and again[1]["etag"] == tag and again[1]["cache-control"] == "no-cache",
           "304 for who has it (%s)" % encoding, again)
    rule = c.ask("/docs/rules/oom-kill")
    ok(rule[2].startswith(b"# oom-kill\n") and rule[1]["content-type"].startswith("text/plain"),
       "a rule as Markdown for who takes no HTML", rule)
    ok(c.ask("/nothing")[2].startswith(b'{"error"') and c.ask("/nothing", Accept=HTML)[2].startswith(b"<!doctype"),
       "nothing at a path: a page for a browser, JSON for others")
    ok("strict-transport-security" not in plain[1], "no HSTS without TLS")
    ok(c.ask("/login", Accept=HTML)[0] == 303 and c.ask("/api/v1/me")[0] == 200, "open on loopback: nobody logs in")
    ok(c.ask("/", Host="rebound.example:%d" % c.port)[0] == 403 and c.ask("/", Host="localhost")[0] == 200,
       "a page's own name that was bound to 127.0.0.1 is refused")
    ok(c.ask("/", Host="127.0.0.1.rebound.example")[0] == 403, "and so is one that begins like an address")
    traversal(c)
    ok(c.stop() == 0, "it ends well")


def traversal(c):
    secret = b"root:"
    for path in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/docs/..%2f..%2f..%2fetc/passwd",
                 "/docs/rules/%2e%2e%2f%2e%2e%2f%2e%2e%2fetc%2fpasswd", "//etc/passwd", "/docs//../../etc/passwd",
                 "/..\\..\\etc\\passwd", "/%5c..%5c..%5cetc%5cpasswd", "/app.css%00.html", "/%00", "/docs/rules%00/x",
                 "/%252e%252e/%252e%252e/etc/passwd", "/%c0%ae%c0%ae/etc/passwd", "/" + "../" * 200 + "etc/passwd",
                 "/" + "a" * 7000, "/" + "%41" * 2300, "/.", "/./", "/%", "/%zz", "/?" + "x" * 4000,
                 "http://evil.example/", "*"):
        answer = c.raw(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", hangs=False)
        if secret in answer or (b" 200 " in answer[:16] and path not in ("/.", "/./") and not path.startswith("/?")
                                and b"<!doctype" not in answer):
            ok(False, "a path that leads out: %s" % path[:60], answer[:300])
    ok(c.alive(), "paths that lead out, are too long or broken end at us")


# --- logging in ------------------------------------------------------------------------------------------------------

ANN, BOB = "viewer-token-of-ann-01", "operator;token,of\"bob\\%41"


def certificates():
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=WORK)
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *key, "-days", "2", "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
    write("server.ext", "subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("req", *key, "-subj", "/CN=server", "-keyout", "server.key", "-out", "server.csr")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "server.ext", "-out", "server.pem")
    return ["--tls-cert", os.path.join(WORK, "server.pem"), "--tls-key", os.path.join(WORK, "server.key")]


def trusting():
    return ssl.create_default_context(cafile=os.path.join(WORK, "ca.pem"))


def curl(c, path, *options):
    done = subprocess.run(["curl", "-sS", "--cacert", os.path.join(WORK, "ca.pem"), "-w", "\n%{http_code}", *options,
                           "https://localhost:%d%s" % (c.port, path)], capture_output=True, text=True, timeout=30)
    body, _, status = done.stdout.rpartition("\n")
    return int(status or 0), body, done.stderr


def logins(tls):
    viewers = write("viewers", "viewer ann %s team-0\noperator bob %s\n" % (ANN, BOB))
    c = Collector("logins", "--viewer-tokens", viewers, *tls, tls=trusting())
    jar = os.path.join(WORK, "jar")
    ok(c.ask("/", Accept=HTML)[0] == 200 and c.ask("/login", Accept=HTML)[0] == 200 and c.ask("/docs/", Accept=HTML)[0] == 200,
       "the dashboard's own files and the login are anybody's")
    for path in ("/api/v1/pods", "/api/v1/findings", "/api/v1/me", "/metrics"):
        status, headers, body = c.ask(path)
        ok(status == 401 and headers["content-security-policy"] == CSP, "%s is not" % path, (status, headers, body))
    ok(curl(c, "/login", "-c", jar, "--data-urlencode", "token=" + ANN)[0] == 303, "a form with the right token logs in")
    with open(jar) as f:
        cookie = [line for line in f if "__Host-bankfull" in line]
    ok(len(cookie) == 1 and cookie[0].startswith("#HttpOnly_localhost\tFALSE\t/\tTRUE\t"),
       "the cookie is HttpOnly, Secure, of this host and of /", cookie)
    status, body, _ = curl(c, "/api/v1/me", "-b", jar)
    ok(status == 200 and json.loads(body)["name"] == "ann" and json.loads(body)["role"] == "viewer", "the cookie is ann's", body)
    ok(curl(c, "/api/v1/pods", "-b", jar)[0] == 200, "and opens the API")
    ok(curl(c, "/logout", "-b", jar, "-c", jar, "-d", "x=y")[0] == 303 and curl(c, "/api/v1/me", "-b", jar)[0] == 401,
       "and is gone after a logout")
    status, body, _ = curl(c, "/login", "-c", jar, "-H", "Content-Type: application/json", "--data", json.dumps({"token": BOB}))
    ok(status == 200 and json.loads(body) == {"name": "bob", "role": "operator"}, "JSON logs in as well", body)
    ok(json.loads(curl(c, "/api/v1/me", "-b", jar)[1])["name"] == "bob", "a token that no cookie could hold as it stands", jar)
    foreign_pages(c, jar)
    log = c.said()
    ok("token-of-ann" not in log and "token,of" not in log, "no token stands in the log")
    ok('"login"' in log and "ann logged in from 127.0.0.1" in log, "who logged in does", log)
    ok(c.stop() == 0, "it ends well")


def foreign_pages(c, jar):
    here = "https://localhost:%d" % c.port
    body = json.dumps({"kind": "silence", "matchers": {"namespace": "team-0"}, "reason": "drill",
                       "until_ms": now_ms() + 3600000})
    write_ = ("-b", jar, "-H", "Content-Type: application/json", "--data", body)
    for name, headers in (("of another site", ["Origin: https://evil.example"]), ("of a sandbox", ["Origin: null"]),
                          ("of another port", ["Origin: https://localhost:1"]),
                          ("without TLS", ["Origin: http://localhost:%d" % c.port]), ("without an Origin", [])):
        status, text, _ = curl(c, "/api/v1/silences", *write_, *[x for h in headers for x in ("-H", h)])
        ok(status == 403 and "foreign-origin" in text, "a write by the cookie, from a page " + name, (status, text))
    status, text, _ = curl(c, "/api/v1/silences", *write_, "-H", "Origin: " + here)
    ok(status == 201, "a write from our own page", (status, text))
    for path in ("/login", "/logout"):
        status, text, _ = curl(c, path, "-H", "Origin: https://evil.example", "--data-urlencode", "token=" + ANN)
        ok(status == 403, "a foreign form for " + path, (status, text))


def failing():
    """Without TLS: 10,000 handshakes are no part of this."""
    c = Collector("failing", "--viewer-tokens", os.path.join(WORK, "viewers"))
    statuses, seconds = {}, 0
    started = time.monotonic()
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    for n in range(10000):
        status, headers, _ = c.ask("/login", "POST", "token=wrong-token-%010d" % n, **form)
        statuses[status] = statuses.get(status, 0) + 1
        seconds = int(headers.get("retry-after", 0))
    ok(set(statuses) == {401, 429} and 10 <= statuses[401] <= 10 + (time.monotonic() - started) / 30 + 1,
       "10,000 wrong tokens: ten are looked at", statuses)
    ok(0 < seconds <= 30, "and Retry-After says when the next will be", seconds)
    ok(c.ask("/login", "POST", "token=" + ANN, **form)[0] == 429, "the right one has to wait as well")
    ok(c.ask("/api/v1/me", Authorization="Bearer " + ANN)[0] == 200, "a tool with its token has not")
    peak = c.rss("VmHWM")
    ok(peak < 200 << 20 or "asan" in BUILD, "and memory stays small", peak)
    ok(c.said().count('"login-refused"') <= 6, "the log does not fill", c.said().count('"login-refused"'))
    for size in (519, 520, 4096, 4097, 60000):
        status = c.ask("/login", "POST", "token=" + "x" * size, **form)[0]
        ok(status in (400, 413, 429), "a token of %d bytes" % size, status)
    status = c.ask("/login", "POST", "t" * 70000, **form)[0]
    ok(status == 413, "a body of 70,000 bytes", status)
    ok("wrong-token" not in c.said() and "token-of-ann" not in c.said(), "no token stands in the log")
    kept(c)
    ok(c.stop() == 0, "it ends well")


def kept(c):
    """Requests with and without a body after each other, as a browser's fetch sends them: none is lost."""
    connection, answers = c.connect(), []
    for n in range(300):
        answers.append(c.ask("/docs.css", connection=connection)[0])
        answers.append(c.ask("/logout", "POST", "", connection)[0])
        answers.append(c.ask("/logout", "POST", "x" * 100, connection)[0])
    ok(answers == [200, 204, 204] * 300, "900 requests after each other", set(answers))


# --- a proxy ---------------------------------------------------------------------------------------------------------

def proxy(tls):
    roles = write("roles", "operator root@example.com\nviewer group:sre\nviewer ann@example.com team-0,team-1\n", 0o644)
    tokens = write("proxyviewers", "viewer tool %s\n" % ANN)
    common = ("--proxy-viewers", roles, "--viewer-tokens", tokens, "--proxy-groups-header", "X-Forwarded-Groups")
    c = Collector("proxy", "--proxy-peers", "10.0.0.0/8,127.0.0.1", *common)
    me = json.loads(c.ask("/api/v1/me", X_Forwarded_User="ann@example.com")[2])
    ok(me["name"] == "ann@example.com" and me["role"] == "viewer" and me["namespaces"] == ["team-0", "team-1"],
       "the proxy says who it is, the file what that is", me)
    me = json.loads(c.ask("/api/v1/me", X_Forwarded_User="eve", X_Forwarded_Groups="dev, sre")[2])
    ok(me["name"] == "eve" and me["namespaces"] is None, "a group does as well", me)
    ok(json.loads(c.ask("/api/v1/me", X_Forwarded_User="root@example.com")[2])["role"] == "operator", "and an operator's line")
    status, _, text = c.ask("/api/v1/pods", X_Forwarded_User="nobody@example.com")
    ok(status == 403 and b"--proxy-viewers" in text, "a user without a line is told so", (status, text))
    for user in ("ann@example.com" + "x" * 200, "x" * 4096):
        ok(c.ask("/api/v1/pods", X_Forwarded_User=user)[0] == 403, "a name of %d bytes is nobody" % len(user))
    ok(c.ask("/api/v1/pods")[0] == 401 and c.ask("/api/v1/pods", Authorization="Bearer " + ANN)[0] == 200,
       "without the header, tokens count")
    body = json.dumps({"kind": "silence", "matchers": {"namespace": "a"}, "reason": "drill",
                       "until_ms": now_ms() + 3600000})
    kind = {"Content_Type": "application/json", "X_Forwarded_User": "root@example.com"}
    ok(c.ask("/api/v1/silences", "POST", body, **kind)[0] == 403, "the header alone does not write: a page could make a browser send it")
    ok(c.ask("/api/v1/silences", "POST", body, Authorization="Bearer of-the-proxy-1234567", **kind)[0] == 403,
       "nor does it with a token that the proxy adds")
    ok(c.ask("/api/v1/silences", "POST", body, Origin="http://127.0.0.1:%d" % c.port, **kind)[0] == 201, "with our Origin it does")
    write("roles", "operator ann@example.com\n", 0o644)
    for _ in range(100):
        if json.loads(c.ask("/api/v1/me", X_Forwarded_User="ann@example.com")[2]).get("role") == "operator":
            break
        time.sleep(0.1)
    ok(json.loads(c.ask("/api/v1/me", X_Forwarded_User="ann@example.com")[2])["role"] == "operator", "the file is read again when it changes")
    c.stop()
    c = Collector("impostor", "--proxy-peers", "10.0.0.0/8", *common)
    ok(c.ask("/api/v1/pods", X_Forwarded_User="ann@example.com")[0] == 401, "the header of a peer that is not listed is nobody's")
    ok(c.ask("/api/v1/pods", X_Forwarded_Groups="sre")[0] == 401, "so is one of groups")
    ok(c.ask("/api/v1/pods", X_Forwarded_User="ann@example.com", Authorization="Bearer " + ANN)[0] == 401,
       "and a token beside it does not help")
    ok(c.ask("/api/v1/pods", X_Forwarded_For="10.0.0.1", Authorization="Bearer " + ANN)[0] == 200 and
       c.ask("/api/v1/pods", X_Forwarded_For="10.0.0.1", X_Forwarded_User="ann@example.com")[0] == 401,
       "who a peer is decides its connection alone")
    ok('"proxy-stranger"' in c.said(), "and it is told in the log")
    c.stop()
    c = Collector("public", "--proxy-peers", "127.0.0.0/8", "--public-url", "https://bankfull.example.com",
                  "--listen-agents", "off", *tls, *common[:4],
                  tls=trusting(), address="0.0.0.0")
    kind = {"Content_Type": "application/json", "X_Forwarded_User": "ann@example.com"}
    for origin, host, status in (("https://bankfull.example.com", "bankfull.example.com", 201),
                                 ("https://bankfull.example.com", "localhost:%d" % c.port, 201),
                                 ("https://evil.example", "evil.example", 403),
                                 ("http://bankfull.example.com", "bankfull.example.com", 403)):
        mine = body.replace('"a"', '"%s-%d"' % (host.split(":")[0], status))
        got = c.ask("/api/v1/silences", "POST", mine, Origin=origin, Host=host, **kind)[0]
        ok(got == status, "beyond loopback, with --public-url: Origin %s, Host %s" % (origin, host.split(":")[0]), got)
    strict = c.ask("/", Host="bankfull.example.com")[1].get("strict-transport-security")
    ok(strict and "strict-transport-security" not in c.ask("/")[1], "HSTS over TLS, and not for localhost", strict)
    ok(c.stop() == 0, "it ends well")


def refused(*options):
    done = subprocess.run([PROGRAM, "--listen", "127.0.0.1:%d" % free_port(), "--data", WORK, *options], capture_output=True,
                          text=True, timeout=20)
    return done.returncode, done.stderr


def settings():
    roles = write("empty-roles", "viewer *\n", 0o644)
    for options, part in ((("--public-url", "bankfull"), "--public-url"),
                          (("--public-url", "https://x/path"), "without a path"),
                          (("--proxy-viewers", roles), "proxy-peers is missing"),
                          (("--proxy-peers", "10.0.0.0/8"), "proxy-viewers is missing"),
                          (("--proxy-viewers", roles, "--proxy-peers", "10.0.0.0/33"), "0 to 32"),
                          (("--proxy-viewers", roles, "--proxy-peers", "proxy.svc"), "is no address"),
                          (("--proxy-viewers", roles, "--proxy-peers", "::1", "--proxy-user-header", "a:b"), "--proxy-user-header"),
                          (("--proxy-viewers", write("open-roles", "viewer *\n", 0o666), "--proxy-peers", "::1"), "has mode 0666")):
        rc, said = refused(*options)
        ok(rc == 2 and part in said, " ".join(options[:1] + options[2:]) + " is refused: " + part, (rc, said))


try:
    served()
    certificate = certificates()
    logins(certificate)
    failing()
    proxy(certificate)
    settings()
finally:
    end_all()
finish()
