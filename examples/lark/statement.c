/* statement.c - the grammar of statements.
 *
 *     let x = 1;   x = 2;   x += 3;   a[i] = 4;   f(x);
 *     fn name(a, b) { ... return a; }
 *     if x { ... } else if y { ... } else { ... }
 *     while x { ... break; ... continue; }
 *     for i = 0, n { ... }                      # i is 0, 1, ... n - 1
 *
 * SPDX-License-Identifier: MIT
 */
#include "compile.h"

#include <stdio.h>
#include <string.h>

static void statement_end(struct lark_compiler *c)
{
    lark_compile_expect(c, ';', "';'");
}

void lark_statement_block(struct lark_compiler *c)
{
    lark_compile_expect(c, '{', "'{'");
    lark_compile_open_block(c);
    while (c->token.type != '}' && c->token.type != LARK_TOKEN_END)
        lark_statement(c);
    lark_compile_close_block(c);
    lark_compile_expect(c, '}', "'}'");
}

static bool statement_at_top(const struct lark_compiler *c)
{
    return !c->unit->outer && !c->unit->block;
}

static uint32_t statement_declare_global(struct lark_compiler *c,
                                         const struct lark_token *name)
{
    uint32_t slot = lark_global_slot(c->l, name->text, name->n_bytes);
    if (c->l->names[slot].declared)
        lark_compile_error(c, name->line, "declared twice, or the name of a builtin");
    c->l->names[slot].declared = true;
    return slot;
}

static void statement_nil(struct lark_compiler *c)
{
    uint32_t nil = lark_function_const(c->unit->f, lark_nil());
    lark_compile_emit(c, LARK_CONST, (int32_t)nil, 1);
}

/* The name is known only after its value: `let x = x;` takes the outer x. */
static void statement_let(struct lark_compiler *c)
{
    struct lark_token name = c->token;
    lark_compile_expect(c, LARK_TOKEN_NAME, "a name");
    if (lark_compile_accept(c, '='))
        lark_expression(c);
    else
        statement_nil(c);
    if (c->failed)
        return;
    if (statement_at_top(c))
        lark_compile_emit(c, LARK_ASSIGN, (int32_t)statement_declare_global(c, &name),
                          -1);
    else
        lark_compile_emit(c, LARK_STORE, lark_compile_declare(c, &name), -1);
    statement_end(c);
}

static void statement_fn(struct lark_compiler *c, uint32_t line)
{
    struct lark_token name = c->token;
    lark_compile_expect(c, LARK_TOKEN_NAME, "the function's name");
    if (!statement_at_top(c))
        lark_compile_error(c, line, "a named function stands at the top level");
    if (c->failed)
        return;
    uint32_t slot = statement_declare_global(c, &name);
    char text[128];
    snprintf(text, sizeof(text), "%.*s", name.n_bytes < 127 ? (int)name.n_bytes : 127,
             name.text);
    struct lark_function *f = lark_compile_function(c, text, line);
    c->l->globals[slot] = (struct lark_value){ .type = LARK_FUNCTION, .as.function = f };
}

static void statement_if(struct lark_compiler *c)
{
    lark_compile_nest(c);
    lark_expression(c);
    int32_t unless = lark_compile_emit(c, LARK_UNLESS, 0, -1);
    lark_statement_block(c);
    if (lark_compile_accept(c, LARK_TOKEN_ELSE)) {
        int32_t jump = lark_compile_emit(c, LARK_JUMP, 0, 0);
        lark_compile_land(c, unless);
        if (lark_compile_accept(c, LARK_TOKEN_IF))
            statement_if(c);
        else
            lark_statement_block(c);
        lark_compile_land(c, jump);
    } else {
        lark_compile_land(c, unless);
    }
    c->nesting--;
}

static void statement_land_chain(struct lark_compiler *c, int32_t at)
{
    while (at != LARK_COMPILE_NO_JUMP && !c->failed) {
        int32_t next = c->unit->f->ops[at].arg;
        lark_compile_land(c, at);
        at = next;
    }
}

static void statement_open_loop(struct lark_compiler *c, struct lark_loop *loop)
{
    *loop =
        (struct lark_loop){ c->unit->loop, LARK_COMPILE_NO_JUMP, LARK_COMPILE_NO_JUMP };
    c->unit->loop = loop;
}

static void statement_while(struct lark_compiler *c)
{
    struct lark_loop loop;
    statement_open_loop(c, &loop);
    int32_t begin = (int32_t)c->unit->f->n_ops;
    lark_expression(c);
    int32_t unless = lark_compile_emit(c, LARK_UNLESS, 0, -1);
    lark_statement_block(c);
    statement_land_chain(c, loop.continues);
    lark_compile_emit(c, LARK_JUMP, begin, 0);
    lark_compile_land(c, unless);
    statement_land_chain(c, loop.breaks);
    c->unit->loop = loop.outer;
}

/* Make a local that no name can reach. */
static int32_t statement_hidden(struct lark_compiler *c)
{
    struct lark_token name = { .text = "", .line = c->line };
    c->unit->block++; /* one block may have several */
    int32_t slot = lark_compile_declare(c, &name);
    c->unit->block--;
    c->unit->locals[slot].block = c->unit->block;
    return slot;
}

static void statement_add_one(struct lark_compiler *c, int32_t slot)
{
    uint32_t one = lark_function_const(c->unit->f, lark_int(1));
    lark_compile_emit(c, LARK_LOCAL, slot, 1);
    lark_compile_emit(c, LARK_CONST, (int32_t)one, 1);
    lark_compile_emit(c, LARK_ADD, 0, -1);
    lark_compile_emit(c, LARK_STORE, slot, -1);
}

/* Both bounds are evaluated once. */
static void statement_for(struct lark_compiler *c)
{
    struct lark_loop loop;
    struct lark_token name = c->token;
    uint32_t line = name.line;
    lark_compile_expect(c, LARK_TOKEN_NAME, "a name");
    lark_compile_expect(c, '=', "'='");
    lark_expression(c);
    lark_compile_expect(c, ',', "','");
    lark_expression(c);
    lark_compile_open_block(c);
    int32_t bound = statement_hidden(c);
    lark_compile_emit(c, LARK_STORE, bound, -1);
    int32_t slot = lark_compile_declare(c, &name);
    lark_compile_emit(c, LARK_STORE, slot, -1);
    statement_open_loop(c, &loop);
    int32_t begin = (int32_t)c->unit->f->n_ops;
    lark_compile_emit(c, LARK_LOCAL, slot, 1);
    lark_compile_emit(c, LARK_LOCAL, bound, 1);
    lark_compile_emit(c, LARK_LT, 0, -1);
    int32_t unless = lark_compile_emit(c, LARK_UNLESS, 0, -1);
    lark_statement_block(c);
    statement_land_chain(c, loop.continues);
    c->line = line;
    statement_add_one(c, slot);
    lark_compile_emit(c, LARK_JUMP, begin, 0);
    lark_compile_land(c, unless);
    statement_land_chain(c, loop.breaks);
    c->unit->loop = loop.outer;
    lark_compile_close_block(c);
}

/* break or continue. */
static void statement_leave(struct lark_compiler *c, bool is_break, uint32_t line)
{
    struct lark_loop *loop = c->unit->loop;
    if (!loop) {
        lark_compile_error(c, line, "not in a loop");
        return;
    }
    int32_t *chain = is_break ? &loop->breaks : &loop->continues;
    *chain = lark_compile_emit(c, LARK_JUMP, *chain, 0);
    statement_end(c);
}

static void statement_return(struct lark_compiler *c)
{
    if (c->token.type == ';')
        statement_nil(c);
    else
        lark_expression(c);
    lark_compile_emit(c, LARK_RETURN, 0, -1);
    statement_end(c);
}

/* Store the next value where `load` would have loaded from. */
static void statement_store(struct lark_compiler *c, struct lark_op load)
{
    lark_expression(c);
    if (load.code == LARK_LOCAL)
        lark_compile_emit(c, LARK_STORE, load.arg, -1);
    else if (load.code == LARK_GLOBAL)
        lark_compile_emit(c, LARK_ASSIGN, load.arg, -1);
    else
        lark_compile_emit(c, LARK_PUT, 0, -3);
}

static void statement_add(struct lark_compiler *c, struct lark_op load,
                          enum lark_opcode code)
{
    if (load.code == LARK_INDEX) {
        lark_compile_error(c, c->line, "'+=' and '-=' need a variable");
        return;
    }
    lark_compile_emit(c, load.code, load.arg, 1);
    lark_expression(c);
    lark_compile_emit(c, code, 0, -1);
    lark_compile_emit(c, load.code == LARK_LOCAL ? LARK_STORE : LARK_ASSIGN, load.arg,
                      -1);
}

/* Undo the load that was emitted last. */
static struct lark_op statement_unload(struct lark_compiler *c)
{
    struct lark_function *f = c->unit->f;
    c->unit->depth = f->ops[f->n_ops - 1].depth;
    return f->ops[--f->n_ops];
}

static void statement_expression(struct lark_compiler *c)
{
    bool place = lark_expression_place(c) && !c->failed;
    if (place && lark_compile_accept(c, '=')) {
        statement_store(c, statement_unload(c));
    } else if (place && lark_compile_accept(c, LARK_TOKEN_ADD_TO)) {
        statement_add(c, statement_unload(c), LARK_ADD);
    } else if (place && lark_compile_accept(c, LARK_TOKEN_SUB_FROM)) {
        statement_add(c, statement_unload(c), LARK_SUB);
    } else {
        lark_expression_rest(c);
        lark_compile_emit(c, LARK_POP, 0, -1);
    }
    statement_end(c);
}

static void statement_by_keyword(struct lark_compiler *c)
{
    uint32_t line = c->token.line;
    int type = c->token.type;
    if (type != LARK_TOKEN_FN && type < LARK_TOKEN_LET) {
        statement_expression(c);
        return;
    }
    if (type > LARK_TOKEN_RETURN) {
        statement_expression(c);
        return;
    }
    lark_compile_next(c);
    switch (type) {
    case LARK_TOKEN_FN: statement_fn(c, line); break;
    case LARK_TOKEN_LET: statement_let(c); break;
    case LARK_TOKEN_IF: statement_if(c); break;
    case LARK_TOKEN_WHILE: statement_while(c); break;
    case LARK_TOKEN_FOR: statement_for(c); break;
    case LARK_TOKEN_RETURN: statement_return(c); break;
    case LARK_TOKEN_ELSE: lark_compile_error(c, line, "'else' without 'if'"); break;
    default: statement_leave(c, type == LARK_TOKEN_BREAK, line);
    }
}

void lark_statement(struct lark_compiler *c)
{
    lark_compile_nest(c);
    if (c->token.type == '{')
        lark_statement_block(c);
    else
        statement_by_keyword(c);
    c->nesting--;
}
