# engines/pprof.py - what an engine answers: for parca.py and pyroscope.py.
#
# SPDX-License-Identifier: MIT
import collections
import csv
import gzip
import json
import math
import sys
import time
import urllib.error
import urllib.request

WORKS = ("leastwork", "middlework", "mostwork")


def asked(url, body=None):
    """The answer of an engine in JSON, as it is; a body is posted."""
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        sys.exit("%s: %s %s" % (url, error, error.read()[:300]))


def until(holds, what, seconds=120):
    """Wait until holds() gives something, and return that."""
    limit = time.monotonic() + seconds
    while True:
        found = holds()
        if found:
            return found
        if time.monotonic() > limit:
            sys.exit("%s: not within %d s" % (what, seconds))
        time.sleep(0.5)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            return value, at


def fields(data):
    """The fields of a message by number."""
    at, found = 0, collections.defaultdict(list)
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 2:
            n, at = varint(data, at)
            found[tag >> 3].append(data[at:at + n])
            at += n
        else:
            value, at = varint(data, at)
            found[tag >> 3].append(value)
    return found


def numbers(values):
    """A list of numbers, packed or not."""
    for value in values:
        at = 0
        if isinstance(value, int):
            yield value
            continue
        while at < len(value):
            one, at = varint(value, at)
            yield one


def works(data):
    """The nanoseconds of the innermost function of a stack that works, of a pprof of one kind."""
    profile = fields(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    texts = [text.decode() for text in profile[6]]
    names, lines, sums = {}, {}, collections.Counter()
    for function in map(fields, profile[5]):
        names[function[1][0]] = texts[function[2][0]].split(" ")[0] if function[2] else ""
    for location in map(fields, profile[4]):
        lines[location[1][0]] = [names[line[1][0]] for line in map(fields, location[4])]
    for sample in map(fields, profile[2]):
        stack = [name for at in numbers(sample[1]) for name in lines[at]]
        name = next((name for name in stack if name in WORKS), None)
        if name:
            sums[name] += sum(numbers(sample[2]))
    return sums


def merged(path):
    """The same of `jsprof report --csv --by function` of merged captures."""
    sums = collections.Counter()
    for row in csv.DictReader(open(path)):
        name = next(v for k, v in row.items() if k in ("name", "function")).split(" ")[0]
        if name in WORKS:
            sums[name] += float(next(v for k, v in row.items() if k.startswith("total")))
    return sums


def compare(who, got, want, period=10_000_000):
    """Say what both are. Whether their shares are equal within 4.5 deviations of two samplings of
    one share, and 1 % for the program's own unequal turns."""
    is_equal = bool(sum(got.values()) and sum(want.values()))
    samples = [max(1, sum(of.values()) / period) for of in (got, want)]
    words = []
    for name in WORKS:
        share, of_want = (of[name] / max(1, sum(of.values())) for of in (got, want))
        one = (share * samples[0] + of_want * samples[1]) / sum(samples)
        may = 4.5 * math.sqrt(one * (1 - one) * sum(1 / n for n in samples)) + 0.01
        words.append("%s %.3f (%.3f)" % (name, share, of_want))
        is_equal = is_equal and abs(share - of_want) <= may
    print("%s: %d (%d) samples, %s%s" % (who, *samples, ", ".join(words),
                                         "" if is_equal else ": WRONG"))
    return is_equal
