/* sigsafe/names.c - see names.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "names.h"

static const char names_unnamed[] = "[no name]";

/* The text before, between and after the two parts. Index: enum jsprof_join >> 8. */
static const struct names_join {
    char before[5], between[3], after[2];
} names_joins[] = {
    { "", " ", "" }, { "", " (", ")" }, { "", ".", "" }, { "get ", ".", "" }, { "set ", ".", "" },
};
enum {
    NAMES_JOINS = sizeof names_joins / sizeof names_joins[0],
    NAMES_KIND_MASK = 0xFF,
    NAMES_KIND_JOIN = 0xFFFF, /* kind and join, without the marks of a single frame */
};

void jsp_names_init(struct jsp_names *names, struct jsp_arena *arena)
{
    names->arena = arena;
    atomic_init(&names->n_cut, 0);
    atomic_init(&names->n_bad, 0);
    names->unnamed = jsp_arena_intern(arena, names_unnamed, sizeof names_unnamed - 1,
                                      JSPROF_KIND_SYNTH);
}

static uint64_t names_slot(const struct jsp_name_key *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key->label ^ (uint64_t)(uintptr_t)key->detail << 1;
    return ((h ^ key->tag) * 0x9E3779B97F4A7C15u) >> 54;
}
_Static_assert(JSP_NAMES_CACHE == 1 << 10, "names_slot keeps the upper 10 bits");

static bool names_key_equal(const struct jsp_name_key *a, const struct jsp_name_key *b)
{
    return a->label == b->label && a->detail == b->detail && a->tag == b->tag;
}

/* Return true if the host's string still equals the arena's text [at, at + len). */
static bool names_part_same(const char *text, uint32_t at, uint32_t len, const char *part)
{
    if (!part)
        return true;
    return strncmp(text + at, part, len) == 0 && part[len] == 0;
}

/* Append as much as the scratch space holds. Return false if it did not all fit. It is not
 * inlined: with -O3, gcc would warn that the bound exceeds the length of a known text. */
__attribute__((noinline)) static bool names_append(struct jsp_names *names, uint32_t *len,
                                                   const char *part)
{
    size_t room = JSP_LABEL_MAX - *len;
    size_t n = strnlen(part, room + 1);
    bool fits = n <= room;
    if (!fits)
        n = room;
    memcpy(names->text + *len, part, n);
    *len += (uint32_t)n;
    return fits;
}

/* Append ":" and the line at which the function is defined; 0: unknown. */
static bool names_append_line(struct jsp_names *names, uint32_t *len, uint32_t line)
{
    char text[12], *at = &text[sizeof text - 1];
    if (!line)
        return true;
    *at = 0;
    for (; line; line /= 10) /* at most 10 digits */
        *--at = (char)('0' + line % 10);
    *--at = ':';
    return names_append(names, len, at);
}

/* Return the line of the definition, which the name shows; 0: none. */
static uint32_t names_defined(const jsprof_frame *frame)
{
    return frame->kind & JSPROF_FRAME_DEFINED ? (uint32_t)(frame->pc >> 32) : 0;
}

/* Write the joined name into the scratch space and note where its parts are. A name that
 * was cut gets an entry that equals no key, because it cannot be verified later. */
static uint32_t names_compose(struct jsp_names *names, const jsprof_frame *frame,
                              struct jsp_name_entry *entry)
{
    bool two = frame->label && *frame->label && frame->detail && *frame->detail;
    uint32_t join_index = frame->kind >> 8 & 0xFF;
    const struct names_join *join = &names_joins[join_index < NAMES_JOINS ? join_index : 0];
    uint32_t len = 0;
    bool whole = true;

    if (two)
        whole = names_append(names, &len, join->before);
    entry->label_at = (uint16_t)len;
    if (frame->label)
        whole = names_append(names, &len, frame->label) && whole;
    entry->label_len = (uint16_t)(len - entry->label_at);
    if (two)
        whole = names_append(names, &len, join->between) && whole;
    entry->detail_at = (uint16_t)len;
    if (frame->detail)
        whole = names_append(names, &len, frame->detail) && whole;
    entry->detail_len = (uint16_t)(len - entry->detail_at);
    if (entry->detail_len)
        whole = names_append_line(names, &len, names_defined(frame)) && whole;
    if (two)
        whole = names_append(names, &len, join->after) && whole;
    if (!whole) {
        jsp_count(&names->n_cut, 1);
        entry->key = (struct jsp_name_key){ 0 };
    }
    return len;
}

/* Append the place of the symbol to the scratch text. A text that is too long for it keeps its
 * label. */
static uint32_t names_append_symbol(struct jsp_names *names, uint32_t len, uint64_t addr,
                                    const struct jsp_name_entry *entry)
{
    struct jsp_name_symbol symbol;
    if (entry->label_at || !entry->label_len || len + 1 + sizeof symbol > JSP_LABEL_MAX)
        return len;
    memset(&symbol, 0, sizeof symbol); /* the padding is part of the name's identity */
    symbol.addr = addr;
    symbol.label_len = entry->label_len;
    names->text[len] = 0;
    memcpy(names->text + len + 1, &symbol, sizeof symbol);
    return len + 1 + (uint32_t)sizeof symbol;
}

static uint32_t names_of_function(struct jsp_names *names, const jsprof_function *f)
{
    struct jsp_name_key key = { f, NULL, f->serial };
    struct jsp_name_entry *entry = &names->cache[names_slot(&key)];

    if (!names_key_equal(&entry->key, &key) || entry->id == JSP_LABEL_LOST) {
        entry->id = jsp_arena_intern(names->arena, f->text, f->len, f->kind);
        entry->key = key;
        entry->label_len = f->cut; /* label_len has no other use here */
    }
    if (entry->label_len)
        jsp_count(&names->n_cut, 1);
    return entry->id;
}

/* Return the part of the name that is in `pc`: an address or a line. */
static uint64_t names_pc(const jsprof_frame *frame)
{
    return frame->kind & JSPROF_FRAME_SYMBOL ? frame->pc : names_defined(frame);
}

static uint32_t names_lasting(struct jsp_names *names, const jsprof_frame *frame)
{
    if ((!frame->label || !*frame->label) && (!frame->detail || !*frame->detail)) {
        jsp_count(&names->n_bad, 1);
        return names->unnamed;
    }
    const char *label = frame->label, *detail = frame->detail;
    /* Compilers combine both loads into a wide one, which would wait for the caller's two
     * narrow stores and cost more than the whole look-up. */
    __asm__("" : "+r"(label), "+r"(detail));
    /* Bit 63 keeps these keys apart from the serials of functions. */
    uint64_t addr = frame->kind & JSP_FRAME_PC_NAMES ? names_pc(frame) : 0;
    struct jsp_name_key key = { label, detail,
                                addr << 16 | (frame->kind & NAMES_KIND_JOIN) | 1ull << 63 };
    struct jsp_name_entry *entry = &names->cache[names_slot(&key)];
    const char *text = jsp_arena_label(names->arena, entry->id)->text;

    if (names_key_equal(&entry->key, &key) && entry->id != JSP_LABEL_LOST &&
        names_part_same(text, entry->label_at, entry->label_len, frame->label) &&
        names_part_same(text, entry->detail_at, entry->detail_len, frame->detail))
        return entry->id;
    entry->key = key;
    uint32_t len = names_compose(names, frame, entry);
    if (frame->kind & JSPROF_FRAME_SYMBOL && addr)
        len = names_append_symbol(names, len, addr, entry);
    entry->id = jsp_arena_intern(names->arena, names->text, len,
                                 (uint8_t)(frame->kind & NAMES_KIND_MASK));
    return entry->id;
}

/* -- Names that another thread may free meanwhile ------------------------------ */

enum { NAMES_PAGE = 4096, NAMES_STEP = 128 };

/* Copy a text of the host's, cut to one byte more than a name may have, so that the cut is
 * seen. Return false if it cannot be read. */
static bool names_copy(struct jsp_memread *mem, const char *from, char to[JSP_LABEL_MAX + 2])
{
    uint32_t n = 0;
    while (n < JSP_LABEL_MAX + 1) {
        uintptr_t at = (uintptr_t)from + n, step = NAMES_PAGE - (at & (NAMES_PAGE - 1));
        step = step < NAMES_STEP ? step : NAMES_STEP;
        step = step < JSP_LABEL_MAX + 1 - n ? step : JSP_LABEL_MAX + 1 - n;
        if (!jsp_memread_bytes(mem, at, to + n, step))
            return false;
        size_t text = strnlen(to + n, step);
        n += (uint32_t)text;
        if (text < step)
            break;
    }
    to[n] = 0;
    return true;
}

/* Look up a registered function by a copy of it. */
static uint32_t names_vanishing_function(struct jsp_names *names, const jsprof_function *at)
{
    struct jsprof_function f;
    struct jsp_memread *mem = names->foreign->mem;
    if (!jsp_memread_bytes(mem, (uintptr_t)at, &f, sizeof f) ||
        f.seal != jsp_function_seal(at, f.serial) || f.len > JSP_LABEL_MAX ||
        !jsp_memread_bytes(mem, (uintptr_t)f.text, names->text, f.len)) {
        jsp_count(&names->n_bad, 1);
        return names->unnamed;
    }
    return jsp_arena_intern(names->arena, names->text, f.len, f.kind);
}

/* The copies are at other addresses than the names, and do not stay: keep nothing about them. */
static __attribute__((noinline)) uint32_t names_vanishing(struct jsp_names *names,
                                                          const jsprof_frame *frame)
{
    struct jsp_names_foreign *f = names->foreign;
    jsprof_frame copy = *frame;
    if (frame->function)
        return names_vanishing_function(names, frame->function);
    copy.label = frame->label && names_copy(f->mem, frame->label, f->label) ? f->label : NULL;
    copy.detail = frame->detail && names_copy(f->mem, frame->detail, f->detail) ? f->detail : NULL;
    return names_lasting(names, &copy);
}

uint32_t jsp_names_of(struct jsp_names *names, const jsprof_frame *frame)
{
    if (names->foreign)
        return names_vanishing(names, frame);
    return frame->function ? names_of_function(names, frame->function)
                           : names_lasting(names, frame);
}
