# The stacks of programs that use jsprof, read from their memory. No module here but front_*.py
# knows a debugger: they read by a Memory.
#
# SPDX-License-Identifier: MIT
