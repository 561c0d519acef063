/* unit/counts_test.c - jsp_sampled_counts: all counters are of one moment, also where a
 * sample comes right between the first one and the last.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/mman.h>

#include "sigsafe/sample.h"

#include "test.h"

enum { PAGE = 1 << 16 }; /* as large as any machine's */

static struct jsp_sampled *self;
static volatile int samples_to_come;

static uint8_t *page_of_ring(void)
{
    return (uint8_t *)((uintptr_t)&self->ring & ~(uintptr_t)(PAGE - 1));
}

/* What the handler does, in its order. */
static void sample(void)
{
    atomic_fetch_add(&self->seq, 1);
    jsp_count(&self->expirations, 1);
    jsp_count(&self->ring.tail, 10);
    atomic_fetch_add(&self->seq, 1);
}

/* The ring's page can not be read: a sample comes at that moment, and then it can. */
static void come_between(int sig)
{
    (void)sig;
    mprotect(page_of_ring(), PAGE, PROT_READ | PROT_WRITE);
    if (samples_to_come-- > 0)
        sample();
}

static bool read_while_samples_come(int n, struct jsp_counts *counts)
{
    samples_to_come = n;
    mprotect(page_of_ring(), PAGE, PROT_NONE);
    return jsp_sampled_counts(self, counts);
}

TEST(sample_between_two_counters_is_in_both)
{
    struct jsp_counts counts = { 0 };
    CHECK((uint8_t *)&self->expirations < page_of_ring()); /* which is read first */
    CHECK(read_while_samples_come(0, &counts));
    CHECK_EQ(counts.expirations, 0);
    CHECK(read_while_samples_come(1, &counts));
    CHECK_EQ(counts.expirations, 1);
    CHECK_EQ(counts.ring_tail, 10);
}

TEST(counters_of_a_thread_inside_its_handler_are_not_told)
{
    struct jsp_counts counts = { .expirations = 77 };
    atomic_fetch_add(&self->seq, 1);
    CHECK(!jsp_sampled_counts(self, &counts));
    CHECK_EQ(counts.expirations, 77);
    atomic_fetch_add(&self->seq, 1);
    CHECK(jsp_sampled_counts(self, &counts));
}

TEST(sample_is_put_in_only_while_the_handler_is_not_inside)
{
    struct jsp_record record = { .weight = 1 };
    uint32_t inside = atomic_load(&self->seq) | 1;
    atomic_store(&self->seq, inside);
    CHECK_EQ(jsp_sampled_put(self, &record, 0, JSP_PUT_DISARMED), JSP_PUT_BUSY);
    CHECK_EQ(atomic_load(&self->seq), inside);
    atomic_store(&self->seq, inside + 1);
    atomic_store(&self->busy, 1); /* the owner is about to use the ring */
    CHECK_EQ(jsp_sampled_put(self, &record, 0, JSP_PUT_DISARMED), JSP_PUT_BUSY);
    atomic_store(&self->busy, 0);
}

int main(void)
{
    struct sigaction between = { .sa_handler = come_between, .sa_flags = SA_NODEFER };
    size_t size = (sizeof *self + 2 * PAGE) & ~(size_t)(PAGE - 1);
    uint8_t *at = mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return 1;
    /* As far down as lets the ring begin a page. */
    uintptr_t ring = (uintptr_t)at + offsetof(struct jsp_sampled, ring) + PAGE - 1;
    self = (void *)((ring & ~(uintptr_t)(PAGE - 1)) - offsetof(struct jsp_sampled, ring));
    sigaction(SIGSEGV, &between, NULL);
    RUN_ALL();
    return DONE();
}
