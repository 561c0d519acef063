# gdb: how to leave compiled code that a host registered.
#
# SPDX-License-Identifier: MIT
import gdb
from gdb.unwinder import Unwinder

from . import front_gdb

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
        pc_name, sp_name, fp_name, lr_name = names
        pc, sp, fp = (number(frame, n) for n in (pc_name, sp_name, fp_name))
        code = known.code_at(pc) or known.code_at(pc - 1)
        if not code:
            return None
        row = code.row(pc if code.start <= pc < code.end else pc - 1)
        if row is None:
            return None
        m = known.memory
        if row == ():
            cfa, ra, old_fp = fp + 16, m.pointer(fp + 8), m.pointer(fp)
        else:
            cfa = (fp if row[3] else sp) + row[0]
            ra = m.pointer(cfa + row[1]) if row[1] or not lr_name else number(frame, lr_name)
            old_fp = m.pointer(cfa + row[2]) if row[2] else fp
        if not ra or cfa <= sp - 1:
            return None
        kind = gdb.lookup_type('unsigned long')
        info = frame.create_unwind_info(FrameId(gdb.Value(cfa).cast(kind),
                                                gdb.Value(code.start).cast(kind)))
        void = frame.read_register(pc_name).type
        info.add_saved_register(pc_name, gdb.Value(ra).cast(void))
        info.add_saved_register(sp_name, gdb.Value(cfa).cast(frame.read_register(sp_name).type))
        info.add_saved_register(fp_name, gdb.Value(old_fp).cast(frame.read_register(fp_name).type))
        return info


def register():
    gdb.unwinder.register_unwinder(None, CodeUnwinder(), replace=True)
