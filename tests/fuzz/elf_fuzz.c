/* elf_fuzz.c - any bytes as an ELF file, through every reader of symbols.
 *
 * What comes out has to hold what symtab.h promises, whatever went in.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "image/elf_debug.h"
#include "image/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_fail(bool bad)
{
    if (bad)
        abort();
}

static void fuzz_table(const struct jsp_symtab *t)
{
    uint64_t vaddr;
    for (size_t i = 0; i < t->n_ranges; i++) {
        const struct jsp_symtab_range *r = &t->ranges[i];
        fuzz_fail(r->begin >= r->end || r->name >= t->names_size);
        fuzz_fail(i && t->ranges[i - 1].end > r->begin);
        struct jsp_symtab_found found = jsp_symtab_find(t, t->base + r->begin);
        fuzz_fail(!found.name || found.begin != t->base + r->begin);
        fuzz_fail(strlen(found.name) >= t->names_size);
    }
    for (size_t i = 0; i < t->n_parts; i++)
        if (jsp_symtab_vaddr(t, t->parts[i].offset, &vaddr)) {
            struct jsp_symtab_found found = jsp_symtab_find(t, vaddr);
            fuzz_fail(vaddr - found.begin >= found.end - found.begin);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jsp_elf elf, inside;
    struct jsp_elf_dynamic dynamic;
    struct jsp_symtab table;
    uint8_t id[JSP_ELF_BUILD_ID];
    if (jsp_elf_open_image(&elf, data, size) < 0)
        return 0;
    jsp_elf_build_id(&elf, id);
    jsp_elf_dynamic(&elf, &dynamic);
    /* As a debug file of itself, too: its names then come from the other one. */
    if (jsp_symtab_load(&table, &elf, &elf) == 0)
        fuzz_table(&table);
    jsp_symtab_free(&table);
    if (jsp_elf_debug_inside(&inside, &elf) == 0) {
        if (jsp_symtab_load(&table, &elf, &inside) == 0)
            fuzz_table(&table);
        jsp_symtab_free(&table);
        jsp_elf_close(&inside);
    }
    jsp_elf_close(&elf);
    return 0;
}
