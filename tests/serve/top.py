# top.py - jsprof top on a terminal: the first picture, views, sorts, a filter, a pause, a saved
# capture, colours and the end. Arguments: the command, the number of a process that spins.
#
# SPDX-License-Identifier: MIT
import os
import re
import sys
import time

from terminal import Terminal, check

jsprof, pid = sys.argv[1], sys.argv[2]
t = Terminal([jsprof, "top", "--delay", "0.3", "-o", "saved.cap", pid])
first = t.wait(r"spin \(spin\.lark:1\)")
print("first picture after %.2f s" % first)
check(not t.echoes(), "keys are echoed")
check("\x1b[?1049h" in t.all, "does not take another screen")
check(max(len(line) for line in t.shown.splitlines()) <= 100, "a line wraps")
check(len(t.shown.splitlines()) <= 30, "the picture is higher than the screen")
check(re.search(r"cpu \d+\.\d%", t.shown), "does not say how much of the processor")
check(re.search(r"\d+ samples? .* \d+ of \d+ lost", t.shown), "does not say what was lost")
check(re.search(r"gc \d+\.\d%", t.shown), "does not say how much the collector had")
check(re.search(r"\x1b\[1;31m", t.all), "has no colours")
t.type("l")
t.wait(r"SAMPLES|LINE\b")
t.wait(r"spin\.lark:\d+")
t.type("t")
t.wait(r"THREAD(.|\n)*main")
t.type("c")
t.wait(r"CATEGORY")
t.type("m")
t.wait(r"MODULE(.|\n)*\[vm\]")
t.type("f")
t.wait(r"FUNCTION(.|\n)*spin")
for sort in "total", "samples", "name", "self":
    t.type("s")
    t.wait("by function, %s:" % sort)
t.type("/nothing-has-this\r")
t.wait(r"no samples: in what was chosen")
t.type("/" + "\x7f" * 20 + "spin\r")
t.wait(r"only spin(.|\n)*spin \(spin\.lark:1\)")
t.type("/(\r")
t.wait(r"only|\(")
t.type("/\x7f\x7f\x7f\x7f\x7f\x7f\x7f\r")
t.wait(r"by function, self: ")
t.type(" ")
t.wait("PAUSED")
t.read(0.1)
before = t.all
end = time.monotonic() + 1.2
while time.monotonic() < end:
    t.read(0.1)
check(t.all == before, "draws while it pauses")
t.type(" ")
t.wait(r"\n[^P]*by function")
t.type("a")
t.wait(r"all \d+\.\d s")
t.type("w")
t.wait(r"saved saved\.cap")
check(os.stat("saved.cap").st_size > 1000, "saves nothing")
t.type("q")
check(t.end() == 0, "fails")
check(t.all.rstrip().endswith("\x1b[?25h\x1b[?1049l"), "does not give the screen back")

# Without colours, and ended by Ctrl-C.
t = Terminal([jsprof, "top", pid], environment={"NO_COLOR": "1"})
t.wait(r"spin \(spin\.lark:1\)")
check(not re.search(r"\x1b\[[0-9;]*m", t.all), "has colours in spite of NO_COLOR")
t.type("\x03")
check(t.end() == 0, "fails when it is interrupted")
check(t.all.rstrip().endswith("\x1b[?25h\x1b[?1049l"), "does not give the screen back")

# A terminal without escapes.
t = Terminal([jsprof, "top", "--delay", "0.2", pid], environment={"TERM": "dumb"})
end = time.monotonic() + 30
while t.all.count("spin (spin.lark:1)") < 2 and time.monotonic() < end:
    t.read(0.2)
t.type("q")
check(t.end() == 0, "fails on a terminal without escapes")
check("\x1b" not in t.all, "prints escapes on a terminal that has none")
