#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""schema.py SCHEMA NAME FILE...: the documents are of "$defs/NAME" of a JSON Schema, and each null
has its reason beside it, and nothing else has.

Debian's python3-jsonschema is not everywhere, so the keywords that the schema has are here. Another
keyword is an error: nothing in the schema stays unchecked."""
import json
import sys

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
         "integer": int, "number": (int, float)}
KEYWORDS = {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf",
            "minimum", "minLength", "$ref", "description"}


def is_type(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def errors_of_object(root, schema, value, where):
    properties = schema.get("properties", {})
    for key in schema.get("required", []):
        if key not in value:
            yield f"{where}.{key} is missing"
    for key, member in value.items():
        if key in properties:
            yield from errors(root, properties[key], member, f"{where}.{key}")
        elif schema.get("additionalProperties", True) is False:
            yield f"{where}.{key} is not in the schema"


def errors(root, schema, value, where):
    for keyword in schema.keys() - KEYWORDS:
        yield f"the schema has the keyword {keyword}, which this test does not know"
    if "$ref" in schema:
        yield from errors(root, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], value, where)
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(is_type(value, name) for name in names):
        yield f"{where} is no {' or '.join(names)}: {json.dumps(value)[:60]}"
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        yield f"{where} cannot be {json.dumps(value)[:60]}"
    if "anyOf" in schema and all(any(errors(root, one, value, where)) for one in schema["anyOf"]):
        yield f"{where} is none of {len(schema['anyOf'])} alternatives"
    if is_type(value, "number") and value < schema.get("minimum", value):
        yield f"{where} is below {schema['minimum']}"
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        yield f"{where} is empty"
    if isinstance(value, dict):
        yield from errors_of_object(root, schema, value, where)
    if isinstance(value, list) and "items" in schema:
        for index, element in enumerate(value):
            yield from errors(root, schema["items"], element, f"{where}[{index}]")


def errors_of_reasons(value, where):
    """A null without a reason, and a reason without a null."""
    if isinstance(value, list):
        for index, element in enumerate(value):
            yield from errors_of_reasons(element, f"{where}[{index}]")
    if isinstance(value, dict):
        for key, member in value.items():
            base = key[:-len("_reason")]
            if member is None and f"{key}_reason" not in value:
                yield f"{where}.{key} is null without a reason"
            if key.endswith("_reason") and value.get(base, 0) is not None:
                yield f"{where}.{key} is a reason for no null"
            yield from errors_of_reasons(member, f"{where}.{key}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        root = json.load(file)
    found = []
    for path in sys.argv[3:]:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        found += errors(root, {"$ref": f"#/$defs/{sys.argv[2]}"}, document, path)
        found += errors_of_reasons(document, path)
        if any(errors(root, {"anyOf": root["anyOf"]}, document, path)):
            found.append(f"{path} is none of the documents at the top of the schema")
    print("\n".join(found[:20]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
