/* image/elf.h - one ELF file, its pieces read within bounds.
 *
 * Pieces are copied out with pread and never mapped: a file that somebody truncates
 * while it is mapped kills the process with SIGBUS, and the process is our host. So a
 * file of any size costs only the pieces that are asked for. The bytes are believed
 * in nothing: what points outside the file, or is larger than JSP_ELF_MOST, reads as
 * absent.
 *
 * 64 bits and this machine's byte order; any machine code. Outside the handler only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_ELF_H
#define JSP_IMAGE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSP_ELF_MOST = 1 << 28 }; /* bytes of one piece */

struct jsp_elf {
    int fd;                  /* owned; -1: `image` */
    const uint8_t *image;    /* borrowed: the whole file, in memory */
    uint64_t image_base;     /* where the running process has it; 0: not known */
    uint64_t size;           /* of the file */
    Elf64_Ehdr head;
    Elf64_Phdr *segments;    /* owned */
    size_t n_segments;
    Elf64_Shdr *sections;    /* owned; none is no defect */
    size_t n_sections;
    char *section_names;     /* owned, ends in NUL; NULL: none */
    size_t section_names_size;
};

/* Where something stands in the file. */
struct jsp_elf_span {
    uint64_t offset;
    uint64_t size;
};

/* Take over `fd`. -EBADMSG: not an ELF file that we read; -ENOMEM; reading's errno.
 * The descriptor is closed on failure. */
int jsp_elf_open(struct jsp_elf *elf, int fd);

/* The same over bytes that stay until close. */
int jsp_elf_open_image(struct jsp_elf *elf, const void *bytes, size_t size);

void jsp_elf_close(struct jsp_elf *elf);

/* A copy of the span with a NUL behind it, to be freed; NULL: not there. */
void *jsp_elf_read(const struct jsp_elf *elf, struct jsp_elf_span span);

/* The section's bytes, or NULL. */
void *jsp_elf_read_section(const struct jsp_elf *elf, const Elf64_Shdr *section);

/* The first section of this name (and type, if not 0), or NULL. */
const Elf64_Shdr *jsp_elf_section(const struct jsp_elf *elf, const char *name,
                                  uint32_t type);

/* The loaded segment that has this byte of the file, code before data; or NULL. */
const Elf64_Phdr *jsp_elf_segment_of(const struct jsp_elf *elf, uint64_t offset);

/* What of the file stands from this address to its segment's end; size 0: none. */
struct jsp_elf_span jsp_elf_span_at(const struct jsp_elf *elf, uint64_t vaddr);

/* Is this virtual address in a segment of code? */
bool jsp_elf_is_code(const struct jsp_elf *elf, uint64_t vaddr);

enum { JSP_ELF_BUILD_ID = 64 }; /* bytes of one, at most */

/* The build id among these notes, which may be those of a loaded object; 0: none. */
size_t jsp_elf_note_id(const uint8_t *at, uint64_t left, uint8_t id[JSP_ELF_BUILD_ID]);

/* The build id; how many bytes, 0: none. */
size_t jsp_elf_build_id(const struct jsp_elf *elf, uint8_t id[JSP_ELF_BUILD_ID]);

#endif
