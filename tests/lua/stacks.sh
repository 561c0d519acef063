#!/bin/sh
# stacks.sh - who called whom, through everything that can call in Lua, each C function
# between its caller and its callee; and which line runs.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
VERSIONS=$ALL_VERSIONS # the smoke test of each

# Lua's and C's frames of the one chain that the script runs, leaf first.
chain()
{
    where="[^$t]*chain.lua"
    chain_c="(I:$any)+" # of the interpreter; LuaJIT goes through pcall without C
    [ "$VERSION" = jit ] && chain_c="(I:$any)*"
    printf '%s' "${t}burn .$where:8. :1[0-9]$t" \
        "matched .$where:14. :15$t${chain_c}string.gsub ..C..$t" \
        "body .$where:19. :21$t${chain_c}coroutine.wrap resume ..C..$t" \
        "middle .$where:28. :29$t${chain_c}pcall ..C..$t" \
        "outer .$where:33. :34${t}function .$where:38. :40$t" \
        "${chain_c}coroutine.resume ..C..${t}__index .$where:45. :46$t" \
        "${chain_c}run .$where:51. :52${t}main chunk .$where. :56$t" \
        "${chain_c}C:(__libc_start|libc[.]so)"
}

# Functions whose memory was another one's: each under its own name and line, and no name
# of what stood there before.
reloaded()
{
    stacks '' lines weights | grep -o 'piece[0-9]*:[0-9]*) :[0-9]*' | sort | uniq -c | awk '
        { split($2, name, /[^0-9]+/); split($3, line, ":")
          n++
          if (name[2] + 0 != name[3] + 0 || line[2] + 0 != name[3] + 0) { print; wrong++ } }
        END { print n + 0 " pieces seen"; exit n < 5 || wrong }'
}

# Two functions that ran as long, in turns.
both_made()
{
    stacks '' lines weights | grep -o 'reload.lua:2[0-9]*) :2[0-9]*' | sort | uniq -c | awk '
        { print; n += $1; most = $1 > most ? $1 : most }
        END { exit NR != 2 || most > 0.9 * n }'
}

# What runs below `early` stands in line 6, and below `late` in line 26; but Lua 5.4 has the
# instruction that takes a chunk's arguments in line 1, wherever the chunk begins.
turns_are_told()
{
    stacks '' lines weights | awk -F '\t' '
        { want = /\tearly / ? 6 : /\tlate / ? 26 : 0 }
        want { turn[want]++
               right = "again(:" want ")?\\)( :" want ")?$|main chunk \\(again\\) :1$"
               for (i = 2; i <= NF && $i !~ /^(early|late) /; i++)
                   if ($i ~ /\(again/ && $i !~ right)
                       wrong[want " " $i]++ }
        END { for (w in wrong) print wrong[w], "wrong below", w
              print turn[6] + 0, turn[26] + 0, "samples of each"
              for (w in wrong) exit 1
              exit !(turn[6] && turn[26]) }'
}

# Dead prototypes stay as they were, all else is given again. LuaJIT has code right behind
# the prototype: nobody gets the one without the other.
again_hosted()
{
    case $VERSION in
    jit) return 0 ;;
    5.1 | 5.3) proto_bytes=120 ;;
    *) proto_bytes=128 ;;
    esac
    build_host again_host.c &&
        rm -f "$SCRATCH/cap" && "$SCRATCH/host" "$SCRATCH/cap" "$SCRIPTS/again.lua" \
        "$proto_bytes" && whole
}

# What the collector does unasked: 5.4 by itself does otherwise than its interpreter.
collects_as_stock()
{
    what='local ok, mode = pcall(collectgarbage, "incremental")
        local function set(old, new)
          if _VERSION == "Lua 5.5" then return collectgarbage("param", new, 200) end
          return collectgarbage(old, 200)
        end
        print(ok and mode, set("setpause", "pause"), set("setstepmul", "stepmul"))'
    echo "$what" >"$SCRATCH/mode.lua"
    stock "$SCRATCH/mode.lua" >"$SCRATCH/want" && record "$SCRATCH/mode.lua" >"$SCRATCH/got" &&
        diff "$SCRATCH/want" "$SCRATCH/got"
}

one()
{
    check 'the collector is set as the interpreter has it' collects_as_stock
    rounds=800
    [ "$VERSION" = jit ] && rounds=10000
    check 'the chain runs' record --profile-clock=wall "$SCRIPTS/chain.lua" $rounds
    check 'the capture is whole' whole
    check 'the chain is seen, C between Lua' share_is 80 100 "$(chain)"
    check 'chunks are loaded and thrown away' record --profile-clock=wall \
        "$SCRIPTS/reload.lua" 0.005
    check 'what follows in their memory is itself' reloaded
    check 'a closure in the place of another one, too' both_made
    check 'texts of one name and shape take turns' record --profile-clock=wall \
        "$SCRIPTS/again.lua" 0.01
    check 'each has its own lines' turns_are_told
    check 'they do in a host whose memory stays as it was' again_hosted
    check 'and have their own names and lines' turns_are_told
    check 'the stock interpreter records it too' stock "$SCRIPTS/tails.lua" \
        "$SCRATCH/cap"
    # LuaJIT keeps nothing of a tail call.
    mark=".tail calls.$t"
    [ "$VERSION" = jit ] && mark=
    check 'a tail call leaves its mark' share_is 60 100 \
        "${t}last .[^$t]*:7. :[89]$t${mark}first .[^$t]*:16. :17$t"
    check 'lines share a function as they share its time' share_is 45 99 "${t}last .*:7. :8$t"
    check 'a label stands below what it wraps' share_is 90 100 \
        "first .[^$t]*:16. :17${t}(I:$any)*a label.*main chunk"
}

each_version one
finish
