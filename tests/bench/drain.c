/* drain.c - CPU time of the drain per sample: out of a ring, ordered, into a file.
 *
 * SPDX-License-Identifier: MIT
 *
 *     drain DIRECTORY
 *
 * Samples of 60 frames, every second one with lines, in two runs that have to be
 * merged by stack address; 2,000 functions; each sample differs from the one before.
 * The timed work is that of the drain's thread: pop, append, flush. Next to it is the
 * time to write as many bytes as the capture has into a file, by plain write.
 */
#include <fcntl.h>
#include <unistd.h>

#include "bench.h"
#include "session/output.h"
#include "sigsafe/ring.h"

enum { DRAIN_FRAMES = 60, DRAIN_FUNCTIONS = 2000, DRAIN_BATCH = 512, DRAIN_BATCHES = 20,
       DRAIN_RING = 1 << 17, DRAIN_BLOCK = 1 << 16 };

static uint32_t drain_ids[DRAIN_FUNCTIONS];
static struct jsp_arena drain_arena;
static struct jsp_ring drain_ring;
static struct jsp_output drain_output;
static uint32_t drain_tally;
static uint64_t drain_words[DRAIN_RING];
static struct jsp_codes drain_codes;
static uint64_t drain_space[1 << 12];
static uint32_t drain_random = 1;

static void drain_set_up(void)
{
    static uint64_t bytes[1 << 16], slots[1 << 13];
    struct jsp_arena_memory memory = { bytes, sizeof bytes, slots, 1 << 13 };
    char name[64];
    jsp_arena_init(&drain_arena, &memory);
    for (int i = 0; i < DRAIN_FUNCTIONS; i++) {
        int n = snprintf(name, sizeof name, "function_%d (module.x:%d)", i, i * 7);
        drain_ids[i] = jsp_arena_intern(&drain_arena, name, (uint32_t)n, 0);
        bench_need(drain_ids[i] != JSP_LABEL_LOST, "naming functions");
    }
    jsp_ring_init(&drain_ring, drain_words, DRAIN_RING);
    jsp_codes_init(&drain_codes);
}

/* 15 VM frames in each of two runs and 30 native ones, whose stack addresses interleave. */
static void drain_fill(struct jsp_record *r, uint64_t time)
{
    enum { VM = DRAIN_FRAMES / 2, RUN = VM / 2 };
    *r = (struct jsp_record){ .time_ns = time, .cpu_ns = 1000000, .weight = 1, .n_native = VM };
    r->n[JSP_RUN_ARRAY] = RUN;
    r->n[JSP_RUN_HOST] = VM - RUN;
    for (uint32_t i = 0; i < VM; i++) {
        drain_random = drain_random * 1664525u + 1013904223u;
        r->frames[i] = (struct jsp_rec_frame){
            .id = drain_ids[(drain_random >> 8) % DRAIN_FUNCTIONS],
            .line = time & 1 ? i + 1 : 0,
            .sp = 0x7fff00000000u - (i % RUN * 4 + i / RUN * 2) * 64,
        };
        jsp_record_natives(r)[VM - 1 - i] = (struct jsp_rec_native){
            (uint64_t)(uintptr_t)drain_fill + (drain_random >> 20) % 4096,
            0x7fff00000000u - i * 128 + 64,
        };
    }
}

static void drain_push_batch(void)
{
    struct jsp_record *r = (void *)drain_space;
    static uint64_t time;
    for (int i = 0; i < DRAIN_BATCH; i++) {
        drain_fill(r, ++time);
        uint32_t n_words = jsp_record_words(DRAIN_FRAMES / 2, DRAIN_FRAMES / 2);
        bench_need(jsp_ring_push(&drain_ring, drain_space, n_words), "filling the ring");
    }
}

/* As the drain's thread does it. */
static void drain_pop_batch(void)
{
    while (jsp_ring_pop(&drain_ring, drain_space, sizeof drain_space / 8) > 0) {
        if (jsp_output_is_full(&drain_output)) {
            bench_need(jsp_output_flush(&drain_output) == 0, "writing");
            jsp_output_settle(&drain_output);
        }
        jsp_output_record(&drain_output, (const void *)drain_space,
                          (struct jsp_output_from){ drain_tally, 1 });
    }
    jsp_output_side(&drain_output);
    bench_need(jsp_output_flush(&drain_output) == 0, "writing");
    jsp_output_settle(&drain_output);
}

static int drain_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    bench_need(fd >= 0, path);
    return fd;
}

/* ns per sample into a new file; *bytes is what the file has then. */
static double drain_round(const char *path, uint64_t *bytes)
{
    double ns = 0;
    memset(&drain_output, 0, sizeof drain_output);
    bench_need(jsp_output_open(&drain_output, drain_file(path), &drain_arena) == 0 &&
               jsp_tallies_take(&drain_output.tallies, &drain_tally) == 0, "opening a capture");
    drain_output.frames.codes = &drain_codes;
    jsp_natives_refresh(&drain_output.natives, &drain_output.writer, JSP_NATIVES_OPENED);
    for (int i = 0; i < DRAIN_BATCHES; i++) {
        drain_push_batch();
        double begin = bench_ns(CLOCK_THREAD_CPUTIME_ID);
        drain_pop_batch();
        ns += bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    }
    bench_need(jsp_tallies_sum(&drain_output.tallies).samples == DRAIN_BATCH * DRAIN_BATCHES,
               "keeping every sample");
    *bytes = drain_output.writer.appended;
    jsp_output_close(&drain_output);
    return ns / (DRAIN_BATCH * DRAIN_BATCHES);
}

static double drain_copy(const char *path, uint64_t bytes)
{
    static char block[DRAIN_BLOCK];
    int fd = drain_file(path);
    double begin = bench_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t at = 0; at < bytes; at += DRAIN_BLOCK)
        bench_need(write(fd, block, DRAIN_BLOCK) == DRAIN_BLOCK, "writing");
    double ns = bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    close(fd);
    return ns / (DRAIN_BATCH * DRAIN_BATCHES);
}

int main(int argc, char **argv)
{
    static struct bench_series ours, copy;
    char path[4096], peer[120];
    uint64_t bytes = 0;

    if (argc != 2)
        return fprintf(stderr, "usage: drain DIRECTORY\n"), 2;
    snprintf(path, sizeof path, "%s/drain.cap", argv[1]);
    bench_pin();
    drain_set_up();
    drain_round(path, &bytes);
    for (int i = bench_rounds(55); i > 0; i--) {
        bench_add(&ours, drain_round(path, &bytes) / 1000);
        bench_add(&copy, drain_copy(path, bytes) / 1000);
    }
    unlink(path);
    snprintf(peer, sizeof peer, "writing the same %.0f bytes alone %.2f us",
             (double)bytes / (DRAIN_BATCH * DRAIN_BATCHES), bench_median(&copy));
    bench_print(&(struct bench_row){ "drain, a sample of 60 frames", "<= 2 us", 2, " us", peer },
                &ours);
    return 0;
}
