/* image/symtab_starts.c - the ranges of the functions of a stripped object; see
 * symtab_work.h.
 *
 * .eh_frame_hdr is a sorted list of their starts, made for C++ exceptions; the end of
 * each is in its entry of .eh_frame. Only those encodings of the list are read that
 * linkers really write.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/block.h"
#include "symtab_work.h"

enum {
    STARTS_PCREL_SDATA4 = 0x1b,   /* of the pointer to .eh_frame */
    STARTS_UDATA4 = 0x03,         /* of the count */
    STARTS_DATAREL_SDATA4 = 0x3b, /* of the list */
    STARTS_HEAD = 12,             /* bytes before the list */
    STARTS_ALIGNED = 0x50,
};

/* The bytes of .eh_frame up to the end of their segment. */
struct starts_frames {
    uint8_t *bytes;
    uint64_t vaddr;
    uint64_t size;
    uint64_t common;   /* offset of the CIE that was read last */
    uint64_t pointer;  /* size of its addresses in bytes */
};

static uint32_t starts_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t starts_pointer(uint8_t encoding)
{
    static const uint8_t sizes[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8, 0, 0, 0 };
    return encoding == STARTS_ALIGNED ? 0 : sizes[encoding & 15];
}

/* Skip a number of base 128. Return false if it does not end. */
static bool starts_leb(const uint8_t **at, const uint8_t *end)
{
    while (*at < end)
        if (!(*(*at)++ & 0x80))
            return true;
    return false;
}

/* Return the size of addresses by a CIE's augmentation `text`, whose data begins at `at`.
 * Return 0 if it is not understood. */
static uint64_t starts_augmented(const char *text, const uint8_t *at, const uint8_t *end)
{
    for (text++; *text && at < end; text++) {
        if (*text == 'R')
            return starts_pointer(*at);
        if (*text == 'P' && !starts_pointer(*at))
            return 0;
        if (*text == 'P')
            at += 1 + starts_pointer(*at);
        else if (*text == 'L')
            at++;
        else if (*text != 'S' && *text != 'B')
            return 0;
        if (at > end)
            return 0;
    }
    return *text ? 0 : 8;
}

/* Return the size of the addresses in the entries of a CIE, or 0 if it is not
 * understood. */
static uint64_t starts_common(const struct starts_frames *f, uint64_t offset)
{
    if (offset > f->size || f->size - offset < 10)
        return 0;
    const uint8_t *at = f->bytes + offset, *end = f->bytes + f->size;
    uint32_t length = starts_u32(at);
    if (length > f->size - offset - 4 || starts_u32(at + 4) != 0)
        return 0;
    end = at + 4 + length;
    uint8_t version = at[8];
    const char *text = (const char *)at + 9;
    at = end > at + 9 ? memchr(at + 9, '\0', (size_t)(end - at - 9)) : NULL;
    if (!at || (version != 1 && version != 3))
        return 0;
    at++;
    if (*text != 'z')
        return *text ? 0 : 8;
    if (!starts_leb(&at, end) || !starts_leb(&at, end))
        return 0;
    if (version == 3 ? !starts_leb(&at, end) : ++at > end)
        return 0;
    return starts_leb(&at, end) ? starts_augmented(text, at, end) : 0;
}

/* Return the length of the function of this FDE, or 0 if it is not understood. */
static uint64_t starts_length(struct starts_frames *f, uint64_t fde)
{
    uint64_t offset = fde - f->vaddr, size = 0;
    if (fde < f->vaddr || offset > f->size || f->size - offset < 24)
        return 0;
    uint32_t length = starts_u32(f->bytes + offset);
    uint64_t back = starts_u32(f->bytes + offset + 4), common = offset + 4 - back;
    if (length < 12 || length > f->size - offset - 4 || back > offset + 4)
        return 0;
    if (common != f->common || !f->pointer) {
        f->common = common;
        f->pointer = starts_common(f, common);
    }
    if (!f->pointer || 4 + 2 * f->pointer > length)
        return 0;
    memcpy(&size, f->bytes + offset + 8 + f->pointer, f->pointer);
    return size;
}

static void starts_list(struct jsp_symtab_work *w, const uint8_t *list,
                        uint64_t size, uint64_t vaddr)
{
    uint64_t n = starts_u32(list + 8), room = (size - STARTS_HEAD) / 8;
    uint64_t at = vaddr + 4 + (uint64_t)(int64_t)(int32_t)starts_u32(list + 4);
    struct jsp_elf_span span = jsp_elf_span_at(w->elf, at);
    struct starts_frames f = { jsp_elf_read(w->elf, span), at, span.size, 0, 0 };
    struct jsp_symtab_entry like = { .class = JSP_SYMTAB_START };
    n = n < room ? n : room;
    for (uint64_t i = 0; f.bytes && i < n && !w->failed; i++) {
        const uint8_t *entry = list + STARTS_HEAD + 8 * i;
        uint64_t begin = vaddr + (uint64_t)(int64_t)(int32_t)starts_u32(entry);
        uint64_t fde = vaddr + (uint64_t)(int64_t)(int32_t)starts_u32(entry + 4);
        uint64_t length = starts_length(&f, fde);
        if (length)
            jsp_symtab_add(w, begin, length, like);
    }
    jsp_block_free(f.bytes);
}

void jsp_symtab_starts(struct jsp_symtab_work *w)
{
    for (size_t i = 0; i < w->elf->n_segments; i++) {
        const Elf64_Phdr *p = &w->elf->segments[i];
        if (p->p_type != PT_GNU_EH_FRAME || p->p_filesz < STARTS_HEAD)
            continue;
        uint8_t *list =
            jsp_elf_read(w->elf, (struct jsp_elf_span){ p->p_offset, p->p_filesz });
        if (list && list[0] == 1 && list[1] == STARTS_PCREL_SDATA4 &&
            list[2] == STARTS_UDATA4 && list[3] == STARTS_DATAREL_SDATA4)
            starts_list(w, list, p->p_filesz, p->p_vaddr);
        jsp_block_free(list);
        return; /* only the first such segment counts */
    }
}
