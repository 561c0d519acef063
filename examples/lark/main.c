/* main.c - the command `lark`: options, the script, the profile around it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "builtin.h"
#include "jit.h"
#include "lark.h"
#include "profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char main_help[] =
    "usage: lark [OPTION]... SCRIPT [ARGUMENT]...\n"
    "\n"
    "Run a Lark program.\n"
    "\n"
    "  --profile-output=FILE  record where the program spends its time (%p is the pid)\n"
    "  --profile-control      let jsprof record, top and dump look at it while it runs\n"
    "  --profile-hz=N         samples a second, 1 to 10000 (default 1000)\n"
    "  --profile-clock=CLOCK  cpu (default) or wall\n"
    "  --profile-alloc[=N]    also sample allocations, one in each N bytes (default 524288)\n"
    "  --profile-tasks        also record timers and promises: what ran, and who caused it\n"
    "  --profile-stalls=TIME  record only turns that take longer, such as 16ms\n"
    "  --profile-calls[=LIST] also count every call exactly: counts, time, alloc, edges\n"
    "  --jit=on|off           make native code of hot functions (default on)\n"
    "  --jit-threshold=N      calls and rounds of loops that make one hot (default 500)\n"
    "  --jit-cache-bytes=N    memory for native code, reused (default 1048576)\n"
    "  --jit-rows=on|off      tell the profiler how to unwind it (default on)\n"
    "  --jit-stats            say at the end how much was compiled\n"
    "  --help, --version\n"
    "\n"
    "JSPROF=FILE in the environment records too, with JSPROF_HZ, JSPROF_CLOCK,\n"
    "JSPROF_ALLOC, JSPROF_TASKS=1 and JSPROF_STALLS; JSPROF_CONTROL=1 is as --profile-control.\n"
    "Read the recording with: jsprof report FILE, jsprof calls FILE\n";

struct main_options {
    struct lark_profile_options profile;
    struct lark_jit_options jit;
    bool jit_stats;
};

static int main_usage(const char *what, const char *which)
{
    fprintf(stderr, "lark: %s%s (see lark --help)\n", what, which);
    return 2;
}

/* Return the text after "NAME=" in an argument, or NULL. */
static const char *main_value(const char *arg, const char *name)
{
    size_t n = strlen(name);
    return !strncmp(arg, name, n) && arg[n] == '=' ? arg + n + 1 : NULL;
}

static bool main_number(const char *text, uint32_t most, uint32_t *out)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (errno || *end || text[0] < '0' || text[0] > '9' || n < 1 || n > most)
        return false;
    *out = (uint32_t)n;
    return true;
}

/* One of the library's own options, "--profile-NAME". 0: taken; else the exit status. */
static int main_session_option(const char *arg, const char *value, jsprof_options *o)
{
    char name[32], why[300];
    snprintf(name, sizeof(name), "%.*s", (int)(value - arg - 1), arg);
    int err = jsprof_options_set(o, name, value);
    return err < 0 ? main_usage(jsprof_error_text(err, why, sizeof(why)), "") : 0;
}

/* Read one option. Return 0, or the exit status. */
static int main_jit_option(const char *arg, struct main_options *options)
{
    struct lark_jit_options *jit = &options->jit;
    const char *value;
    if ((value = main_value(arg, "--jit"))) {
        jit->off = !strcmp(value, "off");
        if (!jit->off && strcmp(value, "on"))
            return main_usage("--jit wants on or off, not ", value);
    } else if ((value = main_value(arg, "--jit-threshold"))) {
        if (!main_number(value, UINT32_MAX, &jit->threshold))
            return main_usage("--jit-threshold wants a number from 1 on, not ", value);
    } else if ((value = main_value(arg, "--jit-cache-bytes"))) {
        if (!main_number(value, LARK_JIT_CACHE_MOST, &jit->cache_bytes))
            return main_usage("--jit-cache-bytes wants 1 to 1073741824, not ", value);
    } else if ((value = main_value(arg, "--jit-rows"))) {
        jit->no_rows = !strcmp(value, "off");
        if (!jit->no_rows && strcmp(value, "on"))
            return main_usage("--jit-rows wants on or off, not ", value);
    } else if (!strcmp(arg, "--jit-stats")) {
        options->jit_stats = true;
    } else {
        return main_usage("unknown option ", arg);
    }
    return 0;
}

/* Read words with commas between them. */
static bool main_calls(const char *list, uint32_t *out)
{
    static const char *const words[] = { "counts", "time", "alloc", "edges" };
    for (*out = 0;; list++) {
        size_t n = strcspn(list, ",");
        uint32_t before = *out;
        for (uint32_t i = 0; i < 4; i++)
            if (strlen(words[i]) == n && !memcmp(words[i], list, n))
                *out |= 1u << i;
        list += n;
        if (*out == before || !*list)
            return *out != before;
    }
}

static int main_option(const char *arg, struct main_options *options)
{
    struct lark_profile_options *profile = &options->profile;
    const char *value;
    if ((value = main_value(arg, "--profile-output"))) {
        profile->open.path = value;
        return *value ? 0 : main_usage("no file for a profile", "");
    }
    if ((value = main_value(arg, "--profile-hz")) ||
        (value = main_value(arg, "--profile-clock")) ||
        (value = main_value(arg, "--profile-alloc")) ||
        (value = main_value(arg, "--profile-stalls")))
        return main_session_option(arg, value, &profile->open);
    if (!strcmp(arg, "--profile-control"))
        profile->open.flags |= JSPROF_CONTROL;
    else if (!strcmp(arg, "--profile-alloc"))
        profile->open.alloc = JSPROF_ALLOC_USUAL;
    else if (!strcmp(arg, "--profile-tasks"))
        profile->tasks = true;
    else if (!strcmp(arg, "--profile-calls"))
        profile->calls = JSPROF_CALLS_ALL;
    else if ((value = main_value(arg, "--profile-calls")))
        return main_calls(value, &profile->calls)
                   ? 0
                   : main_usage("--profile-calls wants counts, time, alloc, edges, not ",
                                value);
    else
        return main_jit_option(arg, options);
    return 0;
}

/* Return the whole file with a zero byte after it, or NULL and errno. */
static char *main_read(const char *path, size_t *n_bytes)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t n = 0, got = 0;
    do {
        n += got;
        char *more = realloc(text, n + 65536 + 1);
        if (!more)
            break;
        text = more;
        got = fread(text + n, 1, 65536, file);
    } while (got);
    int err = ferror(file) ? errno : text ? 0 : ENOMEM;
    fclose(file);
    if (err) {
        free(text);
        errno = err;
        return NULL;
    }
    text[n] = 0;
    *n_bytes = n;
    return text;
}

static int main_fail(const char *path)
{
    fprintf(stderr, "lark: %s: %s\n", path, strerror(errno));
    return 1;
}

static bool main_compile_and_run(struct lark *l, const char *source, size_t n_bytes)
{
    struct lark_function *script = lark_compile(l, source, n_bytes);
    return script && lark_run(l, script) && lark_loop_run(l);
}

/* Without memory for native code the program runs interpreted. */
static void main_open_jit(struct lark *l, const struct main_options *options)
{
    if (!options->jit.off && !lark_jit_open(l, &options->jit))
        fprintf(stderr, "lark: no memory for native code: %s\n", strerror(errno));
}

static void main_close_jit(struct lark *l, const struct main_options *options)
{
    if (options->jit_stats)
        lark_jit_print_stats(l);
    lark_jit_close(l);
}

/* argv begins with the script's path. */
static int main_script(const struct main_options *options, int argc, char **argv)
{
    struct lark l;
    size_t n_bytes;
    char *source = main_read(argv[0], &n_bytes);
    if (!source)
        return main_fail(argv[0]);
    if (!lark_open(&l, argv[0])) {
        free(source);
        return main_fail(argv[0]);
    }
    l.n_args = argc - 1;
    l.args = argv + 1;
    bool ok = lark_profile_start(&options->profile);
    if (ok) {
        main_open_jit(&l, options);
        ok = main_compile_and_run(&l, source, n_bytes);
        main_close_jit(&l, options);
        ok = lark_profile_stop() && ok;
    }
    lark_close(&l);
    free(source);
    if (fflush(stdout) < 0 || ferror(stdout))
        return main_fail("standard output");
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct main_options options = {
        .profile = { .open = { .size = sizeof(jsprof_options),
                               .vm = "Lark " JSPROF_VERSION_STRING } },
        .jit = { .threshold = LARK_JIT_THRESHOLD, .cache_bytes = LARK_JIT_CACHE_BYTES },
    };
    int i = 1;
    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        if (!strcmp(argv[i], "--help"))
            return fputs(main_help, stdout) < 0;
        if (!strcmp(argv[i], "--version"))
            return puts("lark " JSPROF_VERSION_STRING) < 0;
        int status = main_option(argv[i], &options);
        if (status)
            return status;
    }
    if (i == argc)
        return main_usage("no script", "");
    bool has_other = options.profile.calls || options.profile.open.alloc ||
                     options.profile.tasks;
    bool has_session = options.profile.open.path || options.profile.open.flags & JSPROF_CONTROL;
    if (has_other && !has_session && !getenv("JSPROF"))
        return main_usage(options.profile.calls ? "--profile-calls"
                          : options.profile.tasks ? "--profile-tasks" : "--profile-alloc",
                          " needs --profile-output");
    return main_script(&options, argc - i, argv + i);
}
