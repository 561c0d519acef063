/* options.h - gjs-console's command line, read as Debian's gjs-console reads it.
 *
 * SPDX-License-Identifier: MIT
 *
 * Words before the script's name are options of the console; words after it belong to the
 * script. Our own --profile-... options are taken out first, so that a line without them
 * meets exactly the parser of the stock program.
 */
#ifndef JSPROF_MOZJS_OPTIONS_H
#define JSPROF_MOZJS_OPTIONS_H

#include <glib.h>

#include "request.h"

/* GOption writes the gboolean and char members. All of it lives as long as the
 * process. */
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

/* Read the command line. End the process where the stock program does so: after help or a
 * wrong option. */
void options_parse(struct console_options *out, int argc, char **argv);

/* Take options after the script's name that were once accepted there, with a warning. It
 * comes later than options_parse, because the warning follows other errors. */
void options_take_stray(struct console_options *options);

#endif
