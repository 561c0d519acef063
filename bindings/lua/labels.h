/* labels.h - names of Lua functions as frames show them, each made once.
 *
 * A prototype is identified by its address and three of its fields: code, chunk name,
 * first line. If memory is reused for another prototype, the two are confused only if all
 * of these are equal: a chunk of the same name was loaded again. Then frames show the old
 * name, which belongs to the right place in the source. The first name that is found
 * stays, so one function is one line of a report. When the table is full, it is emptied
 * before the next walk, except for the names from the start of the recording, because a
 * program that keeps loading chunks has new functions for ever.
 *
 * The owner thread writes: outside of signals while the thread is paused, otherwise in
 * the handler. A thread that follows it may read a label that is being overwritten, after the
 * table was emptied: the owner has woken up then, and the sample is dropped.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_LABELS_H
#define JSPROF_LUA_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JSP_LUA_LABELS = 8192,        /* slots; power of two */
    JSP_LUA_LABELS_MOST = JSP_LUA_LABELS / 4 * 3,
    JSP_LUA_LABELS_FIXED = 1024,  /* labels that may be kept for ever */
    JSP_LUA_LABEL_TEXT = 1 << 20, /* bytes of all names */
    JSP_LUA_NAME = 80,            /* of one name, with its zero */
    JSP_LUA_WHERE = 240,          /* of one source and line, with its zero */
};

/* A label's key; `at` is 0 in an empty entry. For C functions `at` is the function, and
 * the rest is 0. */
struct jsp_lua_key {
    uintptr_t at, code, source;
    uint64_t line;
};

struct jsp_lua_label {
    struct jsp_lua_key key;
    const char *name;  /* or NULL */
    const char *where; /* "file:line", or NULL */
    bool is_searched;  /* the functions that it makes have names */
    bool was_searched; /* the same, when the labels were fixed */
};

/* A chunk whose name begins with this is a label that the program gave. */
#define JSP_LUA_LABEL_CHUNK "=(jsprof label) "

/* The labels lie one after the other and only their numbers are scattered by hash, so a few
 * labels touch a few pages of memory. */
struct jsp_lua_labels {
    uint32_t n;
    uint32_t used;      /* bytes of `text` */
    uint32_t n_fixed, used_fixed; /* of n and used: the fixed labels, which came first */
    uint16_t slots[JSP_LUA_LABELS]; /* by the key's hash: number of an entry + 1; 0: none */
    struct jsp_lua_label scratch; /* used while the table is full */
    char scratch_text[JSP_LUA_NAME + JSP_LUA_WHERE];
    struct jsp_lua_label entries[JSP_LUA_LABELS_MOST]; /* in the order of adding */
    char text[JSP_LUA_LABEL_TEXT];
};

/* Begin a walk. Labels that were found or added before may be removed. */
void jsp_lua_labels_begin(struct jsp_lua_labels *labels);

/* Keep all labels that were added so far. */
void jsp_lua_labels_fix(struct jsp_lua_labels *labels);

/* Return the function's label, or NULL if it has none. */
const struct jsp_lua_label *jsp_lua_label_find(const struct jsp_lua_labels *labels,
                                               const struct jsp_lua_key *key);

/* Add a label. Either text may be NULL, not both. Both are copied; a byte that is not
 * printable UTF-8 becomes '?'. */
const struct jsp_lua_label *jsp_lua_label_add(struct jsp_lua_labels *labels,
                                              const struct jsp_lua_key *key, const char *name,
                                              const char *where);

/* Add what another thread has added since the last such call, and remember that in *n. */
void jsp_lua_labels_follow(struct jsp_lua_labels *labels, const struct jsp_lua_labels *of,
                           uint32_t *n);

/* Mark a label that was found or added as searched. */
void jsp_lua_label_set_searched(const struct jsp_lua_label *label);

/* Write "file:line" for a chunk's name as Lua keeps it ("@file", "=name" or the text
 * itself). The caller has `n` of its `whole` bytes; `to` has room for JSP_LUA_WHERE. */
struct jsp_lua_chunk {
    const char *text;
    size_t n;
    uint64_t whole;
    uint64_t line;
};
void jsp_lua_where(const struct jsp_lua_chunk *chunk, char *to);

#endif
