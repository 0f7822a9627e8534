#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The examples of README.md and of the pages, as they stand there.
#
#   examples.py list FILE...                names of all examples; an example without a name
#                                           is an error
#   examples.py show NAME FILE...           its text
#   examples.py play NAME DIR FILE...       runs its commands in DIR and compares what they
#                                           print with what stands there
#
# An example is a block in README.md behind "<!-- example: NAME -->", or .EX in a page behind
# '.\" example: NAME'.  "not run: WHY" instead says why it is no test.  Lines that begin with
# "# " or "$ " are commands, "> " goes on with one, all others are what is printed.  "..."
# stands for any lines.  Numbers and UUIDs may differ, and so may blanks.
#
# play reads DIR/names, lines of "DOCUMENTED REAL": what is called DOCUMENTED in the example
# is REAL here.  DIR/prelude is a script that runs before the first command; a command may
# end with a status that DIR/statuses names.
import os
import re
import subprocess
import sys


def plain(line):
    return (line.replace("\\-", "-").replace("\\(aq", "'").replace("\\&", "")
            .replace("\\e", "\\"))


def blocks(path):
    """(name or None, lines) of every example."""
    page = not path.endswith(".md")
    mark = re.compile(r'\.\\" example: (\S+)|\.\\" (not run): ' if page
                      else r"<!-- example: (\S+) -->|<!-- (not run): ")
    begin, end = (".EX", ".EE") if page else ("```", "```")
    name, inside, lines = None, False, []
    for line in open(path):
        line = line.rstrip("\n")
        found = mark.match(line)
        if inside and line == end:
            yield name, lines
            name, inside, lines = None, False, []
        elif inside:
            lines.append(plain(line) if page else line)
        elif found:
            name = plain(found.group(1) or "-")
        elif line == ".nf":
            sys.exit(f"{path}: an example is between .EX and .EE")
        elif line.startswith(begin):
            inside = True


def find(name, files):
    for path in files:
        for found, lines in blocks(path):
            if found == name:
                return lines
    sys.exit(f"there is no example {name}")


def steps(lines):
    """[(command, [what it prints])]"""
    found = []
    for line in lines:
        if re.match(r"[#$] ", line):
            found.append((line[2:], []))
        elif line.startswith("> ") and found and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line[2:], [])
        elif found:
            found[-1][1].append(line)
    return found


def alike(line):
    line = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID", line)
    line = re.sub(r"\b[0-9]+(\.[0-9]+)? ?([num]?s|min|h)\b", "TIME", line)
    line = re.sub(r"(TIME )+TIME", "TIME", line)
    line = re.sub(r"\b[0-9]+(\.[0-9]+)? ?([KMGT]i?B?|[kB]B?)?\b", "N", line)
    return re.sub(r"\s+", " ", re.sub(r"-{3,}", "---", line)).strip()


def compare(expected, printed):
    """Index of the first expected line that is not there, or None."""
    at, free = 0, False
    for i, line in enumerate(expected):
        if line.strip() == "...":
            free = True
            continue
        while free and at < len(printed) and alike(printed[at]) != alike(line):
            at += 1
        if at >= len(printed) or alike(printed[at]) != alike(line):
            return i
        at, free = at + 1, False
    return None if free or at == len(printed) else len(expected)


def play(name, directory, files):
    names = [n.split(None, 1) for n in read(directory, "names").splitlines()]
    names.sort(key=lambda n: -len(n[0]))
    allowed = [0] + [int(s) for s in read(directory, "statuses").split()]
    script = read(directory, "prelude") + "\n"
    found = steps(find(name, files))
    if not found:
        sys.exit(f"example {name} has no command")
    for i, (command, _) in enumerate(found):
        for documented, real in names:
            command = command.replace(documented, real)
        script += f"{{ {command}\n}} >out.{i} 2>&1 3>&-; echo $? >status.{i}\n"
    subprocess.run(["bash", "-c", script], cwd=directory, timeout=280, check=True,
                   stdin=subprocess.DEVNULL)
    bad = 0
    for i, (command, expected) in enumerate(found):
        status, text = int(read(directory, f"status.{i}")), read(directory, f"out.{i}")
        for documented, real in sorted(names, key=lambda n: -len(n[1])):
            text = text.replace(real, documented)
        wrong = compare(expected, text.splitlines()) if expected else None
        if status not in allowed or wrong is not None:
            bad = 1
            print(f"example {name}: {command}\nstatus {status}; it prints:\n{text}")
        if wrong is not None:
            print("but the example has:\n" + "\n".join(expected[wrong:][:3] or ["no more"]))
    return bad


def read(directory, name):
    path = os.path.join(directory, name)
    return open(path).read() if os.path.exists(path) else ""


def list_names(files):
    bad = 0
    for path in files:
        for name, lines in blocks(path):
            if name is None:
                print(f"{path}: this example has no name: {lines[:1]}", file=sys.stderr)
                bad = 1
            elif name != "-":
                print(name)
    return bad


if sys.argv[1] == "list":
    sys.exit(list_names(sys.argv[2:]))
if sys.argv[1] == "show":
    print("\n".join(find(sys.argv[2], sys.argv[3:])))
else:
    sys.exit(play(sys.argv[2], sys.argv[3], sys.argv[4:]))
