/* export/json.c - a writer of JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "json.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "utf8.h"

enum { JSON_NUMBER = 32, JSON_SHORT = 15, JSON_EXACT = 17 };

/* Return true for bytes that need no escape. */
static bool json_is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' &&
           c != '&';
}

static void json_unit(struct jsp_sink *out, uint32_t unit)
{
    static const char digits[] = "0123456789abcdef";
    const char text[6] = { '\\', 'u', digits[unit >> 12 & 15], digits[unit >> 8 & 15],
                           digits[unit >> 4 & 15], digits[unit & 15] };
    jsp_sink_put(out, text, sizeof text);
}

static void json_character(struct jsp_sink *out, uint32_t c)
{
    char bytes[4];
    if (c == '"' || c == '\\') {
        jsp_sink_byte(out, '\\');
        jsp_sink_byte(out, (char)c);
    } else if (c < 0x80 || (c < 0x10000 && jsp_utf8_is_harmful(c))) {
        json_unit(out, c);
    } else if (jsp_utf8_is_harmful(c)) {
        json_unit(out, 0xD800 + ((c - 0x10000) >> 10));
        json_unit(out, 0xDC00 + ((c - 0x10000) & 0x3FF));
    } else {
        jsp_sink_put(out, bytes, jsp_utf8_put(bytes, c));
    }
}

void jsp_json_bytes(struct jsp_json *j, const void *bytes, size_t n)
{
    /* Without bytes the pointer may be NULL. */
    const unsigned char *at = n ? bytes : (const void *)"", *end = at + n, *from = at;
    size_t used;
    jsp_json_value(j);
    jsp_sink_byte(j->out, '"');
    while (at < end) {
        if (json_is_plain(*at)) {
            at++;
            continue;
        }
        jsp_sink_put(j->out, from, (size_t)(at - from));
        uint32_t c = jsp_utf8_next(at, (size_t)(end - at), &used);
        json_character(j->out, c);
        from = at += used;
    }
    jsp_sink_put(j->out, from, (size_t)(at - from));
    jsp_sink_byte(j->out, '"');
}

void jsp_json_text(struct jsp_json *j, const char *text)
{
    jsp_json_bytes(j, text, strlen(text));
}

/* Write the fewest digits that read back as the same number. */
void jsp_json_double(struct jsp_json *j, double number)
{
    char text[JSON_NUMBER];
    if (!isfinite(number)) {
        jsp_json_null(j);
        return;
    }
    for (int digits = JSON_SHORT; digits <= JSON_EXACT; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    const char *point = localeconv()->decimal_point;
    char *at = *point ? strstr(text, point) : NULL;
    jsp_json_value(j);
    if (at) {
        jsp_sink_put(j->out, text, (size_t)(at - text));
        jsp_sink_byte(j->out, '.');
    }
    jsp_sink_text(j->out, at ? at + strlen(point) : text);
}

static void json_scaled(struct jsp_json *j, uint64_t n, int digits, uint64_t scale)
{
    char text[JSON_NUMBER] = { '.' };
    uint64_t rest = n % scale;
    int len = rest ? digits + 1 : 0;
    jsp_json_u64(j, n / scale);
    for (int i = digits; i > 0; i--, rest /= 10)
        text[i] = (char)('0' + rest % 10);
    while (len > 0 && text[len - 1] == '0')
        len--;
    jsp_sink_put(j->out, text, (size_t)len);
}

void jsp_json_ms(struct jsp_json *j, uint64_t ns)
{
    json_scaled(j, ns, 6, 1000000);
}

void jsp_json_us(struct jsp_json *j, uint64_t ns)
{
    json_scaled(j, ns, 3, 1000);
}

void jsp_json_bool(struct jsp_json *j, bool yes)
{
    jsp_json_value(j);
    jsp_sink_text(j->out, yes ? "true" : "false");
}

void jsp_json_null(struct jsp_json *j)
{
    jsp_json_value(j);
    jsp_sink_text(j->out, "null");
}

void jsp_json_key(struct jsp_json *j, const char *key)
{
    jsp_json_value(j);
    jsp_sink_byte(j->out, '"');
    jsp_sink_text(j->out, key);
    jsp_sink_put(j->out, "\":", 2);
    j->has_before = false;
}

void jsp_json_key_open(struct jsp_json *j, const char *key, char bracket)
{
    jsp_json_key(j, key);
    jsp_json_open(j, bracket);
}

void jsp_json_key_text(struct jsp_json *j, const char *key, const char *text)
{
    jsp_json_key(j, key);
    jsp_json_text(j, text);
}

void jsp_json_key_u64(struct jsp_json *j, const char *key, uint64_t n)
{
    jsp_json_key(j, key);
    jsp_json_u64(j, n);
}

void jsp_json_key_i64(struct jsp_json *j, const char *key, int64_t n)
{
    jsp_json_key(j, key);
    jsp_json_i64(j, n);
}

void jsp_json_key_double(struct jsp_json *j, const char *key, double number)
{
    jsp_json_key(j, key);
    jsp_json_double(j, number);
}

void jsp_json_key_bool(struct jsp_json *j, const char *key, bool yes)
{
    jsp_json_key(j, key);
    jsp_json_bool(j, yes);
}

void jsp_json_key_null(struct jsp_json *j, const char *key)
{
    jsp_json_key(j, key);
    jsp_json_null(j);
}
