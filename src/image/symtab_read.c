/* image/symtab_read.c - functions from .symtab and .dynsym; see symtab_work.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "symtab_work.h"

static void symtab_source(struct jsp_symtab_source *source, const struct jsp_elf *elf,
                          uint32_t type)
{
    for (size_t i = 0; i < elf->n_sections && !source->symbols; i++) {
        const Elf64_Shdr *s = &elf->sections[i];
        if (s->sh_type != type || s->sh_link >= elf->n_sections ||
            s->sh_entsize != sizeof *source->symbols)
            continue;
        source->symbols = jsp_elf_read_section(elf, s);
        if (!source->symbols)
            continue;
        source->n = s->sh_size / sizeof *source->symbols;
        source->text = jsp_elf_read_section(elf, &elf->sections[s->sh_link]);
        source->text_size = elf->sections[s->sh_link].sh_size;
    }
}

/* Find .dynsym where the loader does, in a file without section headers. */
static void symtab_dynamic(struct jsp_symtab_source *source, const struct jsp_elf *elf)
{
    struct jsp_elf_dynamic found;
    if (source->symbols || !jsp_elf_dynamic(elf, &found))
        return;
    source->symbols = jsp_elf_read(elf, found.symbols);
    if (!source->symbols)
        return;
    source->n = found.symbols.size / sizeof *source->symbols;
    source->text = jsp_elf_read(elf, found.text);
    source->text_size = found.text.size;
}

/* Return false for data, undefined names, and the marks that separate code from data in
 * assembler files. */
static bool symtab_is_function(const struct jsp_elf *elf, const Elf64_Sym *s,
                               const char *name)
{
    unsigned type = ELF64_ST_TYPE(s->st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
        return false;
    if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || !*name)
        return false;
    if (type == STT_NOTYPE && (*name == '$' || strncmp(name, ".L", 2) == 0))
        return false;
    return jsp_elf_is_code(elf, s->st_value);
}

struct jsp_symtab_entry jsp_symtab_like(const struct jsp_symtab_source *source,
                                        const Elf64_Sym *s)
{
    unsigned bind = ELF64_ST_BIND(s->st_info);
    struct jsp_symtab_entry like = { .name = jsp_symtab_text(source, s->st_name) };
    like.class = s->st_size ? JSP_SYMTAB_SIZED : JSP_SYMTAB_LABEL;
    like.flags = bind == STB_LOCAL  ? JSP_SYMTAB_LOCAL
                 : bind == STB_WEAK ? JSP_SYMTAB_WEAK
                                    : 0;
    if (ELF64_ST_TYPE(s->st_info) == STT_NOTYPE)
        like.flags |= JSP_SYMTAB_UNTYPED;
    return like;
}

static void symtab_functions(struct jsp_symtab_work *w,
                             const struct jsp_symtab_source *source)
{
    for (size_t i = 0; source->symbols && i < source->n; i++) {
        const Elf64_Sym *s = &source->symbols[i];
        struct jsp_symtab_entry like = jsp_symtab_like(source, s);
        if (symtab_is_function(w->elf, s, like.name))
            jsp_symtab_add(w, s->st_value, s->st_size, like);
    }
}

void jsp_symtab_read(struct jsp_symtab_work *w, const struct jsp_elf *debug)
{
    symtab_source(&w->full, w->elf, SHT_SYMTAB);
    if (!w->full.symbols && debug)
        symtab_source(&w->full, debug, SHT_SYMTAB);
    symtab_source(&w->dynamic, w->elf, SHT_DYNSYM);
    symtab_dynamic(&w->dynamic, w->elf);
    symtab_functions(w, &w->full);
    symtab_functions(w, &w->dynamic);
}
