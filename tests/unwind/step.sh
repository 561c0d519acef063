#!/bin/sh
# unwind/step.sh - at every instruction, prologues, epilogues, lazy binding, a signal and
# compiled code without rows included, the walk finds the calls that were made and have not
# returned.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
. tests/unwind/common.sh
need_x86
build step -fomit-frame-pointer -Wl,-z,lazy
"$out/step"
