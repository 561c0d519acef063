# LuaJIT 2.1 on x86-64: interpreted functions and those of the running trace, as
# bindings/lua/jit finds them. All numbers are those of the program's table.
#
# SPDX-License-Identifier: MIT
from ..stack import Frame, split_place
from ._lua_labels import Labels

MOST_CALLS, MOST_ACTIVATIONS, MOST_COROUTINES = 20000, 256, 64
CALLER_WORDS, CANDIDATES, RETURN_WORDS = 2048, 128, 512
ABOVE = 1024             # bytes of a Lua stack beyond its usual end
MOST_SNAPS, MOST_ENTRIES, INLINED = 512, 256, 32


class Proto:
    def __init__(self, w, at):
        m, j = w.m, w.j
        self.at = at
        self.ok = m.read(at, j.P_BYTES) is not None and m.u8(at + j.KIND_AT) == j.PROTO
        if not self.ok:
            return
        self.code, self.n_code = at + j.P_BYTES, m.u32(at + j.P_N_CODE)
        self.source, self.defined = m.pointer(at + j.P_CHUNK), m.u32(at + j.P_FIRST)

    def index(self, next_pc):
        bytes_ = next_pc - self.code
        return bytes_ // 4 - 1 if 0 < bytes_ <= 4 * self.n_code and bytes_ % 4 == 0 else None


class Numbers:
    def __init__(self, table):
        for name, value in table.facts.items():
            if name.startswith('j.'):
                setattr(self, name[2:], value)


class Walk:
    def __init__(self, program, table, thread, registers):
        self.m, self.t, self.j = program.memory, table, Numbers(table)
        self.host = thread.pointer('walk_host')
        self.pc, self.sp = registers['pc'], registers['sp']
        self.rest = registers['rest']
        self.labels = Labels(program, table, self.host)
        self.loop = self.walker('loop_low'), self.walker('loop_high')
        self.root = self.walker('root')
        self.total = self.m.pointer(self.root + self.j.L_GLOBAL) if self.root else 0
        self.current = self.total + self.m.u16(self.host + table['walker.current'])
        self.vm = self.m.i32(self.total + self.j.G_VMSTATE)
        self.frames, self.next = [], 0
        self.ok = self.current != self.total and self.enter(self.m.pointer(self.current))

    def walker(self, name):
        return self.m.pointer(self.host + self.t['walker.' + name])

    # -- Coroutines and the links between frames -----------------------------------------

    def enter(self, at):
        m, j = self.m, self.j
        if not at or at & 7 or m.read(at, j.L_BYTES) is None or m.u8(at + j.KIND_AT) != j.THREAD \
                or m.pointer(at + j.L_GLOBAL) != self.total:
            return False
        self.at, self.base = at, m.pointer(at + j.L_BASE)
        self.stack, self.most = m.pointer(at + j.L_STACK), m.pointer(at + j.L_MAXSTACK)
        self.cframe = m.pointer(at + j.L_CFRAME) & ~3
        return True

    def in_stack(self, base):
        return not base & 7 and self.stack + 16 <= base <= self.most + ABOVE

    def closure(self, at):
        """Return ('lua', Proto), ('c', address) or None."""
        m, j = self.m, self.j
        if not at or m.read(at, j.F_BYTES) is None or m.u8(at + j.KIND_AT) != j.FUNCTION:
            return None
        kind = m.u8(at + j.F_ID)
        if kind == j.ID_LUA:
            proto = Proto(self, m.pointer(at + j.F_CODE) - j.P_BYTES)
            return ('lua', proto) if proto.ok else None
        return 'c', m.pointer(at + j.F_C) if kind == j.ID_C else kind

    def function_at(self, base):
        return self.closure(self.m.pointer(base - 16) & self.j.POINTER)

    def link(self, base):
        return self.m.pointer(base - 8)

    def below(self, base, link):
        j = self.j
        if link & j.LINK_TYPE:
            size = link & ~j.LINK_TYPEP
        else:
            if self.m.read(link - 4, 4) is None:
                return 0
            size = 8 * (2 + (self.m.u32(link - 4) >> 8 & 0xFF))
        return base - size if size and self.in_stack(base - size) else 0

    def saved_pc(self):
        return self.m.pointer(self.cframe + self.j.C_PC) if self.cframe else 0

    def before(self, cframe):
        return self.m.pointer(cframe + self.j.C_PREV) & ~3

    def activation_of(self, cframe, base):
        for _ in range(MOST_ACTIVATIONS):
            if not cframe or self.m.read(cframe + self.j.C_RESULTS, 4) is None:
                break
            results = self.m.i32(cframe + self.j.C_RESULTS)
            if results >= 0 or base > self.stack - results:
                break
            cframe = self.before(cframe)
        return cframe

    def bottom(self):
        cframe = self.cframe
        for _ in range(MOST_ACTIVATIONS):
            before = self.before(cframe) if cframe else 0
            if not before:
                return cframe
            cframe = before
        return 0

    def resumer(self, bottom):
        """Continue with the coroutine that resumed this one. Return False if there is none."""
        at, candidates = bottom + self.j.C_BYTES & ~7, 0
        if self.at == self.root:
            return False
        for i in range(CALLER_WORDS):
            here = at + 8 * i
            if self.m.read(here + self.j.C_L, 8) is None or candidates >= CANDIDATES:
                return False
            state = self.m.pointer(here + self.j.C_L)
            if not 65536 <= state <= self.j.POINTER or state & 7 or state == self.at:
                continue
            candidates += 1
            if self.m.pointer(state + self.j.L_CFRAME) & ~3 != here:
                continue
            was = self.at, self.base, self.stack, self.most, self.cframe
            if self.enter(state):
                self.next = self.saved_pc()
                return True
            self.at, self.base, self.stack, self.most, self.cframe = was
        return False

    # -- Frames -----------------------------------------------------------------------------

    def string(self, at):
        j = self.j
        if not at or self.m.u8(at + j.KIND_AT) != j.STRING:
            return None
        return self.m.bytes_text(at + 24, self.m.u32(at + j.S_LENGTH), 512)

    def line(self, proto, index):
        m, j = self.m, self.j
        info, n = m.pointer(proto.at + j.P_LINEINFO), m.u32(proto.at + j.P_N_LINES)
        if index is None or not info or index >= proto.n_code:
            return 0
        width, read = (1, m.u8) if n < 256 else (2, m.u16) if n < 65536 else (4, m.u32)
        return proto.defined + (read(info + (index - 1) * width) if index else 0)

    def here(self):
        return self.cframe + 8 if self.cframe else 0

    def put(self, function, next_pc, kind):
        if not function:
            return
        if function[0] == 'c':
            if function[1] != self.walker('unshown'):
                self.frames.append(self.labels.c_frame(function[1], self.here()))
            return
        proto = function[1]
        index = proto.index(next_pc)
        key = proto.at, proto.n_code, proto.source, proto.defined
        name, where = self.labels.of_function(key, proto.defined,
                                              lambda: self.string(proto.source))
        file, defined = split_place(where)
        self.frames.append(Frame(
            name, file, self.line(proto, index) if where else 0, defined=defined,
            shown=f'{name} ({where})' if where else name, sp=self.here(),
            kind=kind if where else 'label', pc=0 if index is None else index + 1))

    def doing(self, what, kind):
        self.frames.append(Frame(what, kind=kind, sp=self.here()))

    def fits(self, cframe):
        """Return whether all activations from this one on run functions."""
        base = self.base
        for _ in range(MOST_CALLS):
            link = self.link(base)
            below = self.below(base, link)
            if link & self.j.LINK_TYPE == self.j.LINK_C and below:
                cframe = self.activation_of(self.before(cframe), below)
            if not below:
                return not cframe or base != self.stack + self.j.FIRST_BASE
            base = below
        return True

    def find_activation(self):
        innermost = self.cframe
        of = self.activation_of(innermost, self.base)
        if of and of - self.sp <= self.t['subroutine'] and self.loop[0] <= self.pc < self.loop[1]:
            function = self.function_at(self.base)
            if (not function or function[0] != 'lua') and not self.fits(of):
                of = self.activation_of(self.before(of), self.base)
        if of != innermost:
            self.cframe = of
            self.next = self.saved_pc()

    def lua_frames(self, skip, kind):
        j, base = self.j, self.base
        self.find_activation()
        for _ in range(MOST_CALLS):
            if not base:
                break
            link = self.link(base)
            if not skip:
                self.put(self.function_at(base), self.next, kind)
            kind, skip = 'vm', link & j.LINK_TYPEP == j.LINK_VARG
            if not link & j.LINK_TYPE:
                self.next = link
            elif link & j.LINK_TYPEP == j.LINK_CONT:
                self.next = self.m.pointer(base - 24)
            below = self.below(base, link)
            if link & j.LINK_TYPE == j.LINK_C and below:
                self.cframe = self.activation_of(self.before(self.cframe), below)
                self.next = self.saved_pc()
            base = below

    # -- The innermost function ---------------------------------------------------------------

    def jit_base(self):
        return self.m.pointer(self.current + self.j.G_JIT_BASE)

    def interpreter(self, registers):
        self.next = self.saved_pc()
        if not self.loop[0] <= self.pc < self.loop[1]:
            if self.in_stack(self.jit_base()):
                self.base = self.jit_base()
            return
        base, pc = registers
        if self.in_stack(base) and self.function_at(base) and self.below(base, self.link(base)):
            self.base = base
        function = self.function_at(self.base)
        if function and function[0] == 'lua' and function[1].index(pc) is not None:
            self.next = pc

    def trace_object(self, number):
        m, j = self.m, self.j
        for field in range(j.G_TRACES_FROM, j.G_TRACES_TO, 8):
            traces, n = m.pointer(self.total + field), m.u32(self.total + field + j.G_N_TRACES)
            if 65536 <= traces <= j.POINTER and not traces & 7 and number < n <= 65536:
                at = m.pointer(traces + 8 * number)
                if at and m.u8(at + j.KIND_AT) == j.TRACE and m.u16(at + j.T_NUMBER) == number:
                    return at
        return 0

    def trace_pc(self, code, bytes_):
        if 0 <= self.pc - code < bytes_:
            return self.pc
        for i in range(RETURN_WORDS):
            at = (self.sp & ~7) + 8 * i
            if at >= self.cframe:
                break
            if 0 <= self.m.u64(at) - code - 1 < bytes_:
                return self.m.u64(at) - 1
        return 0

    def constant(self, ir, ref):
        return self.m.u8(ir + 8 * ref + self.j.IR_OP), self.m.u64(ir + 8 * ref + 8)

    def trace_function(self, ir, ref):
        op, value = self.constant(ir, ref)
        return value & self.j.POINTER if op == self.j.IR_KGC else 0

    def snapshot(self, at, offset):
        m, j = self.m, self.j
        snaps, found = m.pointer(at + j.T_SNAPS), 0
        for i in range(min(m.u16(at + j.T_N_SNAPS), MOST_SNAPS)):
            one = snaps + i * j.SNAP_BYTES
            if found and m.u16(one + j.SNAP_CODE) > offset:
                break
            found = one
        return found

    def inlined(self, at, pc):
        """Return [(function, link)] outermost first, the function that replaced the first one,
        and the next instruction of the innermost."""
        m, j = self.m, self.j
        ir, entries = m.pointer(at + j.T_IR), m.pointer(at + j.T_MAP)
        snap = self.snapshot(at, pc - m.pointer(at + j.T_CODE))
        found, base_function, before = [], 0, 0
        if not snap:
            return found, 0, 0
        first, n = m.u32(snap + j.SNAP_MAP), m.u8(snap + j.SNAP_N)
        for i in range(min(n, MOST_ENTRIES)):
            entry = m.u32(entries + 4 * (first + i))
            if entry >> 24 == 0:
                base_function = self.trace_function(ir, entry & 0xFFFF)
            elif entry >> 24 > 1 and entry & j.SNAP_FRAME and len(found) < INLINED:
                op, link = self.constant(ir, entry & 0xFFFF)
                if op in (j.IR_KNUM, j.IR_KINT64) and link & j.LINK_TYPEP != j.LINK_VARG:
                    has = before >> 24 == (entry >> 24) - 1
                    found.append((self.trace_function(ir, before & 0xFFFF) if has else 0,
                                  0 if link & j.LINK_TYPE else link))
            before = entry
        last = m.u64(entries + 4 * (first + n))
        return found, base_function, (last >> 8) + 4

    def put_traced(self, at, function, next_pc):
        one = self.closure(function)
        if not one:
            proto = Proto(self, self.m.pointer(at + self.j.T_START))
            one = ('lua', proto) if proto.ok and proto.index(next_pc) is not None else None
        if one:
            self.put(one, next_pc, 'jit')
        else:
            self.doing('compiled function', 'jit')

    def trace(self):
        if self.in_stack(self.jit_base()):
            self.base = self.jit_base()
        at = self.trace_object(self.vm)
        if not at:
            self.lua_frames(False, 'jit')
            return
        m, j = self.m, self.j
        pc = self.trace_pc(m.pointer(at + j.T_CODE), m.u32(at + j.T_CODE_BYTES))
        found, base_function, next_pc = self.inlined(at, pc) if pc else ([], 0, 0)
        for function, link in reversed(found):
            self.put_traced(at, function, next_pc)
            next_pc = link
        if base_function:
            self.put_traced(at, base_function, next_pc)
            self.lua_frames(True, 'vm')
            return
        self.next = next_pc
        self.lua_frames(False, 'jit')

    def has_collector(self):
        t, n = self.t, min(self.m.u32(self.host + self.t['walker.n_collectors']), 8)
        at = [self.host + t['walker.collectors'] + i * t['bounds.bytes'] for i in range(n)]
        code = [(self.m.pointer(a + t['bounds.start']), self.m.pointer(a + t['bounds.end']))
                for a in at]
        words = [self.pc] + [self.m.u64(a) - 1 for a in
                             range(self.sp & ~7, min(self.cframe, self.sp + 4096), 8)]
        return any(low <= w < high for w in words for low, high in code)

    def running(self, registers):
        state = ~self.vm
        if self.vm >= 0:
            self.trace()
            return
        if state == self.j.VM_INTERPRETS:
            self.interpreter(registers)
        else:
            self.next = self.saved_pc()
        if state == self.j.VM_COLLECTS and not self.has_collector():
            self.doing('[garbage collector]', 'gc')
        elif self.j.VM_EXITS <= state <= self.j.VM_LAST:
            self.doing('[JIT compiler]', 'label')
        self.lua_frames(False, 'vm')

    def is_here(self):
        low, high = self.walker('stack_low'), self.walker('stack_high')
        return not self.cframe or not low <= self.sp < high or low <= self.cframe < high


def walk(program, table, thread, registers):
    """Return the Lua frames of a thread, innermost first."""
    this = Walk(program, table, thread, registers)
    if not this.ok or not this.is_here():
        return []
    bottom = this.sp - this.j.C_BYTES
    if this.cframe:
        bottom = this.bottom()
        this.running((registers['rdx'], registers['rbx']))
    for _ in range(MOST_COROUTINES):
        if not bottom or not this.resumer(bottom):
            break
        bottom = this.bottom()
        this.lua_frames(False, 'vm')
    return this.frames


def caller(program, table, thread, registers):
    """Return (pc, sp, fp) of the C code that called the trace at these registers, or None. The
    caller has found that no object and no registered code is there."""
    this = Walk(program, table, thread, registers)
    cframe = this.cframe if this.ok else 0
    for _ in range(MOST_ACTIVATIONS):
        if not cframe or cframe >= this.sp:
            break
        cframe = this.before(cframe)
    if not cframe:
        return None
    m, j = this.m, this.j
    return (m.pointer(cframe + j.C_RETURN), cframe + j.C_RETURN + 8, m.pointer(cframe + j.C_FP))
