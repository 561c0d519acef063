/* noproc_host.c - records itself while it works in a function of its own and in one of the C
 * library's: noproc_host CAPTURE.
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORK_MS = 300, NUMBERS = 4096 };

int noproc_compare(const void *a, const void *b);
void noproc_work(void);

__attribute__((noinline)) int noproc_compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static long cpu_ms(void)
{
    return (long)(clock() / (CLOCKS_PER_SEC / 1000));
}

__attribute__((noinline)) void noproc_work(void)
{
    static int numbers[NUMBERS];
    for (long end = cpu_ms() + WORK_MS; cpu_ms() < end;) {
        for (int i = 0; i < NUMBERS; i++)
            numbers[i] = i * 7919 % NUMBERS;
        qsort(numbers, NUMBERS, sizeof *numbers, noproc_compare);
    }
}

int main(int argc, char **argv)
{
    jsprof_options options = { .size = sizeof options, .path = argc > 1 ? argv[1] : NULL,
                               .hz = 1000 };
    jsprof_thread *me;
    jsprof *prof;
    int err = jsprof_open(&prof, &options);
    if (!err)
        err = jsprof_thread_attach(prof, "main", &me);
    if (!err)
        err = jsprof_start(prof);
    if (err) {
        printf("%s\n", jsprof_strerror(err));
        return 1;
    }
    noproc_work();
    return jsprof_close(prof) ? 1 : 0;
}
