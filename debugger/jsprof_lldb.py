# jsprof_lldb.py - shows the stacks of interpreters and JITs in lldb; see jsprof-gdb(7).
#
#     (lldb) command script import /usr/share/jsprof/jsprof_lldb.py
#
# SPDX-License-Identifier: MIT
import os
import sys

folder = os.path.dirname(os.path.realpath(__file__))
if folder not in sys.path:
    sys.path.insert(0, folder)

from jsprof_debugger.front_lldb import command  # noqa: E402,F401 - lldb calls it by this module


def __lldb_init_module(debugger, _dictionary):
    debugger.HandleCommand(f'command script add -f {__name__}.command jsprof')
