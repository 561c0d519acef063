/* sigsafe/unwind_map.h - tables that describe how to leave each instruction of the
 * process.
 *
 * src/image builds them from the objects' .eh_frame; the handler only reads. A row is
 * valid from its start to the start of the next one. Nearly all rows fit into 32 bits,
 * which are stored in the row itself, so that a lookup ends there; the others hold the
 * index of a full rule. The pages lead to the few rows that may cover an address.
 *
 * A map, with all that it points to, is immutable once it is published.
 *
 *                        SIGPROF handler   any thread that holds the map
 *   jsp_unwind_map_find         yes                    yes
 *   jsp_unwind_map_unread       yes                    yes
 *   jsp_unwind_object_how       yes                    yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_UNWIND_MAP_H
#define JSP_SIGSAFE_UNWIND_MAP_H

#include "room.h"

/* How to leave an instruction, in 32 bits: a kind, and the rest depends on the kind:
 *   SP, FP: CFA = that register + 8 * cfa; the frame pointer is at CFA - 8 * fp and
 *           the extra register (see regs_*.h) at CFA - 8 * extra; 0: unchanged
 *   RULE:   the index of a struct jsp_unwind_rule of this object */
enum jsp_how { JSP_HOW_NONE, JSP_HOW_END, JSP_HOW_SP, JSP_HOW_FP, JSP_HOW_RULE };
enum {
    JSP_HOW_KIND_BITS = 3,
    JSP_HOW_CFA_BITS = 13,
    JSP_HOW_SLOT_BITS = 8,
    JSP_HOW_FP_SHIFT = JSP_HOW_KIND_BITS + JSP_HOW_CFA_BITS,
    JSP_HOW_EXTRA_SHIFT = JSP_HOW_FP_SHIFT + JSP_HOW_SLOT_BITS,
};

/* Return how the CFA is found: the low bits of the word. */
static inline enum jsp_how jsp_how_kind(uint32_t how)
{
    return (enum jsp_how)(how & 7);
}

/* Return the offset of the CFA from sp or fp. */
static inline uint32_t jsp_how_cfa(uint32_t how)
{
    return how >> JSP_HOW_KIND_BITS & ((1u << JSP_HOW_CFA_BITS) - 1);
}

/* Return the slot in which the caller's frame pointer is saved. */
static inline uint32_t jsp_how_fp(uint32_t how)
{
    return how >> JSP_HOW_FP_SHIFT & ((1u << JSP_HOW_SLOT_BITS) - 1);
}

/* Return the slot in which the extra register is saved. */
static inline uint32_t jsp_how_extra(uint32_t how)
{
    return how >> JSP_HOW_EXTRA_SHIFT;
}

/* Return the index of a rule, for the kind that has one. */
static inline uint32_t jsp_how_rule(uint32_t how)
{
    return how >> JSP_HOW_KIND_BITS;
}

struct jsp_unwind_row {
    uint32_t start; /* from the object's start */
    uint32_t how;
};

/* Where one value comes from. */
enum jsp_cell {
    JSP_CELL_SAME,      /* unchanged */
    JSP_CELL_UNDEFINED, /* lost; for the return address: this is the outermost frame */
    JSP_CELL_AT,        /* in memory at CFA + value */
    JSP_CELL_IS,        /* CFA + value itself */
    JSP_CELL_REG,       /* register reg, + value */
    JSP_CELL_AT_EXPR,   /* in memory at an expression's result */
    JSP_CELL_IS_EXPR,   /* an expression's result */
};

struct jsp_unwind_cell {
    uint8_t is;     /* enum jsp_cell */
    uint8_t reg;    /* DWARF number */
    uint16_t n;     /* length of the expression in bytes */
    int32_t value;  /* offset, or where the expression begins */
};

struct jsp_unwind_rule {
    struct jsp_unwind_cell cfa; /* REG or IS_EXPR */
    struct jsp_unwind_cell ra, sp, fp, extra; /* sp SAME: the CFA */
    uint64_t is_signal;         /* the caller was interrupted; it made no call */
};

struct jsp_unwind_object {
    uintptr_t start, end;               /* its executable memory */
    const struct jsp_unwind_row *rows;  /* ascending; the first starts at 0 */
    /* number of rows that start before each page; one more entry at the end */
    const uint32_t *pages;
    const struct jsp_unwind_rule *rules;
    const uint8_t *exprs;
    uint32_t n_rows, n_rules, n_exprs;
    uint32_t page_shift;
};

/* An object of the map whose rows are not made yet. The handler reads its records one by
 * one (live.h), and the drain makes the rows once a handler has met the object. */
struct jsp_unwind_unread {
    uintptr_t header;         /* address of its .eh_frame_hdr; 0: the object has its rows */
    uint32_t n;               /* entries of the header */
    _Atomic uint32_t *is_met; /* set by handlers; kept outside of the map */
};

struct jsp_unwind_map {
    uint64_t generation;                /* differs between any two maps of a process */
    uint32_t n;
    const uintptr_t *starts; /* starts of the objects, kept apart for the search */
    const struct jsp_unwind_object *objects;
    const struct jsp_unwind_unread *unread; /* one for each object; NULL: all have rows */

    /* Always:  objects[i].start < objects[i].end <= objects[i + 1].start */
};

/* Return the object whose executable memory holds pc, or NULL. */
static inline const struct jsp_unwind_object *
jsp_unwind_map_find(const struct jsp_unwind_map *map, uintptr_t pc)
{
    uint32_t low = 0, high = map->n;
    while (low < high) { /* at most 32 turns */
        uint32_t mid = low + (high - low) / 2;
        if (map->starts[mid] <= pc)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low || pc >= map->objects[low - 1].end)
        return NULL;
    return &map->objects[low - 1];
}

/* Return the entry of an object of the map whose rows are not made yet, otherwise NULL. */
static inline const struct jsp_unwind_unread *
jsp_unwind_map_unread(const struct jsp_unwind_map *map, const struct jsp_unwind_object *o)
{
    if (o->n_rows || !map->unread)
        return NULL;
    const struct jsp_unwind_unread *unread = &map->unread[o - map->objects];
    return unread->header ? unread : NULL;
}

/* Return how to leave the instruction at pc, which is inside the object. */
static inline uint32_t jsp_unwind_object_how(const struct jsp_unwind_object *o, uintptr_t pc)
{
    if (!o->n_rows)
        return JSP_HOW_NONE;
    uint32_t at = (uint32_t)(pc - o->start), page = at >> o->page_shift;
    uint32_t low = o->pages[page], high = o->pages[page + 1];
    while (low < high) { /* at most 32 turns: the number of rows that start at or before */
        uint32_t mid = low + (high - low) / 2;
        if (o->rows[mid].start <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? o->rows[low - 1].how : JSP_HOW_NONE;
}

#endif
