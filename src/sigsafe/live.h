/* sigsafe/live.h - unwind rules for objects that have no rows yet.
 *
 * The map has the rows of an object only after a handler has met it. Before that, this
 * module reads in the object's .eh_frame how to leave one instruction: it searches the
 * sorted header, copies the CIE and the FDE, and runs them. If the object was opened a
 * moment ago, the map does not contain it, but the C library finds it without a lock
 * (_dl_find_object, glibc 2.35).
 *
 * Another thread may close the object meanwhile, so the kernel makes all copies, and every
 * value is checked. Where the kernel does not copy (some sandboxes), or the C library does
 * not find the object, the result is "unknown", and the drain has to look.
 *
 *                       SIGPROF handler   any thread, for itself
 *   jsp_live_init              -                  yes
 *   jsp_live_begin            yes                 yes
 *   jsp_live_forget           yes                 yes
 *   jsp_live_limit            yes                 yes
 *   jsp_live_unlimit          yes                 yes
 *   jsp_live_grant            yes                 yes
 *   jsp_live_left             yes                 yes
 *   jsp_live_is_code          yes                 yes
 *   jsp_live_how              yes                 yes
 *   jsp_live_read             yes                 yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_LIVE_H
#define JSP_SIGSAFE_LIVE_H

#include "cfa.h"
#include "memread.h"

/* struct dl_find_object of glibc, on machines whose objects have no base for data. */
struct jsp_live_found {
    unsigned long long flags;
    void *start, *end; /* of all mapped memory of the object */
    void *link_map;
    void *header;      /* .eh_frame_hdr; NULL: none */
    unsigned long long reserved[7];
};

/* .eh_frame_hdr, before its entries. */
struct jsp_live_header {
    uint8_t version, frame, count, table; /* the last three are encodings */
    int32_t at;                           /* of .eh_frame, from this field */
    uint32_t n;                           /* entries */
};

/* Return true if the header has entries, in the encodings that linkers write. */
static inline bool jsp_live_is_sorted(const struct jsp_live_header *h)
{
    enum { PCREL_SDATA4 = 0x1B, UDATA4 = 0x03, DATAREL_SDATA4 = 0x3B };
    return h->version == 1 && h->frame == PCREL_SDATA4 && h->count == UDATA4 &&
           h->table == DATAREL_SDATA4 && h->n > 0;
}

/* An object with a sorted header. */
struct jsp_live_object {
    uintptr_t header;     /* address of its .eh_frame_hdr */
    uintptr_t start, end; /* of its code, roughly: the search begins by it */
    uint32_t n;           /* entries of the header */
};

typedef int (*jsp_live_find_sigsafe_fn)(void *pc, struct jsp_live_found *found);

enum {
    JSP_LIVE_RULES = 32,
    JSP_LIVE_EXPRS = 512,
    JSP_LIVE_CIE = 256,   /* bytes of a record that are read */
    JSP_LIVE_COMMON = 4,  /* CIEs that are kept: a stack has frames of several objects */
    JSP_LIVE_FDE = 24576, /* compilers' longest have 22 KiB; few have 1 */
    JSP_LIVE_CALLS = 512, /* system calls in one walk */
    /* the same for a map with objects that have no rows yet: 1000 new frames and more; also
     * for all walks of one sample together */
    JSP_LIVE_CALLS_UNREAD = 4096,
};

struct jsp_live {
    jsp_live_find_sigsafe_fn find_sigsafe; /* NULL: the C library has no such function */
    uint32_t calls;                        /* system calls left to this walk */
    uint32_t granted;                      /* the same when it began */
    bool is_limited;                       /* all walks from now on share `left`: */
    uint32_t left;                         /* calls left to this walk and later ones */
    struct jsp_unwind_object object;       /* owns the rules below */
    struct jsp_unwind_rule rules[JSP_LIVE_RULES];
    uint8_t exprs[JSP_LIVE_EXPRS];
    struct jsp_cfa cfa;
    struct jsp_ehframe_cie cie;
    uint32_t n_copied;             /* CIEs copied so far */
    struct jsp_live_common {
        uintptr_t at;              /* its address; 0: none */
        uint32_t n;
        uint8_t bytes[JSP_LIVE_CIE];
    } common[JSP_LIVE_COMMON];     /* the last CIEs: most records of an object share one */
    uint8_t records[JSP_LIVE_CIE + JSP_LIVE_FDE]; /* last: most pages are never touched */
};

/* Lay out; the memory may hold anything. */
void jsp_live_init(struct jsp_live *live, jsp_live_find_sigsafe_fn find_sigsafe);

/* Begin a walk: other objects may have been loaded since the last one. */
void jsp_live_begin(struct jsp_live *live);

/* Let all walks until jsp_live_unlimit share JSP_LIVE_CALLS_UNREAD system calls. */
void jsp_live_limit(struct jsp_live *live);

/* Let each walk make as many system calls as it is granted again. */
void jsp_live_unlimit(struct jsp_live *live);

/* Grant a new walk so many system calls at most. */
void jsp_live_grant(struct jsp_live *live, uint32_t calls);

/* Return how many system calls the next walk may make at most. */
uint32_t jsp_live_left(const struct jsp_live *live);

/* Drop the rules. The caller no longer uses any result. */
void jsp_live_forget(struct jsp_live *live);

/* Return true if there is room for the rules of one more result. */
static inline bool jsp_live_has_room(const struct jsp_live *live)
{
    return live->object.n_rules < JSP_LIVE_RULES &&
           live->object.n_exprs < JSP_LIVE_EXPRS - JSP_LIVE_CIE;
}

/* Return true if pc lies in a loaded object. */
bool jsp_live_is_code(const struct jsp_live *live, uintptr_t pc);

/* Store how to leave the instruction at pc, as enum jsp_how; a rule is an index into
 * live->object. Return false if no object is there, or this walk has used up its system
 * calls. */
bool jsp_live_how(struct jsp_live *live, struct jsp_memread *mem, uintptr_t pc,
                  uint32_t *how);

/* Return the same for an instruction of this object: JSP_HOW_NONE if the records do not
 * cover it, or if this walk has used up its system calls. The caller has checked that there
 * is room. */
uint32_t jsp_live_read(struct jsp_live *live, struct jsp_memread *mem,
                       const struct jsp_live_object *object, uintptr_t pc);

#endif
