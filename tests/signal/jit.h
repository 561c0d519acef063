/* jit.h - tiny x86-64 functions, made at run time, for tests of registered code.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_JIT_H
#define JSP_TEST_JIT_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)
enum { JIT_WORKS = 1 };
#else
enum { JIT_WORKS = 0 };
#endif

enum { JIT_PAGE = 4096 };

/* How a function leaves its frame to be found. */
enum jit_frame {
    JIT_BY_POINTER, /* push %rbp; mov %rsp, %rbp */
    JIT_BY_ROWS,    /* sub $24, %rsp */
    JIT_BY_NOTHING, /* the same with %rbp full of something else */
    JIT_N_FRAMES,
};

struct jit_code {
    unsigned char *start;
    size_t length;
    uint32_t body, tail; /* the frame stands from body up to tail */
};

static inline void *jit_memory(void)
{
    void *at = mmap(NULL, JIT_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static inline void jit_emit(struct jit_code *code, const void *bytes, size_t n)
{
    memcpy(code->start + code->length, bytes, n);
    code->length += n;
}

/* void f(uintptr_t arg): call(arg), in a frame of this kind. */
static inline struct jit_code jit_caller(void *at, enum jit_frame frame,
                                         void (*call)(uintptr_t arg))
{
    static const unsigned char heads[JIT_N_FRAMES][14] = {
        { 0x55, 0x48, 0x89, 0xE5 },
        { 0x48, 0x83, 0xEC, 24 },
        { 0x55, 0x48, 0xC7, 0xC5, 0x67, 0x45, 0x23, 0x01, 0x48, 0x83, 0xEC, 16 },
    };
    static const unsigned char tails[JIT_N_FRAMES][6] = {
        { 0x5D }, { 0x48, 0x83, 0xC4, 24 }, { 0x48, 0x83, 0xC4, 16, 0x5D },
    };
    static const size_t head[] = { 4, 4, 12 }, tail[] = { 1, 4, 5 };
    static const unsigned char load[] = { 0x48, 0xB8 }, run[] = { 0xFF, 0xD0 }, ret[] = { 0xC3 };
    struct jit_code code = { .start = at };
    jit_emit(&code, heads[frame], head[frame]);
    code.body = (uint32_t)code.length;
    jit_emit(&code, load, sizeof load);
    jit_emit(&code, &call, sizeof call);
    jit_emit(&code, run, sizeof run);
    jit_emit(&code, tails[frame], tail[frame]);
    code.tail = (uint32_t)code.length;
    jit_emit(&code, ret, sizeof ret);
    return code;
}

/* void f(void): count down from `turns` in its own code, `pad` no-ops before that. */
static inline struct jit_code jit_counter(void *at, uint32_t turns, size_t pad)
{
    static const unsigned char load[] = { 0xB9 }, nop[] = { 0x90 };
    static const unsigned char loop[] = { 0xFF, 0xC9, 0x75, 0xFC, 0xC3 };
    struct jit_code code = { .start = at };
    for (size_t i = 0; i < pad; i++)
        jit_emit(&code, nop, sizeof nop);
    jit_emit(&code, load, sizeof load);
    jit_emit(&code, &turns, sizeof turns);
    jit_emit(&code, loop, sizeof loop);
    return code;
}

#endif
