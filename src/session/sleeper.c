/* session/sleeper.c - see sleeper.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sleeper.h"

#include <stdlib.h>
#include <unistd.h>

#include "prologue.h"
#include "sigsafe/vmrun.h"

enum { SLEEPER_STACK = 1 << 15 }; /* bytes of the stack that one system call copies */

/* In place of registers that we do not know. No memory is there, and no frame pointer is odd. */
#define SLEEPER_BLIND ((uintptr_t)1 << 63 | 1)

int jsp_sleeper_open(struct jsp_sleeper *z, struct jsp_sampled *hand)
{
    *z = (struct jsp_sleeper){ .hand = hand, .stack = malloc(SLEEPER_STACK),
                               .names = malloc(sizeof *z->names),
                               .frames = calloc(hand->vm.max_depth, sizeof *z->frames) };
    hand->vm.slept = z->frames;
    if (!z->stack || !z->names || !z->frames) {
        jsp_sleeper_close(z);
        return -ENOMEM;
    }
    z->names->mem = &hand->unwinder.mem;
    hand->unwinder.mem.single = NULL; /* we are a second thread */
    hand->names.foreign = z->names;
    return 0;
}

void jsp_sleeper_close(struct jsp_sleeper *z)
{
    free(z->stack);
    free(z->names);
    free(z->frames);
    *z = (struct jsp_sleeper){ .hand = NULL };
}

struct jsp_record *jsp_sleeper_record(const struct jsp_sleeper *z)
{
    return z->hand->record;
}

void jsp_sleeper_note(struct jsp_sleeper *z, const struct jsp_sampled *t)
{
    struct jsp_record *r = z->hand->record;
    r->task = jsp_running_now(&t->running);
    r->n_tags = 0;
    if (jsp_tags_any(&t->tags))
        r->n_tags = (uint16_t)jsp_tags_take(&t->tags, &z->hand->unwinder.mem, jsp_record_tags(r));
}

bool jsp_sleeper_busy(const struct jsp_sleeper *z)
{
    return z->hand && jsp_sampled_busy(z->hand);
}

/* -- Its stack --------------------------------------------------------------- */

/* Copy what the thread itself, and its host, change. Return false if it cannot be read. */
static bool sleeper_meet(struct jsp_sampled *hand, const struct jsp_sampled *t)
{
    enum {
        HEAD = offsetof(struct jsp_sampled, left_low),
        VM = offsetof(struct jsp_vmstack, host),
        VM_END = offsetof(struct jsp_vmstack, mem),
    };
    struct jsp_memread *mem = &hand->unwinder.mem;
    return jsp_memread_bytes(mem, (uintptr_t)t, hand, HEAD) &&
           jsp_memread_bytes(mem, (uintptr_t)&t->vm + VM, (char *)&hand->vm + VM, VM_END - VM);
}

/* Return true if VM frames come from a form that only the thread itself can read. */
static bool sleeper_has_host(const struct jsp_sampled *hand, const struct jsp_sampled *t)
{
    const struct jsp_vmstack *vm = &hand->vm;
    return ((vm->walk_sigsafe || vm->host.decode_sigsafe) && !vm->walk_asleep) || hand->cstack ||
           t->alloc.table; /* it appends samples itself */
}

static bool sleeper_is_elsewhere(const struct jsp_sampled *hand, const struct jsp_sleep *at)
{
    const struct jsp_vmstack *vm = &hand->vm;
    return vm->stack_high == UINTPTR_MAX || at->sp < vm->stack_low || at->sp >= vm->stack_high;
}

static bool sleeper_is_whole(const struct jsp_sampled *hand)
{
    return hand->record->stop == JSP_STOP_END || hand->record->stop == JSP_STOP_FULL;
}

/* Walk from here. Without a frame pointer if that is not needed. */
static enum jsp_sleep_walk sleeper_stack(struct jsp_sampled *hand, const struct jsp_where *where,
                                         const struct jsp_sleep *at)
{
    struct jsp_regs_core here = { .pc = at->pc, .sp = at->sp, .fp = SLEEPER_BLIND,
                                  .extra = SLEEPER_BLIND };
    jsp_sampled_frames(hand, where, &here);
    if (!hand->map || sleeper_is_whole(hand) || hand->unwinder.last.fp != SLEEPER_BLIND)
        return JSP_SLEEP_WALKED;
    const struct jsp_prologue_at from = { hand->unwinder.last.pc, hand->unwinder.last.sp,
                                          hand->unwinder.last_how };
    if (!jsp_prologue_fp(&hand->unwinder.mem, &from, &here.fp))
        return JSP_SLEEP_POINTER;
    jsp_sampled_frames(hand, where, &here); /* no frame further in has changed it */
    return sleeper_is_whole(hand) ? JSP_SLEEP_WALKED : JSP_SLEEP_POINTER;
}

/* Return the end of the record's C frames before the first one of no loaded object, or 0. */
static uintptr_t sleeper_plain_end(const struct jsp_sampled *hand, const struct jsp_sleep *at)
{
    const struct jsp_rec_native *frames = jsp_record_natives(hand->record);
    /* M1. ORDER: acquire, as in stack.c. */
    const struct jsp_unwind_map *map =
        hand->map ? atomic_load_explicit(hand->map, memory_order_acquire) : NULL;
    uintptr_t end = at->sp;
    uint32_t n = map ? hand->record->n_native : 0, i = 0;
    for (; i < n && jsp_unwind_map_find(map, frames[i].ip - 1); i++)
        end = frames[i].cfa != UINTPTR_MAX ? frames[i].cfa : end;
    return n && i == n && hand->record->stop == JSP_STOP_END ? 0 : end;
}

/* Let the host's walker return its frames, which wants to know first how the C stack ends. Return
 * false if it declines. */
static bool sleeper_ask(struct jsp_sleeper *z, struct jsp_where where, const struct jsp_sleep *at)
{
    struct jsp_sampled *hand = z->hand;
    struct jsp_vmstack *vm = &hand->vm;
    where.is_paused = true;
    sleeper_stack(hand, &where, at);
    const jsprof_asleep asleep = { .size = sizeof asleep, .reader = &hand->own, .pc = at->pc,
                                   .sp = at->sp, .plain_end = sleeper_plain_end(hand, at) };
    jsp_memread_begin(vm->mem, 0);
    vm->mem->calls = JSP_VMRUN_CALLS;
    vm->scratch_left = JSP_VMSTACK_SCRATCH;
    vm->is_reading = true;
    vm->n_slept = vm->walk_asleep(vm->asleep_host, &asleep, z->frames, vm->max_depth);
    vm->is_reading = false;
    return vm->n_slept != JSPROF_DECLINED;
}

static enum jsp_sleep_walk sleeper_frames(struct jsp_sleeper *z, const struct jsp_sleep *at)
{
    static const stack_t none = { .ss_flags = SS_DISABLE };
    const struct jsp_where where = { NULL, at->sp, &none, false };
    z->hand->vm.n_slept = 0;
    if (z->hand->vm.walk_asleep && !sleeper_ask(z, where, at))
        return JSP_SLEEP_HOST;
    jsp_sampled_note_wait(z->hand);
    return sleeper_stack(z->hand, &where, at);
}

static enum jsp_sleep_walk sleeper_walk(struct jsp_sleeper *z, const struct jsp_sampled *t,
                                        const struct jsp_sleep *at)
{
    struct jsp_sampled *hand = z->hand;
    jsp_memread_foreign(&hand->unwinder.mem, at->sp, z->stack, SLEEPER_STACK);
    jsp_memread_begin(&hand->unwinder.mem, 0);
    if (!sleeper_meet(hand, t) || sleeper_has_host(hand, t))
        return JSP_SLEEP_HOST;
    if (hand->paused)
        return JSP_SLEEP_PAUSED;
    return sleeper_is_elsewhere(hand, at) ? JSP_SLEEP_ELSEWHERE : sleeper_frames(z, at);
}

enum jsp_sleep_walk jsp_sleeper_walk(struct jsp_sleeper *z, const struct jsp_sampled *t,
                                     const struct jsp_sleep *at)
{
    struct jsp_sampled *hand = z->hand;
    /* ORDER: seq_cst, before the walk loads the map, as B1 in backtrace.c: a thread that has
     * published another map and sees `busy` clear may free the old one. */
    atomic_store_explicit(&hand->busy, true, memory_order_seq_cst);
    enum jsp_sleep_walk walk = sleeper_walk(z, t, at);
    /* ORDER: release: all reads of the session are done before. */
    atomic_store_explicit(&hand->busy, false, memory_order_release);
    return walk;
}
