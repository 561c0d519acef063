/* spend.c - how long a command takes and how much memory beyond its file.
 *
 * SPDX-License-Identifier: MIT
 *
 *     spend ROUNDS FILE COMMAND...
 *
 * Runs COMMAND with its output thrown away ROUNDS times, and once before for the page
 * cache. One line: quartiles of the seconds that went by, then the largest resident size
 * in MB without the size of FILE, and all of it. A command that fails ends it with status 1.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SPEND_MOST = 100 };

static double spend_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double spend_once(char **command, long *resident_kb)
{
    double from = spend_now();
    struct rusage usage;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        int out = open("/dev/null", O_WRONLY);
        dup2(out, STDOUT_FILENO);
        execvp(command[0], command);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || status != 0) {
        fprintf(stderr, "spend: %s failed\n", command[0]);
        exit(1);
    }
    if (usage.ru_maxrss > *resident_kb)
        *resident_kb = usage.ru_maxrss;
    return spend_now() - from;
}

static int spend_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    double seconds[SPEND_MOST];
    struct stat st;
    long resident = 0;
    int rounds = argc > 3 ? atoi(argv[1]) : 0;
    if (rounds < 1 || rounds > SPEND_MOST || stat(argv[2], &st) < 0) {
        fputs("usage: spend ROUNDS FILE COMMAND...\n", stderr);
        return 2;
    }
    spend_once(argv + 3, &resident);
    for (int i = 0; i < rounds; i++)
        seconds[i] = spend_once(argv + 3, &resident);
    qsort(seconds, (size_t)rounds, sizeof *seconds, spend_compare);
    printf("%.3f %.3f %.3f %.1f %.0f\n", seconds[(rounds - 1) / 4], seconds[rounds / 2],
           seconds[3 * rounds / 4],
           ((double)resident * 1024 - (double)st.st_size) / 1e6,
           (double)resident * 1024 / 1e6);
    return 0;
}
