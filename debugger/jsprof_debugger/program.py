# Sessions, threads, functions and compiled code of a program, by the table of its jsprof.
#
# SPDX-License-Identifier: MIT
from .tables import Unknown

MOST_SESSIONS = 64
MOST_THREADS = 65536
MOST_CODES = 1 << 20
SEAL = 0x9E3779B97F4A7C15
KINDS = ('vm', 'jit', 'label', 'gc', 'native', 'synth')


class Thread:
    def __init__(self, session, at):
        memory, t = session.memory, session.table
        self.session = session
        self.at = at
        self.tid = memory.u32(at + t['thread.tid'])
        self.pid = memory.u32(at + t['thread.pid'])
        self.name = memory.text(at + t['thread.name'], 64) or ''

    def field(self, name):
        return self.at + self.session.table['thread.' + name]

    def pointer(self, name):
        return self.session.memory.pointer(self.field(name))

    def u32(self, name):
        return self.session.memory.u32(self.field(name))


class Code:
    """A range of compiled code."""

    def __init__(self, session, at):
        memory, t = session.memory, session.table
        self.session = session
        self.at = at
        self.start = memory.u64(at + t['code.start'])
        self.end = memory.u64(at + t['code.end'])

    def label(self):
        return self.session.name(self.session.memory.u32(self.at + self.session.table['code.name']))

    def line(self, pc):
        """Return the line of the code at pc, or 0."""
        s = self.session
        n = s.memory.u32(self.at + s.table['code.n_lines'])
        return rows_line(s.memory, self.at + s.table['code.lines'], n, pc - self.start)

    def bytecode(self, pc):
        """Return the host's program counter at pc, or 0."""
        s, found = self.session, 0
        rows = s.memory.pointer(self.at + s.table['code.pcs'])
        for i in range(min(s.memory.u32(self.at + s.table['code.n_pcs']), 1 << 16)):
            if s.memory.u32(rows + i * 16 + 8) > pc - self.start:
                break
            found = s.memory.u64(rows + i * 16)
        return found

    def row(self, pc):
        """Return (cfa, ra_at, fp_at, from_fp) of the code at pc. None: no row covers it; ():
        it keeps a frame pointer."""
        s, offset = self.session, pc - self.start
        rows = s.memory.pointer(self.at + s.table['code.rows'])
        n = min(s.memory.u32(self.at + s.table['code.n_rows']), 1 << 20)
        if not rows:
            return ()
        low, high = 0, n
        while low < high:
            mid = (low + high) // 2
            if s.memory.u32(rows + mid * 16) <= offset:
                low = mid + 1
            else:
                high = mid
        if not low:
            return None
        at = rows + (low - 1) * 16
        return (s.memory.i32(at + 4), s.memory.number(at + 8, 'h'),
                s.memory.number(at + 10, 'h'), s.memory.u32(at + 12))


def rows_line(memory, rows, n, offset):
    """Look up a line in `n` rows of (offset, line)."""
    low, high = 0, min(n, 1 << 20)
    while low < high:
        mid = (low + high) // 2
        if memory.u32(rows + mid * 8) <= offset:
            low = mid + 1
        else:
            high = mid
    return memory.u32(rows + (low - 1) * 8 + 4) if low else 0


class Session:
    def __init__(self, memory, table, at):
        self.memory = memory
        self.table = table
        self.at = at
        self.names = memory.pointer(at + table['session.names'])
        self.names_bytes = memory.u64(at + table['session.names_bytes'])
        self._codes = None
        self._ranges = {}

    def threads(self):
        seen = set()
        at = self.memory.pointer(self.at + self.table['session.threads'])
        while at and at not in seen and len(seen) < MOST_THREADS:
            seen.add(at)
            thread = Thread(self, at)
            if self.memory.u8(at + self.table['thread.owned']):
                yield thread
            at = self.memory.pointer(at + self.table['thread.next'])

    def name(self, number):
        """Return a name of the session by its number."""
        at = number * 8
        if at >= self.names_bytes:
            return None
        at += self.names
        length = self.memory.u16(at + self.table['name.len'])
        text = self.memory.bytes_text(at + self.table['name.text'], length)
        return text.split('\0')[0] if text else text

    def codes(self):
        """Return the registered code, sorted by its start."""
        if self._codes is None:
            m, t = self.memory, self.table
            array = m.pointer(self.at + t['session.codes'])
            n = min(m.u32(self.at + t['session.n_codes']), MOST_CODES)
            self._codes = []
            for i in range(n if array else 0):
                code = m.pointer(array + i * 8)
                if not code:  # the memory is damaged, or not in the core
                    break
                self._codes.append(code)
        return self._codes

    def code_at(self, pc):
        codes, start = self.codes(), self.table['code.start']
        low, high = 0, len(codes)
        while low < high:
            mid = (low + high) // 2
            if self.memory.u64(codes[mid] + start) <= pc:
                low = mid + 1
            else:
                high = mid
        if not low:
            return None
        code = Code(self, codes[low - 1])
        return code if code.start <= pc < code.end else None

    def has(self, which, pc):
        """Return whether pc is in the session's `loops` or `hidden` ranges."""
        if which not in self._ranges:
            m, t = self.memory, self.table
            array = m.pointer(self.at + t['session.' + which])
            n = min(m.u32(self.at + t['session.n_' + which]), 4096) if array else 0
            self._ranges[which] = [(m.u64(array + i * 16), m.u64(array + i * 16 + 8))
                                   for i in range(n)]
        return any(low <= pc < high for low, high in self._ranges[which])

    def function(self, at):
        """Return (name, file, line, kind) of a jsprof_function, or None."""
        m, t = self.memory, self.table
        if not at or at % 8:
            return None
        serial = m.u64(at + t['function.serial'])
        seal = ((at ^ serial << 48) & (1 << 64) - 1) * SEAL & (1 << 64) - 1
        if not serial or m.u64(at + t['function.seal']) != seal:
            return None
        text = m.read(m.pointer(at + t['function.text']), min(m.u32(at + t['function.len']), 4096))
        if text is None:
            return None
        n, n_file = m.u16(at + t['function.name_len']), m.u16(at + t['function.file_len'])
        file = text[n + 2:n + 2 + n_file] if n_file else b''
        line = m.u32(at + t['function.line'])
        return (text[:n].decode('utf-8', 'replace'), file.decode('utf-8', 'replace'), line,
                KINDS[min(m.u8(at + t['function.kind']), len(KINDS) - 1)])

    def function_line(self, at, pc):
        """Return the line at a function's program counter, or 0."""
        m, t = self.memory, self.table
        lines = m.pointer(at + t['function.lines'])
        if not lines:
            return 0
        return rows_line(m, lines + t['lines.rows'], m.u32(lines + t['lines.n']), pc)


class Program:
    """All sessions that the tables lead to."""

    def __init__(self, memory, tables, symbol=lambda address: None):
        self.memory = memory
        self.tables = tables
        self.symbol = symbol # from the address of a C function to its name, or None
        self.kept = {} # of the hosts' modules, for this stop
        self._sessions = None

    def library_tables(self):
        return [t for t in self.tables if t.host == 'jsprof']

    def problems(self):
        return [p for p in (t.problem() for t in self.tables) if p]

    def host_table(self, name, key, value):
        """Return the table of a host whose fact `key` is `value`."""
        for table in self.tables:
            if table.host == name and table.get(key) == value:
                return table
        return None

    def sessions(self):
        if self._sessions is None:
            self._sessions = []
            for table in self.library_tables():
                if table.problem():
                    continue
                seen = set()
                at = self.memory.pointer(table['sessions'])
                while at and at not in seen and len(seen) < MOST_SESSIONS:
                    seen.add(at)
                    self._sessions.append(Session(self.memory, table, at))
                    at = self.memory.pointer(at + table['session.next'])
        return self._sessions

    def threads(self):
        return [t for s in self.sessions() for t in s.threads()]

    def thread(self, tid):
        """Return the thread of a session that runs as `tid`. A thread of several sessions: of
        the newest one."""
        for thread in self.threads():
            if thread.tid == tid:
                return thread
        return None

    def code_at(self, pc):
        for session in self.sessions():
            code = session.code_at(pc)
            if code:
                return code
        return None

    def is_hidden(self, pc):
        return any(s.has('loops', pc) or s.has('hidden', pc) for s in self.sessions())

    def is_loop(self, pc):
        return any(s.has('loops', pc) for s in self.sessions())


__all__ = ['Program', 'Session', 'Thread', 'Code', 'Unknown', 'rows_line', 'KINDS']
