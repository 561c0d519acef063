#!/bin/sh
# packaging/amalgamate.sh SOURCE... - print the library as one C file, jsprof.c, to compile
# beside jsprof.h. The SOURCEs are the library's .c files; `make amalgamation` calls this.
#
# The system's headers come first, then the files of the signal-safe room between
# room_begin.h and room_end.h, then all others. Each of our headers is copied to the place
# of its first #include. The head comment of a .c file is dropped, and so are the comments
# that only hold a licence.
#
# SPDX-License-Identifier: MIT
set -eu
here=$(dirname "$0")
version=$(sed -n 's/^#define JSPROF_VERSION_STRING "\(.*\)"/\1/p' include/jsprof.h)
LC_ALL=C
export LC_ALL


# The headers that these files include, and those that these include.
needed=$(awk '
    function find(from, name, dir, path) {
        dir = from
        sub(/[^\/]*$/, "", dir)
        path = dir name
        if ((getline line < path) >= 0) { close(path); return path }
        return "src/" name
    }
    function visit(path, line, name, lines, n, i) {
        if (path in seen) return
        seen[path] = 1
        n = 0
        while ((getline line < path) > 0) lines[++n] = line
        close(path)
        for (i = 1; i <= n; i++) {
            if (lines[i] ~ /^#include </ && path !~ /_(x86_64|aarch64)\.h$/) print lines[i]
            if (lines[i] ~ /^#include "/ && lines[i] !~ /"jsprof\.h"/) {
                split(lines[i], name, "\"")
                visit(find(path, name[2]))
            }
        }
    }
    BEGIN { for (i = 1; i < ARGC; i++) visit(ARGV[i]) }' "$@" | grep -v "<jsprof\.h>" | sort -u)

cat <<END_OF_HEAD
/* jsprof.c - jsprof $version, the library in one file. packaging/amalgamate.sh wrote it.
 *
 * Compile it as C11 or later, with any flags: cc -c jsprof.c. The room for signal-safe
 * code states below what it needs of the compiler. Link with -pthread. With -Wl,-z,now
 * the loader looks up all names when the program starts.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
/* A fortified call has a name of its own. The handler may not reach these names, and the
 * library looks up where each name that it calls leads: see callable_names.c below. */
#undef _FORTIFY_SOURCE
$needed
#include "jsprof.h"

END_OF_HEAD

cat "$here/room_begin.h"
room=yes
for path; do
    case $path in
    src/sigsafe/*) ;;
    *) [ $room = no ] || cat "$here/room_end.h"; room=no ;;
    esac
    echo "@file $path"
done | awk '
    function find(from, name, dir, path, line) {
        dir = from
        sub(/[^\/]*$/, "", dir)
        path = dir name
        if ((getline line < path) >= 0) { close(path); return path }
        return "src/" name
    }
    # A header for one processor, and what it includes, is skipped by its own guard alone.
    function copy(path, machine, line, lines, n, i, name, head) {
        machine = machine || path ~ /_(x86_64|aarch64)\.h$/
        if (path in done || path in open) return
        if (machine) open[path] = 1
        else done[path] = 1
        while ((getline line < path) > 0) lines[++n] = line
        close(path)
        print "/* " path " */"
        head = path ~ /\.c$/
        for (i = 1; i <= n; i++) {
            if (i == 1 && head && lines[1] ~ /^\/\*/) {
                while (lines[i] !~ /\*\//) i++
                continue
            }
            if (lines[i] ~ /^#include "jsprof\.h"/) continue
            if (lines[i] ~ /^#include "/) {
                split(lines[i], name, "\"")
                copy(find(path, name[2]), machine)
                continue
            }
            if (lines[i] ~ /^#include </ && path !~ /_(x86_64|aarch64)\.h$/) continue
            if (lines[i] ~ /^ \* SPDX-License-Identifier/) continue
            gsub(/_Thread_local/, "JSP_THREAD_LOCAL", lines[i])
            # Our functions are static, and the compiler folds more; those of the room are
            # not: its proof gives the depth of the stack without such folding.
            if (path !~ /^src\/sigsafe\// && lines[i] ~ /^[a-z][a-zA-Z0-9_ ]*[ *]jsp_[a-z0-9_]+\(/ &&
                lines[i] !~ /^(extern|static|typedef) /)
                lines[i] = "static __attribute__((unused)) " lines[i]
            print lines[i]
        }
        delete open[path]
    }
    /^@file / { copy($2, 0); next }
    { print }'
