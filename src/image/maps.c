/* image/maps.c - see maps.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/bisect.h"
#include "base/block.h"

/* Return the value of a digit, or UINT64_MAX. */
static uint64_t maps_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (uint64_t)(c - '0');
    return c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a' + 10) : UINT64_MAX;
}

/* Read a number that ends at `stop`, and skip `stop`. Return false if there is no such
 * number. */
static bool maps_number(char **at, uint64_t base, char stop, uint64_t *out)
{
    const char *begin = *at;
    char *end = *at;
    uint64_t value = 0, digit;
    for (; (digit = maps_digit(*end)) < base; end++) {
        if (value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    if (end == begin || *end != stop)
        return false;
    *out = value;
    *at = end + 1;
    return true;
}

/* Undo the kernel's only escape: it writes a newline in a path as \012. */
static void maps_unescape(char *path)
{
    char *to = strchr(path, '\\');
    if (!to)
        return;
    for (const char *from = to; *from; from++) {
        bool is_newline = strncmp(from, "\\012", 4) == 0;
        *to++ = is_newline ? '\n' : *from;
        from += is_newline ? 3 : 0;
    }
    *to = '\0';
}

static bool maps_line(char *line, struct jsp_map *m)
{
    uint64_t major, minor, inode;
    if (!maps_number(&line, 16, '-', &m->start) ||
        !maps_number(&line, 16, ' ', &m->end) || strlen(line) < 5 || line[4] != ' ')
        return false;
    m->is_readable = line[0] == 'r';
    m->is_writable = line[1] == 'w';
    m->is_executable = line[2] == 'x';
    line += 5;
    if (!maps_number(&line, 16, ' ', &m->offset) ||
        !maps_number(&line, 16, ':', &major) || !maps_number(&line, 16, ' ', &minor))
        return false;
    inode = strtoull(line, &line, 10);
    line += strspn(line, " ");
    m->path = line;
    maps_unescape(line);
    m->dev = makedev((unsigned)major, (unsigned)minor);
    m->inode = inode;
    return m->start < m->end;
}

int jsp_maps_take(struct jsp_maps *maps, char *text)
{
    size_t lines = 0, n = 0;
    uint64_t last = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    struct jsp_map *list = jsp_block_zeros(lines + 1, sizeof *list);
    if (!list)
        return -ENOMEM;
    for (char *line = text, *next; *line; line = next) {
        size_t len = strcspn(line, "\n");
        next = line + len + (line[len] != '\0');
        line[len] = '\0';
        const struct jsp_map *m = &list[n];
        if (maps_line(line, &list[n]) && m->start >= last &&
            (m->inode != 0 || m->is_executable || strcmp(m->path, "[vdso]") == 0))
            last = list[n++].end;
    }
    jsp_maps_free(maps);
    *maps = (struct jsp_maps){ list, n, text, false };
    return 0;
}

const struct jsp_map *jsp_maps_find(const struct jsp_maps *maps, uint64_t addr)
{
    struct jsp_bisect_number than = { offsetof(struct jsp_map, end), addr };
    size_t low = jsp_bisect_up_to(maps->list, maps->n, sizeof *maps->list, than);
    return low < maps->n && maps->list[low].start <= addr ? &maps->list[low] : NULL;
}

void jsp_maps_free(struct jsp_maps *maps)
{
    jsp_block_free(maps->list);
    jsp_block_free(maps->text);
    *maps = (struct jsp_maps){ NULL, 0, NULL, false };
}
