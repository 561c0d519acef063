/* options.cpp - gjs-console's command line, read as Debian's gjs-console reads it.
 *
 * SPDX-License-Identifier: MIT
 */
#define G_LOG_DOMAIN "Gjs"

#include "options.h"
#include "stock.h"

#include <cstdlib>
#include <cstring>

namespace {

/* GOption calls it once per --profile; the value is optional. */
gboolean options_on_profile(const char *, const char *value, void *data, GError **)
{
    auto *options = static_cast<console_options *>(data);

    options->gjs_profiler = true;
    g_free(options->gjs_profile_file);
    options->gjs_profile_file = g_strdup(value);
    return TRUE;
}

void options_add_stock(GOptionGroup *group, console_options *o)
{
    GOptionArgFunc on_profile = options_on_profile;
    const GOptionEntry entries[] = {
        { "version", 0, 0, G_OPTION_ARG_NONE, &o->print_version,
          "Print GJS version and exit", nullptr },
        { "jsversion", 0, 0, G_OPTION_ARG_NONE, &o->print_js_version,
          "Print version of the JS engine and exit", nullptr },
        { "command", 'c', 0, G_OPTION_ARG_STRING, &o->command,
          "Program passed in as a string", "COMMAND" },
        { "coverage-prefix", 'C', 0, G_OPTION_ARG_STRING_ARRAY, &o->coverage_prefixes,
          "Add the prefix PREFIX to the list of files to generate coverage info for",
          "PREFIX" },
        { "coverage-output", 0, 0, G_OPTION_ARG_STRING, &o->coverage_output,
          "Write coverage output to a directory DIR. This option is mandatory when using "
          "--coverage-prefix", "DIR" },
        { "include-path", 'I', 0, G_OPTION_ARG_STRING_ARRAY, &o->include_path,
          STOCK_HELP_INCLUDE, "DIR" },
        { "module", 'm', 0, G_OPTION_ARG_NONE, &o->as_module,
          STOCK_HELP_MODULE, nullptr },
        { "profile", 0, G_OPTION_FLAG_OPTIONAL_ARG | G_OPTION_FLAG_FILENAME,
          G_OPTION_ARG_CALLBACK, reinterpret_cast<void *>(on_profile),
          "Enable the profiler and write output to FILE (default: gjs-$PID.syscap)",
          "FILE" },
        { "debugger", 'd', 0, G_OPTION_ARG_NONE, &o->debugging, "Start in debug mode",
          nullptr },
        {},
    };

    g_option_group_add_entries(group, entries);
}

/* options_take_one has taken all of them, with their values. */
gboolean options_on_ours(const char *, const char *, void *, GError **)
{
    return TRUE;
}

void options_add_ours(GOptionGroup *group, profile_options *p)
{
    GOptionArgFunc on_ours = options_on_ours;
    const GOptionEntry entries[] = {
        { "profile-output", 0, 0, G_OPTION_ARG_FILENAME, &p->output,
          "Sample the program and write a capture to FILE (%p is the process id)",
          "FILE" },
        { "profile-hz", 0, 0, G_OPTION_ARG_STRING, &p->hz,
          "Samples a second, 1 to 10000 (default: 1000)", "N" },
        { "profile-clock", 0, 0, G_OPTION_ARG_STRING, &p->clock,
          "Sample by CPU time or by elapsed time: cpu (default) or wall", "CLOCK" },
        { "profile-form", 0, 0, G_OPTION_ARG_STRING, &p->form,
          "Write a capture that Sysprof reads whole, or a small one: plain (default) or "
          "compact", "FORM" },
        { "profile-calls", 0, 0, G_OPTION_ARG_FILENAME, &p->calls,
          "Count every call, without the optimizing compiler: on writes the counts into the "
          "capture, FILE also writes a table there", "FILE" },
        { "profile-threads", 0, 0, G_OPTION_ARG_STRING, &p->threads,
          "Sample the thread of the script, or every thread that has a name: main (default) "
          "or all", "WHICH" },
        { "profile-alloc", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK,
          reinterpret_cast<void *>(on_ours),
          "Sample allocations, too, one in each so many bytes (default: 524288)", "BYTES" },
        { "profile-tasks", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK,
          reinterpret_cast<void *>(on_ours),
          "Record what the program schedules, and each of its runs; with signals, the handlers "
          "of signals, too", "signals" },
        { "profile-stalls", 0, 0, G_OPTION_ARG_STRING, &p->stalls,
          "Record only turns of the loop that take longer, such as 16ms", "TIME" },
        { "profile-toggle", 0, 0, G_OPTION_ARG_STRING, &p->toggle,
          "Let SIGUSR2 stop and continue it, beginning on or off", "STATE" },
        {},
    };

    g_option_group_add_entries(group, entries);
}

GOptionContext *options_context(console_options *into)
{
    GOptionContext *context = g_option_context_new(nullptr);
    GOptionGroup *group = g_option_group_new(nullptr, nullptr, nullptr, into, nullptr);

    options_add_stock(group, into);
    g_option_context_set_main_group(context, group);
    return context;
}

/* -- Taking out what the stock program does not know ------------------------ */

char **options_slot(profile_options *p, const char *name, size_t len)
{
    const struct {
        const char *name;
        char **slot;
    } known[] = {
        { "--profile-output", &p->output },
        { "--profile-hz", &p->hz },
        { "--profile-clock", &p->clock },
        { "--profile-toggle", &p->toggle },
        { "--profile-form", &p->form },
        { "--profile-calls", &p->calls },
        { "--profile-threads", &p->threads },
        { "--profile-alloc", &p->alloc },
        { "--profile-tasks", &p->tasks },
        { "--profile-stalls", &p->stalls },
    };

    for (const auto &k : known) {
        if (strlen(k.name) == len && strncmp(k.name, name, len) == 0)
            return k.slot;
    }
    return nullptr;
}

/* Return whether the stock option `arg` takes the next word, `next` or nullptr, as its
 * value. */
bool options_takes_next(const char *arg, const char *next)
{
    static const char *const with_value[] = { "--command", "--coverage-prefix",
                                              "--coverage-output", "--include-path" };

    if (strcmp(arg, "--profile") == 0)
        return next && next[0] != '-';
    if (arg[1] != '-')
        return strchr("cCI", arg[strlen(arg) - 1]) != nullptr;
    for (const char *name : with_value) {
        if (strcmp(arg, name) == 0)
            return true;
    }
    return false;
}

/* Return the number of words, 0 to 2, at argv[i] that are one of our options with its
 * value. */
int options_take_one(profile_options *p, int argc, char **argv, int i)
{
    const char *value = strchr(argv[i], '=');
    size_t len = value ? static_cast<size_t>(value - argv[i]) : strlen(argv[i]);
    char **slot = options_slot(p, argv[i], len);

    if ((slot == &p->alloc || slot == &p->tasks) && !value)
        value = "=1"; /* for alloc, the usual distance */
    if (!slot || (!value && i + 1 == argc))
        return 0;
    g_free(*slot);
    *slot = g_strdup(value ? value + 1 : argv[i + 1]);
    return value ? 1 : 2;
}

/* Return whether `arg` is the last word before the script's own: the program itself. */
bool options_ends_ours(const char *arg)
{
    return arg[0] != '-' || arg[1] == 0 || strcmp(arg, "--") == 0 ||
           strcmp(arg, "--command") == 0 ||
           (arg[1] != '-' && arg[strlen(arg) - 1] == 'c');
}

/* Make a new array of the words without our options. */
char **options_without_ours(profile_options *p, int *argc, char **argv)
{
    char **rest = g_new0(char *, *argc + 1);
    int n = 0, i = 0;

    if (*argc > 0)
        rest[n++] = argv[i++];
    while (i < *argc && !options_ends_ours(argv[i])) {
        int taken = options_take_one(p, *argc, argv, i);

        if (taken == 0) {
            const char *next = i + 1 < *argc ? argv[i + 1] : nullptr;
            int stay = options_takes_next(argv[i], next) && next ? 2 : 1;

            for (int k = 0; k < stay; k++)
                rest[n++] = argv[i + k];
            taken = stay;
        }
        i += taken;
    }
    while (i < *argc)
        rest[n++] = argv[i++];
    *argc = n;
    return rest;
}

/* -- As the stock program does it -------------------------------------------- */

bool options_is_command(const char *arg)
{
    return strcmp(arg, "-c") == 0 || strcmp(arg, "--command") == 0;
}

/* Return the number of words for us. A first, lenient reading finds the first word that
 * no option takes: the script. It compares words by their text, as the stock program
 * does, so the first one with the script's text ends our part. */
int options_split(GOptionContext *context, const console_options *found, int argc,
                  char **argv)
{
    char **left = g_strdupv(argv);
    char **owned = left;
    GError *error = nullptr;
    int n = argc;

    g_option_context_set_ignore_unknown_options(context, TRUE);
    g_option_context_set_help_enabled(context, FALSE);
    if (!g_option_context_parse_strv(context, &left, &error))
        g_error("option parsing failed: %s", error->message);

    const char *script = g_strv_length(left) >= 2 ? left[1] : nullptr;
    for (int i = 1; i < argc; i++) {
        if (script && strcmp(argv[i], script) == 0) {
            n = i + 1;
            break;
        }
        if (found->command && options_is_command(argv[i])) {
            n = MIN(i + 2, argc);
            break;
        }
    }
    g_strfreev(owned);
    return n;
}

/* Drop the results of the lenient reading, except those that the stock program keeps. */
void options_forget(console_options *o)
{
    console_options kept = {};

    kept.gjs_profiler = o->gjs_profiler;
    kept.gjs_profile_file = o->gjs_profile_file;
    kept.profile = o->profile;
    *o = kept;
}

[[noreturn]] void options_refuse(GOptionContext *context, const char *message)
{
    char *help = g_option_context_get_help(context, TRUE, nullptr);

    g_printerr("%s\n\n%s\n", message, help);
    exit(1);
}

/* Read our words strictly. Return the words that remain, program included. */
char **options_read(GOptionContext *context, int n, char **argv)
{
    char **words = g_new0(char *, n + 1);
    GError *error = nullptr;

    for (int i = 0; i < n; i++)
        words[i] = g_strdup(argv[i]);
    g_option_context_set_ignore_unknown_options(context, FALSE);
    g_option_context_set_help_enabled(context, TRUE);
    if (!g_option_context_parse_strv(context, &words, &error))
        options_refuse(context, error->message);
    return words;
}

char **options_joined(char **a, char **b)
{
    if (!a)
        return b;

    GStrvBuilder *all = g_strv_builder_new();
    g_strv_builder_addv(all, const_cast<const char **>(a));
    g_strv_builder_addv(all, const_cast<const char **>(b));
    return g_strv_builder_end(all);
}

void options_warn_stray(const char *option, const char *variable)
{
    g_warning("You used the --%s option after the script on the GJS command line. "
              "Support for this will be removed in a future version. Place the option "
              "before the script or use the %s environment variable.",
              option, variable);
}

/* Read the script's words leniently. Return false if they can not be read. */
bool options_scan_stray(const console_options *options, console_options *found)
{
    char **words = g_new0(char *, options->script_argc + 2);
    GError *error = nullptr;
    GOptionContext *context = g_option_context_new(nullptr);
    const GOptionEntry entries[] = {
        { "coverage-prefix", 'C', 0, G_OPTION_ARG_STRING_ARRAY, &found->coverage_prefixes,
          nullptr, nullptr },
        { "coverage-output", 0, 0, G_OPTION_ARG_STRING, &found->coverage_output, nullptr,
          nullptr },
        { "include-path", 'I', 0, G_OPTION_ARG_STRING_ARRAY, &found->include_path, nullptr,
          nullptr },
        {},
    };

    words[0] = g_strdup("script");
    for (int i = 0; i < options->script_argc; i++)
        words[i + 1] = g_strdup(options->script_argv[i]);
    g_option_context_set_ignore_unknown_options(context, TRUE);
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_add_main_entries(context, entries, nullptr);
    bool good = g_option_context_parse_strv(context, &words, &error);
    if (!good) {
        g_warning("Scanning script arguments failed: %s", error->message);
        g_error_free(error);
    }
    g_option_context_free(context);
    g_strfreev(words);
    return good;
}

} // namespace

/* Both readings use one context: GOption keeps a list of values across them, and scripts
 * see the resulting search path. */
void options_parse(console_options *out, int argc, char **argv)
{
    *out = {};
    char **words = options_without_ours(&out->profile, &argc, argv);
    GOptionContext *context = options_context(out);
    int n = options_split(context, out, argc, words);

    options_forget(out);
    options_add_ours(g_option_context_get_main_group(context), &out->profile);
    char **ours = options_read(context, n, words);
    g_option_context_free(context);

    out->script_argc = argc - n;
    out->script_argv = words + n;
    out->program = ours[0];
    if (!out->command && ours[0])
        out->file = ours[1];
    if (out->file && ours[2]) {
        g_printerr("%s: unexpected word on the command line\n", ours[2]);
        exit(1);
    }
}

void options_take_stray(console_options *options)
{
    console_options found = {};

    if (!options_scan_stray(options, &found))
        return;
    if (found.coverage_prefixes) {
        options_warn_stray("coverage-prefix", "GJS_COVERAGE_PREFIXES");
        options->coverage_prefixes =
            options_joined(options->coverage_prefixes, found.coverage_prefixes);
    }
    if (found.include_path) {
        options_warn_stray("include-path", "GJS_PATH");
        options->include_path = options_joined(options->include_path, found.include_path);
    }
    if (found.coverage_output) {
        options_warn_stray("coverage-output", "GJS_COVERAGE_OUTPUT");
        options->coverage_output = found.coverage_output;
    }
}
