/* stock.h - the differences between the gjs-consoles of gjs 1.74 and 1.90, all in this
 * file.
 *
 * SPDX-License-Identifier: MIT
 *
 * build.mk defines GJS_VERSION as 1000 * major + minor of the installed gjs, whose
 * console ours imitates.
 */
#ifndef JSPROF_MOZJS_STOCK_H
#define JSPROF_MOZJS_STOCK_H

#include <glib.h>

#if GJS_VERSION >= 1084
#define STOCK_HELP_INCLUDE "Add DIR to the list of paths to search for JS files"
#define STOCK_HELP_MODULE "Execute the file as a module"
#else
#define STOCK_HELP_INCLUDE \
    "Add the directory DIR to the list of directories to search for js files."
#define STOCK_HELP_MODULE "Execute the file as a module."
#endif

/* Return whether this descriptor in GJS_TRACE_FD asks for gjs's own profiler. */
constexpr bool stock_traces(int fd)
{
    return GJS_VERSION >= 1088 ? fd != -1 : fd > 0;
}

/* Return the path of the history of the prompt and the debugger, for a property of the
 * context that exists since 1.84; nullptr: there is none. */
inline char *stock_history(void)
{
    const char *asked = g_getenv("GJS_REPL_HISTORY");

    if (asked)
        return asked[0] ? g_strdup(asked) : nullptr;
    return g_build_filename(g_get_user_cache_dir(), "gjs_repl_history", nullptr);
}

constexpr const char *STOCK_HISTORY = GJS_VERSION >= 1084 ? "repl-history-path" : nullptr;

#endif
