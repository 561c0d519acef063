/* image/symtab_work.c - see symtab_work.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "symtab_work.h"

#include <string.h>

#include "base/block.h"

void jsp_symtab_add(struct jsp_symtab_work *w, uint64_t vaddr, uint64_t size,
                    struct jsp_symtab_entry like)
{
    if (vaddr < w->base || vaddr - w->base >= w->limit)
        return;
    if (jsp_block_room(&w->entries, &w->room, w->n, sizeof *w->entries) < 0) {
        w->failed = true;
        return;
    }
    uint64_t left = w->limit - (vaddr - w->base);
    like.begin = (uint32_t)(vaddr - w->base);
    like.size = (uint32_t)(size < left ? size : left);
    w->entries[w->n++] = like;
}

uint64_t jsp_symtab_edge(const struct jsp_elf *elf, uint64_t vaddr)
{
    for (size_t i = 0; i < elf->n_sections; i++) {
        const Elf64_Shdr *s = &elf->sections[i];
        if (s->sh_flags & SHF_EXECINSTR && s->sh_flags & SHF_ALLOC &&
            vaddr >= s->sh_addr && vaddr - s->sh_addr < s->sh_size)
            return s->sh_addr + s->sh_size;
    }
    return vaddr + jsp_elf_span_at(elf, vaddr).size;
}

const char *jsp_symtab_text(const struct jsp_symtab_source *source, uint32_t at)
{
    return source->text && at < source->text_size ? source->text + at : "";
}
