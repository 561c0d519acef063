/* evaluated.cpp - see evaluated.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 *
 * The context's thread adds texts, and its handler reads them. A text is complete before it
 * counts, and does not change or go away until detach. The handler alone writes the table of
 * labels, with what it found for each while there were so many texts.
 */
#include "evaluated.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include <jsapi.h>
#include <js/CharacterEncoding.h>
#include <js/Principals.h>

namespace {

constexpr uint32_t EVALUATED_TEXTS = 1024;
constexpr size_t EVALUATED_TEXT_BYTES = 8 << 20; /* of all texts together */
constexpr uint32_t EVALUATED_LABELS = 2048;      /* a power of two */
constexpr uint32_t EVALUATED_PROBES = 16;
constexpr size_t EVALUATED_LABEL_BYTES = 512 << 10; /* of all labels, recorded and shown */
constexpr uint32_t EVALUATED_ANY_COLUMN = 1 << 16; /* there is none beyond it */
constexpr size_t EVALUATED_URL = 512, EVALUATED_PLACE = 4096;
/* A longer label is not read to its end, where the place is, in each sample: it is cut before that
 * place anyway. */
constexpr size_t EVALUATED_LABEL = 2 * EVALUATED_PLACE;

struct evaluated_text {
    std::unique_ptr<char[]> place; /* "a.js line 3", of the eval */
    size_t place_len;
    std::unique_ptr<char[]> url; /* nullptr: the text has no such comment */
    uint64_t place_hash;
    JS::UniqueChars text;
    size_t len;
    uint64_t hash;
    std::unique_ptr<uint32_t[]> lines; /* where each begins */
    uint32_t n_lines;
    volatile bool lost; /* further texts of this place are not known */
};

struct evaluated_label {
    uint64_t hash;
    const char *recorded; /* nullptr: unused */
    const char *shown;    /* nullptr: the recorded one */
    uint32_t n_texts;     /* as there were when this was found */
};

/* A label, taken apart: [name (]place > eval:line:column[)] */
struct evaluated_parts {
    const char *label;
    size_t len;
    size_t place_end;
    const char *position; /* ":line:column" and the rest */
    size_t position_len;
    uint32_t line, column;
    uint64_t hash;
};

struct evaluated_word {
    const char *at;
    size_t len;
};

bool evaluated_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

uint64_t evaluated_hash(const char *bytes, size_t len)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3u;
    return hash;
}

} // namespace

struct mozjs_evaluated {
    std::unique_ptr<evaluated_text> texts[EVALUATED_TEXTS];
    std::atomic<uint32_t> n_texts;
    size_t text_bytes;

    evaluated_label labels[EVALUATED_LABELS];
    char bytes[EVALUATED_LABEL_BYTES];
    size_t n_bytes;
};

namespace {

/* -- The handler's part ------------------------------------------------------------ */

uint32_t evaluated_number(const char **at)
{
    uint32_t n = 0;

    for (; **at >= '0' && **at <= '9' && n < UINT32_MAX / 10; ++*at)
        n = 10 * n + static_cast<uint32_t>(**at - '0');
    return n;
}

/* Find where the place ends, without the function's own line. Return false if the label is not
 * that of evaluated code. */
bool evaluated_split_place(const char *label, evaluated_parts *out)
{
    size_t len = strnlen(label, EVALUATED_LABEL + 1), end = len;

    if (len > EVALUATED_LABEL)
        return false;
    while (end > 2 && memcmp(label + end - 3, " > ", 3) != 0)
        end--;
    if (end <= 2)
        return false;
    const char *at = label + end;
    while (evaluated_is_word(*at))
        at++;
    *out = { label, len, end - 3, at, len - static_cast<size_t>(at - label), 0, 0,
             evaluated_hash(label, len) };
    return true;
}

bool evaluated_split(const char *label, evaluated_parts *out)
{
    if (!evaluated_split_place(label, out))
        return false;
    const char *at = out->position;
    if (*at++ != ':')
        return false;
    out->line = evaluated_number(&at);
    if (*at++ != ':')
        return false;
    out->column = evaluated_number(&at);
    return out->line > 0 && (*at == 0 || (*at == ')' && at[1] == 0));
}

/* Return where the place begins if the text was evaluated there, else SIZE_MAX. */
size_t evaluated_begin(const evaluated_parts &parts, const evaluated_text &text)
{
    const size_t len = text.place_len;

    if (len > parts.place_end ||
        memcmp(parts.label + parts.place_end - len, text.place.get(), len) != 0)
        return SIZE_MAX;
    const size_t begin = parts.place_end - len;
    const bool is_own = begin == 0 || (begin >= 2 && memcmp(parts.label + begin - 2, " (", 2) == 0);
    return is_own ? begin : SIZE_MAX;
}

/* The last word of a text, in which the source's name of a function ends. */
evaluated_word evaluated_last_word(const char *text, size_t end)
{
    size_t at = end;

    while (at > 0 && evaluated_is_word(text[at - 1]))
        at--;
    return { text + at, end - at };
}

/* Return whether the word is somewhere in [begin, end). */
bool evaluated_contains(const char *begin, const char *end, evaluated_word word)
{
    for (const char *at = begin; static_cast<size_t>(end - at) >= word.len; at++)
        if (memcmp(at, word.at, word.len) == 0 && (at == begin || !evaluated_is_word(at[-1])) &&
            (at + word.len == end || !evaluated_is_word(at[word.len])))
            return true;
    return false;
}

/* Return the place of this column, or nullptr. */
const char *evaluated_at(const char *line, const char *end, uint32_t column)
{
    const char *at = line;

    for (uint32_t i = ENGINE_FIRST_COLUMN; i < column; i++) {
        do
            at++;
        while (at < end && (static_cast<unsigned char>(*at) & 0xc0) == 0x80);
        if (at >= end || *at == '\n')
            return nullptr;
    }
    return at < end && (*at == '(' || evaluated_is_word(*at)) ? at : nullptr;
}

/* Return whether the parameters of a function of this name begin at this place, or somewhere in
 * this line. */
bool evaluated_has(const evaluated_text &text, const evaluated_parts &parts, evaluated_word name)
{
    if (parts.line == 0 || parts.line > text.n_lines || parts.column > EVALUATED_ANY_COLUMN)
        return false;
    const char *line = text.text.get() + text.lines[parts.line - 1];
    const char *end = text.text.get() + text.len;
    const char *at = parts.column == EVALUATED_ANY_COLUMN ? line + strcspn(line, "\n")
                                                          : evaluated_at(line, end, parts.column);
    return at && evaluated_contains(line, at, name);
}

/* The one name of several texts, some of which may have none. */
struct evaluated_one {
    uint32_t n;
    const char *url;
    size_t begin; /* of the place */
};

void evaluated_count(evaluated_one *one, const evaluated_text &text, size_t begin)
{
    const char *url = text.url.get();

    if (one->n == 0)
        *one = { 1, url, begin };
    else if (url != one->url && (!url || !one->url || strcmp(url, one->url) != 0))
        one->n = 2;
}

/* Find the one name of the texts of this place, of all or of those that have this function. */
evaluated_one evaluated_find_in(const mozjs_evaluated *e, uint32_t n_texts,
                                const evaluated_parts &parts, const evaluated_word *name, bool all)
{
    evaluated_one one = {};

    for (uint32_t i = 0; i < n_texts && one.n < 2; i++) {
        const evaluated_text &text = *e->texts[i];
        const size_t begin = evaluated_begin(parts, text);
        if (begin == SIZE_MAX)
            continue;
        if (text.lost)
            return {};
        const evaluated_word its =
            name ? *name : evaluated_last_word(parts.label, begin >= 2 ? begin - 2 : 0);
        if (all || (its.len > 0 && evaluated_has(text, parts, its)))
            evaluated_count(&one, text, begin);
    }
    return one;
}

/* Find the name for a label, of a function of this name; nullptr: that of the label. url is nullptr
 * if there is none, or if it is not sure. */
evaluated_one evaluated_find(const mozjs_evaluated *e, uint32_t n_texts,
                             const evaluated_parts &parts, const evaluated_word *name)
{
    evaluated_one one = evaluated_find_in(e, n_texts, parts, name, true);

    if (one.n > 1)
        one = evaluated_find_in(e, n_texts, parts, name, false);
    return one.n == 1 ? one : evaluated_one{};
}

/* Return a copy of two texts, or nullptr if there is no room. */
const char *evaluated_keep(mozjs_evaluated *e, evaluated_word a, evaluated_word b,
                           evaluated_word c)
{
    const size_t bytes = a.len + b.len + c.len + 1;

    if (bytes > EVALUATED_LABEL_BYTES - e->n_bytes)
        return nullptr;
    char *to = e->bytes + e->n_bytes;
    memcpy(to, a.at, a.len);
    memcpy(to + a.len, b.at, b.len);
    memcpy(to + a.len + b.len, c.at, c.len);
    to[bytes - 1] = 0;
    e->n_bytes += bytes;
    return to;
}

/* Return the entry of a label, or a free one, or nullptr. */
evaluated_label *evaluated_entry(mozjs_evaluated *e, const evaluated_parts &parts)
{
    for (uint32_t i = 0; i < EVALUATED_PROBES; i++) {
        evaluated_label *entry = &e->labels[(parts.hash + i) % EVALUATED_LABELS];
        if (!entry->recorded)
            return entry;
        if (entry->hash == parts.hash && strcmp(entry->recorded, parts.label) == 0)
            return entry;
    }
    return nullptr;
}

/* Look the label up again: there are new texts, or it is a new label. */
void evaluated_update(mozjs_evaluated *e, uint32_t n_texts, const evaluated_parts &parts,
                      evaluated_label *entry)
{
    const evaluated_one one = evaluated_find(e, n_texts, parts, nullptr);

    if (!entry->recorded)
        *entry = { parts.hash, evaluated_keep(e, { parts.label, parts.len }, {}, {}), nullptr, 0 };
    if (!entry->recorded)
        return;
    if (!one.url)
        entry->shown = nullptr;
    else if (!entry->shown || strncmp(entry->shown + one.begin, one.url, strlen(one.url)) != 0)
        entry->shown = evaluated_keep(e, { parts.label, one.begin }, { one.url, strlen(one.url) },
                                      { parts.position, parts.position_len });
    entry->n_texts = n_texts;
}

/* -- The part of the context's thread ---------------------------------------------- */

/* The callback has no pointer of ours: see collect.cpp. */
thread_local jsprof_mozjs *evaluated_current;
thread_local JSSecurityCallbacks evaluated_ours;
thread_local const JSSecurityCallbacks *evaluated_before;

std::unique_ptr<char[]> evaluated_copy(const char *from, size_t len)
{
    std::unique_ptr<char[]> to(new (std::nothrow) char[len + 1]);

    if (to) {
        memcpy(to.get(), from, len);
        to[len] = 0;
    }
    return to;
}

/* Return the name in the last such comment. Its length is 0 if there is none. */
evaluated_word evaluated_comment(const char *text, size_t len)
{
    static const char word[] = " sourceURL=";
    const size_t bytes = sizeof word - 1;
    const char *end = text + len, *at = text;
    evaluated_word found = {};

    for (;;) {
        at = static_cast<const char *>(memmem(at, static_cast<size_t>(end - at), word, bytes));
        if (!at)
            return found;
        const bool is_comment = at - text >= 3 && at[-3] == '/' &&
                                (at[-2] == '/' || at[-2] == '*') &&
                                (at[-1] == '#' || at[-1] == '@');
        at += bytes;
        const size_t n = strcspn(at, " \t\r\n'\"`");
        if (is_comment && n <= EVALUATED_URL)
            found = { at, at[n] && strchr("'\"`", at[n]) ? 0 : n };
    }
}

/* Note where the lines begin. Return false if there is no memory. */
bool evaluated_split_lines(evaluated_text *text)
{
    const char *begin = text->text.get(), *end = begin + text->len;
    uint32_t n = 1;

    for (const char *at = begin; at < end; at++)
        n += *at == '\n';
    text->lines.reset(new (std::nothrow) uint32_t[n]);
    if (!text->lines)
        return false;
    text->lines[0] = 0;
    text->n_lines = 1;
    for (const char *at = begin; at < end; at++)
        if (*at == '\n')
            text->lines[text->n_lines++] = static_cast<uint32_t>(at + 1 - begin);
    return true;
}

/* Return whether this text of the place is known. If not, *known has another one of it. */
bool evaluated_is_known(const mozjs_evaluated *e, const evaluated_text &text,
                        evaluated_text **known)
{
    const uint32_t n = e->n_texts.load(std::memory_order_relaxed); /* ORDER: we wrote it */

    for (uint32_t i = 0; i < n; i++) {
        evaluated_text *other = e->texts[i].get();
        if (other->place_hash != text.place_hash || other->place_len != text.place_len ||
            memcmp(other->place.get(), text.place.get(), text.place_len) != 0)
            continue;
        *known = other;
        if (other->hash == text.hash && other->len == text.len)
            return true;
    }
    return false;
}

void evaluated_add(jsprof_mozjs *m, std::unique_ptr<evaluated_text> text)
{
    mozjs_evaluated *e = m->evaluated;
    evaluated_text *known = nullptr;
    const uint32_t n = e->n_texts.load(std::memory_order_relaxed); /* ORDER: we wrote it */

    if (evaluated_is_known(e, *text, &known))
        return;
    if (n == EVALUATED_TEXTS || text->len > EVALUATED_TEXT_BYTES - e->text_bytes ||
        !evaluated_split_lines(text.get())) {
        if (known)
            known->lost = true;
        return;
    }
    e->text_bytes += text->len;
    e->texts[n] = std::move(text);
    /* ORDER: signal fence only. This thread's own handler reads the text after the count. */
    std::atomic_signal_fence(std::memory_order_release);
    e->n_texts.store(n + 1, std::memory_order_relaxed); /* ORDER: the fence above orders it. */
}

/* Take the text that is about to be compiled, with the place of its eval. */
void evaluated_take(jsprof_mozjs *m, JSContext *cx, JS::HandleString code)
{
    std::unique_ptr<evaluated_text> text(new (std::nothrow) evaluated_text{});
    JS::AutoFilename file;
    unsigned line = 0;
    char place[EVALUATED_PLACE];

    if (!text || !engine_caller(cx, &file, &line) || !file.get())
        return;
    const int len = snprintf(place, sizeof place, "%s line %u", file.get(), line);
    text->text = JS_EncodeStringToUTF8(cx, code);
    if (!text->text || len < 0 || static_cast<size_t>(len) >= sizeof place) {
        JS_ClearPendingException(cx);
        return;
    }
    text->place_len = static_cast<size_t>(len);
    text->place = evaluated_copy(place, text->place_len);
    text->place_hash = evaluated_hash(place, text->place_len);
    text->len = strlen(text->text.get());
    text->hash = evaluated_hash(text->text.get(), text->len);
    const evaluated_word url = evaluated_comment(text->text.get(), text->len);
    if (url.len > 0)
        text->url = evaluated_copy(url.at, url.len);
    if (!text->place || (url.len > 0 && !text->url))
        return;
    if (!m->evaluated)
        m->evaluated = new (std::nothrow) mozjs_evaluated{};
    if (m->evaluated)
        evaluated_add(m, std::move(text));
}

void evaluated_on_code(JSContext *cx, JS::RuntimeCode kind, JS::HandleString code)
{
    if (evaluated_current && kind == JS::RuntimeCode::JS && code)
        evaluated_take(evaluated_current, cx, code);
}

const JSSecurityCallbacks *evaluated_host()
{
    return evaluated_before;
}

constexpr JSCSPEvalChecker evaluated_checker = engine_on_code<evaluated_on_code, evaluated_host>;

} // namespace

const char *mozjs_shown_sigsafe(jsprof_mozjs *m, const char *label)
{
    mozjs_evaluated *e = m->evaluated;
    evaluated_parts parts;

    if (!e || !label || !evaluated_split(label, &parts))
        return label;
    evaluated_label *entry = evaluated_entry(e, parts);
    const uint32_t n_texts =
        e->n_texts.load(std::memory_order_relaxed); /* ORDER: the fence below orders it. */
    /* ORDER: signal fence only; pairs with evaluated_add. */
    std::atomic_signal_fence(std::memory_order_acquire);
    if (entry && entry->n_texts != n_texts && !m->keeps)
        evaluated_update(e, n_texts, parts, entry);
    return entry && entry->shown ? entry->shown : label;
}

const char *mozjs_shown_file(const jsprof_mozjs *m, const char *file, const char *function,
                             uint32_t line)
{
    const mozjs_evaluated *e = m ? m->evaluated : nullptr;
    evaluated_parts parts;
    size_t end = strlen(function);

    if (!e || !evaluated_split_place(file, &parts))
        return nullptr;
    while (end > 0 && !evaluated_is_word(function[end - 1])) /* "Shape.area", "f<" */
        end--;
    const evaluated_word name = evaluated_last_word(function, end);
    parts.line = line;
    parts.column = EVALUATED_ANY_COLUMN;
    const uint32_t n = e->n_texts.load(std::memory_order_relaxed); /* ORDER: we wrote it */
    return evaluated_find(e, n, parts, &name).url;
}

void mozjs_watch_evaluated(jsprof_mozjs *m)
{
    const JSSecurityCallbacks *before = JS_GetSecurityCallbacks(m->cx);

    if (before != &evaluated_ours)
        evaluated_before = before;
    evaluated_ours = evaluated_before ? *evaluated_before : JSSecurityCallbacks{};
    evaluated_ours.contentSecurityPolicyAllows = evaluated_checker;
    evaluated_current = m;
    JS_SetSecurityCallbacks(m->cx, &evaluated_ours);
}

/* If the host has set others since, which may call ours, they stay. */
void mozjs_unwatch_evaluated(jsprof_mozjs *m)
{
    if (evaluated_current == m && m->cx && JS_GetSecurityCallbacks(m->cx) == &evaluated_ours)
        JS_SetSecurityCallbacks(m->cx, evaluated_before);
    if (evaluated_current == m)
        evaluated_current = nullptr;
    delete m->evaluated;
    m->evaluated = nullptr;
}
