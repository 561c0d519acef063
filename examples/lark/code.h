/* code.h - compiled functions: operations, constants, and what a builtin looks like.
 *
 * An operation knows its source line and how many operands are on the stack before
 * it, so the place of every operand is known without running anything.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_CODE_H
#define LARK_CODE_H

#include "value.h"

struct lark;
struct jsprof_function;
struct lark_native;

enum lark_opcode {
    LARK_CONST,  /* push constant arg */
    LARK_LOCAL,  /* push local arg */
    LARK_STORE,  /* pop into local arg */
    LARK_GLOBAL, /* push global arg */
    LARK_ASSIGN, /* pop into global arg */
    LARK_POP,
    LARK_ADD, /* two operands become one; the same for all up to MOD */
    LARK_SUB,
    LARK_MUL,
    LARK_DIV,
    LARK_MOD,
    LARK_BITAND,
    LARK_BITOR,
    LARK_BITXOR,
    LARK_SHL,
    LARK_SHR,
    LARK_EQ,
    LARK_NE,
    LARK_LT,
    LARK_LE,
    LARK_GT,
    LARK_GE,
    LARK_NEG,
    LARK_NOT,
    LARK_JUMP,   /* jump to operation arg */
    LARK_UNLESS, /* pop; jump to arg if false */
    LARK_AND,    /* jump to arg if false, else pop */
    LARK_OR,     /* jump to arg if true, else pop */
    LARK_LIST,   /* arg operands become an array */
    LARK_INDEX,  /* array, index -> item */
    LARK_PUT,    /* array, index, item -> nothing */
    LARK_CALL,   /* callee, arg arguments -> result */
    LARK_RETURN, /* the operand is the result */
};

struct lark_op {
    uint8_t code;   /* enum lark_opcode */
    uint16_t depth; /* operands on the stack before it */
    int32_t arg;
    union {
        struct {
            uint32_t line;
            uint32_t pc; /* from 1 */
        };
        uint64_t place; /* both, so that one store sets them */
    };
};

enum { LARK_MAX_SLOTS = 60000 }; /* most locals, and most operands, of a function */

struct lark_function {
    char *name;
    uint32_t line; /* line of its `fn` */
    uint32_t n_params;
    uint32_t n_locals; /* the first of them are parameters */
    uint32_t n_operands;
    uint32_t n_ops, ops_capacity;
    struct lark_op *ops;
    uint32_t n_consts, consts_capacity;
    struct lark_value *consts;
    struct jsprof_function *profile; /* NULL: there is no memory for a name */
    uint32_t heat;                   /* calls and rounds of loops, until it is compiled */
    uint32_t refused;                /* failed tries to compile it */
    struct lark_native *native;      /* its native code, or NULL (jit.h) */
};

/* One call of a builtin. args[-1] is a root for the collector that the builtin may use. */
struct lark_call {
    struct lark_value *args;
    uint32_t n;
    struct lark_value result;
};

struct lark_builtin {
    const char *name;
    uint32_t n_least;
    uint32_t n_most;
    /* Returns false after lark_raise. */
    bool (*run)(struct lark *l, struct lark_call *call);
};

/* Make an empty function, which the interpreter owns. Copies the name. */
struct lark_function *lark_function_new(struct lark *l, const char *name, uint32_t line);

void lark_function_free(struct lark_function *f);

/* Append an operation that changes the operand count by `effect`; return its index. */
uint32_t lark_function_emit(struct lark_function *f, struct lark_op op, int effect);

/* Return the index of a constant, which may be an existing equal one. */
uint32_t lark_function_const(struct lark_function *f, struct lark_value v);

#endif
