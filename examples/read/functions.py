#!/usr/bin/env python3
# functions.py - what the reading library says of functions, from Python by ctypes.
#
# SPDX-License-Identifier: MIT
#
#     functions.py top CAPTURE          the ten functions with the most time in themselves
#     functions.py grew BEFORE AFTER    fails if the share of a function grew beyond chance
#
# A class declares only the first fields of its struct: `size` says how far they go.
import ctypes as c
import os
import sys

lib = c.CDLL(os.environ.get("JSPROF_READ", "libjsprof-read.so.0"))


def struct(name, fields):
    kinds = {"p": c.c_void_p, "s": c.c_char_p, "u": c.c_uint64, "w": c.c_uint32, "i": c.c_int,
             "z": c.c_size_t, "b": c.c_bool, "m": c.c_char * 1024, "d": c.c_double * 2,
             "x": c.c_uint64 * 2, "f": c.c_double}
    fields = [("size", c.c_size_t)] + [(f[2:], kinds[f[0]]) for f in fields.split()]
    made = type(name, (c.Structure,), {"_fields_": fields})
    return lambda **values: made(size=c.sizeof(made), **values)


Input = struct("Input", "s:path p:bytes u:n_bytes i:fd")
Options = struct("Options", "p:inputs z:n_inputs")
Error = struct("Error", "i:code b:has_offset u:offset s:path s:option m:message")
Function = struct("Function", "w:function w:line u:self u:total u:self_samples "
                  "u:total_samples u:line_value u:jit_total s:name")
Change = struct("Change", "s:name s:module s:kind d:share d:total_share x:self x:total x:samples "
                "f:chance f:total_chance b:is_real")
error = Error()


def check(result):
    if result < 0:
        sys.exit(f"{(error.path or b'').decode()}: {error.message.decode()}")


def opened(path):
    reader, source = c.c_void_p(), Input(path=path.encode())
    options = Options(inputs=c.addressof(source), n_inputs=1)
    check(lib.jsprof_read_open(c.byref(reader), c.byref(options), c.byref(error)))
    check(lib.jsprof_read_select(reader, None, c.byref(error)))
    return reader


def rows(function, table, row):
    function.restype = c.c_int64
    n = 0
    while function(table, c.c_uint64(n), c.byref(row), c.c_uint64(1)) == 1:
        yield row
        n += 1


def top(path):
    table = c.c_void_p()
    check(lib.jsprof_read_functions_open(c.byref(table), opened(path), None, c.byref(error)))
    for n, row in enumerate(rows(lib.jsprof_read_function_rows, table, Function())):
        if n < 10:
            print(f"{row.self:14d} {row.name.decode(errors='replace')}")


def grew(before, after):
    table, worse = c.c_void_p(), 0
    check(lib.jsprof_read_compare(c.byref(table), opened(before), opened(after), None,
                                  c.byref(error)))
    for row in rows(lib.jsprof_read_changes, table, Change()):
        if row.is_real and row.share[1] > row.share[0]:
            print(f"{100 * row.share[0]:5.1f}% -> {100 * row.share[1]:5.1f}%, chance "
                  f"{row.chance:.0e}: {row.name.decode(errors='replace')}")
            worse = 1
    sys.exit(worse)


{"top": top, "grew": grew}[sys.argv[1]](*sys.argv[2:])
