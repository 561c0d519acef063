/* unwind_bare_test.c - src/sigsafe/unwind_step.c: code that has no rows is looked at once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "test.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "sigsafe/unwind.h"

enum { PAGE = 4096, CALLED_FROM = 64, MOST = 8 };

#if defined(__x86_64__)
static const uint8_t trampoline[] = { 0x48, 0xC7, 0xC0, 15, 0, 0, 0, 0x0F, 0x05 };
#else
static const uint8_t trampoline[] = { 0x68, 0x11, 0x80, 0xD2, 0x01, 0x00, 0x00, 0xD4 };
#endif

static struct jsp_unwind_map map; /* of no object: all code is bare */
static struct jsp_unwinder unwinder;
static struct jsp_rec_native frames[MOST];
static struct jsp_unwound out;
static uint8_t *code;

/* What a signal's handler returns to: its registers are those of `interrupted`. */
static struct {
    uint8_t before[JSP_TRAMPOLINE_REGS];
    struct jsp_regs regs;
} stack;
static uintptr_t interrupted;

static void on_signal(int sig, siginfo_t *info, void *ucontext)
{
    (void)sig;
    (void)info;
    memcpy(&stack.regs, jsp_regs_of(ucontext), sizeof stack.regs);
}

static void begin(void)
{
    raise(SIGUSR1);
    interrupted = jsp_regs_core(&stack.regs).pc;
    memset(code, 0, PAGE);
    map.generation++;
}

/* From a function that was called by code without rows. */
static uint32_t calls_of_walk(void)
{
    struct jsp_regs_core at = { .pc = (uintptr_t)code + CALLED_FROM, .sp = (uintptr_t)&stack };
    out = (struct jsp_unwound){ .frames = frames, .max = MOST };
    jsp_unwind_on(&unwinder, &map, &at, &out);
    return JSP_MEMREAD_CALLS - unwinder.mem.calls;
}

static bool crossed(void)
{
    return out.n > 1 && frames[1].ip == interrupted;
}

TEST(bare_code_is_read_in_the_first_walk_only)
{
    begin();
    CHECK(calls_of_walk() > 0); /* without process_vm_readv it takes two */
    CHECK_EQ(out.n, 1);
    CHECK_EQ(calls_of_walk(), 0);
    CHECK_EQ(out.n, 1);
}

TEST(a_trampoline_without_rows_is_crossed_in_each_walk)
{
    begin();
    memcpy(code + CALLED_FROM, trampoline, sizeof trampoline);
    calls_of_walk();
    CHECK(crossed());
    calls_of_walk();
    CHECK(crossed());
}

TEST(with_another_map_bare_code_is_read_again)
{
    begin();
    calls_of_walk();
    CHECK(!crossed());
    memcpy(code + CALLED_FROM, trampoline, sizeof trampoline);
    map.generation++;
    calls_of_walk();
    CHECK(crossed());
}

int main(void)
{
    code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    sigaction(SIGUSR1, &act, NULL);
    jsp_unwinder_init(&unwinder, (uintptr_t)&stack, (uintptr_t)(&stack + 1), getpid());
    RUN_ALL();
    return DONE();
}
