/* sigsafe/arena.h - every name that was ever seen in a session, once.
 *
 * Bytes are appended to a fixed region; an open-addressing table of atomic slots
 * finds them again. All threads of a session share one arena: insertion is one
 * compare-and-swap, a loser adopts the winner's entry, nobody waits. Probes are
 * bounded. A full arena answers JSP_LABEL_LOST and counts.
 *
 * An id is the entry's offset in units of 8 bytes, so the drain needs no table to
 * come from an id to its text.
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
    JSP_LABEL_LOST = 0,     /* the id that a full arena answers */
    JSP_LABEL_MAX = 1023,   /* bytes of a name, the rest is cut */
    JSP_ARENA_PROBES = 64,
    JSP_ARENA_ID_BITS = 20,
};

/* One interned name. Immutable once its id is known to anybody. */
struct jsp_label {
    uint32_t hash;
    uint16_t len;  /* without the NUL, <= JSP_LABEL_MAX */
    uint8_t kind;  /* enum jsprof_kind; part of the identity */
    uint8_t zero;
    char text[];   /* NUL-terminated */
};

struct jsp_arena {
    /* Constant after init; both regions borrowed from the caller. */
    unsigned char *bytes; /* 8-aligned */
    uint64_t capacity;    /* of bytes, <= 8 << JSP_ARENA_ID_BITS */
    _Atomic uint64_t *slots; /* hash << 32 | id; 0: free */
    uint64_t n_slots;     /* power of two */

    /* Written by everybody. */
    alignas(JSP_CACHELINE) _Atomic uint64_t used; /* bytes */
    _Atomic uint64_t n_labels;
    _Atomic uint64_t n_lost; /* look-ups answered with JSP_LABEL_LOST */

    /* Always:  used <= capacity + one entry per thread that met the end
     *          a slot, once set, never changes */
};

/* What the caller lays out: bytes for names, and zeroed slots for the table. */
struct jsp_arena_memory {
    void *bytes;
    uint64_t n_bytes; /* >= 4096 */
    void *slots;      /* zeroed, n_slots * 8 bytes */
    uint64_t n_slots; /* power of two */
};

void jsp_arena_init(struct jsp_arena *arena, const struct jsp_arena_memory *memory);

/* The id of these bytes (`len` <= JSP_LABEL_MAX) as a name of this kind. */
uint32_t jsp_arena_intern(struct jsp_arena *arena, const char *text, uint32_t len,
                          uint8_t kind);

/* A name of our own making, "[...]". */
static inline uint32_t jsp_arena_synth(struct jsp_arena *arena, const char *text)
{
    return jsp_arena_intern(arena, text, (uint32_t)strnlen(text, JSP_LABEL_MAX),
                            JSPROF_KIND_SYNTH);
}

static inline const struct jsp_label *jsp_arena_label(const struct jsp_arena *arena, uint32_t id)
{
    return (const struct jsp_label *)(const void *)(arena->bytes + (uint64_t)id * 8);
}

#endif
