/* again_test.c - src/sigsafe/again.c: which interrupted calls are made again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../signal/host.h"

#include "sigsafe/again.h"
#include "sigsafe/regs.h"

static struct jsp_memread mem;

static void nothing(int sig, siginfo_t *info, void *ucontext)
{
    (void)sig, (void)info, (void)ucontext;
}

#if defined(__x86_64__)

static void hosts(int sig)
{
    (void)sig;
}

enum { POLL = 7, WRITE = 1, CALL = 2 };

/* The instructions before the return of a call: a byte of another one, mov $number, %eax, and
 * syscall. */
struct code {
    uint8_t bytes[8];
};

static struct code code_of(uint8_t before, int8_t number)
{
    return (struct code){ { before, 0xB8, (uint8_t)number, 0, 0, 0, 0x0F, 0x05 } };
}

struct setting {
    struct code code;
    int64_t result;
    uint64_t late_ns;
};

/* Is the call made again, and nothing changed otherwise? */
static bool is_again(const struct setting *s)
{
    ucontext_t u;
    struct jsp_arrival a = { .signo = SIGPROF, .handler = nothing, .late_ns = s->late_ns };
    long long after = (long long)(uintptr_t)(s->code.bytes + sizeof s->code.bytes);
    memset(&u, 0, sizeof u);
    u.uc_mcontext.gregs[REG_RAX] = s->result;
    u.uc_mcontext.gregs[REG_RIP] = u.uc_mcontext.gregs[REG_RCX] = after;
    if (!jsp_again(&mem, &a, &u)) {
        CHECK_EQ(u.uc_mcontext.gregs[REG_RAX], s->result);
        CHECK_EQ(u.uc_mcontext.gregs[REG_RIP], after);
        return false;
    }
    CHECK_EQ(u.uc_mcontext.gregs[REG_RIP], after - CALL);
    CHECK_EQ(u.uc_mcontext.gregs[REG_RAX], s->code.bytes[1] == 0xB8 ? POLL : 0);
    return true;
}

TEST(interrupted_call_that_did_nothing_is_made_again)
{
    static const struct code read_call = { { 0, 0, 0, 0x90, 0x31, 0xC0, 0x0F, 0x05 } };
    const struct code other_read = { { 0, 0, 0, 0x45, 0x31, 0xC0, 0x0F, 0x05 } };
    CHECK(is_again(&(struct setting){ code_of(0x90, POLL), -EINTR, 0 }));
    CHECK(is_again(&(struct setting){ read_call, -EINTR, 0 }));
    CHECK(!is_again(&(struct setting){ code_of(0x90, POLL), 0, 0 }));
    CHECK(!is_again(&(struct setting){ code_of(0x90, POLL), -EINTR, 1000000000 }));
    CHECK(!is_again(&(struct setting){ code_of(0x90, WRITE), -EINTR, 0 }));
    CHECK(!is_again(&(struct setting){ code_of(0x41, POLL), -EINTR, 0 })); /* mov to r8d */
    CHECK(!is_again(&(struct setting){ other_read, -EINTR, 0 }));          /* xor of r8d */
    CHECK(!is_again(&(struct setting){ { { 0x90 } }, -EINTR, 0 }));
}

TEST(call_that_another_signal_may_have_interrupted_is_not_made_again)
{
    const struct setting poll_call = { code_of(0x90, POLL), -EINTR, 0 };
    sigset_t usr, old;
    sigemptyset(&usr);
    sigaddset(&usr, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr, &old);
    raise(SIGUSR1);
    CHECK(!is_again(&poll_call));
    sigtimedwait(&usr, NULL, &(struct timespec){ 0, 0 });
    CHECK(is_again(&poll_call));
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    struct sigaction action = { .sa_handler = hosts }, before;
    sigaction(SIGUSR2, &action, &before);
    CHECK(is_again(&poll_call)); /* our signal would have come inside that handler */
    sigaddset(&action.sa_mask, SIGPROF);
    sigaction(SIGUSR2, &action, NULL);
    CHECK(!is_again(&poll_call));
    sigaction(SIGUSR2, &before, NULL);
}

#endif

int main(void)
{
    jsp_memread_init(&mem, 0, 0, getpid());
#if defined(__x86_64__)
    RUN(interrupted_call_that_did_nothing_is_made_again);
    RUN(call_that_another_signal_may_have_interrupted_is_not_made_again);
#else
    (void)nothing;
    puts("# the registers do not have the arguments");
#endif
    return DONE();
}
