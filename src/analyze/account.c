/* analyze/account.c - the account of a recording: what it kept and lost (jsprof/losses).
 *
 * SPDX-License-Identifier: MIT
 */
#include "account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/losses.h"

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

int jsp_account_read(struct jsp_account *a, struct jsp_account_text text)
{
    const uint8_t *at = (const uint8_t *)text.at, *end = at + text.len;
    struct jsp_embedded_account line;
    int bad = 0;
    while (at < end) {
        if (*at == '\n') { /* reserved space that is not used */
            at++;
        } else if (!jsp_embedded_account_get(&at, end, &line)) {
            bad++;
        } else if (line.tag == JSP_ACCOUNT_SESSION) {
            a->session = line.session;
        } else if (line.tag == JSP_ACCOUNT_TOTAL) {
            a->total = line.total;
        } else {
            struct jsp_account_thread *slot = account_slot(a, line.thread.id);
            if (!slot)
                return -ENOMEM;
            *slot = line.thread;
            slot->pid = text.pid;
        }
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
        t->older = older;
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
    return jsp_losses_sum(t->lost);
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
        jsp_embedded_account_add(&out->sum, &a->threads[i]);
    if (counts) {
        out->is_total = true;
        out->sum = total->sum;
    }
    out->is_whole = a->is_ended && strcmp(a->session.state, "final") == 0 &&
                    (!total->present || is_final);
}
