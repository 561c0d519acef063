/* fault/shim/memory.c - preloaded: allocation number SHIM_FAIL (1: the first after main began)
 * fails, and with SHIM_FAIL_ALL each one after it. At exit the file SHIM_COUNT gets two numbers:
 * how many allocations there were, and how many of them nobody freed; -1: libc's own can not be
 * distinguished from them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *(*shim_malloc)(size_t), *(*shim_realloc)(void *, size_t);
static void (*shim_free)(void *);
static _Atomic long shim_n, shim_live;
static long shim_fail;
static bool shim_fail_all, shim_is_on;

/* What dlsym itself asks for, before the real functions are known. Never freed. */
static _Alignas(16) char shim_early[4096];
static size_t shim_early_used;

static bool shim_is_early(const void *p)
{
    return (const char *)p >= shim_early && (const char *)p < shim_early + sizeof shim_early;
}

static void *shim_early_new(size_t n)
{
    size_t at = shim_early_used;
    shim_early_used += (n + 15) & ~(size_t)15;
    return shim_early_used <= sizeof shim_early ? shim_early + at : NULL;
}

static void *shim_symbol(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void shim_begin(void)
{
    const char *fail = getenv("SHIM_FAIL");
    shim_free = (void (*)(void *))shim_symbol("free");
    shim_realloc = (void *(*)(void *, size_t))shim_symbol("realloc");
    shim_malloc = (void *(*)(size_t))shim_symbol("malloc");
    shim_fail = fail ? atol(fail) : 0;
    shim_fail_all = getenv("SHIM_FAIL_ALL") != NULL;
    shim_is_on = true;
}

__attribute__((destructor)) static void shim_end(void)
{
    const char *path = getenv("SHIM_COUNT");
    long n = shim_n;
    void (*forget)(void) = (void (*)(void))shim_symbol("__libc_freeres");
    char text[64];
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd < 0)
        return;
    fflush(NULL);
    if (forget)
        forget(); /* as valgrind does */
    int len = snprintf(text, sizeof text, "%ld %ld\n", n, forget ? (long)shim_live : -1);
    if (write(fd, text, (size_t)len) != len)
        abort();
    close(fd);
}

static bool shim_fails(void)
{
    if (!shim_is_on)
        return false;
    long n = ++shim_n;
    if (!shim_fail || (shim_fail_all ? n < shim_fail : n != shim_fail))
        return false;
    errno = ENOMEM;
    return true;
}

static void *shim_counted(void *p)
{
    shim_live += p && shim_is_on;
    return p;
}

void *malloc(size_t n)
{
    if (!shim_malloc)
        return shim_early_new(n);
    return shim_fails() ? NULL : shim_counted(shim_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        return NULL;
    void *p = malloc(n * size);
    if (p)
        memset(p, 0, n * size);
    return p;
}

void *realloc(void *old, size_t n)
{
    if (!old)
        return malloc(n);
    if (shim_is_early(old)) {
        void *p = malloc(n);
        return p ? memcpy(p, old, n) : NULL;
    }
    return shim_fails() ? NULL : shim_realloc(old, n);
}

void free(void *p)
{
    if (!p || shim_is_early(p))
        return;
    shim_live -= shim_is_on;
    shim_free(p);
}
