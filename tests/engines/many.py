# engines/many.py - compares what an engine has of many processes with jsprof merge: for
# lib-many.sh.
#
#     many.py chance|equal FOLDER <TABLE  TABLE has lines PID VM FUNCTION NANOSECONDS, FOLDER a
#                                         report of each process, PID.csv, and of all, all.csv
#
# SPDX-License-Identifier: MIT
import collections
import contextlib
import io
import os
import sys

from pprof import WORKS, compare, merged

how, folder = sys.argv[1:]
got = collections.defaultdict(collections.Counter)
for line in sys.stdin:
    word = line.split()
    if len(word) == 4 and word[2] in WORKS:
        got[word[0]][word[2]] += int(word[3])
        got["all"][word[2]] += int(word[3])
wrong = none = 0
names = sorted(name[:-4] for name in os.listdir(folder))
for name in names:
    want = merged(os.path.join(folder, name + ".csv"))
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        is_same = compare(name, got[name], want)
    has_none = not got[name] or not want # a process that had no processor
    is_right = got[name] == want if how == "equal" else is_same or has_none
    if name == "all" or not is_right:
        print(said.getvalue(), end="")
    wrong += not is_right
    none += has_none
print("%s: %d processes, %d wrong, %d without samples, %d ns" %
      (how, len(names) - 1, wrong, none, sum(got["all"].values())))
sys.exit(wrong > 0 or none * 5 > len(names) or set(got) != set(names))
