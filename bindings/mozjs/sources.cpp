/* sources.cpp - see sources.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 *
 * The callback of a timeout is called by a static function of GLib, and distributions ship GLib
 * without the symbols of those. But GLib exports a table of functions for each kind of source.
 * The names are those of GLib's own source.
 */
#include "sources.h"

#include <dlfcn.h>

namespace {

/* The beginning of a GSourceFuncs, which is part of GLib's stable interface. */
struct sources_funcs {
    const void *prepare, *check, *dispatch, *finalize;
};

struct sources_kind {
    const char *table;
    const char *prepare, *check, *dispatch, *finalize;
};

constexpr sources_kind sources_known[] = {
    { "g_timeout_funcs", "g_timeout_prepare", "g_timeout_check", "g_timeout_dispatch",
      "g_timeout_finalize" },
    { "g_idle_funcs", "g_idle_prepare", "g_idle_check", "g_idle_dispatch", "g_idle_finalize" },
    { "g_io_watch_funcs", "g_io_unix_prepare", "g_io_unix_check", "g_io_unix_dispatch",
      "g_io_unix_finalize" },
    { "g_child_watch_funcs", "g_child_watch_prepare", "g_child_watch_check",
      "g_child_watch_dispatch", "g_child_watch_finalize" },
    { "g_unix_signal_funcs", "g_unix_signal_watch_prepare", "g_unix_signal_watch_check",
      "g_unix_signal_watch_dispatch", "g_unix_signal_watch_finalize" },
};

int sources_add(jsprof *session, const void *function, const char *name)
{
    return function ? jsprof_symbol_add(session, function, name) : 0;
}

} // namespace

int sources_name(jsprof *session)
{
    int err = 0;

    for (const sources_kind &kind : sources_known) {
        const auto *has = static_cast<const sources_funcs *>(dlsym(RTLD_DEFAULT, kind.table));

        if (err == 0 && has)
            err = sources_add(session, has->prepare, kind.prepare);
        if (err == 0 && has)
            err = sources_add(session, has->check, kind.check);
        if (err == 0 && has)
            err = sources_add(session, has->dispatch, kind.dispatch);
        if (err == 0 && has)
            err = sources_add(session, has->finalize, kind.finalize);
    }
    return err;
}
