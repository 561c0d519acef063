# sites.py - the places of a C file where one token can be broken, and what it becomes.
#
# Only bodies of functions are looked at: no comment, no string, no preprocessor line, no
# table of constants. Each site has an offset, the length of what goes, and what comes.
#
# SPDX-License-Identifier: MIT
import random
import re

TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/|//[^\n]*
           |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)[uUlL]*)
  | (?P<mark><<=|>>=|\+\+|--|->|&&|\|\||==|!=|<=|>=|<<|>>|\+=|-=|\|=|&=
           |[-+*/%&|^!<>=?:;,.(){}\[\]~])
  | (?P<space>\s+)
  | (?P<other>.)
""", re.X | re.S | re.M)

TURNED = {
    "==": ["!="], "!=": ["=="], "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="],
    ">=": [">", "<"], "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "+=": ["-="],
    "-=": ["+="], "<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"], "|=": ["&="],
    "&=": ["|="], "++": ["--"], "--": ["++"],
}
BINARY = {"+", "-", "&", "<", ">", "|"}  # only behind a value
STATEMENT = re.compile(r"^[ ]+(?:[\w\->.\[\]* ]+ [-+|&]?= [^;{}]*|[a-z_]\w*\([^;{}]*\));$", re.M)
REFUSAL = re.compile(r"\bif (\([^\n]*\))(?=\n\s+(?:return|goto|continue|break)\b)")
ERROR = re.compile(r"\breturn (-(?:E[A-Z0-9]+|errno|1));")


class Site:
    def __init__(self, path, text, at, length, new):
        self.path, self.at, self.length, self.new = path, at, length, new
        self.line = text.count("\n", 0, at) + 1
        begin = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        self.old_line = text[begin:end]
        self.new_line = text[begin:at] + new + text[at + length:end]

    def key(self):  # stays while lines come and go around it
        return f"{self.path}: {self.old_line.strip()} => {self.new_line.strip()}"

    def spoil(self, text):
        return text[:self.at] + self.new + text[self.at + self.length:]


def bodies(text):  # a function's braces are alone in the first column
    for m in re.finditer(r"^\{\n.*?^\}\n", text, re.S | re.M):
        yield m.start(), m.end()


def one_number(text, die):
    m = re.fullmatch(r"(\d+)([uUlL]*)", text)
    if not m:
        return None
    n = int(m[1]) + die.choice([1, -1]) if int(m[1]) else 1
    return f"{n}{m[2]}"


def tokens(text, begin, end, die):
    value = False  # does what comes before end a value?
    for m in TOKEN.finditer(text, begin, end):
        kind, t = m.lastgroup, m.group()
        if kind == "mark" and t in TURNED and (value or t not in BINARY):
            yield m.start(), len(t), die.choice(TURNED[t])
        elif t == "!":
            yield m.start(), 1, ""
        elif kind == "number" and (n := one_number(t, die)):
            yield m.start(), len(t), n
        if kind in ("word", "number", "mark"):
            value = kind != "mark" and t not in ("return", "case") or t in (")", "]")


def sites(path, text, die):
    blank = TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0])
                      if m.lastgroup == "skip" and m[0][0] in "/#" else m[0], text)
    for begin, end in bodies(text):
        found = list(tokens(text, begin, end, die))
        for m in ERROR.finditer(blank, begin, end):
            found.append((m.start(1), len(m[1]), "0"))
        for m in REFUSAL.finditer(blank, begin, end):
            found.append((m.start(1), len(m[1]), f"(0 && {text[m.start(1):m.end(1)]})"))
        for m in STATEMENT.finditer(blank, begin, end):
            at = m.start() + len(m[0]) - len(m[0].lstrip())
            found.append((at, m.end() - at, ";"))
        for at, length, new in found:
            yield Site(path, text, at, length, new)


def choose(paths, n, seed):
    """Return n sites of all in these files, in the order of the draw."""
    die = random.Random(seed)
    every = []
    for path in sorted(paths):
        with open(path, encoding="utf-8") as f:
            every += sites(path, f.read(), random.Random(f"{seed} {path}"))
    die.shuffle(every)
    return every[:n], len(every)
