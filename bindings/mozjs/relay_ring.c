/* relay_ring.c - the ring in shared memory that Sysprof gives a program for its frames.
 *
 * SPDX-License-Identifier: MIT
 */
#include "relay_ring.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The page that both sides share. */
struct relay_ring_head {
    _Atomic uint32_t head; /* the reader's place in the body */
    _Atomic uint32_t tail; /* ours */
    uint32_t offset;       /* of the body: one page */
    uint32_t size;         /* of the body */
};

_Static_assert(sizeof(struct relay_ring_head) == 16, "as Sysprof lays it out");

enum {
    RING_WAIT_MS = 2000, /* longer than Sysprof ever pauses */
    RING_FINISH_BYTES = 24,
    RING_FINISH_TYPE = 0xff,
};

/* -- Asking -------------------------------------------------------------------------- */

static int ring_send(int fd)
{
    static const char ask[] = "CreatRing"; /* with its final zero */

    return send(fd, ask, sizeof ask, MSG_NOSIGNAL) == sizeof ask ? 0 : -errno;
}

static int ring_descriptor_of(struct msghdr *message)
{
    struct cmsghdr *control = CMSG_FIRSTHDR(message);
    int fd;

    if (!control || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
        return -EPROTO;
    memcpy(&fd, CMSG_DATA(control), sizeof fd);
    return fd;
}

/* Receive the one descriptor that comes with the answer of one byte. Return it or a
 * negative errno. */
static int ring_receive(int fd)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    char byte;
    struct iovec into = { &byte, 1 };
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = { .msg_iov = &into, .msg_iovlen = 1,
                              .msg_control = &control, .msg_controllen = sizeof control };
    int n;

    do
        n = poll(&ready, 1, RING_WAIT_MS);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return n < 0 ? -errno : -ETIMEDOUT;
    if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC) != 1)
        return -EPROTO;
    return ring_descriptor_of(&message);
}

/* -- Mapping ------------------------------------------------------------------------- */

/* Return the size of the body of the ring in this file, or -EPROTO. */
static int64_t ring_size(int fd)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct relay_ring_head head;
    struct stat file;

    if (fstat(fd, &file) < 0 || pread(fd, &head, sizeof head, 0) != sizeof head)
        return -EPROTO;
    if (head.offset != page || head.size == 0 || head.size % page != 0 ||
        file.st_size < 0 || (uint64_t)file.st_size < (uint64_t)page + head.size)
        return -EPROTO;
    return head.size;
}

static int ring_map(struct relay_ring *ring, int fd, size_t page, size_t size)
{
    const int use = PROT_READ | PROT_WRITE;
    char *all = mmap(NULL, page + 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED)
        return -ENOMEM;
    if (mmap(all, page + size, use, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED ||
        mmap(all + page + size, size, use, MAP_SHARED | MAP_FIXED, fd, (off_t)page) ==
            MAP_FAILED) {
        munmap(all, page + 2 * size);
        return -ENOMEM;
    }
    ring->head = (struct relay_ring_head *)(void *)all;
    ring->bytes = page + 2 * size;
    ring->body = (unsigned char *)all + page;
    ring->size = (uint32_t)size;
    return 0;
}

int relay_ring_ask(struct relay_ring *ring, int control_fd)
{
    int err = ring_send(control_fd);
    if (err < 0)
        return err;

    int fd = ring_receive(control_fd);
    if (fd < 0)
        return fd;

    int64_t size = ring_size(fd);
    if (size > 0)
        err = ring_map(ring, fd, (size_t)sysconf(_SC_PAGESIZE), (size_t)size);
    close(fd);
    return size < 0 ? (int)size : err;
}

/* -- Writing ------------------------------------------------------------------------- */

/* Return the bytes that may be written. One stays free, because a full ring would look
 * empty. */
static uint32_t ring_room(const struct relay_ring *ring)
{
    /* ORDER: acquire, pairs with the reader's store: it has read all bytes before. */
    uint32_t head = atomic_load_explicit(&ring->head->head, memory_order_acquire);
    /* ORDER: relaxed, only this thread stores it. */
    uint32_t tail = atomic_load_explicit(&ring->head->tail, memory_order_relaxed);

    if (head >= ring->size || tail >= ring->size)
        return 0; /* the other side wrote nonsense */
    return head > tail ? head - tail - 1 : ring->size - tail + head - 1;
}

static void ring_store(struct relay_ring *ring, const unsigned char *frame, uint32_t len)
{
    /* ORDER: relaxed, only this thread stores it. */
    uint32_t tail = atomic_load_explicit(&ring->head->tail, memory_order_relaxed);

    memcpy(ring->body + tail, frame, len);
    tail = (tail + len) % ring->size;
    /* ORDER: seq_cst, as Sysprof's own writers store it: the frame before the tail, and
     * the tail before the next look at head. */
    atomic_store_explicit(&ring->head->tail, tail, memory_order_seq_cst);
}

/* Wait until there is room for so many bytes, two seconds in all at most. */
static int ring_wait(struct relay_ring *ring, uint32_t bytes)
{
    const struct timespec moment = { 0, 1000000 };

    for (int ms = 0; ring_room(ring) < bytes; ms++) {
        if (ring->stuck || ms >= RING_WAIT_MS) {
            ring->stuck = 1;
            return -1;
        }
        nanosleep(&moment, NULL);
    }
    ring->stuck = 0;
    return 0;
}

int relay_ring_put(struct relay_ring *ring, const unsigned char *frame, size_t len)
{
    if (len + RING_FINISH_BYTES >= ring->size ||
        ring_wait(ring, (uint32_t)len + RING_FINISH_BYTES) < 0)
        return -1;
    ring_store(ring, frame, (uint32_t)len);
    return 0;
}

int relay_ring_finish(struct relay_ring *ring)
{
    const uint16_t len = RING_FINISH_BYTES;
    unsigned char frame[RING_FINISH_BYTES] = { 0 };

    /* Wait for the earlier frames first: Sysprof takes the last frame as the end of the
     * ring. */
    int read_all = ring_wait(ring, ring->size - 1);
    memcpy(frame, &len, sizeof len);
    frame[16] = RING_FINISH_TYPE;
    if (ring_room(ring) >= len)
        ring_store(ring, frame, len);
    return read_all;
}

void relay_ring_close(struct relay_ring *ring)
{
    munmap(ring->head, ring->bytes);
}
