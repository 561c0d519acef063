/* relay_numbers.c - see relay_numbers.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "relay_numbers.h"

#include <string.h>

enum {
    /* The types of frames and their fields, as in docs/capture.md. */
    NUMBERS_SAMPLE = 2,
    NUMBERS_JITMAP = 7,
    NUMBERS_FILE_CHUNK = 13,
    NUMBERS_TIME = 8,
    NUMBERS_TYPE = 16,
    NUMBERS_BODY = 24,
    NUMBERS_N_NAMES = 4,
    NUMBERS_ADDRS = 32,
    NUMBERS_PATH = 28,
    NUMBERS_DATA = 284,
    /* Records of the file. */
    NUMBERS_NAME = 1,
    NUMBERS_STACK = 2,
    NUMBERS_VARINT = 10, /* bytes, at most */
};

static const uint64_t numbers_tag = 0xE0000000, numbers_low = 0xFFFFFFFF;

static size_t numbers_room(const struct relay_numbers *r)
{
    return sizeof r->frame - NUMBERS_DATA - 8 - r->n;
}

static void numbers_byte(struct relay_numbers *r, unsigned char byte)
{
    r->frame[NUMBERS_DATA + r->n++] = byte;
}

static void numbers_put(struct relay_numbers *r, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        numbers_byte(r, (unsigned char)(value | 0x80));
    numbers_byte(r, (unsigned char)value);
}

/* One that fits into no frame is left out. */
static int numbers_fits(const struct relay_numbers *r, size_t bytes)
{
    return bytes <= numbers_room(r) ? 1 : (r->n ? -1 : 0);
}

static int numbers_name(struct relay_numbers *r, uint64_t addr, const char *name, size_t len)
{
    int fits = numbers_fits(r, 1 + 2 * NUMBERS_VARINT + len);

    if (fits <= 0)
        return fits;
    numbers_byte(r, NUMBERS_NAME);
    numbers_put(r, addr & numbers_low);
    numbers_put(r, len);
    memcpy(r->frame + NUMBERS_DATA + r->n, name, len);
    r->n += len;
    return 0;
}

/* The library writes one name a frame. */
static int numbers_names(struct relay_numbers *r, const unsigned char *frame, size_t len)
{
    const size_t at = NUMBERS_BODY + NUMBERS_N_NAMES;
    uint64_t addr;

    if (len <= at + sizeof addr)
        return 0;
    const char *name = (const char *)frame + at + sizeof addr;

    memcpy(&addr, frame + at, sizeof addr);
    return numbers_name(r, addr, name, strnlen(name, len - at - sizeof addr));
}

static int numbers_stack(struct relay_numbers *r, const unsigned char *frame, size_t len)
{
    uint16_t n;
    int32_t tid;
    int64_t time;

    memcpy(&n, frame + NUMBERS_BODY, sizeof n);
    memcpy(&tid, frame + NUMBERS_BODY + 4, sizeof tid);
    memcpy(&time, frame + NUMBERS_TIME, sizeof time);
    if (len < NUMBERS_ADDRS + sizeof(uint64_t) * n)
        return 0;
    int fits = numbers_fits(r, 1 + 3 * NUMBERS_VARINT + 5 * (size_t)n);

    if (fits <= 0)
        return fits;
    numbers_byte(r, NUMBERS_STACK);
    numbers_put(r, (uint32_t)tid);
    uint64_t since = (uint64_t)time - (uint64_t)r->time;

    numbers_put(r, since << 1 ^ (0 - (since >> 63)));
    numbers_put(r, n);
    r->time = time;
    for (size_t i = 0; i < n; i++) {
        uint64_t addr;

        memcpy(&addr, frame + NUMBERS_ADDRS + sizeof addr * i, sizeof addr);
        numbers_put(r, addr >> 32 == numbers_tag ? addr & numbers_low : 0);
    }
    return 0;
}

int relay_numbers_note(struct relay_numbers *r, const unsigned char *frame, size_t len)
{
    int err = 0;

    if (frame[NUMBERS_TYPE] == NUMBERS_JITMAP)
        err = numbers_names(r, frame, len);
    else if (frame[NUMBERS_TYPE] == NUMBERS_SAMPLE && len >= NUMBERS_ADDRS)
        err = numbers_stack(r, frame, len);
    if (err == 0 && r->n)
        memcpy(r->frame, frame, NUMBERS_BODY); /* its time, process and processor */
    return err;
}

size_t relay_numbers_take(struct relay_numbers *r)
{
    size_t whole = (NUMBERS_DATA + r->n + 7) & ~(size_t)7;
    uint16_t len = (uint16_t)whole, n = (uint16_t)r->n;

    if (!n)
        return 0;
    memset(r->frame + NUMBERS_DATA + n, 0, whole - NUMBERS_DATA - n);
    memset(r->frame + NUMBERS_BODY, 0, NUMBERS_DATA - NUMBERS_BODY);
    memcpy(r->frame, &len, sizeof len);
    r->frame[NUMBERS_TYPE] = NUMBERS_FILE_CHUNK;
    memcpy(r->frame + NUMBERS_BODY + 2, &n, sizeof n);
    strcpy((char *)r->frame + NUMBERS_PATH, "jsprof/relayed");
    r->n = 0;
    r->time = 0;
    return whole;
}
