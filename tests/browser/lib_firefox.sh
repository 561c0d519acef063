# browser/lib_firefox.sh - the Firefox Profiler's command line. Sourced after node/lib.sh and
# export/lib.sh; ends its daemons when the test ends.
#
# SPDX-License-Identifier: MIT
profiler() { "$node" "$modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js" "$@"; }

# Start the daemon that has the file in place of the last one. (The command load gives it half a
# second, which a busy machine may not have.)
profiler_load() # FILE or URL
{
    profiler stop --all >/dev/null 2>&1
    case $1 in http*) from=$1 ;; *) from=$PWD/$1 ;; esac
    profiler --daemon "$from" --session one >loaded 2>&1 &
    until profiler status >status 2>&1; do
        kill -0 $! 2>/dev/null || { cat loaded status; return 1; }
    done
}

# Self by function of one thread, as it counts: "figure name".
profiler_functions() # THREAD SCALE
{
    profiler thread functions --thread "$1" --limit 0 --json | "$node" -e '
        for (const f of JSON.parse(require("fs").readFileSync(0, "utf8")).functions)
            console.log(Math.round(f.selfSamples * process.argv[1]),
                        f.name.replace(/^.*!/, ""));' "$2"
}
