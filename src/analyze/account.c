/* analyze/account.c - the account of a recording: what it kept and lost (jsprof/losses).
 *
 * SPDX-License-Identifier: MIT
 */
#include "account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct account_field {
    const char *key;
    size_t offset;
    size_t width; /* 0: a uint64_t; else the bytes of a char array */
};

#define SESSION(field) { #field, offsetof(struct jsp_account_session, field), 0 }
#define THREAD(field) { #field, offsetof(struct jsp_account_thread, field), 0 }

#define CLOCK(CLOCK, key, unit, name, meaning) \
    { unit, offsetof(struct jsp_account_thread, clock_ns[JSP_CLOCK_##CLOCK]), 0 },
#define LOSS(CAUSE, cause, asked, name, meaning) \
    { "lost_" #cause, offsetof(struct jsp_account_thread, lost[JSP_LOST_##CAUSE]), 0 },

static const struct account_field account_session[] = {
    { "state", offsetof(struct jsp_account_session, state), 16 },
    { "clock", offsetof(struct jsp_account_session, clock), 16 },
    SESSION(time),
    SESSION(hz),
    SESSION(samples),
    SESSION(labels),
    SESSION(label_bytes),
    SESSION(labels_lost),
    SESSION(labels_cut),
    SESSION(marks_lost),
    SESSION(addresses_missed),
    SESSION(write_error),
    { NULL, 0, 0 },
};

static const struct account_field account_thread[] = {
    { "name", offsetof(struct jsp_account_thread, name), 64 },
    THREAD(id),
    THREAD(expirations),
    THREAD(kept),
    THREAD(samples),
    JSP_LOSSES(LOSS)
    THREAD(frames_cut),
    THREAD(frames_bad),
    THREAD(underflows),
    THREAD(stop_end),
    THREAD(stop_full),
    THREAD(stop_no_table),
    THREAD(stop_stack),
    THREAD(stop_unreadable),
    THREAD(stop_rule),
    JSP_CLOCKS(CLOCK)
    THREAD(handler_ns),
    { NULL, 0, 0 },
};

static const struct account_field account_total[] = {
    { "state", offsetof(struct jsp_account_total, state), 16 },
    { "time", offsetof(struct jsp_account_total, time), 0 },
    { "write_error", offsetof(struct jsp_account_total, write_error), 0 },
    { NULL, 0, 0 },
};

static int account_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if ((c | 32) >= 'a' && (c | 32) <= 'f')
        return (c | 32) - 'a' + 10;
    return -1;
}

/* Decode percent escapes, cut to the field, and add a NUL. */
static void account_text(char *out, size_t width, const char *at, const char *end)
{
    size_t n = 0;
    while (at < end && n + 1 < width) {
        int high = *at == '%' && end - at > 2 ? account_hex(at[1]) : -1;
        int low = high >= 0 ? account_hex(at[2]) : -1;
        out[n++] = low >= 0 ? (char)(high << 4 | low) : *at;
        at += low >= 0 ? 3 : 1;
    }
    out[n] = 0;
}

static bool account_number(const char *at, const char *end, uint64_t *out)
{
    bool minus = at < end && *at == '-';
    uint64_t n = 0;
    at += minus;
    if (at == end || end - at > 19)
        return false;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9')
            return false;
        n = n * 10 + (uint64_t)(*at - '0');
    }
    *out = minus ? 0 - n : n;
    return true;
}

static bool account_set(void *into, const struct account_field *f, const char *value,
                        const char *end)
{
    char *at = (char *)into + f->offset;
    uint64_t number;
    if (f->width) {
        account_text(at, f->width, value, end);
        return true;
    }
    if (!account_number(value, end, &number))
        return false;
    memcpy(at, &number, sizeof number);
    return true;
}

/* Read one word "key=value". An unknown key comes from a newer writer and is skipped. */
static bool account_word(void *into, const struct account_field *f, const char *at,
                         const char *end)
{
    const char *equal = memchr(at, '=', (size_t)(end - at));
    if (!equal)
        return false;
    for (; f->key; f++)
        if (strlen(f->key) == (size_t)(equal - at) &&
            memcmp(f->key, at, (size_t)(equal - at)) == 0)
            return account_set(into, f, equal + 1, end);
    return true;
}

static bool account_words(void *into, const struct account_field *fields, const char *at,
                          const char *end)
{
    while (at < end) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        const char *stop = space ? space : end;
        if (stop > at && !account_word(into, fields, at, stop))
            return false;
        at = stop + 1;
    }
    return true;
}

static uint32_t account_hash(const struct jsp_hash *t, uint64_t key)
{
    return (uint32_t)(jsp_hash_mix(t->seed, key) >> 16);
}

static struct jsp_account_thread *account_slot(struct jsp_account *a, uint64_t id)
{
    uint32_t hash = account_hash(&a->by_id, id), probe = hash, at;
    while ((at = jsp_hash_next(&a->by_id, hash, &probe)) != 0)
        if (a->threads[at - 1].id == id)
            return &a->threads[at - 1];
    if (jsp_grow(&a->threads, &a->capacity, a->n_threads, sizeof *a->threads) < 0)
        return NULL;
    if (jsp_hash_add(&a->by_id, hash, a->n_threads) < 0)
        return NULL;
    return &a->threads[a->n_threads++];
}

/* Find `tid` by itself, because it is signed and narrow. */
static int32_t account_tid(const char *at, const char *end)
{
    uint64_t tid = 0;
    for (; at + 5 < end; at++)
        if (memcmp(at, " tid=", 5) == 0) {
            const char *stop = memchr(at + 1, ' ', (size_t)(end - at - 1));
            account_number(at + 5, stop ? stop : end, &tid);
            break;
        }
    return (int32_t)(uint32_t)tid;
}

/* Return true if the line is of this kind; *at then points to its words. */
static bool account_is(const char **at, const char *end, const char *kind)
{
    size_t n = strlen(kind);
    bool is = (size_t)(end - *at) > n && memcmp(*at, kind, n) == 0;
    *at += is ? n : 0;
    return is;
}

static bool account_total_line(struct jsp_account *a, const char *at, const char *end)
{
    struct jsp_account_total total = { .present = true };
    if (!account_words(&total, account_total, at, end) ||
        !account_words(&total.sum, account_thread, at, end))
        return false;
    a->total = total;
    return true;
}

/* Read one line. Return 0, 1 if it is not readable, or -ENOMEM. */
static int account_line(struct jsp_account *a, int32_t pid, const char *at,
                        const char *end)
{
    struct jsp_account_session session = { .present = true };
    struct jsp_account_thread thread = { 0 };
    if (account_is(&at, end, "total "))
        return !account_total_line(a, at, end);
    if (account_is(&at, end, "session ")) {
        if (!account_words(&session, account_session, at, end))
            return 1;
        a->session = session;
        return 0;
    }
    if (!account_is(&at, end, "thread ") || !account_words(&thread, account_thread, at, end))
        return 1;
    thread.tid = account_tid(at, end);
    thread.pid = pid;
    struct jsp_account_thread *slot = account_slot(a, thread.id);
    if (!slot)
        return -ENOMEM;
    *slot = thread;
    return 0;
}

int jsp_account_read(struct jsp_account *a, struct jsp_account_text text)
{
    const char *at = text.at, *end = at + text.len;
    int bad = 0;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        int err = stop && stop > at ? account_line(a, text.pid, at, stop) : !stop;
        if (err < 0)
            return err;
        bad += err;
        at = stop ? stop + 1 : end;
    }
    return bad;
}

int jsp_account_init(struct jsp_account *a)
{
    memset(a, 0, sizeof *a);
    int err = jsp_hash_init(&a->by_id, 0);
    return err < 0 ? err : jsp_hash_init(&a->by_tid, 0);
}

static uint32_t account_tid_hash(const struct jsp_account *a, int32_t pid, int32_t tid)
{
    return account_hash(&a->by_tid, (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid);
}

struct jsp_account_thread *jsp_account_of_tid(const struct jsp_account *a, int32_t pid,
                                              int32_t tid)
{
    uint32_t hash = account_tid_hash(a, pid, tid), probe = hash, at;
    while ((at = jsp_hash_next(&a->by_tid, hash, &probe)) != 0)
        if (a->threads[at - 1].tid == tid && a->threads[at - 1].pid == pid)
            return &a->threads[at - 1];
    return NULL;
}

int jsp_account_seal(struct jsp_account *a)
{
    for (uint32_t i = 0; i < a->n_threads; i++) {
        struct jsp_account_thread *t = &a->threads[i];
        struct jsp_account_thread *older = jsp_account_of_tid(a, t->pid, t->tid);
        uint32_t hash = account_tid_hash(a, t->pid, t->tid);
        t->is_newest = true;
        t->kept_of_tid = t->kept + (older ? older->kept_of_tid : 0);
        t->unseen_of_tid = jsp_account_unseen(t) + (older ? older->unseen_of_tid : 0);
        if (older) {
            older->is_newest = false;
            jsp_hash_move(&a->by_tid, hash, (uint32_t)(older - a->threads), i);
        } else if (jsp_hash_add(&a->by_tid, hash, i) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

void jsp_account_free(struct jsp_account *a)
{
    jsp_hash_free(&a->by_id);
    jsp_hash_free(&a->by_tid);
    free(a->threads);
    memset(a, 0, sizeof *a);
}

uint64_t jsp_account_unseen(const struct jsp_account_thread *t)
{
    uint64_t sum = 0;
    for (int cause = 0; cause < JSP_N_LOSSES; cause++)
        sum += jsp_losses[cause].is_asked ? 0 : t->lost[cause];
    return sum;
}

uint64_t jsp_account_lost(const struct jsp_account_thread *t)
{
    uint64_t sum = 0;
    for (int cause = 0; cause < JSP_N_LOSSES; cause++)
        sum += t->lost[cause];
    return sum;
}

static void account_add(struct jsp_account_thread *sum, const struct jsp_account_thread *t)
{
    for (const struct account_field *f = account_thread; f->key; f++) {
        uint64_t all, one;
        if (f->width || f->offset == offsetof(struct jsp_account_thread, id))
            continue;
        memcpy(&all, (const char *)sum + f->offset, sizeof all);
        memcpy(&one, (const char *)t + f->offset, sizeof one);
        all += one;
        memcpy((char *)sum + f->offset, &all, sizeof all);
    }
}

void jsp_account_verdict(const struct jsp_account *a, struct jsp_account_verdict *out)
{
    const struct jsp_account_total *total = &a->total;
    bool is_final = strcmp(total->state, "final") == 0;
    bool counts = total->present && strcmp(total->state, "open") != 0 &&
                  (is_final || total->time >= a->session.time);
    *out = (struct jsp_account_verdict){
        .state = counts ? total->state : a->session.state,
        .write_error = counts ? total->write_error : a->session.write_error };
    for (uint32_t i = 0; i < a->n_threads; i++)
        account_add(&out->sum, &a->threads[i]);
    if (counts) {
        out->is_total = true;
        out->sum = total->sum;
    }
    out->is_whole = a->is_ended && strcmp(a->session.state, "final") == 0 &&
                    (!total->present || is_final);
}
