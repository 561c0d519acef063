# gdb: the commands `jsprof stack`, `threads`, `frame` and `list`.
#
# SPDX-License-Identifier: MIT
import gdb

from . import break_gdb, front_gdb, listing, stack, unwind_gdb
from .front_gdb import CodeFrame, Unknown


class State:
    loaded = False
    frame = 0 # the frame that `jsprof frame` chose
    where = None


class Shown:
    """A frame as the commands show it."""

    def __init__(self, number, name, file='', line=0, **more):
        self.number, self.name, self.file, self.line = number, name, file, line
        self.kind = more.get('kind', 'native')
        self.bytecode = more.get('bytecode', 0)
        self.pc = more.get('pc', 0)
        self.defined = more.get('defined', 0)
        self.level = more.get('level')

    def text(self):
        name = self.name or hex(self.pc)
        where = f' at {self.file}:{self.line}' if self.file and self.line else \
            f' in {self.file}' if self.file else f' :{self.line}' if self.line else ''
        return f'#{self.number:<4d}{self.kind:<7s}{name}{where}'


def symbol(frame):
    """Return (name, file, line) of a C frame."""
    name = frame.name()
    place = frame.find_sal()
    file = place.symtab.filename if place and place.symtab else ''
    return name, file, place.line if file else 0


class Plain:
    """In place of a decorator: the selected thread's frames without any filter."""

    def __init__(self, frame):
        self.frame = frame

    def inferior_frame(self):
        return self.frame


def plain_frames():
    frame = gdb.newest_frame()
    while frame is not None:
        yield Plain(frame)
        try:
            frame = frame.older()
        except gdb.error:
            return


def shown_frames(known):
    """Return the frames of the selected thread as Shown."""
    frames = front_gdb.one_stack(known, plain_frames())
    if frames is None: # the thread is attached to no session
        frames = front_gdb.natives(plain_frames(), known)
    found = []
    for frame in frames:
        n = len(found)
        if isinstance(frame, stack.Frame):
            found.append(Shown(n, frame.name, frame.file, frame.line, kind=frame.kind,
                               bytecode=frame.pc, defined=frame.defined))
            continue
        inner = frame.frame.inferior_frame()
        code = known.code_at(frame.pc)
        named = front_gdb.names_at(known, inner)
        if named:
            found += [Shown(n + i, f.name, f.file, f.line, kind='jit', pc=frame.pc,
                            level=inner.level()) for i, f in enumerate(named)]
        elif code:
            one = CodeFrame(inner, code, frame.pc)
            found.append(Shown(n, one.function(), one.filename() or '', one.line() or 0,
                               kind='jit', pc=frame.pc, bytecode=code.bytecode(frame.pc),
                               defined=one.place()[1], level=inner.level()))
        else:
            name, file, line = symbol(inner)
            is_loop = known.is_hidden(frame.pc) or named == []
            found.append(Shown(n, name, file, line, pc=frame.pc, level=inner.level(),
                               kind='loop' if is_loop else 'native'))
    return found


def checked(invoke):
    """Make one line of each problem."""
    def call(self, argument, from_tty):
        try:
            invoke(self, argument.strip(), from_tty)
        except Unknown as problem:
            raise gdb.GdbError(str(problem)) from None
    return call


class Jsprof(gdb.Command):
    """Stacks of interpreters and JITs, as the program's jsprof describes them."""

    def __init__(self):
        super().__init__('jsprof', gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)


class Stack(gdb.Command):
    """jsprof stack [-hide]: the selected thread's frames, C and the host's, innermost first."""

    def __init__(self):
        super().__init__('jsprof stack', gdb.COMMAND_STACK)

    @checked
    def invoke(self, argument, _from_tty):
        if argument not in ('', '-hide'):
            raise gdb.GdbError(f'jsprof stack: unknown option "{argument}"')
        for frame in shown_frames(front_gdb.need_program()):
            if argument != '-hide' or frame.kind != 'loop':
                gdb.write(frame.text() + '\n')


class Threads(gdb.Command):
    """jsprof threads: the threads that are attached, with their innermost function."""

    def __init__(self):
        super().__init__('jsprof threads', gdb.COMMAND_STACK)

    @checked
    def invoke(self, _argument, _from_tty):
        known = front_gdb.need_program()
        here = gdb.selected_thread()
        for one in sorted(gdb.selected_inferior().threads(), key=lambda t: t.num):
            thread = known.thread(one.ptid[1])
            if thread:
                one.switch()
                gdb.write(f'{"*" if here and one.num == here.num else " "} {one.num:<4d}'
                          f'{thread.tid:<8d} {thread.name:<16s} {innermost(known, thread)}\n')
        if here:
            here.switch()


def innermost(known, thread):
    runs = front_gdb.thread_runs(known, thread, gdb.newest_frame())
    order = front_gdb.merge.ordered(runs, front_gdb.merge.Levels(thread))
    code = known.code_at(gdb.newest_frame().pc())
    if code:
        return code.label() or ''
    return order[0][1].shown if order else '[no VM frame]'


class Frame(gdb.Command):
    """jsprof frame [N]: one frame of `jsprof stack`: function, file, line and bytecode."""

    def __init__(self):
        super().__init__('jsprof frame', gdb.COMMAND_STACK)

    @checked
    def invoke(self, argument, _from_tty):
        frame = chosen(argument)
        gdb.write(frame.text() + '\n')
        if frame.defined:
            gdb.write(f'    defined at line {frame.defined}\n')
        if frame.bytecode:
            gdb.write(f'    bytecode {frame.bytecode}\n')
        if frame.pc:
            gdb.write(f'    address {frame.pc:#x}\n')
        if frame.level is not None:
            gdb.execute(f'frame {frame.level}', to_string=True)


def chosen(argument):
    """Return the frame of this number; "": of the last one, or the innermost of the host's."""
    frames = shown_frames(front_gdb.need_program())
    if argument:
        if not argument.isdigit() or int(argument) >= len(frames):
            raise gdb.GdbError(f'jsprof frame: "{argument}" is none of 0 to {len(frames) - 1}')
        State.frame = int(argument)
        State.where = (frames[State.frame].name, frames[State.frame].number)
        return frames[State.frame]
    if State.where and State.frame < len(frames) and \
            State.where == (frames[State.frame].name, State.frame):
        return frames[State.frame]
    for frame in frames:
        if frame.kind not in ('native', 'loop'):
            return frame
    return frames[0]


class List(gdb.Command):
    """jsprof list [N]: the source around the line of a frame of `jsprof stack`."""

    def __init__(self):
        super().__init__('jsprof list', gdb.COMMAND_FILES)

    @checked
    def invoke(self, argument, _from_tty):
        frame = chosen(argument)
        if not frame.file:
            raise gdb.GdbError(f'jsprof list: no file is known for {frame.name}')
        line = frame.line or frame.defined or 1
        path, text = listing.read(frame.file, folders())
        if text is None:
            raise gdb.GdbError(f'jsprof list: {frame.file}: {path}')
        colour = bool(gdb.parameter('style enabled')) and listing.may_colour()
        gdb.write(f'{frame.name} at {path}:{line}\n')
        gdb.write(listing.around(text, line, bool(frame.line), colour))


def folders():
    found = [f for f in gdb.parameter('directories').split(':') if not f.startswith('$')]
    return found + ['.']


def load():
    """Register everything once, however often the script is loaded."""
    if State.loaded:
        return
    State.loaded = True
    front_gdb.Filter()
    unwind_gdb.register()
    for command in (Jsprof, Stack, Threads, Frame, List, break_gdb.Break):
        command()
