# The tables by which a program describes itself: jsprof_debug_table of jsprof.h.
#
# SPDX-License-Identifier: MIT
MAGIC = b'jsprof@D'
VERSION = 1  # of the tables that we understand
HEAD = 48    # bytes of a table of version 1
FACTS_MOST = 4096


class Unknown(Exception):
    """The program's tables do not fit this script: one line for the user."""


class Table:
    """The facts of one table."""

    def __init__(self, memory, at):
        self.at = at
        self.host = memory.text(at + 16, 16) or '?'
        self.version = memory.u32(at + 8)
        self.facts = {}
        if self.version != VERSION:
            return
        stride, n = memory.u32(at + 32), memory.u32(at + 36)
        facts = memory.pointer(at + 40)
        if not 32 <= stride <= 1024:
            return
        for i in range(min(n, FACTS_MOST)):
            name = memory.text(facts + i * stride, 24)
            if name:
                self.facts[name] = memory.pointer(facts + i * stride + 24)

    def __getitem__(self, name):
        try:
            return self.facts[name]
        except KeyError:
            raise Unknown(self.problem() or
                          f'the table of "{self.host}" has no "{name}": the program is older '
                          f'than this script, or its memory is damaged') from None

    def get(self, name, default=None):
        return self.facts.get(name, default)

    def problem(self):
        """Return why the table is of no use, or None."""
        if self.version == VERSION:
            return None
        than = 'newer' if self.version > VERSION else 'older'
        return (f'the table of "{self.host}" has version {self.version}, {than} than the '
                f'{VERSION} that this script reads: use the jsprof-gdb.py of that version')


def tables_in(memory, low, high):
    """Return the tables of one section, which the linker may have put at any multiple of 8."""
    found = []
    at = (low + 7) & ~7
    while at + HEAD <= min(high, low + (1 << 16)):
        if memory.read(at, 8) == MAGIC:
            found.append(Table(memory, at))
            at += max(HEAD, memory.u32(at + 12) & ~7 & 0xFFF)
        else:
            at += 8
    return found
