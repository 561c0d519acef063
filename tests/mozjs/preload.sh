#!/bin/sh
# preload.sh - jsprof-gjs records programs that were built without us: the stock
# gjs-console, and one that links libgjs itself; and says what it can not record.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
LAUNCH=$B/bin/jsprof-gjs
cd "$SCRATCH" || exit 1

cat >host.c <<'END'
#include <gjs/gjs.h>
#include <stdlib.h>
/* Two contexts, one after the other, each with a script of its own name. */
static int run(const char *name)
{
    GjsContext *context = gjs_context_new();
    int status = 0;
    const char *text = "function burn() { const t = Date.now(); while (Date.now() - t < 200); }"
                       "burn(); print(imports.gi.GLib.getenv('LD_PRELOAD')); 3";
    gboolean good = gjs_context_eval(context, text, -1, name, &status, NULL);
    g_object_unref(context);
    return good ? status : 100;
}
int main(void) { return run("one.js") + run("two.js"); }
END
# shellcheck disable=SC2046
check 'a program that links libgjs compiles' "${CC:-gcc}" -o host host.c \
    $(pkg-config --cflags --libs gjs-1.0)

has_function() # CAPTURE NAME
{
    "$JSPROF_TOOL" report --csv --limit=0 "$1" >report.csv || return 1
    cat report.csv
    grep -q "^\"\{0,1\}$2" report.csv
}

# -- As without, and recorded --
./host >want.out 2>want.err
want=$?
"$LAUNCH" --profile-output=host.cap -- ./host >got.out 2>got.err
check "the program's status: $want" test $? = $want
check "the program's output" same_text want.out got.out
check "the program's messages" same_text want.err got.err
check 'its capture is whole' whole host.cap
check 'names the first script' has_function host.cap 'burn (one[.]js:1:'
check 'and the second' has_function host.cap 'burn (two[.]js:1:'

for args in "$SCRIPTS/shares.js" "-m $SCRIPTS/module.mjs" "$SCRIPTS/ends.js idle_exit" \
    "$SCRIPTS/ends.js throws" "$SCRIPTS/ends.js subprocess"; do
    # shellcheck disable=SC2086
    BURN_MS=300 gjs-console $args >want.out 2>want.err
    want=$?
    # shellcheck disable=SC2086
    BURN_MS=300 "$LAUNCH" --profile-hz 2000 --profile-output stock.cap gjs-console $args \
        >got.out 2>got.err
    check "$args: status $want" test $? = $want
    check "$args: output" same_text want.out got.out
    check "$args: messages" same_text want.err got.err
    check "$args: whole" whole stock.cap
    rm -f stock.cap
done

BURN_MS=300 "$LAUNCH" --profile-form=compact --profile-output=small.cap \
    gjs-console "$SCRIPTS/shares.js" >out 2>err
check 'the compact form, when asked for' compact small.cap
check 'holds it all' has_function small.cap 'spin ('

# -- Through a shell, and its children --
BURN_MS=300 "$LAUNCH" --profile-output=shell.cap sh -c \
    "gjs-console '$SCRIPTS/shares.js'; BURN_MS=1 gjs-console '$SCRIPTS/shares.js'" >out 2>err
check 'a program that a shell starts is recorded' has_function shell.cap 'spin ('
check 'a second one does not write into its file' one_line err \
    '^jsprof-gjs: shell.cap: another program of this run records into it;'
mkdir 'away 100%p'
BURN_MS=300 "$LAUNCH" --profile-output=here.cap sh -c \
    "cd 'away 100%p' && exec gjs-console '$SCRIPTS/shares.js'" >out 2>err
check 'a program that goes elsewhere is recorded where the user was' has_function here.cap 'spin ('
(cd 'away 100%p' && BURN_MS=300 "$LAUNCH" --profile-output=there.cap sh -c \
    "cd / && exec gjs-console '$SCRIPTS/shares.js'") >out 2>err
check 'and in a folder whose name has a percent sign' \
    has_function 'away 100%p/there.cap' 'spin ('
BURN_MS=100 "$LAUNCH" --profile-output=each-%p.cap sh -c \
    "gjs-console '$SCRIPTS/shares.js'; gjs-console '$SCRIPTS/shares.js'; true" >out 2>err
check 'with %p each has a file' test "$(find . -name 'each-*.cap' | wc -l)" = 2 -a ! -s err

# -- A program that loads GLib for itself alone --
cat >alone.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    void *library = dlopen("libgio-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
    unsigned long (*type)(void) = (unsigned long (*)(void))dlsym(library, "g_action_get_type");
    printf("%s\n", type() ? "has types" : "has none");
}
END
check 'a program that loads GLib for itself alone compiles' "${CC:-gcc}" -o alone alone.c -ldl
"$LAUNCH" --profile-output=alone.cap ./alone >out 2>err
check 'it has its types' test "$(cat out)" = 'has types'
check 'and no message of GLib' test "$(wc -l <err)" = 1

# -- What is wrong --
refused() # STATUS REGEX ARGS...
{
    refused_status=$1
    refused_line=$2
    shift 2
    "$LAUNCH" "$@" >out 2>err
    refused_is=$?
    check "jsprof-gjs $*: status $refused_is" test $refused_is = "$refused_status"
    check "jsprof-gjs $*: one line, nothing run" one_line err "^jsprof-gjs: $refused_line"
    check "jsprof-gjs $*: nothing run" test ! -s out
}

refused 2 'a program to run is needed'
refused 2 '--profile-output=FILE is needed' -- echo ran
refused 2 '--profile-output: needs a value' --profile-output
refused 2 '--profile-output: a file name is needed' --profile-output= echo ran
refused 2 '--profile-output=-: the program prints there' --profile-output=- echo ran
refused 2 '--profile-output=/dev/stdout: the program prints there' \
    --profile-output=/dev/stdout echo ran
check 'and no file is named -' test ! -e ./-
refused 2 '--nonsense: no such option' --nonsense echo ran
refused 2 '--profile-hz=0: a whole number from 1 to 10000 is allowed' \
    --profile-output=x.cap --profile-hz=0 echo ran
refused 2 '--profile-clock=x: cpu or wall is allowed' \
    --profile-output=x.cap --profile-clock=x echo ran
refused 2 '--profile-form=x: neither' --profile-output=x.cap --profile-form=x echo ran
refused 2 '--profile-toggle=x: neither' --profile-output=x.cap --profile-toggle=x echo ran
refused 2 '--profile-alloc=many: a whole number' \
    --profile-output=x.cap --profile-alloc=many echo ran
refused 2 '--profile-tasks=all: only signals' --profile-output=x.cap --profile-tasks=all echo ran
refused 2 '--profile-threads=some: neither' --profile-output=x.cap --profile-threads=some echo ran
refused 1 '/nonexistent/x.cap: No such file' --profile-output=/nonexistent/x.cap echo ran
refused 127 'nonexistent-program: No such file' --profile-output=x.cap nonexistent-program
refused 126 '/etc/passwd: Permission denied' --profile-output=x.cap /etc/passwd
refused 0 'x.cap: nothing recorded: no context of this SpiderMonkey' --profile-output=x.cap true
check 'and leaves no file' test ! -e x.cap

finish
