# browser/lib_firefox.sh - the Firefox Profiler's command line. Sourced after node/lib.sh and
# export/lib.sh; ends its daemons when the test ends.
#
# SPDX-License-Identifier: MIT
profiler() { "$node" "$modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js" "$@"; }

# It gives its daemon half a second to start, which a busy machine may not have.
profiler_load() # FILE
{
    for _ in $(seq 20); do
        ! profiler load "$1" >loaded 2>&1 || return 0
        grep -q 'did not become ready' loaded || break
        sed -n 's/.*"kill \([0-9]*\)".*/\1/p' loaded | xargs -r kill 2>/dev/null || true
    done
    cat loaded
    return 1
}

# Self by function of one thread, as it counts: "figure name".
profiler_functions() # THREAD SCALE
{
    profiler thread functions --thread "$1" --limit 0 --json | "$node" -e '
        for (const f of JSON.parse(require("fs").readFileSync(0, "utf8")).functions)
            console.log(Math.round(f.selfSamples * process.argv[1]),
                        f.name.replace(/^.*!/, ""));' "$2"
}
