# gdb: how to leave compiled code that a host registered.
#
# SPDX-License-Identifier: MIT
import gdb
from gdb.unwinder import Unwinder

from . import front_gdb, stack

POINTERS = {'i386:x86-64': ('rip', 'rsp', 'rbp', None), 'aarch64': ('pc', 'sp', 'x29', 'x30')}


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


def number(frame, name):
    return int(frame.read_register(name)) & (1 << 64) - 1


class CodeUnwinder(Unwinder):
    def __init__(self):
        super().__init__('jsprof')

    def __call__(self, frame):
        names = POINTERS.get(frame.architecture().name())
        known = front_gdb.program() if names else None
        if not known:
            return None
        try:
            return self.unwind(frame, known, names)
        except (gdb.error, front_gdb.Unknown):
            return None

    def unwind(self, frame, known, names):
        pc, sp, fp = (number(frame, n) for n in names[:3])
        code = known.code_at(pc) or known.code_at(pc - 1)
        if code:
            at = self.by_row(frame, known, names, code)
            start = code.start
        else:
            at, start = self.by_walker(known, pc, sp, fp), sp
        if not at or not at[0] or at[1] < sp:
            return None
        kind = gdb.lookup_type('unsigned long')
        info = frame.create_unwind_info(FrameId(gdb.Value(at[1]).cast(kind),
                                                gdb.Value(start).cast(kind)))
        for name, value in zip(names, at):
            info.add_saved_register(name, gdb.Value(value).cast(frame.read_register(name).type))
        return info

    def by_row(self, frame, known, names, code):
        """Return (pc, sp, fp) of the caller of registered code."""
        m = known.memory
        pc, sp, fp = (number(frame, n) for n in names[:3])
        row = code.row(pc if code.start <= pc < code.end else pc - 1)
        if row is None:
            return None
        if row == ():
            return m.pointer(fp + 8), fp + 16, m.pointer(fp)
        cfa = (fp if row[3] else sp) + row[0]
        ra = m.pointer(cfa + row[1]) if row[1] or not names[3] else number(frame, names[3])
        return ra, cfa, m.pointer(cfa + row[2]) if row[2] else fp

    def by_walker(self, known, pc, sp, fp):
        """Ask the host's module for the caller of code that is in no object."""
        here = gdb.selected_thread()
        if not here or front_gdb.is_object(pc):
            return None
        thread = known.thread(here.ptid[1])
        walker = thread.pointer('walk') if thread else 0
        table, module = stack.host_module(known, 'walk', walker) if walker else (None, None)
        if not hasattr(module, 'caller'):
            return None
        return module.caller(known, table, thread, {'pc': pc, 'sp': sp, 'fp': fp, 'rest': []})


def register():
    gdb.unwinder.register_unwinder(None, CodeUnwinder(), replace=True)
