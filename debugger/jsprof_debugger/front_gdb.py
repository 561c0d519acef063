# gdb: where it finds memory, tables, threads and C frames; the filter that makes `bt` one stack.
#
# SPDX-License-Identifier: MIT
import bisect

import gdb
from gdb.FrameDecorator import FrameDecorator

from . import merge, stack
from .memory import PAGE, Memory
from .program import Program
from .tables import MAGIC, Unknown, tables_in

TABLES = 'jsprof_tables'
REGISTERS = {
    # those that a compiler keeps for long
    'i386:x86-64': ('rsp', 'rbp', 'rbx rbp r12 r13 r14 r15 r8 r9 r10 r11 rsi rdi'),
    'aarch64': ('sp', 'x29', ' '.join(f'x{n}' for n in range(19, 29))),
}

# those that interpreters in assembly use
EXTRA = {'i386:x86-64': ('rdx', 'rbx')}


class State:
    """What is known until the program runs on."""
    sections = None    # [(low, high)]; None: to be searched
    objects = None     # the same, of all other sections
    program = None
    searching = False


def forget(*_):
    State.program = None


def forget_sections(*_):
    State.sections = State.program = None


for name in ('cont', 'exited', 'memory_changed', 'register_changed', 'inferior_call'):
    if hasattr(gdb.events, name):
        getattr(gdb.events, name).connect(forget)
for name in ('new_objfile', 'clear_objfiles', 'free_objfile', 'exited', 'new_inferior',
             'inferior_deleted', 'executable_changed'):
    if hasattr(gdb.events, name):
        getattr(gdb.events, name).connect(forget_sections)


def read_page(at):
    try:
        return bytes(gdb.selected_inferior().read_memory(at, PAGE))
    except (gdb.MemoryError, gdb.error, OverflowError):
        return None


def sections():
    """Return where the sections with tables are, also of stripped objects, and those of objects,
    but not the parts of a core file."""
    found, objects = [], []
    for line in gdb.execute('info files', to_string=True).splitlines():
        place, is_, name = line.strip().partition(' is ')
        name = name.split(' ')[0]
        low, dash, high = place.partition(' - ')
        if not is_ or not dash or name.startswith(('load', 'note', '.reg', '.aux')):
            continue
        (found if name == TABLES else objects).append((int(low, 16), int(high, 16)))
    return found or by_symbol(), sorted(objects)


def is_object(pc):
    """Return whether pc is in an object."""
    objects = State.objects or []
    at = bisect.bisect_right(objects, (pc, 1 << 64)) - 1
    return at >= 0 and objects[at][0] <= pc < objects[at][1]


def is_walked(known, pc):
    """Return whether pc is in code that only a walker knows, whose frames it gives."""
    return not is_object(pc) and not known.code_at(pc)


def by_symbol():
    """Find the library's own table by its symbol: sections may be missing."""
    try:
        at = int(gdb.parse_and_eval('(unsigned long)&jsprof_debug'))
    except gdb.error:
        return []
    data = read_page(at & ~(PAGE - 1))
    return [(at, at + 48)] if data and MAGIC in data else []


def program():
    """Return the Program, or None if no process or core file is there, or no jsprof in it."""
    inferior = gdb.selected_inferior()
    if State.searching or not inferior.pid:
        return None
    if State.program is None:
        State.searching = True
        try:
            if State.sections is None:
                State.sections, State.objects = sections()
            memory = Memory(read_page)
            tables = [t for low, high in State.sections for t in tables_in(memory, low, high)]
            State.program = Program(memory, tables, symbol)
        finally:
            State.searching = False
    return State.program if State.program.tables else None


def symbol(address):
    """Return the name of the C function that begins at an address, or None."""
    try:
        text = gdb.execute(f'info symbol {address:#x}', to_string=True)
    except gdb.error:
        return None
    name = text.split(' in section ')[0]
    return None if text.startswith('No symbol') or ' + ' in name else name


def need_program():
    found = program()
    if not found:
        raise gdb.GdbError('no jsprof in this program, or it does not run')
    if not found.sessions():
        for problem in found.problems():
            raise gdb.GdbError(problem)
        raise gdb.GdbError('the program describes nothing: no session is open')
    return found


# -- Frames ---------------------------------------------------------------------------------

def architecture(frame):
    return REGISTERS.get(frame.architecture().name())


def register(frame, name):
    try:
        return int(frame.read_register(name)) & (1 << 64) - 1
    except (gdb.error, ValueError, TypeError):
        return 0


def registers(frame):
    names = architecture(frame)
    if not names:
        raise Unknown(f'this script does not know the registers of {frame.architecture().name()}')
    sp, fp, rest = names
    found = {name: register(frame, name) for name in EXTRA.get(frame.architecture().name(), ())}
    found.update(pc=frame.pc(), sp=register(frame, sp), fp=register(frame, fp),
                 rest=[register(frame, r) for r in rest.split()])
    return found


def cfa(frame):
    """Return the stack pointer of the frame's caller."""
    names = architecture(frame)
    try:
        older = frame.older()
    except gdb.error:
        older = None
    if older is None:
        reason = frame.unwind_stop_reason()
        ended = reason in (gdb.FRAME_UNWIND_NO_REASON, gdb.FRAME_UNWIND_OUTERMOST)
        return merge.FAR if ended else register(frame, names[0])
    return register(older, names[0])


def natives(decorators, known):
    for decorator in decorators:
        frame = decorator.inferior_frame()
        pc = frame.pc()
        # of a call the return address is one past it
        at = pc - (frame.level() > 0 and frame.newer().type() != gdb.SIGTRAMP_FRAME)
        yield merge.Native(at, cfa(frame), decorator, known.is_loop(at))


def thread_runs(known, thread, innermost):
    regs = registers(innermost)
    return stack.runs(thread, known, regs)


def one_stack(known, decorators):
    """Return an iterator over stack.Frame and merge.Native of the selected thread, or None."""
    selected = gdb.selected_thread()
    if not selected or not known:
        return None
    thread = known.thread(selected.ptid[1])
    if not thread:
        return None
    runs = thread_runs(known, thread, gdb.newest_frame())
    has_loops = bool(thread.session.memory.u32(
        thread.session.at + thread.session.table['session.n_loops']))
    return merge.merge(runs, natives(decorators, known), merge.Levels(thread), has_loops)


class HostFrame(FrameDecorator):
    """A frame of the host. gdb takes the level from the C frame beside it."""

    def __init__(self, frame, beside):
        super().__init__(beside)
        self.frame = frame
        self.hidden = []

    def function(self):
        only_line = self.frame.line and not self.frame.file
        return f'{self.frame.name}:{self.frame.line}' if only_line else self.frame.name

    def filename(self):
        return self.frame.file or None

    def line(self):
        return self.frame.line or None if self.frame.file else None

    def address(self):
        return None

    def frame_args(self):
        return None

    def frame_locals(self):
        return None

    def elided(self):
        return iter(self.hidden) if self.hidden else None


class WalkedFrame(HostFrame):
    """A frame of compiled code that the host's module names."""

    def address(self):
        return FrameDecorator.address(self)


class CodeFrame(FrameDecorator):
    """A C frame, or one of registered code, which has a name and a line."""

    def __init__(self, base, code, pc):
        super().__init__(base)
        self.code = code
        self.pc = pc
        self.hidden = []

    def function(self):
        if self.code:
            return (self.code.label() or '??').partition(' (')[0]
        name = super().function()
        return '??' if isinstance(name, int) and not self.inferior_frame().name() else name

    def place(self):
        label = self.code.label() or ''
        at = label.rfind(' (')
        return stack.split_place(label[at + 2:-1]) if at > 0 and label.endswith(')') else ('', 0)

    def filename(self):
        return (self.place()[0] or None) if self.code else super().filename()

    def line(self):
        return (self.code.line(self.pc) or None) if self.code else super().line()

    def elided(self):
        return iter(self.hidden) if self.hidden else super().elided()


def names_at(known, frame):
    """Return stack.Frames of the functions in compiled code that is not registered, innermost
    first. None: it is no such code. []: nobody knows a name, or the host's walk gives it."""
    pc = frame.pc()
    if not is_walked(known, pc):
        return None
    thread = known.thread(gdb.selected_thread().ptid[1])
    walker = thread.pointer('walk') if thread else 0
    table, module = stack.host_module(known, 'walk', walker) if walker else (None, None)
    if not hasattr(module, 'names_at'):
        return None if not hasattr(module, 'caller') else []
    at = module.names_at(known, table, thread, pc)
    if at is None:
        return []
    found = [stack.Frame(name, file, line, kind='jit') for name, file, line in at]
    return found or [stack.Frame('[compiled code]', kind='jit')]


def decorated(known, frames):
    """Yield decorators. Frames of the interpreter itself belong to the frame further in, so
    that `bt -hide` shows none of them."""
    last, beside, waiting = None, None, []
    for frame in frames:
        if isinstance(frame, stack.Frame):
            if beside is None:
                waiting.append(frame)
                continue
            one, hides = HostFrame(frame, beside), False
        else:
            beside = frame.frame.inferior_frame()
            named = names_at(known, beside)
            for early in waiting + (named or [])[:-1]:
                if last:
                    yield last
                last = HostFrame(early, beside)
            waiting = []
            if named:
                one = WalkedFrame(named[-1], beside)
            else:
                one = CodeFrame(frame.frame, known.code_at(frame.pc), frame.pc)
            # that of a walker without names gives the functions itself
            hides = named == [] or (not named and known.is_hidden(frame.pc) and not one.code)
        if hides and last:
            last.hidden.append(one)
            continue
        if last:
            yield last
        last = one
    if last:
        yield last


class Filter:
    """`bt` as one stack."""

    def __init__(self):
        self.name = 'jsprof'
        self.priority = 90
        self.enabled = True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        frames = iter(frames)
        try:
            known = program()
            found = one_stack(known, frames) if known else None
        except Unknown as problem:
            gdb.write(f'jsprof: {problem}\n', gdb.STDERR)
            found = None
        return decorated(known, found) if found is not None else frames
