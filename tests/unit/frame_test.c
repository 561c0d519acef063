/* unit/frame_test.c - src/sigsafe/frame.c: at every instruction of a few functions, the
 * caller while the frame is incomplete, nothing once it is complete.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/frame.h"
#include "sigsafe/insn.h"

#include "test.h"

enum { WORDS = 64, ENTRY = 40, OLD_FP = 0x7700, LOST = 0x99, CODE = 80 };

/* One instruction, and the state before it is run. */
struct at {
    uint8_t n, bytes[7];
    uint8_t depth;  /* words on the stack since entry */
    uint8_t fp;     /* where the frame pointer points: words below entry; 0: the caller's */
    bool stands;    /* nothing is to be found out */
    bool no_link;   /* the link register was overwritten; see LOST */
};

#if defined(__x86_64__)
static const struct at plain[] = {
    { 4, { 0xF3, 0x0F, 0x1E, 0xFA }, 0, 0, false, false },
    { 1, { 0x55 }, 0, 0, false, false },
    { 3, { 0x48, 0x89, 0xE5 }, 1, 0, false, false },
    { 1, { 0x53 }, 1, 1, true, false },
    { 4, { 0x48, 0x83, 0xEC, 24 }, 2, 1, true, false },
    { 2, { 0x89, 0xC8 }, 5, 1, true, false },
    { 4, { 0x48, 0x83, 0xC4, 24 }, 5, 1, false, false },
    { 1, { 0x5B }, 2, 1, false, false },
    { 1, { 0x5D }, 1, 1, false, false },
    { 1, { 0xC3 }, 0, 0, false, false },
};
static const struct at leaves[] = {
    { 1, { 0x55 }, 0, 0, false, false },
    { 3, { 0x48, 0x8B, 0xEC }, 1, 0, false, false },
    { 7, { 0x48, 0x81, 0xEC, 32, 0, 0, 0 }, 1, 1, true, false },
    { 2, { 0xEB, 0x00 }, 5, 1, true, false }, /* a jump inside of it */
    { 1, { 0xC9 }, 5, 1, false, false },
    { 2, { 0xF3, 0xC3 }, 0, 0, false, false },
};
static const struct at tail[] = {
    { 1, { 0x55 }, 0, 0, false, false },
    { 3, { 0x48, 0x89, 0xE5 }, 1, 0, false, false },
    { 2, { 0x41, 0x54 }, 1, 1, true, false },
    { 4, { 0x48, 0x8D, 0x65, 0xF8 }, 2, 1, false, false },
    { 2, { 0x41, 0x5C }, 2, 1, false, false },
    { 1, { 0x5D }, 1, 1, false, false },
    { 5, { 0xE9, 0, 1, 0, 0 }, 0, 0, true, false }, /* it might lead anywhere */
};
static const struct at stub[] = {
    { 6, { 0xFF, 0x35, 0, 0, 0, 0 }, 1, 0, false, false }, /* push n(%rip) */
    { 6, { 0xFF, 0x25, 0, 0, 0, 0 }, 2, 0, false, false }, /* jmp *n(%rip) */
    { 4, { 0x0F, 0x1F, 0x40, 0 }, 0, 0, true, false },
    { 6, { 0xFF, 0x25, 0, 0, 0, 0 }, 0, 0, false, false },
    { 5, { 0x68, 0, 0, 0, 0 }, 0, 0, false, false }, /* push $n */
    { 5, { 0xE9, 0, 0, 0, 0 }, 1, 0, false, false },
    { 4, { 0xF3, 0x0F, 0x1E, 0xFA }, 0, 0, false, false },
    { 7, { 0xF2, 0xFF, 0x25, 0, 0, 0, 0 }, 0, 0, false, false },
    { 1, { 0x90 }, 0, 0, true, false },
};
static const uint8_t caller[] = { 0x90, 0x90, 0xE8, 0, 0, 0, 0, 0x90, 0x90, 0x90, 0x90, 0x90,
                                  0x90, 0x90, 0x90, 0x90 };
enum { CALLER = 7, NO_CALLER = 15 };
#elif defined(__aarch64__)
#define WORD(w) { (w) & 0xFF, (w) >> 8 & 0xFF, (w) >> 16 & 0xFF, (w) >> 24 }
static const struct at plain[] = {
    { 4, WORD(0xD503233Fu), 0, 0, false, false }, /* paciasp */
    { 4, WORD(0xA9BD7BFDu), 0, 0, false, false }, /* stp x29, x30, [sp, #-48]! */
    { 4, WORD(0x910003FDu), 6, 0, false, false }, /* mov x29, sp */
    { 4, WORD(0xA90153F3u), 6, 6, true, false },  /* stp x19, x20, [sp, #16] */
    { 4, WORD(0xAA0103E0u), 6, 6, true, true },   /* mov x0, x1 */
    { 4, WORD(0xA94153F3u), 6, 6, false, true },  /* ldp x19, x20, [sp, #16] */
    { 4, WORD(0xA8C37BFDu), 6, 6, false, true },  /* ldp x29, x30, [sp], #48 */
    { 4, WORD(0xD50323BFu), 0, 0, false, false }, /* autiasp */
    { 4, WORD(0xD65F03C0u), 0, 0, false, false }, /* ret */
};
static const struct at leaves[] = {
    { 4, WORD(0xD10083FFu), 0, 0, false, false }, /* sub sp, sp, #32 */
    { 4, WORD(0xA9017BFDu), 4, 0, false, false }, /* stp x29, x30, [sp, #16] */
    { 4, WORD(0x910043FDu), 4, 0, false, false }, /* add x29, sp, #16 */
    { 4, WORD(0x14000001u), 4, 2, true, true },   /* b, inside of it */
    { 4, WORD(0xA9417BFDu), 4, 2, false, true },  /* ldp x29, x30, [sp, #16] */
    { 4, WORD(0x910083FFu), 4, 0, false, false }, /* add sp, sp, #32 */
    { 4, WORD(0xD65F03C0u), 0, 0, false, false },
};
static const struct at tail[] = {
    { 4, WORD(0xA9BF7BFDu), 0, 0, false, false }, /* stp x29, x30, [sp, #-16]! */
    { 4, WORD(0x910003FDu), 2, 0, false, false },
    { 4, WORD(0xF81F0FF3u), 2, 2, true, false },  /* str x19, [sp, #-16]! */
    { 4, WORD(0xF84107F3u), 4, 2, false, true },  /* ldr x19, [sp], #16 */
    { 4, WORD(0x910003BFu), 2, 2, false, true },  /* mov sp, x29 */
    { 4, WORD(0xA8C17BFDu), 2, 2, false, true },  /* ldp x29, x30, [sp], #16 */
    { 4, WORD(0xD61F0200u), 0, 0, true, false },  /* br x16 */
};
static const struct at stub[] = {
    { 4, WORD(0xA9BF7BF0u), 0, 0, true, false }, /* stp x16, x30, [sp, #-16]! */
    { 4, WORD(0xB0000BD0u), 2, 0, false, false }, /* adrp x16 */
    { 4, WORD(0xF9401611u), 2, 0, false, false }, /* ldr x17, [x16, #40] */
    { 4, WORD(0x9100A210u), 2, 0, false, false }, /* add x16, x16, #40 */
    { 4, WORD(0xD61F0220u), 2, 0, false, false }, /* br x17 */
    { 4, WORD(0xD503201Fu), 0, 0, true, false },
    { 4, WORD(0xB0000BD0u), 0, 0, false, false },
    { 4, WORD(0xF9401611u), 0, 0, false, false },
    { 4, WORD(0x9100A210u), 0, 0, false, false },
    { 4, WORD(0xD61F0220u), 0, 0, false, false },
    { 4, WORD(0xD503201Fu), 0, 0, true, false },
};
static const uint8_t caller[] = { 0x1F, 0x20, 0x03, 0xD5, 0, 0, 0, 0x94, 0x1F, 0x20, 0x03, 0xD5,
                                  0x1F, 0x20, 0x03, 0xD5 };
enum { CALLER = 8, NO_CALLER = 16 };
#endif

static alignas(64) uint64_t stack[WORDS];
static uint8_t code[CODE];
static struct jsp_memread mem;

static uintptr_t return_to(void)
{
    return (uintptr_t)caller + CALLER;
}

/* The whole stack once the frame is complete. */
static void fill(const struct at *f, size_t n, uintptr_t ra)
{
    for (size_t i = 0; i < WORDS; i++)
        stack[i] = LOST;
    if (!JSP_RA_IN_EXTRA)
        stack[ENTRY] = ra;
    for (size_t i = 0; i < n; i++) {
        if (!f[i].fp)
            continue;
        stack[ENTRY - f[i].fp] = OLD_FP;
        if (JSP_RA_IN_EXTRA)
            stack[ENTRY - f[i].fp + 1] = ra;
    }
}

static size_t assemble(const struct at *f, size_t n)
{
    size_t length = 0;
    memset(code, 0xCC, sizeof code);
    for (size_t i = 0; i < n; i++) {
        memcpy(code + length, f[i].bytes, f[i].n);
        length += f[i].n;
    }
    return length;
}

static struct jsp_regs_core state(const struct at *at, size_t offset, uintptr_t ra)
{
    struct jsp_regs_core r = { (uintptr_t)code + offset, (uintptr_t)&stack[ENTRY - at->depth],
                               OLD_FP, LOST };
    if (at->fp)
        r.fp = (uintptr_t)&stack[ENTRY - at->fp];
    if (JSP_RA_IN_EXTRA && !at->no_link)
        r.extra = ra;
    return r;
}

static void check_function(const struct at *f, size_t n, bool registered)
{
    size_t length = assemble(f, n), offset = 0;
    fill(f, n, return_to());
    jsp_memread_init(&mem, (uintptr_t)stack, (uintptr_t)(stack + WORDS), getpid());
    for (size_t i = 0; i < n; offset += f[i++].n) {
        struct jsp_frame_code known = { (uintptr_t)code, (uintptr_t)code + length };
        struct jsp_regs_core at = state(&f[i], offset, return_to()), to;
        if (!registered)
            known = (struct jsp_frame_code){ 0, 0 };
        jsp_memread_begin(&mem, at.sp);
        bool found = jsp_frame_leave(&mem, &known, &at, &to);
        if (found == f[i].stands)
            printf("# at instruction %zu:\n", i);
        CHECK_EQ(found, !f[i].stands);
        if (!found || f[i].stands)
            continue;
        CHECK_EQ(to.pc, return_to());
        CHECK_EQ(to.sp, (uintptr_t)&stack[ENTRY + !JSP_RA_IN_EXTRA]);
        CHECK_EQ(to.fp, OLD_FP);
    }
}

#define CHECK_FUNCTION(f, registered) check_function(f, sizeof f / sizeof *f, registered)

TEST(caller_is_found_at_every_instruction_without_a_frame)
{
    CHECK_FUNCTION(plain, true);
    CHECK_FUNCTION(leaves, true);
    CHECK_FUNCTION(tail, true);
}

TEST(code_that_nobody_registered_is_recognised_by_its_saved_frame_pointer)
{
    CHECK_FUNCTION(tail, false);
}

TEST(linkers_stubs_are_left_for_who_called)
{
    CHECK_FUNCTION(stub, false);
}

/* A host's own code may have the same bytes, and a frame. */
TEST(registered_code_is_no_stub)
{
    size_t length = assemble(stub, sizeof stub / sizeof *stub);
    struct jsp_frame_code known = { (uintptr_t)code, (uintptr_t)code + length };
    struct jsp_regs_core at = state(&stub[1], stub[0].n, return_to()), to;
    fill(stub, sizeof stub / sizeof *stub, return_to());
    jsp_memread_init(&mem, (uintptr_t)stack, (uintptr_t)(stack + WORDS), getpid());
    jsp_memread_begin(&mem, at.sp);
    CHECK(!jsp_frame_leave(&mem, &known, &at, &to));
    known = (struct jsp_frame_code){ 0, 0 };
    CHECK(jsp_frame_leave(&mem, &known, &at, &to));
}

/* Only a call leads to the beginning of a function. */
TEST(what_no_call_left_is_not_taken_for_a_return_address)
{
    struct jsp_frame_code known = { (uintptr_t)code, (uintptr_t)code + sizeof code };
    uintptr_t ra = (uintptr_t)caller + NO_CALLER;
    struct jsp_regs_core at = state(plain, 0, ra), to;
    assemble(plain, sizeof plain / sizeof *plain);
    fill(plain, sizeof plain / sizeof *plain, ra);
    jsp_memread_init(&mem, (uintptr_t)stack, (uintptr_t)(stack + WORDS), getpid());
    jsp_memread_begin(&mem, at.sp);
    CHECK(!jsp_frame_leave(&mem, &known, &at, &to));
}

/* Interrupt code that does nothing, after `offset` bytes, with this range known of it. Return
 * whether its caller is found. */
static bool leaves_nops(size_t offset, struct jsp_frame_code known)
{
#if defined(__x86_64__)
    static const uint8_t nop[] = { 0x90 };
#else
    static const uint8_t nop[] = WORD(0xD503201Fu);
#endif
    struct jsp_regs_core at = state(plain, offset, return_to()), to;
    for (size_t i = 0; i < sizeof code; i++)
        code[i] = nop[i % sizeof nop];
    fill(plain, 1, return_to());
    jsp_memread_init(&mem, (uintptr_t)stack, (uintptr_t)(stack + WORDS), getpid());
    jsp_memread_begin(&mem, at.sp);
    return jsp_frame_leave(&mem, &known, &at, &to) && to.pc == return_to();
}

/* A guess by frame pointer would lose its caller at first, and later invent one. */
TEST(first_instructions_are_left_by_where_the_code_starts_and_later_ones_are_not)
{
    enum { SEEN = 32 }; /* bytes before the interrupted instruction */
    uintptr_t start = (uintptr_t)code, end = start + sizeof code;
    CHECK(leaves_nops(0, (struct jsp_frame_code){ start, end }));
    CHECK(leaves_nops(SEEN - 4, (struct jsp_frame_code){ start, end }));
    CHECK(leaves_nops(SEEN, (struct jsp_frame_code){ start, end }));
    CHECK(!leaves_nops(SEEN + 4, (struct jsp_frame_code){ start, end }));
    CHECK(leaves_nops(SEEN + 4, (struct jsp_frame_code){ start + 4, end }));
    CHECK(!leaves_nops(8, (struct jsp_frame_code){ 0, 0 }));
}

/* Any bytes: an answer is an answer, and nothing is read past the code's end. */
TEST(any_code_ends)
{
    uint64_t random = 7, n_found = 0;
    jsp_memread_init(&mem, (uintptr_t)stack, (uintptr_t)(stack + WORDS), getpid());
    for (int turn = 0; turn < 20000; turn++) {
        for (size_t i = 0; i < CODE; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            code[i] = turn % 2 ? (uint8_t)(random >> 56) : plain[(random >> 40) % 9].bytes[i % 4];
        }
        struct jsp_regs_core at = { (uintptr_t)code + (uintptr_t)(turn / 2 % CODE),
                                    (uintptr_t)&stack[ENTRY], (uintptr_t)&stack[ENTRY], 1 }, to;
        struct jsp_frame_code known = { (uintptr_t)code, (uintptr_t)code + CODE };
        jsp_memread_begin(&mem, at.sp);
        n_found += jsp_frame_leave(&mem, &known, &at, &to);
    }
    CHECK(n_found < 20000);
}

TEST_MAIN()
