/* page/listings.c - the bytecode of a page's functions, and the operation of each sample.
 *
 * SPDX-License-Identifier: MIT
 */
#include "listings.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/addresses.h"
#include "analyze/annotate.h"
#include "capture/wire.h"

enum {
    LISTINGS_MOST = 200,      /* functions; each costs a walk through all listings */
    LISTINGS_ROWS = 50000,    /* of all listings; see docs/html.md */
    LISTINGS_TEXT = 1 << 20,  /* bytes, likewise */
};

/* Where a stack has its innermost function of the VM. */
struct listings_spot {
    bool is_known;
    uint32_t address; /* position among the addresses + 1; 0: there is none */
    uint32_t listing; /* position in the list */
};

struct listings_build {
    struct jsp_page_listings *out;
    struct jsp_profile *p;
    const struct jsp_page_tree *tree;
    const struct jsp_profile_samples *times;
    struct listings_spot *spots; /* by stack */
    uint32_t *of_function;       /* by function of the tree: position in the list + 1 */
    size_t rows, text;           /* of the listings on the page */
    uint32_t at[JSP_PROFILE_DEPTH]; /* the rows of one sample, by address */
};

/* Return the frame of the tree that is the innermost function of the VM, or NULL. */
static const struct jsp_profile_frame *listings_frame(const struct listings_build *b,
                                                      uint32_t stack)
{
    const struct jsp_calltree *calls = &b->tree->calls;
    for (uint32_t n = b->tree->places[0][stack].node; n; n = calls->nodes[n].parent)
        if (jsp_calltree_is_vm(&calls->frames[calls->nodes[n].frame]))
            return &calls->frames[calls->nodes[n].frame];
    return NULL;
}

/* Return the position of a function in the list, where it is added if it is new. */
static int listings_add(struct listings_build *b, struct jsp_page_listing is, uint32_t *out)
{
    struct jsp_page_listings *l = b->out;
    uint32_t *number = &b->of_function[is.function];
    if (!*number) {
        if (jsp_grow(&l->list, &l->room, l->n, sizeof *l->list) < 0)
            return -ENOMEM;
        l->list[l->n++] = is;
        *number = l->n;
    }
    *out = *number - 1;
    return 0;
}

/* Find the address of the stack's innermost function of the VM. Filters may hide functions, so it
 * is not always the first address of any such function. */
static int listings_spot(struct listings_build *b, uint32_t stack)
{
    const struct jsp_profile_frame *wanted = listings_frame(b, stack);
    const struct jsp_stack *k = &b->p->stacks[stack];
    struct jsp_profile_address at = { .key = { 0, b->p->threads[k->thread].pid, k->epoch } };
    struct jsp_profile_frame frame;
    struct jsp_addresses all;
    uint64_t line;
    int err = 0;
    b->spots[stack].is_known = true;
    if (!wanted)
        return 0;
    const char *name = b->tree->functions[wanted->function].name;
    jsp_addresses_of_stack(&all, b->p, k);
    for (uint32_t i = 0; !err && jsp_addresses_next(&all, &at.key.addr, &line); i++) {
        err = jsp_profile_function(b->p, &at, &frame);
        if (err || !jsp_calltree_is_vm(&frame) ||
            strcmp(b->p->functions[frame.function].name, name) != 0)
            continue;
        struct jsp_page_listing is = { .function = wanted->function, .own = frame.function,
                                       .generated = frame.generated };
        b->spots[stack].address = i + 1;
        return listings_add(b, is, &b->spots[stack].listing);
    }
    return err;
}

/* Store the row of each sample. */
static int listings_samples(struct listings_build *b)
{
    const struct jsp_read *capture = b->p->capture;
    struct jsp_bytecode_pcs pcs;
    int err = 0;
    jsp_bytecode_pcs_start(&pcs, capture, NULL);
    for (uint32_t i = 0; !err && i < b->times->n; i++) {
        const struct jsp_profile_sample *s = &b->times->list[i];
        if (!b->tree->places[0][s->stack].node)
            continue;
        struct listings_spot *spot = &b->spots[s->stack];
        uint32_t n = s->ref ? jsp_read_rows(capture, s->ref, b->at, JSP_PROFILE_DEPTH)
                            : jsp_bytecode_pcs_get(&pcs, s->ordinal, b->at, JSP_PROFILE_DEPTH);
        if (n && !spot->is_known)
            err = listings_spot(b, s->stack);
        if (err || !spot->address || spot->address > n || !b->at[spot->address - 1])
            continue;
        b->out->rows[i] = b->at[spot->address - 1];
        b->out->list[spot->listing].samples++;
    }
    return err;
}

struct listings_order {
    uint32_t samples, at;
};

static int listings_compare(const void *left, const void *right)
{
    const struct listings_order *a = left, *b = right;
    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

/* Read one listing, if it has room. Return 0 or -ENOMEM. */
static int listings_read(struct listings_build *b, struct jsp_page_listing *is)
{
    size_t text = 0;
    int err = jsp_bytecode_read(&is->code, b->p->capture, b->p->functions[is->own].recorded, NULL);
    if (err == 0)
        err = jsp_annotate_originals(b->p, is->generated, &is->code);
    for (uint32_t i = 0; i < is->code.n; i++)
        text += is->code.rows[i].text.len;
    if (err || b->rows + is->code.n > LISTINGS_ROWS || b->text + text > LISTINGS_TEXT) {
        jsp_bytecode_free(&is->code);
        return err;
    }
    b->rows += is->code.n;
    b->text += text;
    return 0;
}

static int listings_choose(struct listings_build *b)
{
    struct jsp_page_listings *l = b->out;
    struct listings_order *order = calloc((size_t)l->n + 1, sizeof *order);
    int err = order ? 0 : -ENOMEM;
    for (uint32_t i = 0; !err && i < l->n; i++)
        order[i] = (struct listings_order){ l->list[i].samples, i };
    if (!err)
        qsort(order, l->n, sizeof *order, listings_compare);
    for (uint32_t i = 0; !err && i < l->n && i < LISTINGS_MOST && order[i].samples; i++)
        err = listings_read(b, &l->list[order[i].at]);
    free(order);
    return err;
}

/* Drop the rows that are on no listing of the page. Return whether any is left. */
static bool listings_check(struct listings_build *b)
{
    bool has_any = false;
    for (uint32_t i = 0; i < b->times->n; i++) {
        if (!b->out->rows[i])
            continue;
        uint32_t stack = b->times->list[i].stack;
        const struct jsp_bytecode *code = &b->out->list[b->spots[stack].listing].code;
        int32_t pid = b->p->threads[b->p->stacks[stack].thread].pid;
        if (b->out->rows[i] > code->n || pid != code->pid)
            b->out->rows[i] = 0;
        has_any |= b->out->rows[i] != 0;
    }
    return has_any;
}

/* Return whether samples of this page can have operations. Allocations have none. */
static bool listings_are_there(const struct jsp_html *h)
{
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    struct jsp_read_chunk chunk;
    if (!h->has_sources || h->n != 1 || h->captures[0].profile->unit > JSP_VALUE_COUNT)
        return false;
    jsp_read_start(&c, h->captures[0].profile->capture, NULL);
    return jsp_read_file(&c, JSP_WIRE_FILE_LISTINGS, &f, &chunk);
}

int jsp_page_listings_build(struct jsp_page_listings *l, const struct jsp_html *h,
                            const struct jsp_page_tree *t)
{
    memset(l, 0, sizeof *l);
    if (!listings_are_there(h))
        return 0;
    const struct jsp_page_capture *c = &h->captures[0];
    struct listings_build *b = calloc(1, sizeof *b);
    if (!b)
        return -ENOMEM;
    b->out = l;
    b->p = c->profile;
    b->tree = t;
    b->times = c->times;
    b->spots = calloc((size_t)b->p->n_stacks + 1, sizeof *b->spots);
    b->of_function = calloc((size_t)t->n_functions + 1, sizeof *b->of_function);
    l->rows = calloc((size_t)b->times->n + 1, sizeof *l->rows);
    int err = b->spots && b->of_function && l->rows ? listings_samples(b) : -ENOMEM;
    if (!err)
        err = listings_choose(b);
    if (!err && !listings_check(b)) {
        free(l->rows);
        l->rows = NULL;
    }
    free(b->spots);
    free(b->of_function);
    free(b);
    return err;
}

void jsp_page_listings_free(struct jsp_page_listings *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        jsp_bytecode_free(&l->list[i].code);
    free(l->list);
    free(l->rows);
    memset(l, 0, sizeof *l);
}

void jsp_page_listings_put(const struct jsp_page_listings *l, struct jsp_json *j)
{
    if (!l->rows)
        return;
    jsp_json_key_open(j, "listings", '[');
    for (uint32_t i = 0; i < l->n; i++) {
        const struct jsp_bytecode *code = &l->list[i].code;
        if (!code->n)
            continue;
        jsp_json_open(j, '[');
        jsp_json_u64(j, l->list[i].function);
        for (uint32_t r = 0; r < code->n; r++) {
            jsp_json_u64(j, code->rows[r].pc);
            jsp_json_u64(j, code->rows[r].line);
            jsp_json_bytes(j, code->rows[r].text.at, code->rows[r].text.len);
        }
        jsp_json_close(j, ']');
    }
    jsp_json_close(j, ']');
}
