# jsprof-gdb.py - shows the stacks of interpreters and JITs in gdb; see jsprof-gdb(1).
#
# gdb loads it by itself together with an object that is called like it, without "-gdb.py". For a
# program that links jsprof statically: source /usr/share/jsprof/jsprof-gdb.py
#
# SPDX-License-Identifier: MIT
import os
import sys

import gdb


def jsprof_load():
    folders = [os.path.dirname(os.path.realpath(__file__)), '@PREFIX@/share/jsprof']
    for folder in folders:
        if os.path.isdir(os.path.join(folder, 'jsprof_debugger')):
            if folder not in sys.path:
                sys.path.insert(0, folder)
            break
    else:
        gdb.write('jsprof-gdb.py: no jsprof_debugger in ' + ' or '.join(folders) + '\n',
                  gdb.STDERR)
        return
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        from jsprof_debugger import commands_gdb
        commands_gdb.load()
    finally:
        sys.dont_write_bytecode = writes


jsprof_load()
