/* gdb/jit.c - a program whose compiled code is announced by gdb's JIT interface: C code calls it,
 * and it calls C code. With a number N, print how long it takes to add and to remove N codes, with
 * and without the announcement.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "jsprof.h"

#if defined(__x86_64__)
/* sub $24, %rsp; call *%rdi; add $24, %rsp; ret: only the rows have the way out. */
static const unsigned char code[] = { 0x48, 0x83, 0xec, 24, 0xff, 0xd7,
                                      0x48, 0x83, 0xc4, 24, 0xc3 };
static const jsprof_code_row rows[] = { { 0, 8, -8, 0, 0 }, { 4, 32, -8, 0, 0 },
                                        { 10, 8, -8, 0, 0 } };
#elif defined(__aarch64__)
/* stp x29, x30, [sp, #-32]!; blr x0; ldp x29, x30, [sp], #32; ret. */
static const unsigned code[] = { 0xa9be7bfd, 0xd63f0000, 0xa8c27bfd, 0xd65f03c0 };
static const jsprof_code_row rows[] = { { 0, 0, 0, 0, 0 }, { 4, 32, -24, -32, 0 },
                                        { 12, 0, 0, 0, 0 } };
#else
#error "jit.c knows the instructions of x86-64 and aarch64"
#endif

static jsprof *prof;

__attribute__((noinline)) void jit_inner(void)
{
    __asm__ volatile("" ::: "memory");
}

/* The codes are gone. */
__attribute__((noinline)) void jit_removed(void)
{
    __asm__ volatile("" ::: "memory");
}

static void need(int err, const char *what)
{
    if (err < 0) {
        fprintf(stderr, "%s: %s\n", what, jsprof_strerror(err));
        exit(1);
    }
}

static void session(uint32_t flags)
{
    jsprof_options o = { .size = sizeof o, .flags = JSPROF_DESCRIBE | flags };
    need(jsprof_open(&prof, &o), "jsprof_open");
}

static void add(const void *start, size_t length, const char *name)
{
    jsprof_code c = { .size = sizeof c, .start = start, .length = length, .name = name,
                      .rows = rows, .n_rows = sizeof rows / sizeof *rows };
    need(jsprof_code_add(prof, &c), "jsprof_code_add");
}

static double once_us(uint32_t flags, int n)
{
    char *const at = (char *)0x10000000;
    session(flags);
    uint64_t begin = jsprof_now();
    for (int i = 0; i < n; i++)
        add(at + 64 * i, 64, "compiled (a.lang:1)");
    for (int i = 0; i < n; i++)
        need(jsprof_code_remove(prof, at + 64 * i), "jsprof_code_remove");
    double us = (double)(jsprof_now() - begin) / 1000 / n;
    need(jsprof_close(prof), "jsprof_close");
    return us;
}

/* The machine may be busy: return the shortest of some. */
static double took_us(uint32_t flags, int n)
{
    double best = once_us(flags, n);
    for (int i = 0; i < 20; i++) {
        double us = once_us(flags, n);
        best = us < best ? us : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        int n = atoi(argv[1]);
        printf("to add and remove code: %.2f us, announced %.2f us\n", took_us(0, n),
               took_us(JSPROF_GDB_JIT, n));
        return 0;
    }
    char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return 1;
    memcpy(at, code, sizeof code);
    memcpy(at + 4096, code, sizeof code);
    if (mprotect(at, 8192, PROT_READ | PROT_EXEC) != 0)
        return 1;
    __builtin___clear_cache(at, at + 8192);
    session(JSPROF_GDB_JIT);
    add(at + 4096, sizeof code, "moved (program.lang:7)");
    need(jsprof_code_move(prof, at + 4096, at), "jsprof_code_move");
    add(at + 4096, sizeof code, "other (program.lang:9)");
    void (*call)(void (*)(void));
    memcpy(&call, &at, sizeof call);
    call(jit_inner);
    need(jsprof_code_remove(prof, at), "jsprof_code_remove");
    need(jsprof_close(prof), "jsprof_close");
    jit_removed();
    return 0;
}
