# sizes.py - how the code is cut: for each room of src/ and bindings/ its lines, its functions,
# how many of these have more than 60 lines, and how many static functions have one use.
#
# A use is a name outside comments, strings, definitions and declarations. A callback whose
# address the code takes once has one use too: so the share never falls to 0. Functions in an
# unnamed namespace of C++ do not count as static.
# `make sizes`, or `make sizes NAMES=src/page` to list a room's functions with one use.
#
# SPDX-License-Identifier: MIT
import collections
import glob
import os
import re
import sys

import sites

LONGEST = 60  # lines of a function, by docs/style.md
HEAD = re.compile(r"^(?P<head>[A-Za-z_][^;{}=#]*?\b(?P<name>\w+)\([^;{}]*\)[^;{}()]*)\n"
                  r"(?P<body>\{\n.*?^\}\n)", re.S | re.M)
DECLARED = re.compile(r"^static [^;{}=]*?\b(\w+)\([^;{}]*\)[^;{}=]*;", re.S | re.M)


def blank(text):  # without comments and strings, each line at its place
    def one(m):
        if m.lastgroup != "skip" or m[0].lstrip()[0] == "#":
            return m[0]
        return re.sub(r"[^\n]", " ", m[0])
    return sites.TOKEN.sub(one, text)


class Function:
    def __init__(self, path, text, m):
        self.name, self.path = m["name"], path
        self.line = text.count("\n", 0, m.start("name")) + 1
        self.lines = m["body"].count("\n") - 2  # between its braces
        self.is_static = re.search(r"\bstatic\b", m["head"]) is not None
        self.uses = 0


def read(path):
    """Return the file's functions, its lines, and how often it uses each name."""
    with open(path, encoding="utf-8") as f:
        text = blank(f.read())
    functions = [Function(path, text, m) for m in HEAD.finditer(text)]
    uses = collections.Counter(re.findall(r"[A-Za-z_]\w*", text))
    uses.subtract(f.name for f in functions)
    uses.subtract(m[1] for m in DECLARED.finditer(text))
    return functions, text.count("\n"), uses


def room(path):
    return "/".join(path.split("/")[:2])


def row(name, lines, functions):
    statics = [f for f in functions if f.is_static]
    once = sum(f.uses == 1 for f in statics)
    long = sum(f.lines > LONGEST for f in functions)
    print(f"{name:<15} {lines:6} {len(functions):10} {long:8} {len(statics):8} {once:8}"
          f" {100 * once / max(len(statics), 1):4.0f} %")


def main(names):
    paths = [p for top in ("src", "bindings") for p in glob.glob(top + "/**", recursive=True)
             if p.endswith((".c", ".cpp", ".h"))]
    files = {p: read(p) for p in sorted(paths)}
    everywhere = sum((uses for _, _, uses in files.values()), collections.Counter())
    rooms = collections.defaultdict(lambda: [0, []])
    for path, (functions, lines, uses) in files.items():
        for f in functions:  # every file may use what a header defines
            f.uses = (everywhere if path.endswith(".h") else uses)[f.name]
        rooms[room(path)][0] += lines
        rooms[room(path)][1] += functions
    print(f"{'room':<15} {'lines':>6} {'functions':>10} {'over ' + str(LONGEST):>8}"
          f" {'statics':>8} {'one use':>8}  share")
    for name, (lines, functions) in sorted(rooms.items()):
        row(name, lines, functions)
    row("all", sum(r[0] for r in rooms.values()), [f for r in rooms.values() for f in r[1]])
    for f in (f for r in rooms.values() for f in r[1]):
        if names and f.path.startswith(names) and f.is_static and f.uses == 1:
            print(f"{f.path}:{f.line}: {f.name}, {f.lines} lines, used once")
        if f.lines > LONGEST:
            print(f"{f.path}:{f.line}: {f.name}, {f.lines} lines")


main(os.environ.get("NAMES"))
