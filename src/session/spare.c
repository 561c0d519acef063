/* session/spare.c - the records of threads that have ended, for threads to come. See thread.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "thread.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { SPARE_WORDS = 1 << 12 }; /* a record of whose rings more was used takes too many pages */

void jsp_thread_release_allocs(struct jsp_alloc_table *table)
{
    /* ORDER: acq_rel. All other threads are done with the table before the last one frees
     * it. */
    if (table &&
        atomic_fetch_sub_explicit(&table->holders, 1, memory_order_acq_rel) == 1) /* ORDER: above */
        munmap(table, sizeof *table);
}

void jsp_thread_forget(struct jsp_thread *t)
{
    void *last = t->last, *looked = t->looked, *link = t->link;
    t->last = NULL; /* first, because a fork may copy any moment */
    t->looked = NULL;
    t->link = NULL;
    free(last);
    free(looked);
    free(link);
}

void jsp_thread_release(struct jsp_thread *t)
{
    if (t->listed || t->stuck)
        return;
    jsp_thread_forget(t); /* its session is done with it, even if the thread keeps the record */
    if (t->owned)
        return;
    jsp_calls_destroy(t->calls);
    jsp_thread_release_allocs(t->sampled.alloc.table);
    munmap(t, t->bytes);
}

#define SPARE_LEFT(field)                 \
    { offsetof(struct jsp_thread, field), \
      sizeof ((struct jsp_thread *)0)->field }

/* Zero a record. What lies after struct jsp_thread is written before it is read, except for the
 * stacks of tasks. The large fields that keep their content are written first, too, or it is the
 * same for all threads of the session: most threads use none of these pages. */
static void spare_clear(struct jsp_thread *t)
{
    static const struct { size_t at, bytes; } left[] = {
        SPARE_LEFT(sampled.vm.known), SPARE_LEFT(sampled.names.cache),
        SPARE_LEFT(sampled.unwinder.cache), SPARE_LEFT(sampled.unwinder.live),
        SPARE_LEFT(sampled.printed), SPARE_LEFT(tasks.names.cache),
    };
    size_t from = 0;
    if (t->tasks.n_stacks)
        memset(t->tasks.stacks, 0, JSP_TASKS_STACKS * sizeof *t->tasks.stacks);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        memset((char *)t + from, 0, left[i].at - from);
        from = left[i].at + left[i].bytes;
    }
    memset((char *)t + from, 0, sizeof *t - from);
}

struct jsp_thread *jsp_spare_take(struct jsp_spares *s, size_t bytes)
{
    struct jsp_thread *t = s->first;
    if (!t || t->bytes != bytes)
        return NULL;
    s->first = t->next;
    s->n--;
    s->least = s->n < s->least ? s->n : s->least;
    struct jsp_looked *looked = t->looked;
    struct jsp_thread_link *link = t->link;
    spare_clear(t);
    t->looked = looked;
    t->link = link;
    return t;
}

static bool spare_is_small(const struct jsp_ring *ring)
{
    return jsp_ring_tail(ring) < SPARE_WORDS;
}

void jsp_spare_put(struct jsp_spares *s, struct jsp_thread *t)
{
    if (t->owned || t->stuck || s->n >= JSP_SPARES || !spare_is_small(&t->sampled.ring) ||
        !spare_is_small(&t->tasks.ring)) {
        jsp_thread_release(t);
        return;
    }
    void *last = t->last;
    t->last = NULL; /* first, because a fork may copy any moment */
    free(last);
    jsp_calls_destroy(t->calls);
    jsp_thread_release_allocs(t->sampled.alloc.table);
    t->next = s->first;
    s->first = t;
    s->n++;
}

void jsp_spares_trim(struct jsp_spares *s, uint32_t most)
{
    for (struct jsp_thread *t; s->n > most && (t = s->first) != NULL; s->n--) {
        s->first = t->next;
        jsp_thread_forget(t);
        munmap(t, t->bytes);
    }
    s->least = s->n;
}
