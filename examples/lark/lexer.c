/* lexer.c - a script's text, token by token.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lexer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    int type;
} lexer_keywords[] = {
    { "fn", LARK_TOKEN_FN },         { "let", LARK_TOKEN_LET },
    { "if", LARK_TOKEN_IF },         { "else", LARK_TOKEN_ELSE },
    { "while", LARK_TOKEN_WHILE },   { "for", LARK_TOKEN_FOR },
    { "break", LARK_TOKEN_BREAK },   { "continue", LARK_TOKEN_CONTINUE },
    { "return", LARK_TOKEN_RETURN }, { "true", LARK_TOKEN_TRUE },
    { "false", LARK_TOKEN_FALSE },   { "nil", LARK_TOKEN_NIL },
    { "and", LARK_TOKEN_AND },       { "or", LARK_TOKEN_OR },
    { "not", LARK_TOKEN_NOT },
};

static const struct {
    char text[3];
    int type;
} lexer_pairs[] = {
    { "==", LARK_TOKEN_EQ },     { "!=", LARK_TOKEN_NE },
    { "<=", LARK_TOKEN_LE },     { ">=", LARK_TOKEN_GE },
    { "<<", LARK_TOKEN_SHL },    { ">>", LARK_TOKEN_SHR },
    { "+=", LARK_TOKEN_ADD_TO }, { "-=", LARK_TOKEN_SUB_FROM },
};

#define LEXER_COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool lexer_in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Skip spaces and comments, which begin with # and end with the line. */
static void lexer_skip(struct lark_lexer *x)
{
    for (; x->next < x->end; x->next++) {
        if (*x->next == '#')
            while (x->next < x->end && *x->next != '\n')
                x->next++;
        if (x->next == x->end || !isspace((unsigned char)*x->next))
            return;
        x->line += *x->next == '\n';
    }
}

static struct lark_token lexer_bad(struct lark_lexer *x, struct lark_token t,
                                   const char *error)
{
    x->error = error;
    t.type = LARK_TOKEN_BAD;
    return t;
}

static struct lark_token lexer_name(struct lark_lexer *x, struct lark_token t)
{
    while (lexer_in_name(*x->next))
        x->next++;
    t.n_bytes = (size_t)(x->next - t.text);
    t.type = LARK_TOKEN_NAME;
    for (size_t i = 0; i < LEXER_COUNT(lexer_keywords); i++)
        if (strlen(lexer_keywords[i].text) == t.n_bytes &&
            !memcmp(lexer_keywords[i].text, t.text, t.n_bytes))
            t.type = lexer_keywords[i].type;
    return t;
}

/* The source ends in a zero byte, so strtod and strtoll stop inside it. */
static struct lark_token lexer_number(struct lark_lexer *x, struct lark_token t)
{
    char *int_end, *double_end;
    bool hex = t.text[0] == '0' && (t.text[1] | 0x20) == 'x';
    errno = 0;
    t.i = strtoll(t.text, &int_end, hex ? 16 : 10);
    bool overflow = errno == ERANGE;
    t.d = strtod(t.text, &double_end);
    t.type = !hex && double_end > int_end ? LARK_TOKEN_DOUBLE : LARK_TOKEN_INT;
    x->next = t.type == LARK_TOKEN_DOUBLE ? double_end : int_end;
    if (lexer_in_name(*x->next))
        return lexer_bad(x, t, "malformed number");
    if (t.type == LARK_TOKEN_INT && overflow)
        return lexer_bad(x, t, "integer does not fit in 64 bits");
    return t;
}

static struct lark_token lexer_string(struct lark_lexer *x, struct lark_token t)
{
    t.text = ++x->next;
    for (; x->next < x->end && *x->next != '"' && *x->next != '\n'; x->next++) {
        if (*x->next != '\\')
            continue;
        x->next++;
        if (!*x->next || !strchr("nrt\"\\0e", *x->next))
            return lexer_bad(x, t, "unknown escape in a string");
    }
    if (x->next >= x->end || *x->next != '"')
        return lexer_bad(x, t, "string without an end");
    t.n_bytes = (size_t)(x->next++ - t.text);
    t.type = LARK_TOKEN_STRING;
    return t;
}

static struct lark_token lexer_punctuation(struct lark_lexer *x, struct lark_token t)
{
    for (size_t i = 0; i < LEXER_COUNT(lexer_pairs); i++) {
        if (memcmp(lexer_pairs[i].text, t.text, 2))
            continue;
        t.type = lexer_pairs[i].type;
        x->next += 2;
        return t;
    }
    t.type = (unsigned char)*x->next++;
    if (!t.type || !strchr("+-*/%&|^<>=()[]{},;", t.type))
        return lexer_bad(x, t, "unexpected character");
    return t;
}

struct lark_token lark_lexer_next(struct lark_lexer *x)
{
    lexer_skip(x);
    struct lark_token t = { .line = x->line, .text = x->next, .n_bytes = 1 };
    if (x->next >= x->end) {
        t.n_bytes = 0;
        return t;
    }
    char c = *x->next;
    if (isdigit((unsigned char)c))
        return lexer_number(x, t);
    if (lexer_in_name(c))
        return lexer_name(x, t);
    if (c == '"')
        return lexer_string(x, t);
    return lexer_punctuation(x, t);
}

static char lexer_escape(char c)
{
    switch (c) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'e': return 27;
    case '0': return 0;
    default: return c;
    }
}

size_t lark_lexer_unescape(const struct lark_token *string, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < string->n_bytes; i++)
        out[n++] =
            string->text[i] == '\\' ? lexer_escape(string->text[++i]) : string->text[i];
    return n;
}
