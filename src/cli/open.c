/* cli/open.c - opens captures for a command, and reports their defects.
 *
 * SPDX-License-Identifier: MIT
 */
#include "open.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyze/exact.h"
#include "advice.h"
#include "options.h"
#include "image/demangle.h"

enum { OPEN_PATIENCE_NS = 1000000000, OPEN_DEMANGLED = 4096 };

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
    bool is_met = !c->under; /* a sampled function has the name of --under */
    for (uint32_t i = 0; i < c->profile.n_functions && !is_met; i++)
        is_met = jsp_filter_names(&c->profile.functions[i], c->under);
    if (!is_met) {
        char *name = cli_clean(&c->style, cli_span(c->under));
        cli_fail(c->label, "no function \"%s\" was sampled%s", name ? name : "",
                 c->select.threads || c->is_part ? " in what was chosen" : "");
        free(name);
        return CLI_FAILED;
    }
    if (c->select.threads || c->select.filter || c->select.left_out || c->is_part)
        return cli_fail(c->label, "no samples in what was chosen of this capture");
    if (jsp_unit_is_bytes(c->profile.unit))
        return cli_fail(c->label, "no sampled allocations%s",
                        c->profile.heap.n_allocated ? " are live at the end"
                                                    : " in this capture");
    struct jsp_exact calls = { 0 };
    bool is_counted = !jsp_exact_read(&calls, &c->read, NULL) && calls.is_there;
    jsp_exact_free(&calls);
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

int cli_open(struct cli_capture *c, const char *path)
{
    char why[JSP_READ_WHY];
    memset(c, 0, sizeof *c);
    c->path = path;
    c->label = strcmp(path, "-") == 0 ? "standard input" : path;
    c->style = cli_style_get();
    return jsp_read_open(&c->read, path, why) < 0 ? cli_fail(c->label, "%s", why)
                                                  : CLI_OK;
}

/* Return the readable name of a C++ function. The caller frees it. NULL: it has no other form.
 * The machine's C++ library is loaded when the first such name turns up; where there is none,
 * names remain as they are. */
static char *open_demangle(void *context, const char *name)
{
    (void)context;
    static jsp_demangle_fn *call;
    static const char *const libraries[] = { "libstdc++.so.6", "libc++abi.so.1" };
    static int n_tried;
    char *out = malloc(OPEN_DEMANGLED);
    for (; !call && n_tried < 2; n_tried++) {
        void *library = dlopen(libraries[n_tried], RTLD_LAZY | RTLD_LOCAL);
        void *found = library ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&call, &found, sizeof call);
    }
    if (out && call && jsp_demangle(call, name, out, OPEN_DEMANGLED))
        return out;
    free(out);
    return NULL;
}

int cli_load(struct cli_capture *c, const char *path)
{
    return cli_load_with(c, path, &(struct jsp_profile_options){ 0 });
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

int cli_load_with(struct cli_capture *c, const char *path,
                  const struct jsp_profile_options *given)
{
    struct open_progress progress = { 0 };
    struct jsp_profile_options options = *given;
    options.progress = open_progress;
    options.context = &progress;
    options.demangle = open_demangle;
    options.debuginfod = open_debuginfod();
    if (cli_open(c, path) != CLI_OK)
        return CLI_FAILED;
    if (given->naming) {
        c->naming = *given->naming;
        options.naming = &c->naming;
    }
    c->is_part = options.from_ns || options.to_ns || options.during;
    clock_gettime(CLOCK_MONOTONIC, &progress.start);
    int err = jsp_profile_load(&c->profile, &c->read, &options);
    if (progress.is_shown)
        fputs("\r\033[K", stderr);
    if (err < 0) {
        jsp_read_close(&c->read);
        return cli_fail(c->label, "%s", strerror(-err));
    }
    cli_complain(c, &c->profile.defects);
    return CLI_OK;
}

void cli_close(struct cli_capture *c)
{
    jsp_filter_close(c->select.filter);
    jsp_categories_close(c->categories);
    free(c->threads);
    free(c->left_out);
    jsp_profile_free(&c->profile);
    jsp_read_close(&c->read);
}

void cli_complain(const struct cli_capture *c, const struct jsp_read_defects *d)
{
    for (int i = 0; i < JSP_READ_N_CAUSES; i++) {
        const char *what = jsp_read_cause_text((enum jsp_read_cause)i);
        if (d->count[i] == 1)
            cli_fail(c->label, "%s (at byte %llu)", what,
                     (unsigned long long)d->first[i]);
        else if (d->count[i])
            cli_fail(c->label, "%s, %llu times (first at byte %llu)", what,
                     (unsigned long long)d->count[i], (unsigned long long)d->first[i]);
    }
}
