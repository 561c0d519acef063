/* image/function_range.c - see function_range.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "function_range.h"

#include <errno.h>
#include <stdlib.h>

#include "base/block.h"
#include "loaded.h"
#include "sigsafe/ehframe.h"

enum { RANGE_TRIES = 100 };

/* A search, and a copy of the table of the object that contains `pc`. */
struct range_search {
    uint64_t pc;
    pid_t pid;
    struct jsp_ehframe_section section; /* its bytes are owned; NULL: none */
};

static int range_object(void *arg, const struct jsp_loaded *loaded)
{
    struct range_search *search = arg;
    if (search->section.bytes || search->pc < loaded->start || search->pc >= loaded->end)
        return 0;
    return jsp_loaded_copy(loaded, search->pid, &search->section);
}

/* Copy the table. No counters of the loader are equal to these: musl counts from 0. */
static int range_copy(struct range_search *search)
{
    int err = -EAGAIN;
    for (int i = 0; err == -EAGAIN && i < RANGE_TRIES; i++) {
        struct jsp_loaded_seen seen = { UINT64_MAX, UINT64_MAX };
        err = jsp_loaded_each(&seen, search->pid, range_object, search);
    }
    return err < 0 ? err : 0;
}

static int range_find(const struct range_search *search, struct jsp_function_range *out)
{
    struct jsp_ehframe *e = malloc(sizeof *e); /* too large for a stack */
    struct jsp_ehframe_fde fde;
    int err = -ENOENT;
    if (!e)
        return -ENOMEM;
    jsp_ehframe_begin(e, &search->section);
    while (err && jsp_ehframe_next(e, &fde)) {
        if (search->pc - fde.start >= fde.length)
            continue;
        *out = (struct jsp_function_range){ fde.start, fde.start + fde.length };
        err = 0;
    }
    free(e);
    return err;
}

int jsp_function_range(uint64_t pc, pid_t pid, struct jsp_function_range *out)
{
    struct range_search search = { .pc = pc, .pid = pid };
    int err = range_copy(&search);
    if (!err)
        err = search.section.bytes ? range_find(&search, out) : -ENOENT;
    jsp_block_free((void *)(uintptr_t)search.section.bytes);
    return err;
}
