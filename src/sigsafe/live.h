/* sigsafe/live.h - how to leave an instruction of an object that the map does not show.
 *
 * An object opened a moment ago has no table yet. The C library finds it for us without a
 * lock (_dl_find_object, glibc 2.35), and what its .eh_frame says of one instruction is read
 * where it lies: the sorted header is searched, and the CIE and the FDE are copied and run.
 * Another thread may close the object meanwhile, so the kernel makes all copies, and
 * nothing is believed. Where the kernel does not copy (some sandboxes), or the C library
 * does not find, the answer is that nothing is known, and the drain has to look.
 *
 *                       SIGPROF handler   any thread, for itself
 *   jsp_live_init              -                  yes
 *   jsp_live_forget           yes                 yes
 *   jsp_live_is_code          yes                 yes
 *   jsp_live_how              yes                 yes
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
    void *start, *end; /* of all that is mapped of the object */
    void *link_map;
    void *header;      /* .eh_frame_hdr; NULL: none */
    unsigned long long reserved[7];
};

typedef int (*jsp_live_find_sigsafe_fn)(void *pc, struct jsp_live_found *found);

enum {
    JSP_LIVE_RULES = 32,
    JSP_LIVE_EXPRS = 512,
    JSP_LIVE_CIE = 256,   /* bytes of a record that are read */
    JSP_LIVE_FDE = 1536,
    JSP_LIVE_CALLS = 512, /* of the kernel, in one walk */
};

struct jsp_live {
    jsp_live_find_sigsafe_fn find_sigsafe; /* NULL: the C library can not */
    uint32_t calls;                        /* left to this walk */
    struct jsp_unwind_object object;       /* of the rules below */
    struct jsp_unwind_rule rules[JSP_LIVE_RULES];
    uint8_t exprs[JSP_LIVE_EXPRS];
    struct jsp_cfa cfa;
    struct jsp_ehframe_cie cie;
    uint8_t records[JSP_LIVE_CIE + JSP_LIVE_FDE];
};

/* Lay out over zeroed memory. */
void jsp_live_init(struct jsp_live *live, jsp_live_find_sigsafe_fn find_sigsafe);

/* No answer is in use any more: forget the rules. */
void jsp_live_forget(struct jsp_live *live);

/* Is there room for the rules of one more answer? */
static inline bool jsp_live_has_room(const struct jsp_live *live)
{
    return live->object.n_rules < JSP_LIVE_RULES &&
           live->object.n_exprs < JSP_LIVE_EXPRS - JSP_LIVE_CIE;
}

/* Does pc lie in an object that is loaded? */
bool jsp_live_is_code(const struct jsp_live *live, uintptr_t pc);

/* What the object's records say of pc, as enum jsp_how; a rule is one of live->object. False:
 * no object is there, or this walk may not ask the kernel any more. */
bool jsp_live_how(struct jsp_live *live, struct jsp_memread *mem, uintptr_t pc,
                  uint32_t *how);

#endif
