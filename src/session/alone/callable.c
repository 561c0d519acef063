/* session/alone/callable.c - see callable.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "callable.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "image/needed.h"
#include "sigsafe/regs.h"

enum { CALLABLE_NEVER = 32 };

struct callable_code {
    uintptr_t start, end;
};

struct callable_found {
    bool known;
    bool interposed; /* objects lie between the program and the C library */
    struct callable_code libc, never[CALLABLE_NEVER];
    uint32_t n_never;
};

_Thread_local volatile int jsp_callable_inside;

/* NULL until known; constant afterwards. */
static const struct callable_found *_Atomic callable_found;

static const struct callable_found *callable_get(void)
{
    /* ORDER: acquire, pairs with C1: the object is complete. */
    return atomic_load_explicit(&callable_found, memory_order_acquire);
}

/* -- Code that a handler must not have interrupted ---------------------------- */

/* The role of an object. */
enum callable_mark {
    CALLABLE_ANY, /* code that calls and is called */
    CALLABLE_OWN, /* the program, or the object of this library */
    CALLABLE_C,   /* the C library with all its parts, the loader, the kernel's code */
    CALLABLE_BETWEEN,
    CALLABLE_BETWEEN_DONE, /* the same, and the objects that it needs are marked, too */
};

struct callable_search {
    struct jsp_needed needed;
    struct jsp_needed_object *program, *libc, *loader;
    bool unclear; /* an object needs one that cannot be found */
};

static uintptr_t callable_address(const char *name)
{
    return (uintptr_t)dlsym(RTLD_DEFAULT, name);
}

static void callable_mark(struct jsp_needed_object *o, enum callable_mark mark)
{
    if (o && o->mark == CALLABLE_ANY)
        o->mark = (int)mark;
}

static bool callable_begins(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strncmp(name, *list, strlen(*list)) == 0)
            return true;
    return false;
}

/* Mark the known objects. Return false in a statically linked program, which can look up
 * no name. */
static bool callable_mark_known(struct callable_search *s)
{
    static const char *const parts[] = { "libpthread.so", "libdl.so", "librt.so", NULL };
    s->program = jsp_needed_at(&s->needed, getauxval(AT_ENTRY));
    s->libc = jsp_needed_at(&s->needed, callable_address("__libc_start_main"));
    s->loader = jsp_needed_at(&s->needed, callable_address("__tls_get_addr"));
    if (!s->program || !s->libc || !s->loader || s->program == s->libc)
        return false;
    callable_mark(s->libc, CALLABLE_C);
    callable_mark(s->loader, CALLABLE_C);
    callable_mark(jsp_needed_at(&s->needed, getauxval(AT_SYSINFO_EHDR)), CALLABLE_C);
    for (uint32_t i = 0; i < s->needed.n; i++)
        if (callable_begins(s->needed.at[i].name, parts))
            callable_mark(&s->needed.at[i], CALLABLE_C);
    callable_mark(s->program, CALLABLE_OWN);
    callable_mark(jsp_needed_at(&s->needed, (uintptr_t)jsp_callable), CALLABLE_OWN);
    return true;
}

/* Return true if an object outside of the C library may define the name. A lookup costs a
 * microsecond, and there are more than a hundred names. */
static bool callable_is_elsewhere(const struct callable_search *s, const char *name)
{
    uint32_t hash = jsp_needed_hash(name);
    for (uint32_t i = 0; i < s->needed.n; i++)
        if (s->needed.at[i].mark != CALLABLE_C &&
            jsp_needed_may_define(&s->needed.at[i], hash))
            return true;
    return false;
}

/* Mark the objects that replace C library functions. Return false if one name leads into
 * the program: then the program's code is never outside of them. This also happens in a
 * program at a fixed address that only takes the address of `free`. */
static bool callable_mark_names(struct callable_search *s)
{
    for (const char *const *name = jsp_callable_names; *name; name++) {
        if (!callable_is_elsewhere(s, *name))
            continue;
        struct jsp_needed_object *o = jsp_needed_at(&s->needed, callable_address(*name));
        if (o == s->program)
            return false;
        callable_mark(o, CALLABLE_BETWEEN);
    }
    return true;
}

/* Mark the preloaded objects, which the loader lists after the program and before the
 * objects that it needs. A preload need not define a name to be between: it may have
 * patched code or tables. Return false if the program's list of needed objects cannot be
 * read. */
static bool callable_mark_preloads(struct callable_search *s)
{
    for (uint32_t i = 1; i < s->needed.n; i++) {
        struct jsp_needed_object *o = &s->needed.at[i];
        /* musl lists itself first */
        bool is_first = o == s->libc && s->libc == s->loader;
        if (o->is_needed && !is_first)
            break;
        callable_mark(o, CALLABLE_BETWEEN);
    }
    return s->program == s->needed.at && s->program->dynamic;
}

static void callable_meet_needed(void *search, const char *name,
                                 struct jsp_needed_object *other)
{
    /* musl has another name */
    static const char *const libc[] = { "libc.", "ld-", NULL };
    struct callable_search *s = search;
    if (!other && !callable_begins(name, libc))
        s->unclear = true;
    callable_mark(other, CALLABLE_BETWEEN);
}

/* Mark the objects that marked ones need: they may be in the middle of a change on behalf
 * of those. Return false if a list cannot be read or an object cannot be found. */
static bool callable_mark_needed(struct callable_search *s)
{
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < s->needed.n; i++) {
            struct jsp_needed_object *o = &s->needed.at[i];
            if (o->mark != CALLABLE_BETWEEN)
                continue;
            o->mark = CALLABLE_BETWEEN_DONE;
            more = true;
            if (!jsp_needed_each(&s->needed, o, callable_meet_needed, s))
                return false;
        }
    }
    return !s->unclear;
}

static bool callable_keep(struct callable_found *found, const struct callable_search *s)
{
    found->libc = (struct callable_code){ s->libc->start, s->libc->end };
    for (uint32_t i = 0; i < s->needed.n; i++) {
        const struct jsp_needed_object *o = &s->needed.at[i];
        if (o == s->libc || o->mark == CALLABLE_ANY || o->mark == CALLABLE_OWN)
            continue;
        if (found->n_never == CALLABLE_NEVER)
            return false;
        found->never[found->n_never++] = (struct callable_code){ o->start, o->end };
        found->interposed = found->interposed || o->mark == CALLABLE_BETWEEN_DONE;
    }
    return true;
}

/* Return the result, or NULL if it cannot be found now. */
static struct callable_found *callable_find(void)
{
    struct callable_search s = { .unclear = false };
    struct callable_found *found = calloc(1, sizeof *found);
    if (!found || jsp_needed_look(&s.needed) != 0) {
        free(found);
        return NULL;
    }
    found->known = callable_mark_known(&s) && callable_mark_names(&s) &&
                   callable_mark_preloads(&s) && callable_mark_needed(&s) &&
                   callable_keep(found, &s);
    jsp_needed_free(&s.needed);
    return found;
}

/* Take no lock: this takes the loader's lock, and a constructor that holds it may come
 * here. */
bool jsp_callable_init(void)
{
    const struct callable_found *none = NULL, *found = callable_get();
    if (found)
        return found->known;
    struct callable_found *mine = callable_find();
    if (!mine)
        return false;
    bool known = mine->known;
    /* C1. ORDER: release, pairs with callable_get; the other thread has found the
     * same. */
    if (!atomic_compare_exchange_strong_explicit(&callable_found, &none, mine,
                                                 memory_order_release,
                                                 memory_order_relaxed)) /* ORDER: relaxed */
        free(mine);
    return known;
}

/* -- System calls that wait ----------------------------------------------------- */

/* Only calls count that no code makes in the middle of a change: to read and write, to wait
 * for events, a child, time, a lock or a file. */

/* The instruction that enters the kernel, and the registers with the call's number and
 * its result, by DWARF's numbers. */
#if defined(__x86_64__)
enum { CALLABLE_WAIT_BYTES = 2, CALLABLE_WAIT_NUMBER = 0, CALLABLE_WAIT_RESULT = 0 };
static const uint8_t callable_enter[CALLABLE_WAIT_BYTES] = { 0x0F, 0x05 };
#else
enum { CALLABLE_WAIT_BYTES = 4, CALLABLE_WAIT_NUMBER = 8, CALLABLE_WAIT_RESULT = 0 };
static const uint8_t callable_enter[CALLABLE_WAIT_BYTES] = { 0x01, 0x00, 0x00, 0xD4 };
#endif

static bool callable_is_wait(uint64_t number)
{
    switch (number) {
    case SYS_read: case SYS_readv: case SYS_write: case SYS_writev:
    case SYS_ppoll: case SYS_pselect6: case SYS_epoll_pwait:
    case SYS_recvfrom: case SYS_recvmsg: case SYS_sendto: case SYS_sendmsg:
    case SYS_accept: case SYS_accept4: case SYS_connect:
    case SYS_nanosleep: case SYS_clock_nanosleep: case SYS_rt_sigsuspend:
    case SYS_wait4: case SYS_waitid: case SYS_futex:
    case SYS_openat: case SYS_flock: case SYS_fcntl:
#ifdef SYS_poll /* newer architectures lack them */
    case SYS_poll: case SYS_select: case SYS_epoll_wait: case SYS_pause:
#endif
        return true;
    default:
        return false;
    }
}

static bool callable_enters(uintptr_t at)
{
    return memcmp((const void *)at, callable_enter, sizeof callable_enter) == 0;
}

/* Return true if the interrupted code, which is readable code of the C library, is at a
 * system call that the signal interrupted: the kernel will restart it, or it has returned
 * EINTR. */
static bool callable_waits(const void *ucontext)
{
    const struct jsp_regs *regs = jsp_regs_of(ucontext);
    uintptr_t pc = jsp_regs_core(regs).pc;
    if (callable_enters(pc)) /* the call will be restarted */
        return callable_is_wait(jsp_regs_get(regs, CALLABLE_WAIT_NUMBER));
    return callable_enters(pc - CALLABLE_WAIT_BYTES) &&
           jsp_regs_get(regs, CALLABLE_WAIT_RESULT) == (uint64_t)-EINTR;
}

/* -- The test ----------------------------------------------------------------- */

static bool callable_is_in(const struct callable_code *code, uintptr_t pc)
{
    return pc >= code->start && pc < code->end;
}

/* If objects lie between, they may have called the code that waits in the C library, and
 * hold a lock. */
bool jsp_callable(const void *ucontext)
{
    const struct callable_found *found = callable_get();
    uintptr_t pc = jsp_regs_core(jsp_regs_of(ucontext)).pc;
    if (!found || !found->known || jsp_callable_inside)
        return false;
    if (callable_is_in(&found->libc, pc))
        return !found->interposed && callable_waits(ucontext);
    for (uint32_t i = 0; i < found->n_never; i++)
        if (callable_is_in(&found->never[i], pc))
            return false;
    return true;
}
