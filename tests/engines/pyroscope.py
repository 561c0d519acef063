# engines/pyroscope.py - asks Pyroscope's own API: for pyroscope.sh.
#
#     pyroscope.py URL MERGED.csv LABELS PID...   the shares of each process and of all, beside
#                                                 those of jsprof merge
#
# SPDX-License-Identifier: MIT
import collections
import sys
import time

from pprof import WORKS, asked, compare, merged, until

TYPE = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"


def ask(method, **words):
    now = int(time.time() * 1000)
    return asked("%s/querier.v1.QuerierService/%s" % (url, method),
                 dict(words, start=now - 3600_000, end=now + 60_000))


def of(selector):
    """The nanoseconds of the innermost function of a stack that works."""
    profile = ask("SelectMergeProfile", profileTypeID=TYPE, labelSelector="{%s}" % selector)
    texts = profile.get("stringTable", [""])
    names = {f["id"]: texts[int(f.get("name", 0))].split(" ")[0]
             for f in profile.get("function", [])}
    lines = {at["id"]: [names[line["functionId"]] for line in at.get("line", [])]
             for at in profile.get("location", [])}
    sums = collections.Counter()
    for sample in profile.get("sample", []):
        stack = [name for at in sample.get("locationId", []) for name in lines[at]]
        name = next((name for name in stack if name in WORKS), None)
        if name:
            sums[name] += sum(map(int, sample["value"]))
    return sums


url, csv, labels, *pids = sys.argv[1:]
until(lambda: set(pids) <= set(ask("LabelValues", name="pid").get("names", [])),
      "Pyroscope has the label pid of all processes")
is_equal = True
for pid in pids:
    until(lambda: of('%s,pid="%s"' % (labels, pid)), "%s has a profile with %s" % (pid, labels))
    is_equal = compare(pid, of('%s,pid="%s"' % (labels, pid)), merged(csv)) and is_equal
is_equal = compare("all", of(labels), merged(csv)) and is_equal
sys.exit(not is_equal)
