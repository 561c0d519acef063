/* minimal.c - the smallest host: an "interpreter" that calls two functions.
 *
 *     JSPROF=out.cap ./minimal        or without JSPROF: no profile, no cost
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <stdio.h>

static jsprof_thread *me; /* NULL while nobody profiles: push and pop then do nothing */

static unsigned long spin(unsigned long n)
{
    volatile unsigned long sum = 0;
    for (unsigned long i = 0; i < n; i++)
        sum = sum + i * i;
    return sum;
}

/* Run a function as an interpreter does, with an entry around it. */
static unsigned long call(const char *name, int line, unsigned long work)
{
    jsprof_push(me, name, "script.x", (uint32_t)line);
    unsigned long result = spin(work);
    jsprof_pop(me);
    return result;
}

int main(void)
{
    jsprof *prof;
    int err = jsprof_start_from_env(&prof);
    char why[300];
    if (err < 0)
        fprintf(stderr, "minimal: no profile: %s\n", jsprof_error_text(err, why, sizeof why));
    if (err > 0)
        err = jsprof_thread_attach(prof, "main", &me);

    unsigned long sum = 0;
    for (int i = 0; i < 300; i++)
        sum += call("parse", 3, 500000) + call("render", 17, 1500000);
    printf("%lu\n", sum);

    jsprof_close(prof);
    return 0;
}
