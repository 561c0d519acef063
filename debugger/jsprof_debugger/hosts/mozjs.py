# SpiderMonkey: the entries of its ProfilingStack, which its C++ interpreter and its native
# sections push; and compiled code, by SpiderMonkey's own tables. Where their layout is not known,
# by frame pointers and by the places that the binding remembers. See bindings/mozjs/walk.cpp.
#
# SPDX-License-Identifier: MIT
from ..stack import PLACED, Raw, named
from ._mozjs_code import Engine

PLACE_LABELS = 6
WORD = 8


def decoder(_program, table, thread, _host):
    """Return a function from the address of an entry to (Raw or None, its stack address)."""
    m, t = thread.session.memory, table

    def decode(entry):
        flags = m.u32(entry + t['entry.flags'])
        label, dynamic = m.pointer(entry + t['entry.label']), m.pointer(entry + t['entry.dynamic'])
        sp = m.pointer(entry + t['entry.sp'])
        raw = Raw()
        if flags & t['is.marker']:
            return None, sp
        if flags & t['is.script']:
            raw.label = dynamic
            return (None if not dynamic or flags & t['is.osr'] else raw), 0
        if not flags & t['is.label']:
            return None, 0
        raw.label, raw.detail, raw.sp = label, dynamic, sp
        raw.kind = 2 # a label
        for join, name in ((2, 'is.method'), (3, 'is.getter'), (4, 'is.setter')):
            if flags & t[name]:
                raw.kind = 2 | join << 8
        return (raw if label or dynamic else None), sp
    return decode


def engine(program, table, thread):
    """Return the Engine of a thread for this stop, or None if the binding has no layouts."""
    key = 'mozjs', thread.at
    if key not in program.kept:
        has_layout = table.get('cx.activation')
        program.kept[key] = Engine(thread.session.memory, table, thread) if has_layout else None
    return program.kept[key]


def walk(program, table, thread, registers):
    """Return the frames of compiled code, innermost first. To the debugger they are C frames."""
    code = engine(program, table, thread)
    found = []
    for frame in code.frames(registers['pc']) if code else []:
        for text, is_vm in code.names(frame):
            found.append(named(text, 'vm' if is_vm else 'jit', sp=frame.fp))
    return found


def by_pointer(m, thread, registers):
    """Compiled code keeps a frame pointer since SpiderMonkey 115."""
    high, fp = thread.pointer('high'), registers['fp']
    if fp % WORD or not registers['sp'] <= fp < min(high, 1 << 47):
        return None
    pc = m.pointer(fp + WORD)
    return (pc, fp + 2 * WORD, m.pointer(fp)) if pc else None


def caller(program, table, thread, registers):
    """Return (pc, sp, fp) of the caller of compiled code. Before 115 that is the C++ code that
    called the outermost compiled function of the same activation; where no layout is known, if it
    waits still, the one that the last sample has found."""
    m, t = thread.session.memory, table
    if t['frame_pointers']:
        return by_pointer(m, thread, registers)
    code = engine(program, table, thread)
    for place in code.callers() if code else []:
        if place[0] and place[1] > registers['sp']:
            return place
    last = thread.pointer('walk_host') + t['host.caller']
    pc, sp, fp = (m.pointer(last + t['caller.' + name]) for name in ('pc', 'sp', 'fp'))
    is_there = pc and sp > registers['sp'] and m.pointer(sp - WORD) == pc
    return (pc, sp, fp) if is_there else None


def names_at(program, table, thread, pc):
    """Return [(name, file, line)] of the functions at a place of compiled code, innermost first,
    as far as a sample has met it. None: walk gives them."""
    code = engine(program, table, thread)
    if code and code.knows(pc):
        return None
    m, t, host = thread.session.memory, table, thread.pointer('walk_host')
    words = host + t['host.words']
    if not m.u8(words + t['words.known']):
        return []
    code, epoch = m.u32(words + t['words.code']), m.u32(host + t['host.epoch'])
    for i in range(t['host.n_places']):
        place = host + t['host.places'] + i * t['place.bytes']
        if m.u32(place + t['place.epoch']) != epoch or \
                m.u64(place + t['place.walk'] + WORD * code) != pc:
            continue
        found = []
        for n in range(min(m.u32(place + t['place.n']), PLACE_LABELS)):
            text = m.text(m.pointer(place + t['place.labels'] + WORD * n)) or '?'
            line = m.u32(place + t['place.lines'] + 4 * n)
            split = PLACED.match(text)
            found.append((split.group(1), split.group(2), line) if split else (text, '', line))
        return found
    return []
