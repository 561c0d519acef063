/* read_host.c - reads memory that is there and that is not, as a walk does: in a process of
 * one thread, and once it has had another one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "read.h"

enum { PAGE = 4096, PAGES = 4 };

static struct jsp_lua_read reader;
static int bad;

static void is(const char *what, bool so)
{
    if (!so) {
        printf("not so: %s (%s)\n", what, reader.is_direct ? "direct" : "copied");
        bad = 1;
    }
}

static bool reads(uintptr_t at, size_t n, uint8_t expected)
{
    uint8_t to[PAGE] = { 0 };
    if (!jsp_lua_read(&reader, at, to, n))
        return false;
    for (size_t i = 0; i < n; i++)
        is("each byte is that of its page", to[i] == (uint8_t)(expected + (at % PAGE + i) / PAGE));
    return true;
}

/* Two pages, one that can not be read, one more. */
static uintptr_t map(void)
{
    uint8_t *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
    for (int i = 0; i < PAGES; i++)
        memset(at + i * PAGE, 1 + i, PAGE);
    mprotect(at + 2 * PAGE, PAGE, PROT_NONE);
    return (uintptr_t)at;
}

static void check(void)
{
    uintptr_t at = map();
    jsp_lua_read_begin(&reader);
    for (size_t n = 1; n < 100; n++)
        is("what is there", reads(at + 3 * n, n, 1));
    is("a page and the next", reads(at + PAGE - 5, 21, 1));
    is("the last bytes of what is there", reads(at + 2 * PAGE - 8, 8, 2));
    is("not one byte of what is not", !reads(at + 2 * PAGE, 1, 3));
    is("nor what ends there", !reads(at + 2 * PAGE - 8, 9, 2));
    is("nor what begins there", !reads(at + 3 * PAGE - 1, 2, 3));
    is("but what is behind it", reads(at + 3 * PAGE, PAGE, 4));
    is("not the lowest page", !reads(16, 8, 0));
    is("nor what is no address", !reads(0x5A5A5A5A5A5A5A5Au, 8, 0));
    is("nor the last bytes that there could be", !reads(UINTPTR_MAX - 7, 8, 0));
    is("nor what goes round", !reads(UINTPTR_MAX - 7, 16, 0));
    munmap((void *)at, PAGES * PAGE);
    jsp_lua_read_begin(&reader);
    is("nor what is gone since the walk before", !reads(at + 8, 8, 1));
    uint32_t calls = reader.calls;
    while (calls-- && !reads(at, 8, 1))
        continue;
    is("a walk asks so often and no more", reader.calls == 0);
}

static void *other(void *gate)
{
    pthread_mutex_lock(gate);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    (void)argv;
    jsp_lua_read_init(&reader);
    check();
    is("one thread reads in place", reader.is_direct || argc > 1);
    pthread_mutex_lock(&gate);
    pthread_create(&thread, NULL, other, &gate);
    check();
    is("two do not", !reader.is_direct);
    pthread_mutex_unlock(&gate);
    pthread_join(thread, NULL);
    return bad;
}
