/* sigsafe/arena.h - every name that a session has seen, stored once.
 *
 * Bytes are appended to a fixed region; an open-addressing table of atomic slots finds
 * them again. All threads of a session share one arena. An insertion is one
 * compare-and-swap; the thread that loses it adopts the winner's entry, so no thread
 * waits. The number of probes is bounded. A full arena returns JSP_LABEL_LOST and counts
 * the loss.
 *
 * An id is the entry's offset in units of 8 bytes, so the drain needs no table to get
 * from an id to its text.
 *
 *                      SIGPROF handler   drain thread   before/after both
 *   jsp_arena_init            -               -                yes
 *   jsp_arena_intern         yes             yes               yes
 *   jsp_arena_label          yes             yes               yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_ARENA_H
#define JSP_SIGSAFE_ARENA_H

#include "room.h"

enum {
    JSP_LABEL_LOST = 0,     /* the id that a full arena returns */
    JSP_LABEL_MAX = 1023,   /* bytes of a name; longer names are cut */
    JSP_ARENA_PROBES = 64,
    JSP_ARENA_ID_BITS = 20,
};

/* One interned name. Immutable once any thread knows its id. */
struct jsp_label {
    uint32_t hash;
    uint16_t len;  /* without the NUL, <= JSP_LABEL_MAX */
    uint8_t kind;  /* enum jsprof_kind; part of the identity */
    uint8_t zero;
    char text[];   /* NUL-terminated */
};

struct jsp_arena {
    /* Constant after init; both regions are borrowed from the caller. */
    unsigned char *bytes;    /* entries, one after the other */
    uint64_t capacity;       /* of `bytes`, <= 8 << JSP_ARENA_ID_BITS */
    _Atomic uint64_t *slots; /* hash << 32 | id; 0: free */
    uint64_t n_slots;        /* power of two */

    /* Written by all threads. */
    alignas(JSP_CACHELINE) _Atomic uint64_t used; /* bytes reserved for entries */
    _Atomic uint64_t n_labels;                    /* names in the table */
    _Atomic uint64_t n_lost;                      /* look-ups that returned JSP_LABEL_LOST */

    /* Always:  used <= capacity + one entry for each thread that reached the end
     *          a slot, once set, never changes */
};

/* The memory that the caller gives: bytes for names, and zeroed slots for the table. */
struct jsp_arena_memory {
    void *bytes;
    uint64_t n_bytes; /* >= 4096 */
    void *slots;      /* zeroed, n_slots * 8 bytes */
    uint64_t n_slots; /* power of two */
};

/* Lay out an empty arena in the caller's memory, with the one entry JSP_LABEL_LOST. */
void jsp_arena_init(struct jsp_arena *arena, const struct jsp_arena_memory *memory);

/* Return the id of these bytes (`len` <= JSP_LABEL_MAX) as a name of this kind; store them if
 * they are new. JSP_LABEL_LOST: the bytes or the probed slots are full, counted in `n_lost`. */
uint32_t jsp_arena_intern(struct jsp_arena *arena, const char *text, uint32_t len,
                          uint8_t kind);

/* Return the id of a name that the library makes itself, such as "[...]". */
static inline uint32_t jsp_arena_synth(struct jsp_arena *arena, const char *text)
{
    return jsp_arena_intern(arena, text, (uint32_t)strnlen(text, JSP_LABEL_MAX),
                            JSPROF_KIND_SYNTH);
}

/* Return the entry with this id, which jsp_arena_intern has returned. */
static inline const struct jsp_label *jsp_arena_label(const struct jsp_arena *arena, uint32_t id)
{
    return (const struct jsp_label *)(const void *)(arena->bytes + (uint64_t)id * 8);
}

#endif
