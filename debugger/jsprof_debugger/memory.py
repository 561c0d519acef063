# Memory of a program that may be a core file, and may be damaged: what can not be read is
# None or 0, and nothing here raises.
#
# SPDX-License-Identifier: MIT
import struct

PAGE = 4096


class Memory:
    """Reads of one moment, kept by page. `read_page` returns the bytes of a page, or None."""

    def __init__(self, read_page, pointer_bytes=8, order='little'):
        self.read_page = read_page
        self.pages = {}
        self.order = '<' if order == 'little' else '>'
        self.pointer_bytes = pointer_bytes

    def page(self, at):
        if at not in self.pages:
            self.pages[at] = self.read_page(at)
        return self.pages[at]

    def read(self, at, n):
        """Return n bytes, or None if one of them can not be read."""
        if at <= 0 or n < 0 or n > 1 << 24 or at + n > 1 << 64:
            return None
        parts = []
        while n:
            inside = at % PAGE
            page = self.page(at - inside)
            if page is None:
                return None
            part = page[inside:inside + n]
            parts.append(part)
            at += len(part)
            n -= len(part)
        return b''.join(parts)

    def number(self, at, form):
        form = self.order + form
        data = self.read(at, struct.calcsize(form))
        return struct.unpack(form, data)[0] if data else 0

    def u8(self, at):
        return self.number(at, 'B')

    def u16(self, at):
        return self.number(at, 'H')

    def u32(self, at):
        return self.number(at, 'I')

    def i32(self, at):
        return self.number(at, 'i')

    def u64(self, at):
        return self.number(at, 'Q')

    def pointer(self, at):
        return self.number(at, 'Q' if self.pointer_bytes == 8 else 'I')

    def text(self, at, most=1024):
        """Return the string at `at` up to its zero, or None."""
        found = b''
        while at and len(found) < most:
            part = self.read(at, min(PAGE - at % PAGE, most - len(found)))
            if part is None:
                return found.decode('utf-8', 'replace') if found else None
            end = part.find(b'\0')
            found += part if end < 0 else part[:end]
            if end >= 0:
                break
            at += len(part)
        return found.decode('utf-8', 'replace') if at else None

    def bytes_text(self, at, n, most=4096):
        data = self.read(at, min(n, most))
        return data.decode('utf-8', 'replace') if data is not None else None
