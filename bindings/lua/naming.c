/* naming.c - see naming.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "naming.h"

enum {
    NAMING_SEARCHED = 256, /* prototypes that one walk looks through */
    NAMING_SOURCE = 512,   /* bytes of a chunk's name that are read */
    NAMING_MARK = sizeof JSP_LUA_LABEL_CHUNK - 1,
};

void jsp_lua_naming_begin(struct jsp_lua_walker *w)
{
    jsp_lua_labels_begin(&w->labels);
    w->searches = NAMING_SEARCHED;
}

const struct jsp_lua_label *jsp_lua_naming_find(struct jsp_lua_walker *w,
                                                const struct jsp_lua_proto *p)
{
    return jsp_lua_label_find(&w->labels, &p->key);
}

static bool naming_has_mark(const char *source, int64_t whole)
{
    return whole > NAMING_MARK && memcmp(source, JSP_LUA_LABEL_CHUNK, NAMING_MARK) == 0;
}

bool jsp_lua_naming_is_wrapper(struct jsp_lua_walker *w, const struct jsp_lua_proto *p)
{
    const struct jsp_lua_label *label = jsp_lua_naming_find(w, p);
    char text[NAMING_MARK];
    return label ? !label->where
                 : naming_has_mark(text, jsp_lua_string(&w->read, p->key.source, text,
                                                        sizeof text));
}

/* Functions that LuaJIT itself has as bytecode have the line -1, which means none. */
static uint64_t naming_line(const struct jsp_lua_proto *p)
{
    return p->key.line == UINT32_MAX ? 0 : p->key.line;
}

static bool naming_same(const struct jsp_lua_walker *w, const struct jsp_lua_proto *p)
{
    return memcmp(&w->wanted.key, &p->key, sizeof p->key) == 0;
}

bool jsp_lua_naming_has_upvalue(const struct jsp_lua_walker *w, const struct jsp_lua_proto *p)
{
    return w->wanted.name[0] && naming_same(w, p);
}

const struct jsp_lua_label *jsp_lua_naming_add(struct jsp_lua_walker *w,
                                               const struct jsp_lua_proto *p, const char *name)
{
    char source[NAMING_SOURCE], where[JSP_LUA_WHERE];
    int64_t whole = jsp_lua_string(&w->read, p->key.source, source, sizeof source);
    bool is_label = naming_has_mark(source, whole);
    struct jsp_lua_chunk chunk = { "=?", 2, 2, p->key.line };

    if (whole >= 0)
        chunk = (struct jsp_lua_chunk){
            source, whole < NAMING_SOURCE ? (size_t)whole : NAMING_SOURCE, (uint64_t)whole,
            is_label ? 0 : naming_line(p)
        };
    jsp_lua_where(&chunk, where);
    if (is_label)
        return jsp_lua_label_add(&w->labels, &p->key, where + NAMING_MARK - 1, NULL);
    if (!name && jsp_lua_naming_has_upvalue(w, p))
        name = w->wanted.name;
    if (!name)
        name = p->key.line ? "function" : "main chunk";
    return jsp_lua_label_add(&w->labels, &p->key, name, where);
}

const struct jsp_lua_label *jsp_lua_naming_c(struct jsp_lua_walker *w, uintptr_t c,
                                             const char *name)
{
    struct jsp_lua_key key = { .at = c };
    const struct jsp_lua_label *label = jsp_lua_label_find(&w->labels, &key);
    return label || !name ? label : jsp_lua_label_add(&w->labels, &key, name, "[C]");
}

/* -- Where functions are made --------------------------------------------------- */

/* Name the functions that the next waiting prototype makes, and let these wait in
 * turn. */
static uint32_t naming_one(struct jsp_lua_walker *w, uint32_t n_waiting)
{
    struct jsp_lua_defined made;
    struct jsp_lua_proto p, inner;
    uint32_t at = 0;
    w->searches--;
    if (!jsp_lua_proto_read(&w->read, w->to_search[--n_waiting], &p))
        return n_waiting;
    while ((at = jsp_lua_defined_next(&w->read, &p, at, &made)) != UINT32_MAX) {
        if (n_waiting < JSP_LUA_TO_SEARCH)
            w->to_search[n_waiting++] = made.proto;
        if (made.is_named && jsp_lua_proto_read(&w->read, made.proto, &inner) &&
            !jsp_lua_naming_find(w, &inner))
            jsp_lua_naming_add(w, &inner, made.name);
    }
    return n_waiting;
}

/* The whole prototype is searched. If it has a label, the label records this, so it is
 * not searched again. The main chunk gets a label here; a function may still find its
 * name later. */
static void naming_search_code(struct jsp_lua_walker *w, const struct jsp_lua_proto *p)
{
    const struct jsp_lua_label *label = jsp_lua_naming_find(w, p);
    uint32_t n_waiting = 1;
    if (label && label->is_searched)
        return;
    w->to_search[0] = p->key.at;
    while (n_waiting && w->searches)
        n_waiting = naming_one(w, n_waiting);
    if (!w->searches)
        return;
    if (!label && !p->key.line)
        label = jsp_lua_naming_add(w, p, NULL);
    if (label)
        jsp_lua_label_set_searched(label);
}

/* -- Upvalues ---------------------------------------------------------------------- */

void jsp_lua_naming_want(struct jsp_lua_walker *w, const struct jsp_lua_proto *p)
{
    w->wanted.key = p->key;
    w->wanted.name[0] = 0;
    w->wanted.n = w->wanted.n_done = 0;
}

static void naming_wait(struct jsp_lua_walker *w, uintptr_t closure)
{
    uint32_t i = 0;
    while (i < w->wanted.n && w->wanted.closures[i] != closure)
        i++;
    if (i == w->wanted.n && i < JSP_LUA_CLOSURES)
        w->wanted.closures[w->wanted.n++] = closure;
}

/* The wrapper of a label calls everything `f`. */
static void naming_look(struct jsp_lua_walker *w, uintptr_t closure)
{
    struct jsp_lua_function f, held;
    char *name = w->wanted.name;
    jsp_lua_function_read(&w->read, closure, &f);
    if (f.kind != JSP_LUA_LUA || jsp_lua_naming_is_wrapper(w, &f.proto))
        return;
    for (uint32_t n = 0; n < f.n_upvalues && !*name; n++) {
        if (!jsp_lua_upvalue_read(&w->read, &f, n, &held))
            continue;
        if (!naming_same(w, &held.proto))
            naming_wait(w, held.closure);
        else if (!jsp_lua_upvalue_name(&w->read, &f.proto, n, name))
            *name = 0;
    }
}

void jsp_lua_naming_search(struct jsp_lua_walker *w, const struct jsp_lua_function *f)
{
    naming_search_code(w, &f->proto);
    naming_wait(w, f->closure);
    while (w->wanted.n_done < w->wanted.n && !w->wanted.name[0])
        naming_look(w, w->wanted.closures[w->wanted.n_done++]);
}

void jsp_lua_naming_given(struct jsp_lua_walker *w, const struct jsp_lua_function *f,
                          const char *name)
{
    if (f->kind == JSP_LUA_C)
        jsp_lua_naming_c(w, f->c, name);
    else if (f->kind == JSP_LUA_LUA && f->proto.key.line && !jsp_lua_naming_find(w, &f->proto))
        jsp_lua_naming_add(w, &f->proto, name);
}
