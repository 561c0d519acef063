#!/bin/sh
# console.sh - without an option of ours, gjs-console is the stock gjs-console: the same output,
# messages, status and files for one of six command lines here; LONG=1: for every one.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

# One run in a fresh folder, always of the same name; leaves NAME.{out,err,rc,files}.
run() # NAME FOLDER-OF-GJS-CONSOLE ARGS...
{
    run_as=$SCRATCH/$1
    run_path=$2
    shift 2
    rm -rf "$SCRATCH/work"
    cp -r "$SCRIPTS" "$SCRATCH/work"
    { (cd "$SCRATCH/work" && PATH=$run_path:$PATH && export PATH &&
        exec timeout -k 1 20 gjs-console "$@") <"$STDIN" >"$run_as.raw" 2>"$run_as.raw2"
        echo $? >"$run_as.rc"; } 2>/dev/null # the shell tells of aborts
    normal "$run_as.raw" >"$run_as.out"
    normal "$run_as.raw2" >"$run_as.err"
    (cd "$SCRATCH/work" && find . -name '*.lcov' -exec sed -i 's/Realm_[0-9a-f]*/Realm/' {} + &&
        find . -type f | sort | sums) >"$run_as.files"
}

# Files and what is in them; of captures of gjs's own profiler that they are there.
sums()
{
    while IFS= read -r sums_file; do
        if [ "$(od -An -tx4 -N4 "$sums_file" | tr -d ' ')" = fdca975e ]; then
            echo "$sums_file: a capture" | sed 's/gjs-[0-9]*[.]syscap/gjs-PID.syscap/'
        else
            cksum "$sums_file"
        fi
    done
}

LINES_SEEN=0
same() # ARGS...
{
    LINES_SEEN=$((LINES_SEEN + 1))
    [ -n "${LONG:-}" ] || [ $((LINES_SEEN % 6)) = 1 ] || return 0
    CASES=$((CASES + 1))
    run stock /usr/bin "$@"
    run ours "$B/bin" "$@"
    for same_part in rc out err files; do
        cmp -s "$SCRATCH/stock.$same_part" "$SCRATCH/ours.$same_part" && continue
        fail "gjs-console $* (stdin $STDIN): $same_part differs"
        diff "$SCRATCH/stock.$same_part" "$SCRATCH/ours.$same_part" | sed 's/^/    /'
    done
}

same_input() # TEXT ARGS...: with TEXT on stdin
{
    STDIN=$SCRATCH/stdin
    printf '%s\n' "$1" >"$STDIN"
    shift
    same "$@"
    STDIN=/dev/null
}

STDIN=/dev/null

# -- Which words are for gjs-console, and which for the script --
same argv.js
same argv.js one two
same argv.js --help
same argv.js --version -x --unknown=3
same argv.js -- -x
same -- argv.js x
same -- argv.js -- x
same ./argv.js x
same "$SCRATCH/work/argv.js" x
same "file://$SCRATCH/work/argv.js" x
same argv.js argv.js
same -I argv.js argv.js
same argv.js 'Valentín' '☭' ''
same -c 'print(ARGV)' --help
same -c 'print(JSON.stringify(ARGV))' -- a
same --command 'print(ARGV)' a b
same --command='print(ARGV)' a b
same -c ''
same -c 'print(imports.system.programPath)'
same -c 'print(1)' -c 'print(2)'
same argv.js -c 'print(2)'
same argv.js -m -d --profile=x
same argv.js --profile-output=x --profile-hz=0 --profile-clock=sundial --profile-toggle=x
same argv.js --profile-output
same -c 'print(ARGV)' --profile-output=x
same -m argv.mjs
same -m argv.mjs a -b --help
same --module argv.mjs --module
same -m -c 'print(1)'
same -mI lib argv.mjs
same -c
same argv.mjs

# -- Search path and stray options after the script --
same -I one argv.js
same -I one -I two argv.js
same --include-path=one --include-path two argv.js
same -I
same -Ione argv.js
same argv.js -I late
same argv.js --include-path=late -I later x
same argv.js -I
same argv.js -C . --coverage-output=.
same -I early argv.js -I late
GJS_PATH=/tmp/one:/tmp/two same argv.js

# -- Help, versions, wrong options --
same --help
same -h
same --help-all
same -I . --help
same --help argv.js
same --help -c 'print(1)'
same --version
same --jsversion
same --version --jsversion
same --version argv.js
same -c 'print(ARGV)' --version
same -c 'print(ARGV)' --jsversion
same --invalid-option
same --invalid-option argv.js
same -x
same --profilex
same --modul argv.js
same --module=yes argv.mjs

# -- Ways to end --
for end in ok exit throws throws_string throws_null throws_deep recursion idle_exit \
    idle_throws signal_exit promise_exit promise_throws rejected_then_exit awaited \
    awaiting_and_throws import_fails gi_fails compile_fails subprocess critical \
    last_value nonsense; do
    same ends.js "$end"
done
same -c '7'
same -c '300'
same -c '-1'
same -c '"text"'
same -c 'imports.system.exit(0)'
same -c 'imports.system.exit(42)'
same -c 'imports.system.exit(256)'
same -c 'print((' a
same -c 'throw new Error("x")'
same -c 'print("no newline at the end"); printerr("to stderr"); log("logged")'
same -c 'void foobar; (async () => await true)();'
same syntax.js
same -m syntax.mjs
same -m throws.mjs
same -m exits.mjs
same -m imports_missing.mjs
same -m doublegi.mjs
same no_such_file.js
same -m no_such_file.mjs
same .
same ''
same -

# -- Coverage --
same -C . --coverage-output=cov ends.js ok
same --coverage-prefix="$SCRATCH/work" --coverage-output="$SCRATCH/work" argv.js
same -C . --coverage-output=cov ends.js exit
same -C . --coverage-output=cov -m argv.mjs
same -C . argv.js
same --coverage-output=cov argv.js
GJS_COVERAGE_PREFIXES=. GJS_COVERAGE_OUTPUT=cov same argv.js
GJS_COVERAGE_PREFIXES=. same argv.js
GJS_COVERAGE_PREFIXES='' same argv.js

# -- gjs's own profiler, as far as the stock build has one --
same --profile -c 1
same --profile argv.js
same --profile=foo.syscap argv.js
same --profile=foo.syscap --profile argv.js
same argv.js --profile
GJS_ENABLE_PROFILER=1 same argv.js
GJS_TRACE_FD=9 same argv.js
GJS_TRACE_FD=0 same argv.js
GJS_TRACE_FD=text same argv.js
GJS_TRACE_FD=9 same --profile=x argv.js
GJS_TRACE_FD=9 same_input 'print(1)'

# -- At the prompt, and in the debugger --
same
same_input 'print(1 + 1)'
same_input 'print(typeof Console, ARGV); nobody; ({a: 1})'
same_input 'print(1)
imports.system.exit(9)'
same_input 'print(1)' -m
same_input 'print(1)' -I foo
same_input 'print(1)' --profile
same_input 'next
backtrace
continue' -d argv.js
same_input 'quit 3' -d argv.js
same_input 'continue' -d -c 'throw new Error("x")'
same_input 'continue' -d -m argv.mjs

# -- Environment --
GJS_DISABLE_JIT=1 same argv.js
G_DEBUG=fatal-warnings same argv.js -I late
LC_ALL=nonsense same argv.js
JSPROF='' same argv.js

finish
