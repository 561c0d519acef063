# follow.py JSPROF CAPTURE - follows a capture on a terminal until its program ends.
#
# SPDX-License-Identifier: MIT
import re
import sys

from terminal import Terminal, check

jsprof, capture = sys.argv[1:]


def runs(text):
    found = re.search(r"^ *(\d+) .*again", text, re.M)
    return int(found.group(1)) if found else -1


# The newest answer as far as it fits, and below it what is read.
t = Terminal([jsprof, "loop", "--follow", capture], rows=8)
t.wait(r"again[\s\S]*screen.cap: .*, growing; q ends")
first = runs(t.shown)
check(len(t.shown.strip().splitlines()) <= 8, "a picture is larger than the screen:\n" + t.shown)
check(not t.echoes(), "keys are echoed")
while runs(t.shown) <= first:
    check(t.read(5), "ended without another picture")

# The key ends it and leaves the newest answer on the usual screen.
t.type("q")
check(t.end() == 0, "q fails")
last = t.all.split("\x1b[?1049l")[-1]
check(runs(last) >= runs(t.shown), "leaves no answer behind: " + repr(last))

# The end of the program ends it, too.
t = Terminal([jsprof, "loop", "--follow", capture])
check(t.end(60) == 0, "the end of the program fails")
check(runs(t.all.split("\x1b[?1049l")[-1]) == 60, "ends without all runs: " + repr(t.all[-500:]))
