/* lark.h - one Lark interpreter: its stack, its globals, its errors.
 *
 * Lark is a small dynamic language, the example host of jsprof: it shows where a
 * runtime calls the profiler. Each call of a Lark function recurses in C.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_H
#define LARK_H

#include "code.h"
#include "value.h"

enum {
    LARK_STACK_VALUES = 1 << 20, /* the stack takes memory only as it is used */
    LARK_MAX_DEPTH = 10000,      /* nested calls, if the C stack is large enough */
};

/* The C functions between one Lark function and the next. They lie together, so that the
 * profiler can recognise them and views may hide them. */
#define LARK_LOOP __attribute__((section("lark_loop")))

struct lark_global {
    char *name;
    uint32_t line; /* of the first use */
    bool declared;
};

struct lark {
    const char *path; /* of the script, borrowed */
    uint32_t line;    /* of the present operation, for errors */
    uint32_t depth;   /* of calls */
    uintptr_t c_limit; /* no call if the C stack reaches below this */
    uint32_t n_traced; /* lines of the error's trace that were printed */
    int n_args;        /* of the script, borrowed */
    char **args;

    struct lark_value *stack;
    struct lark_value *top;  /* the first value that is not a root for the collector */
    struct lark_value *end;

    uint32_t n_globals, globals_capacity, names_capacity;
    struct lark_value *globals;
    struct lark_global *names; /* of the globals */

    uint32_t n_functions, functions_capacity;
    struct lark_function **functions; /* owned */

    struct lark_object *objects;      /* everything that the collector may free */
    size_t heap_bytes, heap_limit;    /* in use; where the next collection begins */
    struct lark_string *letters[256]; /* the strings of one byte, made at first use */

    struct lark_jit *jit; /* NULL: everything is interpreted (jit.h) */
};

/* Return false, and errno, if there is no memory. */
bool lark_open(struct lark *l, const char *path);

void lark_close(struct lark *l);

/* Return the function of the whole script, or NULL: an error was printed. */
struct lark_function *lark_compile(struct lark *l, const char *source, size_t n_bytes);

/* Call the value in *callee with the n values after it. *callee becomes the result.
 * Return false if an error was printed. */
bool lark_call(struct lark *l, struct lark_value *callee, uint32_t n);

/* Call the function of a whole script. */
bool lark_run(struct lark *l, struct lark_function *script);

/* Print "path:line: message" for l->line. Always return false, for `return
 * lark_raise(...)`. */
__attribute__((format(printf, 2, 3))) bool lark_raise(struct lark *l, const char *format,
                                                      ...);

/* Return the slot of a global; make it if it does not exist. */
uint32_t lark_global_slot(struct lark *l, const char *name, size_t n_bytes);

/* Put the builtins into their globals (builtin.c). */
void lark_builtins_add(struct lark *l);

#endif
