/* options.h - gjs-console's command line, read as Debian's gjs-console reads it.
 *
 * SPDX-License-Identifier: MIT
 *
 * One reader for two audiences: what stands before the script is ours, what stands
 * behind it is the script's. Our own --profile-... options are taken out first, so that
 * a line without them meets exactly the parser that the stock program has.
 */
#ifndef JSPROF_MOZJS_OPTIONS_H
#define JSPROF_MOZJS_OPTIONS_H

#include <glib.h>

#include "request.h"

/* The gboolean and char members are written by GOption. All of it lives as long as
 * the process. */
struct console_options {
    char **include_path;
    char **coverage_prefixes;
    char *coverage_output;
    char *command;
    char *gjs_profile_file;
    gboolean print_version;
    gboolean print_js_version;
    gboolean debugging;
    gboolean as_module;
    bool gjs_profiler;
    struct profile_options profile;

    const char *program; /* argv[0] */
    const char *file;    /* the script, or nullptr */
    int script_argc;
    char **script_argv;
};

/* Ends the process where the stock program does so: help, a bad option. */
void options_parse(struct console_options *out, int argc, char **argv);

/* Options that were accepted behind the script's name once are still taken, with a
 * warning. Later than options_parse, because the warning comes after other errors. */
void options_take_stray(struct console_options *options);

#endif
