# One order for C frames and the host's frames, as src/sigsafe/merge.c has it: a C frame owns
# the stack from its callee's end up to its own end (cfa).
#
# SPDX-License-Identifier: MIT
from itertools import chain

FAR = (1 << 64) - 1
LEVEL = 48
MOST_LEVELS = 16


class Native:
    """A C frame. `cfa` is the stack pointer of its caller; FAR: it is the outermost one."""

    __slots__ = ('pc', 'cfa', 'frame', 'in_loop')

    def __init__(self, pc, cfa, frame=None, in_loop=False):
        self.pc, self.cfa, self.frame, self.in_loop = pc, cfa, frame, in_loop


class Levels:
    """The stacks of coroutines, each resumed by the next: their numbers order addresses."""

    def __init__(self, thread):
        s = thread.session
        m, t = s.memory, s.table
        self.at, stack = [], thread.pointer('cstack')
        while stack and len(self.at) < MOST_LEVELS:
            self.at.append((m.pointer(stack + t['cstack.low']),
                            m.pointer(stack + t['cstack.high'])))
            stack = m.pointer(stack + t['cstack.resumer'])

    def key(self, address, last=0):
        level = 0
        while level < len(self.at) and \
                not self.at[level][0] <= address - last < self.at[level][1]:
            level += 1
        return address | level << LEVEL

    def cfa(self, address):
        if address < FAR:
            return self.key(address, 1)
        return 1 << LEVEL if self.at else FAR


def ordered(runs, levels):
    """Return [address, frame] of all runs, innermost first. A frame without an address has that
    of the frame further out; a run without any address lies inside of everything."""
    keyed = []
    for run in runs:
        sp, part = FAR if any(f.sp for f in run) else 0, []
        for frame in run:
            sp = levels.key(frame.sp) if frame.sp else sp
            part.append((sp, frame))
        keyed.append(part)
    order, at, least = [], [0] * len(keyed), FAR
    while True:
        best = None
        for i, part in enumerate(keyed):
            if at[i] < len(part) and (best is None or part[at[i]][0] > keyed[best][at[best]][0]):
                best = i
        if best is None:
            break
        sp, frame = keyed[best][at[best]]
        at[best] += 1
        least = min(least, sp) # a frame lies no further out than those before it
        order.append((least, frame))
    order.reverse()
    return order


def by_address(order, natives, levels):
    """Yield frames of both kinds, innermost first; takes one C frame at a time."""
    i = 0
    for native in natives:
        cfa = levels.cfa(native.cfa)
        while i < len(order) and order[i][0] < cfa:
            yield order[i][1]
            i += 1
        yield native
    for _, frame in order[i:]:
        yield frame


def by_loop(run, natives):
    """Give each C frame of the interpreter's loop one activation. `run` is outermost first; see
    merge_by_loop in src/sigsafe/merge.c."""
    run = list(run)
    outside = 0
    while outside < len(run) and not run[outside].entry and not run[outside].gap:
        outside += 1
    if outside == len(run) or run[outside].gap:
        outside = 0
    loops = sum(n.in_loop for n in natives)
    activations = len(run) > outside and 1 + sum(f.entry for f in run[outside + 1:])
    if run and run[-1].called and activations > loops:
        activations -= 1
    out, at, has_gap = [], 0, False

    def put(n_frames=1):
        nonlocal at, has_gap
        for _ in range(n_frames):
            out.append(run[at])
            has_gap = has_gap or run[at].gap
            at += 1

    def activation():
        put()
        while at < len(run) and not run[at].entry:
            put()

    if activations > loops:
        put(outside)
        outside = 0
        while activations > loops and at < len(run):
            activation()
            activations -= 1
    for native in reversed(natives):
        if native.in_loop:
            put(outside)
            outside = 0
        out.append(native)
        loops -= native.in_loop
        if native.in_loop and at < len(run) and not (has_gap and loops >= activations):
            activation()
            activations -= 1
    put(len(run) - at)
    out.reverse()
    return out


def merge(runs, natives, levels, has_loops):
    """Return an iterator over all frames, innermost first. `natives` is one over C frames."""
    frames = list(chain.from_iterable(runs))
    if frames and has_loops and not any(f.sp for f in frames):
        natives = list(natives)
        longest = next((run for run in runs if run), [])
        return iter(by_loop(longest, natives))
    return by_address(ordered(runs, levels), natives, levels)
