/* image/symtab_plt.c - names for the stubs of the procedure linkage table; see
 * symtab_work.h.
 *
 * A stub has no symbol. It jumps through a slot of the global offset table, and the
 * relocation of that slot has the name. So this file reads the stub's own instructions;
 * it works with any layout of the table.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/block.h"
#include "symtab_work.h"

enum { PLT_AARCH64_IRELATIVE = 1032 }; /* some libcs lack the name */

/* The address of a slot or a resolver, and the function it belongs to. */
struct plt_name {
    uint64_t key;
    struct jsp_symtab_entry of;
};

struct plt_names {
    struct plt_name *list;
    size_t n;
    size_t room;
};

static void plt_put(struct jsp_symtab_work *w, struct plt_names *names,
                    struct plt_name name)
{
    if (jsp_block_room(&names->list, &names->room, names->n, sizeof *names->list) < 0) {
        w->failed = true;
        return;
    }
    names->list[names->n++] = name;
}

static int plt_order(const void *left, const void *right)
{
    const struct plt_name *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    long which = jsp_symtab_compare(&a->of, &b->of);
    return which < 0 ? -1 : which > 0;
}

static void plt_sort(struct plt_names *names)
{
    if (names->n)
        qsort(names->list, names->n, sizeof *names->list, plt_order);
}

static const char *plt_find(const struct plt_names *names, uint64_t key)
{
    struct jsp_bisect_number than = { offsetof(struct plt_name, key), key };
    size_t low = jsp_bisect_below(names->list, names->n, sizeof *names->list, than);
    return low < names->n && names->list[low].key == key ? names->list[low].of.name
                                                         : NULL;
}

/* Collect the functions that a resolver chooses at start: their slots name only the
 * resolver. */
static void plt_resolvers(struct jsp_symtab_work *w,
                          const struct jsp_symtab_source *source, struct plt_names *to)
{
    for (size_t i = 0; source->symbols && i < source->n; i++) {
        const Elf64_Sym *s = &source->symbols[i];
        struct plt_name name = { s->st_value, jsp_symtab_like(source, s) };
        if (ELF64_ST_TYPE(s->st_info) == STT_GNU_IFUNC && *name.of.name)
            plt_put(w, to, name);
    }
}

static void plt_relocations(struct jsp_symtab_work *w, const Elf64_Shdr *section,
                            const struct plt_names *resolvers, struct plt_names *slots)
{
    Elf64_Rela *list = section ? jsp_elf_read_section(w->elf, section) : NULL;
    size_t n = list ? section->sh_size / sizeof *list : 0;
    uint32_t irelative = w->elf->head.e_machine == EM_X86_64 ? R_X86_64_IRELATIVE
                                                             : PLT_AARCH64_IRELATIVE;
    for (size_t i = 0; i < n; i++) {
        uint64_t symbol = ELF64_R_SYM(list[i].r_info);
        const char *name = NULL;
        if (ELF64_R_TYPE(list[i].r_info) == irelative)
            name = plt_find(resolvers, (uint64_t)list[i].r_addend);
        else if (symbol && w->dynamic.symbols && symbol < w->dynamic.n)
            name = jsp_symtab_text(&w->dynamic, w->dynamic.symbols[symbol].st_name);
        if (name && *name)
            plt_put(w, slots, (struct plt_name){ list[i].r_offset, { .name = name } });
    }
    jsp_block_free(list);
}

/* One stub: its range in the section, and the slot through which it jumps. */
struct plt_stub {
    uint64_t begin;
    uint64_t size;
    uint64_t slot;
};

/* Decode [endbr64] [bnd] jmp *disp(%rip). */
static bool plt_decode_x86(const uint8_t *at, uint64_t left, uint64_t vaddr,
                           struct plt_stub *stub)
{
    static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
    uint64_t i = left >= 16 && memcmp(at, endbr, sizeof endbr) == 0 ? sizeof endbr : 0;
    int32_t displacement;
    i += i < left && at[i] == 0xf2;
    if (left < i + 6 || at[i] != 0xff || at[i + 1] != 0x25)
        return false;
    memcpy(&displacement, at + i + 2, sizeof displacement);
    stub->slot = vaddr + i + 6 + (uint64_t)(int64_t)displacement;
    return true;
}

/* Decode adrp x16, page; ldr x17, [x16, offset]. */
static bool plt_decode_aarch64(const uint8_t *at, uint64_t left, uint64_t vaddr,
                               struct plt_stub *stub)
{
    uint32_t code[2];
    if (left < sizeof code)
        return false;
    memcpy(code, at, sizeof code);
    if ((code[0] & 0x9f00001f) != 0x90000010 || (code[1] & 0xffc003ff) != 0xf9400211)
        return false;
    uint64_t pages = (uint64_t)(code[0] >> 5 & 0x7ffff) << 2 | (code[0] >> 29 & 3);
    if (pages & 1ull << 20)
        pages |= ~0ull << 21;
    stub->slot = (vaddr & ~0xfffull) + (pages << 12) + (code[1] >> 10 & 0xfff) * 8;
    return true;
}

static void plt_section(struct jsp_symtab_work *w, const char *name,
                        const struct plt_names *slots)
{
    const Elf64_Shdr *s = jsp_elf_section(w->elf, name, SHT_PROGBITS);
    uint8_t *code = s ? jsp_elf_read_section(w->elf, s) : NULL;
    bool is_arm = w->elf->head.e_machine == EM_AARCH64;
    /* The distance between two places where a stub can begin. Linkers that do not store the size
     * of entries align the section to it. */
    bool is_short = s && (s->sh_entsize == 8 || (!s->sh_entsize && s->sh_addralign == 8));
    uint64_t step = is_arm ? 4 : is_short ? 8 : 16;
    for (uint64_t at = 0; code && at < s->sh_size; at += step) {
        struct plt_stub stub = { at, is_arm ? 16 : step, 0 };
        bool known = is_arm
            ? plt_decode_aarch64(code + at, s->sh_size - at, s->sh_addr + at, &stub)
            : plt_decode_x86(code + at, s->sh_size - at, s->sh_addr + at, &stub);
        const char *target = known ? plt_find(slots, stub.slot) : NULL;
        struct jsp_symtab_entry like = { .name = target, .class = JSP_SYMTAB_SIZED,
                                         .flags = JSP_SYMTAB_PLT };
        if (target)
            jsp_symtab_add(w, s->sh_addr + stub.begin, stub.size, like);
    }
    jsp_block_free(code);
}

void jsp_symtab_plt(struct jsp_symtab_work *w)
{
    struct plt_names resolvers = { NULL, 0, 0 }, slots = { NULL, 0, 0 };
    uint16_t machine = w->elf->head.e_machine;
    if (machine != EM_X86_64 && machine != EM_AARCH64)
        return;
    plt_resolvers(w, &w->full, &resolvers);
    plt_resolvers(w, &w->dynamic, &resolvers);
    plt_sort(&resolvers);
    plt_relocations(w, jsp_elf_section(w->elf, ".rela.plt", SHT_RELA), &resolvers,
                    &slots);
    if (jsp_elf_section(w->elf, ".plt.got", SHT_PROGBITS))
        plt_relocations(w, jsp_elf_section(w->elf, ".rela.dyn", SHT_RELA), &resolvers,
                        &slots);
    plt_sort(&slots);
    plt_section(w, ".plt", &slots);
    plt_section(w, ".plt.sec", &slots);
    plt_section(w, ".plt.got", &slots);
    jsp_block_free(resolvers.list);
    jsp_block_free(slots.list);
}
