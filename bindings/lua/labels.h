/* labels.h - names of Lua functions as frames show them, made once for each.
 *
 * A prototype is known by its address and three of its fields: code, chunk name, first line.
 * Memory that was given to another one is mistaken for it only where all of them are the
 * same, a chunk of one name loaded again; then the old name is shown, of the right place in
 * the source. The first name that is found stays:
 * one function is one line of a report. A table that gets full is emptied before the next
 * walk, but for what was named when recording began: a program that loads chunks for ever
 * has new functions for ever.
 *
 * Written by the owner thread: outside of signals while the thread is paused, in the
 * handler otherwise.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_LABELS_H
#define JSPROF_LUA_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JSP_LUA_LABELS = 8192,        /* power of two */
    JSP_LUA_LABELS_FIXED = 1024,  /* of them may be kept for ever */
    JSP_LUA_LABEL_TEXT = 1 << 20, /* bytes of all names */
    JSP_LUA_NAME = 80,            /* of one, with its zero */
    JSP_LUA_WHERE = 240,          /* of one source and line, with its zero */
};

/* at 0: no key. For C functions: the function, the rest 0. */
struct jsp_lua_key {
    uintptr_t at, code, source;
    uint64_t line;
};

struct jsp_lua_label {
    struct jsp_lua_key key;
    const char *name;  /* or NULL */
    const char *where; /* "file:line", or NULL */
    bool is_searched;  /* what it makes has been named */
};

/* A chunk of this name and another behind it is a label of the program's. */
#define JSP_LUA_LABEL_CHUNK "=(jsprof label) "

struct jsp_lua_labels {
    uint32_t n;
    uint32_t used;      /* bytes of `text` */
    uint32_t n_fixed, used_fixed; /* of them, of the fixed ones, which came first */
    struct jsp_lua_label fixed[JSP_LUA_LABELS_FIXED];
    struct jsp_lua_label scratch; /* of a full table */
    char scratch_text[JSP_LUA_NAME + JSP_LUA_WHERE];
    struct jsp_lua_label entries[JSP_LUA_LABELS];
    char text[JSP_LUA_LABEL_TEXT];
};

/* A walk begins: labels that were found or added before may go. */
void jsp_lua_labels_begin(struct jsp_lua_labels *labels);

/* What has been added so far stays. */
void jsp_lua_labels_fix(struct jsp_lua_labels *labels);

/* NULL: not seen before. */
const struct jsp_lua_label *jsp_lua_label_find(const struct jsp_lua_labels *labels,
                                               const struct jsp_lua_key *key);

/* Either may be NULL, not both. Both are copied, what is no printable UTF-8 as '?'. */
const struct jsp_lua_label *jsp_lua_label_add(struct jsp_lua_labels *labels,
                                              const struct jsp_lua_key *key, const char *name,
                                              const char *where);

/* Of a label that was found or added. */
void jsp_lua_label_set_searched(const struct jsp_lua_label *label);

/* "file:line" of a chunk's name as Lua keeps it ("@file", "=name" or the text itself), of
 * which `n` of `whole` bytes are given; `to` has room for JSP_LUA_WHERE. */
struct jsp_lua_chunk {
    const char *text;
    size_t n;
    uint64_t whole;
    uint64_t line;
};
void jsp_lua_where(const struct jsp_lua_chunk *chunk, char *to);

#endif
