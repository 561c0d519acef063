/* whole.c - what recording costs a whole process: a command in turns as it is and with JSPROF set,
 * each run in an address space layout of its own, as the kernel gives it to every process.
 *
 *     whole PAIRS CAPTURE CLOCK COMMAND ARG...
 *
 * Print the median of recorded / plain of user and system time with the 95% interval of that
 * median, and the same of recorded - plain in milliseconds.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1000 };

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Return the CPU seconds of one run. */
static double run(char **argv, int is_recorded)
{
    struct rusage used;
    int status;
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        if (is_recorded) {
            setenv("JSPROF", argv[2], 1);
            setenv("JSPROF_CLOCK", argv[3], 1);
            setenv("LUA_INIT", "require 'jsprof'", 1);
        }
        execv(argv[4], argv + 4);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
        fprintf(stderr, "whole: %s failed\n", argv[4]);
        exit(1);
    }
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(double *values, int n)
{
    int off = (int)ceil(0.98 * sqrt(n)), low = n / 2 - off, high = n / 2 + off;
    qsort(values, (size_t)n, sizeof *values, compare);
    printf("%.4f %.4f %.4f ", n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2,
           values[low > 0 ? low : 0], values[high < n ? high : n - 1]);
}

int main(int argc, char **argv)
{
    static double ratios[MOST], more[MOST];
    int n = argc > 4 ? atoi(argv[1]) : 0;
    if (n < 1 || n > MOST)
        return fprintf(stderr, "usage: whole PAIRS CAPTURE CLOCK COMMAND ARG...\n"), 2;
    for (int i = 0; i < n; i++) {
        double of[2];
        of[i & 1] = run(argv, i & 1); /* the order changes from pair to pair */
        of[!(i & 1)] = run(argv, !(i & 1));
        ratios[i] = of[1] / of[0];
        more[i] = 1000 * (of[1] - of[0]);
    }
    print(ratios, n);
    print(more, n);
    putchar('\n');
    return 0;
}
