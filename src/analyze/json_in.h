/* analyze/json_in.h - reads a JSON text from start to end, value by value.
 *
 * Strings stay where they are until the caller wants their characters. A wrong text sets is_bad,
 * and from then on nothing more is read. Nesting is bounded. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_JSON_IN_H
#define JSP_ANALYZE_JSON_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsp_json_in {
    const char *at, *end; /* borrowed */
    bool is_first;        /* the next item is the first of its list */
    bool is_bad;
};

/* The bytes of a string between its quotes, with escapes. */
struct jsp_json_in_raw {
    const char *at; /* NULL: none */
    size_t len;
};

/* Begin a list: '[' or '{'. Return false if the value is another one. */
bool jsp_json_in_open(struct jsp_json_in *j, char bracket);

/* Go to the next item of a list. Return false after the last one, which ends the list at
 * `close`: ']' or '}'. In an object, read the key after this. */
bool jsp_json_in_next(struct jsp_json_in *j, char close);

/* Read the key of the next item of an object. */
struct jsp_json_in_raw jsp_json_in_key(struct jsp_json_in *j);

/* Read a value that is a string, or null in its place (.at is NULL). */
struct jsp_json_in_raw jsp_json_in_string(struct jsp_json_in *j);

/* Read a value that is a whole number. */
uint32_t jsp_json_in_number(struct jsp_json_in *j);

/* Read any value, and drop it. */
void jsp_json_in_skip(struct jsp_json_in *j);

/* Return true if a string without escapes is this text. */
bool jsp_json_in_is(struct jsp_json_in_raw raw, const char *text);

/* Return the characters of a string as UTF-8 with a 0 at the end; the caller frees them. NULL:
 * no memory. */
char *jsp_json_in_text(struct jsp_json_in_raw raw, size_t *len);

#endif
