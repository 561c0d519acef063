/* preload.c - the module as a preloaded library: LD_PRELOAD=.../lua/5.4/jsprof.so with
 * JSPROF=FILE records a program that embeds a shared liblua, without a line of code in it.
 *
 * Nearly every host opens the standard libraries in a state that it makes, and calls this
 * library's function for it first. Some (texlua) open them one by one: such a state is
 * noticed when it loads its first chunk after it got `require`. Then the state requires the
 * module, which follows JSPROF. Other processes that inherit the variable have no Lua, so all
 * references to its functions are weak (build.mk).
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "environment.h"
#include "module.h"
#include "probe.h"
#include "threads.h"

/* Runs protected, as if the program had required it. */
static int preload_require(lua_State *L)
{
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    lua_pushcfunction(L, luaopen_jsprof);
    lua_setfield(L, -2, "jsprof");
    lua_getglobal(L, "require");
    lua_pushstring(L, "jsprof");
    lua_call(L, 1, 0);
    return 0;
}

/* The registry keeps true at this address once the state was asked to require the module. */
static const char preload_key = 0;

/* Runs protected. Set the flag at the argument if the state has `require` and was not asked
 * before. Run no code of the program, such as a metamethod of its global table. */
static int preload_mark(lua_State *L)
{
    bool *is_due = lua_touserdata(L, 1);
    lua_pushlightuserdata(L, (void *)(uintptr_t)&preload_key);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (!lua_isnil(L, -1))
        return 0;
    compat_pushglobals(L);
    lua_pushstring(L, "require");
    lua_rawget(L, -2);
    if (!lua_isfunction(L, -1))
        return 0;
    lua_pushlightuserdata(L, (void *)(uintptr_t)&preload_key);
    lua_pushboolean(L, 1);
    lua_rawset(L, LUA_REGISTRYINDEX);
    *is_due = true;
    return 0;
}

/* Print the reason once if this is another Lua. Only standard error can receive it. */
static bool preload_is_ours(void)
{
    static _Atomic bool has_refused;
    struct jsp_lua_found found = { "", -1 };
    if (jsp_lua_probe_version(&found) == JSP_LUA_OURS)
        return true;
    /* ORDER: relaxed. Nothing else depends on it. */
    if (!atomic_exchange_explicit(&has_refused, true, memory_order_relaxed))
        fprintf(stderr, "jsprof: nothing is recorded: the preloaded module is one of Lua %s, and "
                        "the program has Lua %s\n", jsp_lua_walk_version(), found.name);
    return false;
}

static void preload_state(lua_State *L)
{
    bool is_due = false;
    if (!jsp_lua_environment_asks() || !preload_is_ours() ||
        jsp_lua_protected(L, preload_mark, &is_due) != 0 || !is_due)
        return;
    lua_pushcfunction(L, preload_require);
    if (lua_pcall(L, 0, 0, 0) == LUA_OK)
        return;
    const char *message = lua_tostring(L, -1);
    fprintf(stderr, "jsprof: nothing is recorded: %s\n", message ? message : "an error");
    lua_pop(L, 1);
}

/* -- A Lua that no preloaded library reaches ------------------------------------------ */

/* The texts by which each Lua names itself, and the number of characters before the
 * version. */
static const struct {
    const char *text;
    size_t before;
} preload_marks[] = {
    { "$LuaVersion: Lua 5.", 17 }, { "$Lua: Lua 5.1", 10 }, { "LuaJIT 2.", 7 },
};

/* Search the program's own read-only segments. The first object is the program. */
static int preload_search(struct dl_phdr_info *info, size_t size, void *data)
{
    const char **found = data;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum && !*found; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const char *at = (const char *)info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_R) || p->p_flags & PF_W)
            continue;
        for (size_t m = 0; m < sizeof preload_marks / sizeof *preload_marks && !*found; m++) {
            const char *mark = preload_marks[m].text;
            const char *text = memmem(at, p->p_filesz, mark, strlen(mark));
            *found = text ? text + preload_marks[m].before : NULL;
        }
    }
    return 1;
}

static bool preload_is_preloaded(void)
{
    Dl_info us;
    const char *list = secure_getenv("LD_PRELOAD");
    return list && dladdr(preload_marks, &us) && us.dli_fname && strstr(list, us.dli_fname);
}

/* A program that contains its Lua calls luaL_openlibs without the loader. Then nothing is
 * recorded, and without this line the user would not learn why. A shell that inherits the
 * variables is not such a program. */
__attribute__((constructor)) static void preload_refuse_static(void)
{
    const char *found = NULL, *init = secure_getenv("LUA_INIT");
    int saved_errno = errno;
    if (jsp_lua_environment_asks() && preload_is_preloaded() &&
        !dlsym(RTLD_NEXT, "luaL_openlibs") && !(init && strstr(init, "jsprof")))
        dl_iterate_phdr(preload_search, &found);
    if (found) {
        bool is_jit = found[-2] == 'T'; /* "LuaJIT 2.1" or "Lua 5.4.6" */
        size_t n = strspn(found, "0123456789.");
        bool has_api = dlsym(RTLD_DEFAULT, "lua_newuserdata") || dlsym(RTLD_DEFAULT, "lua_rawlen");
        fprintf(stderr, "jsprof: nothing is recorded: Lua%s %.*s is linked into %s itself, where a "
                        "preloaded module does not reach it%s\n", is_jit ? "JIT" : "", (int)n,
                found, program_invocation_short_name,
                has_api ? "; an interpreter loads it with LUA_INIT='require \"jsprof\"'" : "");
    }
    errno = saved_errno;
}

/* Up to 5.4 and since 5.5, so that a Lua of another version is noticed as well. */
#undef luaL_openlibs
JSPROF_API void luaL_openlibs(lua_State *L);
JSPROF_API void luaL_openselectedlibs(lua_State *L, int load, int preload);

void luaL_openlibs(lua_State *L)
{
    void (*open)(lua_State *);
    void *next = dlsym(RTLD_NEXT, "luaL_openlibs");
    memcpy(&open, &next, sizeof open);
    if (!open)
        return;
    open(L);
    preload_state(L);
}

void luaL_openselectedlibs(lua_State *L, int load, int preload)
{
    void (*open)(lua_State *, int, int);
    void *next = dlsym(RTLD_NEXT, "luaL_openselectedlibs");
    memcpy(&open, &next, sizeof open);
    if (!open)
        return;
    open(L, load, preload);
    preload_state(L);
}

/* -- Calls into Lua -------------------------------------------------------------------- */

/* Define a function of the API that runs a state, under its own name for the linker: in
 * every Lua version, six words hold its arguments. */
typedef uintptr_t preload_fn(lua_State *L, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                             uintptr_t e);

static preload_fn *preload_next(_Atomic(preload_fn *) *kept, const char *name)
{
    preload_fn *next;
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(&next, &found, sizeof next);
    /* ORDER: relaxed. All threads find the same function. */
    atomic_store_explicit(kept, next, memory_order_relaxed);
    return next;
}

/* C functions such as table.sort call Lua by these without end, so the usual call passes at
 * once: it saves no register. */
#define PRELOAD_ENTRY(ours, name)                                                        \
    JSPROF_API preload_fn ours __asm__(name);                                            \
    static _Atomic(preload_fn *) ours##_next;                                            \
    static __attribute__((noinline)) uintptr_t ours##_enters(                            \
        lua_State *L, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e)   \
    {                                                                                    \
        preload_fn *next = preload_next(&ours##_next, name);                             \
        jsp_lua_threads_enter(L);                                                        \
        return next(L, a, b, c, d, e);                                                   \
    }                                                                                    \
    uintptr_t ours(lua_State *L, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,     \
                   uintptr_t e)                                                          \
    {                                                                                    \
        /* ORDER: relaxed, as above. */                                                  \
        preload_fn *next = atomic_load_explicit(&ours##_next, memory_order_relaxed);     \
        /* ORDER: acquire, for the reason that jsp_lua_threads_enter gives. */           \
        uint64_t n = atomic_load_explicit(&jsp_lua_changes, memory_order_acquire);       \
        return next && jsp_lua_threads_is_entered(L, n) ? next(L, a, b, c, d, e)         \
                                                        : ours##_enters(L, a, b, c, d, e); \
    }

PRELOAD_ENTRY(preload_resume, "lua_resume")
#if LUA_VERSION_NUM == 501
PRELOAD_ENTRY(preload_call, "lua_call")
PRELOAD_ENTRY(preload_pcall, "lua_pcall")
PRELOAD_ENTRY(preload_cpcall, "lua_cpcall")
#else
PRELOAD_ENTRY(preload_call, "lua_callk")
PRELOAD_ENTRY(preload_pcall, "lua_pcallk")
#endif

/* -- Chunks ---------------------------------------------------------------------------- */

/* All functions that load a chunk pass through this one, under its name for the linker. */
#ifdef LUA_JITLIBNAME
#define PRELOAD_LOAD "lua_loadx"
#else
#define PRELOAD_LOAD "lua_load"
#endif

JSPROF_API preload_fn preload_load __asm__(PRELOAD_LOAD);
static _Atomic(preload_fn *) preload_load_next;

uintptr_t preload_load(lua_State *L, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                       uintptr_t e)
{
    /* ORDER: relaxed, as in the calls into Lua. */
    preload_fn *next = atomic_load_explicit(&preload_load_next, memory_order_relaxed);
    preload_state(L);
    return (next ? next : preload_next(&preload_load_next, PRELOAD_LOAD))(L, a, b, c, d, e);
}
