# cli/schema.py - every answer of --json is valid by the schema that its command prints, and no
# schema accepts an answer that lacks a member, has one more, or has one of another type.
#
# SPDX-License-Identifier: MIT
import copy
import glob
import json
import re
import subprocess
import sys

from jsonschema import Draft202012Validator

jsprof = sys.argv[1]
bad = 0
ways = {
    'info': [[]],
    'threads': [[], ['--thread', '100']],
    'list': [[], ['--each'], ['--messages']],
    'loop': [[], ['--by', 'kind'], ['--by', 'task'], ['--by', 'thread']],
    'causes': [['promise']],
    'report': [[], ['--lines', '--native'], ['--sort', 'name', '--limit', '1'],
               ['--by', 'category'], ['--by', 'module', '--native']],
    'tree': [[], ['--bottom-up', '--lines', '--min', '0']],
    'callers': [['work'], ['work', '--limit', '1']],
    'callees': [['main']],
    'annotate': [['work'], ['main']],
    'calls': [[], ['--limit', '1'], ['--edges', '--limit', '1'], ['calls.cap'], ['calls2.cap']],
    'diff': [['good.cap'], ['foreign.cap', '--sort', 'total']],
    'dump': [[]],
}


def wrong(text):
    global bad
    print(text[:1000])
    bad = 1


def run(words):
    done = subprocess.run([jsprof] + words, capture_output=True)
    try:
        return json.loads(done.stdout) if done.stdout else None
    except ValueError as error:
        return wrong(f'{words}: no JSON: {error}')


def objects(value, path=()):
    """Each object of an answer, but of a list only the first, with its path."""
    if isinstance(value, dict):
        yield path
        for key in value:
            yield from objects(value[key], path + (key,))
    elif isinstance(value, list) and value:
        yield from objects(value[0], path + (0,))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def breaks(command, schema, answer):
    """Every object of the answer must be all that the schema allows, and nothing else."""
    for path in objects(answer):
        other = copy.deepcopy(answer)
        at(other, path)['more'] = 1
        if schema.is_valid(other):
            wrong(f'{path}: one more member is accepted')
        for key, value in at(answer, path).items():
            other = copy.deepcopy(answer)
            at(other, path)[key] = {'no': 'such type'}
            if schema.is_valid(other):
                wrong(f'{path} {key}: any type is accepted')
            other = copy.deepcopy(answer)
            del at(other, path)[key]
            if schema.is_valid(other) and (command, *path, key) not in optional:
                wrong(f'{path} {key}: may lack')


forms = {'--csv', '--json', '--json-schema', '--markdown', '--dot', '--follow'}

# Values that are chosen so that most of the captures have an answer.
values = {
    '--by': ['category', 'kind', 'tier', 'module', 'file', 'line', 'thread'], '--depth': ['1'],
    '--category': ['script'], '--categories': ['rules'], '--clock': ['cpu'], '--during': ['none'],
    '--file': ['.'], '--focus': ['work'], '--hide': ['leaf'], '--limit': ['1', '0'],
    '--map': ['/srv=/x'], '--measure': ['time'], '--min': ['10'], '--not': ['leaf'],
    '--only': ['work'], '--process': ['100'],
    '--sort': ['self', 'total', 'samples', 'name', 'calls'],
    '--source': ['x.js'], '--source-maps': ['.'], '--symbols': ['.'], '--thread': ['100'],
    '--time': ['0ms..'], '--top-of': ['vm'], '--trim-path': ['/srv'], '--under': ['work'],
}
flags = {'--bottom-up', '--collapse-recursion', '--each', '--edges', '--hide-system', '--idle',
         '--inverted', '--lines', '--messages', '--native', '--no-source-maps', '--recursion',
         '--vm'}
asked = (set(values) | flags) - {'--during'}  # no capture of these has a mark
tried = set()
open('rules', 'w').write('mine name=work*\n')

types = {}  # by name, whatever the command; dump's a and b are what the frame has


def described(schema, path):
    """Each member has a sentence, its unit in its name, and one type in all commands."""
    for name, part in schema.get('properties', {}).items():
        text, kind = part.get('description', ''), part.get('type', 'string')
        kind = (kind if isinstance(kind, str) else kind[0]).replace('integer', 'number')
        if not text.strip().endswith('.'):
            wrong(f'{path} {name}: no sentence describes it')
        if ('nanoseconds' in text) != name.endswith('_ns'):
            wrong(f'{path} {name}: its unit is not in its name')
        if path[0] != 'dump' and types.setdefault(name, kind) != kind:
            wrong(f'{path} {name}: is {kind} here, but {types[name]} elsewhere')
        described(part, path + [name])
        described(part.get('items', {}), path + [name])


optional = {('report', 'rows', 0, key) for key in ('module', 'file', 'line')}  # with --lines
optional |= {('list', 'rows', 0, 'message')}  # with --messages
optional |= {('loop', 'rows', 0, key) for key in ('name', 'task', 'process', 'thread', 'made')}
optional |= {('calls', 'edges')}  # without --limit, or with --edges
for command, many in ways.items():
    words = json.loads(subprocess.check_output([jsprof, command, '--json-schema']))
    Draft202012Validator.check_schema(words)
    schema = Draft202012Validator(words)
    seen = set()
    for document in words.get('anyOf', [words]):
        described(document, [command])
    for capture in sorted(glob.glob('*.cap')):
        for more in many:
            answer = run([command, '--json', capture] + more)
            if answer is None:
                continue
            for error in schema.iter_errors(answer):
                wrong(f'{command} {capture} {more}: {error.json_path}: {error.message}')
            shape = json.dumps([sorted(at(answer, p)) for p in objects(answer)])
            if shape not in seen:  # one answer of each shape is broken in each way
                seen.add(shape)
                small = {k: v[:1] if isinstance(v, list) else v for k, v in answer.items()}
                breaks(command, schema, small)
    if not seen:
        wrong(f'{command}: no answer')

    # Each option that the help names, with a value for those that want one.
    known = subprocess.run([jsprof, command, '--help'], capture_output=True, text=True).stdout
    for option in sorted(set(re.findall('--[a-z-]+', known)) - forms):
        for value in values.get(option, [None]):
            given = [option, value] if value else [option]
            for capture in ('good.cap', 'merged.cap', 'listing.cap', 'calls.cap'):
                words = [command, '--json', *given, capture, *many[0]]
                answer = run(words)
                if answer is None:
                    continue
                for error in schema.iter_errors(answer):
                    wrong(f'{words}: {error.json_path}: {error.message}')
                if command == 'report' and option != '--limit' and \
                        sum(row['self'] for row in answer['rows']) != answer['value']:
                    wrong(f'{words}: the rows are not {answer["value"]} together')
                tried.add(option)
if tried != asked:
    wrong(f'no answer with {sorted(asked - tried)}, or unknown: {sorted(tried - asked)}')
sys.exit(bad)
