/* analyze/original_name.c - the name of a function in the line that defines it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "original_name.h"

#include <stdbool.h>
#include <string.h>

static bool name_is_part(char c)
{
    unsigned char u = (unsigned char)c;
    return (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || (u >= '0' && u <= '9') ||
           u == '_' || u == '$' || u >= 0x80;
}

static bool name_is_one_of(struct jsp_read_text word, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == word.len && memcmp(*list, word.at, word.len) == 0)
            return true;
    return false;
}

/* Words before a function's name, and words that look like one. */
static const char *const name_modifiers[] = {
    "export", "default",  "async",    "static",   "public", "private", "protected",
    "readonly", "override", "abstract", "declare", "get",    "set",     "function",
    NULL
};
static const char *const name_others[] = {
    "if", "for", "while", "switch", "catch", "return", "constructor", "new", "await", "typeof",
    "super", "function", "async", "in", "of", "yield", "void", "delete", "with", NULL
};

static const char *const name_functions[] = { "function", "async", NULL };

static uint32_t name_spaces(struct jsp_read_text line, uint32_t at)
{
    while (at < line.len && (line.at[at] == ' ' || line.at[at] == '\t'))
        at++;
    return at;
}

static uint32_t name_spaces_before(struct jsp_read_text line, uint32_t at)
{
    while (at > 0 && (line.at[at - 1] == ' ' || line.at[at - 1] == '\t'))
        at--;
    return at;
}

static struct jsp_read_text name_word(struct jsp_read_text line, uint32_t at)
{
    uint32_t end = at;
    while (end < line.len && name_is_part(line.at[end]))
        end++;
    return (struct jsp_read_text){ line.at + at, end - at };
}

static struct jsp_read_text name_word_before(struct jsp_read_text line, uint32_t end)
{
    uint32_t at = end;
    while (at > 0 && name_is_part(line.at[at - 1]))
        at--;
    return (struct jsp_read_text){ line.at + at, end - at };
}

/* Skip "<T, U<V>>". */
static uint32_t name_generics(struct jsp_read_text line, uint32_t at)
{
    int depth = 0;
    for (uint32_t i = at; i < line.len; i++) {
        depth += line.at[i] == '<';
        depth -= line.at[i] == '>';
        if (depth == 0)
            return i == at ? at : i + 1;
    }
    return at;
}

/* "export async function name(", "private name<T>(": the position is before the name. */
static struct jsp_read_text name_after(struct jsp_read_text line, uint32_t at)
{
    const struct jsp_read_text none = { "", 0 };
    for (;;) {
        struct jsp_read_text word = name_word(line, at);
        uint32_t after = name_spaces(line, at + word.len);
        bool goes_on = after < line.len && (name_is_part(line.at[after]) ||
                                            line.at[after] == '*' || line.at[after] == '#');
        if (word.len == 0 && at < line.len && (line.at[at] == '*' || line.at[at] == '#')) {
            at = name_spaces(line, at + 1);
            continue;
        }
        if (goes_on && name_is_one_of(word, name_modifiers)) {
            at = after;
            continue;
        }
        after = name_generics(line, after);
        bool is_called = after < line.len && line.at[after] == '(';
        return is_called && !name_is_one_of(word, name_others) ? word : none;
    }
}

/* "name = ", "const name: Type = ", "name: ": the position is after them. */
static struct jsp_read_text name_assigned(struct jsp_read_text line, uint32_t at)
{
    const struct jsp_read_text none = { "", 0 };
    at = name_spaces_before(line, at);
    char sign = at > 0 ? line.at[at - 1] : 0;
    if (sign != '=' && sign != ':')
        return none;
    at = name_spaces_before(line, at - 1);
    struct jsp_read_text word = name_word_before(line, at);
    uint32_t before = name_spaces_before(line, at - word.len);
    /* The word may be the type of the name before it. */
    if (sign == '=' && word.len && before > 0 && line.at[before - 1] == ':')
        word = name_word_before(line, name_spaces_before(line, before - 1));
    return word.len && (word.at[0] < '0' || word.at[0] > '9') ? word : none;
}

struct jsp_read_text jsp_original_name_own(struct jsp_read_text name)
{
    return name_word_before(name, name.len);
}

/* The same, where the function begins exactly at `end`. */
static int64_t name_before(struct jsp_read_text line, uint32_t end, struct jsp_read_text own)
{
    bool is_assigned = false;
    while (end > 0) {
        struct jsp_read_text word = name_word_before(line, end);
        char sign = line.at[end - 1];
        if (is_assigned && word.len == own.len && memcmp(word.at, own.at, own.len) == 0)
            return end - word.len;
        if (word.len ? !name_is_one_of(word, name_functions)
                     : !strchr(" \t=:(*", sign))
            return -1;
        is_assigned |= sign == '=' || sign == ':';
        end -= word.len ? word.len : 1;
    }
    return -1;
}

int64_t jsp_original_name_before(struct jsp_read_text line, uint32_t column,
                                 struct jsp_read_text own)
{
    if (own.len == 0 || column > line.len)
        return -1;
    int64_t found = name_before(line, column, own);
    return found < 0 && column > 0 ? name_before(line, column - 1, own) : found;
}

/* Return true if the parentheses at a position are the parameters of a function. */
static bool name_is_parameters(struct jsp_read_text line, uint32_t at)
{
    int depth = 0;
    for (; at < line.len; at++) {
        depth += line.at[at] == '(';
        depth -= line.at[at] == ')';
        if (depth == 0)
            break;
    }
    at = name_spaces(line, at + 1);
    return at < line.len && (line.at[at] == '{' || line.at[at] == ':' ||
                             (line.at[at] == '=' && line.len - at > 1 && line.at[at + 1] == '>'));
}

struct jsp_read_text jsp_original_name_find(struct jsp_read_text line, uint32_t column)
{
    if (column > line.len)
        return (struct jsp_read_text){ "", 0 };
    struct jsp_read_text word = name_after(line, column);
    if (word.len)
        return word;
    /* The position may be that of the parameters, or of the first one. */
    if (column > 0 && line.at[column - 1] == '(' && name_is_parameters(line, column - 1))
        column--;
    uint32_t at = name_spaces_before(line, column);
    bool has_parameters = column < line.len && line.at[column] == '(';
    word = name_word_before(line, at);
    if (has_parameters && word.len && !name_is_one_of(word, name_others))
        return word;
    while (word.len && name_is_one_of(word, name_functions)) {
        at = name_spaces_before(line, at - word.len);
        word = name_word_before(line, at);
    }
    return name_assigned(line, at);
}
