/* calls.c - see calls.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_SLOTS_BEGIN = 1024 };

struct calls_entry {
    struct jsp_lua_key key; /* at 0: free */
    jsprof_function *function;
};

struct jsp_lua_calls {
    struct jsp_lua_calls *next; /* of this thread */
    struct jsprof_lua *lua;
    uintptr_t global;
    struct calls_entry *slots;  /* owned */
    uint32_t n, n_slots;        /* a power of two */
    /* The hook that the program has; the last one that was set for any coroutine. */
    lua_Hook before;
    int before_mask, before_count;
};

static __thread struct jsp_lua_calls *calls_here;

/* -- Functions ------------------------------------------------------------------ */

static struct calls_entry *calls_slot(struct calls_entry *slots, uint32_t n_slots,
                                      const struct jsp_lua_key *key)
{
    uint64_t hash = (uint64_t)(key->at ^ key->code << 20) * 0x9E3779B97F4A7C15u;
    for (uint32_t i = (uint32_t)(hash >> 32);; i++) {
        struct calls_entry *e = &slots[i & (n_slots - 1)];
        if (!e->key.at || memcmp(&e->key, key, sizeof *key) == 0)
            return e;
    }
}

static bool calls_grow(struct jsp_lua_calls *c)
{
    uint32_t n_slots = c->n_slots * 2;
    struct calls_entry *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < c->n_slots; i++)
        if (c->slots[i].key.at)
            *calls_slot(slots, n_slots, &c->slots[i].key) = c->slots[i];
    free(c->slots);
    c->slots = slots;
    c->n_slots = n_slots;
    return true;
}

/* The name that samples show, taken apart: "name", "file", line. */
static jsprof_function *calls_function(const jsprof_frame *frame)
{
    char file[JSP_LUA_WHERE];
    uint32_t line = 0;
    jsprof_function *f = NULL;
    enum jsprof_kind kind = (enum jsprof_kind)(frame->kind & 0xFF);

    if (frame->detail) {
        strncpy(file, frame->detail, sizeof file - 1);
        file[sizeof file - 1] = 0;
        char *colon = strrchr(file, ':');
        if (colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1)) {
            line = (uint32_t)strtoul(colon + 1, NULL, 10);
            *colon = 0;
        }
    }
    jsprof_function_new(&f, frame->label, frame->detail ? file : NULL, line, kind);
    return f;
}

/* The function that is being called, which is the innermost of the stack. */
static jsprof_function *calls_new(struct jsp_lua_calls *c, const struct jsp_lua_key *key)
{
    jsprof_frame frame = { 0 };
    jsprof_thread_pause(c->lua->thread);
    uint32_t n = jsp_lua_walk_sigsafe(c->lua->walker, NULL, &frame, 1);
    jsprof_thread_resume(c->lua->thread);
    if (!n || !frame.label || (c->n * 4 > c->n_slots * 3 && !calls_grow(c)))
        return NULL;
    struct calls_entry *e = calls_slot(c->slots, c->n_slots, key);
    e->function = calls_function(&frame);
    if (!e->function)
        return NULL;
    e->key = *key;
    c->n++;
    return e->function;
}

static void calls_count(struct jsp_lua_calls *c, lua_State *L, lua_Debug *ar)
{
    struct jsp_lua_key key;
    lua_getinfo(L, "f", ar);
    jsp_lua_walk_key((uintptr_t)lua_topointer(L, -1), (uintptr_t)lua_tocfunction(L, -1), &key);
    lua_pop(L, 1);
    struct calls_entry *e = calls_slot(c->slots, c->n_slots, &key);
    jsprof_function *f = e->key.at ? e->function : calls_new(c, &key);
    jsprof_count_enter(c->lua->thread, f, NULL);
}

/* -- Hooks ---------------------------------------------------------------------- */

static struct jsp_lua_calls *calls_of(lua_State *L)
{
    uintptr_t global = jsp_lua_walk_global((uintptr_t)L);
    struct jsp_lua_calls *c = calls_here;
    while (c && c->global != global)
        c = c->next;
    return c;
}

static void calls_hook(lua_State *L, lua_Debug *ar)
{
    struct jsp_lua_calls *c = calls_of(L);
    if (!c) { /* a coroutine that was suspended when counting ended */
        lua_sethook(L, NULL, 0, 0);
        return;
    }
    bool is_call = ar->event == LUA_HOOKCALL;
#ifdef LUA_HOOKTAILCALL
    is_call = is_call || ar->event == LUA_HOOKTAILCALL;
#endif
    if (is_call)
        calls_count(c, L, ar);
    int bit = is_call ? LUA_MASKCALL : 1 << ar->event;
    if (c->before && c->before_mask & bit)
        c->before(L, ar);
}

void jsp_lua_calls_rehook(struct jsp_lua_calls *c, lua_State *L)
{
    if (lua_gethook(L) != calls_hook) {
        c->before = lua_gethook(L);
        c->before_mask = c->before ? lua_gethookmask(L) : 0;
        c->before_count = lua_gethookcount(L);
    }
    lua_sethook(L, calls_hook, LUA_MASKCALL | c->before_mask, c->before_count);
}

void jsp_lua_calls_unhook(struct jsp_lua_calls *c, lua_State *L)
{
    if (lua_gethook(L) == calls_hook)
        lua_sethook(L, c->before, c->before_mask, c->before_count);
}

/* -- Beginning and end ------------------------------------------------------------ */

int jsp_lua_calls_begin(struct jsp_lua_calls **out, struct jsprof_lua *lua, lua_State *L)
{
    struct jsp_lua_calls *c = calloc(1, sizeof *c);
    if (c)
        c->slots = calloc(CALLS_SLOTS_BEGIN, sizeof *c->slots);
    if (!c || !c->slots) {
        free(c);
        return -ENOMEM;
    }
    int err = jsprof_calls_set(lua->session, JSPROF_CALLS_COUNT);
    if (err) {
        free(c->slots);
        free(c);
        return err;
    }
    c->n_slots = CALLS_SLOTS_BEGIN;
    c->lua = lua;
    c->global = jsp_lua_walk_global((uintptr_t)L);
    c->next = calls_here;
    calls_here = c;
    jsp_lua_walk_compile(L, false);
    jsp_lua_calls_rehook(c, L);
    if ((uintptr_t)L != lua->main)
        jsp_lua_calls_rehook(c, (lua_State *)lua->main);
    *out = c;
    return 0;
}

void jsp_lua_calls_end(struct jsp_lua_calls *c, lua_State *L)
{
    struct jsp_lua_calls **at = &calls_here;
    if (!c)
        return;
    while (*at && *at != c)
        at = &(*at)->next;
    if (*at)
        *at = c->next;
    if (L) {
        jsp_lua_calls_unhook(c, L);
        jsp_lua_calls_unhook(c, (lua_State *)c->lua->main);
        jsp_lua_walk_compile(L, true);
    }
    for (uint32_t i = 0; i < c->n_slots; i++)
        jsprof_function_free(c->slots[i].function);
    free(c->slots);
    free(c);
}
