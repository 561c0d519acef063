/* export/json.h - a writer of JSON.
 *
 * The caller nests; commas are added automatically. Any bytes may be a string: bytes that
 * are not UTF-8 become U+FFFD, and characters that could act on a terminal, or end a
 * script element of HTML, are escaped, so the text is harmless everywhere. Numbers do not
 * depend on the locale. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_JSON_H
#define JSP_EXPORT_JSON_H

#include <stdbool.h>

#include "sink.h"

struct jsp_json {
    struct jsp_sink *out;
    bool has_before; /* the next value needs a comma before it */
};

/* Begin to write JSON into a sink. */
static inline void jsp_json_init(struct jsp_json *j, struct jsp_sink *out)
{
    *j = (struct jsp_json){ .out = out };
}

/* Call this before writing a value directly to the sink. */
static inline void jsp_json_value(struct jsp_json *j)
{
    if (j->has_before)
        jsp_sink_byte(j->out, ',');
    j->has_before = true;
}

/* Open an object or a list, by its bracket: { or [. */
static inline void jsp_json_open(struct jsp_json *j, char bracket) /* { or [ */
{
    jsp_json_value(j);
    jsp_sink_byte(j->out, bracket);
    j->has_before = false;
}

/* Close it, by its bracket: } or ]. */
static inline void jsp_json_close(struct jsp_json *j, char bracket) /* } or ] */
{
    jsp_sink_byte(j->out, bracket);
    j->has_before = true;
}

/* Write the name of the next value: a word of ours, which needs no escape. */
void jsp_json_key(struct jsp_json *j, const char *key);

/* Write a name and open its value. */
void jsp_json_key_open(struct jsp_json *j, const char *key, char bracket);

/* Write a string of `n` bytes, escaped. */
void jsp_json_bytes(struct jsp_json *j, const void *bytes, size_t n);

/* Write a string that ends in NUL, escaped. */
void jsp_json_text(struct jsp_json *j, const char *text);

/* Write a real number; null if it is not finite. */
void jsp_json_double(struct jsp_json *j, double number);

/* Write true or false. */
void jsp_json_bool(struct jsp_json *j, bool yes);

/* Write null. */
void jsp_json_null(struct jsp_json *j);

/* Write a number. */
static inline void jsp_json_u64(struct jsp_json *j, uint64_t n)
{
    jsp_json_value(j);
    jsp_sink_u64(j->out, n);
}

/* Write a number that may be below 0. */
static inline void jsp_json_i64(struct jsp_json *j, int64_t n)
{
    jsp_json_value(j);
    jsp_sink_i64(j->out, n);
}

/* Write ns as ms, with all digits. */
void jsp_json_ms(struct jsp_json *j, uint64_t ns);

/* Write ns as us, with all digits. */
void jsp_json_us(struct jsp_json *j, uint64_t ns);

/* Write a key with a string. */
void jsp_json_key_text(struct jsp_json *j, const char *key, const char *text);

/* Write a key with a number. */
void jsp_json_key_u64(struct jsp_json *j, const char *key, uint64_t n);

/* Write a key with a number that may be below 0. */
void jsp_json_key_i64(struct jsp_json *j, const char *key, int64_t n);

/* Write a key with a real number; null if it is not finite. */
void jsp_json_key_double(struct jsp_json *j, const char *key, double number);

/* Write a key with true or false. */
void jsp_json_key_bool(struct jsp_json *j, const char *key, bool yes);

/* Write a key with null. */
void jsp_json_key_null(struct jsp_json *j, const char *key);

#endif
