#!/bin/sh
# traces.sh - marks of LuaJIT's traces, compiled or given up: the same that luajit -jv prints in
# the same run, in any order of attaching; and none without the option.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

export LUA_PATH='/usr/share/luajit-2.1/?.lua;/usr/share/luajit-2.1.0-beta3/?.lua;;'

# Marks as -jv prints them: [TRACE --- FILE:LINE -- REASON at FILE:LINE], with the last part of a
# file's name, and without the number of a side trace's parent and the operation of NYI bytecode.
# A message begins with the reason where a name is too short for it.
marks()
{
    "$JSPROF_TOOL" list --each --csv "$SCRATCH/cap" | sed -n '
        s/^[^,]*,[^,]*,[^,]*,"trace","\([^"]*\)","\([^"]*\)"$/\1|\2/p' | sed '
        s/^\([^|]*\)|\(\1[^:]*\): /\2|/
        s/(\([^()]*\/\)\{0,1\}\([^()/]*\))/@\2/g
        s/^\(NYI: bytecode\)[^|]*/\1/
        /^now blacklisted/d
        s/^flushed|.*/[TRACE flush]/
        s/^compiled|.*@\(.*\)/[TRACE \1]/
        s/^\(.*\)|.*@\(.*\), from .*@\(.*\)/[TRACE --- \3 -- \1 at \2]/
        s/^\(.*\)|.*@\(.*\)/[TRACE --- \2 -- \1]/'
}

theirs() # FILE
{
    sed 's/(\([0-9]*\)\/[a-z0-9]*) //; s/^\[TRACE  *[0-9][0-9]* \([^ ]*\) .*/[TRACE \1]/
        s/NYI: bytecode [A-Z0-9]* */NYI: bytecode/; s/bytecodeat/bytecode at/' "$1"
}

# Later versions of LuaJIT have a handler of their own, of another event.
ATTACHED='local function attached()
  local n = 0
  for _ in pairs(debug.getregistry()._VMEVENTS or {}) do n = n + 1 end
  return n
end
local from = attached()'

same_events() # FILE
{
    marks >"$SCRATCH/marks"
    theirs "$1" | diff - "$SCRATCH/marks" && [ "$(wc -l <"$SCRATCH/marks")" -ge 15 ]
}

asked()
{
    JV=$SCRATCH/jv record --profile-traces "$SCRIPTS/aborts.lua" && whole &&
        same_events "$SCRATCH/jv"
}

table_has() # TIMES NAME FUNCTION
{
    "$JSPROF_TOOL" list --messages --csv "$SCRATCH/cap" >"$SCRATCH/list"
    cat "$SCRATCH/list"
    grep -Eq "^mark,\"trace\",\"$2\",\"$3 \([^\"]*/aborts.lua:[0-9]+\)[^\"]*\",$1," "$SCRATCH/list"
}

blacklisted_is_the_end() # a blacklisted loop has no further abort
{
    "$JSPROF_TOOL" list --each --csv "$SCRATCH/cap" | grep '"closures (' >"$SCRATCH/list"
    cat "$SCRATCH/list"
    [ "$(wc -l <"$SCRATCH/list")" -gt 5 ] && tail -n 1 "$SCRATCH/list" | grep -q 'now blacklisted'
}

by_environment()
{
    rm -f "$SCRATCH/cap"
    JV=$SCRATCH/jv JSPROF=$SCRATCH/cap JSPROF_TRACES=1 LUA_INIT='require "jsprof"' \
        stock "$SCRIPTS/aborts.lua" && same_events "$SCRATCH/jv"
}

nobody_asked()
{
    cat >"$SCRATCH/none.lua" <<EOF
$ATTACHED
local attach, jsprof = require("jit").attach, require "jsprof"
jsprof.start{ output = os.getenv "CAP" }
dofile(os.getenv "SCRIPT")
assert(attached() == from and jit.attach == attach, "something is attached")
jsprof.stop()
EOF
    rm -f "$SCRATCH/cap"
    CAP=$SCRATCH/cap SCRIPT=$SCRIPTS/aborts.lua stock "$SCRATCH/none.lua" &&
        ! "$JSPROF_TOOL" list --csv "$SCRATCH/cap" | grep '"trace"'
}

# The program's handler works before, during and after a recording, and can be detached during it.
handlers()
{
    cat >"$SCRATCH/handlers.lua" <<EOF
$ATTACHED
local jsprof, jv = require "jsprof", require "jit.v"
local out, run = os.getenv "OUT", loadfile(os.getenv "SCRIPT")
local function lines(f)
  local n = 0
  for _ in io.lines(f) do n = n + 1 end
  return n
end
jv.start(out .. ".1") run()
local before = lines(out .. ".1")
jsprof.start{ output = out .. ".cap", traces = true } run()
assert(lines(out .. ".1") > before, "replaced when the recording began")
jv.off()
local during = lines(out .. ".1")
run()
assert(lines(out .. ".1") == during, "not detached")
jv.start(out .. ".2") run()
jsprof.stop()
during = lines(out .. ".2")
assert(during > 0, "not attached while recording")
run()
assert(lines(out .. ".2") > during, "lost when the recording ended")
jv.off()
assert(attached() == from, "something is still attached")
os.remove(out .. ".cap")
jsprof.start{ output = out .. ".cap", traces = true }
jv.start(out .. ".3") loadfile(os.getenv "SCRIPT")() jv.off()
jsprof.stop()
EOF
    rm -f "$SCRATCH"/o.*
    OUT=$SCRATCH/o SCRIPT=$SCRIPTS/aborts.lua stock "$SCRATCH/handlers.lua" &&
        mv "$SCRATCH/o.cap" "$SCRATCH/cap" && same_events "$SCRATCH/o.3"
}

# Events that this LuaJIT may never report: the handler is called as LuaJIT would call it.
all_reasons()
{
    cat >"$SCRATCH/reasons.lua" <<'EOF'
local jsprof, vmdef = require "jsprof", require "jit.vmdef"
jit.off()
jsprof.start{ output = os.getenv "CAP", traces = true }
local handler
for _, f in pairs(debug.getregistry()._VMEVENTS) do
  if debug.getupvalue(f, 6) then handler = f end
end
local function f() end
local function abort(err, info)
  handler("start", 1, f, 0)
  handler("abort", 1, f, 0, err, info)
end
for i = 0, #vmdef.traceerr do
  if vmdef.traceerr[i]:find "FastFunc %%s" then abort(i, string.gsub) abort(i, jsprof.now) end
end
abort(0) abort(12345, nil) abort("a %s message", "x") abort(nil, nil) abort(3, {})
handler("abort") handler("stop") handler(nil) handler("other", 1)
jsprof.stop()
EOF
    rm -f "$SCRATCH/cap"
    CAP=$SCRATCH/cap stock "$SCRATCH/reasons.lua" &&
        "$JSPROF_TOOL" list --each --csv "$SCRATCH/cap" >"$SCRATCH/list" || return 1
    cat "$SCRATCH/list"
    grep -q 'FastFunc string.gsub: ' "$SCRATCH/list" &&
        grep -q '"error thrown or hook called during recording: f' "$SCRATCH/list" &&
        grep -q '"error 12345",' "$SCRATCH/list" && grep -q '"a x message",' "$SCRATCH/list"
}

refused() # WHAT COMMAND...: in one line, without a capture
{
    what=$1
    shift
    rm -f "$SCRATCH/cap"
    "$@" >"$SCRATCH/out" 2>&1 && return 1
    cat "$SCRATCH/out"
    head -n 1 "$SCRATCH/out" >"$SCRATCH/line"
    one_line "$SCRATCH/line" "$what" && [ ! -e "$SCRATCH/cap" ]
}

one()
{
    START="require('jsprof').start{ output = '$SCRATCH/cap', traces = true"
    if [ "$VERSION" != jit ]; then
        check 'a Lua without a compiler refuses' refused 'traces: only LuaJIT compiles' \
            stock -e "$START }"
        check 'and so does jsprof-lua' refused '--profile-traces: only LuaJIT compiles' \
            record --profile-traces -e 'x = 1'
        return
    fi
    check 'each event is a mark' asked
    check 'a closure in a loop is not compiled' table_has '[0-9]+' 'NYI: bytecode [A-Z]+' closures
    check 'compiled traces are marks' table_has '[0-9]+' compiled inner
    check 'a loop is blacklisted once' table_has 1 'now blacklisted' closures
    check 'and then not tried again' blacklisted_is_the_end
    check 'the environment can ask' by_environment
    check 'without a request nothing is attached' nobody_asked
    check "the program's own handler stays" handlers
    check 'every reason has a text' all_reasons
}

LUA_ONLY=${LUA_ONLY:-'jit 5.4'}
each_version one
finish
