/* image/elf_dynamic.c - see elf.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "elf.h"

#include <string.h>

#include "base/block.h"

enum { DYNAMIC_MOST_SYMBOLS = JSP_ELF_MOST / sizeof(Elf64_Sym) };

struct dynamic_tags {
    uint64_t symbols;
    uint64_t text;
    uint64_t text_size;
    uint64_t hash;
    uint64_t gnu_hash;
};

/* Some loaders replace the file's addresses by addresses of the process; accept both. */
static struct jsp_elf_span dynamic_span(const struct jsp_elf *elf, uint64_t addr)
{
    struct jsp_elf_span span = jsp_elf_span_at(elf, addr);
    if (!span.size && addr >= elf->image_base)
        span = jsp_elf_span_at(elf, addr - elf->image_base);
    span.size = span.size > JSP_ELF_MOST ? JSP_ELF_MOST : span.size;
    return span;
}

static bool dynamic_tags(const struct jsp_elf *elf, const Elf64_Phdr *p,
                         struct dynamic_tags *tags)
{
    *tags = (struct dynamic_tags){ 0, 0, 0, 0, 0 };
    Elf64_Dyn *list =
        jsp_elf_read(elf, (struct jsp_elf_span){ p->p_offset, p->p_filesz });
    size_t n = list ? p->p_filesz / sizeof *list : 0;
    for (size_t i = 0; i < n && list[i].d_tag != DT_NULL; i++) {
        uint64_t value = list[i].d_un.d_val;
        switch (list[i].d_tag) {
        case DT_SYMTAB: tags->symbols = value; break;
        case DT_STRTAB: tags->text = value; break;
        case DT_STRSZ: tags->text_size = value; break;
        case DT_HASH: tags->hash = value; break;
        case DT_GNU_HASH: tags->gnu_hash = value; break;
        default: break;
        }
    }
    jsp_block_free(list);
    return tags->symbols && tags->text;
}

/* The GNU hash table has no such number. The last symbol is at the end of the last chain,
 * which has an end mark. */
static uint64_t dynamic_count_chains(const uint32_t *words, uint64_t n)
{
    uint64_t n_buckets = words[0], first = words[1];
    uint64_t buckets = 4 + (uint64_t)words[2] * 2, last = 0;
    if (n_buckets > n || buckets > n - n_buckets)
        return 0;
    for (uint64_t i = 0; i < n_buckets; i++)
        last = words[buckets + i] > last ? words[buckets + i] : last;
    if (last < first)
        return first;
    for (uint64_t at = buckets + n_buckets + last - first; at < n; at++, last++)
        if (words[at] & 1)
            return last + 1;
    return 0;
}

static uint64_t dynamic_count(const struct jsp_elf *elf, const struct dynamic_tags *tags)
{
    uint64_t addr = tags->gnu_hash ? tags->gnu_hash : tags->hash, count = 0;
    struct jsp_elf_span span = dynamic_span(elf, addr);
    uint64_t n = span.size / sizeof(uint32_t);
    if (!addr || n < (tags->gnu_hash ? 4 : 2))
        return 0;
    if (!tags->gnu_hash)
        span.size = 2 * sizeof(uint32_t);
    uint32_t *words = jsp_elf_read(elf, span);
    /* The second word of the old hash table is the number of symbols. */
    if (words)
        count = tags->gnu_hash ? dynamic_count_chains(words, n) : words[1];
    jsp_block_free(words);
    return count;
}

bool jsp_elf_dynamic(const struct jsp_elf *elf, struct jsp_elf_dynamic *found)
{
    struct dynamic_tags tags = { 0, 0, 0, 0, 0 };
    bool known = false;
    for (size_t i = 0; i < elf->n_segments && !known; i++)
        known = elf->segments[i].p_type == PT_DYNAMIC &&
                dynamic_tags(elf, &elf->segments[i], &tags);
    if (!known)
        return false;
    found->symbols = dynamic_span(elf, tags.symbols);
    found->text = dynamic_span(elf, tags.text);
    uint64_t count = dynamic_count(elf, &tags);
    if (!count || count > DYNAMIC_MOST_SYMBOLS ||
        count * sizeof(Elf64_Sym) > found->symbols.size ||
        tags.text_size > found->text.size)
        return false;
    found->symbols.size = count * sizeof(Elf64_Sym);
    found->text.size = tags.text_size;
    return true;
}
