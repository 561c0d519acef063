/* labels.c - see labels.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "labels.h"

#include <string.h>

enum { LABELS_PROBES = 32, LABELS_LINE_DIGITS = 12, LABELS_CHUNK = 40 };

static uint32_t label_slot(const struct jsp_lua_key *key, uint32_t probe)
{
    uint64_t hash = (uint64_t)(key->at ^ key->code << 20) * 0x9E3779B97F4A7C15u;
    return ((uint32_t)(hash >> 40) + probe) & (JSP_LUA_LABELS - 1);
}

const struct jsp_lua_label *jsp_lua_label_find(const struct jsp_lua_labels *labels,
                                               const struct jsp_lua_key *key)
{
    for (uint32_t probe = 0; probe < LABELS_PROBES; probe++) {
        uint32_t at = labels->slots[label_slot(key, probe)];
        if (!at)
            return NULL;
        const struct jsp_lua_label *label = &labels->entries[at - 1];
        const struct jsp_lua_key *is = &label->key;
        if (is->at == key->at && is->code == key->code && is->source == key->source &&
            is->line == key->line)
            return label;
    }
    return NULL;
}

/* Return the length of the well-formed character at `s`, or 0. */
static size_t label_utf8(const unsigned char *s)
{
    if (s[0] < 0x80)
        return s[0] >= 0x20 && s[0] != 0x7F;
    size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    bool is_long = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool is_beyond = (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F);
    return is_long || is_beyond ? 0 : n;
}

static char *label_copy(char *to, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    while (*s) {
        size_t n = label_utf8(s);
        if (n)
            memcpy(to, s, n);
        else
            *to = '?';
        to += n ? n : 1;
        s += n ? n : 1;
    }
    *to++ = 0;
    return to;
}

static void label_fill(struct jsp_lua_label *label, char *text, const char *name,
                       const char *where)
{
    label->is_searched = false;
    label->name = name ? text : NULL;
    if (name)
        text = label_copy(text, name);
    label->where = where ? text : NULL;
    if (where)
        label_copy(text, where);
}

/* Return the slot for a key that has none yet, or NULL if all that may hold it are taken. */
static uint16_t *label_free_slot(struct jsp_lua_labels *labels, const struct jsp_lua_key *key)
{
    for (uint32_t probe = 0; probe < LABELS_PROBES; probe++) {
        uint16_t *slot = &labels->slots[label_slot(key, probe)];
        if (!*slot)
            return slot;
    }
    return NULL;
}

const struct jsp_lua_label *jsp_lua_label_add(struct jsp_lua_labels *labels,
                                              const struct jsp_lua_key *key, const char *name,
                                              const char *where)
{
    uint32_t n = (uint32_t)((name ? strlen(name) + 1 : 0) + (where ? strlen(where) + 1 : 0));
    uint16_t *slot = label_free_slot(labels, key);
    if (!slot || labels->n == JSP_LUA_LABELS_MOST || n > sizeof labels->text - labels->used) {
        label_fill(&labels->scratch, labels->scratch_text, name, where);
        return &labels->scratch;
    }
    struct jsp_lua_label *label = &labels->entries[labels->n];
    label_fill(label, labels->text + labels->used, name, where);
    label->key = *key;
    labels->used += n;
    /* ORDER: release, pairs with the acquire in follow: the label is whole. */
    __atomic_store_n(&labels->n, labels->n + 1, __ATOMIC_RELEASE);
    *slot = (uint16_t)labels->n;
    return label;
}

void jsp_lua_labels_follow(struct jsp_lua_labels *labels, const struct jsp_lua_labels *of,
                           uint32_t *n)
{
    /* ORDER: acquire, pairs with the release in add. */
    uint32_t there = __atomic_load_n(&of->n, __ATOMIC_ACQUIRE);
    bool is_first = !*n;
    if (there < *n) /* it was emptied */
        *n = 0;
    for (; *n < there && *n < JSP_LUA_LABELS_MOST; ++*n) {
        const struct jsp_lua_label *is = &of->entries[*n];
        if (!jsp_lua_label_find(labels, &is->key))
            jsp_lua_label_add(labels, &is->key, is->name, is->where);
        if (is_first && *n + 1 == of->n_fixed)
            jsp_lua_labels_fix(labels);
    }
}

void jsp_lua_labels_fix(struct jsp_lua_labels *labels)
{
    labels->n_fixed = labels->n < JSP_LUA_LABELS_FIXED ? labels->n : JSP_LUA_LABELS_FIXED;
    labels->used_fixed = labels->used;
    for (uint32_t i = 0; i < labels->n_fixed; i++)
        labels->entries[i].was_searched = labels->entries[i].is_searched;
}

void jsp_lua_labels_begin(struct jsp_lua_labels *labels)
{
    if (labels->n < JSP_LUA_LABELS / 2 && labels->used < JSP_LUA_LABEL_TEXT / 2)
        return;
    memset(labels->slots, 0, sizeof labels->slots);
    for (uint32_t i = 0; i < labels->n_fixed; i++) {
        struct jsp_lua_label *label = &labels->entries[i];
        label->is_searched = label->was_searched;
        uint16_t *slot = label_free_slot(labels, &label->key);
        if (slot) /* in the order of adding, each finds one */
            *slot = (uint16_t)(i + 1);
    }
    labels->n = labels->n_fixed;
    labels->used = labels->used_fixed;
}

void jsp_lua_label_set_searched(const struct jsp_lua_label *label)
{
    ((struct jsp_lua_label *)(uintptr_t)label)->is_searched = true;
}

static char *label_append(char *to, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *to++ = text[i] ? text[i] : '?';
    return to;
}

static char *label_number(char *to, uint64_t value)
{
    char digits[24];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    while (n)
        *to++ = digits[--n];
    return to;
}

/* The end of a path identifies a file better than its beginning; of a text the first line
 * is enough. */
void jsp_lua_where(const struct jsp_lua_chunk *chunk, char *to)
{
    enum { ROOM = JSP_LUA_WHERE - LABELS_LINE_DIGITS - 8 };
    const char *text = chunk->text;
    size_t n = chunk->n;

    if (n && (text[0] == '@' || text[0] == '=')) {
        size_t kept = n - 1 < ROOM ? n - 1 : ROOM;
        bool has_end = chunk->whole == n;
        if (has_end && kept < n - 1)
            to = label_append(to, "...", 3);
        to = label_append(to, has_end ? text + n - kept : text + 1, kept);
        if (!has_end)
            to = label_append(to, "...", 3);
    } else {
        size_t line = 0;
        while (line < n && line < LABELS_CHUNK && text[line] != '\n')
            line++;
        to = label_append(to, "[string \"", 9);
        to = label_append(to, text, line);
        to = label_append(to, line < chunk->whole ? "...\"]" : "\"]", line < chunk->whole ? 5 : 2);
    }
    if (chunk->line) {
        *to++ = ':';
        to = label_number(to, chunk->line);
    }
    *to = 0;
}
