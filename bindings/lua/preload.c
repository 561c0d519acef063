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

#include "bounds.h"
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

/* Return whether a function of the API belongs to the Lua that the module uses. */
static bool preload_is_shown(const void *function)
{
    Dl_info its, shown;
    const void *used = dlsym(RTLD_NEXT, "lua_gettop");
    return used && dladdr(used, &shown) && dladdr(function, &its) &&
           its.dli_fbase == shown.dli_fbase;
}

/* Print the reason once if this is another Lua. Only standard error can receive it. */
static bool preload_is_ours(const void *function)
{
    static _Atomic bool has_refused;
    struct jsp_lua_found found = { "", -1 };
    bool is_shown = preload_is_shown(function);
    if (is_shown && jsp_lua_probe_version(&found) == JSP_LUA_OURS)
        return true;
    /* ORDER: relaxed. Nothing else depends on it. */
    if (!atomic_exchange_explicit(&has_refused, true, memory_order_relaxed))
        fprintf(stderr, "jsprof: nothing is recorded: the preloaded module is one of Lua %s, and "
                        "the program has %sLua%s%s\n", jsp_lua_walk_version(),
                is_shown ? "" : "another ", is_shown ? " " : "", found.name);
    return false;
}

/* A function of its Lua's API shows which one that is. A process may make a hundred thousand
 * states, which all fail for the same reason. */
static void preload_state(lua_State *L, const void *function)
{
    static atomic_flag has_failed = ATOMIC_FLAG_INIT;
    bool is_due = false;
    if (!jsp_lua_environment_asks() || !preload_is_ours(function) ||
        jsp_lua_protected(L, preload_mark, &is_due) != 0 || !is_due)
        return;
    lua_pushcfunction(L, preload_require);
    if (lua_pcall(L, 0, 0, 0) == LUA_OK)
        return;
    const char *message = lua_tostring(L, -1);
    /* ORDER: relaxed. Nothing else depends on it. */
    if (!atomic_flag_test_and_set_explicit(&has_failed, memory_order_relaxed))
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

/* Return whether a Lua that the loader does not show to the module is one of its version. */
static bool preload_has_version(void *object)
{
    const char *ident = dlsym(object, "lua_ident"), *ours = jsp_lua_walk_version();
    if (strcmp(ours, "jit") == 0)
        return dlsym(object, "luaJIT_setmode") != NULL;
    const char *text = ident ? strstr(ident, "Lua 5.") : NULL;
    return text && strncmp(text + 4, ours, strlen(ours)) == 0;
}

/* Return whether the caller is another copy of this module, which a program required, and the
 * function is its own: that copy would only pass the call on to this one again. */
static bool preload_is_copy(void *object, const Dl_info *caller, const Dl_info *its)
{
    return its->dli_fbase == caller->dli_fbase && dlsym(object, "luaopen_jsprof");
}

/* Find the function that a caller at this address means. A plugin that is loaded with RTLD_LOCAL
 * has its Lua in a scope of its own. If a recording is asked for, show that Lua to the module,
 * which finds it in the global scope. */
static void *preload_find(const char *name, const void *from)
{
    Dl_info caller, its, us;
    void *object = dladdr(from, &caller) ? dlopen(caller.dli_fname, RTLD_NOLOAD | RTLD_LAZY) : NULL;
    void *found = object ? dlsym(object, name) : NULL;
    if (!found || !dladdr(found, &its) || !dladdr(preload_marks, &us) ||
        its.dli_fbase == us.dli_fbase || preload_is_copy(object, &caller, &its))
        found = dlsym(RTLD_NEXT, name); /* the program's own scope is the global one */
    else if (!dlsym(RTLD_NEXT, "lua_gettop") && jsp_lua_environment_asks() &&
             preload_has_version(object))
        dlopen(its.dli_fname, RTLD_NOLOAD | RTLD_LAZY | RTLD_GLOBAL);
    if (object)
        dlclose(object);
    return found;
}

/* -- States ------------------------------------------------------------------------------ */

/* A process may have several Luas. The first one makes most states; once another one makes
 * a state, each call into Lua asks whose it is. */
static _Atomic uintptr_t preload_first; /* where the first one is loaded */
static _Atomic bool preload_has_two;

static void preload_makes(const void *function)
{
    Dl_info its;
    uintptr_t none = 0, base = dladdr(function, &its) ? (uintptr_t)its.dli_fbase : 0;
    /* ORDER: relaxed. The thread that makes a state is the first that calls into it. */
    if (!atomic_compare_exchange_strong_explicit(&preload_first, &none, base,
                                                 memory_order_relaxed, memory_order_relaxed) &&
        none != base)
        atomic_store_explicit(&preload_has_two, true, memory_order_relaxed);
}

#define PRELOAD_NEWSTATE(ours, name)                                                     \
    JSPROF_API uintptr_t ours(uintptr_t a, uintptr_t b, uintptr_t c) __asm__(name);      \
    uintptr_t ours(uintptr_t a, uintptr_t b, uintptr_t c)                                \
    {                                                                                    \
        uintptr_t (*next)(uintptr_t, uintptr_t, uintptr_t);                              \
        void *found = preload_find(name, __builtin_return_address(0));                   \
        memcpy(&next, &found, sizeof next);                                              \
        preload_makes(found);                                                            \
        return next(a, b, c);                                                            \
    }

PRELOAD_NEWSTATE(preload_newstate, "lua_newstate")
PRELOAD_NEWSTATE(preload_aux_newstate, "luaL_newstate")

/* Up to 5.4 and since 5.5, so that a Lua of another version is noticed as well. */
#undef luaL_openlibs
JSPROF_API void luaL_openlibs(lua_State *L);
JSPROF_API void luaL_openselectedlibs(lua_State *L, int load, int preload);

void luaL_openlibs(lua_State *L)
{
    void (*open)(lua_State *);
    void *next = preload_find("luaL_openlibs", __builtin_return_address(0));
    memcpy(&open, &next, sizeof open);
    if (!open)
        return;
    open(L);
    preload_state(L, next);
}

void luaL_openselectedlibs(lua_State *L, int load, int preload)
{
    void (*open)(lua_State *, int, int);
    void *next = preload_find("luaL_openselectedlibs", __builtin_return_address(0));
    memcpy(&open, &next, sizeof open);
    if (!open)
        return;
    open(L, load, preload);
    preload_state(L, next);
}

/* -- Calls into Lua -------------------------------------------------------------------- */

/* Define a function of the API that runs a state, under its own name for the linker: in
 * every Lua version, six words hold its arguments. */
typedef uintptr_t preload_fn(lua_State *L, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                             uintptr_t e);

static preload_fn *preload_next(_Atomic(preload_fn *) *kept, const char *name, const void *from)
{
    preload_fn *next;
    void *found = preload_find(name, from);
    memcpy(&next, &found, sizeof next);
    /* ORDER: relaxed. All threads find the same function while there is one Lua. */
    atomic_store_explicit(kept, next, memory_order_relaxed);
    return next;
}

/* The last object that called a function, in a process with several Luas. */
struct preload_caller {
    struct jsp_lua_bounds code;
    preload_fn *next;
    bool is_shown;
};

static preload_fn *preload_of(struct preload_caller *last, const char *name, const void *from)
{
    uintptr_t at = (uintptr_t)from;
    if (at < last->code.start || at >= last->code.end) {
        void *found = preload_find(name, from);
        last->code = (struct jsp_lua_bounds){ 0, 0 };
        jsp_lua_bounds_object(at, &last->code);
        memcpy(&last->next, &found, sizeof found);
        last->is_shown = preload_is_shown(found);
    }
    return last->next;
}

static bool preload_is_one(void)
{
    /* ORDER: relaxed, for the reason that its writer gives. */
    return !atomic_load_explicit(&preload_has_two, memory_order_relaxed);
}

/* C functions such as table.sort call Lua by these without end, so the usual call passes at
 * once: it saves no register. */
#define PRELOAD_ENTRY(ours, name)                                                        \
    JSPROF_API preload_fn ours __asm__(name);                                            \
    static _Atomic(preload_fn *) ours##_next;                                            \
    static __attribute__((noinline)) uintptr_t ours##_enters(                            \
        lua_State *L, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,   \
        const void *from)                                                                \
    {                                                                                    \
        static __thread struct preload_caller last;                                      \
        preload_fn *next = preload_is_one() ? preload_next(&ours##_next, name, from)     \
                                            : preload_of(&last, name, from);             \
        if (preload_is_one() || last.is_shown)                                           \
            jsp_lua_threads_enter(L);                                                    \
        return next(L, a, b, c, d, e);                                                   \
    }                                                                                    \
    uintptr_t ours(lua_State *L, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,     \
                   uintptr_t e)                                                          \
    {                                                                                    \
        /* ORDER: relaxed, as above. */                                                  \
        preload_fn *next = atomic_load_explicit(&ours##_next, memory_order_relaxed);     \
        /* ORDER: acquire, for the reason that jsp_lua_threads_enter gives. */           \
        uint64_t n = atomic_load_explicit(&jsp_lua_changes, memory_order_acquire);       \
        return next && preload_is_one() && jsp_lua_threads_is_entered(L, n)              \
                   ? next(L, a, b, c, d, e)                                              \
                   : ours##_enters(L, a, b, c, d, e, __builtin_return_address(0));       \
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

uintptr_t preload_load(lua_State *L, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                       uintptr_t e)
{
    static __thread struct preload_caller last;
    preload_fn *next = preload_of(&last, PRELOAD_LOAD, __builtin_return_address(0));
    void *function;
    memcpy(&function, &next, sizeof function);
    preload_state(L, function);
    return next(L, a, b, c, d, e);
}
