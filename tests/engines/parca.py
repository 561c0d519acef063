# engines/parca.py - asks Parca's own API: for parca.sh and many-parca.sh.
#
#     parca.py shares URL MERGED.csv LABELS [PID...]
#                                         the shares of each process, as labels of its series, and
#                                         of all, beside those of jsprof merge
#     parca.py table URL VIA <MACHINES    of each line, MACHINE PID, what its series has: lines
#                                         PID - FUNCTION NANOSECONDS; and "distinct N": profiles
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


HOUR = {"start": -3600, "end": 60}


def shares(csv, labels, *pids):
    until(lambda: any(t.get("name") == "process_cpu"
                      for t in ask("types", span=HOUR).get("types", [])),
          "Parca has a profile of process_cpu")
    until(lambda: set(pids) <= set(ask("labels/pid/values", span=HOUR).get("labelValues", [])),
          "Parca has the label pid of all processes")
    is_equal = True
    for pid in pids:
        is_equal = compare(pid, of('%s,pid="%s"' % (labels, pid)), merged(csv)) and is_equal
    until(lambda: sum(of(labels).values()) > ENOUGH, "Parca has profiles of %s" % labels)
    return compare("all", of(labels), merged(csv)) and is_equal


def table(via):
    for machine, pid in map(str.split, sys.stdin):
        sums = of('via="%s",machine="%s",pid="%s"' % (via, machine, pid))
        for name, took in sorted(sums.items()):
            print(pid, "-", name, took)
    # A profile of a series is of a time of its own; one that came twice is there once.
    series = ask("query_range", query='%s{via="%s"}' % (TYPE, via), span=HOUR, step="0.001s",
                 sumBy="machine").get("series", [])
    print("distinct", sum(len(one.get("samples", [])) for one in series))
    return True


what, url, *words = sys.argv[1:]
sys.exit(not {"shares": shares, "table": table}[what](*words))
