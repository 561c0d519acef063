/* unwind.c - the native unwinder beside libunwind's unw_backtrace (its fast trace) and
 * glibc's backtrace, warm and cold; giving up; making the tables.
 *
 * libunwind is opened, never linked: linked, it would take backtrace's name.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "base/block.h"
#include "image/loaded.h"
#include "image/objects.h"
#include "sigsafe/unwind.h"

enum { UNWIND_DEPTH = 256, UNWIND_TURNS = 200, UNWIND_COLD_BYTES = 16 << 20, UNWIND_LINE = 64 };
enum unwind_who { UNWIND_OURS, UNWIND_THEIRS, UNWIND_GLIBC, UNWIND_WHO };

static struct jsp_objects unwind_objects;
static struct jsp_unwinder unwind_ours;
static int (*unwind_theirs)(void **, int);
static volatile char *unwind_memory;
static struct bench_series unwind_ns[UNWIND_WHO], unwind_ratio;
static int unwind_rounds;
static bool unwind_is_cold;

/* One walk; how many frames. */
static __attribute__((noinline)) int unwind_walk(enum unwind_who who)
{
    static struct jsp_rec_native frames[UNWIND_DEPTH];
    static void *addresses[UNWIND_DEPTH];
    if (who == UNWIND_THEIRS)
        return unwind_theirs(addresses, UNWIND_DEPTH);
    if (who == UNWIND_GLIBC)
        return backtrace(addresses, UNWIND_DEPTH);
    struct jsp_unwound out = { .frames = frames, .max = UNWIND_DEPTH };
    struct jsp_regs_core here = jsp_regs_here();
    jsp_unwind_from(&unwind_ours, jsp_objects_map(&unwind_objects), &here, &out);
    return (int)out.n;
}

static void unwind_chill(void)
{
    for (int i = 0; unwind_is_cold && i < UNWIND_COLD_BYTES; i += UNWIND_LINE)
        unwind_memory[i]++;
}

static double unwind_time(enum unwind_who who)
{
    int frames = 0, turns = unwind_is_cold ? 1 : UNWIND_TURNS;
    unwind_chill();
    double begin = bench_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < turns; i++)
        frames += unwind_walk(who);
    return (bench_ns(CLOCK_MONOTONIC) - begin) / frames;
}

static void unwind_measure(void)
{
    unwind_walk(UNWIND_OURS); /* the rows of the objects that this has met are made next */
    jsp_objects_build(&unwind_objects, 0);
    for (int round = -3; round < unwind_rounds; round++) { /* three to warm up */
        double ns[UNWIND_WHO] = { 0 };
        for (int who = 0; who < UNWIND_WHO; who++)
            if (who != UNWIND_THEIRS || unwind_theirs)
                ns[who] = unwind_time((enum unwind_who)who);
        for (int who = 0; round >= 0 && who < UNWIND_WHO; who++)
            bench_add(&unwind_ns[who], ns[who]);
        if (round >= 0)
            bench_add(&unwind_ratio, ns[UNWIND_OURS] /
                                     ns[unwind_theirs ? UNWIND_THEIRS : UNWIND_GLIBC]);
    }
}

/* -- A stack of functions that differ ---------------------------------------------- */

typedef void unwind_link(int depth);
static unwind_link *const unwind_links[16];

#define UNWIND_LINK(name, words)                                              \
    static __attribute__((noinline)) void name(int depth)            \
    {                                                                         \
        volatile long room[words];                                            \
        room[0] = depth;                                                      \
        if (depth)                                                            \
            unwind_links[(depth * 7) % 16](depth - 1);                        \
        else                                                                  \
            unwind_measure();                                                 \
        room[(words) - 1] = room[0];                                          \
    }
UNWIND_LINK(unwind_a, 1) UNWIND_LINK(unwind_b, 2) UNWIND_LINK(unwind_c, 9)
UNWIND_LINK(unwind_d, 4) UNWIND_LINK(unwind_e, 25) UNWIND_LINK(unwind_f, 6)
UNWIND_LINK(unwind_g, 3) UNWIND_LINK(unwind_h, 8) UNWIND_LINK(unwind_i, 5)
UNWIND_LINK(unwind_j, 12) UNWIND_LINK(unwind_k, 33) UNWIND_LINK(unwind_l, 7)
UNWIND_LINK(unwind_m, 1) UNWIND_LINK(unwind_n, 64) UNWIND_LINK(unwind_o, 2)
UNWIND_LINK(unwind_p, 16)

static unwind_link *const unwind_links[16] = {
    unwind_a, unwind_b, unwind_c, unwind_d, unwind_e, unwind_f, unwind_g, unwind_h,
    unwind_i, unwind_j, unwind_k, unwind_l, unwind_m, unwind_n, unwind_o, unwind_p,
};

static void unwind_at(int depth, bool is_cold)
{
    char name[80], peer[120];
    memset(unwind_ns, 0, sizeof unwind_ns);
    unwind_ratio.n = 0;
    unwind_is_cold = is_cold;
    unwind_rounds = bench_rounds(is_cold ? 101 : 201);
    unwind_links[0](depth - 5); /* main and its callers are frames, too */
    snprintf(name, sizeof name, "unwind a frame, %s, %d deep", is_cold ? "cold" : "warm", depth);
    snprintf(peer, sizeof peer, "ours %.1f ns, unw_backtrace %.1f, backtrace %.0f",
             bench_median(&unwind_ns[UNWIND_OURS]), bench_median(&unwind_ns[UNWIND_THEIRS]),
             bench_median(&unwind_ns[UNWIND_GLIBC]));
    bench_print(&(struct bench_row){ name, unwind_theirs ? "<= unw_backtrace" : NULL, 1.0, "x",
                                     peer }, &unwind_ratio);
}

/* -- Giving up, tables ---------------------------------------------------------------- */

static void unwind_give_up(void)
{
    struct bench_series us = { 0 };
    struct jsp_rec_native frames[UNWIND_DEPTH];
    struct jsp_regs_core bad = { .pc = 4096, .fp = (uintptr_t)unwind_memory };
    bench_need(munmap((void *)(uintptr_t)unwind_memory, UNWIND_COLD_BYTES) == 0, "munmap");
    bad.sp = bad.fp;
    for (int round = 0; round < bench_rounds(301); round++) {
        struct jsp_unwound out = { .frames = frames, .max = UNWIND_DEPTH };
        double begin = bench_ns(CLOCK_MONOTONIC);
        enum jsp_unwind_stop stop = jsp_unwind_from(
            &unwind_ours, jsp_objects_map(&unwind_objects), &bad, &out);
        bench_add(&us, (bench_ns(CLOCK_MONOTONIC) - begin) / 1000);
        bench_need(stop == JSP_STOP_UNREADABLE, "giving up");
    }
    bench_print(&(struct bench_row){ "unwind: give up", "<= 2 us", 2.0, " us",
                                     "unknown code, its frame pointer not mapped" }, &us);
}

struct unwind_library {
    struct jsp_loaded loaded;
    struct jsp_ehframe_section section;
};

/* Keep the largest table of all. */
static int unwind_largest(void *arg, const struct jsp_loaded *loaded)
{
    struct unwind_library *lib = arg;
    struct jsp_ehframe_section section;
    if (jsp_loaded_copy(loaded, getpid(), &section) < 0)
        return -1;
    bool is_larger = section.n > lib->section.n;
    jsp_block_free((void *)(uintptr_t)(is_larger ? lib->section.bytes : section.bytes));
    if (is_larger)
        *lib = (struct unwind_library){ *loaded, section };
    return 0;
}

/* Bytes that the table takes, all of it. */
static size_t unwind_table_bytes(const struct jsp_table *table)
{
    const struct jsp_unwind_object *o = &table->object;
    size_t n_pages = (size_t)((o->end - o->start) >> o->page_shift) + 2;
    return o->n_rows * sizeof *o->rows + n_pages * sizeof *o->pages +
           o->n_rules * sizeof *o->rules + o->n_exprs;
}

static void unwind_tables(void)
{
    struct unwind_library lib = { 0 };
    struct jsp_loaded_seen seen = { UINT64_MAX, UINT64_MAX };
    struct bench_series ms = { 0 }, bytes = { 0 };
    struct jsp_table table;
    char peer[160];
    bool has_llvm = dlopen("libLLVM-14.so.1", RTLD_LAZY) || dlopen("libLLVM-15.so.1", RTLD_LAZY);
    bench_need(jsp_loaded_each(&seen, getpid(), unwind_largest, &lib) == 0, "copying tables");
    for (int round = 0; round < bench_rounds(21); round++) {
        double begin = bench_ns(CLOCK_MONOTONIC);
        bench_need(jsp_table_build(&table, &lib.section, lib.loaded.start, lib.loaded.end) == 0,
                   "building a table");
        double took = bench_ns(CLOCK_MONOTONIC) - begin;
        bench_add(&ms, took / 1e6 / ((double)table.n_states / 1e6));
        bench_add(&bytes, (double)unwind_table_bytes(&table) / (double)table.n_states);
        snprintf(peer, sizeof peer, "%s: %.2f million rows, ours %.2f, %.1f MiB",
                 has_llvm ? "libLLVM" : "no libLLVM, the largest object",
                 (double)table.n_states / 1e6, table.object.n_rows / 1e6,
                 (double)unwind_table_bytes(&table) / (1 << 20));
        jsp_table_free(&table);
    }
    bench_print(&(struct bench_row){ "unwind tables: build 1M rows", "<= 50 ms", 50, " ms", peer },
                &ms);
    bench_print(&(struct bench_row){ "unwind tables: a row", "<= 8 bytes", 8, " bytes", peer },
                &bytes);
    jsp_block_free((void *)(uintptr_t)lib.section.bytes);
}

static void unwind_find_stack(uintptr_t *low, uintptr_t *high)
{
    pthread_attr_t attr;
    void *at = NULL;
    size_t size = 0;
    bench_need(pthread_getattr_np(pthread_self(), &attr) == 0, "pthread_getattr_np");
    pthread_attr_getstack(&attr, &at, &size);
    pthread_attr_destroy(&attr);
    *low = (uintptr_t)at;
    *high = *low + size;
}

int main(void)
{
    static const int depths[] = { 8, 32, 128 };
    uintptr_t low, high;
    bench_pin();
    void *lib = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    *(void **)&unwind_theirs = lib ? dlsym(lib, "unw_backtrace") : NULL;
    if (!unwind_theirs)
        printf("note\tno peer: libunwind.so.8 is not installed\n");
    unwind_memory = mmap(NULL, UNWIND_COLD_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bench_need(unwind_memory != MAP_FAILED, "mmap");
    bench_need(jsp_objects_init(&unwind_objects) == 0, "jsp_objects_init");
    unwind_find_stack(&low, &high);
    jsp_unwinder_init(&unwind_ours, low, high, getpid());
    for (int cold = 0; cold < 2; cold++)
        for (int i = 0; i < 3; i++)
            unwind_at(depths[i], cold == 1);
    unwind_give_up();
    unwind_tables();
    return 0;
}
