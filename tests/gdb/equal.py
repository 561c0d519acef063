# equal.py - run by gdb: stop a program with watch.c at random instructions, and compare the
# debugger's stack with the one that jsprof_backtrace takes in the program at the same instruction.
# The environment has STOPS, and WALKED=1 for hosts whose frames have no stack addresses: then the
# order among C frames is not compared, because jsprof_backtrace does not know the loop.
#
# SPDX-License-Identifier: MIT
import os

import gdb

from jsprof_debugger import commands_gdb, front_gdb, stack

STOPS = int(os.environ['STOPS'])
WALKED = os.environ.get('WALKED') == '1'
LINES = os.environ.get('NO_LINES') != '1'
SKIPPED = 12  # first stops: the program finds names of functions while it takes samples
SYSCALL_BYTES = 2  # of x86-64
LEAST = int(os.environ.get('LEAST', '3'))  # frames of the host that a stack of interest has


def ours(known):
    out = []
    for frame in front_gdb.one_stack(known, commands_gdb.plain_frames()):
        if isinstance(frame, stack.Frame):
            out.append((frame.shown, frame.line if LINES else 0))
            continue
        inner = frame.frame.inferior_frame()
        # gdb guesses frames of tail calls, which have no stack
        if inner.type() in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME) or \
                front_gdb.is_walked(known, frame.pc):
            continue
        code = known.code_at(frame.pc)
        out.append(('code', code.label()) if code else inner.pc())
    return out


def theirs(known):
    frames, out = gdb.parse_and_eval('watch_frames'), []
    for i in range(int(gdb.parse_and_eval('watch_n'))):
        name = int(frames[i]['name'])
        line = int(frames[i]['line']) if LINES else 0
        if not name:
            if not front_gdb.is_walked(known, int(frames[i]['pc'])):
                out.append(int(frames[i]['pc']))
        else:
            text = frames[i]['name'].string(errors='replace')
            out.append(('code', text) if int(frames[i]['pc']) else (text, line))
    return out


def comparable(frames):
    """Drop C frames outside of the last frame of the host: the walks end at different ones."""
    if WALKED:
        return [f for f in frames if isinstance(f, tuple) and f[0] != 'code']
    last = max((i for i, f in enumerate(frames) if isinstance(f, tuple)), default=-1)
    return frames[:last + 1]


def host_frames(frames):
    return [f for f in frames if isinstance(f, tuple)]


def is_same(mine, his):
    """Compare two stacks. A system call that the kernel begins again after the signal is at its
    instruction in the program, and after it in the debugger."""
    if mine and his and isinstance(mine[0], int) and isinstance(his[0], int) and \
            mine[0] - his[0] == SYSCALL_BYTES:
        return mine[1:] == his[1:]
    return mine == his


def is_blind(mine, his):
    """Return whether the program's own walk knows no way out of the code that runs, such as that
    of a regular expression. Then only the host's frames can be compared."""
    return len(his) - len(host_frames(his)) <= 1 and host_frames(mine) == host_frames(his)


def next_stop():
    """Continue until SIGALRM. Return False at the program's end."""
    gdb.execute('continue', to_string=True)
    return bool(gdb.selected_inferior().pid)


def find_thread(known):
    tid = gdb.selected_thread().ptid[1]
    thread = known.thread(tid) if known else None
    return thread.at if thread else 0


def find_function(results):
    """A module may be loaded late."""
    try:
        function = int(gdb.parse_and_eval('(unsigned long)&jsprof_backtrace'))
    except gdb.error:
        return
    gdb.execute(f'set var *(unsigned long *)&watch_backtrace = {function}')
    results['function'] = function


def one(results):
    """Compare one stop."""
    known = front_gdb.program()
    at = find_thread(known)
    if at and not results['function']:
        find_function(results)
    mine, address = None, 0
    if at and not known.thread(gdb.selected_thread().ptid[1]).u32('paused'):
        mine = comparable(ours(known))
        address = at
    gdb.execute(f'set var *(unsigned long *)&watch_thread = {address}')
    if not next_stop():
        return False
    n = int(gdb.parse_and_eval('watch_n'))
    if mine is not None and n >= 0:
        his = comparable(theirs(front_gdb.program()))
        results['seen'] += 1
        if results['seen'] > SKIPPED and len(host_frames(his)) >= LEAST:
            results['n'] += 1
            results['deep'] = max(results['deep'], len(his))
            if is_same(mine, his):
                results['equal'] += 1
            elif is_blind(mine, his):
                results['equal'] += 1
                results['blind'] += 1
            elif len(results['bad']) < 3:
                results['bad'].append((mine, his))
    return next_stop()


def show(mine, his):
    for a, b in zip(mine + [None] * len(his), his + [None] * len(mine)):
        if a is None and b is None:
            break
        mark = ' ' if a == b else '!'
        print(f'  {mark} {a if not isinstance(a, int) else hex(a)!s:60} '
              f'{b if not isinstance(b, int) else hex(b)}')


def main():
    results = {'n': 0, 'equal': 0, 'deep': 0, 'bad': [], 'blind': 0, 'function': 0, 'seen': 0}
    gdb.execute('set backtrace past-main on')
    gdb.execute('handle SIGALRM stop print pass', to_string=True)
    gdb.execute('handle SIGPROF nostop noprint pass', to_string=True)
    gdb.execute('run', to_string=True)
    gdb.execute('break watch_stop', to_string=True)
    while results['n'] < STOPS and one(results):
        pass
    for mine, his in results['bad']:
        print('the debugger, and the program itself:')
        show(mine, his)
    print(f'{results["equal"]} of {results["n"]} stacks equal, the deepest of '
          f'{results["deep"]} frames; {results["blind"]} without C frames in the program')
    if gdb.selected_inferior().pid:
        gdb.execute('kill', to_string=True)


try:
    main()
except Exception:
    import traceback
    traceback.print_exc()
    raise
