# SpiderMonkey's compiled code, by the layouts that the binding's table has for its version
# (bindings/mozjs/engine.h): its frames, and the functions at a place of it.
#
# SPDX-License-Identifier: MIT
#
# The frames are those of SpiderMonkey's own iterator for profilers. Each context has a chain of
# activations, one for each call from C++ into compiled code. The newest one has its last frame,
# all others the frame that left compiled code. A frame has the place in its caller, and says what
# its caller is. A table has the functions of each piece of code.
#
# Nothing here is trusted: an activation must lie on the stack and know its context, a chain only
# rises, a name must be text.
WORD = 8
MOST_ACTIVATIONS = 4096
MOST_FRAMES = 1 << 16
MOST_STEPS = 64      # in a tree, or between two frames
MOST_SCRIPTS = 1 << 16
MOST_REGIONS = 1 << 20
REGION_BYTES = 2048
LEVELS = 32
TOKEN_TAG = 3
OPTIMIZED, CACHE, BASELINE, INTERPRETER, DUMMY, SHARED = range(6)


class Frame:
    """A frame of compiled code: the place in it that runs, or at which it continues."""

    __slots__ = ('fp', 'pc')

    def __init__(self, fp, pc):
        self.fp, self.pc = fp, pc


class Entry:
    """A piece of compiled code in SpiderMonkey's table."""

    def __init__(self, engine, at):
        m, t = engine.m, engine.t
        self.at = at
        self.begin = m.pointer(at + t['code.begin'])
        self.end = m.pointer(at + t['code.end'])
        kind = m.u8(at + t['code.kind']) & t['code.kinds']
        self.kind = engine.kinds.get(kind)


class Engine:
    """The compiled code of one context."""

    def __init__(self, m, t, thread):
        self.m, self.t = m, t
        self.host = thread.pointer('walk_host')
        self.cx = m.pointer(self.host + t['host.cx'])
        self.low, self.high = thread.pointer('low'), thread.pointer('high')
        self.entries, self.known = {}, None
        self.pointers = bool(t['frame_pointers'])
        self.kinds = {t['kind.' + name]: number for number, name in enumerate(
            ('ion', 'ic', 'baseline', 'interpreter', 'dummy', 'shared'))}
        self.types = {t['type.' + name]: name for name in (
            'ion', 'baseline', 'stub', 'entry', 'rectifier', 'start', 'trampoline', 'ic')}
        runtime = m.pointer(self.host + t['host.runtime'])
        jit = m.pointer(runtime + t['runtime.jit'])
        self.table = m.pointer(jit + t['jit.table'])

    # -- Code --------------------------------------------------------------------------------

    def entry_at(self, pc):
        """Return the Entry of the code at pc, or None."""
        at = self.in_list(pc) if self.t['table.is_list'] else self.in_tree(pc)
        entry = Entry(self, at) if at else None
        return entry if entry and entry.begin <= pc < entry.end else None

    def in_list(self, pc):
        """Search a skip list: each entry has a tower with the next one at each level."""
        m, t = self.m, self.t
        towers, steps = self.table + t['table.first'], 0
        for level in reversed(range(LEVELS)):
            while steps < LEVELS * MOST_STEPS:
                steps += 1
                at = m.pointer(towers + WORD * level)
                if not at or m.pointer(at + t['code.end']) > pc:
                    break
                towers = m.pointer(at) + WORD # its height is in the word before
        return m.pointer(towers)

    def in_tree(self, pc):
        """Search an AVL tree: code, left, and right with two bits of the balance."""
        m, t = self.m, self.t
        node = m.pointer(self.table + t['table.first'])
        for _ in range(MOST_STEPS):
            at = m.pointer(node) if node else 0
            if not at:
                break
            if pc < m.pointer(at + t['code.begin']):
                node = m.pointer(node + WORD)
            elif pc >= m.pointer(at + t['code.end']):
                node = m.pointer(node + 2 * WORD) & ~3
            else:
                return at
        return 0

    def pairs(self, entry):
        """Return the address and the number of the pairs of script and name of optimized code."""
        m, t = self.m, self.t
        at, n = m.pointer(entry.at + t['code.pairs']), 0
        if t['table.is_list']:
            n, at = m.u32(at), at + WORD
        else:
            n = m.u64(entry.at + t['code.pairs'] + WORD)
        return at, min(n, MOST_SCRIPTS)

    def inlined(self, entry, pc):
        """Return the numbers of the scripts at a place of optimized code, innermost first."""
        table = self.m.pointer(entry.at + self.t['code.regions'])
        n = min(self.m.u32(table), MOST_REGIONS)
        low, high = 0, n
        while high - low > 1:
            middle = (low + high) // 2
            region = self.region(table, n, middle)
            if region.number() < pc - entry.begin:
                low = middle
            else:
                high = middle
        region = self.region(table, n, low)
        region.number()
        depth, found = region.byte(), []
        for _ in range(depth):
            found.append(region.number())
            region.number()
        return [] if region.bad else found

    def region(self, table, n, i):
        """Regions lie before the table, which has their distances."""
        m = self.m
        before = m.u32(table + 4 + 4 * i)
        after = m.u32(table + 8 + 4 * i) if i + 1 < n else 0
        if not n or not 0 < before - after <= REGION_BYTES:
            return Bytes(b'')
        return Bytes(m.read(table - before, before - after) or b'')

    def script(self, fp):
        """Return the script of a frame."""
        token = self.m.pointer(fp + self.t['frame.callee'])
        if token & TOKEN_TAG == 2: # a script, else a function
            return token & ~TOKEN_TAG
        return self.m.pointer((token & ~TOKEN_TAG) + self.t['function.script'])

    def script_name(self, script):
        """Return the name of a script that has been in the baseline interpreter."""
        record = self.m.pointer(script + self.t['script.record'])
        if record < WORD or record & TOKEN_TAG:
            return None
        return self.m.text(self.m.pointer(record + self.t['record.name']))

    def names(self, frame):
        """Return [(name, is interpreted)] of the functions of a frame, innermost first."""
        m, t = self.m, self.t
        entry = self.entry_at(frame.pc)
        found = []
        if entry and entry.kind == CACHE:
            pc = m.pointer(entry.at + t['code.rejoin'])
            entry = self.entry_at(pc)
        else:
            pc = frame.pc
        if entry and entry.kind == OPTIMIZED:
            at, n = self.pairs(entry)
            found = [m.text(m.pointer(at + 2 * WORD * i + WORD))
                     for i in self.inlined(entry, pc) if i < n]
        elif entry and entry.kind == BASELINE:
            found = [m.text(m.pointer(entry.at + t['code.name']))]
        elif entry and entry.kind == DUMMY:
            return []
        if not found:
            found = [self.script_name(self.script(frame.fp))]
        is_vm = bool(entry) and entry.kind == INTERPRETER
        return [(name or '?', is_vm) for name in found]

    # -- Frames ------------------------------------------------------------------------------

    def activations(self):
        """Yield the activations, newest first."""
        m, t = self.m, self.t
        at, last = m.pointer(self.cx + t['cx.activation']), 0
        for _ in range(MOST_ACTIVATIONS):
            is_on_stack = self.low <= at < self.high and at % WORD == 0
            if at <= last or not is_on_stack or m.pointer(at) != self.cx:
                return
            yield at
            last, at = at, m.pointer(at + t['activation.previous'])

    def runs_in(self, fp, pc, is_site):
        """Return whether this frame can be at this place; None: there is no frame."""
        entry = self.entry_at(pc) if pc else None
        if not entry:
            return False
        if entry.kind == DUMMY:
            return None
        if entry.kind == CACHE:
            entry = self.entry_at(self.m.pointer(entry.at + self.t['code.rejoin']))
        if entry and entry.kind == OPTIMIZED:
            return self.m.pointer(self.pairs(entry)[0]) == self.script(fp)
        if entry and entry.kind == BASELINE and is_site:
            return self.m.pointer(entry.at + self.t['code.script']) == self.script(fp)
        return bool(entry)

    def newest(self, fp, site, pc):
        """Return the newest frame, which is at pc, or called something at `site`; or None."""
        for place, is_site in ((pc, False), (site, True)) if fp else ():
            there = self.runs_in(fp, place, is_site)
            if there is not False:
                return Frame(fp, place) if there else None
        return Frame(fp, 0) if fp else None # at its beginning

    def previous(self, fp):
        """Return the address of the frame that called the one at fp."""
        if self.pointers:
            return self.m.pointer(fp)
        word = self.m.u32(fp + WORD)
        return fp + (word >> 8) + (word >> 4 & 7) * WORD

    def caller_type(self, fp):
        word = self.m.u32(fp + (2 * WORD if self.pointers else WORD))
        return self.types.get(word & 0xF)

    def place(self, fp):
        return self.m.pointer(fp + (WORD if self.pointers else 0))

    def up(self, fp):
        """Return (the Frame that called the one at fp or None, the last address on the way)."""
        for _ in range(MOST_STEPS):
            kind, above = self.caller_type(fp), self.previous(fp)
            if above <= fp or above >= self.high or above % WORD:
                break
            if kind in ('ion', 'baseline'):
                return Frame(above, self.place(fp)), fp
            if kind == 'stub' and not self.pointers:
                return Frame(self.m.pointer(above - 2 * WORD) + WORD, self.place(above)), fp
            if kind in ('stub', 'ic'):
                return Frame(self.previous(above), self.place(above)), fp
            if kind not in ('rectifier', 'start', 'trampoline'):
                break
            fp = above
        return None, fp

    def outermost(self, activation, frame, at):
        """Yield the frames of an activation, from one on, and keep the last address."""
        while frame:
            yield frame
            last = frame.fp
            frame, at = self.up(last)
            if frame and not last < frame.fp < self.high:
                return
        if at and self.caller_type(at) == 'entry':
            self.entries[activation] = at

    def frames(self, pc):
        """Yield all frames, innermost first, of a thread that runs at pc."""
        m, t, is_first, left = self.m, self.t, True, MOST_FRAMES
        for activation in self.activations():
            if is_first:
                at = m.pointer(activation + t['activation.frame'])
                frame = self.newest(at, m.pointer(activation + t['activation.site']), pc)
            else:
                at = m.pointer(activation + t['activation.exit'])
                frame, at = self.up(at) if at and not at & 1 else (None, 0)
            is_first = False
            for frame in self.outermost(activation, frame, at):
                left -= 1
                if left < 0:
                    return
                yield frame

    def callers(self):
        """Return (pc, sp, fp) of each place where C++ called compiled code, innermost first."""
        if self.known is None:
            self.known = sum(1 for _ in self.frames(0))
        return [self.entered(at) for at in self.entries.values()]

    def knows(self, pc):
        """Return whether compiled code at pc belongs to frames that are known."""
        self.callers()
        return self.known > 0 or self.entry_at(pc) is not None

    def entered(self, fp):
        """Return (pc, sp, fp) of the C++ code that called a frame whose caller is C++."""
        m, at = self.m, self.previous(fp)
        saved = at if self.pointers else at + self.t['entry.saved']
        return m.pointer(saved + WORD), saved + 2 * WORD, m.pointer(saved)


class Bytes:
    """Numbers of a region."""

    def __init__(self, data):
        self.data, self.at, self.bad = data, 0, not data

    def byte(self):
        if self.at >= len(self.data):
            self.bad = True
            return 0
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        """Seven bits a byte, the lowest first; bit 0 says that another byte follows."""
        value, shift, byte = 0, 0, 1
        while byte & 1 and shift < 32:
            byte = self.byte()
            value |= byte >> 1 << shift
            shift += 7
        return value
