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

/* -- Where it is ------------------------------------------------------------ */

/* "202 0x1 0x2 0x3 0x4 0x5 0x6 0xsp 0xpc", "-1 0xsp 0xpc" or "running". */
static struct jsp_sleep sleeper_parse(const char *text)
{
    enum { FIELDS = 8 };
    struct jsp_sleep at = { .is = JSP_SLEEP_GONE };
    uint64_t field[FIELDS];
    char *next, *end;
    if (strcmp(text, "running\n") == 0) {
        at.is = JSP_SLEEP_READY;
        return at;
    }
    uint32_t n = 0;
    at.call = (int64_t)strtoull(text, &next, 10); /* of "-1" it is the number's complement */
    for (; n < FIELDS; n++, next = end) {
        field[n] = strtoull(next, &end, 16);
        if (end == next)
            break;
    }
    if (n < 2)
        return at;
    at.is = JSP_SLEEP_ASLEEP;
    at.first = n == FIELDS ? field[0] : 0;
    at.sp = field[n - 2];
    at.pc = field[n - 1];
    return at;
}

struct jsp_sleep jsp_sleeper_at(const struct jsp_task_file *folder, pid_t tid,
                                struct jsp_task_file *call)
{
    struct jsp_sleep at = { .is = JSP_SLEEP_GONE };
    char text[256];
    if (call->fd == JSP_TASK_LATER)
        jsp_task_open(call, folder, tid, JSP_SLEEPER_FILE);
    ssize_t got = call->fd >= 0 ? pread(call->fd, text, sizeof text - 1, 0) : 0;
    if (got > 0) {
        text[got] = 0;
        at = sleeper_parse(text);
    }
    if (at.is != JSP_SLEEP_GONE || !jsp_task_read(folder, tid, JSP_SLEEPER_FILE, text, sizeof text))
        return at;
    jsp_task_close(call); /* the thread is there, so the number is another file's */
    return sleeper_parse(text);
}

uint64_t jsp_sleeper_naps(const struct jsp_task_file *folder, pid_t tid)
{
    static const char name[] = "\nvoluntary_ctxt_switches:";
    char text[4096]; /* with thousands of groups, the number comes later: it is not known */
    if (!jsp_task_read(folder, tid, "status", text, sizeof text))
        return 0;
    const char *at = strstr(text, name);
    return at ? strtoull(at + sizeof name - 1, NULL, 10) + 1 : 0;
}

bool jsp_sleeper_is_here(const struct jsp_task_file *folder, pid_t tid)
{
    enum { FROM_NAME = 37 }; /* fields between its name, in brackets, and the processor's number */
    char text[1024];
    unsigned here;
    if (syscall(SYS_getcpu, &here, NULL, NULL) < 0 ||
        !jsp_task_read(folder, tid, "stat", text, sizeof text))
        return false;
    const char *at = strrchr(text, ')');
    for (int i = 0; at && i < FROM_NAME; i++)
        at = strchr(at + 1, ' ');
    return at && strtoull(at + 1, NULL, 10) == here;
}

uint64_t jsp_sleeper_delay_ns(const struct jsp_task_file *folder, pid_t tid)
{
    char text[96], *end;
    if (!jsp_task_read(folder, tid, "schedstat", text, sizeof text))
        return 0;
    strtoull(text, &end, 10); /* the time that it ran */
    return strtoull(end, NULL, 10);
}

uint64_t jsp_sleeper_until_ns(const struct jsp_task_file *folder, pid_t tid)
{
    static const char name[] = "\nse.exec_start";
    char text[512], *end; /* milliseconds with six digits after the point */
    if (!jsp_task_read(folder, tid, "sched", text, sizeof text))
        return 0;
    const char *at = strstr(text, name);
    at = at ? strchr(at, ':') : NULL;
    uint64_t ms = at ? strtoull(at + 1, &end, 10) : 0;
    return ms && *end == '.' ? ms * 1000000 + strtoull(end + 1, NULL, 10) : 0;
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

/* What the first argument of a system call is. */
enum sleeper_first {
    SLEEPER_OTHER,
    SLEEPER_ANY,  /* a descriptor on which it waits */
    SLEEPER_TOLD, /* the same, of a kind that the call implies */
};

static enum sleeper_first sleeper_first(int64_t call)
{
    static const int calls[] = {
        SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_fsync,
        SYS_fdatasync, SYS_flock, SYS_ioctl, SYS_fcntl, SYS_splice,
        /* from here on the call implies the kind */
        SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_sendto, SYS_sendmsg, SYS_accept,
        SYS_accept4, SYS_connect, SYS_epoll_pwait,
#ifdef SYS_epoll_wait
        SYS_epoll_wait,
#endif
    };
    enum { FIRST_TOLD = 12 };
    size_t i = 0, n = sizeof calls / sizeof calls[0];
    while (i < n && calls[i] != call)
        i++;
    return i == n ? SLEEPER_OTHER : i < FIRST_TOLD ? SLEEPER_ANY : SLEEPER_TOLD;
}

struct jsp_rec_state jsp_sleeper_state(const struct jsp_task_file *folder, pid_t tid,
                                       const struct jsp_sleep *at, uint64_t asleep_ns)
{
    struct jsp_rec_state state = { .state = JSP_STATE_ASLEEP, .asleep_ns = asleep_ns };
    enum sleeper_first first = sleeper_first(at->call);
    state.call = (uint32_t)(at->call + 1);
    if (first != SLEEPER_OTHER)
        state.descriptor = (uint32_t)at->first + 1;
    if (first == SLEEPER_ANY)
        state.call += JSP_STATES_CALLS * jsp_task_descriptor(folder, tid, (int)at->first);
    return state;
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
