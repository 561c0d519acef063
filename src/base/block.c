/* base/block.c - see block.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "block.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A sanitizer knows the bounds of malloc's memory, not those of a mapping; and it does
 * not notice that mremap moves a block to where others were. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BLOCK_ALL_SMALL 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BLOCK_ALL_SMALL 1
#endif
#endif
#ifndef BLOCK_ALL_SMALL
#define BLOCK_ALL_SMALL 0
#endif

/* Precedes the bytes of a block. */
struct block_head {
    size_t size;
    size_t mapped; /* size of the mapping; 0: memory of malloc */
};
_Static_assert(sizeof(struct block_head) % _Alignof(max_align_t) == 0, "keeps alignment");

enum {
    BLOCK_PAGE = 1 << 16, /* a multiple of the page size of every machine */
    BLOCK_FIRST = 256,    /* elements of an array that grows */
};

static struct block_head *block_map(struct block_head *old, size_t size)
{
    size_t all = size + sizeof *old, mapped = (all + BLOCK_PAGE - 1) & ~(size_t)(BLOCK_PAGE - 1);
    if (old && old->mapped >= mapped && old->mapped / 2 < mapped)
        return old;
    void *at = old ? mremap(old, old->mapped, mapped, MREMAP_MAYMOVE)
                   : mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    ((struct block_head *)at)->mapped = mapped;
    return at;
}

/* Move a block from malloc into a mapping. */
static struct block_head *block_promote(struct block_head *old, size_t size)
{
    struct block_head *h = block_map(NULL, size);
    if (h) {
        memcpy(h + 1, old + 1, old->size < size ? old->size : size);
        free(old);
    }
    return h;
}

void *jsp_block_grow(void *block, size_t size)
{
    struct block_head *old = block ? (struct block_head *)block - 1 : NULL, *h;
    bool is_mapped = old && old->mapped;
    if (size > SIZE_MAX / 2)
        return NULL;
    bool is_small = BLOCK_ALL_SMALL || (size < JSP_BLOCK_LARGE && !is_mapped);
    if (is_small)
        h = realloc(old, sizeof *h + size);
    else
        h = !old || is_mapped ? block_map(old, size) : block_promote(old, size);
    if (!h)
        return NULL;
    h->size = size;
    if (is_small)
        h->mapped = 0;
    return h + 1;
}

int jsp_block_room(void *array, size_t *room, size_t n, size_t each)
{
    size_t more = *room ? 2 * *room : BLOCK_FIRST;
    void *block;
    if (n < *room)
        return 0;
    memcpy(&block, array, sizeof block); /* a pointer of any type */
    block = jsp_block_grow(block, more * each);
    if (!block)
        return -ENOMEM;
    memcpy(array, &block, sizeof block);
    *room = more;
    return 0;
}

void *jsp_block_zeros(size_t n, size_t each)
{
    void *block = each && n > SIZE_MAX / 2 / each ? NULL : jsp_block_grow(NULL, n * each);
    return block ? memset(block, 0, n * each) : NULL;
}

void jsp_block_free(void *block)
{
    struct block_head *h = block ? (struct block_head *)block - 1 : NULL;
    if (h && h->mapped)
        munmap(h, h->mapped);
    else
        free(h);
}
