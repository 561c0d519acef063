/* real/perf_host.c - runs two compiled functions, one twice as long as the other, and
 * writes perf's files about them: perf_host map|dump CAPTURE
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>

#include <stdio.h>

#include "../signal/jit.h"

enum { ROUNDS = 8000, TURNS = 37000 };

static int add(jsprof *prof, const struct jit_code *code, const char *name)
{
    jsprof_code to = { .size = sizeof to, .start = code->start, .length = code->length,
                       .name = name };
    return jsprof_code_add(prof, &to);
}

int main(int argc, char **argv)
{
    jsprof_options options = { .size = sizeof options };
    jsprof *prof;
    if (argc != 3)
        return 2;
    options.path = argv[2];
    options.flags = strcmp(argv[1], "map") == 0 ? JSPROF_PERF_MAP : JSPROF_JITDUMP;
    int err = jsprof_open(&prof, &options);
    if (err) {
        fprintf(stderr, "perf_host: %s: %s\n", argv[2], jsprof_strerror(err));
        return 1;
    }
    struct jit_code longer = jit_counter(jit_memory(), 2 * TURNS, 0);
    struct jit_code shorter = jit_counter(jit_memory(), TURNS, 3);
    err = add(prof, &longer, "longer (perf.x:1)");
    if (!err)
        err = add(prof, &shorter, "shorter (perf.x:9)");
    for (int i = 0; i < ROUNDS && !err; i++) {
        ((void (*)(void))(uintptr_t)longer.start)();
        ((void (*)(void))(uintptr_t)shorter.start)();
    }
    return jsprof_close(prof) || err;
}
