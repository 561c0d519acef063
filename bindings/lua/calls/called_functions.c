/* called_functions.c - see called_functions.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls/called_functions.h"

#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "module_names.h"

enum { CALLED_SLOTS_BEGIN = 1024, CALLED_LEVELS = 64 };

struct jsp_lua_called_table {
    struct jsprof_lua *lua;
    struct jsp_lua_called **slots; /* owned, and what is in them */
    uint32_t n, n_slots;           /* a power of two */
};

struct jsp_lua_called_table *jsp_lua_called_new(struct jsprof_lua *lua)
{
    struct jsp_lua_called_table *t = calloc(1, sizeof *t);
    if (t)
        t->slots = calloc(CALLED_SLOTS_BEGIN, sizeof *t->slots);
    if (!t || !t->slots) {
        free(t);
        return NULL;
    }
    t->lua = lua;
    t->n_slots = CALLED_SLOTS_BEGIN;
    return t;
}

void jsp_lua_called_free(struct jsp_lua_called_table *t)
{
    for (uint32_t i = 0; t && i < t->n_slots; i++) {
        if (t->slots[i])
            jsprof_function_free(t->slots[i]->function);
        free(t->slots[i]);
    }
    if (t)
        free(t->slots);
    free(t);
}

static struct jsp_lua_called **called_slot(struct jsp_lua_called **slots, uint32_t n_slots,
                                           const struct jsp_lua_key *key)
{
    uint64_t hash = (uint64_t)(key->at ^ key->code << 20) * 0x9E3779B97F4A7C15u;
    for (uint32_t i = (uint32_t)(hash >> 32);; i++) {
        struct jsp_lua_called **e = &slots[i & (n_slots - 1)];
        if (!*e || jsp_lua_called_is(&(*e)->key, key))
            return e;
    }
}

static bool called_grow(struct jsp_lua_called_table *t)
{
    uint32_t n_slots = t->n_slots * 2;
    struct jsp_lua_called **slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < t->n_slots; i++)
        if (t->slots[i])
            *called_slot(slots, n_slots, &t->slots[i]->key) = t->slots[i];
    free(t->slots);
    t->slots = slots;
    t->n_slots = n_slots;
    return true;
}

/* The name that samples show, in its parts: "name", "file", line. */
static jsprof_function *called_function(const jsprof_frame *frame)
{
    char file[JSP_LUA_WHERE], symbol[JSP_LUA_NAME];
    const char *name = frame->label;
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
    if (frame->kind & JSPROF_FRAME_SYMBOL &&
        jsprof_symbol_find((const void *)(uintptr_t)frame->pc, symbol, sizeof symbol) == 0)
        name = symbol;
    jsprof_function_new(&f, name, frame->detail ? file : NULL, line, kind);
    return f;
}

/* Return the frame of this level as the walker sees it, or a frame without a label. */
static jsprof_frame called_walk(struct jsp_lua_called_table *t, uint32_t level)
{
    jsprof_frame frames[CALLED_LEVELS], none = { 0 };
    uint32_t n = jsp_lua_walk_sigsafe(t->lua->walker, NULL, frames,
                                      level ? CALLED_LEVELS : 1);
    for (uint32_t i = 0; i < n && i < CALLED_LEVELS; i++) {
        if ((frames[i].kind & 0xFF) == JSPROF_KIND_SYNTH)
            continue;
        if (!level--)
            return frames[i];
    }
    return none;
}

static bool called_is_c(const struct jsp_lua_key *key)
{
    return !key->code && !key->source;
}

/* Return the frame that a walk shows for the function. A walk from the main coroutine may
 * not reach the running one, if C code resumed that one and hides it, or if it is too
 * deep. Then walk from the running coroutine. */
static jsprof_frame called_frame(struct jsp_lua_called_table *t, const struct jsp_lua_key *key,
                                 lua_State *L, uint32_t level)
{
    struct jsp_lua_walker *w = t->lua->walker;
    uintptr_t root = w->root;
    jsprof_thread_pause(t->lua->thread);
    jsprof_frame frame = called_walk(t, level);
    const struct jsp_lua_label *label = jsp_lua_label_find(&w->labels, key);
    if (!label && !level) {
        w->root = (uintptr_t)L;
        frame = called_walk(t, 0);
        w->root = root;
        label = jsp_lua_label_find(&w->labels, key);
    }
    if (label && called_is_c(key))
        jsp_lua_frame_c(&frame, label, key->at);
    else if (label)
        jsp_lua_frame_function(&frame, label, JSPROF_KIND_VM, 0);
    jsprof_thread_resume(t->lua->thread);
    return frame;
}

static enum jsp_lua_special called_special(const char *name)
{
    static const struct {
        const char *name;
        enum jsp_lua_special special;
    } known[] = {
        { "coroutine.resume", JSP_LUA_RESUMES }, { "coroutine.wrap resume", JSP_LUA_RESUMES },
        { "jit.on", JSP_LUA_JIT_ON },            { "jit.off", JSP_LUA_JIT_OFF },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].special;
    return JSP_LUA_USUAL;
}

static struct jsp_lua_called *called_add(struct jsp_lua_called_table *t,
                                         const struct jsp_lua_key *key, lua_State *L,
                                         uint32_t level, const void *function)
{
    char name[JSP_LUA_NAME];
    if (called_is_c(key) && !jsp_lua_label_find(&t->lua->walker->labels, key))
        jsp_lua_name_c_functions(L, t->lua);
    jsprof_frame frame = called_frame(t, key, L, level);
    if (frame.label && !called_is_c(key) &&
        jsp_lua_name_in_module(L, function, frame.label, name))
        frame.label = name;
    if (!frame.label || (t->n * 4 > t->n_slots * 3 && !called_grow(t)))
        return NULL;
    struct jsp_lua_called *e = calloc(1, sizeof *e);
    jsprof_function *f = e ? called_function(&frame) : NULL;
    if (!f) {
        free(e);
        return NULL;
    }
    e->key = *key;
    e->function = f;
    e->is_c = called_is_c(key);
    e->special = e->is_c ? called_special(frame.label) : JSP_LUA_USUAL;
    t->n++;
    return *called_slot(t->slots, t->n_slots, key) = e;
}

const struct jsp_lua_called *jsp_lua_called_pop(struct jsp_lua_called_table *t, lua_State *L,
                                                uint32_t level)
{
    struct jsp_lua_key key;
    const void *function = lua_topointer(L, -1);
    jsp_lua_walk_key((uintptr_t)function, (uintptr_t)lua_tocfunction(L, -1), &key);
    lua_pop(L, 1);
    struct jsp_lua_called *e = *called_slot(t->slots, t->n_slots, &key);
    return e ? e : called_add(t, &key, L, level, function);
}
