/* sigsafe/vmstack.h - the VM frames of an interrupted thread, from all the forms
 * in which a host can give them, into one record.
 *
 * All values from the host's memory are bounded before they are used: depths that are
 * negative or larger than the array, and links that lie below the stack pointer (longjmp
 * removed their C frame), that do not lead outwards or that cannot be read. If a stack
 * does not fit, the record keeps the outermost and the innermost frames. A frame of our
 * own lies between them in place of the others, which are counted.
 *
 *                        SIGPROF handler   before/after
 *   jsp_vmstack_init            -              yes
 *   jsp_vmstack_read           yes              -
 *   jsp_vmstack_check           -              yes
 *   jsp_vmstack_scratch        yes              -
 *   jsp_vmstack_peek           yes              -
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_VMSTACK_H
#define JSP_SIGSAFE_VMSTACK_H

#include "memread.h"
#include "names.h"
#include "record.h"

enum {
    JSP_VMSTACK_KNOWN = 1024,    /* power of two */
    JSP_VMSTACK_SCRATCH = 65536, /* bytes for all callbacks in one sample */
};

struct jsp_vmstack {
    jsprof_thread *own;  /* borrowed: form (a) */
    jsprof_stack host;   /* form (b); depth NULL: none */
    jsprof_walk_sigsafe_fn walk_sigsafe; /* form (c); NULL: none */
    void *walk_host;
    jsprof_walk_asleep_fn walk_asleep;   /* in place of the callbacks of (b) and (c), where another
                                          * thread reads; NULL: only the handler can */
    void *asleep_host;
    uintptr_t stack_low, stack_high;     /* the thread's C stack */
    /* borrowed from the unwinder, which begins its own reading after us */
    struct jsp_memread *mem;
    /* functions that links named and that could be read */
    const jsprof_function *known[JSP_VMSTACK_KNOWN];
    uintptr_t stack_end;  /* the lowest address to which the stack can grow; 0: unknown */
    uint32_t max_depth;
    uint32_t cut_id;      /* "[frames cut]": in place of frames that did not fit */
    /* "[deeper frames cut]": in place of frames for which the host's array has no room */
    uint32_t deeper_id;
    jsprof_frame *walked; /* borrowed, room for max_depth frames */
    char *scratch; /* borrowed: JSP_VMSTACK_SCRATCH bytes */
    uint32_t scratch_left; /* 0: no sample is being taken */
    bool is_reading;       /* a sample is being taken */
    const jsprof_frame *slept; /* borrowed: what walk_asleep returned, for a thread that sleeps */
    uint32_t n_slept;
    /* callers of compiled code in the last sample, innermost first, at the start of
     * `walked` */
    uint32_t n_callers;
    _Atomic uint64_t n_cut;
    _Atomic uint64_t n_bad;
};

/* Lay out over zeroed memory. */
void jsp_vmstack_init(struct jsp_vmstack *vm, jsprof_thread *own, uint32_t max_depth,
                      jsprof_frame *walked);

/* Return 0, or -EINVAL if a stack cannot be read by this description. */
int jsp_vmstack_check(const jsprof_stack *stack);

/* Return `bytes` bytes that stay the callback's until the end of this sample, or NULL if there
 * are none left or no sample is being taken. */
void *jsp_vmstack_scratch(struct jsp_vmstack *vm, size_t bytes);

/* Copy bytes for a callback. Return false if they can not be read, or if no sample is being
 * taken. */
bool jsp_vmstack_peek(struct jsp_vmstack *vm, void *to, const void *from, size_t bytes);

/* The place from which a stack is read. */
struct jsp_where {
    /* the interrupted context; NULL: the calling thread itself, without walker */
    const void *ucontext;
    uintptr_t sp;
    const stack_t *alt;   /* the thread's alternate signal stack */
    bool is_paused;       /* no memory of the host may be read */
};

/* Fill n, cut and frames of the record, which has room for max_depth frames and a mark
 * for each run. */
void jsp_vmstack_read(struct jsp_vmstack *vm, struct jsp_names *names,
                      const struct jsp_where *where, struct jsp_record *record);

#endif
