/* sigsafe/vmstack.h - the VM frames of an interrupted thread, from all the forms
 * in which a host can give them, into one record.
 *
 * Whatever the host's memory says is bounded before it is used: depths that are
 * negative or beyond the array, links that are below the stack pointer (their C
 * frame is gone, by longjmp), that do not go up or that can not be read. Of a stack
 * that does not fit the outermost and the innermost frames are kept. A frame of ours
 * lies between them in place of the others, which are counted.
 *
 *                        SIGPROF handler   before/after
 *   jsp_vmstack_init            -              yes
 *   jsp_vmstack_read           yes              -
 *   jsp_vmstack_check           -              yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_VMSTACK_H
#define JSP_SIGSAFE_VMSTACK_H

#include "memread.h"
#include "names.h"
#include "record.h"

enum { JSP_VMSTACK_KNOWN = 1024 }; /* power of two */

struct jsp_vmstack {
    jsprof_thread *own;  /* borrowed: form (a) */
    jsprof_stack host;   /* form (b); depth NULL: none */
    jsprof_walk_sigsafe_fn walk_sigsafe; /* form (c); NULL: none */
    void *walk_host;
    uintptr_t stack_low, stack_high;     /* the thread's C stack */
    struct jsp_memread *mem; /* borrowed: the unwinder's, which begins after us */
    const jsprof_function *known[JSP_VMSTACK_KNOWN]; /* that links named, and could be read */
    uintptr_t stack_end;  /* it never grows below; 0: nobody knows */
    uint32_t max_depth;
    uint32_t cut_id;      /* "[frames cut]": in place of frames that did not fit */
    uint32_t deeper_id;   /* "[deeper frames cut]": of those that the host has no room for */
    jsprof_frame *walked; /* borrowed, max_depth of them */
    uint32_t n_callers;   /* the last sample's, innermost first, at the head of `walked` */
    _Atomic uint64_t n_cut;
    _Atomic uint64_t n_bad;
};

/* Lay out over zeroed memory. */
void jsp_vmstack_init(struct jsp_vmstack *vm, jsprof_thread *own, uint32_t max_depth,
                      jsprof_frame *walked);

/* -EINVAL: this description can not be read from. */
int jsp_vmstack_check(const jsprof_stack *stack);

/* Where a stack is read from. */
struct jsp_where {
    const void *ucontext; /* what was interrupted; NULL: the caller itself, without walker */
    uintptr_t sp;
    const stack_t *alt;   /* the thread's alternate signal stack */
    bool is_paused;       /* nothing of the host may be read */
};

/* Fill n, cut and frames of the record (room for max_depth of them, and a mark a run). */
void jsp_vmstack_read(struct jsp_vmstack *vm, struct jsp_names *names,
                      const struct jsp_where *where, struct jsp_record *record);

#endif
