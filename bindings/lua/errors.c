/* errors.c - jsprof.traceback: a message handler for xpcall whose text has C frames, too; see
 * module_functions.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "module_functions.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "run.h"

enum {
    ERRORS_FRAMES = 200,
    ERRORS_STACKS = 64, /* different ones that a thread remembers, power of two */
};

/* The stacks that this thread has written: their hashes and how often each came. */
static _Thread_local struct {
    uint64_t hash;
    uint32_t number, times;
} errors_seen[ERRORS_STACKS];
static _Thread_local uint32_t errors_number;

/* Take the stack at the caller. A walker needs registers, which only glibc can give. */
static int errors_take(jsprof_thread *t, jsprof_backtrace_frame *frames)
{
#ifdef __GLIBC__
    ucontext_t here;
    memset(&here, 0, sizeof here);
    if (getcontext(&here) == 0) {
        memset(&here.uc_stack, 0, sizeof here.uc_stack);
        return jsprof_backtrace(t, &here, frames, ERRORS_FRAMES);
    }
#endif
    return jsprof_backtrace(t, NULL, frames, ERRORS_FRAMES);
}

static uint64_t errors_hash(const jsprof_backtrace_frame *frames, int n)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (int i = 0; i < n; i++) {
        hash = (hash ^ (uintptr_t)frames[i].name) * 0x100000001B3u;
        hash = (hash ^ frames[i].pc) * 0x100000001B3u;
        hash = (hash ^ frames[i].line) * 0x100000001B3u;
    }
    return hash ? hash : 1;
}

static void errors_put_native(luaL_Buffer *to, uint64_t pc)
{
    Dl_info info = { 0 };
    char text[512];
    const char *object = dladdr((void *)(uintptr_t)(pc - 1), &info) && info.dli_fname
                             ? info.dli_fname : "";
    const char *slash = strrchr(object, '/');
    snprintf(text, sizeof text, "\n\t%s (%s %#llx)", info.dli_sname ? info.dli_sname : "C code",
             slash ? slash + 1 : object, (unsigned long long)pc);
    luaL_addstring(to, text);
}

static void errors_put(luaL_Buffer *to, const jsprof_backtrace_frame *frame)
{
    char line[24];
    if (!frame->name) {
        errors_put_native(to, frame->pc);
        return;
    }
    luaL_addstring(to, "\n\t");
    luaL_addstring(to, frame->name);
    snprintf(line, sizeof line, ":%u", (unsigned)frame->line);
    if (frame->line)
        luaL_addstring(to, line);
}

/* Push the message with the stack, or with the number of a stack that came before. */
static int errors_push(lua_State *L, const jsprof_backtrace_frame *frames, int n)
{
    uint64_t hash = errors_hash(frames, n);
    uint32_t slot = (uint32_t)hash & (ERRORS_STACKS - 1);
    char text[80];
    luaL_Buffer to;
    if (errors_seen[slot].hash == hash) {
        snprintf(text, sizeof text, "\nstack %u, %u times", (unsigned)errors_seen[slot].number,
                 (unsigned)++errors_seen[slot].times);
        lua_pushstring(L, text);
        lua_concat(L, 2);
        return 1;
    }
    errors_seen[slot].hash = hash;
    errors_seen[slot].number = ++errors_number;
    errors_seen[slot].times = 1;
    snprintf(text, sizeof text, "\nstack %u:", (unsigned)errors_number);
    luaL_buffinit(L, &to);
    luaL_addstring(&to, text);
    for (int i = 0; i < n; i++)
        errors_put(&to, &frames[i]);
    luaL_pushresult(&to);
    lua_concat(L, 2);
    return 1;
}

/* traceback([message]): returns the message with the stack: Lua's functions and C's. Without a
 * recording of this thread it does what debug.traceback does. A message that is no text returns
 * as it is. */
int jsp_lua_module_traceback(lua_State *L)
{
    jsprof_backtrace_frame frames[ERRORS_FRAMES];
    struct module_run *run = jsp_lua_run_of(L);
    lua_settop(L, 1);
    if (lua_isnil(L, 1)) {
        lua_pushliteral(L, "");
        lua_replace(L, 1);
    }
    if (!lua_isstring(L, 1))
        return 1;
    int n = run && run->prof ? errors_take(run->thread, frames) : -EINVAL;
    if (n > 0)
        return errors_push(L, frames, n);
    lua_getglobal(L, "debug");
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return 1;
    }
    lua_getfield(L, -1, "traceback");
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
}
