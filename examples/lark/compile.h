/* compile.h - what the parts of the compiler share. compile.c holds the functions and
 * their scopes, statement.c and expression.c the grammar. One pass, no tree.
 *
 * The first error is printed and ends the source, so every loop here ends at END.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_COMPILE_H
#define LARK_COMPILE_H

#include "lark.h"
#include "lexer.h"

enum { LARK_COMPILE_NO_JUMP = -1, LARK_COMPILE_NESTING = 200 };

struct lark_local {
    const char *name; /* in the source */
    size_t n_bytes;
    uint32_t block;
};

/* A loop in progress; the jumps out of it form a chain through their args. */
struct lark_loop {
    struct lark_loop *outer;
    int32_t breaks;
    int32_t continues;
};

/* A function in progress. */
struct lark_unit {
    struct lark_unit *outer; /* NULL: the script */
    struct lark_function *f;
    uint32_t depth; /* operands now */
    uint32_t block; /* nesting of blocks; the function's own is 0 */
    struct lark_loop *loop;
    uint32_t n_locals, locals_capacity;
    struct lark_local *locals; /* in scope */
};

struct lark_compiler {
    struct lark *l;
    struct lark_lexer lexer;
    struct lark_token token; /* the next one */
    struct lark_unit *unit;
    uint32_t nesting;
    uint32_t line; /* of operations emitted now */
    bool failed;
};

/* -- compile.c: tokens, operations, names -- */

void lark_compile_error(struct lark_compiler *c, uint32_t line, const char *message);
void lark_compile_next(struct lark_compiler *c);

/* Skip the token if it is the next one. */
bool lark_compile_accept(struct lark_compiler *c, int type);

/* Skip it, or report an error ("expected ...") if it is not the next one. */
void lark_compile_expect(struct lark_compiler *c, int type, const char *what);

/* Enter one more level of the grammar; report an error if that is too deep. */
void lark_compile_nest(struct lark_compiler *c);

/* Append an operation that changes the operand count by `effect`; return its index. */
int32_t lark_compile_emit(struct lark_compiler *c, enum lark_opcode code, int32_t arg,
                          int effect);

/* Let the jump at `at` go to the operation that is emitted next. */
void lark_compile_land(struct lark_compiler *c, int32_t at);

/* Return a local's slot, or -1. */
int32_t lark_compile_local(struct lark_compiler *c, const struct lark_token *name);
int32_t lark_compile_declare(struct lark_compiler *c, const struct lark_token *name);
void lark_compile_open_block(struct lark_compiler *c);
void lark_compile_close_block(struct lark_compiler *c);

/* Compile parameters and body of a function; `fn` and the name are read. */
struct lark_function *lark_compile_function(struct lark_compiler *c, const char *name,
                                            uint32_t line);

/* -- statement.c and expression.c -- */

void lark_statement(struct lark_compiler *c);

/* Compile "{ ... }" in a block of its own. */
void lark_statement_block(struct lark_compiler *c);

/* Compile an expression, which leaves one operand. */
void lark_expression(struct lark_compiler *c);

/* Compile the first part of an expression: a name, a call, an index, ... Return true if a
 * value can be stored in it; the last operation is then its load. */
bool lark_expression_place(struct lark_compiler *c);

/* Compile the operators after a first part that was read. */
void lark_expression_rest(struct lark_compiler *c);

#endif
