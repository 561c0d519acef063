/* cli/open.c - opens captures for a command, and reports their defects.
 *
 * SPDX-License-Identifier: MIT
 */
#include "open.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "advice.h"
#include "followed.h"
#include "options.h"

enum { OPEN_PATIENCE_NS = 1000000000 };

struct open_progress {
    struct timespec start;
    bool is_shown;
};

int cli_fail(const char *label, const char *format, ...)
{
    struct cli_style plain = { 0 };
    char *clean = cli_clean(&plain, cli_span(label)), *what = NULL;
    va_list arguments;
    va_start(arguments, format);
    /* It may contain words of the command line and texts of files. */
    char *text = vasprintf(&what, format, arguments) < 0
                     ? NULL
                     : cli_clean(&plain, cli_span(what));
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "jsprof: %s: %s\n", clean ? clean : "?", text ? text : strerror(ENOMEM));
    free(text);
    free(what);
    free(clean);
    return CLI_FAILED;
}

static bool open_incomplete;

bool cli_incomplete(bool it_did)
{
    open_incomplete |= it_did;
    return it_did;
}

bool cli_is_incomplete(void)
{
    return open_incomplete;
}

static void open_progress(void *context, uint64_t done, uint64_t all)
{
    struct open_progress *p = context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t spent = (now.tv_sec - p->start.tv_sec) * 1000000000LL + now.tv_nsec -
                    p->start.tv_nsec;
    if (spent < OPEN_PATIENCE_NS || !isatty(STDERR_FILENO))
        return;
    p->is_shown = true;
    fprintf(stderr, "\rjsprof: reading, %d%%", (int)(100 * done / (all ? all : 1)));
    fflush(stderr);
}

int cli_no_samples(const struct cli_capture *c)
{
    const jsprof_read_info *info = &c->info;
    /* a sampled function has the name of --under */
    bool is_met = !c->under || jsprof_read_has_function(c->reader, c->under);
    if (!is_met) {
        char *name = cli_clean(&c->style, cli_span(c->under));
        cli_fail(c->label, "no function \"%s\" was sampled%s", name ? name : "",
                 info->is_of_threads || info->is_part ? " in what was chosen" : "");
        free(name);
        return CLI_FAILED;
    }
    if (info->is_of_threads || info->is_of_frames || info->is_of_stacks || info->is_part)
        return cli_fail(c->label, "no samples in what was chosen of this capture");
    if (cli_unit_is_bytes(info->unit))
        return cli_fail(c->label, "no sampled allocations%s",
                        info->allocated ? " are live at the end" : " in this capture");
    jsprof_read_calls *calls = NULL;
    bool is_counted = jsprof_read_calls_open(&calls, c->reader, NULL) == 0;
    jsprof_read_calls_close(calls);
    if (is_counted)
        return cli_fail(c->label, "no samples in this capture; its exact calls: jsprof calls");
    char advice[CLI_ADVICE];
    bool is_advised = cli_advice(c, advice, sizeof advice);
    return cli_fail(c->label, "no samples in this capture%s%s", is_advised ? ": " : "",
                    is_advised ? advice : "");
}

static bool open_is_there(const char *path)
{
    return strcmp(path, "-") == 0 || access(path, F_OK) == 0;
}

int cli_which_file(const char *const words[2])
{
    return !open_is_there(words[0]) && open_is_there(words[1]);
}

/* A file that has another name for people. */
static struct {
    char path[64], label[128];
} open_called;

void cli_call_file(const char *path, const char *label)
{
    snprintf(open_called.path, sizeof open_called.path, "%s", path);
    snprintf(open_called.label, sizeof open_called.label, "%s", label);
}

void cli_name_capture(struct cli_capture *c, const char *path)
{
    memset(c, 0, sizeof *c);
    c->path = path;
    c->label = strcmp(path, "-") == 0                  ? "standard input"
               : strcmp(path, open_called.path) == 0 ? open_called.label
                                                       : path;
    c->style = cli_style_get();
}

int cli_refuse(const struct cli_capture *c, const jsprof_read_error *e, const char *command)
{
    if (e->option && e->code == -EINVAL)
        return cli_usage(command, "--%s", e->message);
    return cli_fail(e->path && e->path != c->path ? e->path : c->label, "%s%s",
                    e->option ? "--" : "", e->message);
}

/* Return the folder in which debuginfod's clients keep the files that they have loaded, or NULL
 * if there is none. */
static const char *open_debuginfod(void)
{
    static const struct {
        const char *variable, *below;
    } places[] = { { "DEBUGINFOD_CACHE_PATH", "" },
                   { "HOME", "/.debuginfod_client_cache" },
                   { "XDG_CACHE_HOME", "/debuginfod_client" },
                   { "HOME", "/.cache/debuginfod_client" } };
    static char path[PATH_MAX];
    struct stat is;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *root = getenv(places[i].variable);
        int n = root && *root ? snprintf(path, sizeof path, "%s%s", root, places[i].below) : -1;
        if (n > 0 && (size_t)n < sizeof path && stat(path, &is) == 0 && S_ISDIR(is.st_mode))
            return path;
    }
    return NULL;
}

void cli_about(struct cli_capture *c)
{
    c->info = (jsprof_read_info){ .size = sizeof c->info };
    jsprof_read_about(c->reader, &c->info);
}

static int open_inputs(struct cli_capture *c, const jsprof_read_input *inputs, size_t n,
                       const jsprof_read_options *options, const char *command)
{
    jsprof_read_error error = { .size = sizeof error };
    jsprof_read_options o = *options;
    struct open_progress progress = { 0 };
    o.inputs = inputs;
    o.n_inputs = n;
    o.progress = open_progress;
    o.context = &progress;
    o.debuginfod = open_debuginfod();
    cli_name_capture(c, inputs->path);
    clock_gettime(CLOCK_MONOTONIC, &progress.start);
    for (size_t i = 0; i < n; i++)
        cli_followed_open(inputs[i].path);
    int err = jsprof_read_open(&c->reader, &o, &error);
    if (progress.is_shown)
        fputs("\r\033[K", stderr);
    if (err)
        return cli_refuse(c, &error, command);
    cli_about(c);
    cli_followed_read(c->info.n_bytes, c->info.header_end != 0);
    jsprof_read_defect defect = { .size = sizeof defect };
    for (uint64_t i = 0; jsprof_read_defects(c->reader, i, &defect, 1) == 1; i++) {
        c->is_cut |= defect.is_cut;
        if (defect.is_cut || !(o.flags & JSPROF_READ_NO_SAMPLES))
            cli_complain_of(c, &defect);
    }
    return CLI_OK;
}

/* Say that the recording has no end, unless that is said already or the rest is being written. */
static void open_tell_end(const struct cli_capture *c)
{
    if (c->info.lacks_end && !c->is_cut && !cli_followed_is_on())
        cli_fail(c->label, "the recording has no end: its host was killed or still records, or "
                           "the file was cut; what follows is what the file has");
}

int cli_load(struct cli_capture *c, const char *path)
{
    const jsprof_read_input input = { .size = sizeof input, .path = path };
    return open_inputs(c, &input, 1, &(jsprof_read_options){ .size = sizeof(jsprof_read_options) },
                       NULL);
}

int cli_load_with(struct cli_capture *c, const char *path, const jsprof_read_options *options,
                  const char *command)
{
    const jsprof_read_input input = { .size = sizeof input, .path = path };
    int status = open_inputs(c, &input, 1, options, command);
    if (status == CLI_OK)
        open_tell_end(c);
    return status;
}

/* Say which of several captures have no end: each is read again, as they were joined. */
static void open_tell_ends(const jsprof_read_input *inputs, size_t n, const char *command)
{
    const jsprof_read_options o = { .size = sizeof o, .flags = JSPROF_READ_NO_SAMPLES };
    struct cli_capture one;
    for (size_t i = 0; i < n; i++)
        if (strcmp(inputs[i].path, "-") != 0 &&
            cli_load_with(&one, inputs[i].path, &o, command) == CLI_OK)
            cli_close(&one);
}

int cli_load_several(struct cli_capture *c, const char *const *paths, size_t n,
                     const jsprof_read_options *options, const char *command)
{
    jsprof_read_input *inputs = calloc(n, sizeof *inputs);
    if (!inputs)
        return cli_fail(command, "%s", strerror(ENOMEM));
    for (size_t i = 0; i < n; i++)
        inputs[i] = (jsprof_read_input){ .size = sizeof *inputs, .path = paths[i] };
    int status = open_inputs(c, inputs, n, options, command);
    if (status == CLI_OK && c->info.lacks_end && !cli_followed_is_on())
        open_tell_ends(inputs, n, command);
    free(inputs);
    return status;
}

void cli_close(struct cli_capture *c)
{
    jsprof_read_close(c->reader);
}

void cli_complain_of(const struct cli_capture *c, const jsprof_read_defect *d)
{
    if (d->is_cut && cli_followed_is_on() && !c->info.header_end)
        return; /* the rest is being written */
    if (d->count == 1)
        cli_fail(c->label, "%s (at byte %" PRIu64 ")", d->what, d->offset);
    else
        cli_fail(c->label, "%s, %" PRIu64 " times (first at byte %" PRIu64 ")", d->what, d->count,
                 d->offset);
}
