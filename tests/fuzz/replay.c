/* fuzz/replay.c - main for a fuzz target where there is no fuzzer: `replay FILE...`
 * runs each file, whole and cut off at many places, and says how many runs that was.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUTS = 64, LARGEST = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory of exactly that size, so that a sanitizer sees one byte too far. */
static int replay_once(const uint8_t *bytes, size_t size)
{
    uint8_t *data = malloc(size ? size : 1);
    if (!data)
        return -1;
    memcpy(data, bytes, size);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

/* How often it ran, or -1. */
static int replay_file(const char *path)
{
    static uint8_t bytes[LARGEST];
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        return -1;
    }
    size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    int runs = replay_once(bytes, size);
    for (size_t cut = 0; cut < CUTS && runs > 0; cut++)
        runs += replay_once(bytes, size * cut / CUTS);
    return runs;
}

int main(int argc, char **argv)
{
    int runs = 0;
    for (int i = 1; i < argc; i++) {
        int more = replay_file(argv[i]);
        if (more < 0)
            return 1;
        runs += more;
    }
    printf("%d files, %d runs\n", argc - 1, runs);
    return runs == 0;
}
