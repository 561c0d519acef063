/* whole.c - what recording costs a whole process: a command as it is, the same with JSPROF set, and
 * a launcher that records nothing, in turns. Every run has an environment of another size, and the
 * address space layout that the kernel gives it, so that neither favours a side. LAUNCHER is a
 * folder of links of one program, 0, 1 and so on, which take turns; or a library NAME.so, which the
 * third has preloaded; or the word looker: then the third is recorded with JSPROF_SOURCE=looker.
 *
 *     whole ROUNDS CAPTURE CLOCK LAUNCHER COMMAND ARG...
 *
 * Print a line of five numbers for each: the median, the 95% interval of the median, the quartiles.
 * They are user and system time of recorded / plain, its elapsed time, recorded - plain in
 * milliseconds of user and system time; then user and system time of the third / plain, its elapsed
 * time, and user and system time of recorded / the third, if there is a launcher (not "-").
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1000, PADDING = 8192 };

enum kind { PLAIN, RECORDED, IDLE, N_KINDS };

struct took {
    double cpu, wall;
};

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Return the path of the link that is next, or of the first if there are no more. */
static char *link_next(const char *folder)
{
    static char path[PATH_MAX];
    static int next;
    snprintf(path, sizeof path, "%s/%d", folder, next++);
    if (access(path, X_OK) == 0)
        return path;
    next = 1;
    snprintf(path, sizeof path, "%s/0", folder);
    return path;
}

static bool is_looker(char **argv)
{
    return strcmp(argv[4], "looker") == 0;
}

static bool is_library(char **argv)
{
    const char *dot = strrchr(argv[4], '.');
    return dot && strcmp(dot, ".so") == 0;
}

/* A folder, or one of the links in it. */
static bool is_link(char **argv)
{
    return !is_looker(argv) && !is_library(argv);
}

static void become(char **argv, enum kind kind)
{
    static char padding[PADDING + 1];
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    close(nowhere);
    memset(padding, 'x', (size_t)(random() % PADDING));
    setenv("PADDING", padding, 1);
    bool is_looked = kind == IDLE && is_looker(argv);
    if (is_looked)
        setenv("JSPROF_SOURCE", "looker", 1);
    if (kind == IDLE && is_library(argv))
        setenv("LD_PRELOAD", argv[4], 1);
    if (kind == RECORDED || is_looked) {
        setenv("JSPROF", argv[2], 1);
        setenv("JSPROF_CLOCK", argv[3], 1);
        setenv("LUA_INIT", "require 'jsprof'", 1);
    }
    execv(kind == IDLE && is_link(argv) ? argv[4] : argv[5], argv + 5);
    _exit(127);
}

/* The file is new each time: one that is truncated and written again is flushed to the disk. */
static struct took run(char **argv, enum kind kind)
{
    struct rusage used;
    int status;
    unlink(argv[2]);
    random();
    double begin = now();
    pid_t child = fork();
    if (child == 0)
        become(argv, kind);
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
        fprintf(stderr, "whole: %s failed\n", argv[5]);
        exit(1);
    }
    return (struct took){ seconds(used.ru_utime) + seconds(used.ru_stime), now() - begin };
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double at(const double *values, int n, double part)
{
    double where = (n - 1) * part;
    int low = (int)where;
    return values[low] + (where - low) * (values[low + (where > low)] - values[low]);
}

static void print(double *values, int n)
{
    int off = (int)ceil(0.98 * sqrt(n)), low = n / 2 - off, high = n / 2 + off;
    qsort(values, (size_t)n, sizeof *values, compare);
    printf("%.4f %.4f %.4f %.4f %.4f\n", at(values, n, 0.5), values[low > 0 ? low : 0],
           values[high < n ? high : n - 1], at(values, n, 0.25), at(values, n, 0.75));
}

int main(int argc, char **argv)
{
    static double cpu[MOST], wall[MOST], more[MOST], idle[MOST], idle_wall[MOST], over[MOST];
    int n = argc > 5 ? atoi(argv[1]) : 0;
    if (n < 1 || n > MOST)
        return fprintf(stderr, "usage: whole ROUNDS CAPTURE CLOCK LAUNCHER COMMAND ARG...\n"), 2;
    int n_kinds = strcmp(argv[4], "-") == 0 ? IDLE : N_KINDS;
    const char *folder = argv[4];
    for (int i = 0; i < n; i++) {
        struct took of[N_KINDS];
        for (int k = 0; k < n_kinds; k++) { /* the order changes from round to round */
            enum kind kind = (enum kind)((i & 1 ? n_kinds - 1 - k : k) + i / 2) % n_kinds;
            if (kind == IDLE && is_link(argv))
                argv[4] = link_next(folder);
            of[kind] = run(argv, kind);
        }
        cpu[i] = of[RECORDED].cpu / of[PLAIN].cpu;
        wall[i] = of[RECORDED].wall / of[PLAIN].wall;
        more[i] = 1000 * (of[RECORDED].cpu - of[PLAIN].cpu);
        if (n_kinds == IDLE)
            continue;
        idle[i] = of[IDLE].cpu / of[PLAIN].cpu;
        idle_wall[i] = of[IDLE].wall / of[PLAIN].wall;
        over[i] = of[RECORDED].cpu / of[IDLE].cpu;
    }
    print(cpu, n);
    print(wall, n);
    print(more, n);
    if (n_kinds == IDLE)
        return 0;
    print(idle, n);
    print(idle_wall, n);
    print(over, n);
    return 0;
}
