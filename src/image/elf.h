/* image/elf.h - a reader of one ELF file within bounds.
 *
 * Pieces are copied out with pread and never mapped: if another program truncates a
 * mapped file, SIGBUS kills the process, and the process is our host. So a file of any
 * size costs only the pieces that are read. No byte is trusted: a piece that lies outside
 * the file, or is larger than JSP_ELF_MOST, counts as absent.
 *
 * The file has 64 bits and this machine's byte order; any machine code. Outside the
 * handler only.
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
    int fd;                  /* owned; -1: read from `image` */
    const uint8_t *image;    /* borrowed: the whole file, in memory */
    void *decoded;           /* owned block: the bytes of `image`, if no file has them */
    uint64_t image_base;     /* the image's address in the running process; 0: unknown */
    uint64_t size;           /* of the file */
    Elf64_Ehdr head;
    Elf64_Phdr *segments;    /* owned */
    size_t n_segments;
    Elf64_Shdr *sections;    /* owned; a file may have none */
    size_t n_sections;
    char *section_names;     /* owned, ends in NUL; NULL: none */
    size_t section_names_size;
};

/* A range of the file. */
struct jsp_elf_span {
    uint64_t offset;
    uint64_t size;
};

/* Open the file of `fd` and take over the descriptor. Return 0, -EBADMSG (not an ELF
 * file of the supported kind), -ENOMEM or the errno of reading. On failure `fd` is
 * closed. */
int jsp_elf_open(struct jsp_elf *elf, int fd);

/* Open a file in memory. The bytes must stay valid until close. */
int jsp_elf_open_image(struct jsp_elf *elf, const void *bytes, size_t size);

/* Close the file and free what was read of it. */
void jsp_elf_close(struct jsp_elf *elf);

/* Return a copy of the range with a NUL at its end, which the caller frees, or NULL if
 * the file does not have it. */
void *jsp_elf_read(const struct jsp_elf *elf, struct jsp_elf_span span);

/* Return the section's bytes, or NULL. */
void *jsp_elf_read_section(const struct jsp_elf *elf, const Elf64_Shdr *section);

/* Return the first section of this name (and type, if not 0), or NULL. */
const Elf64_Shdr *jsp_elf_section(const struct jsp_elf *elf, const char *name,
                                  uint32_t type);

/* Return the loaded segment that contains this byte of the file, or NULL. Code segments
 * come before data segments. */
const Elf64_Phdr *jsp_elf_segment_of(const struct jsp_elf *elf, uint64_t offset);

/* Return the range of the file from this address to the end of its segment; size 0:
 * none. */
struct jsp_elf_span jsp_elf_span_at(const struct jsp_elf *elf, uint64_t vaddr);

/* Return true if this virtual address is in a segment of code. */
bool jsp_elf_is_code(const struct jsp_elf *elf, uint64_t vaddr);

enum { JSP_ELF_BUILD_ID = 64 }; /* largest size in bytes */

/* Find the build id in these notes, which may be those of a loaded object. Return its
 * size, or 0 if there is none. */
size_t jsp_elf_note_id(const uint8_t *at, uint64_t left, uint8_t id[JSP_ELF_BUILD_ID]);

/* Find the build id of the file. Return its size, or 0 if there is none. */
size_t jsp_elf_build_id(const struct jsp_elf *elf, uint8_t id[JSP_ELF_BUILD_ID]);

/* The symbol table that the loader uses: for files without section headers, and for objects of
 * which only the running image is left. */
struct jsp_elf_dynamic {
    struct jsp_elf_span symbols;
    struct jsp_elf_span text; /* the names */
};

/* Find the table. Return false if the file has none that makes sense. */
bool jsp_elf_dynamic(const struct jsp_elf *elf, struct jsp_elf_dynamic *found);

#endif
