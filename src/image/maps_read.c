/* image/maps_read.c - reads this process's map: see jsp_maps_read in maps.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "maps.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/block.h"
#include "descriptor.h"

enum {
    MAPS_FIRST_ROOM = 1 << 16,  /* bytes of text */
    MAPS_MOST_ROOM = 1 << 26,
};

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

/* Read the map of the calling thread's process. Once the main thread has ended, the kernel shows an
 * empty one, or none, under the number of the process, but still the whole one under ours. */
static int maps_text(char **text)
{
    static const char *const paths[] = { "/proc/self/maps", "/proc/thread-self/maps" };
    int err = -ENOENT;
    for (int i = 0; i < 2; i++) {
        int fd = jsp_descriptor_open(paths[i], O_RDONLY, 0);
        if (fd < 0)
            continue;
        err = maps_slurp(fd, text);
        close(fd);
        if (err || **text)
            return err;
        jsp_block_free(*text);
        err = -ENOENT;
    }
    return err;
}

int jsp_maps_read(struct jsp_maps *maps)
{
    char *text = NULL;
    int err = maps_text(&text);
    if (err == -ENOENT)
        return jsp_maps_of_loader(maps);
    if (!err)
        err = jsp_maps_take(maps, text);
    if (err)
        jsp_block_free(text);
    return err;
}
