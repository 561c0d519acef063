/* pkg/host.c - the smallest host there can be, compiled against an installed jsprof.
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : NULL;
    jsprof_options options = { .size = sizeof options, .path = path };
    jsprof *prof;
    jsprof_thread *me;
    int err = jsprof_open(&prof, &options);
    if (!err)
        err = jsprof_thread_attach(prof, "main", &me);
    if (!err)
        err = jsprof_start(prof);
    if (err) {
        fprintf(stderr, "host: %s\n", jsprof_strerror(err));
        return 1;
    }
    jsprof_push(me, "installed_work", "host.c", __LINE__);
    while (clock() < CLOCKS_PER_SEC / 4)
        continue;
    jsprof_pop(me);
    return jsprof_close(prof) < 0;
}
