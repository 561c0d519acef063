/* jsprof_gjs.c - jsprof-gjs: start and record a GJS program that was built without us.
 *
 * SPDX-License-Identifier: MIT
 *
 * It checks all that can be checked before, stores the options in the environment for
 * preload.cpp, and executes the program. Status 2: wrong usage; 1: the file can not be
 * written, or our library is missing; 126 and 127: the program can not be started, or is
 * missing.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "launch.h"

static const char launch_usage[] =
    "usage: jsprof-gjs --profile-output=FILE [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "\n"
    "Run a program that uses libgjs and record its scripts, without building it anew.\n"
    "\n"
    "  --profile-output=FILE    write the capture here; %p in it is the process id\n"
    "  --profile-hz=N           samples a second, 1 to 10000 (default: 1000)\n"
    "  --profile-clock=CLOCK    sample by CPU time or by elapsed time: cpu (default) or wall\n"
    "  --profile-toggle=STATE   let SIGUSR2 stop and continue it, beginning on or off\n"
    "  --profile-form=FORM      plain (default), which Sysprof reads whole, or compact\n"
    "  --profile-calls=on       count every call, too, without the optimizing compiler\n"
    "  --profile-threads=WHICH  main (default), or all: every thread that has a name\n"
    "  --profile-alloc[=BYTES]  sample allocations, too, one in each so many bytes\n"
    "  --profile-tasks          record what the program schedules, and each of its runs;\n"
    "  --profile-tasks=signals  the handlers of signals, too\n"
    "  --profile-stalls=TIME    record only turns of the loop that take longer, such as 16ms\n"
    "  --help, --version\n"
    "\n"
    "Exit status: the program's own; 2 wrong usage, 1 nothing can be recorded,\n"
    "127 there is no such program, 126 it can not be started.\n";

struct launch_option {
    const char *name;
    const char *variable;
};

static const struct launch_option launch_options[] = {
    { "--profile-output", "JSPROF_GJS_OUTPUT" },
    { "--profile-hz", "JSPROF_GJS_HZ" },
    { "--profile-clock", "JSPROF_GJS_CLOCK" },
    { "--profile-toggle", "JSPROF_GJS_TOGGLE" },
    { "--profile-form", "JSPROF_GJS_FORM" },
    { "--profile-calls", "JSPROF_GJS_CALLS" },
    { "--profile-threads", "JSPROF_GJS_THREADS" },
    { "--profile-alloc", "JSPROF_GJS_ALLOC" },
    { "--profile-tasks", "JSPROF_GJS_TASKS" },
    { "--profile-stalls", "JSPROF_GJS_STALLS" },
};

static void launch_fail(int status, const char *what, const char *why)
{
    fprintf(stderr, "jsprof-gjs: %s%s%s\n", what, why ? ": " : "", why ? why : "");
    exit(status);
}

static const struct launch_option *launch_find(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof launch_options / sizeof *launch_options; i++)
        if (strlen(launch_options[i].name) == len &&
            strncmp(launch_options[i].name, word, len) == 0)
            return &launch_options[i];
    return NULL;
}

/* Read one option with its value, as one word or two. Return the number of words. */
static int launch_take(char **argv)
{
    const char *equals = strchr(argv[0], '=');
    size_t len = equals ? (size_t)(equals - argv[0]) : strlen(argv[0]);
    const struct launch_option *option = launch_find(argv[0], len);

    if (!option)
        launch_fail(2, argv[0], "no such option (--help lists them)");
    if (!equals && (strcmp(option->name, "--profile-tasks") == 0 ||
                    strcmp(option->name, "--profile-alloc") == 0))
        equals = "=1"; /* for alloc, the usual distance */
    else if (!equals && !argv[1])
        launch_fail(2, argv[0], "needs a value");
    setenv(option->variable, equals ? equals + 1 : argv[1], 1);
    return equals ? 1 : 2;
}

/* Leave argv at the program. */
static char **launch_read(char **argv)
{
    argv++;
    while (*argv && **argv == '-' && strcmp(*argv, "--") != 0) {
        if (strcmp(*argv, "--help") == 0) {
            fputs(launch_usage, stdout);
            exit(0);
        }
        if (strcmp(*argv, "--version") == 0) {
            printf("jsprof-gjs %s\n", launch_version());
            exit(0);
        }
        argv += launch_take(argv);
    }
    return *argv && strcmp(*argv, "--") == 0 ? argv + 1 : argv;
}

/* Return the folder of a new file of this name. */
static const char *launch_folder(const char *path)
{
    char *copy = strdup(path), *slash = copy ? strrchr(copy, '/') : NULL;

    if (!copy)
        launch_fail(1, path, strerror(ENOMEM));
    if (!slash)
        return ".";
    slash[slash == copy] = 0;
    return copy;
}

/* Fail now rather than after the program has started. Nothing is created or changed. */
static void launch_check_output(const char *path)
{
    struct stat there;

    if (!path[0])
        launch_fail(2, "--profile-output", "a file name is needed");
    if (strchr(path, '%'))
        return; /* the name is made later */
    if (stat(path, &there) == 0) {
        if (S_ISDIR(there.st_mode) || access(path, W_OK) < 0)
            launch_fail(1, path, strerror(S_ISDIR(there.st_mode) ? EISDIR : errno));
    } else if (errno != ENOENT || access(launch_folder(path), W_OK | X_OK) < 0) {
        launch_fail(1, path, strerror(errno));
    }
}

/* A relative name belongs to this folder, even if the program changes its own. */
static void launch_set_folder(const char *path)
{
    char here[4096];

    unsetenv("JSPROF_GJS_FOLDER");
    if (path[0] == '/')
        return;
    if (!getcwd(here, sizeof here))
        launch_fail(1, path, strerror(errno));
    setenv("JSPROF_GJS_FOLDER", here, 1);
}

/* Find the library in LAUNCH_BELOW, the folder of the installed one, or else in lib/jsprof.
 * Both are next to the bin folder that contains us, unless LAUNCH_BELOW is absolute. */
static void launch_find_library(char *out, size_t size)
{
    static const char installed[] = LAUNCH_BELOW "/libjsprof-gjs.so";
    static const char built[] = "/lib/jsprof/libjsprof-gjs.so";
    ssize_t n = readlink("/proc/self/exe", out, size - sizeof installed - sizeof built);

    if (n < 0)
        launch_fail(1, "/proc/self/exe", strerror(errno));
    out[n] = 0;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(out, '/');
        if (slash)
            *slash = 0;
    }
    n = (ssize_t)strlen(out);
    snprintf(out + n, size - (size_t)n, "/%s", installed);
    if (installed[0] == '/')
        memcpy(out, installed, sizeof installed);
    if (access(out, R_OK) < 0)
        memcpy(out + n, built, sizeof built);
    if (access(out, R_OK) < 0)
        launch_fail(1, out, strerror(errno));
    if (strpbrk(out, " :"))
        launch_fail(1, out, "the dynamic linker takes no such path");
}

/* Return true if Sysprof started us: without a file, its recording gets the samples. */
static int launch_joins(void)
{
    return getenv("SYSPROF_CONTROL_FD") || getenv("GJS_TRACE_FD") || getenv("SYSPROF_TRACE_FD");
}

static void launch_set_environment(const char *library)
{
    const char *before = getenv("LD_PRELOAD");
    char text[8192];
    struct timespec now;

    setenv("JSPROF_GJS_PRELOAD", before ? before : "", 1);
    snprintf(text, sizeof text, "%s%s%s", library, before && *before ? " " : "",
             before ? before : "");
    setenv("LD_PRELOAD", text, 1);
    snprintf(text, sizeof text, "%ld", (long)getpid());
    setenv("JSPROF_GJS_PID", text, 1);
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(text, sizeof text, "%lld", 1000000000LL * now.tv_sec + now.tv_nsec);
    setenv("JSPROF_GJS_SINCE", text, 1);
}

static bool launch_is_on(const char *variable)
{
    const char *value = getenv(variable);

    return value && strcmp(value, "1") == 0;
}

int main(int argc, char **argv)
{
    char library[4096 + 64];

    (void)argc;
    for (size_t i = 0; i < sizeof launch_options / sizeof *launch_options; i++)
        unsetenv(launch_options[i].variable);
    char **program = launch_read(argv);
    const char *output = getenv("JSPROF_GJS_OUTPUT");
    if (!*program)
        launch_fail(2, "a program to run is needed (--help says more)", NULL);
    const char *folder = getenv("JSPROF_CONTINUOUS");
    if (!output && !launch_is_on("JSPROF_CONTROL") && !launch_is_on("JSPROF_ERRORS") &&
        !(folder && *folder) && !launch_joins())
        launch_fail(2, "--profile-output=FILE is needed", NULL);
    const struct launch_values values = {
        output, getenv("JSPROF_GJS_HZ"), getenv("JSPROF_GJS_CLOCK"),
        getenv("JSPROF_GJS_TOGGLE"), getenv("JSPROF_GJS_FORM"), getenv("JSPROF_GJS_CALLS"),
        getenv("JSPROF_GJS_THREADS"), getenv("JSPROF_GJS_ALLOC"),
        getenv("JSPROF_GJS_STALLS"), getenv("JSPROF_GJS_TASKS")
    };
    if (!launch_check(&values))
        return 2;
    if (output) {
        launch_check_output(output);
        launch_set_folder(output);
    }
    launch_find_library(library, sizeof library);
    launch_set_environment(library);
    execvp(*program, program);
    launch_fail(errno == ENOENT ? 127 : 126, *program, strerror(errno));
}
