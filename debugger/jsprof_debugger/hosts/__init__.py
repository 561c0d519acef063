# Walks of hosts whose frames only code of their own finds while the program runs. Each module
# has the name of its table (jsprof_debug_table.host) and a function walk.
#
# SPDX-License-Identifier: MIT
