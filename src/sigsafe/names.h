/* sigsafe/names.h - from a host's frame to a label id, fast.
 *
 * One thread's cache in front of the shared arena. The key is where the name
 * stands (its pointers); a hit is a comparison of the bytes there with the bytes
 * in the arena, because hosts free and reuse names. Only a registered function
 * is believed without looking: its serial number is never used twice.
 *
 *                      SIGPROF handler   drain thread   before/after both
 *   jsp_names_init            -               -                yes
 *   jsp_names_of             yes              -                 -
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_NAMES_H
#define JSP_SIGSAFE_NAMES_H

#include "arena.h"

/* What jsprof_function points to. `text` is the whole shown name. */
struct jsprof_function {
    uint32_t index;  /* first, jsprof.h reads it: in tables of calls; see session/function.h */
    uint32_t cell;   /* of its row in them, in bytes; 0: not for the shortest way */
    uint32_t line;
    uint64_t serial; /* from 1, never used twice in a process */
    uint64_t seal;   /* jsp_function_seal; other memory does not have it by chance */
    char *text;      /* owned */
    uint32_t len;    /* <= JSP_LABEL_MAX */
    uint16_t name_len, file_len; /* the parts of `text`; the file begins 2 behind the name */
    uint8_t kind;
    bool cut;        /* the name was longer */
    struct jsprof_function *next; /* of those that were freed, but are kept */
};

/* What is at `at` is a function if it has this seal. */
static inline uint64_t jsp_function_seal(const struct jsprof_function *at, uint64_t serial)
{
    return ((uint64_t)(uintptr_t)at ^ serial << 48) * 0x9E3779B97F4A7C15u;
}

enum { JSP_NAMES_CACHE = 1024 }; /* entries, power of two */

struct jsp_name_key {
    const void *label; /* or the function */
    const void *detail;
    uint64_t tag;      /* the function's serial, or kind and join */
};

struct jsp_name_entry {
    struct jsp_name_key key;
    uint32_t id;
    uint16_t label_at, label_len; /* where the parts stand in the arena's text */
    uint16_t detail_at, detail_len;
};

struct jsp_names {
    struct jsp_arena *arena; /* borrowed */
    _Atomic uint64_t n_cut;  /* names that were longer than JSP_LABEL_MAX */
    _Atomic uint64_t n_bad;  /* frames without any name */
    uint32_t unnamed;        /* id of "[no name]" */
    struct jsp_name_entry cache[JSP_NAMES_CACHE];
    char text[JSP_LABEL_MAX + 1]; /* scratch of a miss */
};

/* Lay out over zeroed memory. */
void jsp_names_init(struct jsp_names *names, struct jsp_arena *arena);

/* The id of this frame's name. Reads at most JSP_LABEL_MAX + 1 bytes of each part. */
uint32_t jsp_names_of(struct jsp_names *names, const jsprof_frame *frame);

#endif
