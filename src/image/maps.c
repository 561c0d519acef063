/* image/maps.c - see maps.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/block.h"
#include "descriptor.h"

enum {
    MAPS_FIRST_ROOM = 1 << 16,  /* bytes of text */
    MAPS_MOST_ROOM = 1 << 26,
};

/* Read a number that ends at `stop`, and skip `stop`. Return false if there is no such
 * number. */
static bool maps_number(char **at, int base, char stop, uint64_t *out)
{
    char *end;
    if (**at == ' ' || **at == '-' || **at == '+')
        return false;
    errno = 0;
    *out = strtoull(*at, &end, base);
    if (end == *at || *end != stop || errno)
        return false;
    *at = end + 1;
    return true;
}

/* Undo the kernel's only escape: it writes a newline in a path as \012. */
static void maps_unescape(char *path)
{
    char *to = path;
    for (const char *from = path; *from; from++) {
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
    maps_unescape(line);
    m->dev = makedev((unsigned)major, (unsigned)minor);
    m->inode = inode;
    m->path = line;
    return m->start < m->end;
}

static bool maps_wanted(const struct jsp_map *m)
{
    return m->inode != 0 || m->is_executable || strcmp(m->path, "[vdso]") == 0;
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
        if (maps_line(line, &list[n]) && list[n].start >= last && maps_wanted(&list[n]))
            last = list[n++].end;
    }
    jsp_maps_free(maps);
    *maps = (struct jsp_maps){ list, n, text, false };
    return 0;
}

/* Read to the end of the file; the kernel returns a page at a time. */
static int maps_slurp(int fd, char **text)
{
    size_t room = MAPS_FIRST_ROOM, used = 0;
    char *own = jsp_block_grow(NULL, room);
    ssize_t got = 1;
    while (own && got != 0) {
        if (used + 1 == room) {
            char *more = room < MAPS_MOST_ROOM ? jsp_block_grow(own, room * 2) : NULL;
            if (!more)
                break;
            own = more;
            room *= 2;
        }
        got = read(fd, own + used, room - used - 1);
        if (got < 0 && errno != EINTR) {
            int err = -errno;
            jsp_block_free(own);
            return err;
        }
        used += got > 0 ? (size_t)got : 0;
    }
    if (!own || got != 0) {
        jsp_block_free(own);
        return -ENOMEM;
    }
    own[used] = '\0';
    *text = own;
    return 0;
}

int jsp_maps_read(struct jsp_maps *maps)
{
    char *text = NULL;
    int fd = jsp_descriptor_open("/proc/self/maps", O_RDONLY, 0);
    if (fd < 0)
        return jsp_maps_of_loader(maps);
    int err = maps_slurp(fd, &text);
    close(fd);
    if (!err)
        err = jsp_maps_take(maps, text);
    if (err)
        jsp_block_free(text);
    return err;
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
