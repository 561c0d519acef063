/* spans.c - records a million runs of tasks, each made in the one before.
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>

#include <stdio.h>

enum { PAIRS = 500000, BURST = 1000 };

int main(int argc, char **argv)
{
    jsprof_options o = { .size = sizeof o, .hz = 100, .path = argc > 1 ? argv[1] : NULL };
    jsprof_thread *me;
    jsprof *prof;
    int err = jsprof_open(&prof, &o);
    if (!err)
        err = jsprof_thread_attach(prof, "main", &me);
    if (!err)
        err = jsprof_start(prof);
    jsprof_task last = 0;
    for (int i = 0; i < PAIRS && !err; i++) {
        jsprof_task_begin(me, last);
        jsprof_task outer = jsprof_task_new(me, "timeout", "tick (host.x:12)", 0);
        jsprof_task_end(me, last);
        jsprof_task_begin(me, outer);
        last = jsprof_task_new(me, "promise", "show (host.x:24)", 0);
        jsprof_task_end(me, outer);
        if (i % BURST == BURST - 1)
            err = jsprof_flush(prof);
    }
    if (!err)
        err = jsprof_close(prof);
    if (err)
        fprintf(stderr, "spans: %s\n", jsprof_strerror(err));
    return err != 0;
}
