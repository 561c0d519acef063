/* compile.c - tokens in, operations out; functions and the scopes of names.
 *
 * SPDX-License-Identifier: MIT
 */
#include "compile.h"

#include "heap.h"
#include "profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lark_compile_error(struct lark_compiler *c, uint32_t line, const char *message)
{
    if (c->failed)
        return;
    fflush(stdout);
    fprintf(stderr, "%s:%u: %s\n", c->l->path, line, message);
    c->failed = true;
    c->lexer.next = c->lexer.end;
    c->token = (struct lark_token){ .type = LARK_TOKEN_END, .line = line };
}

void lark_compile_next(struct lark_compiler *c)
{
    c->line = c->token.line;
    c->token = lark_lexer_next(&c->lexer);
    if (c->token.type == LARK_TOKEN_BAD)
        lark_compile_error(c, c->token.line, c->lexer.error);
}

bool lark_compile_accept(struct lark_compiler *c, int type)
{
    if (c->token.type != type)
        return false;
    lark_compile_next(c);
    return true;
}

void lark_compile_expect(struct lark_compiler *c, int type, const char *what)
{
    if (c->token.type == type) {
        lark_compile_next(c);
        return;
    }
    char message[160];
    if (c->token.type == LARK_TOKEN_END)
        snprintf(message, sizeof(message), "expected %s before the end of the file",
                 what);
    else
        snprintf(message, sizeof(message), "expected %s before '%.*s'", what,
                 c->token.n_bytes < 40 ? (int)c->token.n_bytes : 40, c->token.text);
    lark_compile_error(c, c->token.line, message);
}

void lark_compile_nest(struct lark_compiler *c)
{
    if (++c->nesting > LARK_COMPILE_NESTING)
        lark_compile_error(c, c->token.line, "nested too deeply");
}

int32_t lark_compile_emit(struct lark_compiler *c, enum lark_opcode code, int32_t arg,
                          int effect)
{
    struct lark_unit *u = c->unit;
    if (u->depth >= LARK_MAX_SLOTS)
        lark_compile_error(c, c->line, "expression needs too many operands");
    if (c->failed)
        return 0;
    struct lark_op op = {
        .code = (uint8_t)code, .depth = (uint16_t)u->depth, .arg = arg, .line = c->line,
    };
    u->depth = (uint32_t)((int)u->depth + effect);
    return (int32_t)lark_function_emit(u->f, op, effect);
}

void lark_compile_land(struct lark_compiler *c, int32_t at)
{
    if (!c->failed)
        c->unit->f->ops[at].arg = (int32_t)c->unit->f->n_ops;
}

int32_t lark_compile_local(struct lark_compiler *c, const struct lark_token *name)
{
    const struct lark_unit *u = c->unit;
    for (uint32_t i = u->n_locals; i-- > 0;)
        if (u->locals[i].n_bytes == name->n_bytes &&
            !memcmp(u->locals[i].name, name->text, name->n_bytes))
            return (int32_t)i;
    return -1;
}

int32_t lark_compile_declare(struct lark_compiler *c, const struct lark_token *name)
{
    struct lark_unit *u = c->unit;
    int32_t old = lark_compile_local(c, name);
    if (old >= 0 && u->locals[old].block == u->block)
        lark_compile_error(c, name->line, "declared twice in one block");
    if (u->n_locals >= LARK_MAX_SLOTS)
        lark_compile_error(c, name->line, "too many local variables");
    u->locals = lark_heap_grow(u->locals, &u->locals_capacity, u->n_locals + 1,
                               sizeof(struct lark_local));
    u->locals[u->n_locals] = (struct lark_local){ name->text, name->n_bytes, u->block };
    if (u->f->n_locals < ++u->n_locals)
        u->f->n_locals = u->n_locals;
    return (int32_t)u->n_locals - 1;
}

void lark_compile_open_block(struct lark_compiler *c)
{
    c->unit->block++;
}

void lark_compile_close_block(struct lark_compiler *c)
{
    struct lark_unit *u = c->unit;
    while (u->n_locals && u->locals[u->n_locals - 1].block == u->block)
        u->n_locals--;
    u->block--;
}

static void compile_params(struct lark_compiler *c)
{
    lark_compile_expect(c, '(', "'('");
    while (c->token.type == LARK_TOKEN_NAME) {
        lark_compile_declare(c, &c->token);
        c->unit->f->n_params++;
        lark_compile_next(c);
        if (!lark_compile_accept(c, ','))
            break;
    }
    lark_compile_expect(c, ')', "a parameter or ')'");
}

/* A function that runs off its end returns nil. */
static void compile_end(struct lark_compiler *c)
{
    uint32_t nil = lark_function_const(c->unit->f, lark_nil());
    lark_compile_emit(c, LARK_CONST, (int32_t)nil, 1);
    lark_compile_emit(c, LARK_RETURN, 0, -1);
    free(c->unit->locals);
    if (!c->failed)
        lark_profile_listing(c->l, c->unit->f);
}

struct lark_function *lark_compile_function(struct lark_compiler *c, const char *name,
                                            uint32_t line)
{
    lark_compile_nest(c);
    struct lark_unit unit = { .outer = c->unit };
    unit.f = lark_function_new(c->l, name, line);
    c->unit = &unit;
    compile_params(c);
    lark_compile_expect(c, '{', "'{'");
    while (c->token.type != '}' && c->token.type != LARK_TOKEN_END)
        lark_statement(c);
    lark_compile_expect(c, '}', "'}'");
    compile_end(c);
    c->unit = unit.outer;
    c->nesting--;
    return unit.f;
}

/* Report a name that no `let` and no `fn` ever declared. */
static void compile_check_names(struct lark_compiler *c)
{
    for (uint32_t i = 0; i < c->l->n_globals && !c->failed; i++) {
        if (c->l->names[i].declared)
            continue;
        char message[160];
        snprintf(message, sizeof(message), "unknown name '%.100s'", c->l->names[i].name);
        lark_compile_error(c, c->l->names[i].line, message);
    }
}

struct lark_function *lark_compile(struct lark *l, const char *source, size_t n_bytes)
{
    struct lark_compiler c = {
        .l = l,
        .lexer = { .next = source, .end = source + n_bytes, .line = 1 },
        .line = 1,
    };
    struct lark_unit unit = { .f = lark_function_new(l, "main", 1) };
    c.unit = &unit;
    size_t limit = l->heap_limit;
    l->heap_limit = SIZE_MAX; /* nothing is reachable yet */
    lark_compile_next(&c);
    while (c.token.type != LARK_TOKEN_END)
        lark_statement(&c);
    compile_end(&c);
    compile_check_names(&c);
    l->heap_limit = limit;
    return c.failed ? NULL : unit.f;
}
