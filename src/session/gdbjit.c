/* session/gdbjit.c - see gdbjit.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "gdbjit.h"

#include <elf.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { GDBJIT_MACHINE = EM_X86_64, GDBJIT_FP = 6, GDBJIT_SP = 7, GDBJIT_RA = 16 };
#elif defined(__aarch64__)
enum { GDBJIT_MACHINE = EM_AARCH64, GDBJIT_FP = 29, GDBJIT_SP = 31, GDBJIT_RA = 30 };
#else
enum { GDBJIT_MACHINE = EM_NONE, GDBJIT_FP, GDBJIT_SP, GDBJIT_RA };
#endif

/* -- The interface: names and layouts are gdb's ------------------------------ */

struct gdbjit_entry {
    struct gdbjit_entry *next, *previous;
    const void *file;
    uint64_t file_bytes;
};

struct gdbjit_descriptor {
    uint32_t version;
    uint32_t action; /* enum gdbjit_action */
    struct gdbjit_entry *relevant;
    struct gdbjit_entry *first;
};

enum gdbjit_action { GDBJIT_NONE, GDBJIT_REGISTER, GDBJIT_UNREGISTER };

/* A program's own definitions, such as those of LLVM, take the place of these. */
__attribute__((weak, visibility("default")))
struct gdbjit_descriptor __jit_debug_descriptor = { 1, GDBJIT_NONE, NULL, NULL };
__attribute__((weak, visibility("default"), noinline)) void __jit_debug_register_code(void);
void __jit_debug_register_code(void)
{
    __asm__ volatile("" ::: "memory");
}

/* -- The object file --------------------------------------------------------- */

enum gdbjit_section {
    GDBJIT_NO_SECTION, GDBJIT_TEXT, GDBJIT_FRAMES, GDBJIT_SYMBOLS, GDBJIT_NAMES, GDBJIT_SECTIONS
};
static const char gdbjit_names[] = "\0.text\0.eh_frame\0.symtab\0.strtab";
enum { GDBJIT_NAME_TEXT = 1, GDBJIT_NAME_FRAMES = 7, GDBJIT_NAME_SYMBOLS = 17,
       GDBJIT_NAME_NAMES = 25, GDBJIT_NAME = sizeof gdbjit_names };

struct gdbjit_file {
    Elf64_Ehdr head;
    Elf64_Shdr sections[GDBJIT_SECTIONS];
    Elf64_Sym symbols[2];
};

struct jsp_gdbjit {
    struct gdbjit_entry entry;
    const char *name;        /* in the file */
    struct gdbjit_file file; /* its names and frames follow */
};

enum {
    GDBJIT_FRAME_BYTES = 64,  /* more than the records before the rows and the end have */
    GDBJIT_ROW_BYTES = 24,    /* more than a row takes */
    /* DWARF's operations */
    GDBJIT_ADVANCE = 0x04, GDBJIT_SAME = 0x08, GDBJIT_OFFSET = 0x11, GDBJIT_CFA = 0x12,
};

static unsigned char *gdbjit_put(unsigned char *to, const void *from, size_t n)
{
    memcpy(to, from, n);
    return to + n;
}

static unsigned char *gdbjit_put_u32(unsigned char *to, uint32_t value)
{
    return gdbjit_put(to, &value, sizeof value);
}

static unsigned char *gdbjit_put_sleb(unsigned char *to, int32_t value)
{
    for (;;) {
        unsigned char byte = value & 0x7f;
        value >>= 7;
        if ((value == 0 && !(byte & 0x40)) || (value == -1 && byte & 0x40)) {
            *to++ = byte;
            return to;
        }
        *to++ = byte | 0x80;
    }
}

static unsigned char *gdbjit_put_rule(unsigned char *to, unsigned char reg, int32_t at)
{
    *to++ = at ? GDBJIT_OFFSET : GDBJIT_SAME;
    *to++ = reg;
    return at ? gdbjit_put_sleb(to, at) : to;
}

static unsigned char *gdbjit_put_row(unsigned char *to, const jsprof_code_row *row,
                                     uint32_t before)
{
    if (row->offset > before) {
        *to++ = GDBJIT_ADVANCE;
        to = gdbjit_put_u32(to, row->offset - before);
    }
    *to++ = GDBJIT_CFA;
    *to++ = row->from_fp ? GDBJIT_FP : GDBJIT_SP;
    to = gdbjit_put_sleb(to, row->cfa);
    to = gdbjit_put_rule(to, GDBJIT_RA, row->ra_at);
    return gdbjit_put_rule(to, GDBJIT_FP, row->fp_at);
}

/* Fill a record up to a multiple of 8 with no operations, and put its length before it. */
static unsigned char *gdbjit_end_record(unsigned char *begin, unsigned char *to)
{
    while ((to - begin) % 8 != 4)
        *to++ = 0;
    gdbjit_put_u32(begin, (uint32_t)(to - begin) - 4);
    return to;
}

/* Write .eh_frame: one CIE, with factors of 1 and no augmentation, and one FDE with absolute
 * addresses. Return its end. */
static unsigned char *gdbjit_put_frames(unsigned char *begin, uint64_t start, uint64_t length,
                                        const jsprof_code_row *rows, uint32_t n_rows)
{
    static const jsprof_code_row by_frame_pointer = { 0, 16, -8, -16, 1 };
    static const unsigned char cie[] = { 0, 0, 0, 0, 1, 0, 1, 1, GDBJIT_RA };
    unsigned char *to = gdbjit_put(begin + 4, cie, sizeof cie), *fde;
    uint32_t before = 0;
    fde = gdbjit_end_record(begin, to);
    to = gdbjit_put_u32(fde + 4, (uint32_t)(fde + 4 - begin));
    to = gdbjit_put(to, &start, sizeof start);
    to = gdbjit_put(to, &length, sizeof length);
    if (!rows)
        to = gdbjit_put_row(to, &by_frame_pointer, 0);
    for (uint32_t i = 0; rows && i < n_rows; before = rows[i++].offset)
        to = gdbjit_put_row(to, &rows[i], before);
    return gdbjit_put_u32(gdbjit_end_record(fde, to), 0);
}

static Elf64_Shdr gdbjit_section(uint32_t name, uint32_t type, uint64_t flags, uint64_t offset,
                                 uint64_t bytes)
{
    return (Elf64_Shdr){ .sh_name = name, .sh_type = type, .sh_flags = flags,
                         .sh_offset = offset, .sh_size = bytes, .sh_addralign = 8 };
}

static void gdbjit_fill(struct gdbjit_file *f, uint64_t start, uint64_t length, uint64_t n_names,
                        uint64_t n_frames)
{
    Elf64_Shdr *s = f->sections;
    memcpy(f->head.e_ident, ELFMAG, SELFMAG);
    f->head.e_ident[EI_CLASS] = ELFCLASS64;
    f->head.e_ident[EI_DATA] = ELFDATA2LSB;
    f->head.e_ident[EI_VERSION] = EV_CURRENT;
    f->head.e_version = EV_CURRENT;
    f->head.e_type = ET_REL;
    f->head.e_machine = GDBJIT_MACHINE;
    f->head.e_ehsize = sizeof f->head;
    f->head.e_shoff = offsetof(struct gdbjit_file, sections);
    f->head.e_shentsize = sizeof *s;
    f->head.e_shnum = GDBJIT_SECTIONS;
    f->head.e_shstrndx = GDBJIT_NAMES;
    s[GDBJIT_TEXT] = gdbjit_section(GDBJIT_NAME_TEXT, SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0,
                                    length);
    s[GDBJIT_TEXT].sh_addr = start;
    s[GDBJIT_FRAMES] = gdbjit_section(GDBJIT_NAME_FRAMES, SHT_PROGBITS, SHF_ALLOC,
                                      sizeof *f, n_frames);
    s[GDBJIT_NAMES] = gdbjit_section(GDBJIT_NAME_NAMES, SHT_STRTAB, 0, sizeof *f + n_frames,
                                     n_names);
    s[GDBJIT_SYMBOLS] = gdbjit_section(GDBJIT_NAME_SYMBOLS, SHT_SYMTAB, 0,
                                       offsetof(struct gdbjit_file, symbols), sizeof f->symbols);
    s[GDBJIT_SYMBOLS].sh_link = GDBJIT_NAMES;
    s[GDBJIT_SYMBOLS].sh_info = 1; /* the first one that is not local */
    s[GDBJIT_SYMBOLS].sh_entsize = sizeof *f->symbols;
    f->symbols[1].st_name = GDBJIT_NAME;
    f->symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    f->symbols[1].st_shndx = GDBJIT_TEXT;
    f->symbols[1].st_size = length;
}

/* -- The list ---------------------------------------------------------------- */

/* The process that changes the list; 0: none does. A fork may copy it while another thread does,
 * which the child does not have. */
static _Atomic(pid_t) gdbjit_owner;

static void gdbjit_lock(void)
{
    pid_t self = getpid(), other = 0;
    /* ORDER: acquire, with the release of gdbjit_unlock: the list. */
    while (!atomic_compare_exchange_strong_explicit(&gdbjit_owner, &other, self,
                                                    memory_order_acquire, memory_order_relaxed)) {
        if (other == self) {
            sched_yield();
            other = 0;
        }
    }
}

static void gdbjit_unlock(void)
{
    /* ORDER: release, with the acquire of gdbjit_lock. */
    atomic_store_explicit(&gdbjit_owner, 0, memory_order_release);
}

static void gdbjit_tell(struct gdbjit_entry *entry, enum gdbjit_action action)
{
    __jit_debug_descriptor.relevant = entry;
    __jit_debug_descriptor.action = action;
    __jit_debug_register_code();
    __jit_debug_descriptor.action = GDBJIT_NONE;
    __jit_debug_descriptor.relevant = NULL;
}

static void gdbjit_link(struct gdbjit_entry *entry)
{
    gdbjit_lock();
    entry->next = __jit_debug_descriptor.first;
    if (entry->next)
        entry->next->previous = entry;
    __jit_debug_descriptor.first = entry;
    gdbjit_tell(entry, GDBJIT_REGISTER);
    gdbjit_unlock();
}

static void gdbjit_unlink(struct gdbjit_entry *entry)
{
    gdbjit_lock();
    if (entry->previous)
        entry->previous->next = entry->next;
    else
        __jit_debug_descriptor.first = entry->next;
    if (entry->next)
        entry->next->previous = entry->previous;
    gdbjit_tell(entry, GDBJIT_UNREGISTER);
    gdbjit_unlock();
}

struct jsp_gdbjit *jsp_gdbjit_add(uint64_t start, uint64_t end, const char *name,
                                  const jsprof_code_row *rows, uint32_t n_rows)
{
    const size_t n_name = strlen(name) + 1, n_names = sizeof gdbjit_names + n_name;
    const size_t frames = GDBJIT_FRAME_BYTES + GDBJIT_ROW_BYTES * ((rows ? n_rows : 0) + (size_t)1);
    struct jsp_gdbjit *to = GDBJIT_MACHINE == EM_NONE
                                ? NULL : calloc(1, sizeof *to + frames + n_names);
    if (!to)
        return NULL;
    unsigned char *at = (unsigned char *)(to + 1);
    unsigned char *names = gdbjit_put_frames(at, start, end - start, rows, n_rows);
    gdbjit_fill(&to->file, start, end - start, n_names, (uint64_t)(names - at));
    memcpy(names, gdbjit_names, sizeof gdbjit_names);
    memcpy(names + sizeof gdbjit_names, name, n_name);
    to->name = (const char *)names + sizeof gdbjit_names;
    to->entry.file = &to->file;
    to->entry.file_bytes = (uint64_t)(names + n_names - (unsigned char *)&to->file);
    gdbjit_link(&to->entry);
    return to;
}

void jsp_gdbjit_remove(struct jsp_gdbjit *announced)
{
    if (announced)
        gdbjit_unlink(&announced->entry);
    free(announced);
}

const char *jsp_gdbjit_name(const struct jsp_gdbjit *announced)
{
    return announced->name;
}
