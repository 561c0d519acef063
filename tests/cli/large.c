/* cli/large.c - writes a capture with much of one thing: `large stacks|edges|events N >FILE`.
 * stacks, edges: N functions, each below each; where a function is below itself there are two
 * samples, or two calls. events: N marks, of 1 to N microseconds, and N values of a counter, of
 * which the tenth is the least and the last but nine the largest.
 *
 * SPDX-License-Identifier: MIT
 */
#include "unit/capture_builder.h"

static struct builder b;

static void large_stacks(uint32_t n)
{
    char name[32];
    for (uint32_t i = 1; i <= n; i++) {
        snprintf(name, sizeof name, "f%u", i);
        build_jit(&b, build_tag(i), name);
    }
    for (uint32_t i = 1; i <= n; i++)
        for (uint32_t j = 1; j <= n; j++) {
            uint64_t stack[2] = { build_tag(j), build_tag(i) };
            build_sample(&b, stack, 2);
            if (i == j)
                build_sample(&b, stack, 2);
        }
}

static uint8_t data[32 << 10];
static size_t used;

static void large_chunk(void)
{
    build_chunk(&b, "jsprof/calls", data, used);
    used = 0;
}

static void large_record(int tag, int n, const uint64_t *numbers, const char *name)
{
    data[used++] = (uint8_t)tag;
    for (int i = 0; i < n; i++)
        used += build_varint(data + used, numbers[i]);
    if (name) {
        used += build_varint(data + used, strlen(name));
        memcpy(data + used, name, strlen(name));
        used += strlen(name);
        used += build_varint(data + used, 0); /* no file */
    }
    if (used > sizeof data - 512)
        large_chunk();
}

static void large_edges(uint32_t n)
{
    char name[32];
    large_record(4, 2, (uint64_t[]){ 1000000000, 9 }, NULL); /* counts and edges */
    for (uint64_t i = 1; i <= n; i++) {
        snprintf(name, sizeof name, "f%u", (unsigned)i);
        large_record(1, 3, (uint64_t[]){ i + 2, 0, 0 }, name);
        large_record(2, 6, (uint64_t[]){ i + 2, n + 1, 0, 0, 0, 0 }, NULL);
    }
    for (uint64_t i = 1; i <= n; i++)
        for (uint64_t j = 1; j <= n; j++)
            large_record(3, 4, (uint64_t[]){ i + 2, j + 2, i == j ? 2 : 1, 0 }, NULL);
    uint64_t all = (uint64_t)n * (n + 1);
    large_record(5, 18, (uint64_t[]){ 17, 1500000000, 1000000000, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0,
                                      0, 0, 0, 0, all }, NULL);
    large_chunk();
}

static void large_events(uint32_t n)
{
    build_counter(&b, 1, (const char *const[3]){ "heap", "used", "bytes" }, false);
    for (uint32_t i = 1; i <= n; i++) {
        /* 1, n, 2, n - 1 ...: no part of the file has all the long ones. */
        build_mark(&b, 1000ll * (i % 2 ? (i + 1) / 2 : n - i / 2 + 1), "gc", "sweep", "");
        build_value(&b, 1, i == 10 ? 1 : i == n - 9 ? 10 * n : n + i % 7);
    }
    build_jit(&b, build_tag(1), "main");
    build_sample(&b, (uint64_t[]){ build_tag(1) }, 1);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    uint32_t n = (uint32_t)atoi(argv[2]);
    build_start(&b, false);
    build_process(&b, "large");
    if (strcmp(argv[1], "stacks") == 0)
        large_stacks(n);
    else if (strcmp(argv[1], "events") == 0)
        large_events(n);
    else
        large_edges(n);
    return fwrite(b.bytes, 1, b.size, stdout) == b.size ? 0 : 1;
}
