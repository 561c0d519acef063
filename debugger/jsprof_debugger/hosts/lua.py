# PUC Lua 5.1 to 5.5: the calls of the running coroutines, as bindings/lua/puc finds them. All
# numbers are those of the program's layout (bindings/lua/puc/debug.c).
#
# SPDX-License-Identifier: MIT
from ..stack import Frame, split_place
from ._lua_labels import Labels

NONE = 0xFFFF
TAG_AT, TAG_BITS, VALUE = 8, 0x3F, 16
MOST_STATES, MOST_CALLS = 64, 20000
ARGUMENTS, UPVALUES = 8, 4            # searched for a coroutine
STACK, NEAR, CALLS, JUMPS = 65536, 1024, 64, 256
ADDRESS = (1 << 48) - 1               # above it: a signature of the address
LINES_BETWEEN = 128


class Layout:
    def __init__(self, memory, table):
        at = table['layout']
        for name, value in table.facts.items():
            if name.startswith('l.'):
                offset, size = value & 0xFFFF, value >> 16
                read = {1: memory.u8, 2: memory.u16, 4: memory.u32}.get(size, memory.u16)
                setattr(self, name[2:], read(at + offset))


class Coroutine:
    """A lua_State that runs or waits for one that it resumed."""

    def __init__(self, walk, at):
        m, l = walk.m, walk.layout
        self.at = at
        self.ok = bool(at) and m.read(at, l.state_bytes) is not None and \
            m.u8(at + TAG_AT) & TAG_BITS == l.tag_thread & TAG_BITS
        if not self.ok:
            return
        self.ci = m.pointer(at + l.ci)
        self.base_ci = at + l.base_ci if l.base_ci_inside else m.pointer(at + l.base_ci)
        self.top = m.pointer(at + l.top)
        self.total = m.pointer(at + l.global_)
        self.savedpc = 0 if l.savedpc == NONE else m.pointer(at + l.savedpc)
        self.jump = m.pointer(at + l.error_jmp)
        self.status = m.u8(at + l.status)


class Call:
    """A CallInfo."""

    def __init__(self, walk, at):
        m, l = walk.m, walk.layout
        self.at = at
        self.ok = bool(at) and m.read(at, l.ci_bytes) is not None
        if not self.ok:
            return
        self.func = m.pointer(at + l.ci_func)
        self.savedpc = m.pointer(at + l.ci_savedpc)
        self.previous = at - l.ci_bytes if l.ci_is_array else m.pointer(at + l.ci_previous)
        self.status = 0 if l.ci_is_array else m.u16(at + l.ci_status) & l.status_mask
        self.tails = m.u32(at + l.ci_tail_calls) if l.ci_is_array else self.status & l.tail_bit


class Proto:
    def __init__(self, walk, at):
        m, l = walk.m, walk.layout
        self.at = at
        self.ok = m.read(at, l.proto_bytes) is not None and m.u8(at + TAG_AT) == l.proto_tag
        if not self.ok:
            return
        self.code, self.source = m.pointer(at + l.code), m.pointer(at + l.source)
        self.n_code, self.defined = m.u32(at + l.n_code), m.u32(at + l.linedefined)

    def index(self, next_pc):
        """Return the instruction before this address, or None."""
        bytes_ = next_pc - self.code
        return bytes_ // 4 - 1 if 0 < bytes_ <= 4 * self.n_code and bytes_ % 4 == 0 else None


class Walk:
    def __init__(self, program, table, thread, registers):
        self.m, self.t = program.memory, table
        self.program = program
        self.host = thread.pointer('walk_host')
        self.registers = registers
        self.layout = Layout(self.m, table)
        self.layout.global_ = getattr(self.layout, 'global', 0)
        self.loop = self.walker('loop_low'), self.walker('loop_high')
        self.calls = None
        self.labels = Labels(program, table, self.host)

    def walker(self, name):
        return self.m.pointer(self.host + self.t['walker.' + name])

    def bounds(self, name):
        at = self.host + self.t['walker.' + name]
        return (self.m.pointer(at + self.t['bounds.start']),
                self.m.pointer(at + self.t['bounds.end']))

    # -- Functions -----------------------------------------------------------------------

    def closure(self, at):
        """Return ('lua', Proto, closure, 0), ('c', address, closure, upvalues) or None."""
        m, l = self.m, self.layout
        tag = m.u8(at + TAG_AT) & TAG_BITS
        if not at or tag not in (l.tag_lua & TAG_BITS, l.tag_c & TAG_BITS):
            return None
        body = m.pointer(at + l.closure_proto)
        is_lua = not m.u8(at + l.is_c) if l.is_c else tag == l.tag_lua & TAG_BITS
        if not is_lua:
            return 'c', body, at, m.u8(at + l.closure_n)
        proto = Proto(self, body)
        return ('lua', proto, at, 0) if proto.ok else None

    def function(self, call):
        m, l = self.m, self.layout
        tag = m.u8(call.func + TAG_AT)
        if not call.func:
            return None
        if tag == l.tag_light:
            return 'c', m.pointer(call.func), 0, 0
        if tag not in (l.tag_lua, l.tag_c):
            return None
        found = self.closure(m.pointer(call.func))
        wanted = {'lua': l.tag_lua, 'c': l.tag_c}
        return found if found and tag == wanted[found[0]] else None

    def string(self, at):
        m, l = self.m, self.layout
        tag = m.u8(at + TAG_AT)
        if not at or tag & 0xF != l.tag_string:
            return None
        short = l.short_length and tag == l.tag_string
        n = m.u8(at + l.short_length) if short else m.u64(at + l.long_length)
        text = at + 24
        if l.long_elsewhere and tag != l.tag_string:
            text = m.pointer(text)
        return m.bytes_text(text, n, 512)

    def line(self, proto, index):
        m, l = self.m, self.layout
        info = m.pointer(proto.at + l.lineinfo)
        if index is None or not info or index >= m.u32(proto.at + l.n_lineinfo):
            return 0
        if l.line_bytes != 1:
            return m.u32(info + 4 * index)
        line, begin, i = proto.defined, -1, max(index // LINES_BETWEEN - 1, 0)
        absolute, n = m.pointer(proto.at + l.abslineinfo), m.u32(proto.at + l.n_abslineinfo)
        while i < n and m.u32(absolute + 8 * i) <= index and index - begin < 1 << 20:
            begin, line = m.u32(absolute + 8 * i), m.u32(absolute + 8 * i + 4)
            i += 1
        steps = m.read(info + begin + 1, index - begin)
        if steps is None or len(steps) > 2 * LINES_BETWEEN:
            return 0
        return line + sum(s - 256 if s > 127 else s for s in steps)

    def lua_label(self, proto):
        key = proto.at, proto.code, proto.source, proto.defined
        return self.labels.of_function(key, proto.defined, lambda: self.string(proto.source))

    # -- The running coroutines ------------------------------------------------------------

    def is_resumed(self, chain, state):
        return state.ok and state.status == 0 and state.ci != state.base_ci and \
            state.total == chain[0].total and all(state.at != s.at for s in chain)

    def by_values(self, chain, call, function):
        """coroutine.resume keeps the coroutine in its arguments, coroutine.wrap in upvalues."""
        m, l, s = self.m, self.layout, chain[-1]
        places = [call.func + VALUE * i for i in range(1, ARGUMENTS + 1)
                  if call.func + VALUE * i < s.top]
        if function[2]:
            places += [function[2] + l.closure_upvalues + VALUE * i
                       for i in range(min(function[3], UPVALUES))]
        for at in places:
            if m.u8(at + TAG_AT) == l.tag_thread:
                state = Coroutine(self, m.pointer(at))
                if self.is_resumed(chain, state):
                    return state
        return None

    def collect(self, state):
        """Find the return addresses of lua_resume and lua_pcall on the C stack."""
        begin = self.registers['sp'] & ~7
        end = state.jump if begin < state.jump < begin + STACK else begin + STACK
        low = [self.bounds(n) for n in ('resume', 'pcall')]
        self.calls = [at for at in range(begin, end, 8)
                      if any(a < self.m.u64(at) & ADDRESS <= b for a, b in low)][-CALLS:]

    def is_of(self, state, call):
        """Return whether the C call at `call` made the first errorJmp of the coroutine."""
        jump, sp = state.jump, self.registers['sp']
        for _ in range(JUMPS):
            if not jump:
                return False
            before = self.m.pointer(jump)
            if not before:
                return jump > sp and abs(jump - call) < NEAR
            if before <= jump:
                return False
            jump = before
        return False

    def by_c_stack(self, chain):
        sp, state = self.registers['sp'], chain[-1]
        if self.calls is None:
            self.collect(state)
        limit = state.jump if state.jump > sp else 1 << 64
        for call in reversed(self.calls):
            if call >= limit:
                continue
            for away in range(8, NEAR, 8):
                for at in (call - away, call + away):
                    word = self.m.u64(at) if at >= sp else 0
                    if word & 7 or not STACK <= word <= ADDRESS or 0 <= word - sp < STACK:
                        continue
                    found = Coroutine(self, word)
                    if self.is_resumed(chain, found) and self.is_of(found, call):
                        return found
        return None

    def running(self):
        chain = [Coroutine(self, self.walker('root'))]
        if not chain[0].ok:
            return []
        while len(chain) < MOST_STATES:
            state = chain[-1]
            if state.ci == state.base_ci:
                found = self.by_c_stack(chain)
            else:
                call = Call(self, state.ci)
                function = self.function(call) if call.ok else None
                if not function or function[0] != 'c':
                    break
                found = self.by_values(chain, call, function) or self.by_c_stack(chain)
            if not found:
                break
            chain.append(found)
        return chain

    # -- Frames ----------------------------------------------------------------------------

    def leaf_index(self, proto):
        """The running function's instruction is in a register, or saved on the C stack."""
        for value in self.registers['rest']:
            index = proto.index(value)
            if index is not None:
                return index
        if self.t['version'] < 504 or self.loop[0] == self.loop[1]:
            return None
        sp = self.registers['sp']
        words = [self.m.u64(sp + 8 * i) for i in range(128)]
        for n, word in enumerate(words):
            if self.loop[0] <= word < self.loop[1]:
                for saved in reversed(words[:n]):
                    index = proto.index(saved)
                    if index is not None:
                        return index
                break
        return None

    def is_fresh(self, call, caller):
        l = self.layout
        has_bit = l.ci_is_array or call.status & l.fresh_bit == l.fresh_value
        if not has_bit or (not l.ci_is_array and not l.fresh_is_late):
            return has_bit
        function = self.function(caller) if caller else None
        if not function or function[0] != 'lua':
            return True
        index = function[1].index(caller.savedpc)
        if index is None:
            return True
        op = self.m.u32(function[1].code + 4 * index) & ((1 << l.op_bits) - 1)
        return op not in (l.op_call, l.op_tailcall)

    def is_only_called(self, call, proto):
        pc = self.registers['pc']
        low, high = self.bounds('begins')
        return not self.loop[0] <= pc < self.loop[1] and not call.tails and \
            (low <= pc < high or proto.index(call.savedpc) is None)

    def lua_frames(self, call, caller, proto, is_leaf):
        entry = bool(self.is_fresh(call, caller))
        called = entry and is_leaf and self.is_only_called(call, proto)
        index = self.leaf_index(proto) if is_leaf else None
        if index is None:
            index = proto.index(call.savedpc)
        name, where = self.lua_label(proto)
        file, defined = split_place(where)
        frame = Frame(name, file, self.line(proto, index) if where else 0, defined=defined,
                      shown=f'{name} ({where})' if where else name,
                      kind='vm' if where else 'label', pc=0 if index is None else index + 1,
                      entry=entry and not call.tails, called=called and not call.tails)
        frames = [frame]
        if call.tails:
            frames.append(Frame('[tail calls]', kind='synth', entry=entry))
        return frames

    def frames_of(self, state, is_running):
        """Return the frames of one coroutine, innermost first."""
        frames, call, is_leaf, seen = [], Call(self, state.ci), is_running, set()
        if state.ci == state.base_ci or not call.ok:
            return frames
        if state.savedpc:
            call.savedpc = state.savedpc
        while call.at not in seen and len(seen) < MOST_CALLS:
            seen.add(call.at)
            caller = Call(self, call.previous) if call.previous else None
            caller = caller if caller and caller.ok else None
            function = self.function(call)
            if function and function[0] == 'lua':
                frames += self.lua_frames(call, caller, function[1], is_leaf)
            elif function and function[1] != self.walker('unshown'):
                frames.append(self.labels.c_frame(function[1]))
            is_leaf = False
            if not caller or caller.at == state.base_ci:
                break
            call = caller
        return frames

    def is_here(self, at):
        """A state that another thread runs has no frames here."""
        low, high = self.walker('stack_low'), self.walker('stack_high')
        return not at or not low <= self.registers['sp'] < high or low <= at < high


def walk(program, table, thread, registers):
    """Return the Lua frames of a thread, innermost first."""
    this = Walk(program, table, thread, registers)
    chain = this.running()
    if not chain or not this.is_here(chain[0].jump):
        return []
    frames = []
    for i, state in reversed(list(enumerate(chain))):
        frames += this.frames_of(state, i == len(chain) - 1)
    return frames
