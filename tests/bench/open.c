/* open.c - what a session costs a small program from open to close, when it takes no sample.
 *
 *     open FOLDER
 *
 * This program runs itself again and again, in turns with a session and without one: each run
 * opens a capture, attaches the main thread, starts, stops and closes, or does nothing. The
 * figure is the difference of user and system time of a whole process. Every run has an
 * address space layout of its own, as the kernel gives it to every process, and a new file,
 * except in the last row.
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { OPEN_PAIRS = 201 };

/* The way in which a run records. */
struct open_way {
    const char *name, *limit_text, *flags; /* flags: of jsprof_options, a decimal number */
    bool keeps;                            /* the file of the last run is recorded over */
};

static char open_path[4096];

/* The host. */
static int open_host(const char *path, uint32_t flags)
{
    jsprof_options o = { .size = sizeof o, .path = path, .flags = flags };
    jsprof_thread *t;
    jsprof *p;
    bench_need(jsprof_open(&p, &o) == 0 && jsprof_thread_attach(p, "main", &t) == 0 &&
               jsprof_start(p) == 0 && jsprof_stop(p) == 0 && jsprof_close(p) == 0 &&
               jsprof_thread_detach(t) == 0, "a session");
    return 0;
}

/* Run the host. Return its CPU time in milliseconds. */
static double open_run(const struct open_way *way)
{
    static char self[] = "/proc/self/exe", host[] = "host";
    struct rusage used;
    int status;
    pid_t child = fork();
    if (child == 0) {
        char *argv[] = { self, host, way ? open_path : NULL, way ? (char *)way->flags : NULL,
                         NULL };
        execv(self, argv);
        _exit(127);
    }
    bench_need(child > 0 && wait4(child, &status, 0, &used) == child && status == 0, "a run");
    if (!way || !way->keeps)
        unlink(open_path);
    return 1000 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
}

static void open_measure(const struct open_way *way)
{
    struct bench_series plain = { 0 }, more = { 0 };
    char peer[80];
    int n = bench_rounds(OPEN_PAIRS);
    for (int i = -3; i < n; i++) { /* three to warm up; the order changes from pair to pair */
        double with = i & 1 ? open_run(way) : 0, without = open_run(NULL);
        with = i & 1 ? with : open_run(way);
        if (i < 0)
            continue;
        bench_add(&plain, without);
        bench_add(&more, with - without);
    }
    unlink(open_path);
    snprintf(peer, sizeof peer, "the same program without us %.2f ms", bench_median(&plain));
    bench_print(&(struct bench_row){ way->name, way->limit_text, 1.0, " ms", peer }, &more);
}

int main(int argc, char **argv)
{
    static const struct open_way ways[] = {
        { "open to close, small host", "<= 1 ms", "0", false },
        { "  without a thread of ours", "<= 1 ms", "128", false },
        { "  over an older capture", NULL, "0", true },
    };
    _Static_assert(JSPROF_NO_THREAD == 128, "the flags of the second way");
    if (argc > 1 && strcmp(argv[1], "host") == 0)
        return argc > 3 ? open_host(argv[2], (uint32_t)strtoul(argv[3], NULL, 10)) : 0;
    bench_need(argc == 2, "usage: open FOLDER");
    snprintf(open_path, sizeof open_path, "%s/open.syscap", argv[1]);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        open_measure(&ways[i]);
    return 0;
}
