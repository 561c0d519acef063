/* analyze/relayed.c - see relayed.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "relayed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/grow.h"
#include "capture/varint.h"
#include "capture/wire.h"

void jsp_relayed_free(struct jsp_relayed *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        free(r->at[i].addrs);
    free(r->at);
}

static int relayed_name(struct jsp_lookup *names, const uint8_t **at, const uint8_t *end,
                        struct jsp_lookup_key key)
{
    uint64_t id, n;
    if (!jsp_read_varint(at, end, &id) || id > UINT32_MAX || !jsp_read_varint(at, end, &n) ||
        n > (uint64_t)(end - *at))
        return -EBADMSG;
    struct jsp_read_text name = { (const char *)*at, (uint32_t)n };
    *at += n;
    key.addr = JSP_WIRE_JIT_TAG | id;
    /* the recording may have the same definition as a JITMAP, never another one */
    bool is_known = jsp_lookup_renames(names, key.addr, key.pid, name);
    return is_known ? -EBADMSG : jsp_lookup_define(names, key, name);
}

static int relayed_stack(struct jsp_relayed *r, struct jsp_relayed_stack *s, const uint8_t **at,
                         int64_t *time)
{
    uint64_t tid, folded, n, number;
    if (!jsp_read_varint(at, s->end, &tid) || !jsp_read_varint(at, s->end, &folded) ||
        !jsp_read_varint(at, s->end, &n) || n > JSP_WIRE_MAX_ADDRS)
        return -EBADMSG;
    s->tid = (int32_t)tid;
    s->time = *time = (int64_t)((uint64_t)*time + jsp_varint_unfold(folded));
    s->n = (uint32_t)n;
    s->numbers = *at;
    for (uint64_t i = 0; i < n; i++)
        if (!jsp_read_varint(at, s->end, &number) || number > UINT32_MAX)
            return -EBADMSG;
    if (jsp_grow(&r->at, &r->room, r->n, sizeof *r->at) < 0)
        return -ENOMEM;
    r->at[r->n++] = *s;
    return 0;
}

int jsp_relayed_add(struct jsp_relayed *r, struct jsp_lookup *names,
                    const struct jsp_read_chunk *chunk, struct jsp_lookup_key key)
{
    const uint8_t *at = chunk->data, *end = at + chunk->len;
    int64_t time = 0;
    int err = 0;
    while (err == 0 && at < end) {
        struct jsp_relayed_stack s = { .pid = key.pid, .end = end };
        uint8_t tag = *at++;
        if (tag == JSP_WIRE_RELAYED_NAME)
            err = relayed_name(names, &at, end, key);
        else
            err = tag == JSP_WIRE_RELAYED_STACK ? relayed_stack(r, &s, &at, &time) : -EBADMSG;
    }
    return err;
}

static int relayed_compare(const void *a, const void *b)
{
    const struct jsp_relayed_stack *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

static bool relayed_before(const void *item, const void *key)
{
    return relayed_compare(item, key) < 0;
}

void jsp_relayed_seal(struct jsp_relayed *r)
{
    if (r->n)
        qsort(r->at, r->n, sizeof *r->at, relayed_compare);
}

/* Return false if these are not the numbers of this sample, or have no name. */
static bool relayed_fill(const struct jsp_relayed_stack *s, const struct jsp_lookup *names,
                         const uint8_t *from, uint8_t *to)
{
    const uint8_t *at = s->numbers;
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t addr, number;
        memcpy(&addr, from + i * sizeof addr, sizeof addr);
        bool is_function = (addr & JSP_WIRE_JIT_MASK) == JSP_WIRE_JIT_TAG;
        if (!jsp_read_varint(&at, s->end, &number) || is_function != (number != 0))
            return false;
        struct jsp_lookup_key key = { JSP_WIRE_JIT_TAG | number, s->pid, UINT32_MAX };
        if (is_function && jsp_lookup_jit(names, key))
            addr = key.addr;
        memcpy(to + i * sizeof addr, &addr, sizeof addr);
    }
    return true;
}

void jsp_relayed_restore(struct jsp_relayed *r, const struct jsp_lookup *names,
                         const struct jsp_read_frame *f, struct jsp_read_sample *sample)
{
    struct jsp_relayed_stack key = { .time = f->time, .pid = f->pid, .tid = sample->tid };
    size_t at = jsp_bisect(r->at, r->n, sizeof *r->at, relayed_before, &key);
    struct jsp_relayed_stack *s = at < r->n ? &r->at[at] : NULL;
    if (!s || relayed_compare(s, &key) != 0 || s->n != sample->n_addrs || !sample->addrs)
        return;
    if (!s->addrs) {
        uint8_t *addrs = malloc(sizeof(uint64_t) * s->n);
        if (!addrs || !relayed_fill(s, names, sample->addrs, addrs)) {
            free(addrs); /* Sysprof's numbers have names, and the kind `vm` */
            s->n = 0;
            return;
        }
        s->addrs = addrs;
    }
    sample->addrs = s->addrs;
}
