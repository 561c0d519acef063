# Names of Lua functions: those that the binding found, or what the chunk says.
#
# SPDX-License-Identifier: MIT
from ..stack import Frame

LABEL_CHUNK = '=(jsprof label) '
MOST = 8192


class Labels:
    def __init__(self, program, table, host):
        self.m, self.t, self.host = program.memory, table, host
        self.program = program
        self.known = None

    def find(self, key):
        """Return (name, where) that the binding gave to a function, or None."""
        if self.known is None:
            self.known, t = {}, self.t
            n, bytes_ = self.m.u32(self.host + t['walker.n_labels']), t['label.bytes']
            for i in range(min(n, MOST)):
                at = self.host + t['walker.labels'] + i * bytes_
                k = tuple(self.m.u64(at + t['label.' + f])
                          for f in ('at', 'code', 'source', 'line'))
                self.known.setdefault(k, at)
        at = self.known.get(key)
        if not at:
            return None
        where = self.m.pointer(at + self.t['label.where'])
        return (self.m.text(self.m.pointer(at + self.t['label.name'])) or '',
                self.m.text(where) if where else '')

    def of_function(self, key, defined, source):
        found = self.find(key)
        if found:
            return found
        text = source() or '=?'
        if text.startswith(LABEL_CHUNK):
            return text[len(LABEL_CHUNK):], ''
        where = text[1:] if text[0:1] in '@=' else '[string]'
        line = f':{defined}' if defined not in (0, 0xFFFFFFFF) else ''
        return 'function' if defined else 'main chunk', where + line

    def c_frame(self, address, sp=0):
        found = self.find((address, 0, 0, 0))
        name, where = found or ('C function', '[C]')
        if name == 'C function' and address >= 4096:
            name = self.program.symbol(address) or name
        return Frame(name, shown=f'{name} ({where})' if where else name, kind='label', sp=sp)
