#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   pages.py keys PAGE HEADING... -- FILE...   every key in these files of JSON (or lines of
#                                              it) stands in italics below one of the headings,
#                                              and so does the value of "schema"
#   pages.py known PAGE SOURCES                every word in italics with "_" in it, and every
#                                              tag, stands in quotation marks in the sources
#
# For jbdlab-results(5).  Names that data give (of disks, variables, arms) are no keys.
import glob
import json
import re
import sys

# Objects whose keys are names.
NAMED = {"variables"}


def words(page):
    """{heading: set of words in italics and of names of schemas}, in the order of the page."""
    found, heading = {}, ""
    for line in open(page):
        line = line.rstrip("\n").replace("\\-", "-").replace('"', "")
        if line.startswith((".SH ", ".SS ")):
            heading = line[4:]
        elif re.match(r"\.(I|IR|RI) ", line):
            text = line[4:] if line.startswith((".IR", ".RI")) else line[3:]
            found.setdefault(heading, set()).update(re.findall(r"[a-z][a-z0-9_]*", text))
        elif line.startswith("."):
            found.setdefault(heading, set()).update(re.findall(r"jbdlab-[a-z-]+/[0-9]+", line))
    return found


def keys(value, under=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            is_name = under in NAMED or (under == "disks" and isinstance(inner, dict))
            if key == "schema":
                yield inner
            elif not is_name:
                yield key
            yield from keys(inner, "" if is_name else key)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, "" if under == "disks" else under)


def documents(path):
    text = open(path).read()
    if not path.endswith((".jsonl", ".log")):
        return [json.loads(text)]
    return [json.loads(line[line.index("{"):]) for line in text.splitlines()]


def check_keys(page, arguments):
    at = arguments.index("--")
    found, known = words(page), set()
    for heading in arguments[:at]:
        known |= found[heading]
    bad = 0
    for path in arguments[at + 1:]:
        for key in sorted(set(k for d in documents(path) for k in keys(d)) - known):
            print(f"{path}: {key} is not below {arguments[:at]}")
            bad = 1
    return bad


def check_known(page, directory):
    sources = "".join(open(p).read() for p in glob.glob(directory + "/*/*.c"))
    quoted = set(re.findall(r'"([a-z][a-z0-9_]*)"', sources))
    bad = 0
    for heading, found in words(page).items():
        for word in sorted(found - quoted):
            if "_" in word:
                print(f"{heading}: the program has no {word}")
                bad = 1
    return bad


if sys.argv[1] == "keys":
    sys.exit(check_keys(sys.argv[2], sys.argv[3:]))
sys.exit(check_known(sys.argv[2], sys.argv[3]))
