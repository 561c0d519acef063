/* session/callable.c - see callable.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "callable.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "image/loaded.h"
#include "sigsafe/regs.h"
#include "waiting.h"

enum { CALLABLE_NEVER = 6, CALLABLE_NAMES = 4 /* of those that may be the program's */ };

struct callable_code {
    uintptr_t start, end;
};

_Thread_local volatile int jsp_callable_inside;

static pthread_once_t callable_once = PTHREAD_ONCE_INIT;
/* Constant afterwards. */
static bool callable_known, callable_in_program;
static struct callable_code callable_libc, callable_never[CALLABLE_NEVER];
static uint32_t callable_n_never;

/* -- Where not -------------------------------------------------------------------- */

/* One address in each: the C library's own, of the three that may be somebody else's (an
 * allocator, libpthread, libdl), of the loader and of the kernel's code. */
struct callable_search {
    uintptr_t program, libc, others[CALLABLE_NEVER];
};

static bool callable_holds(const struct jsp_loaded *l, uintptr_t address)
{
    return address >= l->start && address < l->end;
}

/* Where the allocator is linked into the program, that is never outside of it. Or the name
 * leads there only, in one whose addresses are constants and that passes `free` to somebody. */
static void callable_meet_program(const struct callable_search *search,
                                  const struct jsp_loaded *l)
{
    callable_in_program = callable_holds(l, search->libc);
    for (int i = 0; i < CALLABLE_NAMES; i++)
        callable_in_program = callable_in_program || callable_holds(l, search->others[i]);
}

static int callable_meet(void *arg, const struct jsp_loaded *l)
{
    const struct callable_search *search = arg;
    bool is_one = false;
    for (int i = 0; i < CALLABLE_NEVER; i++)
        is_one = is_one || callable_holds(l, search->others[i]);
    if (callable_holds(l, search->program))
        callable_meet_program(search, l);
    if (callable_holds(l, search->libc))
        callable_libc = (struct callable_code){ l->start, l->end };
    else if (is_one && callable_n_never < CALLABLE_NEVER)
        callable_never[callable_n_never++] = (struct callable_code){ l->start, l->end };
    return 0;
}

static uintptr_t callable_address(const char *name)
{
    return (uintptr_t)dlsym(RTLD_DEFAULT, name);
}

/* In a program that is linked statically no name can be looked up. */
static void callable_find(void)
{
    struct jsp_loaded_seen seen = { UINT64_MAX, UINT64_MAX };
    struct callable_search search = {
        getauxval(AT_ENTRY),
        callable_address("__libc_start_main"), /* which nobody stands in front of */
        { callable_address("malloc"), callable_address("free"),
          callable_address("pthread_mutex_lock"), callable_address("dlsym"),
          callable_address("__tls_get_addr"), getauxval(AT_SYSINFO_EHDR) },
    };
    jsp_loaded_each(&seen, getpid(), callable_meet, &search);
    callable_known = callable_libc.end && search.others[0] && search.others[4] &&
                     !callable_in_program;
}

bool jsp_callable_init(void)
{
    pthread_once(&callable_once, callable_find);
    return callable_known;
}

/* -- The question ----------------------------------------------------------------- */

static bool callable_is_in(const struct callable_code *code, uintptr_t pc)
{
    return pc >= code->start && pc < code->end;
}

bool jsp_callable(const void *ucontext)
{
    uintptr_t pc = jsp_regs_core(jsp_regs_of(ucontext)).pc;
    if (!callable_known || jsp_callable_inside)
        return false;
    if (callable_is_in(&callable_libc, pc))
        return jsp_waiting(ucontext);
    for (uint32_t i = 0; i < callable_n_never; i++)
        if (callable_is_in(&callable_never[i], pc))
            return false;
    return true;
}
