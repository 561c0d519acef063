/* unit/memread_test.c - src/sigsafe/memread.c: garbage addresses are refused, not read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/memread.h"

#include "test.h"

static struct jsp_memread mem;

TEST(last_address_there_is_does_not_crash_a_thread_whose_stack_is_not_known)
{
    uint64_t value = 7;
    uint8_t bytes[8];
    jsp_memread_init(&mem, 0, 0, getpid());
    for (uintptr_t at = UINTPTR_MAX - 8; at; at++)
        CHECK(!jsp_memread_word(&mem, at, &value) && !jsp_memread_bytes(&mem, at, bytes, 1));
    CHECK_EQ(value, 7);
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

int main(void)
{
    RUN(last_address_there_is_does_not_crash_a_thread_whose_stack_is_not_known);
    RUN(own_stack_is_read_and_what_lies_past_its_end_is_not_read_plainly);
    return DONE();
}
