# The source around a line, in colour where that is wanted.
#
# SPDX-License-Identifier: MIT
import os
import re

AROUND = 5
WORDS = ('and as async await break case catch class const continue def do else elseif elif end '
         'export extends false finally fn for from func function goto if import in instanceof '
         'let local new nil none not null of or repeat return self static super switch then '
         'this throw true try typeof undefined until var void while with yield').split()
TOKEN = re.compile(
    r'(?P<comment>--.*|//.*|(?<!\S)#.*)|(?P<string>"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|'
    r'`(?:\\.|[^`\\])*`)|(?P<number>\b\d[\w.]*)|(?P<word>\b[A-Za-z_]\w*\b)')
COLOURS = {'comment': '2;37', 'string': '32', 'number': '35', 'keyword': '1;34', 'name': '36'}


def may_colour():
    """NO_COLOR, if it is not empty, forbids colour: no-color.org."""
    return not os.environ.get('NO_COLOR')


def read(file, folders):
    """Return (path, text) of a source file, or (why, None)."""
    if file.startswith('file://'):
        file = file[7:]
    tries = [file] if os.path.isabs(file) else [os.path.join(f, file) for f in folders]
    for folder in folders:
        tries.append(os.path.join(folder, os.path.basename(file)))
    why = 'no such file'
    for path in tries:
        try:
            with open(path, encoding='utf-8', errors='replace') as source:
                return path, source.read()
        except FileNotFoundError:
            continue
        except OSError as error:
            why = error.strerror or why
    return why, None


def coloured(line):
    def one(match):
        kind = match.lastgroup
        text = match.group()
        if kind == 'word':
            if text in WORDS:
                kind = 'keyword'
            elif line[match.end():].lstrip()[:1] == '(':
                kind = 'name'
        return f'\033[{COLOURS[kind]}m{text}\033[0m' if kind in COLOURS else text
    return TOKEN.sub(one, line)


def around(text, line, is_current, colour):
    """Return the lines around `line`; an arrow shows it if it is the current one."""
    lines = text.splitlines()
    low, high = max(1, line - AROUND), min(len(lines), line + AROUND)
    width, out = len(str(high)), []
    for n in range(low, high + 1):
        arrow = '->' if n == line and is_current else '  '
        source = lines[n - 1]
        if colour:
            strong = '1;33' if n == line else '2'
            out.append(f'\033[{strong}m{arrow} {n:>{width}d}\033[0m  {coloured(source)}')
        else:
            out.append(f'{arrow} {n:>{width}d}  {source}'.rstrip())
    return '\n'.join(out) + '\n' if out else f'   the file has {len(lines)} lines\n'
