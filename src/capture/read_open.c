/* capture/read_open.c - opens a path, a pipe or memory as a checked capture.
 *
 * SPDX-License-Identifier: MIT
 */
#include "read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read_stacks.h"
#include "wire.h"

static int read_why(char why[JSP_READ_WHY], int err)
{
    snprintf(why, JSP_READ_WHY, "%s", strerror(err));
    return -err;
}

static const uint8_t read_magic[4] = { 0x5E, 0x97, 0xCA, 0xFD };

/* Read a pipe, which has no size, into memory that doubles. Stop early if it does not start
 * like a capture: it can be endless. */
static int read_stream(int fd, uint8_t **out, uint64_t *size)
{
    size_t room = 1 << 20, n = 0;
    uint8_t *bytes = malloc(room);
    while (bytes) {
        ssize_t got = read(fd, bytes + n, room - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            int err = errno;
            free(bytes);
            return -err;
        }
        n += (size_t)got;
        if (got == 0 || (n >= sizeof read_magic &&
                         memcmp(bytes, read_magic, sizeof read_magic) != 0)) {
            *out = bytes;
            *size = n;
            return 0;
        }
        if (n < room)
            continue;
        room *= 2;
        uint8_t *more = realloc(bytes, room);
        if (!more)
            free(bytes);
        bytes = more;
    }
    return -ENOMEM;
}

static int read_fd(struct jsp_read *r, int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (S_ISREG(st.st_mode) && st.st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0) {
        void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at == MAP_FAILED)
            return -errno;
        r->bytes = at;
        r->size = (uint64_t)st.st_size;
        r->mapped = true;
        return 0;
    }
    uint8_t *bytes = NULL;
    int err = read_stream(fd, &bytes, &r->size);
    r->bytes = bytes;
    return err;
}

static int read_refuse_start(const struct jsp_read *r, char why[JSP_READ_WHY])
{
    char hex[16] = "";
    for (uint64_t i = 0; i < 4 && i < r->size; i++)
        snprintf(hex + 3 * i, sizeof hex - 3 * i, " %02x", r->bytes[i]);
    if (r->size == 0)
        snprintf(why, JSP_READ_WHY, "empty file");
    else
        snprintf(why, JSP_READ_WHY, "not a Sysprof capture (starts with%s)", hex);
    return -EBADMSG;
}

static int read_header(struct jsp_read *r, char why[JSP_READ_WHY])
{
    const struct jsp_wire_header *h = (const void *)r->bytes;
    if (r->size < sizeof read_magic ||
        memcmp(r->bytes, read_magic, sizeof read_magic) != 0)
        return read_refuse_start(r, why);
    if (r->size < sizeof *h) {
        snprintf(why, JSP_READ_WHY, "cut inside the file header (%d of %d bytes)",
                 (int)r->size, (int)sizeof *h);
        return -EBADMSG;
    }
    if (h->version != JSP_WIRE_VERSION) {
        snprintf(why, JSP_READ_WHY,
                 "capture format version %d, this jsprof reads version %d", h->version,
                 JSP_WIRE_VERSION);
        return -EBADMSG;
    }
    r->swap = (h->little_endian & 1) != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    memcpy(r->capture_time, h->capture_time, sizeof h->capture_time);
    r->capture_time[sizeof h->capture_time] = 0;
    r->time = (int64_t)jsp_read_u64(r, r->bytes + offsetof(struct jsp_wire_header, time));
    r->end_time =
        (int64_t)jsp_read_u64(r, r->bytes + offsetof(struct jsp_wire_header, end_time));
    return 0;
}

static int read_begin(struct jsp_read *r, char why[JSP_READ_WHY])
{
    r->stacks = calloc(1, sizeof *r->stacks);
    return r->stacks ? 0 : read_why(why, ENOMEM);
}

int jsp_read_open(struct jsp_read *r, const char *path, char why[JSP_READ_WHY])
{
    if (strcmp(path, "-") == 0)
        return jsp_read_descriptor(r, STDIN_FILENO, why);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return read_why(why, errno);
    int err = jsp_read_descriptor(r, fd, why);
    close(fd);
    return err;
}

int jsp_read_descriptor(struct jsp_read *r, int fd, char why[JSP_READ_WHY])
{
    struct jsp_read made = { 0 };
    int err = read_fd(&made, fd);
    if (err < 0)
        return read_why(why, -err);
    err = read_header(&made, why);
    if (err == 0)
        err = read_begin(&made, why);
    if (err < 0) {
        jsp_read_close(&made);
        return err;
    }
    *r = made;
    return 0;
}

int jsp_read_memory(struct jsp_read *r, const void *bytes, uint64_t size,
                    char why[JSP_READ_WHY])
{
    struct jsp_read made = { .bytes = bytes, .size = size, .borrowed = true };
    int err = read_header(&made, why);
    if (err == 0)
        err = read_begin(&made, why);
    if (err == 0)
        *r = made;
    return err;
}

void jsp_read_close(struct jsp_read *r)
{
    jsp_read_stacks_free(r->stacks);
    if (r->mapped)
        munmap((void *)(uintptr_t)r->bytes, (size_t)r->size);
    else if (!r->borrowed)
        free((void *)(uintptr_t)r->bytes);
    memset(r, 0, sizeof *r);
}
