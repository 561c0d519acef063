/* image/elf.c - see elf.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "elf.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/block.h"

enum {
    ELF_MOST_SEGMENTS = 256, /* each symbol look-up walks all of them */
    ELF_MOST_SECTIONS = 4096,
    ELF_MOST_NOTES = 1 << 16, /* bytes of one note segment */
};

static const uint16_t elf_one = 1;

static bool elf_has(const struct jsp_elf *elf, struct jsp_elf_span span)
{
    return span.size <= JSP_ELF_MOST && span.offset <= elf->size &&
           span.size <= elf->size - span.offset;
}

/* Read the whole range. Return 0 or a negative errno. */
static int elf_get(const struct jsp_elf *elf, struct jsp_elf_span span, void *to)
{
    if (!elf_has(elf, span))
        return -EBADMSG;
    if (elf->fd < 0) {
        memcpy(to, elf->image + span.offset, span.size);
        return 0;
    }
    for (uint64_t done = 0; done < span.size;) {
        ssize_t got = pread(elf->fd, (char *)to + done, span.size - done,
                            (off_t)(span.offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -EBADMSG;
        done += (uint64_t)got;
    }
    return 0;
}

void *jsp_elf_read(const struct jsp_elf *elf, struct jsp_elf_span span)
{
    char *bytes = elf_has(elf, span) ? jsp_block_grow(NULL, span.size + 1) : NULL;
    if (bytes && elf_get(elf, span, bytes) < 0) {
        jsp_block_free(bytes);
        return NULL;
    }
    if (bytes)
        bytes[span.size] = '\0';
    return bytes;
}

void *jsp_elf_read_section(const struct jsp_elf *elf, const Elf64_Shdr *s)
{
    if (s->sh_type == SHT_NOBITS || s->sh_flags & SHF_COMPRESSED)
        return NULL;
    return jsp_elf_read(elf, (struct jsp_elf_span){ s->sh_offset, s->sh_size });
}

/* Section 0 holds the counts that do not fit into the ELF header. */
static void elf_sections(struct jsp_elf *elf)
{
    struct jsp_elf_span span = { elf->head.e_shoff, sizeof *elf->sections };
    uint64_t n = elf->head.e_shnum, names = elf->head.e_shstrndx;
    Elf64_Shdr first;
    if (!elf->head.e_shoff || elf->head.e_shentsize != sizeof first ||
        elf_get(elf, span, &first) < 0)
        return;
    n = n ? n : first.sh_size;
    names = names == SHN_XINDEX ? first.sh_link : names;
    if (n > ELF_MOST_SECTIONS)
        return;
    span.size = n * sizeof first;
    elf->sections = jsp_elf_read(elf, span);
    elf->n_sections = elf->sections ? n : 0;
    if (names < elf->n_sections) {
        elf->section_names = jsp_elf_read_section(elf, &elf->sections[names]);
        elf->section_names_size = elf->sections[names].sh_size;
    }
}

static int elf_begin(struct jsp_elf *elf)
{
    Elf64_Ehdr *head = &elf->head;
    int order = *(const unsigned char *)&elf_one ? ELFDATA2LSB : ELFDATA2MSB;
    int err = elf_get(elf, (struct jsp_elf_span){ 0, sizeof *head }, head);
    bool ours = !err && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
                head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_ident[EI_DATA] == order;
    if (!ours) {
        jsp_elf_close(elf);
        return err ? err : -EBADMSG;
    }
    if (head->e_phentsize == sizeof *elf->segments && head->e_phnum <= ELF_MOST_SEGMENTS) {
        uint64_t size = (uint64_t)head->e_phnum * sizeof *elf->segments;
        elf->segments = jsp_elf_read(elf, (struct jsp_elf_span){ head->e_phoff, size });
        elf->n_segments = elf->segments ? head->e_phnum : 0;
    }
    elf_sections(elf);
    return 0;
}

int jsp_elf_open(struct jsp_elf *elf, int fd)
{
    struct stat st;
    *elf = (struct jsp_elf){ .fd = fd };
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        jsp_elf_close(elf);
        return -EBADMSG;
    }
    elf->size = (uint64_t)st.st_size;
    return elf_begin(elf);
}

int jsp_elf_open_image(struct jsp_elf *elf, const void *bytes, size_t size)
{
    *elf = (struct jsp_elf){ .fd = -1, .image = bytes, .size = size };
    return elf_begin(elf);
}

void jsp_elf_close(struct jsp_elf *elf)
{
    if (elf->fd >= 0)
        close(elf->fd);
    jsp_block_free(elf->segments);
    jsp_block_free(elf->sections);
    jsp_block_free(elf->section_names);
    jsp_block_free(elf->decoded);
    *elf = (struct jsp_elf){ .fd = -1 };
}

const Elf64_Shdr *jsp_elf_section(const struct jsp_elf *elf, const char *name,
                                  uint32_t type)
{
    for (size_t i = 0; elf->section_names && i < elf->n_sections; i++) {
        const Elf64_Shdr *s = &elf->sections[i];
        if (s->sh_name < elf->section_names_size && (!type || s->sh_type == type) &&
            strcmp(elf->section_names + s->sh_name, name) == 0)
            return s;
    }
    return NULL;
}

const Elf64_Phdr *jsp_elf_segment_of(const struct jsp_elf *elf, uint64_t offset)
{
    const Elf64_Phdr *found = NULL;
    for (size_t i = 0; i < elf->n_segments; i++) {
        const Elf64_Phdr *p = &elf->segments[i];
        if (p->p_type != PT_LOAD || offset < p->p_offset ||
            offset - p->p_offset >= p->p_filesz)
            continue;
        if (!found || p->p_flags & PF_X)
            found = p;
    }
    return found;
}

struct jsp_elf_span jsp_elf_span_at(const struct jsp_elf *elf, uint64_t vaddr)
{
    for (size_t i = 0; i < elf->n_segments; i++) {
        const Elf64_Phdr *p = &elf->segments[i];
        uint64_t in = vaddr - p->p_vaddr;
        if (p->p_type != PT_LOAD || vaddr < p->p_vaddr || in >= p->p_filesz ||
            p->p_offset > elf->size || in >= elf->size - p->p_offset)
            continue;
        uint64_t offset = p->p_offset + in, rest = elf->size - offset;
        return (struct jsp_elf_span){ offset,
                                      rest < p->p_filesz - in ? rest : p->p_filesz - in };
    }
    return (struct jsp_elf_span){ 0, 0 };
}

bool jsp_elf_is_code(const struct jsp_elf *elf, uint64_t vaddr)
{
    for (size_t i = 0; i < elf->n_segments; i++) {
        const Elf64_Phdr *p = &elf->segments[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_X && vaddr >= p->p_vaddr &&
            vaddr - p->p_vaddr < p->p_memsz)
            return true;
    }
    return false;
}

/* Each note has a header, a name and a description, both padded to four bytes. */
size_t jsp_elf_note_id(const uint8_t *at, uint64_t left, uint8_t id[JSP_ELF_BUILD_ID])
{
    Elf64_Nhdr note;
    while (left >= sizeof note) {
        memcpy(&note, at, sizeof note);
        uint64_t name = ((uint64_t)note.n_namesz + 3) & ~3ull;
        uint64_t desc = ((uint64_t)note.n_descsz + 3) & ~3ull;
        at += sizeof note;
        left -= sizeof note;
        if (name > left || note.n_descsz > left - name)
            return 0;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(at, "GNU", 4) == 0 && note.n_descsz > 0 &&
            note.n_descsz <= JSP_ELF_BUILD_ID) {
            memcpy(id, at + name, note.n_descsz);
            return note.n_descsz;
        }
        if (desc > left - name)
            return 0;
        at += name + desc;
        left -= name + desc;
    }
    return 0;
}

static size_t elf_span_id(const struct jsp_elf *elf, struct jsp_elf_span span,
                          uint8_t id[JSP_ELF_BUILD_ID])
{
    uint8_t *notes = span.size <= ELF_MOST_NOTES ? jsp_elf_read(elf, span) : NULL;
    size_t n = notes ? jsp_elf_note_id(notes, span.size, id) : 0;
    jsp_block_free(notes);
    return n;
}

/* Search the sections first: a debug file keeps its notes only there. */
size_t jsp_elf_build_id(const struct jsp_elf *elf, uint8_t id[JSP_ELF_BUILD_ID])
{
    size_t n = 0;
    for (size_t i = 0; !n && i < elf->n_sections; i++) {
        const Elf64_Shdr *s = &elf->sections[i];
        if (s->sh_type == SHT_NOTE)
            n = elf_span_id(elf, (struct jsp_elf_span){ s->sh_offset, s->sh_size }, id);
    }
    for (size_t i = 0; !n && i < elf->n_segments; i++) {
        const Elf64_Phdr *p = &elf->segments[i];
        if (p->p_type == PT_NOTE)
            n = elf_span_id(elf, (struct jsp_elf_span){ p->p_offset, p->p_filesz }, id);
    }
    return n;
}
