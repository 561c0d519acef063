/* sigsafe/ehframe.c - see ehframe.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ehframe.h"

enum { /* the encodings DW_EH_PE_* */
    PE_FORM = 0x0F, PE_ABSPTR = 0x00, PE_ULEB128 = 0x01, PE_UDATA2 = 0x02,
    PE_UDATA4 = 0x03, PE_UDATA8 = 0x04, PE_SIGNED = 0x08, PE_SLEB128 = 0x09,
    PE_SDATA2 = 0x0A, PE_SDATA4 = 0x0B, PE_SDATA8 = 0x0C,
    PE_BASE = 0x70, PE_PCREL = 0x10, PE_ALIGNED = 0x50, PE_INDIRECT = 0x80, PE_OMIT = 0xFF,
};

/* A record after its length field. */
struct ehframe_record {
    uint64_t offset;
    struct jsp_cursor body; /* the bytes after the CIE pointer */
    uint64_t cie;           /* offset of its CIE */
    bool is_cie;
};

/* Read the length at the cursor. Return 0 for the terminator and for bytes that are no
 * record. */
static uint64_t ehframe_length(struct jsp_cursor *c)
{
    uint64_t length = jsp_cursor_bytes(c, 4);
    if (length == 0xFFFFFFFFu)
        length = jsp_cursor_bytes(c, 8);
    return c->bad || length > jsp_cursor_left(c) ? 0 : length;
}

static bool ehframe_record(const struct jsp_ehframe_section *s, uint64_t offset,
                           struct ehframe_record *out)
{
    if (offset >= s->n)
        return false;
    struct jsp_cursor c = { s->bytes + offset, s->bytes + s->n, false };
    uint64_t length = ehframe_length(&c);
    if (length < 4)
        return false;
    c.end = c.at + length;
    uint64_t here = (uint64_t)(c.at - s->bytes);
    uint64_t back = jsp_cursor_bytes(&c, 4); /* 4 bytes even after a 64-bit length */
    *out = (struct ehframe_record){ offset, c, here - back, back == 0 };
    return true;
}

/* Read a pointer in the section as an absolute value. Return false if it cannot be
 * read. */
static bool ehframe_value(const struct jsp_ehframe_section *s, struct jsp_cursor *c,
                          uint8_t enc, uint64_t *out)
{
    uint64_t field = s->addr + (uint64_t)(c->at - s->bytes), v;
    switch (enc & PE_FORM) {
    case PE_ABSPTR:
    case PE_UDATA8:
    case PE_SIGNED:
    case PE_SDATA8: v = jsp_cursor_bytes(c, 8); break;
    case PE_UDATA4: v = jsp_cursor_bytes(c, 4); break;
    case PE_SDATA4: v = (uint64_t)(int64_t)(int32_t)jsp_cursor_bytes(c, 4); break;
    case PE_UDATA2: v = jsp_cursor_bytes(c, 2); break;
    case PE_SDATA2: v = (uint64_t)(int64_t)(int16_t)jsp_cursor_bytes(c, 2); break;
    case PE_ULEB128: v = jsp_cursor_uleb(c); break;
    case PE_SLEB128: v = (uint64_t)jsp_cursor_sleb(c); break;
    default: return false;
    }
    uint8_t base = enc & PE_BASE;
    *out = base == PE_PCREL ? field + v : v;
    return !c->bad && (base == PE_PCREL || base == 0);
}

/* Read the augmentation's data, letter by letter. Return false for an unknown letter. */
static bool ehframe_augment(const struct jsp_ehframe_section *s, const char *letters,
                            struct jsp_cursor *c, struct jsp_ehframe_cie *cie)
{
    uint64_t ignored;
    for (; *letters; letters++) {
        uint8_t enc;
        switch (*letters) {
        case 'R': cie->encoding = jsp_cursor_u8(c); break;
        case 'L': jsp_cursor_u8(c); break;
        case 'S': cie->is_signal = true; break;
        case 'B': break; /* signed with the other key: the walk strips either */
        case 'P':
            enc = jsp_cursor_u8(c);
            if ((enc & PE_BASE) == PE_ALIGNED)
                return false;
            ehframe_value(s, c, enc, &ignored); /* only its size matters */
            break;
        default: return false;
        }
    }
    return !c->bad;
}

static void ehframe_read_cie(const struct jsp_ehframe_section *s,
                             const struct ehframe_record *r, struct jsp_ehframe_cie *cie)
{
    struct jsp_cursor c = r->body;
    *cie = (struct jsp_ehframe_cie){ .offset = r->offset };
    uint8_t version = jsp_cursor_u8(&c);
    const char *letters = (const char *)c.at;
    size_t n = strnlen(letters, jsp_cursor_left(&c));
    jsp_cursor_skip(&c, n + 1);
    if (c.bad || (version != 1 && version != 3 && version != 4))
        return;
    if (version == 4 && (jsp_cursor_u8(&c) != 8 || jsp_cursor_u8(&c) != 0))
        return; /* addresses of another size, or segments */
    cie->code_align = jsp_cursor_uleb(&c);
    cie->data_align = jsp_cursor_sleb(&c);
    cie->ra_reg = version == 1 ? jsp_cursor_u8(&c) : jsp_cursor_uleb(&c);
    if (*letters == 'z') {
        struct jsp_cursor data = c;
        uint64_t length = jsp_cursor_uleb(&data);
        c = data;
        jsp_cursor_skip(&c, length);
        data.end = c.at;
        cie->has_augmentation = true;
        if (!ehframe_augment(s, letters + 1, &data, cie))
            return;
    } else if (*letters) {
        return;
    }
    cie->program = c;
    cie->is_good = !c.bad;
}

static const struct jsp_ehframe_cie *ehframe_cie(struct jsp_ehframe *e, uint64_t offset)
{
    struct jsp_ehframe_cie *slot = &e->cies[(offset >> 3) % JSP_EHFRAME_CIES];
    struct ehframe_record r;
    if (slot->offset == offset && slot->is_good)
        return slot;
    if (!ehframe_record(&e->section, offset, &r) || !r.is_cie)
        return NULL;
    ehframe_read_cie(&e->section, &r, slot);
    return slot->is_good ? slot : NULL;
}

static bool ehframe_fde(const struct jsp_ehframe_section *s, const struct ehframe_record *r,
                        const struct jsp_ehframe_cie *cie, struct jsp_ehframe_fde *fde)
{
    struct jsp_cursor c = r->body;
    if (!cie || cie->encoding == PE_OMIT || cie->encoding & PE_INDIRECT)
        return false;
    fde->cie = cie;
    if (!ehframe_value(s, &c, cie->encoding, &fde->start) ||
        !ehframe_value(s, &c, cie->encoding & PE_FORM, &fde->length))
        return false;
    if (cie->has_augmentation)
        jsp_cursor_skip(&c, jsp_cursor_uleb(&c));
    fde->program = c;
    return !c.bad && fde->length && fde->start + fde->length > fde->start;
}

void jsp_ehframe_begin(struct jsp_ehframe *e, const struct jsp_ehframe_section *section)
{
    /* a compound literal would be too large for a handler's stack */
    memset(e, 0, sizeof *e);
    e->section = *section;
}

bool jsp_ehframe_next(struct jsp_ehframe *e, struct jsp_ehframe_fde *fde)
{
    struct ehframe_record r;
    while (ehframe_record(&e->section, e->at, &r)) {
        e->at = (size_t)(r.body.end - e->section.bytes);
        if (r.is_cie)
            continue;
        if (ehframe_fde(&e->section, &r, ehframe_cie(e, r.cie), fde))
            return true;
        e->n_refused++;
    }
    return false;
}

bool jsp_ehframe_pair(const struct jsp_ehframe_section *s, struct jsp_ehframe_cie *cie,
                      struct jsp_ehframe_fde *fde)
{
    struct ehframe_record common, own;
    if (!ehframe_record(s, 0, &common) || !common.is_cie ||
        !ehframe_record(s, (uint64_t)(common.body.end - s->bytes), &own) || own.is_cie)
        return false;
    ehframe_read_cie(s, &common, cie);
    return cie->is_good && ehframe_fde(s, &own, cie, fde);
}

size_t jsp_ehframe_extent(const uint8_t *bytes, size_t n, bool *whole)
{
    struct jsp_cursor c = { bytes, bytes + n, false };
    const uint8_t *good = bytes;
    *whole = false;
    while (jsp_cursor_left(&c) >= 4) {
        if (jsp_cursor_left(&c) >= 4 && memcmp(c.at, "\0\0\0", 4) == 0) {
            *whole = true;
            return (size_t)(c.at - bytes) + 4;
        }
        uint64_t length = ehframe_length(&c);
        if (!length)
            break;
        jsp_cursor_skip(&c, length);
        good = c.at;
    }
    return (size_t)(good - bytes);
}
