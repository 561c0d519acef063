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

#include "callable_names.h"
#include "image/needed.h"
#include "sigsafe/regs.h"
#include "waiting.h"

enum { CALLABLE_NEVER = 32 };

struct callable_code {
    uintptr_t start, end;
};

struct callable_found {
    bool known;
    bool interposed; /* there is something between the program and the C library */
    struct callable_code libc, never[CALLABLE_NEVER];
    uint32_t n_never;
};

_Thread_local volatile int jsp_callable_inside;

/* NULL until it was found out; constant afterwards. */
static const struct callable_found *_Atomic callable_found;

static const struct callable_found *callable_get(void)
{
    /* ORDER: acquire, pairs with C1: what it points to is whole. */
    return atomic_load_explicit(&callable_found, memory_order_acquire);
}

/* -- Where not -------------------------------------------------------------------- */

/* What an object is. */
enum callable_mark {
    CALLABLE_ANY, /* code that calls and is called */
    CALLABLE_OWN, /* the program, or where this library is */
    CALLABLE_C,   /* the C library in all its parts, the loader, the kernel's code */
    CALLABLE_BETWEEN,
    CALLABLE_BETWEEN_DONE, /* and what it needs was marked, too */
};

struct callable_search {
    struct jsp_needed needed;
    struct jsp_needed_object *program, *libc, *loader;
    bool unclear; /* something needs what can not be found */
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

/* In a program that is linked statically no name can be looked up. */
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

/* False: one leads into the program, whose code is then never outside of it. Or the name
 * leads there only, in one whose addresses are constants and that passes `free` on. */
static bool callable_mark_names(struct callable_search *s)
{
    for (const char *const *name = jsp_callable_names; *name; name++) {
        struct jsp_needed_object *o = jsp_needed_at(&s->needed, callable_address(*name));
        if (o == s->program)
            return false;
        callable_mark(o, CALLABLE_BETWEEN);
    }
    return true;
}

/* The loader lists what was preloaded after the program, before what the program needs. A
 * preload need not define a name to be between: it may have patched code or tables. False:
 * what the program needs can not be read. */
static bool callable_mark_preloads(struct callable_search *s)
{
    for (uint32_t i = 1; i < s->needed.n; i++) {
        struct jsp_needed_object *o = &s->needed.at[i];
        bool is_first = o == s->libc && s->libc == s->loader; /* musl lists itself first */
        if (o->is_needed && !is_first)
            break;
        callable_mark(o, CALLABLE_BETWEEN);
    }
    return s->program == s->needed.at && s->program->dynamic;
}

static void callable_meet_needed(void *search, const char *name,
                                 struct jsp_needed_object *other)
{
    static const char *const libc[] = { "libc.", "ld-", NULL }; /* musl bears another name */
    struct callable_search *s = search;
    if (!other && !callable_begins(name, libc))
        s->unclear = true;
    callable_mark(other, CALLABLE_BETWEEN);
}

/* What something between calls may be in the middle of a change on its behalf. */
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

/* NULL: not now. */
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

/* No lock: the loader's is taken within, and a constructor that holds that may come here. */
bool jsp_callable_init(void)
{
    const struct callable_found *none = NULL, *found = callable_get();
    if (found)
        return found->known;
    struct callable_found *mine = callable_find();
    if (!mine)
        return false;
    bool known = mine->known;
    /* C1. ORDER: release, pairs with callable_get; the other thread found the same. */
    if (!atomic_compare_exchange_strong_explicit(&callable_found, &none, mine,
                                                 memory_order_release,
                                                 memory_order_relaxed)) /* ORDER: relaxed */
        free(mine);
    return known;
}

/* -- The question ----------------------------------------------------------------- */

static bool callable_is_in(const struct callable_code *code, uintptr_t pc)
{
    return pc >= code->start && pc < code->end;
}

/* Where something lies between, a thread that waits in the C library may have been called by
 * that, with its lock held. */
bool jsp_callable(const void *ucontext)
{
    const struct callable_found *found = callable_get();
    uintptr_t pc = jsp_regs_core(jsp_regs_of(ucontext)).pc;
    if (!found || !found->known || jsp_callable_inside)
        return false;
    if (callable_is_in(&found->libc, pc))
        return !found->interposed && jsp_waiting(ucontext);
    for (uint32_t i = 0; i < found->n_never; i++)
        if (callable_is_in(&found->never[i], pc))
            return false;
    return true;
}
