# damage.py - read a core file many times with some of its words overwritten: no read may raise
# anything but Unknown, or go on for ever. Arguments: debugger/, the program, the core file, the
# number of rounds; and, unless the program is static and not position independent, where its
# section jsprof_tables is.
#
# SPDX-License-Identifier: MIT
import random
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from jsprof_debugger import memory, merge, program, stack, tables  # noqa: E402

READS_MOST = 3000000  # of one round; a clean one needs some hundreds


def elf_parts(data):
    """Yield (vaddr, offset, bytes in the file) of the loaded segments."""
    at, = struct.unpack_from('<Q', data, 32)
    size, n = struct.unpack_from('<HH', data, 54)
    for i in range(n):
        kind, _, offset, vaddr, _, bytes_ = struct.unpack_from('<IIQQQQ', data, at + i * size)
        if kind == 1:
            yield vaddr, offset, bytes_


def section(data, wanted):
    at, = struct.unpack_from('<Q', data, 40)
    size, n, names = struct.unpack_from('<HHH', data, 58)
    heads = [struct.unpack_from('<IIQQQQ', data, at + i * size) for i in range(n)]
    for head in heads:
        start = heads[names][4] + head[0]
        if data[start:data.index(b'\0', start)].decode() == wanted:
            return head[3], head[3] + head[5]
    raise SystemExit(f'no section {wanted}')


class Counted(memory.Memory):
    reads = 0

    def read(self, at, n):
        self.reads += 1
        if self.reads > READS_MOST:
            raise AssertionError('reads for ever')
        return super().read(at, n)


def all_frames(mem, low, high):
    """Return the number of frames of all threads."""
    known = program.Program(mem, tables.tables_in(mem, low, high))
    n = 0
    for thread in known.threads():
        sp = thread.pointer('low') + 64
        runs = stack.runs(thread, known, {'pc': 0, 'sp': sp, 'fp': 0, 'rest': []})
        natives = [merge.Native(0x401000 + i, sp + 4096 * i) for i in range(20)]
        for frame in merge.merge(runs, natives, merge.Levels(thread), False):
            if isinstance(frame, stack.Frame):
                assert isinstance(frame.shown, str) and isinstance(frame.line, int), frame
                n += 1
    known.code_at(0x401000)
    known.is_hidden(0x401000)
    return n


def main():
    exe, core = (open(path, 'rb').read() for path in sys.argv[2:4])
    parts = [(core, *p) for p in elf_parts(core)]
    if len(sys.argv) > 5:
        low, high = (int(word, 16) for word in sys.argv[5:7])
    else:
        low, high = section(exe, 'jsprof_tables')
        parts = [(exe, *p) for p in elf_parts(exe)] + parts

    def page(at):
        for data, vaddr, offset, bytes_ in reversed(parts):
            if vaddr <= at and at + 4096 <= vaddr + bytes_:
                return data[offset + at - vaddr:offset + at - vaddr + 4096]
        return None

    clean = Counted(page)
    n = all_frames(clean, low, high)
    print(f'{n} frames, {clean.reads} reads')
    assert n >= (4 if len(sys.argv) > 5 else 15), n
    used = [at for at, bytes_ in clean.pages.items() if bytes_]
    rng, raised, most = random.Random(19), 0, 0
    for _ in range(int(sys.argv[4])):
        bad = {}
        for at in rng.sample(used, min(len(used), rng.randint(1, 4))):
            words = bytearray(page(at))
            for _ in range(rng.choice((1, 8, 64, 512))):
                where = 8 * rng.randrange(512)
                value = rng.choice((0, 1, rng.getrandbits(64), rng.getrandbits(16), at, at + 64,
                                    rng.choice(used) + 8 * rng.randrange(512), (1 << 64) - 1))
                words[where:where + 8] = struct.pack('<Q', value)
            bad[at] = bytes(words)
        if rng.random() < 0.3:
            bad[rng.choice(used)] = None
        mem = Counted(lambda at, bad=bad: bad[at] if at in bad else page(at))
        try:
            all_frames(mem, low, high)
        except tables.Unknown:
            raised += 1
        most = max(most, mem.reads)
    print(f'{sys.argv[4]} damaged cores: {raised} without a usable table, at most {most} reads')


main()
