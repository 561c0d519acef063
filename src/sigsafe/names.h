/* sigsafe/names.h - from a host's frame to a label id, fast.
 *
 * Each thread has a cache in front of the shared arena. The key consists of the name's
 * pointers. A hit requires that the bytes there equal the bytes in the arena, because
 * hosts free and reuse names. Only a registered function is trusted without comparing:
 * its serial number is never used twice.
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
#include "memread.h"

/* What jsprof_function points to. `text` is the whole shown name. */
struct jsprof_function {
    /* first, jsprof.h reads it: index in tables of calls; see session/function.h */
    uint32_t index;
    uint32_t cell; /* offset of its row in them, in bytes; 0: not for the shortest path */
    uint32_t line;
    _Atomic uint32_t holders; /* 1, and 1 for each jsprof_function_ref */
    uint64_t serial; /* from 1, never used twice in a process */
    uint64_t seal;   /* jsp_function_seal; other memory does not contain it by chance */
    char *text;      /* owned */
    uint32_t len;    /* <= JSP_LABEL_MAX */
    /* the parts of `text`; the file begins 2 bytes after the end of the name */
    uint16_t name_len, file_len;
    uint8_t kind;
    bool cut;        /* the name was longer */
    struct jsprof_function *next; /* in the list of freed functions that are kept */
    struct jsp_function_lines *lines; /* held; NULL: none. See session/function_lines.h */
};

/* Return the seal of a function at this address. Memory with that seal is a function. */
static inline uint64_t jsp_function_seal(const struct jsprof_function *at, uint64_t serial)
{
    return ((uint64_t)(uintptr_t)at ^ serial << 48) * 0x9E3779B97F4A7C15u;
}

/* Kinds of frames whose `pc` holds a part of the name: the address of the function, or in the
 * upper half the line of its definition. */
enum { JSP_FRAME_PC_NAMES = JSPROF_FRAME_SYMBOL | JSPROF_FRAME_DEFINED };

enum { JSP_NAMES_CACHE = 1024 }; /* entries, power of two */

struct jsp_name_key {
    const void *label; /* or the function */
    const void *detail;
    uint64_t tag;      /* the function's serial, or kind and join */
};

struct jsp_name_entry {
    struct jsp_name_key key;
    uint32_t id;
    uint16_t label_at, label_len; /* positions of the parts in the arena's text */
    uint16_t detail_at, detail_len;
};

/* For names that another thread uses, and may free meanwhile: their copies. */
struct jsp_names_foreign {
    struct jsp_memread *mem; /* borrowed */
    char label[JSP_LABEL_MAX + 2], detail[JSP_LABEL_MAX + 2];
};

struct jsp_names {
    struct jsp_arena *arena; /* borrowed */
    struct jsp_names_foreign *foreign; /* borrowed; NULL: load the host's names plainly */
    _Atomic uint64_t n_cut;  /* names that were longer than JSP_LABEL_MAX */
    _Atomic uint64_t n_bad;  /* frames without any name */
    uint32_t unnamed;        /* id of "[no name]" */
    struct jsp_name_entry cache[JSP_NAMES_CACHE];
    /* scratch space to compose a name that the cache lacks */
    char text[JSP_LABEL_MAX + 1];
};

/* After the zero of the text of a frame with JSPROF_FRAME_SYMBOL. */
struct jsp_name_symbol {
    uint64_t addr;      /* where the function begins */
    uint32_t label_len; /* bytes of the text that its symbol may replace */
};

/* Return whether a name has that, and copy it. */
static inline bool jsp_name_symbol(const struct jsp_label *name, struct jsp_name_symbol *out)
{
    size_t visible = strnlen(name->text, name->len);
    if (name->len != visible + 1 + sizeof *out)
        return false;
    memcpy(out, name->text + visible + 1, sizeof *out);
    return true;
}

/* Lay out over zeroed memory. */
void jsp_names_init(struct jsp_names *names, struct jsp_arena *arena);

/* Return the id of this frame's name. Read at most JSP_LABEL_MAX + 1 bytes of each
 * part. */
uint32_t jsp_names_of(struct jsp_names *names, const jsprof_frame *frame);

#endif
