/* lexer.h - a script's text, token by token.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_LEXER_H
#define LARK_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Punctuation of one character is its own token; the numbers of these are above all
 * characters. */
enum lark_token_type {
    LARK_TOKEN_END = 0,
    LARK_TOKEN_NAME = 256,
    LARK_TOKEN_INT,
    LARK_TOKEN_DOUBLE,
    LARK_TOKEN_STRING,
    LARK_TOKEN_BAD, /* lexer.error has the reason */
    LARK_TOKEN_EQ,
    LARK_TOKEN_NE,
    LARK_TOKEN_LE,
    LARK_TOKEN_GE,
    LARK_TOKEN_SHL,
    LARK_TOKEN_SHR,
    LARK_TOKEN_ADD_TO, /* += */
    LARK_TOKEN_SUB_FROM,
    LARK_TOKEN_FN, /* the keywords */
    LARK_TOKEN_LET,
    LARK_TOKEN_IF,
    LARK_TOKEN_ELSE,
    LARK_TOKEN_WHILE,
    LARK_TOKEN_FOR,
    LARK_TOKEN_BREAK,
    LARK_TOKEN_CONTINUE,
    LARK_TOKEN_RETURN,
    LARK_TOKEN_TRUE,
    LARK_TOKEN_FALSE,
    LARK_TOKEN_NIL,
    LARK_TOKEN_AND,
    LARK_TOKEN_OR,
    LARK_TOKEN_NOT,
};

struct lark_token {
    int type;
    uint32_t line;
    const char *text; /* in the source; of a string: between the quotes */
    size_t n_bytes;
    int64_t i;
    double d;
};

struct lark_lexer {
    const char *next; /* borrowed source, with a zero byte at end */
    const char *end;
    uint32_t line;
    const char *error; /* reason of the last LARK_TOKEN_BAD */
};

struct lark_token lark_lexer_next(struct lark_lexer *x);

/* Write a string token without its escapes to `out`, n_bytes of room; return the length. */
size_t lark_lexer_unescape(const struct lark_token *string, char *out);

#endif
