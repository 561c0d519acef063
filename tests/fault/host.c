/* host.c - a program that is profiled under bad circumstances: `host PATH MS [DEPTH [FOLDER]]`
 * records MS milliseconds of CPU time into PATH, or where the environment says ("-"), at the
 * end of so many calls. It goes to FOLDER first.
 *
 * It prints the result of each call on stdout, and always continues with its own
 * work: the last line is "done".
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static jsprof_thread *me;

static double cpu_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* Always other names, so that the file grows. */
static void work(double ms)
{
    char name[64];
    volatile unsigned long sum = 0;
    double until = cpu_ms() + ms;
    for (int i = 0; cpu_ms() < until; i++) {
        snprintf(name, sizeof name, "work number %d", i);
        jsprof_push(me, name, "host.c", 1);
        for (int j = 0; j < 100000; j++)
            sum = sum + (unsigned long)j;
        jsprof_pop(me);
    }
}

static void say(const char *what, int err)
{
    printf("%s: %s\n", what, err > 0 ? "started" : jsprof_strerror(err));
    fflush(stdout);
}

static void say_stats(jsprof *prof)
{
    jsprof_stats s = { .size = sizeof s };
    if (jsprof_stats_get(prof, &s) == 0)
        printf("stats: expirations %llu kept %llu samples %llu lost_write %llu\n",
               (unsigned long long)s.expirations, (unsigned long long)s.kept,
               (unsigned long long)s.samples, (unsigned long long)s.lost_write);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    jsprof *prof = NULL;
    jsprof_options options = { .size = sizeof options, .path = argc > 1 ? argv[1] : "-" };
    char why[400];
    int err;

    if (argc > 4 && chdir(argv[4]) < 0)
        return 1;
    if (!strcmp(options.path, "-")) {
        err = jsprof_start_from_env(&prof);
        printf("environment: %s\n",
               err > 0 ? "started" : jsprof_error_text(err, why, sizeof why));
    } else {
        err = jsprof_open(&prof, &options);
        say("open", err);
        if (!err)
            say("start", jsprof_start(prof));
    }
    if (prof)
        say("attach", jsprof_thread_attach(prof, "main", &me));
    for (int depth = argc > 3 ? atoi(argv[3]) : 0; depth > 0; depth--)
        jsprof_push(me, "recursion", "host.c", 1);
    work(argc > 2 ? atof(argv[2]) : 100);
    if (prof) {
        say("stop", jsprof_stop(prof));
        say_stats(prof);
        say("close", jsprof_close(prof));
    }
    puts("done");
    return 0;
}
