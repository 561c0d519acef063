/* bundle.c - write a capture of this program's own addresses, with their names bundled:
 * `bundle FILE`. One sample a line of what it prints: the name that readers must show.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/writer.h"
#include "image/symbols_bundle.h"

__asm__(
    ".pushsection .text\n.globl touch_a\n.globl touch_b\n"
    ".type touch_a, %function\ntouch_a: nop\nnop\nnop\n.size touch_a, . - touch_a\n"
    ".type touch_b, %function\ntouch_b: nop\n.size touch_b, . - touch_b\n.popsection");
extern char touch_a[], touch_b[];

static int bundle_sample(struct jsp_writer *w, struct jsp_bundle *b, const char *name,
                         uint64_t addr)
{
    uint64_t leaf_and_root[2] = { addr, (uint64_t)(uintptr_t)touch_a };
    struct jsp_writer_sample sample = { 1, getpid(), leaf_and_root, 2 };
    puts(name);
    return jsp_bundle_see(b, addr) && jsp_bundle_see(b, leaf_and_root[1])
        ? jsp_writer_sample(w, &sample)
        : -1;
}

static int bundle_end(struct jsp_writer *w, struct jsp_bundle *b)
{
    void *bytes;
    size_t size;
    struct jsp_maps maps = { .list = NULL };
    if (jsp_maps_read(&maps) < 0 || jsp_bundle_settle(b, &maps, true) < 0)
        return -1;
    jsp_maps_free(&maps);
    if (jsp_bundle_file(b, getpid(), &bytes, &size) < 0)
        return -1;
    int err = jsp_writer_timestamp(w);
    err = err ? err : jsp_writer_chunk(w, "__symbols__", bytes, size);
    err = err ? err : jsp_writer_chunk_end(w, "__symbols__");
    free(bytes);
    return err;
}

int main(int argc, char **argv)
{
    struct jsp_writer w;
    struct jsp_bundle *b;
    int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644) : -1;
    if (fd < 0 || jsp_writer_open(&w, fd, getpid()) < 0 || jsp_bundle_open(&b) < 0)
        return 1;
    int err = jsp_writer_process(&w, argv[0]);
    const char *names[] = { "getpid", "malloc", "qsort" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        err |= bundle_sample(&w, b, names[i],
                             (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, names[i]));
    err |= bundle_sample(&w, b, "touch_a", (uint64_t)(uintptr_t)touch_a + 1);
    err |= bundle_sample(&w, b, "touch_b", (uint64_t)(uintptr_t)touch_b);
    err |= bundle_sample(&w, b, "[unknown]", 16);
    err |= bundle_end(&w, b);
    jsp_bundle_close(b);
    return jsp_writer_close(&w) < 0 || err ? 1 : 0;
}
