# engines/parca.py - asks Parca's own API: for parca.sh.
#
#     parca.py URL MERGED.csv LABELS [PID...] the shares of each process, as labels of its series,
#                                             and of all, beside those of jsprof merge
#
# SPDX-License-Identifier: MIT
import base64
import sys
import time
import urllib.parse

from pprof import asked, compare, merged, until, works

TYPE = "process_cpu:cpu:nanoseconds:cpu:nanoseconds:delta"

ENOUGH = 1e9  # ns: a hundred samples


def ask(path, **words):
    words.update({key: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + far))
                  for key, far in words.pop("span").items()})
    return asked("%s/api/profiles/%s?%s" % (url, path, urllib.parse.urlencode(words)))


def of(selector):
    """The works of all profiles of this hour with these labels."""
    answer = ask("query", mode="MODE_MERGE", reportType="REPORT_TYPE_PPROF",
                 span={"merge.start": -3600, "merge.end": 60},
                 **{"merge.query": "%s{%s}" % (TYPE, selector)})
    return works(base64.b64decode(answer["pprof"]))


url, csv, labels, *pids = sys.argv[1:]
hour = {"start": -3600, "end": 60}
until(lambda: any(t.get("name") == "process_cpu" for t in ask("types", span=hour).get("types", [])),
      "Parca has a profile of process_cpu")
until(lambda: set(pids) <= set(ask("labels/pid/values", span=hour).get("labelValues", [])),
      "Parca has the label pid of all processes")
is_equal = True
for pid in pids:
    is_equal = compare(pid, of('%s,pid="%s"' % (labels, pid)), merged(csv)) and is_equal
until(lambda: sum(of(labels).values()) > ENOUGH, "Parca has profiles of %s" % labels)
is_equal = compare("all", of(labels), merged(csv)) and is_equal
sys.exit(not is_equal)
