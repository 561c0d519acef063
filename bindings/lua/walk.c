/* walk.c - the walker for PUC Lua; see walk.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "walk.h"

#include <unistd.h>

#include "proto.h"
#include "registers.h"

#include JSPROF_LUA_LAYOUT

enum {
    WALK_TAG_AT = 8,     /* of a value, and of a collectable object */
    WALK_VALUE = 16,
    WALK_ARGUMENTS = 8,  /* of a C function that are looked at for a coroutine */
    WALK_UPVALUES = 4,
    WALK_BEYOND = 8192,  /* frames that are counted when no more fit */
    WALK_SOURCE = 512,   /* bytes of a chunk's name that are read */
    WALK_SEARCHED = 256, /* prototypes that are looked through at once */
    WALK_LABEL = sizeof JSP_LUA_LABEL_CHUNK - 1,
};

struct walk_ci {
    uintptr_t at, func, previous, savedpc;
    uint32_t status, tail_calls;
};

/* What stands in a CallInfo's function slot. */
enum walk_kind { WALK_UNKNOWN, WALK_C, WALK_LUA };
struct walk_function {
    enum walk_kind kind;
    uintptr_t closure;     /* 0: a light C function */
    uintptr_t c_function;
    uint32_t n_upvalues;
    struct jsp_lua_proto proto;
};

/* One walk. */
struct walk {
    struct jsp_lua_walker *w;
    struct jsp_lua_read *read;
    const void *ucontext;
    jsprof_frame *out;
    uint32_t max, n;
    uint32_t n_states;
    struct jsp_lua_state *states; /* the walker's */
};

void jsp_lua_walk_init(struct jsp_lua_walker *w)
{
    w->read.pid = getpid();
}

const char *jsp_lua_walk_version(void)
{
    return layout.version;
}

bool jsp_lua_walk_has_addresses(void)
{
    return false;
}

/* -- Objects ---------------------------------------------------------------- */

static bool walk_read_state(struct jsp_lua_read *r, uintptr_t at, struct jsp_lua_state *s)
{
    uint8_t object[256];
    if (!at || !jsp_lua_read(r, at, object, layout.state_bytes) ||
        (object[WALK_TAG_AT] & 0x3F) != (layout.tag_thread & 0x3F))
        return false;
    s->at = at;
    s->ci = jsp_lua_pointer(object, layout.ci);
    s->base_ci = layout.base_ci_inside ? at + layout.base_ci
                                       : jsp_lua_pointer(object, layout.base_ci);
    s->top = jsp_lua_pointer(object, layout.top);
    s->global = jsp_lua_pointer(object, layout.global);
    s->savedpc = layout.savedpc == LAYOUT_NONE ? 0 : jsp_lua_pointer(object, layout.savedpc);
    s->status = object[layout.status];
    return true;
}

static bool walk_read_ci(struct jsp_lua_read *r, uintptr_t at, struct walk_ci *ci)
{
    uint8_t object[128];
    if (!at || !jsp_lua_read(r, at, object, layout.ci_bytes))
        return false;
    ci->at = at;
    ci->func = jsp_lua_pointer(object, layout.ci_func);
    ci->savedpc = jsp_lua_pointer(object, layout.ci_savedpc);
    ci->previous = layout.ci_is_array ? at - layout.ci_bytes
                                      : jsp_lua_pointer(object, layout.ci_previous);
    ci->status = layout.ci_is_array ? 0
                                    : jsp_lua_u16(object, layout.ci_status) & layout.status_mask;
    ci->tail_calls = layout.ci_is_array ? jsp_lua_u32(object, layout.ci_tail_calls)
                                        : (ci->status & layout.tail_bit) != 0;
    return true;
}

static bool walk_is_lua(const uint8_t *closure, uint8_t tag)
{
    return layout.is_c ? !closure[layout.is_c] : tag == layout.tag_lua;
}

static void walk_read_closure(struct jsp_lua_read *r, uintptr_t at, uint8_t tag,
                              struct walk_function *f)
{
    uint8_t object[64];
    if (!jsp_lua_read(r, at, object, layout.closure_upvalues) ||
        (object[WALK_TAG_AT] & 0x3F) != (tag & 0x3F))
        return;
    uintptr_t body = jsp_lua_pointer(object, layout.closure_proto);
    f->closure = at;
    f->n_upvalues = object[layout.closure_n];
    if (!walk_is_lua(object, tag)) {
        f->kind = WALK_C;
        f->c_function = body;
    } else if (jsp_lua_proto_read(r, body, &f->proto)) {
        f->kind = WALK_LUA;
    }
}

/* The function slot may hold anything, when the call is being made or undone. */
static void walk_read_function(struct jsp_lua_read *r, uintptr_t func, struct walk_function *f)
{
    uint8_t value[WALK_VALUE];
    f->kind = WALK_UNKNOWN;
    f->closure = 0;
    if (!func || !jsp_lua_read(r, func, value, sizeof value))
        return;
    uint8_t tag = value[WALK_TAG_AT];
    if (tag == layout.tag_light) {
        f->kind = WALK_C;
        f->c_function = jsp_lua_pointer(value, 0);
        f->n_upvalues = 0;
    } else if (tag == layout.tag_lua || tag == layout.tag_c) {
        walk_read_closure(r, jsp_lua_pointer(value, 0), tag, f);
    }
}

/* -- Which coroutine runs ---------------------------------------------------- */

/* A coroutine with calls that has neither yielded nor failed was resumed by somebody. */
static bool walk_is_resumed(struct walk *k, const struct jsp_lua_state *s)
{
    if (s->status != 0 || s->ci == s->base_ci || s->global != k->states[0].global)
        return false;
    for (uint32_t i = 0; i < k->n_states; i++)
        if (k->states[i].at == s->at)
            return false;
    return true;
}

/* Is this value a resumed coroutine? Then it becomes the next of the chain. */
static bool walk_take(struct walk *k, uintptr_t value_at)
{
    uint8_t value[WALK_VALUE];
    struct jsp_lua_state *next = &k->states[k->n_states];
    if (!jsp_lua_read(k->read, value_at, value, sizeof value) ||
        value[WALK_TAG_AT] != layout.tag_thread ||
        !walk_read_state(k->read, jsp_lua_pointer(value, 0), next) || !walk_is_resumed(k, next))
        return false;
    k->n_states++;
    return true;
}

/* Whoever resumes is a C function, and keeps the coroutine among its arguments
 * (coroutine.resume, host code) or upvalues (coroutine.wrap). */
static bool walk_descend(struct walk *k)
{
    const struct jsp_lua_state *s = &k->states[k->n_states - 1];
    struct walk_function f;
    struct walk_ci ci;

    if (k->n_states == JSP_LUA_STATES || s->ci == s->base_ci || !walk_read_ci(k->read, s->ci, &ci))
        return false;
    walk_read_function(k->read, ci.func, &f);
    if (f.kind != WALK_C)
        return false;
    uint64_t n = s->top > ci.func ? (s->top - ci.func) / WALK_VALUE : 0;
    for (uint64_t i = 1; i < n && i <= WALK_ARGUMENTS; i++)
        if (walk_take(k, ci.func + i * WALK_VALUE))
            return true;
    for (uint32_t i = 0; f.closure && i < f.n_upvalues && i < WALK_UPVALUES; i++)
        if (walk_take(k, f.closure + layout.closure_upvalues + (uintptr_t)i * WALK_VALUE))
            return true;
    return false;
}

/* -- Frames ------------------------------------------------------------------- */

static jsprof_frame *walk_next_frame(struct walk *k)
{
    k->n++;
    if (k->n > k->max)
        return NULL;
    jsprof_frame *frame = &k->out[k->n - 1];
    memset(frame, 0, sizeof *frame);
    return frame;
}

/* The running function's program counter is in a register of the loop: savedpc is as
 * old as the last instruction that could fail. */
static uint32_t walk_register_index(const struct walk *k, const struct jsp_lua_proto *p)
{
    uintptr_t registers[JSP_LUA_REGISTERS];
    uint32_t n = k->ucontext ? jsp_lua_registers(k->ucontext, registers) : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = jsp_lua_proto_index(p, registers[i]);
        if (index != UINT32_MAX)
            return index;
    }
    return UINT32_MAX;
}

/* What the caller's current instruction is; false: the caller is no Lua function. */
static bool walk_site(struct walk *k, const struct walk_ci *caller, struct jsp_lua_proto *p,
                      uint32_t *index)
{
    struct walk_function f;
    walk_read_function(k->read, caller->func, &f);
    if (f.kind != WALK_LUA)
        return false;
    *p = f.proto;
    *index = jsp_lua_proto_index(p, caller->savedpc);
    return *index != UINT32_MAX;
}

static bool walk_is_fresh(struct walk *k, const struct walk_ci *ci, const struct walk_ci *caller)
{
    struct jsp_lua_proto p;
    uint32_t index;
    if (!layout.ci_is_array)
        return (ci->status & layout.fresh_bit) == layout.fresh_value;
    return !caller || !walk_site(k, caller, &p, &index) ||
           !jsp_lua_site_is_call(k->read, &p, index);
}

static struct jsp_lua_key walk_key(const struct jsp_lua_proto *p)
{
    return (struct jsp_lua_key){ p->at, p->code, p->source, p->linedefined };
}

/* The wrapper behind a label calls everything `f`. */
static bool walk_is_label(struct walk *k, const struct jsp_lua_proto *p)
{
    struct jsp_lua_key key = walk_key(p);
    char text[WALK_LABEL];
    const struct jsp_lua_label *label = jsp_lua_label_find(&k->w->labels, &key);
    if (label)
        return !label->where;
    return jsp_lua_string(k->read, p->source, text, sizeof text) > WALK_LABEL &&
           memcmp(text, JSP_LUA_LABEL_CHUNK, sizeof text) == 0;
}

static bool walk_site_name(struct walk *k, const struct walk_ci *ci,
                           const struct walk_ci *caller, char *name)
{
    struct jsp_lua_proto p;
    uint32_t index;
    return caller && !ci->tail_calls && walk_site(k, caller, &p, &index) &&
           !walk_is_label(k, &p) &&
           jsp_lua_site_name(k->read, &p, index, name, JSP_LUA_NAME);
}

/* A name without one of its own is what it is; `name` may be NULL. */
static const struct jsp_lua_label *walk_add(struct jsp_lua_walker *w,
                                            const struct jsp_lua_proto *p, const char *name)
{
    struct jsp_lua_key key = walk_key(p);
    char source[WALK_SOURCE], where[JSP_LUA_WHERE];
    int64_t whole = jsp_lua_string(&w->read, p->source, source, sizeof source);
    struct jsp_lua_chunk chunk = { "=?", 2, 2, p->linedefined };

    if (whole >= 0)
        chunk = (struct jsp_lua_chunk){ source, whole < WALK_SOURCE ? (size_t)whole : WALK_SOURCE,
                                        (uint64_t)whole, p->linedefined };
    bool is_label = whole > WALK_LABEL && memcmp(source, JSP_LUA_LABEL_CHUNK, WALK_LABEL) == 0;
    if (is_label)
        chunk.line = 0;
    jsp_lua_where(&chunk, where);
    if (is_label)
        return jsp_lua_label_add(&w->labels, &key, where + WALK_LABEL - 1, NULL);
    if (!name)
        name = p->linedefined ? "function" : "main chunk";
    return jsp_lua_label_add(&w->labels, &key, name, where);
}

/* Functions have names where they are made: look through this one's code, and that of
 * the functions inside it. */
static void walk_search(struct walk *k, uintptr_t outermost)
{
    uintptr_t *waiting = k->w->to_search;
    uint32_t n = 0;
    waiting[n++] = outermost;
    while (n && k->w->searches) {
        struct jsp_lua_defined made;
        struct jsp_lua_proto p, inner;
        uint32_t at = 0;
        k->w->searches--;
        if (!jsp_lua_proto_read(k->read, waiting[--n], &p))
            continue;
        while ((at = jsp_lua_defined_next(k->read, &p, at, &made)) != UINT32_MAX) {
            if (n < JSP_LUA_TO_SEARCH)
                waiting[n++] = made.proto;
            if (!made.is_named || !jsp_lua_proto_read(k->read, made.proto, &inner))
                continue;
            struct jsp_lua_key key = walk_key(&inner);
            if (!jsp_lua_label_find(&k->w->labels, &key))
                walk_add(k->w, &inner, made.name);
        }
    }
}

/* Somebody is seen for the first time: whoever made it may be on the stack. */
static void walk_search_state(struct walk *k, const struct jsp_lua_state *s)
{
    struct walk_ci ci;
    uintptr_t at = s->ci;
    for (; k->w->searches && at != s->base_ci; at = ci.previous, k->w->searches--) {
        struct walk_function f;
        if (!walk_read_ci(k->read, at, &ci))
            return;
        walk_read_function(k->read, ci.func, &f);
        if (f.kind != WALK_LUA)
            continue;
        struct jsp_lua_key key = walk_key(&f.proto);
        const struct jsp_lua_label *label = jsp_lua_label_find(&k->w->labels, &key);
        if (label && label->is_searched)
            continue;
        walk_search(k, f.proto.at);
        if (!k->w->searches)
            return;
        if (label || (!f.proto.linedefined && (label = walk_add(k->w, &f.proto, NULL))))
            jsp_lua_label_set_searched(label);
    }
}

static const struct jsp_lua_label *walk_label(struct walk *k, const struct walk_ci *ci,
                                              const struct walk_ci *caller,
                                              const struct jsp_lua_proto *p)
{
    struct jsp_lua_key key = walk_key(p);
    const struct jsp_lua_label *label = jsp_lua_label_find(&k->w->labels, &key);
    char name[JSP_LUA_NAME];

    for (uint32_t i = 0; i < k->n_states && !label && k->w->searches; i++) {
        walk_search_state(k, &k->states[i]);
        label = jsp_lua_label_find(&k->w->labels, &key);
    }
    if (label)
        return label;
    bool named = p->linedefined && walk_site_name(k, ci, caller, name);
    return walk_add(k->w, p, named ? name : NULL);
}

static void walk_lua_frame(struct walk *k, const struct walk_ci *ci, const struct walk_ci *caller,
                           const struct walk_function *f, bool is_leaf)
{
    bool fresh = walk_is_fresh(k, ci, caller);
    uint32_t entry = fresh ? JSPROF_FRAME_ENTRY : 0;
    jsprof_frame *frame = walk_next_frame(k);
    if (frame) {
        const struct jsp_lua_label *label = walk_label(k, ci, caller, &f->proto);
        uint32_t index = is_leaf ? walk_register_index(k, &f->proto) : UINT32_MAX;
        if (index == UINT32_MAX)
            index = jsp_lua_proto_index(&f->proto, ci->savedpc);
        frame->label = label->name;
        frame->detail = label->where;
        frame->kind = (uint32_t)JSPROF_JOIN_PAREN;
        frame->kind |= (uint32_t)(label->where ? JSPROF_KIND_VM : JSPROF_KIND_LABEL);
        if (index != UINT32_MAX && label->where)
            frame->line = jsp_lua_proto_line(k->read, &f->proto, index);
        frame->kind |= ci->tail_calls ? 0 : entry;
    }
    if (ci->tail_calls && (frame = walk_next_frame(k))) {
        frame->label = "[tail calls]";
        frame->kind = JSPROF_KIND_SYNTH | entry;
    }
}

static void walk_c_frame(struct walk *k, const struct walk_ci *ci, const struct walk_ci *caller,
                         const struct walk_function *f)
{
    struct jsp_lua_key key = { .at = f->c_function };
    const struct jsp_lua_label *label = jsp_lua_label_find(&k->w->labels, &key);
    jsprof_frame *frame = walk_next_frame(k);
    char name[JSP_LUA_NAME];

    if (!frame)
        return;
    if (!label)
        label = jsp_lua_label_add(&k->w->labels, &key,
                                  walk_site_name(k, ci, caller, name) ? name : "C function",
                                  "[C]");
    frame->label = label->name;
    frame->detail = label->where;
    frame->kind = (uint32_t)JSPROF_KIND_LABEL | (uint32_t)JSPROF_JOIN_PAREN;
}

/* The frames of one coroutine, innermost first. */
static void walk_frames(struct walk *k, const struct jsp_lua_state *s, bool is_running)
{
    struct walk_ci ci, caller;
    bool more = s->ci != s->base_ci && walk_read_ci(k->read, s->ci, &ci);
    bool is_leaf = is_running;

    if (more && s->savedpc)
        ci.savedpc = s->savedpc;
    for (uint32_t i = 0; more && i < k->max + WALK_BEYOND; i++) {
        struct walk_function f;
        more = ci.previous && ci.previous != ci.at && walk_read_ci(k->read, ci.previous, &caller);
        walk_read_function(k->read, ci.func, &f);
        if (f.kind == WALK_LUA)
            walk_lua_frame(k, &ci, more ? &caller : NULL, &f, is_leaf);
        else if (f.kind == WALK_C)
            walk_c_frame(k, &ci, more ? &caller : NULL, &f);
        else
            k->w->n_skipped++;
        more = more && caller.at != s->base_ci;
        is_leaf = false;
        ci = caller;
    }
}

uint32_t jsp_lua_walk_sigsafe(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    struct walk k = { .w = host, .ucontext = ucontext, .out = out, .max = max };

    k.read = &k.w->read;
    k.states = k.w->states;
    jsp_lua_read_begin(k.read);
    jsp_lua_labels_begin(&k.w->labels);
    k.w->searches = WALK_SEARCHED;
    if (!walk_read_state(k.read, k.w->root, &k.states[0]))
        return 0;
    k.n_states = 1;
    while (walk_descend(&k))
        continue;
    for (uint32_t i = k.n_states; i-- > 0;)
        walk_frames(&k, &k.states[i], i == k.n_states - 1);
    return k.n;
}

/* -- Outside of signals ------------------------------------------------------- */

uintptr_t jsp_lua_walk_main(struct jsp_lua_walker *w, uintptr_t state)
{
    struct jsp_lua_state s, main_state;
    uintptr_t at;
    jsp_lua_read_begin(&w->read);
    if (!walk_read_state(&w->read, state, &s) ||
        !jsp_lua_read(&w->read, s.global + layout.main_thread, &at, sizeof at) ||
        !walk_read_state(&w->read, at, &main_state) || main_state.global != s.global)
        return 0;
    return at;
}

static void walk_name_c(struct jsp_lua_walker *w, uintptr_t function, const char *name)
{
    struct jsp_lua_key key = { .at = function };
    if (!jsp_lua_label_find(&w->labels, &key))
        jsp_lua_label_add(&w->labels, &key, name, "[C]");
}

void jsp_lua_walk_name(struct jsp_lua_walker *w, uintptr_t object, uintptr_t c_function,
                       const char *name)
{
    struct walk_function f = { .kind = WALK_UNKNOWN };
    if (c_function) {
        walk_name_c(w, c_function, name);
        return;
    }
    jsp_lua_read_begin(&w->read);
    walk_read_closure(&w->read, object, layout.tag_lua, &f);
    struct jsp_lua_key key = walk_key(&f.proto);
    if (f.kind == WALK_LUA && f.proto.linedefined && !jsp_lua_label_find(&w->labels, &key))
        walk_add(w, &f.proto, name);
}

void jsp_lua_walk_key(uintptr_t object, uintptr_t c_function, struct jsp_lua_key *key)
{
    *key = (struct jsp_lua_key){ .at = c_function };
    if (c_function)
        return;
    uintptr_t p = jsp_lua_pointer((const void *)object, layout.closure_proto);
    *key = (struct jsp_lua_key){ p, jsp_lua_pointer((const void *)p, layout.code),
                                 jsp_lua_pointer((const void *)p, layout.source),
                                 jsp_lua_u32((const void *)p, layout.linedefined) };
}

uintptr_t jsp_lua_walk_global(uintptr_t state)
{
    return jsp_lua_pointer((const void *)state, layout.global);
}

void jsp_lua_walk_memory(uintptr_t global, uintptr_t at[2])
{
    at[0] = global + layout.total_bytes;
    at[1] = layout.gc_debt ? global + layout.gc_debt : 0;
}

void jsp_lua_walk_compile(lua_State *L, bool may)
{
    (void)L, (void)may;
}
