/* analyze/json_in.c - reads a JSON text from start to end, value by value.
 *
 * SPDX-License-Identifier: MIT
 */
#include "json_in.h"

#include <stdlib.h>
#include <string.h>

enum { JSON_DEPTH = 64 };

/* Skip spaces and return the next byte, or 0 at the end. */
static char json_peek(struct jsp_json_in *j)
{
    while (!j->is_bad && j->at < j->end && *j->at && strchr(" \t\r\n", *j->at))
        j->at++;
    return !j->is_bad && j->at < j->end ? *j->at : 0;
}

static bool json_take(struct jsp_json_in *j, char wanted)
{
    bool is = json_peek(j) == wanted;
    j->at += is;
    j->is_bad |= !is;
    return is;
}

bool jsp_json_in_open(struct jsp_json_in *j, char bracket)
{
    j->is_first = true;
    return json_take(j, bracket);
}

bool jsp_json_in_next(struct jsp_json_in *j, char close)
{
    bool is_first = j->is_first;
    j->is_first = false;
    if (json_peek(j) == close) {
        j->at++;
        return false;
    }
    return is_first ? !j->is_bad : json_take(j, ',');
}

struct jsp_json_in_raw jsp_json_in_key(struct jsp_json_in *j)
{
    struct jsp_json_in_raw key = jsp_json_in_string(j);
    j->is_bad |= !key.at;
    json_take(j, ':');
    return key;
}

static bool json_word(struct jsp_json_in *j, const char *word)
{
    size_t n = strlen(word);
    bool is = json_peek(j) && (size_t)(j->end - j->at) >= n && memcmp(j->at, word, n) == 0;
    j->at += is ? n : 0;
    return is;
}

struct jsp_json_in_raw jsp_json_in_string(struct jsp_json_in *j)
{
    struct jsp_json_in_raw raw = { NULL, 0 };
    if (json_word(j, "null") || !json_take(j, '"'))
        return raw;
    const char *start = j->at;
    while (j->at < j->end && *j->at != '"')
        j->at += *j->at == '\\' && j->end - j->at > 1 ? 2 : 1;
    if (j->at >= j->end) {
        j->is_bad = true;
        return raw;
    }
    raw = (struct jsp_json_in_raw){ start, (size_t)(j->at - start) };
    j->at++;
    return raw;
}

uint32_t jsp_json_in_number(struct jsp_json_in *j)
{
    uint64_t value = 0;
    const char *start = json_peek(j) ? j->at : j->end;
    for (; j->at < j->end && *j->at >= '0' && *j->at <= '9' && value <= UINT32_MAX; j->at++)
        value = 10 * value + (uint64_t)(*j->at - '0');
    j->is_bad |= j->at == start || value > UINT32_MAX;
    return j->is_bad ? 0 : (uint32_t)value;
}

/* Read a value that has no parts. */
static void json_scalar(struct jsp_json_in *j)
{
    if (json_peek(j) == '"') {
        jsp_json_in_string(j);
        return;
    }
    if (json_word(j, "null") || json_word(j, "true") || json_word(j, "false"))
        return;
    const char *start = j->at;
    while (j->at < j->end && *j->at && strchr("+-.0123456789eE", *j->at))
        j->at++;
    j->is_bad |= j->at == start;
}

void jsp_json_in_skip(struct jsp_json_in *j)
{
    char closes[JSON_DEPTH];
    int depth = 0;
    do {
        char next = json_peek(j);
        if (next == '[' || next == '{') {
            j->is_bad |= depth == JSON_DEPTH;
            if (j->is_bad)
                return;
            closes[depth++] = next == '[' ? ']' : '}';
            jsp_json_in_open(j, next);
        } else {
            json_scalar(j);
        }
        while (depth > 0 && !jsp_json_in_next(j, closes[depth - 1]) && !j->is_bad)
            depth--;
        if (depth > 0 && closes[depth - 1] == '}')
            jsp_json_in_key(j);
    } while (depth > 0 && !j->is_bad);
}

bool jsp_json_in_is(struct jsp_json_in_raw raw, const char *text)
{
    return raw.at && raw.len == strlen(text) && memcmp(raw.at, text, raw.len) == 0;
}

/* -- Characters ------------------------------------------------------------- */

/* Return the number in four hexadecimal digits, or -1. */
static int32_t json_hex(const char *at, const char *end)
{
    int32_t value = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

static char *json_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *to++ = (char)((0xFF00 >> (more + 1)) | c >> (6 * more));
    while (more-- > 0)
        *to++ = (char)(0x80 | (c >> (6 * more) & 0x3F));
    return to;
}

/* Write the character of "\uXXXX", or of two of them. Store where it ends. A half of a pair
 * becomes the replacement character. */
static char *json_unicode(char *to, const char **at, const char *end)
{
    int32_t c = json_hex(*at, end), low = -1;
    *at += c < 0 ? 0 : 4;
    if (c >= 0xD800 && c < 0xDC00 && end - *at >= 6 && memcmp(*at, "\\u", 2) == 0)
        low = json_hex(*at + 2, end);
    if (low >= 0xDC00 && low < 0xE000) {
        *at += 6;
        return json_utf8(to, 0x10000u + ((uint32_t)(c - 0xD800) << 10) + (uint32_t)(low - 0xDC00));
    }
    return json_utf8(to, c < 0 || (c >= 0xD800 && c < 0xE000) ? 0xFFFD : (uint32_t)c);
}

char *jsp_json_in_text(struct jsp_json_in_raw raw, size_t *len)
{
    /* The longest growth is that of a broken "\u": two bytes become three. */
    char *text = malloc(raw.len + raw.len / 2 + 2), *to = text;
    const char *at = raw.at ? raw.at : "", *end = at + raw.len;
    if (!text)
        return NULL;
    while (at < end) {
        static const char from[] = "bfnrt", means[] = "\b\f\n\r\t";
        if (*at != '\\' || at + 1 == end) {
            *to++ = *at++;
            continue;
        }
        char c = at[1];
        const char *known = c ? strchr(from, c) : NULL;
        at += 2;
        if (c == 'u')
            to = json_unicode(to, &at, end);
        else
            *to++ = known ? means[known - from] : c;
    }
    *to = 0;
    *len = (size_t)(to - text);
    return text;
}
