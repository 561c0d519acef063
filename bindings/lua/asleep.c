/* asleep.c - see asleep.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "asleep.h"

#include <sys/mman.h>
#include <ucontext.h>

#include "registers.h"

void jsp_lua_walker_like(struct jsp_lua_walker *to, const struct jsp_lua_walker *from)
{
    to->loop_low = from->loop_low;
    to->loop_high = from->loop_high;
    to->resume = from->resume;
    to->pcall = from->pcall;
    to->begins = from->begins;
    to->n_collectors = from->n_collectors;
    memcpy(to->collectors, from->collectors, sizeof to->collectors);
    to->unshown = from->unshown;
    to->jit.holds = from->jit.holds;
    to->jit.current = from->jit.current;
}

/* Its memory costs what it uses. */
static struct jsp_lua_walker *asleep_walker(struct jsprof_lua *lua)
{
    if (!lua->asleep) {
        void *at = mmap(NULL, sizeof *lua->asleep, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        lua->asleep = at == MAP_FAILED ? NULL : at;
        lua->n_followed = 0;
    }
    return lua->asleep;
}

static uintptr_t asleep_root(const struct jsp_lua_walker *w)
{
    /* ORDER: relaxed. Another thread that enters the state changes it, and only it is compared. */
    return __atomic_load_n(&w->root, __ATOMIC_RELAXED);
}

static uint32_t asleep_walk(void *host, const jsprof_asleep *at, jsprof_frame *out, uint32_t max)
{
    struct jsprof_lua *lua = host;
    const struct jsp_lua_walker *own = lua->walker;
    struct jsp_lua_walker *w = asleep_walker(lua);
    ucontext_t here;
    if (!w)
        return JSPROF_DECLINED;
    jsp_lua_walker_like(w, own);
    w->stack_low = own->stack_low;
    w->stack_high = own->stack_high;
    w->root = asleep_root(own);
    jsp_lua_labels_follow(&w->labels, &own->labels, &lua->n_followed);
    memset(&here, 0, sizeof here);
    jsp_lua_registers_asleep(&here, at->pc, at->sp);
    uint32_t n = jsp_lua_walk_sigsafe(w, &here, out, max);
    return asleep_root(own) == w->root ? n : JSPROF_DECLINED; /* another thread has entered it */
}

int jsp_lua_walkers_set(struct jsprof_lua *lua)
{
    int err = jsprof_thread_set_walker(lua->thread, jsp_lua_walk_sigsafe, lua->walker);
    return err ? err : jsprof_thread_set_asleep_walker(lua->thread, asleep_walk, lua);
}

int jsp_lua_walkers_end(struct jsprof_lua *lua)
{
    jsprof_thread_set_asleep_walker(lua->thread, NULL, NULL); /* fails as the next one */
    return jsprof_thread_set_walker(lua->thread, NULL, NULL);
}

void jsp_lua_walkers_free(struct jsprof_lua *lua)
{
    if (lua->walker)
        munmap(lua->walker, sizeof *lua->walker);
    if (lua->asleep)
        munmap(lua->asleep, sizeof *lua->asleep);
}
