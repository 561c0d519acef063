/* listing.c - a function's bytecode as text, for people and for the profiler.
 *
 * SPDX-License-Identifier: MIT
 */
#include "listing.h"

#include "heap.h"

#include <stdio.h>
#include <stdlib.h>

enum { LISTING_TEXT = 64, LISTING_STRING = 24 };

static const char *const listing_names[] = {
    [LARK_CONST] = "const",   [LARK_LOCAL] = "local",   [LARK_STORE] = "store",
    [LARK_GLOBAL] = "global", [LARK_ASSIGN] = "assign", [LARK_POP] = "pop",
    [LARK_ADD] = "add",       [LARK_SUB] = "sub",       [LARK_MUL] = "mul",
    [LARK_DIV] = "div",       [LARK_MOD] = "mod",       [LARK_BITAND] = "bitand",
    [LARK_BITOR] = "bitor",   [LARK_BITXOR] = "bitxor", [LARK_SHL] = "shl",
    [LARK_SHR] = "shr",       [LARK_EQ] = "eq",         [LARK_NE] = "ne",
    [LARK_LT] = "lt",         [LARK_LE] = "le",         [LARK_GT] = "gt",
    [LARK_GE] = "ge",         [LARK_NEG] = "neg",       [LARK_NOT] = "not",
    [LARK_JUMP] = "jump",     [LARK_UNLESS] = "unless", [LARK_AND] = "and",
    [LARK_OR] = "or",         [LARK_LIST] = "list",     [LARK_INDEX] = "index",
    [LARK_PUT] = "put",       [LARK_CALL] = "call",     [LARK_RETURN] = "return",
};

static bool listing_jumps(uint8_t code)
{
    return code >= LARK_JUMP && code <= LARK_OR;
}

static void listing_const(char *to, const struct lark_value *v)
{
    switch (v->type) {
    case LARK_INT: snprintf(to, LISTING_TEXT, "const %lld", (long long)v->as.i); break;
    case LARK_DOUBLE: snprintf(to, LISTING_TEXT, "const %.9g", v->as.d); break;
    case LARK_STRING:
        snprintf(to, LISTING_TEXT, "const \"%.*s\"",
                 (int)(v->as.string->n_bytes < LISTING_STRING ? v->as.string->n_bytes
                                                              : LISTING_STRING),
                 v->as.string->bytes);
        break;
    case LARK_FUNCTION:
        snprintf(to, LISTING_TEXT, "const fn %s", v->as.function->name);
        break;
    default: snprintf(to, LISTING_TEXT, "const %s", lark_type_name(v));
    }
}

static void listing_text(char *to, const struct lark *l, const struct lark_function *f,
                         const struct lark_op *op)
{
    const char *name = listing_names[op->code];
    if (op->code == LARK_CONST)
        listing_const(to, &f->consts[op->arg]);
    else if (op->code == LARK_GLOBAL || op->code == LARK_ASSIGN)
        snprintf(to, LISTING_TEXT, "%s %s", name, l->names[op->arg].name);
    else if (listing_jumps(op->code))
        snprintf(to, LISTING_TEXT, "%s to %d", name, (int)op->arg + 1);
    else if (op->code == LARK_LOCAL || op->code == LARK_STORE || op->code == LARK_LIST ||
             op->code == LARK_CALL)
        snprintf(to, LISTING_TEXT, "%s %d", name, (int)op->arg);
    else
        snprintf(to, LISTING_TEXT, "%s", name);
}

void lark_listing_make(struct lark_listing *out, const struct lark *l,
                       const struct lark_function *f)
{
    out->rows = lark_heap_resize(NULL, f->n_ops * sizeof(*out->rows));
    out->texts = lark_heap_resize(NULL, (size_t)f->n_ops * LISTING_TEXT);
    out->targets = lark_heap_resize(NULL, f->n_ops * sizeof(*out->targets));
    for (uint32_t i = 0; i < f->n_ops; i++) {
        const struct lark_op *op = &f->ops[i];
        bool jumps = listing_jumps(op->code);
        char *text = out->texts + (size_t)i * LISTING_TEXT;
        listing_text(text, l, f, op);
        out->targets[i] = jumps ? (uint64_t)op->arg + 1 : 0;
        out->rows[i] = (jsprof_listing_row){
            .pc = op->pc,
            .text = text,
            .targets = &out->targets[i],
            .n_targets = jumps,
            .line = op->line,
            .ends = op->code == LARK_JUMP || op->code == LARK_RETURN,
        };
    }
}

void lark_listing_free(struct lark_listing *listing)
{
    free(listing->rows);
    free(listing->texts);
    free(listing->targets);
}
