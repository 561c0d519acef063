# gdb: `jsprof break FUNCTION`, for hosts whose table has the C function that begins each call.
#
# SPDX-License-Identifier: MIT
import gdb

from . import front_gdb

ARGUMENTS = {'i386:x86-64': ('rdi', 'rsi', 'rdx', 'rcx', 'r8', 'r9'),
             'aarch64': tuple(f'x{n}' for n in range(8))}


class Enter(gdb.Breakpoint):
    """The first instruction of that C function, when the call is of one function of the host."""

    def __init__(self, table, name):
        super().__init__(f'*{table["enter"]:#x}')
        self.argument, self.offset = table['enter.argument'], table['enter.function']
        self.name = name

    def stop(self):
        frame = gdb.newest_frame()
        names = ARGUMENTS.get(frame.architecture().name(), ())
        known = front_gdb.program()
        if not known or self.argument >= len(names):
            return False
        at = known.memory.pointer(front_gdb.register(frame, names[self.argument]) + self.offset)
        for session in known.sessions():
            found = session.function(at)
            if found:
                return found[0] == self.name
        return False


class Break(gdb.Command):
    """jsprof break FUNCTION: stop when the host calls its function of this name."""

    def __init__(self):
        super().__init__('jsprof break', gdb.COMMAND_BREAKPOINTS)

    def invoke(self, argument, _from_tty):
        name = argument.strip()
        if not name:
            raise gdb.GdbError('jsprof break: which function?')
        try:
            known = front_gdb.need_program()
            hosts = [t for t in known.tables if t.get('enter')]
            if not hosts:
                raise gdb.GdbError('jsprof break: no host in this program says where a call begins')
            for table in hosts:
                Enter(table, name)
        except front_gdb.Unknown as problem:
            raise gdb.GdbError(str(problem)) from None
