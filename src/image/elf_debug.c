/* image/elf_debug.c - see elf_debug.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "elf_debug.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/block.h"
#include "descriptor.h"
#include "xz.h"

enum {
    DEBUG_CHUNK = 1 << 20,      /* bytes that the checksum reads at once */
    DEBUG_MOST_SUMMED = 1 << 26, /* a larger file needs a build id */
};

/* The debug file must match these. */
struct debug_wanted {
    uint8_t id[JSP_ELF_BUILD_ID];
    size_t id_size; /* 0: none */
    char *link;     /* owned: a file name; NULL: none */
    uint32_t sum;   /* checksum of the linked file */
};

int jsp_elf_file(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EBADMSG; /* opening a device can have side effects */
    return jsp_descriptor_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
}

/* Read .gnu_debuglink: a name, zeros up to a multiple of four, a checksum. */
static void debug_link(struct debug_wanted *wanted, const struct jsp_elf *elf)
{
    const Elf64_Shdr *s = jsp_elf_section(elf, ".gnu_debuglink", SHT_PROGBITS);
    char *link = s && s->sh_size <= PATH_MAX ? jsp_elf_read_section(elf, s) : NULL;
    size_t sum = link ? (strlen(link) + 4) & ~(size_t)3 : 0;
    if (!link || !*link || strchr(link, '/') || sum + 4 > s->sh_size) {
        jsp_block_free(link);
        return;
    }
    memcpy(&wanted->sum, link + sum, sizeof wanted->sum);
    wanted->link = link;
}

static uint32_t debug_crc(uint32_t crc, const uint8_t *at, size_t n)
{
    static const uint32_t nibble[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc = crc >> 4 ^ nibble[(crc ^ at[i]) & 15];
        crc = crc >> 4 ^ nibble[(crc ^ at[i] >> 4) & 15];
    }
    return ~crc;
}

static bool debug_sum_fits(const struct jsp_elf *file, uint32_t want)
{
    uint32_t crc = 0;
    if (file->size > DEBUG_MOST_SUMMED)
        return false;
    for (uint64_t at = 0; at < file->size; at += DEBUG_CHUNK) {
        uint64_t left = file->size - at, n = left < DEBUG_CHUNK ? left : DEBUG_CHUNK;
        uint8_t *bytes = jsp_elf_read(file, (struct jsp_elf_span){ at, n });
        if (!bytes)
            return false;
        crc = debug_crc(crc, bytes, n);
        jsp_block_free(bytes);
    }
    return crc == want;
}

/* Open the file at `path`. Return true if it fits; otherwise it is closed again. */
static bool debug_try(struct jsp_elf *debug, const struct debug_wanted *wanted,
                      const char *path)
{
    uint8_t id[JSP_ELF_BUILD_ID];
    int fd = jsp_elf_file(path);
    if (fd < 0 || jsp_elf_open(debug, fd) < 0)
        return false;
    size_t n = jsp_elf_build_id(debug, id);
    bool fits = n && wanted->id_size
        ? n == wanted->id_size && memcmp(id, wanted->id, n) == 0
        : wanted->link && debug_sum_fits(debug, wanted->sum);
    if (!fits)
        jsp_elf_close(debug);
    return fits;
}

static bool debug_by_id(struct jsp_elf *debug, const struct debug_wanted *wanted,
                        const char *root)
{
    char hex[2 * JSP_ELF_BUILD_ID + 1] = "", path[PATH_MAX];
    if (wanted->id_size < 2)
        return false;
    for (size_t i = 0; i < wanted->id_size; i++)
        snprintf(hex + 2 * i, 3, "%02x", wanted->id[i]);
    int n = snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug", root, hex, hex + 2);
    if (n > 0 && (size_t)n < sizeof path && debug_try(debug, wanted, path))
        return true;
    n = snprintf(path, sizeof path, "%s/%s/debuginfo", root, hex);
    return n > 0 && (size_t)n < sizeof path && debug_try(debug, wanted, path);
}

static bool debug_by_link(struct jsp_elf *debug, const struct debug_wanted *wanted,
                          struct jsp_elf_debug_place place)
{
    const char *slash = strrchr(place.path, '/');
    int dir = slash ? (int)(slash - place.path) : 0;
    char at[PATH_MAX];
    const struct {
        const char *before, *after;
    } places[] = { { "", "/" }, { "", "/.debug/" }, { place.root, "/" } };
    if (!wanted->link || !slash)
        return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int n = snprintf(at, sizeof at, "%s%.*s%s%s", places[i].before, dir,
                         place.path, places[i].after, wanted->link);
        if (n > 0 && (size_t)n < sizeof at && debug_try(debug, wanted, at))
            return true;
    }
    return false;
}

static bool debug_is_needed(const struct jsp_elf *elf)
{
    for (size_t i = 0; i < elf->n_sections; i++)
        if (elf->sections[i].sh_type == SHT_SYMTAB)
            return false;
    return true;
}

int jsp_elf_debug_inside(struct jsp_elf *debug, const struct jsp_elf *elf)
{
    const Elf64_Shdr *s = jsp_elf_section(elf, ".gnu_debugdata", SHT_PROGBITS);
    uint8_t *packed = s && debug_is_needed(elf) ? jsp_elf_read_section(elf, s) : NULL;
    struct jsp_xz_output is;
    if (!packed)
        return -ENOENT;
    int err = jsp_xz_decode(packed, s->sh_size, &is);
    jsp_block_free(packed);
    if (err)
        return err;
    err = jsp_elf_open_image(debug, is.bytes, is.size);
    if (err)
        jsp_block_free(is.bytes);
    else
        debug->decoded = is.bytes;
    return err;
}

int jsp_elf_debug_open(struct jsp_elf *debug, const struct jsp_elf *elf,
                       struct jsp_elf_debug_place place)
{
    struct debug_wanted wanted = { .id_size = 0 };
    if (!debug_is_needed(elf))
        return -ENOENT;
    wanted.id_size = jsp_elf_build_id(elf, wanted.id);
    debug_link(&wanted, elf);
    bool found =
        debug_by_id(debug, &wanted, place.root) || debug_by_link(debug, &wanted, place);
    jsp_block_free(wanted.link);
    return found ? 0 : -ENOENT;
}
