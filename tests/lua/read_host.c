/* read_host.c - reads memory that is there and that is not, as a walk does: in a process of
 * one thread, and once it has had another one.
 *
 *     read_host [untold]     this libc does not say how many threads there are
 *     read_host refused      what is read in place where it must not: nothing
 *     read_host unknown      the same, with a thread that was made without pthreads
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "read.h"

enum { PAGE = 1 << 16 /* a page, or some of them */, PAGES = 4, MOST = 5000 };

static struct jsp_lua_read reader;
static uintptr_t base;
static int bad;

static void is(const char *what, bool so)
{
    if (!so) {
        printf("not so: %s (%s)\n", what, reader.is_direct ? "direct" : "copied");
        bad = 1;
    }
}

static bool reads(uintptr_t at, size_t n)
{
    uint8_t to[MOST] = { 0 };
    if (!jsp_lua_read(&reader, at, to, n))
        return false;
    for (size_t i = 0; i < n; i++)
        is("each byte is that of its page", to[i] == 1 + (at + i - base) / PAGE);
    return true;
}

/* Two pages, one that can not be read, one more. */
static void map(void)
{
    uint8_t *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
    for (int i = 0; i < PAGES; i++)
        memset(at + i * PAGE, 1 + i, PAGE);
    mprotect(at + 2 * PAGE, PAGE, PROT_NONE);
    base = (uintptr_t)at;
}

static void check(void)
{
    map();
    uintptr_t at = base;
    jsp_lua_read_begin(&reader);
    for (size_t n = 1; n < 100; n++)
        is("what is there", reads(at + 3 * n, n));
    is("a page and the next", reads(at + PAGE - 5, 21));
    is("the last bytes of what is there", reads(at + 2 * PAGE - 8, 8));
    is("not one byte of what is not", !reads(at + 2 * PAGE, 1));
    is("nor what ends there", !reads(at + 2 * PAGE - 8, 9));
    is("nor what begins there", !reads(at + 3 * PAGE - 1, 2));
    is("but what is behind it", reads(at + 3 * PAGE, MOST));
    is("not the lowest page", !reads(16, 8));
    is("nor what is no address", !reads(0x5A5A5A5A5A5A5A5Au, 8));
    is("nor the last bytes that there could be", !reads(UINTPTR_MAX - 7, 8));
    is("nor what goes round", !reads(UINTPTR_MAX - 7, 16));
    munmap((void *)at, PAGES * PAGE);
    jsp_lua_read_begin(&reader);
    is("nor what is gone since the walk before", !reads(at + 8, 8));
    uint32_t calls = reader.calls;
    while (calls-- && !reads(at, 8))
        continue;
    is("a walk asks so often and no more", reader.calls == 0);
}

static void *other(void *gate)
{
    pthread_mutex_lock(gate);
    return NULL;
}

static int unknown(void *unused)
{
    (void)unused;
    for (;;)
        pause();
}

static int refused(bool has_unknown)
{
    static char stack[1 << 14] __attribute__((aligned(16)));
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
    is("a thread is made", !has_unknown || clone(unknown, stack + sizeof stack, flags, NULL) > 0);
    jsp_lua_read_init(&reader);
    check();
    is("nothing is read in place", !reader.is_direct);
    return bad;
}

int main(int argc, char **argv)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    if (argc > 1 && strcmp(argv[1], "untold") != 0)
        return refused(strcmp(argv[1], "unknown") == 0);
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
