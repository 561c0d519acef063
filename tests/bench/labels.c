/* labels.c - from a frame to the id of its name, when it was seen before.
 *
 * SPDX-License-Identifier: MIT
 *
 * 30 distinct labels of 32 bytes, as in a stack of 30 frames, through the thread's
 * own cache; beside it what a table without that cache would do at least (strlen
 * and a hash of the bytes), and frames that carry a registered function.
 */
#include "bench.h"
#include "session/function.h"
#include "sigsafe/names.h"

enum { LABELS_N = 30, LABELS_BYTES = 32, LABELS_REPEAT = 2000, LABELS_SLOTS = 1024 };

static char labels_text[LABELS_N][LABELS_BYTES + 1];
static jsprof_frame labels_frames[LABELS_N], labels_registered[LABELS_N];
static struct jsp_names labels_names;
static struct jsp_arena labels_arena;

static void labels_set_up(void)
{
    static uint64_t bytes[1 << 15];
    static uint64_t slots[LABELS_SLOTS];
    struct jsp_arena_memory memory = { bytes, sizeof bytes, slots, LABELS_SLOTS };

    jsp_arena_init(&labels_arena, &memory);
    jsp_names_init(&labels_names, &labels_arena);
    for (int i = 0; i < LABELS_N; i++) {
        snprintf(labels_text[i], sizeof labels_text[i], "function_number_%03d_of_a_program", i);
        bench_need(strlen(labels_text[i]) == LABELS_BYTES, "a label of 32 bytes");
        labels_frames[i].label = labels_text[i];
        struct jsp_function_def def = { .name = labels_text[i] };
        struct jsprof_function *f;
        bench_need(jsp_function_new(&f, &def) == 0, "a registered function");
        labels_registered[i].function = f;
    }
}

static double labels_lookup(const jsprof_frame *frames)
{
    uint32_t sum = 0;
    double begin = bench_ns(CLOCK_MONOTONIC);
    for (int r = 0; r < LABELS_REPEAT; r++)
        for (int i = 0; i < LABELS_N; i++)
            sum += jsp_names_of(&labels_names, &frames[i]);
    double ns = bench_ns(CLOCK_MONOTONIC) - begin;
    bench_need(sum != 0, "looking labels up");
    return ns / (LABELS_REPEAT * LABELS_N);
}

static double labels_hash(void)
{
    uint64_t sum = 0;
    double begin = bench_ns(CLOCK_MONOTONIC);
    for (int r = 0; r < LABELS_REPEAT; r++)
        for (int i = 0; i < LABELS_N; i++) {
            const char *text = labels_frames[i].label;
            __asm__ volatile("" : "+r"(text) : : "memory");
            size_t len = strlen(text);
            uint64_t h = 0xCBF29CE484222325u;
            for (size_t k = 0; k < len; k++)
                h = (h ^ (unsigned char)text[k]) * 0x100000001B3u;
            sum += h;
        }
    double ns = bench_ns(CLOCK_MONOTONIC) - begin;
    bench_need(sum != 0, "hashing labels");
    return ns / (LABELS_REPEAT * LABELS_N);
}

int main(void)
{
    static struct bench_series label, registered, hash;
    char peer[120];

    bench_pin();
    labels_set_up();
    labels_lookup(labels_frames);
    for (int i = bench_rounds(201); i > 0; i--) {
        bench_add(&label, labels_lookup(labels_frames));
        bench_add(&registered, labels_lookup(labels_registered));
        bench_add(&hash, labels_hash());
    }
    snprintf(peer, sizeof peer, "strlen + FNV-1a of the same %.1f ns", bench_median(&hash));
    bench_print(&(struct bench_row){ "label lookup, hit, 32 bytes", "<= 10 ns", 10, " ns", peer },
                &label);
    bench_print(&(struct bench_row){ "registered function, hit", "<= 10 ns", 10, " ns", peer },
                &registered);
    return 0;
}
