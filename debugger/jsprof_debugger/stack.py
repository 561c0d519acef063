# The frames of a host's stack, in the three forms of jsprof.h, as runs that are outermost
# first, like those of src/sigsafe/vmstack.c.
#
# SPDX-License-Identifier: MIT
import importlib
import re

from .program import KINDS

MOST_FRAMES = 1 << 16
MOST_STACKS = 16
RED_ZONE = 128
PLACED = re.compile(r'^(.*) \((.*?):(\d+)(?::\d+)?\)$')  # "name (file:line:column)"
KIND_MASK = 0xF
JOINS = (('', ' ', ''), ('', ' (', ')'), ('', '.', ''), ('get ', '.', ''), ('set ', '.', ''))
ENTRY, CALLER, NO_TABLE, CALLED, SYMBOL, DEFINED = (1 << n for n in range(16, 22))


class Frame:
    """A frame of the host. `shown` is its name as jsprof_backtrace has it."""

    __slots__ = ('shown', 'name', 'file', 'line', 'pc', 'sp', 'kind', 'entry', 'called', 'gap',
                 'defined')

    def __init__(self, name, file='', line=0, **more):
        self.name = name
        self.file = file
        self.line = line          # current, 0: unknown
        self.shown = more.get('shown') or name
        self.pc = more.get('pc', 0)
        self.sp = more.get('sp', 0)
        self.kind = more.get('kind', 'vm')
        self.entry = more.get('entry', False)
        self.called = more.get('called', False)
        self.gap = more.get('gap', False)
        self.defined = more.get('defined', 0)


def mark(text):
    return Frame(text, kind='synth', gap=True)


class Raw:
    """The values of a jsprof_frame."""

    __slots__ = ('function', 'label', 'detail', 'sp', 'pc', 'line', 'kind')

    def __init__(self):
        self.function = self.label = self.detail = self.sp = self.pc = self.line = self.kind = 0


def raw_at(memory, table, at):
    raw = Raw()
    for field in ('function', 'label', 'detail', 'sp'):
        setattr(raw, field, memory.pointer(at + table['frame.' + field]))
    raw.pc = memory.u64(at + table['frame.pc'])
    raw.line = memory.u32(at + table['frame.line'])
    raw.kind = memory.u32(at + table['frame.kind'])
    return raw


def split_place(place):
    """Return (file, line) of "file:line", or (place, 0)."""
    file, colon, line = place.rpartition(':')
    return (file, int(line)) if colon and line.isdigit() else (place, 0)


def joined(label, detail, kind):
    """Return (shown, name, file, line of the definition) of a name in two parts."""
    if not label or not detail:
        return label or detail, label or detail, '', 0
    join = kind >> 8 & 0xFF
    before, between, after = JOINS[join if join < len(JOINS) else 0]
    shown = before + label + between + detail + after
    if join != 1:
        return shown, shown, '', 0
    return (shown, label) + split_place(detail)


def frame_of(session, raw):
    """Return the Frame of these values."""
    common = {'sp': raw.sp, 'pc': raw.pc, 'entry': bool(raw.kind & ENTRY),
              'called': bool(raw.kind & CALLED)}
    if raw.function:
        return function_frame(session, raw, common)
    memory = session.memory
    label = memory.text(raw.label) if raw.label else ''
    detail = memory.text(raw.detail) if raw.detail else ''
    if raw.kind & DEFINED:
        common['pc'] = raw.pc & 0xFFFFFFFF
        detail = f'{detail}:{raw.pc >> 32}' if detail and raw.pc >> 32 else detail
    if raw.kind & SYMBOL:
        common['pc'] = 0
    shown, name, file, defined = joined(label, detail, raw.kind)
    kind = KINDS[min(raw.kind & KIND_MASK, len(KINDS) - 1)]
    if not shown:
        return Frame('[no name]', line=raw.line, kind='synth', **common)
    if not file and kind in ('vm', 'jit') and PLACED.match(shown):
        return named(shown, kind, line=raw.line, **common)
    return Frame(name, file, raw.line, shown=shown, kind=kind, defined=defined, **common)


def named(shown, kind, **more):
    """Return the Frame of a function whose name has its place: "name (file:line:column)"."""
    split = PLACED.match(shown)
    name, file, defined = split.groups() if split else (shown, '', 0)
    return Frame(name, file, shown=shown, kind=kind, defined=int(defined), **more)


def function_frame(session, raw, common):
    found = session.function(raw.function)
    if not found:
        return Frame('[no name]', line=raw.line, kind='synth', **common)
    name, file, defined, kind = found
    shown = name
    if file:
        shown = f'{name} ({file}:{defined})' if defined else f'{name} ({file})'
    line = raw.line
    if not line and raw.pc:
        line = session.function_line(raw.function, raw.pc)
    return Frame(name, file, line, shown=shown, kind=kind, defined=defined, **common)


# -- Form (a): ours -----------------------------------------------------------------------

def links(thread, sp):
    """Linked entries. Those below the stack pointer are dead: longjmp left their C frames."""
    s = thread.session
    m, t = s.memory, s.table
    low, high = thread.pointer('low'), thread.pointer('high')
    floor, seen, run = sp - RED_ZONE, set(), []
    at = thread.pointer('links')
    while at and at not in seen and len(seen) < MOST_FRAMES and at % 8 == 0:
        seen.add(at)
        ours = low <= at < high and low <= floor < high
        up = m.pointer(at + t['link.up'])
        if ours and at < floor:
            run = []
        else:
            raw = Raw()
            raw.function = m.pointer(at + t['link.function'])
            raw.line, raw.pc = m.u32(at + t['link.line']), m.u32(at + t['link.pc'])
            raw.sp = at
            if not s.function(raw.function):
                break
            run.append(frame_of(s, raw))
            floor = max(floor, at - 4096) if ours else floor
        at = up
    run.reverse()
    return run


def array(thread):
    """Array entries."""
    s = thread.session
    depth, capacity = thread.u32('depth'), thread.u32('capacity')
    at, bytes_ = thread.pointer('frames'), s.table['frame.bytes']
    run = [frame_of(s, raw_at(s.memory, s.table, at + i * bytes_))
           for i in range(min(depth, capacity, MOST_FRAMES))]
    return run + [mark('[deeper frames cut]')] if depth > capacity else run


def checked(run, thread, sp):
    """Remove the stack addresses of array entries whose C frames are gone."""
    low, high = thread.pointer('low'), thread.pointer('high')
    floor = sp - RED_ZONE if low <= sp < high else 0
    for frame in reversed(run):
        if not frame.sp or not low <= frame.sp < high:
            continue
        if frame.sp < floor:
            frame.sp = 0
        else:
            floor = frame.sp
    return run


# -- Form (b): the host's own array -------------------------------------------------------

class HostStack:
    """A jsprof_stack."""

    def __init__(self, thread):
        self.thread, self.s = thread, thread.session
        self.m, self.at = self.s.memory, thread.field('stack')

    def pointer(self, field):
        return self.m.pointer(self.at + self.s.table['stack.' + field])

    def u32(self, field):
        return self.m.u32(self.at + self.s.table['stack.' + field])

    def i32(self, field):
        return self.m.i32(self.at + self.s.table['stack.' + field])

    def variables(self):
        """Return the addresses of each stack's variables, outermost first."""
        context = self.pointer('context')
        if not context:
            return [tuple(self.pointer(f) for f in ('depth', 'end', 'entries', 'capacity'))]
        offsets = [self.i32(f) for f in ('depth_at', 'end_at', 'entries_at', 'capacity_at')]
        resumer, chain, at = self.i32('resumer_at'), [], self.m.pointer(context)
        while at and len(chain) < MOST_STACKS:
            chain.append(tuple(at + o if o >= 0 else 0 for o in offsets))
            at = self.m.pointer(at + resumer) if resumer >= 0 else 0
        return list(reversed(chain))

    def count(self, variables):
        """Return the address of entry 0, and the number of entries."""
        depth_at, end_at, entries_at, capacity_at = variables
        entries, stride = self.m.pointer(entries_at), self.u32('stride')
        if depth_at:
            wide = self.u32('depth_bytes') == 8
            n = self.m.u64(depth_at) if wide else self.m.i32(depth_at)
        else:
            end = self.m.pointer(end_at)
            n = 0
            if end and entries and stride and (end - entries) % stride == 0:
                n = (end - entries) // stride + (self.u32('end_is_last') != 0)
        limit = self.m.u32(capacity_at) if capacity_at else self.u32('limit')
        if limit or capacity_at:
            n = min(n, limit)
        return entries, n if entries and 0 < n <= MOST_FRAMES else 0

    def fields(self, entry):
        """Read an entry by its offsets."""
        raw = Raw()
        label, detail, sp = (self.i32(f + '_offset') for f in ('label', 'detail', 'sp'))
        line, pc, defined = (self.i32(f + '_offset') for f in ('line', 'pc', 'defined'))
        raw.label = self.m.pointer(entry + label) if label >= 0 else 0
        raw.detail = self.m.pointer(entry + detail) if detail >= 0 else 0
        raw.sp = self.m.pointer(entry + sp) if sp >= 0 else 0
        raw.line = self.m.u32(entry + line) if line >= 0 else 0
        raw.pc = self.m.u64(entry + pc) if pc >= 0 else 0
        raw.kind = self.u32('kind')
        if defined > 0:
            raw.kind |= DEFINED
            raw.pc = self.m.u32(entry + defined) << 32 | raw.pc & 0xFFFFFFFF
        return raw

    def run(self, decode):
        """Return the frames. `decode` returns the Raw of an entry; None: it is no frame, but
        its sp is that of the frames further in."""
        run, sp, stride = [], 0, self.u32('stride')
        for variables in self.variables():
            entries, n = self.count(variables)
            for i in range(n):
                raw, own_sp = decode(entries + i * stride)
                sp = own_sp or sp
                if raw is not None:
                    raw.sp = sp
                    run.append(frame_of(self.s, raw))
        return run


def host_stack(thread, program):
    stack = HostStack(thread)
    callback = stack.pointer('decode')
    if not callback:
        def decode(entry):
            raw = stack.fields(entry)
            return raw, raw.sp
        return stack.run(decode)
    table, module = host_module(program, 'decode', callback)
    if not module:
        return [mark('[frames of a callback that this script does not know]')]
    return stack.run(module.decoder(program, table, thread, stack.pointer('host')))


# -- Form (c): a walker --------------------------------------------------------------------

def host_module(program, key, value):
    """Return (table, module) of the host whose table has this callback, or (None, None)."""
    for table in program.tables:
        if table.host != 'jsprof' and table.get(key) == value and table.host.isidentifier():
            try:
                return table, importlib.import_module('.hosts.' + table.host, __package__)
            except ImportError:
                pass
    return None, None


def walker(thread, program, registers):
    callback = thread.pointer('walk')
    if not callback:
        return []
    table, module = host_module(program, 'walk', callback)
    if not module:
        return [mark('[frames of a walker that this script does not know]')]
    frames = module.walk(program, table, thread, registers)
    return list(reversed(frames))


def runs(thread, program, registers):
    """Return the runs of a thread whose registers are `registers` (sp, pc, fp and others)."""
    if thread.u32('paused'):
        return []
    sp = registers['sp']
    parts = [links(thread, sp)]
    parts.append(checked(array(thread), thread, sp) if thread.u32('depth') else [])
    has_host = any(HostStack(thread).pointer(f) for f in ('depth', 'end', 'context'))
    parts.append(host_stack(thread, program) if has_host else [])
    parts.append(walker(thread, program, registers))
    return parts
