# sizes.py - jsprof top on terminals of odd sizes: it draws no more rows and columns than there are,
# also right after the size has changed; no byte of a name reaches the terminal as a command.
# Arguments: the command, a process that spins, one whose names are hostile.
#
# SPDX-License-Identifier: MIT
import fcntl
import re
import select
import struct
import sys
import termios
import time
import unicodedata

from terminal import Terminal, check

jsprof, plain, hostile = sys.argv[1:]
escape = re.compile(r"\x1b\[(\?(2026[hl]|1049[hl]|25[hl]|7[hl])|H|2J|[0-9;]*m)")


def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def fits(picture, rows, columns):
    """What the terminal gets, without the escapes that the command may use."""
    text = escape.sub("", picture).replace("\r\n", "\n")
    bad = re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    check(not bad, "a control byte in %r" % text)
    lines = text.split("\n")
    check(len(lines) <= rows, "%d lines on %d rows:\n%s" % (len(lines), rows, text))
    widest = max(width(line) for line in lines)
    check(widest <= columns, "%d columns on %d:\n%s" % (widest, columns, text))
    return text


def pictures(t):
    return t.all.split("\x1b[?2026h")[1:-1] if t.all.count("\x1b[?2026h") > 1 else []


def draws(t, least):
    """Read until there are so many whole pictures more."""
    end, before = time.monotonic() + 60, len(pictures(t))
    while len(pictures(t)) < before + least:
        if time.monotonic() > end or not t.read(0.2):
            sys.exit("draws no picture: %r" % t.all[-300:])
    return pictures(t)


def resize(t, rows, columns):
    fcntl.ioctl(t.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


words = [jsprof, "top", "--delay", "0.1"]
for rows, columns in (24, 80), (50, 200), (10, 40), (4, 12), (1, 1):
    for pid in plain, hostile:
        t = Terminal(words + [pid], rows, columns)
        for key in "t", "l", "":
            for picture in draws(t, 2):
                text = fits(picture, rows, columns)
            t.type(key)
        for _ in range(300):  # without a processor there is no sample yet
            if rows >= 10 and "SELF" not in text:
                text = fits(draws(t, 1)[-1], rows, columns)
        check(rows < 10 or "SELF" in text, "no table on %d rows: %s" % (rows, text))
        check(rows == 1 or "\n" in text, "one line on %d rows" % rows)
        t.type("q")
        check(t.end() == 0, "fails at %d x %d" % (rows, columns))

# The size changes while it draws. A picture that was begun before may have the old one.
t = Terminal(words + [plain], 40, 120)
draws(t, 2)
for rows, columns in (10, 40), (4, 12), (1, 1), (50, 200), (24, 80):
    resize(t, rows, columns)
    while select.select([t.fd], [], [], 0)[0]: # what it drew before
        t.read(0)
    before = len(pictures(t))
    for picture in draws(t, 4)[before + 2:]:
        fits(picture, rows, columns)
for _ in range(300):
    picture = picture if "SELF" in picture else draws(t, 1)[-1]
check("SELF" in picture, "no table after the size has changed")
t.type("q")
check(t.end() == 0, "fails after the size has changed")

# Without colours there is no escape for one.
t = Terminal(words + [hostile], 10, 40, {"NO_COLOR": "1"})
for picture in draws(t, 3):
    fits(picture, 10, 40)
check(not re.search(r"\x1b\[[0-9;]*m", t.all), "has colours in spite of NO_COLOR")
t.type("q")
check(t.end() == 0, "fails without colours")

# A terminal without escapes gets pictures of its size, one after another.
t = Terminal(words + [plain], 6, 30, {"TERM": "dumb"})
end = time.monotonic() + 60
while t.all.count("cpu ") < 3 and time.monotonic() < end:
    t.read(0.2)
t.type("q")
check(t.end() == 0, "fails on a terminal without escapes")
check("\x1b" not in t.all, "prints escapes on a terminal that has none")
check(max(len(line) for line in t.all.replace("\r", "").split("\n")) <= 30, "a line is too wide")
