/* console.cpp - gjs-console: run a JavaScript program as gjs does, and record it.
 *
 * SPDX-License-Identifier: MIT
 *
 * Without one of our options, output, messages and exit status are those of libgjs's own
 * gjs-console, including the order of its checks.
 */
#define G_LOG_DOMAIN "Gjs"

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include <gio/gio.h>
#include <gjs/gjs.h>
#include <jsapi.h>

#include "counts.h"
#include "options.h"
#include "recording.h"
#include "script.h"
#include "stock.h"

namespace {

/* The program to run. The strings live as long as the process. */
struct program {
    char *script;
    gsize len;
    const char *shown_as; /* name in stack traces */
    const char *name;     /* System.programInvocationName */
    char *path;           /* System.programPath, or nullptr */
    bool interactive;
};

/* libgjs reports its version only to scripts, as 10000 * major + 100 * minor + micro. */
[[noreturn]] void console_print_version(void)
{
    int version = 0;

    g_unsetenv("GJS_ENABLE_PROFILER");
    GjsContext *context = gjs_context_new();
    if (!gjs_context_eval(context, "imports.system.version", -1, "<version>", &version,
                          nullptr))
        exit(1);
    g_print("gjs %d.%d.%d\n", version / 10000, version / 100 % 100, version % 100);
    exit(0);
}

void console_load_file(const char *file, program *out)
{
    GError *error = nullptr;
    GFile *input = g_file_new_for_commandline_arg(file);

    if (!g_file_load_contents(input, nullptr, &out->script, &out->len, nullptr, &error)) {
        g_printerr("%s\n", error->message);
        exit(1);
    }
    out->path = g_file_get_path(input);
    out->shown_as = file;
    out->name = file;
    g_object_unref(input);
}

void console_load(const console_options *options, program *out)
{
    *out = {};
    out->name = options->program;
    if (options->command) {
        out->script = options->command;
        out->shown_as = "<command line>";
    } else if (options->file) {
        console_load_file(options->file, out);
        return;
    } else {
        if (options->as_module) {
            g_warning("'-m' requires a file argument.\nExample: gjs -m main.js");
            exit(1);
        }
        /* The prompt can use this name, so it is part of the behaviour. */
        out->script = g_strdup("const Console = imports.console; Console.interact();");
        out->shown_as = "<stdin>";
        out->interactive = true;
    }
    out->len = strlen(out->script);
}

/* Return the descriptor in GJS_TRACE_FD that starts libgjs's own profiler, if that was
 * built in, or -1. */
int console_trace_fd(console_options *options, bool interactive)
{
    const char *text = g_getenv("GJS_TRACE_FD");
    int fd = -1;

    if (text) {
        fd = static_cast<int>(g_ascii_strtoll(text, nullptr, 10));
        g_setenv("GJS_TRACE_FD", "", TRUE);
        options->gjs_profiler |= stock_traces(fd);
    }
    if (interactive && options->gjs_profiler) {
        g_message("Profiler disabled in interactive mode.");
        options->gjs_profiler = false;
        g_unsetenv("GJS_ENABLE_PROFILER");
        g_unsetenv("GJS_TRACE_FD");
    }
    return fd;
}

void console_direct_profiler(const console_options *options, GjsContext *context, int fd)
{
    bool on = options->gjs_profiler;

    if (on && options->gjs_profile_file)
        gjs_profiler_set_filename(gjs_context_get_profiler(context),
                                  options->gjs_profile_file);
    else if (on && fd > -1)
        gjs_profiler_set_fd(gjs_context_get_profiler(context), fd);
    else if (fd > -1)
        close(fd);
    if (on && options->gjs_profile_file && fd > -1)
        close(fd);
}

/* During a recording, libgjs must not use the script's stack for its own profiler. The
 * script sees its environment unchanged. */
GjsContext *console_new_context(const console_options *options, const program *program)
{
    char *wanted = g_strdup(recording_is_open() ? g_getenv("GJS_ENABLE_PROFILER") : nullptr);

    if (wanted)
        g_unsetenv("GJS_ENABLE_PROFILER");
    char *history = stock_history();
    void *context = g_object_new(
        GJS_TYPE_CONTEXT, "search-path", options->include_path, "program-name",
        program->name, "program-path", program->path, "profiler-enabled",
        static_cast<gboolean>(options->gjs_profiler), "exec-as-module", options->as_module,
        STOCK_HISTORY, history, nullptr);

    g_free(history);
    if (wanted)
        g_setenv("GJS_ENABLE_PROFILER", wanted, TRUE);
    g_free(wanted);
    return GJS_CONTEXT(context);
}

void console_read_coverage_env(console_options *options)
{
    const char *prefixes = g_getenv("GJS_COVERAGE_PREFIXES");
    const char *output = g_getenv("GJS_COVERAGE_OUTPUT");

    if (prefixes)
        options->coverage_prefixes = g_strsplit(prefixes, ":", -1);
    if (output)
        options->coverage_output = g_strdup(output);
}

GjsCoverage *console_new_coverage(const console_options *options, GjsContext *context)
{
    if (!options->coverage_prefixes)
        return nullptr;
    if (!options->coverage_output)
        g_error("--coverage-output is required when taking coverage statistics");

    GFile *output = g_file_new_for_commandline_arg(options->coverage_output);
    GjsCoverage *coverage = gjs_coverage_new(options->coverage_prefixes, context, output);
    g_object_unref(output);
    return coverage;
}

/* A program that called System.exit() has printed all that it wanted to. */
void console_print_error(GError *error)
{
    if (!g_error_matches(error, GJS_ERROR, GJS_ERROR_SYSTEM_EXIT))
        g_critical("%s", error->message);
    g_error_free(error);
}

int console_run_module(GjsContext *context, const program *program)
{
    GError *error = nullptr;
    uint8_t status = 0;
    GFile *file = g_file_new_for_commandline_arg(program->shown_as);
    char *uri = g_file_get_uri(file);
    int code = 0;

    if (!gjs_context_register_module(context, uri, uri, &error)) {
        g_critical("%s", error->message);
        g_error_free(error);
        code = 1;
    } else if (!gjs_context_eval_module(context, uri, &status, &error)) {
        code = status;
        console_print_error(error);
    }
    g_free(uri);
    g_object_unref(file);
    return code;
}

int console_run_script(GjsContext *context, const program *program)
{
    GError *error = nullptr;
    int code = 0;

    if (!gjs_context_eval(context, program->script, static_cast<gssize>(program->len),
                          program->shown_as, &code, &error))
        console_print_error(error);
    return code;
}

int console_run(const console_options *options, GjsContext *context, const program *program)
{
    gjs_context_set_argv(context, options->script_argc,
                         const_cast<const char **>(options->script_argv));
    return options->as_module ? console_run_module(context, program)
                              : console_run_script(context, program);
}

/* Open the requested recording. Return false after one line on stderr. */
bool console_open(const console_options *options, const program *program)
{
    const request_program asked_by = { "gjs-console", program->interactive,
                                       options->gjs_profiler };

    if (!counts_open(options->profile.calls, asked_by.name) ||
        !recording_open(&options->profile, &asked_by))
        return false;
    if (!counts_is_capture_alone(options->profile.calls) || recording_is_open())
        return true;
    fprintf(stderr, "gjs-console: --profile-calls=on: needs --profile-output=FILE\n");
    return false;
}

} // namespace

int main(int argc, char **argv)
{
    console_options options;
    program program;

    setlocale(LC_ALL, "");
    options_parse(&options, argc, argv);
    if (options.print_version)
        console_print_version();
    if (options.print_js_version) {
        g_print("%s\n", gjs_get_js_version());
        return 0;
    }
    console_load(&options, &program);
    if (!console_open(&options, &program))
        return 1;
    options_take_stray(&options);

    int trace_fd = console_trace_fd(&options, program.interactive);
    console_read_coverage_env(&options);
    if (options.coverage_prefixes)
        gjs_coverage_enable();
    GjsContext *context = console_new_context(&options, &program);
    GjsCoverage *coverage = console_new_coverage(&options, context);
    console_direct_profiler(&options, context, trace_fd);
    if (options.debugging)
        gjs_context_setup_debugger_console(context);

    auto *cx = static_cast<JSContext *>(gjs_context_get_native_context(context));
    if (!recording_start(cx, "main")) {
        recording_finish();
        return 1;
    }
    if (!script_define_everywhere(cx))
        JS_ClearPendingException(cx);
    counts_begin(cx); /* later, because exit() runs its functions in reverse order */
    int code = console_run(&options, context, &program);
    counts_write();
    recording_finish();

    if (coverage && code == 0)
        gjs_coverage_write_statistics(coverage);
    g_clear_object(&coverage);
    g_object_unref(context);
    if (options.debugging)
        g_print("Program exited with code %d\n", code);
    exit(code);
}
