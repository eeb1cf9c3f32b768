# SPDX-License-Identifier: Apache-2.0
"""docs/openapi.json: is it whole, and does a reply say what it says?"""
import json
import re

import jsonschema


def unique(pairs):
    """A key said twice is two answers to one question; json would keep the last."""
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError("duplicate key in %s" % keys)
    return dict(pairs)


with open("docs/openapi.json") as file:
    DOCUMENT = json.load(file, object_pairs_hook=unique)
RESOLVER = jsonschema.RefResolver("", DOCUMENT)


def resolve(node):
    while "$ref" in node:
        node = RESOLVER.resolve(node["$ref"])[1]
    return node


def operations():
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for child in node.values():
            yield from references(child)
    elif isinstance(node, list):
        for child in node:
            yield from references(child)


def lint():
    """What an OpenAPI 3.1 document must have, and what this one promises beside."""
    if not DOCUMENT["openapi"].startswith("3.1."):
        yield "not OpenAPI 3.1"
    seen, used = set(), set(references(DOCUMENT))
    for reference in used:
        try:
            RESOLVER.resolve(reference)
        except jsonschema.RefResolutionError as error:
            yield "%s leads nowhere: %s" % (reference, error)
    for kind, things in DOCUMENT["components"].items():
        for name in things if kind != "securitySchemes" else ():
            if "#/components/%s/%s" % (kind, name) not in used:
                yield "%s %s is used by nothing" % (kind, name)
    for name, schema in DOCUMENT["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
        yield from closed(schema, name)
    for path, method, operation in operations():
        where = "%s %s" % (method, path)
        if operation["operationId"] in seen:
            yield "%s: operationId %s twice" % (where, operation["operationId"])
        seen.add(operation["operationId"])
        parameters = [resolve(parameter) for parameter in operation.get("parameters", [])]
        names = [(parameter["in"], parameter["name"]) for parameter in parameters]
        if len(names) != len(set(names)):
            yield "%s: a parameter twice" % where
        in_path = {name for place, name in names if place == "path"}
        if in_path != set(re.findall(r"\{(\w+)\}", path)):
            yield "%s: its path and its path parameters differ" % where
        for parameter in parameters:
            if not parameter.get("description") or "schema" not in parameter:
                yield "%s: parameter %s says not what it is" % (where, parameter["name"])
        if not {"200", "201"} & set(operation["responses"]) or not operation.get("summary"):
            yield "%s: no 200 or 201, or no summary" % where
        for status, response in operation["responses"].items():
            if not resolve(response).get("description"):
                yield "%s: %s has no description" % (where, status)


def closed(node, path):
    """Every object closes itself, requires all it has, and describes each member."""
    if not isinstance(node, dict):
        return
    if "properties" in node:
        if node.get("additionalProperties") is not False or set(node["required"]) != set(node["properties"]):
            yield "%s takes any member, or does not require what it has" % path
        for name, member in node["properties"].items():
            if not resolve(member).get("description"):
                yield "%s/%s has no description" % (path, name)
            yield from closed(member, "%s/%s" % (path, name))
    for key in ("items", "additionalProperties"):
        yield from closed(node.get(key), "%s/%s" % (path, key))
    for child in node.get("anyOf", []):
        yield from closed(child, path)


def template_of(path):
    """The path of the document that this one is, the longest fixed part first."""
    for template in sorted(DOCUMENT["paths"], key=lambda t: (t.count("{"), -len(t))):
        if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template)), path):
            return template
    return None


def trouble(path, status, content_type, body, method="get"):
    """Why this reply is none that the document knows; None: it is one."""
    template = template_of(path)
    if template is None:
        return None if status in (401, 404) else "%s is in no document" % path
    responses = DOCUMENT["paths"][template][method]["responses"]
    if str(status) not in responses:
        return "%s: no reply %d is documented" % (template, status)
    content = resolve(responses[str(status)]).get("content")
    if content is None:
        return "a body where none is" if body else None
    kind = content_type.split(";")[0]
    if kind not in content:
        return "%s: a body of type %s" % (template, kind)
    if kind != "application/json":
        return None
    validator = jsonschema.Draft202012Validator(content[kind]["schema"], resolver=RESOLVER)
    errors = sorted(validator.iter_errors(json.loads(body, object_pairs_hook=unique)), key=lambda e: list(e.path))
    return "; ".join("/%s: %s" % ("/".join(map(str, e.absolute_path)), e.message[:160]) for e in errors[:4]) or None
