/* unit/memread_test.c - src/sigsafe/memread.c: garbage addresses are refused, not read,
 * by the kernel's copy and by the probe that takes its place.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "deny.h"
#include "sigsafe/memread.h"

#include "test.h"

enum { PAGE = 4096 };

static struct jsp_memread mem;

static void begin(bool probes)
{
    jsp_memread_init(&mem, 0, 0, getpid());
    mem.probes = probes;
}

/* As in a process of `n` threads. */
static void begin_threads(int n)
{
    static char single;
    begin(false);
    single = n == 1;
    mem.single = &single;
}

static void check_last_addresses(bool probes)
{
    uint64_t value = 7;
    uint8_t bytes[8];
    for (uintptr_t at = UINTPTR_MAX - 8; at; at++) {
        begin(probes);
        CHECK(!jsp_memread_word(&mem, at, &value) && !jsp_memread_bytes(&mem, at, bytes, 1));
    }
    CHECK_EQ(value, 7);
}

TEST(last_address_there_is_does_not_crash_a_thread_whose_stack_is_not_known)
{
    check_last_addresses(false);
    check_last_addresses(true);
}

TEST(own_stack_is_read_and_what_lies_past_its_end_is_not_read_plainly)
{
    alignas(8) uint64_t stack[4] = { 1, 2, 3, 4 };
    uintptr_t low = (uintptr_t)stack, high = low + sizeof stack;
    uint64_t value = 0;
    jsp_memread_init(&mem, low, high, getpid());
    jsp_memread_begin(&mem, low);
    CHECK(jsp_memread_word(&mem, low, &value) && value == 1);
    CHECK(jsp_memread_word(&mem, high - 8, &value) && value == 4);
    CHECK(jsp_memread_is_plain(&mem, high - 8) && !jsp_memread_is_plain(&mem, high - 7));
    CHECK_EQ(mem.calls, JSP_MEMREAD_CALLS);
}

TEST(stack_that_ends_within_a_word_of_its_pointer_opens_no_other_memory)
{
    alignas(PAGE) static uint8_t stack[2 * PAGE];
    for (uintptr_t over = 0; over < 16; over++) {
        uintptr_t sp = (uintptr_t)stack + PAGE, high = sp + over;
        jsp_memread_init(&mem, (uintptr_t)stack, high, getpid());
        jsp_memread_begin(&mem, sp);
        CHECK_EQ(jsp_memread_is_plain(&mem, sp), over >= 8);
        CHECK(!jsp_memread_is_plain(&mem, high - 7) && !jsp_memread_is_plain(&mem, 8));
    }
}

/* A page that can be read, one that can not, one that was unmapped. */
static void check_pages(bool probes)
{
    uint8_t bytes[16];
    uint64_t value = 0;
    uint8_t *page = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                         -1, 0);
    if (!CHECK(page != MAP_FAILED))
        return;
    memset(page, 9, 3 * PAGE);
    mprotect(page + PAGE, PAGE, PROT_NONE);
    munmap(page + 2 * PAGE, PAGE);
    uintptr_t at = (uintptr_t)page;
    begin(probes);
    CHECK(jsp_memread_word(&mem, at, &value) && value == 0x0909090909090909);
    CHECK(jsp_memread_word(&mem, at + PAGE - 8, &value));
    CHECK(jsp_memread_bytes(&mem, at + PAGE - sizeof bytes, bytes, sizeof bytes));
    CHECK_EQ(bytes[15], 9);
    CHECK(!jsp_memread_bytes(&mem, at + PAGE - 15, bytes, sizeof bytes));
    CHECK(!jsp_memread_word(&mem, at + PAGE - 4, &value));
    CHECK(!jsp_memread_word(&mem, at + PAGE, &value));
    CHECK(!jsp_memread_word(&mem, at + 2 * PAGE, &value));
    munmap(page, 2 * PAGE);
    begin(probes);
    CHECK(!jsp_memread_word(&mem, at, &value));
}

TEST(memory_that_can_not_be_read_is_refused_by_copy_and_probe)
{
    check_pages(false);
    check_pages(true);
}

TEST(memory_that_may_vanish_is_probed_only_in_a_process_of_one_thread)
{
    static const uint64_t seven = 7;
    uint64_t value = 0;
    for (int n_threads = 1; n_threads <= 2; n_threads++) {
        begin_threads(n_threads);
        mem.probes = true;
        mem.may_vanish = true;
        CHECK_EQ(jsp_memread_bytes(&mem, (uintptr_t)&seven, &value, sizeof value),
                 n_threads == 1);
    }
    CHECK_EQ(value, 7);
}

TEST(process_of_one_thread_reads_without_a_copy_of_the_kernel)
{
    static const uint8_t odd[20] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    uint8_t bytes[9];
    begin_threads(1);
    mem.pid = -1; /* a copy would fail */
    CHECK(jsp_memread_bytes(&mem, (uintptr_t)(odd + 1), bytes, 8) && bytes[7] == 9);
    CHECK(jsp_memread_bytes(&mem, (uintptr_t)odd, bytes, 9) && bytes[8] == 9);
    CHECK(!jsp_memread_bytes(&mem, 64, bytes, sizeof bytes));
    begin_threads(2);
    mem.pid = -1;
    /* A sandbox that refuses the copy leaves the probe. */
    bool got = jsp_memread_bytes(&mem, (uintptr_t)odd, bytes, 9);
    CHECK_EQ(got, mem.probes);
}

TEST(walk_asks_once_for_a_page_and_the_next_walk_asks_again)
{
    uint64_t value = 0;
    uint8_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(page != MAP_FAILED))
        return;
    begin_threads(1);
    jsp_memread_begin(&mem, 0);
    for (int i = 0; i < 3; i++)
        CHECK(jsp_memread_bytes(&mem, (uintptr_t)(page + 100 * i), &value, sizeof value));
    CHECK_EQ(mem.calls, JSP_MEMREAD_CALLS - 1);
    munmap(page, PAGE);
    jsp_memread_begin(&mem, 0);
    CHECK(!jsp_memread_bytes(&mem, (uintptr_t)page, &value, sizeof value));
}

TEST(what_the_probe_compares_with_is_read_without_waiting_for_it)
{
    alignas(8) static uint32_t unlikely[2] = { 0x5EED1E55, 0x5EED1E55 };
    uint64_t value = 0;
    begin(true);
    CHECK(jsp_memread_word(&mem, (uintptr_t)unlikely, &value));
    CHECK_EQ(value, 0x5EED1E555EED1E55);
}

enum { FAR_PAGES = JSP_MEMREAD_CALLS - 4 };

/* Of a child in a sandbox; 77: there are none here. */
static int read_far(const uint8_t *pages)
{
    uint64_t value = 0;
    int n = 0;
    if (!deny(&(const int){ SYS_process_vm_readv }, 1, EPERM))
        return 77;
    begin(false);
    while (n < FAR_PAGES && jsp_memread_word(&mem, (uintptr_t)(pages + n * PAGE), &value))
        n++;
    return n;
}

TEST(sandbox_that_forbids_the_copy_is_asked_once_and_walks_go_as_far)
{
    uint8_t *pages = mmap(NULL, FAR_PAGES * PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(pages != MAP_FAILED))
        return;
    memset(pages, 9, FAR_PAGES * PAGE);
    pid_t child = fork();
    if (child == 0)
        _exit(read_far(pages));
    int status = -1;
    waitpid(child, &status, 0);
    munmap(pages, FAR_PAGES * PAGE);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        SKIP("needs a kernel with seccomp filters");
    else
        CHECK_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, FAR_PAGES);
}

TEST_MAIN()
