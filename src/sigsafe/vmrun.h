/* sigsafe/vmrun.h - one run of VM frames while it is filled: those of one form of stack.
 *
 * vmstack.c fills a run for each form that the host uses, one after another, into one
 * record. Each form's function puts its frames outermost first, as many as there is room
 * for, and a mark in place of those that it drops. All of this runs in the handler only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_VMRUN_H
#define JSP_SIGSAFE_VMRUN_H

#include "vmstack.h"

enum {
    /* of a stack that does not fit, 1/4 of the frames kept are the innermost */
    JSP_VMRUN_INNER = 4,
    JSP_VMRUN_CALLS = 4096, /* system calls at untrusted addresses */
    JSP_VMRUN_PAGE = 4096,  /* the smallest page size */
};

struct jsp_vmrun {
    struct jsp_vmstack *vm;
    struct jsp_names *names;
    struct jsp_rec_frame *frames; /* where the run goes */
    uint32_t room;                /* frames that still fit */
    uint32_t n;
    uint32_t marks;               /* frames of our own among them, which take no room */
    uint32_t cut;
    const char *label; /* the last name without a function, and its id below */
    const char *detail;
    uint32_t kind;
    uint32_t id;
    uintptr_t page; /* can be read; 1: none */
};

/* Add to the count of lost frames. A depth of 64 bits may be garbage: the count saturates
 * and does not wrap. */
static inline void jsp_vmrun_cut(struct jsp_vmrun *run, uint64_t n)
{
    run->cut = n < UINT32_MAX - run->cut ? run->cut + (uint32_t)n : UINT32_MAX;
}

/* Put a mark in place of n frames that the record lacks. */
static inline void jsp_vmrun_mark(struct jsp_vmrun *run, uint32_t id, uint64_t n)
{
    run->frames[run->n++] = (struct jsp_rec_frame){ .id = id, .gap = 1 };
    run->marks++;
    jsp_vmrun_cut(run, n);
}

/* Return how many of the innermost frames to keep if a stack does not fit. The time
 * belongs to them; the rest of the room is for the outermost ones. */
static inline uint32_t jsp_vmrun_inner(const struct jsp_vmrun *run)
{
    return (run->room + JSP_VMRUN_INNER - 1) / JSP_VMRUN_INNER;
}

/* Return true if a plain load can read these bytes, which are no more than a page. The last page
 * is remembered. */
static inline bool jsp_vmrun_is_there(struct jsp_vmrun *run, const void *first, size_t n)
{
    struct jsp_memread *mem = run->vm->mem;
    uintptr_t low = (uintptr_t)first, high = low + n - 1;
    uintptr_t mask = ~(uintptr_t)(JSP_VMRUN_PAGE - 1);
    uint8_t byte;
    if (high < low)
        return false;
    if (jsp_memread_is_plain(mem, low) && jsp_memread_is_plain(mem, high))
        return true;
    if ((low & mask) != run->page && !jsp_memread_bytes(mem, low, &byte, 1))
        return false;
    if ((high & mask) != (low & mask) && !jsp_memread_bytes(mem, high, &byte, 1))
        return false;
    run->page = high & mask;
    return true;
}

/* vmstack.c: look up a name and remember it, so that the name of a recursive function is
 * looked up once. */
uint32_t jsp_vmrun_name(struct jsp_vmrun *run, const jsprof_frame *frame);

/* Return true if the frame has the name that was looked up last. */
static inline bool jsp_vmrun_is_named(const struct jsp_vmrun *run,
                                      const jsprof_frame *frame)
{
    return frame->label && frame->label == run->label && frame->detail == run->detail &&
           frame->kind == run->kind && !frame->function &&
           !(frame->kind & JSP_FRAME_PC_NAMES);
}

/* Return the pc of a frame whose `pc` holds a part of its name. */
static inline uint64_t jsp_vmrun_pc(const jsprof_frame *frame)
{
    return frame->kind & JSPROF_FRAME_SYMBOL ? 0 : (uint32_t)frame->pc;
}

/* Put a frame further in than all before. */
static inline void jsp_vmrun_put(struct jsp_vmrun *run, const jsprof_frame *frame)
{
    struct jsp_rec_frame *to = &run->frames[run->n++];
    to->id = jsp_vmrun_is_named(run, frame) ? run->id : jsp_vmrun_name(run, frame);
    to->line = frame->line;
    to->sp = frame->sp;
    to->pc = frame->kind & JSP_FRAME_PC_NAMES ? jsp_vmrun_pc(frame) : frame->pc;
    to->entry = frame->kind & (JSPROF_FRAME_ENTRY | JSPROF_FRAME_CALLED);
    to->gap = 0;
}

/* links.c: count the thread's linked entries, check them, and put them. `sp` is the
 * interrupted stack pointer: links below it are dead. */
void jsp_links_read(struct jsp_vmrun *run, uintptr_t sp);

#endif
