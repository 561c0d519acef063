/* serve/preload.c - see preload.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "preload.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

struct preload_file {
    const uint8_t *at;
    size_t size;
};

static bool preload_map(const char *path, struct preload_file *f)
{
    struct stat is;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    *f = (struct preload_file){ 0 };
    if (fd < 0)
        return false;
    if (fstat(fd, &is) == 0 && S_ISREG(is.st_mode) && is.st_size > 0) {
        void *at = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED)
            *f = (struct preload_file){ at, (size_t)is.st_size };
    }
    close(fd);
    return f->at;
}

static void preload_unmap(struct preload_file *f)
{
    if (f->at)
        munmap((void *)(uintptr_t)f->at, f->size);
}

/* Copy the header of an ELF file of this machine's word size. */
static bool preload_header(const struct preload_file *f, ElfW(Ehdr) *header)
{
    static const int word = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (f->size < sizeof *header || memcmp(f->at, ELFMAG, SELFMAG) != 0)
        return false;
    memcpy(header, f->at, sizeof *header);
    return header->e_ident[EI_CLASS] == word && header->e_phentsize == sizeof(ElfW(Phdr));
}

/* Return the name of the program's dynamic linker, or NULL. */
static const char *preload_linker(const struct preload_file *f)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) p;
    if (!preload_header(f, &header))
        return NULL;
    for (size_t i = 0; i < header.e_phnum; i++) {
        uint64_t at = header.e_phoff + i * sizeof p;
        if (at > f->size || f->size - at < sizeof p)
            return NULL;
        memcpy(&p, f->at + at, sizeof p);
        if (p.p_type == PT_INTERP && p.p_offset < f->size && p.p_filesz > 1 &&
            p.p_filesz <= f->size - p.p_offset && !f->at[p.p_offset + p.p_filesz - 1])
            return (const char *)f->at + p.p_offset;
    }
    return NULL;
}

/* Return true if the kernel starts it with rights that its user does not have. */
static bool preload_is_privileged(const char *path)
{
    struct stat is;
    if (stat(path, &is) < 0)
        return false;
    return (is.st_mode & S_ISUID && is.st_uid != getuid()) ||
           (is.st_mode & S_ISGID && is.st_gid != getgid()) ||
           (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

/* Compare with ourselves, because the preloaded library is built with us. */
static const char *preload_refuses(const char *path, const struct preload_file *f)
{
    struct preload_file self;
    ElfW(Ehdr) its, ours;
    const char *why = NULL;
    if (f->size < SELFMAG || memcmp(f->at, ELFMAG, SELFMAG) != 0)
        return NULL; /* a shell runs it */
    if (preload_is_privileged(path))
        return "runs with the rights of another user";
    if (!preload_map("/proc/self/exe", &self))
        return NULL;
    bool is_ours = preload_header(&self, &ours);
    const char *linker = preload_linker(f), *our_linker = preload_linker(&self);
    if (is_ours && (!preload_header(f, &its) || its.e_machine != ours.e_machine))
        why = "is a program for another processor";
    else if (!linker)
        why = "is statically linked";
    else if (our_linker && strcmp(strrchr(linker, '/') ? strrchr(linker, '/') : linker,
                                  strrchr(our_linker, '/') ? strrchr(our_linker, '/')
                                                           : our_linker) != 0)
        why = "uses another C library";
    preload_unmap(&self);
    return why;
}

static bool preload_has(const struct preload_file *f, const char *text)
{
    return memmem(f->at, f->size, text, strlen(text) + 1);
}

void preload_look(const char *path, struct preload_look *out)
{
    struct preload_file f;
    *out = (struct preload_look){ 0 };
    if (!preload_map(path, &f))
        return;
    out->has_gjs = preload_has(&f, "libgjs.so.0");
    out->has_ours = preload_has(&f, "JSPROF_CONTINUOUS") || preload_has(&f, "libjsprof.so.0");
    out->why = preload_refuses(path, &f);
    preload_unmap(&f);
}
