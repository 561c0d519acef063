/* relay_host.c - bindings/mozjs/relay.c: a file that is full in the middle of a frame, and
 * has room again later. Speaks TAP. Argument: the file.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "relay.h"

enum {
    HEADER = 256,
    FRAME = 6000,
    BEFORE = 1,  /* frames that fit */
    PART = 96,   /* bytes of the next one that fit */
    FULL = 1000, /* frames in which there is no room: more than a pipe and the relay hold */
    AFTER = 3,   /* frames with room again */
    KIND = 200,  /* of no meaning */
};

static int n_checks, n_failed;

static void check(bool good, const char *what)
{
    n_failed += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", ++n_checks, what);
}

static void put(int fd, const void *bytes, size_t n)
{
    for (const char *at = bytes; n > 0;) {
        ssize_t wrote = write(fd, at, n);

        if (wrote <= 0)
            exit(1);
        at += wrote;
        n -= (size_t)wrote;
    }
}

static void frame_make(unsigned char *frame, uint16_t number)
{
    const uint16_t len = FRAME;

    for (int i = 0; i < FRAME; i += 2)
        memcpy(frame + i, &number, sizeof number);
    memcpy(frame, &len, sizeof len);
    frame[16] = KIND;
}

static void put_frames(int fd, int from, int n)
{
    unsigned char frame[FRAME];

    for (int i = from; i < from + n; i++) {
        frame_make(frame, (uint16_t)i);
        put(fd, frame, sizeof frame);
    }
}

/* How many whole frames the file has, in order; -1: something else. */
static int frames_of(const char *path, uint16_t *last)
{
    unsigned char got[FRAME], want[FRAME];
    FILE *file = fopen(path, "r");
    int n = 0;

    if (!file || fread(got, HEADER, 1, file) != 1)
        return -1;
    for (; fread(got, FRAME, 1, file) == 1; n++) {
        memcpy(last, got + FRAME - 2, sizeof *last);
        frame_make(want, *last);
        if (memcmp(got, want, FRAME) != 0)
            n = -FULL;
    }
    const bool at_end = ftell(file) == HEADER + (long)n * FRAME;
    fclose(file);
    return at_end ? n : -1;
}

static void limit(rlim_t bytes)
{
    struct rlimit now;

    getrlimit(RLIMIT_FSIZE, &now);
    now.rlim_cur = bytes < now.rlim_max ? bytes : now.rlim_max;
    setrlimit(RLIMIT_FSIZE, &now);
}

int main(int argc, char **argv)
{
    const unsigned char header[HEADER] = { 0 };
    struct relay_result result;
    struct relay *relay;
    uint16_t last = 0;
    int input, fd = argc == 2 ? open(argv[1], O_CREAT | O_TRUNC | O_WRONLY, 0600) : -1;

    if (fd < 0 || relay_to_file(&relay, fd, &input) < 0)
        return 1;
    limit(HEADER + BEFORE * FRAME + PART);
    put(input, header, sizeof header);
    put_frames(input, 0, FULL); /* returns when the first ones have been passed on */
    limit(RLIM_INFINITY);
    put_frames(input, FULL, AFTER);
    close(input);
    relay_close(relay, &result);
    close(fd);

    const int n = frames_of(argv[1], &last);
    check(n > BEFORE, "the file holds whole frames only, the broken one, too");
    check(last == FULL + AFTER - 1, "and those that had room again");
    check(result.frames == FULL + AFTER, "all are counted");
    check(result.lost > 0 && (uint64_t)n + result.lost == result.frames, "and the lost ones");
    printf("1..%d\n", n_checks);
    return n_failed != 0;
}
