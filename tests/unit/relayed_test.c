/* relayed_test.c - src/analyze/relayed.c: samples in another program's recording get back the
 * numbers of their functions, and only the samples to which these belong.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>

#include "analyze/relayed.h"
#include "capture/varint.h"
#include "capture/wire.h"
#include "test.h"

enum { PID = 42, TID = 43, TIME = 1000, OURS = 0x02A00007 };

static const uint64_t native = 0x401000, theirs = JSP_WIRE_JIT_TAG | 1;

static uint8_t bytes[256];
static size_t used;

static void number(uint64_t value)
{
    used += jsp_varint_put(bytes + used, value);
}

static void name(uint64_t id, const char *text)
{
    bytes[used++] = JSP_WIRE_RELAYED_NAME;
    number(id);
    number(strlen(text));
    memcpy(bytes + used, text, strlen(text));
    used += strlen(text);
}

static void stack(int64_t since, uint64_t leaf, uint64_t root)
{
    bytes[used++] = JSP_WIRE_RELAYED_STACK;
    number(TID);
    number(jsp_varint_fold((uint64_t)since));
    number(2);
    number(leaf);
    number(root);
}

static int add(struct jsp_relayed *r, struct jsp_lookup *names, size_t len)
{
    struct jsp_read_chunk chunk = { .data = bytes, .len = (uint32_t)len };
    return jsp_relayed_add(r, names, &chunk, (struct jsp_lookup_key){ 0, PID, 0 });
}

/* The innermost function of a sample { function, native }, restored. */
static uint64_t restored(struct jsp_relayed *r, const struct jsp_lookup *names, int64_t time,
                         uint32_t n)
{
    uint64_t addrs[3] = { theirs, native, native }, leaf;
    struct jsp_read_frame f = { .pid = PID, .time = time };
    struct jsp_read_sample s = { .addrs = (const uint8_t *)addrs, .n_addrs = n, .tid = TID };
    jsp_relayed_restore(r, names, &f, &s);
    memcpy(&leaf, s.addrs, sizeof leaf);
    CHECK(memcmp(s.addrs + 8, &native, 8) == 0);
    return leaf;
}

static void begin(struct jsp_relayed *r, struct jsp_lookup *names)
{
    used = 0;
    *r = (struct jsp_relayed){ 0 };
    CHECK_EQ(jsp_lookup_init(names), 0);
}

static void end(struct jsp_relayed *r, struct jsp_lookup *names)
{
    jsp_relayed_free(r);
    jsp_lookup_free(names);
}

TEST(sample_gets_its_own_numbers_back)
{
    struct jsp_relayed r;
    struct jsp_lookup names;
    struct jsp_read empty = { 0 };
    begin(&r, &names);
    name(OURS, "spin");
    name(OURS + 1, "spin");
    stack(TIME, OURS, 0);
    stack(-1, OURS + 1, 0); /* the times of two threads may go back */
    CHECK_EQ(add(&r, &names, used), 0);
    jsp_relayed_seal(&r);
    CHECK_EQ(jsp_lookup_seal(&names, &empty), 0);
    for (int again = 0; again < 2; again++) {
        CHECK_EQ(restored(&r, &names, TIME, 2), JSP_WIRE_JIT_TAG | OURS);
        CHECK_EQ(restored(&r, &names, TIME - 1, 2), JSP_WIRE_JIT_TAG | (OURS + 1));
        CHECK_EQ(restored(&r, &names, TIME - 2, 2), theirs); /* another sample */
        CHECK_EQ(restored(&r, &names, TIME, 3), theirs);     /* another stack */
    }
    end(&r, &names);
}

TEST(numbers_that_do_not_fit_the_sample_are_not_used)
{
    struct jsp_relayed r;
    struct jsp_lookup names;
    struct jsp_read empty = { 0 };
    begin(&r, &names);
    name(OURS, "spin");
    stack(TIME, OURS, OURS);     /* the second is no function */
    stack(1, 0, 0);              /* the first is one */
    stack(1, OURS + 1, 0);       /* that has no name */
    CHECK_EQ(add(&r, &names, used), 0);
    jsp_relayed_seal(&r);
    CHECK_EQ(jsp_lookup_seal(&names, &empty), 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(restored(&r, &names, TIME + i, 2), theirs);
    end(&r, &names);
}

TEST(cut_or_wrong_records_are_refused)
{
    struct jsp_relayed r;
    struct jsp_lookup names;
    begin(&r, &names);
    name(OURS, "spin");
    size_t of_name = used;
    stack(TIME, OURS, 0);
    for (size_t len = 1; len < used; len++)
        CHECK_EQ(add(&r, &names, len), len == of_name ? 0 : -EBADMSG);
    CHECK_EQ(add(&r, &names, used), 0);
    CHECK_EQ(r.n, 1);
    name(OURS, "turn"); /* another name for the same number */
    CHECK_EQ(add(&r, &names, used), -EBADMSG);
    bytes[0] = 3;
    CHECK_EQ(add(&r, &names, used), -EBADMSG);
    end(&r, &names);
}

TEST_MAIN()
