#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds JSON documents against the JSON Schema of reports.

schema.py SCHEMA FILE...   status 0: the schema is one, every document fits, and no row has
                           a key that the schema does not describe
"""

import json
import sys

import jsonschema


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def undescribed(schema, value, path=""):
    """Keys of objects that the schema allows but does not describe."""
    if isinstance(value, dict):
        for key in value:
            known = schema.get("properties", {})
            if key not in known:
                yield f"{path}/{key}"
            else:
                yield from undescribed(known[key], value[key], f"{path}/{key}")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from undescribed(schema.get("items", {}), item, f"{path}/{i}")


def main(schema_path, *paths):
    schema = load(schema_path)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    bad = 0
    for path in paths:
        document = load(path)
        for error in validator.iter_errors(document):
            where = "/".join(str(part) for part in error.absolute_path)
            print(f"{path}: {where}: {error.message}")
            bad = 1
        for key in undescribed(schema, document):
            print(f"{path}: {key}: not in the schema")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
