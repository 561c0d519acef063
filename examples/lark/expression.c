/* expression.c - the grammar of expressions.
 *
 * From loose to tight: or; and; not; == != < <= > >=; |; ^; &; << >>; + -; * / %;
 * unary -; calls and indexes. Comparisons chain to the left like the rest.
 *
 * SPDX-License-Identifier: MIT
 */
#include "compile.h"

#include "heap.h"

enum { EXPRESSION_NOT = 3 };

static const struct expression_binary {
    int token;
    int level;
    enum lark_opcode code;
} expression_binaries[] = {
    { LARK_TOKEN_OR, 1, LARK_OR },   { LARK_TOKEN_AND, 2, LARK_AND },
    { LARK_TOKEN_EQ, 4, LARK_EQ },   { LARK_TOKEN_NE, 4, LARK_NE },
    { '<', 4, LARK_LT },             { LARK_TOKEN_LE, 4, LARK_LE },
    { '>', 4, LARK_GT },             { LARK_TOKEN_GE, 4, LARK_GE },
    { '|', 5, LARK_BITOR },          { '^', 6, LARK_BITXOR },
    { '&', 7, LARK_BITAND },         { LARK_TOKEN_SHL, 8, LARK_SHL },
    { LARK_TOKEN_SHR, 8, LARK_SHR }, { '+', 9, LARK_ADD },
    { '-', 9, LARK_SUB },            { '*', 10, LARK_MUL },
    { '/', 10, LARK_DIV },           { '%', 10, LARK_MOD },
};

static void expression_level(struct lark_compiler *c, int level);

static void expression_push(struct lark_compiler *c, struct lark_value v)
{
    uint32_t index = lark_function_const(c->unit->f, v);
    lark_compile_emit(c, LARK_CONST, (int32_t)index, 1);
}

static void expression_string(struct lark_compiler *c, const struct lark_token *t)
{
    struct lark_string *room = lark_heap_string(c->l, t->n_bytes);
    size_t n = lark_lexer_unescape(t, room->bytes);
    expression_push(c, lark_string_value(lark_heap_text(c->l, room->bytes, n)));
}

static void expression_name(struct lark_compiler *c, const struct lark_token *t)
{
    int32_t slot = lark_compile_local(c, t);
    if (slot >= 0) {
        lark_compile_emit(c, LARK_LOCAL, slot, 1);
        return;
    }
    uint32_t global = lark_global_slot(c->l, t->text, t->n_bytes);
    if (!c->l->names[global].line)
        c->l->names[global].line = t->line;
    lark_compile_emit(c, LARK_GLOBAL, (int32_t)global, 1);
}

static void expression_array(struct lark_compiler *c)
{
    int32_t n = 0;
    while (c->token.type != ']' && c->token.type != LARK_TOKEN_END) {
        lark_expression(c);
        n++;
        if (!lark_compile_accept(c, ','))
            break;
    }
    lark_compile_expect(c, ']', "',' or ']'");
    lark_compile_emit(c, LARK_LIST, n, 1 - n);
}

/* Compile a function without a name, which sees its own locals and the globals only. */
static void expression_fn(struct lark_compiler *c, uint32_t line)
{
    struct lark_function *f = lark_compile_function(c, "fn", line);
    expression_push(c, (struct lark_value){ .type = LARK_FUNCTION, .as.function = f });
}

static void expression_primary(struct lark_compiler *c, const struct lark_token *t)
{
    switch (t->type) {
    case LARK_TOKEN_NAME: expression_name(c, t); break;
    case LARK_TOKEN_INT: expression_push(c, lark_int(t->i)); break;
    case LARK_TOKEN_DOUBLE: expression_push(c, lark_double(t->d)); break;
    case LARK_TOKEN_STRING: expression_string(c, t); break;
    case LARK_TOKEN_TRUE: expression_push(c, lark_bool(true)); break;
    case LARK_TOKEN_FALSE: expression_push(c, lark_bool(false)); break;
    case LARK_TOKEN_NIL: expression_push(c, lark_nil()); break;
    case LARK_TOKEN_FN: expression_fn(c, t->line); break;
    case '[': expression_array(c); break;
    default:
        lark_expression(c);
        lark_compile_expect(c, ')', "')'");
    }
}

static bool expression_begins(int type)
{
    return (type >= LARK_TOKEN_NAME && type <= LARK_TOKEN_STRING) || type == '(' ||
           type == '[' || type == LARK_TOKEN_FN ||
           (type >= LARK_TOKEN_TRUE && type <= LARK_TOKEN_NIL);
}

static void expression_call(struct lark_compiler *c, uint32_t line)
{
    int32_t n = 0;
    while (c->token.type != ')' && c->token.type != LARK_TOKEN_END) {
        lark_expression(c);
        n++;
        if (!lark_compile_accept(c, ','))
            break;
    }
    lark_compile_expect(c, ')', "',' or ')'");
    c->line = line; /* a call over several lines belongs to the first */
    lark_compile_emit(c, LARK_CALL, n, -n);
}

static void expression_negate(struct lark_compiler *c)
{
    lark_compile_nest(c);
    if (lark_compile_accept(c, '-')) {
        uint32_t line = c->line;
        expression_negate(c);
        c->line = line;
        lark_compile_emit(c, LARK_NEG, 0, 0);
    } else {
        lark_expression_place(c);
    }
    c->nesting--;
}

bool lark_expression_place(struct lark_compiler *c)
{
    struct lark_token t = c->token;
    if (t.type == '-') {
        expression_negate(c);
        return false;
    }
    if (t.type == LARK_TOKEN_NOT) {
        expression_level(c, EXPRESSION_NOT);
        return false;
    }
    if (!expression_begins(t.type)) {
        lark_compile_expect(c, LARK_TOKEN_NAME, "an expression");
        return false;
    }
    lark_compile_next(c);
    expression_primary(c, &t);
    bool place = t.type == LARK_TOKEN_NAME;
    for (;;) {
        uint32_t line = c->token.line;
        if (lark_compile_accept(c, '(')) {
            expression_call(c, line);
            place = false;
        } else if (lark_compile_accept(c, '[')) {
            lark_expression(c);
            lark_compile_expect(c, ']', "']'");
            lark_compile_emit(c, LARK_INDEX, 0, -1);
            place = true;
        } else {
            return place;
        }
    }
}

static const struct expression_binary *expression_operator(int token)
{
    size_t n = sizeof(expression_binaries) / sizeof(expression_binaries[0]);
    for (size_t i = 0; i < n; i++)
        if (expression_binaries[i].token == token)
            return &expression_binaries[i];
    return NULL;
}

/* Compile operators of this level or tighter, after a left side that was read. */
static void expression_operators(struct lark_compiler *c, int level)
{
    for (;;) {
        const struct expression_binary *b = expression_operator(c->token.type);
        if (!b || b->level < level)
            return;
        lark_compile_next(c);
        uint32_t line = c->line;
        bool jumps = b->code == LARK_AND || b->code == LARK_OR;
        int32_t at = jumps ? lark_compile_emit(c, b->code, 0, -1) : 0;
        expression_level(c, b->level + 1);
        c->line = line;
        if (jumps)
            lark_compile_land(c, at);
        else
            lark_compile_emit(c, b->code, 0, -1);
    }
}

static void expression_level(struct lark_compiler *c, int level)
{
    lark_compile_nest(c);
    if (level <= EXPRESSION_NOT && lark_compile_accept(c, LARK_TOKEN_NOT)) {
        expression_level(c, EXPRESSION_NOT);
        lark_compile_emit(c, LARK_NOT, 0, 0);
    } else {
        lark_expression_place(c);
    }
    expression_operators(c, level);
    c->nesting--;
}

void lark_expression(struct lark_compiler *c)
{
    expression_level(c, 1);
}

void lark_expression_rest(struct lark_compiler *c)
{
    expression_operators(c, 1);
}
