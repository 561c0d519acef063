# lldb: the commands `jsprof stack` and `jsprof threads`, from 14 on. lldb has no way to teach it to
# leave code that only we know: beyond compiled code its C frames end, and the host's follow.
#
# SPDX-License-Identifier: MIT
import lldb

from . import merge, stack
from .memory import PAGE, Memory
from .program import Program
from .tables import Unknown, tables_in

REGISTERS = {
    'x86_64': ('rsp', 'rbp', 'rbx r12 r13 r14 r15 r8 r9 r10 r11 rsi rdi', 'rdx rbx'),
    'aarch64': ('sp', 'fp', ' '.join(f'x{n}' for n in range(19, 29)), ''),
}


def tables_of(target, memory):
    """Return the tables of all objects, found by their section."""
    found = []
    for module in target.module_iter():
        section = module.FindSection('jsprof_tables')
        low = section.GetLoadAddress(target) if section else lldb.LLDB_INVALID_ADDRESS
        if low != lldb.LLDB_INVALID_ADDRESS:
            found += tables_in(memory, low, low + section.size)
    return found


def program(debugger):
    """Return (Program, process) of what is loaded now; nothing is kept between two commands."""
    target = debugger.GetSelectedTarget()
    process = target.process

    def read_page(at):
        error = lldb.SBError()
        data = process.ReadMemory(at, PAGE, error)
        return data if error.Success() and len(data) == PAGE else None

    def symbol(address):
        at = target.ResolveLoadAddress(address)
        is_begin = at.symbol and at.symbol.addr.GetLoadAddress(target) == address
        return at.symbol.name if is_begin else None

    if not process.IsValid() or not process.GetNumThreads():
        raise Unknown('no process and no core file')
    memory = Memory(read_page)
    found = Program(memory, tables_of(target, memory), symbol)
    for problem in found.problems():
        raise Unknown(problem)
    if not found.sessions():
        raise Unknown('the program describes nothing: no jsprof in it, or no session is open')
    return found, process


def registers(frame):
    name = frame.thread.process.target.triple.split('-')[0]
    if name not in REGISTERS:
        raise Unknown(f'this script does not know the registers of {name}')
    sp, fp, rest, extra = REGISTERS[name]

    def value(register):
        return frame.FindRegister(register).GetValueAsUnsigned(0)

    found = {name: value(name) for name in extra.split()}
    found.update(pc=frame.pc, sp=value(sp), fp=value(fp), rest=[value(r) for r in rest.split()])
    return found


def natives(thread, known):
    """Yield the C frames. The functions that a compiler put into another are one frame here."""
    frames = [f for f in thread if not f.IsInlined()]
    for n, frame in enumerate(frames):
        at = frame.pc - (n > 0)
        end = frames[n + 1].sp if n + 1 < len(frames) else merge.FAR
        yield merge.Native(at, end, frame, known.is_loop(at))


def one_stack(known, thread):
    """Return an iterator over stack.Frame and merge.Native, innermost first."""
    of = known.thread(thread.GetThreadID())
    if not of:
        return natives(thread, known)
    runs = stack.runs(of, known, registers(thread.GetFrameAtIndex(0)))
    s = of.session
    has_loops = bool(s.memory.u32(s.at + s.table['session.n_loops']))
    return merge.merge(runs, natives(thread, known), merge.Levels(of), has_loops)


def text(number, kind, name, place):
    return f'#{number:<4d}{kind:<7s}{name}{place}'


def shown(known, frame, number):
    if isinstance(frame, stack.Frame):
        where = f' at {frame.file}:{frame.line}' if frame.file and frame.line else \
            f' in {frame.file}' if frame.file else f' :{frame.line}' if frame.line else ''
        return text(number, frame.kind, frame.name, where)
    code = known.code_at(frame.pc)
    if code:
        line = code.line(frame.pc)
        return text(number, 'jit', code.label() or hex(frame.pc), f' :{line}' if line else '')
    of, kind = frame.frame, 'loop' if known.is_hidden(frame.pc) else 'native'
    line = of.line_entry
    place = f' at {line.file.fullpath}:{line.line}' if line.IsValid() and line.line else ''
    return text(number, kind, of.GetFunctionName() or hex(frame.pc), place)


def command(debugger, words, result, _dictionary):
    """jsprof stack [-hide] | jsprof threads"""
    try:
        known, process = program(debugger)
        if words.split() == ['threads']:
            for thread in process:
                of = known.thread(thread.GetThreadID())
                if of:
                    result.AppendMessage(f'{thread.GetIndexID():<4d}{of.tid:<8d} {of.name}')
        elif words.split() in (['stack'], ['stack', '-hide']):
            for n, frame in enumerate(one_stack(known, process.GetSelectedThread())):
                line = shown(known, frame, n)
                if not line[5:].startswith('loop') or '-hide' not in words:
                    result.AppendMessage(line)
        else:
            result.SetError('jsprof stack [-hide], or jsprof threads')
    except Unknown as problem:
        result.SetError(str(problem))
