/* probe.c - see probe.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "probe.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "bounds.h"
#include "module_names.h"

enum { PROBE_FRAMES = 64, PROBE_NATIVES = 32 };

/* A probe that is running; its C functions get its address. */
struct probe {
    struct jsprof_lua *lua;
    uint32_t n_checked;           /* frames that agreed */
    bool failed;
    uint32_t n_direct;            /* native frames out to a C function that C called */
    uintptr_t direct[PROBE_NATIVES];
    uintptr_t loop;               /* an address in the interpreter's loop; 0: not found */
};

static const char probe_chunk[] = "local probe = ...\n"
                                  "local function inner()\n"
                                  "  local result = probe()\n"
                                  "  return result\n"
                                  "end\n"
                                  "local result = inner()\n"
                                  "return result\n";

/* -- Which Lua is it? -------------------------------------------------------- */

/* The version and release in a text such as "$LuaVersion: Lua 5.4.6  Copyright". */
static bool probe_parse(const char *text, struct jsp_lua_found *out)
{
    const char *at = text ? strstr(text, "Lua 5.") : NULL;
    size_t n = at ? strspn(at + 4, "0123456789.") : 0;
    if (n < 3 || n >= sizeof out->name)
        return false;
    memcpy(out->name, at + 4, n);
    out->name[n] = 0;
    out->release = n > 4 && out->name[3] == '.' ? atoi(out->name + 4) : -1;
    return true;
}

/* PUC Lua contains a text with its release. If a Lua hides it, the newest function that
 * it has shows its version. */
static bool probe_find(struct jsp_lua_found *out)
{
    static const char *const known[][2] = {
        { "lua_numbertocstring", "5.5" }, { "lua_closeslot", "5.4" },
        { "lua_isyieldable", "5.3" },     { "lua_callk", "5.2" },
        { "lua_cpcall", "5.1" },
    };
    *out = (struct jsp_lua_found){ "jit", -1 };
    if (dlsym(RTLD_DEFAULT, "luaJIT_setmode") || probe_parse(dlsym(RTLD_DEFAULT, "lua_ident"), out))
        return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!dlsym(RTLD_DEFAULT, known[i][0]))
            continue;
        strcpy(out->name, known[i][1]);
        return true;
    }
    return false;
}

enum jsp_lua_probe_answer jsp_lua_probe_version(struct jsp_lua_found *found)
{
    const char *ours = jsp_lua_walk_version();
    if (!probe_find(found))
        return JSP_LUA_OURS;
    if (strncmp(found->name, ours, strlen(ours)) != 0)
        return JSP_LUA_OTHER_VERSION;
    return found->release >= 0 && found->release < jsp_lua_walk_first_release()
               ? JSP_LUA_OLD_RELEASE : JSP_LUA_OURS;
}

/* -- Frames -------------------------------------------------------------------- */

/* Lua functions call the probe's function; C calls its chunk, in a new activation of the
 * loop. */
static bool probe_is_entry(const jsprof_frame *frame)
{
    return frame->kind & JSPROF_FRAME_ENTRY;
}

/* Return whether the walked frame agrees with what Lua reports for this level. */
static bool probe_same(lua_State *L, lua_Debug *ar, const jsprof_frame *frame)
{
    char where[LUA_IDSIZE + 32];
    bool is_c = (frame->kind & 0xFF) == JSPROF_KIND_LABEL;

    lua_getinfo(L, "Sl", ar);
    if (is_c || strcmp(ar->what, "C") == 0)
        return is_c && strcmp(ar->what, "C") == 0;
    if (strncmp(ar->source, "=jsprof ", 8) == 0) {
        snprintf(where, sizeof where, ar->linedefined > 0 ? "%s:%d" : "%s", ar->source + 1,
                 ar->linedefined);
        return frame->detail && strcmp(frame->detail, where) == 0 &&
               (int)frame->line == ar->currentline &&
               (jsp_lua_walk_has_addresses() || probe_is_entry(frame) == !ar->linedefined);
    }
    return (frame->kind & 0xFF) == JSPROF_KIND_VM;
}

static uint32_t probe_walk(struct probe *p, jsprof_frame *frames)
{
    jsprof_thread_pause(p->lua->thread);
    uint32_t n = jsp_lua_walk_sigsafe(p->lua->walker, NULL, frames, PROBE_FRAMES);
    jsprof_thread_resume(p->lua->thread);
    return n < PROBE_FRAMES ? n : PROBE_FRAMES;
}

static void probe_compare(struct probe *p, lua_State *L)
{
    jsprof_frame frames[PROBE_FRAMES];
    uint32_t n = probe_walk(p, frames), at = 0;
    lua_Debug ar;

    for (int level = 0; at < n && lua_getstack(L, level, &ar); level++) {
        if ((frames[at].kind & 0xFF) == JSPROF_KIND_SYNTH)
            at++;
        else if (!probe_same(L, &ar, &frames[at++]))
            p->failed = true;
        p->n_checked++;
    }
    p->failed = p->failed || n < 3 || !jsp_lua_walk_ends(p->lua->walker, (uintptr_t)L);
}

/* -- The loop ------------------------------------------------------------------ */

static int probe_all_code(lua_State *L);

/* Find the starts of the C functions between here and the one that began. */
static uint32_t probe_natives(struct probe *p, uintptr_t *starts)
{
    jsprof_backtrace_frame frames[2 * PROBE_NATIVES];
    struct jsp_lua_bounds b, all = { 0 };
    int n = jsprof_backtrace(p->lua->thread, NULL, frames, 2 * PROBE_NATIVES);
    uint32_t kept = 0;

    jsp_lua_bounds_function((uintptr_t)probe_all_code, &all);
    for (int i = 0; i < n && kept < PROBE_NATIVES; i++) {
        if (frames[i].kind != JSPROF_KIND_NATIVE || !frames[i].pc ||
            !jsp_lua_bounds_function(frames[i].pc, &b))
            continue;
        if (b.start == all.start)
            return kept;
        starts[kept++] = b.start;
    }
    return 0;
}

static bool probe_is_direct(const struct probe *p, uintptr_t start)
{
    for (uint32_t i = 0; i < p->n_direct; i++)
        if (p->direct[i] == start)
            return true;
    return false;
}

/* Find the C function that is on the stack only if a Lua function was called in between.
 * (LuaJIT's machine code is also there when C functions are called.) If the compiler
 * split it, take the largest part. */
static void probe_find_loop(struct probe *p)
{
    uintptr_t starts[PROBE_NATIVES];
    uint32_t n = probe_natives(p, starts);
    size_t largest = 0;
    for (uint32_t i = 0; p->n_direct && i < n; i++) {
        struct jsp_lua_bounds b;
        bool is_other = jsp_lua_walk_has_addresses() || !probe_is_direct(p, starts[i]);
        if (is_other && jsp_lua_bounds_function(starts[i], &b) &&
            b.end - b.start > largest) {
            largest = b.end - b.start;
            p->loop = b.start;
        }
    }
}

static int probe_register_loop(struct probe *p)
{
    struct jsp_lua_bounds b;
    int err = 0;
    if (p->loop && jsp_lua_bounds_function(p->loop, &b)) {
        p->lua->walker->loop_low = b.start;
        p->lua->walker->loop_high = b.end;
    }
    if (p->lua->walker->loop_low && !jsp_lua_walk_has_addresses())
        err = jsprof_interpreter_add(p->lua->session, (const void *)b.start, b.end - b.start);
    if (!err && jsp_lua_bounds_object(jsp_lua_api(JSP_LUA_API_GETTOP), &b))
        err = jsprof_interpreter_hide(p->lua->session, (const void *)b.start, b.end - b.start);
    return err;
}

/* -- Which coroutine runs ------------------------------------------------------- */

static int probe_learn_here(lua_State *L)
{
    jsp_lua_walk_learn(lua_touserdata(L, 1), (uintptr_t)L);
    return 0;
}

/* Runs protected: learn here, and in a coroutine of its own. */
static int probe_learn(lua_State *L)
{
    void *walker = lua_touserdata(L, 1);
    lua_State *co = lua_newthread(L);
    jsp_lua_walk_learn(walker, (uintptr_t)L);
    lua_pushcfunction(L, probe_learn_here); /* an error in a coroutine that does not run is fatal */
    lua_pushlightuserdata(L, walker);
    lua_xmove(L, co, 2);
    return compat_resume(co, L, 1) == LUA_OK ? 0 : luaL_error(L, "probe");
}

/* -- Called by Lua ------------------------------------------------------------- */

static struct probe *probe_upvalue(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

/* Called from C. */
static int probe_direct(lua_State *L)
{
    struct probe *p = probe_upvalue(L);
    p->n_direct = probe_natives(p, p->direct);
    return 0;
}

/* Called from a Lua function. */
static int probe_here(lua_State *L)
{
    struct probe *p = probe_upvalue(L);
    if (p->lua->thread)
        probe_find_loop(p);
    else
        probe_compare(p, L);
    return 0;
}

static void probe_push(lua_State *L, struct probe *p, lua_CFunction f)
{
    lua_pushlightuserdata(L, p);
    lua_pushcclosure(L, f, 1);
}

/* Run the chunk in a coroutine of its own. */
static int probe_resume(lua_State *L)
{
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, lua_upvalueindex(2));
    probe_push(L, probe_upvalue(L), probe_here);
    lua_xmove(L, co, 2);
    return compat_resume(co, L, 1) == LUA_OK ? 0 : luaL_error(L, "probe");
}

static void probe_load(lua_State *L, const char *name)
{
    if (luaL_loadbuffer(L, probe_chunk, sizeof probe_chunk - 1, name) != 0)
        lua_error(L);
}

static void probe_call_chunk(lua_State *L, struct probe *p)
{
    probe_load(L, "=jsprof probe");
    probe_push(L, p, probe_here);
    lua_call(L, 1, 0);
}

/* Runs protected: compare the frames of a function that C calls, and of a coroutine. */
static int probe_all(lua_State *L)
{
    struct probe *p = lua_touserdata(L, 1);
    luaL_checkstack(L, 16, "jsprof");
    probe_call_chunk(L, p);
    lua_pushlightuserdata(L, p);
    probe_load(L, "=jsprof probe, by the name of a chunk that is a long string");
    lua_pushcclosure(L, probe_resume, 2);
    lua_call(L, 0, 0);
    return 0;
}

/* Runs protected: find the interpreter's loop. */
static int probe_all_code(lua_State *L)
{
    struct probe *p = lua_touserdata(L, 1);
    luaL_checkstack(L, 16, "jsprof");
    /* The code that calls this function also begins the calls of Lua functions, up to 5.3. */
    jsp_lua_bounds_function((uintptr_t)__builtin_return_address(0) - 1,
                            &p->lua->walker->begins);
    probe_push(L, p, probe_direct);
    lua_call(L, 0, 0);
    probe_call_chunk(L, p);
    return 0;
}

/* A host may run coroutines from C: then ours is not above the main coroutine. */
static void probe_root(struct jsprof_lua *lua, lua_State *L)
{
    jsprof_frame frames[2];
    lua_Debug ar;
    uint32_t n = jsp_lua_walk_sigsafe(lua->walker, NULL, frames, 2);
    if (!n && lua_getstack(L, 0, &ar))
        lua->walker->root = (uintptr_t)L;
}

int jsp_lua_probe(struct jsprof_lua *lua, lua_State *L)
{
    struct probe p = { .lua = lua };
    int err = jsp_lua_protected(L, probe_learn, lua->walker);
    if (err)
        return err;
    probe_root(lua, L);
    err = jsp_lua_protected(L, jsp_lua_name_modules, lua); /* before a walk meets one */
    if (!err)
        err = jsp_lua_protected(L, probe_all, &p);
    if (!err && (p.failed || p.n_checked < 7))
        err = -ENOTSUP;
    if (!err)
        jsp_lua_labels_fix(&lua->walker->labels);
    return err;
}

int jsp_lua_probe_code(struct jsprof_lua *lua, lua_State *L)
{
    struct probe p = { .lua = lua };
    int err = jsp_lua_protected(L, probe_all_code, &p);
    return err ? err : probe_register_loop(&p);
}
