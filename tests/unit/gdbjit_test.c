/* unit/gdbjit_test.c - src/session/gdbjit.c: a debugger's list has each announced range as an
 * object file, whose unwind rules are those of its rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session/gdbjit.h"

#include <elf.h>
#include <stdlib.h>

#include "test.h"

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64, FP = 6, SP = 7, RA = 16 };
#else
enum { MACHINE = EM_AARCH64, FP = 29, SP = 31, RA = 30 };
#endif

struct entry {
    struct entry *next, *previous;
    const Elf64_Ehdr *file;
    uint64_t bytes;
};
extern struct {
    uint32_t version, action;
    struct entry *relevant, *first;
} __jit_debug_descriptor;

static uint32_t actions; /* a decimal digit each */
static struct entry *relevant;

void __jit_debug_register_code(void);
void __jit_debug_register_code(void)
{
    actions = 10 * actions + __jit_debug_descriptor.action;
    relevant = __jit_debug_descriptor.relevant;
}

/* Return the section with this name, or the first one, which has none. */
static const Elf64_Shdr *section(const struct entry *e, const char *name)
{
    const char *bytes = (const char *)e->file;
    const Elf64_Shdr *s = (const void *)(bytes + e->file->e_shoff);
    for (int i = e->file->e_shnum - 1; i > 0; i--)
        if (strcmp(bytes + s[e->file->e_shstrndx].sh_offset + s[i].sh_name, name) == 0)
            return &s[i];
    return s;
}

static const struct {
    jsprof_code_row rows[3];
    uint32_t n;
    uint32_t bytes;
    uint8_t frames[32]; /* after the fixed part of the FDE */
} cases[] = {
    { { { 0 } }, 0, 12, { 0x12, FP, 16, 0x11, RA, 0x78, 0x11, FP, 0x70 } }, /* by frame pointer */
    { { { 0, 8, -8, 0, 0 }, { 1, 16, -8, -16, 0 }, { 300, 16, -8, -16, 1 } }, 3, 36,
      { 0x12, SP, 8, 0x11, RA, 0x78, 0x08, FP,
        4, 1, 0, 0, 0, 0x12, SP, 16, 0x11, RA, 0x78, 0x11, FP, 0x70,
        4, 43, 1, 0, 0, 0x12, FP, 16, 0x11, RA } },
    { { { 0, 63, 0, -64, 0 }, { 0, 64, -65, -129, 0 } }, 2, 20,
      { 0x12, SP, 63, 0x08, RA, 0x11, FP, 0x40,
        0x12, SP, 0xc0, 0, 0x11, RA, 0xbf, 0x7f, 0x11, FP, 0xff, 0x7e } },
};

static void check_frames(const struct entry *e, size_t i)
{
    static const uint8_t cie[20] = { 16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, RA };
    const Elf64_Shdr *s = section(e, ".eh_frame");
    const uint8_t *at = (const uint8_t *)e->file + s->sh_offset, *fde = at + sizeof cie;
    uint32_t length = 20 + cases[i].bytes, back = 24, end;
    const uint64_t range[] = { 0x1000, 0x234 };
    CHECK(memcmp(at, cie, sizeof cie) == 0 && s->sh_size == sizeof cie + 4 + length + 4);
    CHECK(memcmp(fde, &length, 4) == 0 && memcmp(fde + 4, &back, 4) == 0 &&
          memcmp(fde + 8, range, sizeof range) == 0);
    if (!CHECK_EQ(memcmp(fde + 24, cases[i].frames, cases[i].bytes < 32 ? cases[i].bytes : 32), 0))
        printf("# case %zu\n", i);
    memcpy(&end, fde + 4 + length, sizeof end);
    CHECK_EQ(end, 0);
}

static void check_file(const struct entry *e, const char *name)
{
    const Elf64_Ehdr *h = e->file;
    const Elf64_Shdr *text = section(e, ".text"), *symbols = section(e, ".symtab");
    const Elf64_Sym *symbol = (const void *)((const char *)h + symbols->sh_offset);
    const char *names = (const char *)h + section(e, ".strtab")->sh_offset;
    static const char ident[] = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT };
    CHECK(memcmp(h->e_ident, ident, sizeof ident) == 0 && h->e_version == EV_CURRENT);
    CHECK(h->e_type == ET_REL && h->e_machine == MACHINE && h->e_ehsize == sizeof *h &&
          h->e_shentsize == sizeof *text && h->e_shnum == 5);
    CHECK(text->sh_addr == 0x1000 && text->sh_size == 0x234 && text->sh_type == SHT_NOBITS &&
          text->sh_flags == (SHF_ALLOC | SHF_EXECINSTR) && text->sh_offset == 0);
    CHECK(symbols->sh_link == h->e_shstrndx && symbols->sh_info == 1 &&
          symbols->sh_entsize == sizeof *symbol && symbols->sh_size == 2 * sizeof *symbol);
    CHECK_STR(names + symbol[1].st_name, name);
    CHECK(symbol[1].st_info == ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) && symbol[1].st_shndx == 1 &&
          symbol[1].st_size == 0x234 && symbol[1].st_value == 0 && symbol[0].st_name == 0);
    CHECK_EQ(names + symbol[1].st_name + strlen(name) + 1 - (const char *)h, e->bytes);
}

TEST(an_announced_range_is_an_object_file_with_its_rules)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[] = "a function";
        const jsprof_code_row *rows = cases[i].n ? cases[i].rows : NULL;
        struct jsp_gdbjit *one = jsp_gdbjit_add(0x1000, 0x1234, name, rows, cases[i].n);
        memset(name, '#', sizeof name - 1); /* copied */
        check_file(__jit_debug_descriptor.first, "a function");
        check_frames(__jit_debug_descriptor.first, i);
        CHECK_STR(jsp_gdbjit_name(one), "a function");
        jsp_gdbjit_remove(one);
        CHECK(!__jit_debug_descriptor.first && __jit_debug_descriptor.version == 1);
    }
}

TEST(the_list_has_what_is_announced_now)
{
    struct jsp_gdbjit *all[3];
    struct entry *of[3];
    actions = 0;
    for (int i = 0; i < 3; i++) {
        all[i] = jsp_gdbjit_add(0x1000, 0x2000, "x", NULL, 0);
        of[i] = __jit_debug_descriptor.first;
        CHECK(relevant == of[i] && of[i]->next == (i ? of[i - 1] : NULL) && !of[i]->previous);
    }
    CHECK(of[1]->previous == of[2] && of[0]->previous == of[1]);
    jsp_gdbjit_remove(all[1]);
    CHECK(relevant == of[1] && of[2]->next == of[0] && of[0]->previous == of[2]);
    jsp_gdbjit_remove(all[2]);
    CHECK(relevant == of[2] && __jit_debug_descriptor.first == of[0] && !of[0]->previous);
    jsp_gdbjit_remove(all[0]);
    CHECK(!__jit_debug_descriptor.first && !__jit_debug_descriptor.relevant);
    CHECK(__jit_debug_descriptor.action == 0 && actions == 111222);
}

TEST_MAIN()
