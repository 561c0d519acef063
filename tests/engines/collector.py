# engines/collector.py - what the OpenTelemetry collector has written: for collector.sh.
#
#     collector.py FILE     a line for each process and function whose name has "work", with what
#                           it called: PID VM FUNCTION NANOSECONDS; "label KEY=VALUE NANOSECONDS"
#                           for each label of a sample; "profiles N": requests; and "distinct N":
#                           without those that came twice
#
# SPDX-License-Identifier: MIT
import collections
import json
import sys

BEGIN = '{"resourceProfiles"'


def requests_of(path):
    """Each request that is whole: one that was being written when the engine was killed is not."""
    with open(path, encoding='utf-8', errors='replace') as file:
        all_of_it = file.read()
    decoder = json.JSONDecoder()
    at = all_of_it.find(BEGIN)
    while at >= 0:
        try:
            got, end = decoder.raw_decode(all_of_it, at)
            yield got
        except json.JSONDecodeError:
            end = at + 1
        at = all_of_it.find(BEGIN, end)


sums, labels = collections.Counter(), collections.Counter()
requests, distinct = 0, set()
for got in requests_of(sys.argv[1]):
    requests += 1
    tables = got['dictionary']
    texts = tables['stringTable']

    def text(index):
        return texts[index or 0]

    def value(of):
        if 'stringValueStrindex' in of:
            return text(of['stringValueStrindex'])
        return of.get('stringValue', of.get('intValue'))

    for one in got['resourceProfiles']:
        about = {a.get('key') or text(a.get('keyStrindex')): value(a['value'])
                 for a in one['resource']['attributes']}
        for scope in one['scopeProfiles']:
            for profile in scope['profiles']:
                kind = profile['sampleType']
                if text(kind.get('unitStrindex')) != 'nanoseconds':
                    continue
                distinct.add((about['process.pid'], profile['timeUnixNano']))
                for sample in profile['samples']:
                    stack = tables['stackTable'][sample['stackIndex']]
                    name = '?'
                    for index in stack['locationIndices']: # the innermost that works
                        lines_of = tables['locationTable'][index].get('lines', [])
                        names = [text(tables['functionTable'][at['functionIndex']]
                                      .get('nameStrindex')) for at in lines_of]
                        found = [n for n in names if 'work' in n.split(' ')[0]]
                        if found:
                            name = found[0]
                            break
                    key = (about['process.pid'], about.get('process.runtime.name', '-'), name)
                    took = sum(int(v) for v in sample['values'])
                    sums[key] += took
                    for index in sample.get('attributeIndices', []):
                        entry = tables['attributeTable'][index]
                        labels[text(entry.get('keyStrindex')), value(entry['value'])] += took
for (pid, vm, name), total in sorted(sums.items()):
    print(pid, vm.replace(' ', '_') or '-', name.split(' ')[0], total)
for (key, one), total in sorted(labels.items(), key=str):
    print('label %s=%s %d' % (key, one, total))
print('profiles', requests)
print('distinct', len(distinct))
