#!/bin/sh
# threads.sh - --profile-threads=all samples the threads of GLib and SpiderMonkey, too.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# Each of the pool's threads reads a file of zeros, for some tens of milliseconds. As bytes of GLib:
# arrays of the engine would bring a collection, in which GJS blocks the callback that comes.
truncate -s 100M zeros
cat >pool.js <<'END_OF_SCRIPT'
const {Gio, GLib} = imports.gi;
const loop = new GLib.MainLoop(null, false);
let left = 4;
for (let i = 0; i < 4; i++) {
    Gio.File.new_for_path('zeros').load_bytes_async(null, (file, result) => {
        file.load_bytes_finish(result);
        if (--left === 0)
            loop.quit();
    });
}
loop.run();
print('done');
END_OF_SCRIPT

has_pool() # CAPTURE
{
    "$JSPROF_TOOL" threads --csv "$1" >threads.csv
    cat threads.csv
    grep -q pool- threads.csv && grep -q main threads.csv
}

for program in "$GJS" "$B/bin/jsprof-gjs"; do
    name=${program##*/}
    rest=$([ "$name" = gjs-console ] || echo gjs-console)
    clocks=$([ "$name" = gjs-console ] && echo cpu wall || echo wall)
    for clock in $clocks; do
        timeout 60 "$program" --profile-threads=all --profile-clock=$clock \
            --profile-output=all.cap $rest pool.js >out 2>err
        check "$name: it ends as ever" test $? = 0 -a "$(cat out)" = 'done' -a ! -s err
        check "$name: the pool is sampled by the $clock clock" has_pool all.cap
    done
    timeout 60 "$program" --profile-clock=wall --profile-output=main.cap $rest pool.js >out 2>err
    check "$name: one thread without it" test "$("$JSPROF_TOOL" threads --csv main.cap | wc -l)" = 2
done

finish
