/* sigsafe/live.c - see live.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "live.h"

enum {
    LIVE_CHUNK = 64,  /* entries of the header that are copied at once */
    LIVE_HEAD = 8,    /* size of a record's length and CIE pointer */
    LIVE_SHORT = 96,  /* bytes that are copied at once; most records are shorter */
};

struct live_entry {
    int32_t code, record; /* from the header */
};

/* One lookup. */
struct live_look {
    struct jsp_live *live;
    struct jsp_memread *mem;
    uintptr_t header, pc;
    uint32_t n;                 /* number of entries in the header */
    bool is_cut;                /* the FDE is longer than what was copied */
    bool is_past;               /* the run has met a state that begins after pc */
    struct jsp_cfa_state state; /* the last state before that */
};

void jsp_live_init(struct jsp_live *live, jsp_live_find_sigsafe_fn find_sigsafe)
{
    live->find_sigsafe = find_sigsafe;
    live->calls = 0;
    live->object.rules = live->rules;
    live->object.exprs = live->exprs;
    jsp_live_forget(live);
}

void jsp_live_forget(struct jsp_live *live)
{
    live->object.n_rules = live->object.n_exprs = 0;
}

static bool live_find(const struct jsp_live *live, uintptr_t pc, struct jsp_live_found *found)
{
    return live->find_sigsafe && live->find_sigsafe((void *)pc, found) == 0;
}

bool jsp_live_is_code(const struct jsp_live *live, uintptr_t pc)
{
    struct jsp_live_found found;
    return live_find(live, pc, &found);
}

/* -- Copying the record ------------------------------------------------------- */

static bool live_entries(struct live_look *look, uint32_t first, uint32_t n,
                         struct live_entry *to)
{
    return jsp_memread_bytes(look->mem, look->header + 12 + (uintptr_t)first * sizeof *to, to,
                             n * sizeof *to);
}

static bool live_is_after(const struct live_look *look, const struct live_entry *entry)
{
    return look->header + (uintptr_t)(intptr_t)entry->code > look->pc;
}

/* Return the address of the FDE whose code is the last to start at or before pc, or 0 if
 * it cannot be found. */
static uintptr_t live_search(struct live_look *look)
{
    struct live_entry chunk[LIVE_CHUNK];
    uint32_t low = 0, high = look->n, n = 0;
    while (high - low > LIVE_CHUNK) { /* at most 32 turns */
        uint32_t mid = low + (high - low) / 2;
        if (!live_entries(look, mid, 1, chunk))
            return 0;
        if (live_is_after(look, chunk))
            high = mid;
        else
            low = mid;
    }
    if (!live_entries(look, low, high - low, chunk))
        return 0;
    while (n < high - low && !live_is_after(look, &chunk[n]))
        n++;
    return n ? look->header + (uintptr_t)(intptr_t)chunk[n - 1].record : 0;
}

static bool live_header(struct live_look *look)
{
    struct jsp_live_header h;
    if (!jsp_memread_bytes(look->mem, look->header, &h, sizeof h) || !jsp_live_is_sorted(&h))
        return false;
    look->n = h.n;
    return true;
}

/* Copy the first bytes of a record, and read its head. Return their number, or 0 if it is no
 * record. Memory may end directly after the record. */
static uint32_t live_begin(struct live_look *look, uintptr_t at, uint8_t *to, uint32_t head[2])
{
    uint32_t n = LIVE_SHORT;
    if (!jsp_memread_bytes(look->mem, at, to, n))
        n = jsp_memread_bytes(look->mem, at, to, LIVE_HEAD) ? LIVE_HEAD : 0;
    if (!n)
        return 0;
    memcpy(head, to, LIVE_HEAD);
    return head[0] < 4 || head[0] == UINT32_MAX ? 0 : n;
}

/* Copy the record at `at`, with its length. Return the number of bytes copied, or 0. */
static uint32_t live_record(struct live_look *look, uintptr_t at, uint8_t *to, uint32_t room,
                            uint32_t head[2])
{
    uint32_t have = live_begin(look, at, to, head);
    if (!have)
        return 0;
    uint32_t n = head[0] > room - 4 ? room : head[0] + 4;
    return n <= have || jsp_memread_bytes(look->mem, at, to, n) ? n : 0;
}

static void live_put(uint8_t *to, uint32_t value)
{
    memcpy(to, &value, sizeof value);
}

/* Copy the FDE's CIE and the FDE into a section of their own, and correct the FDE's
 * pointer to the CIE. */
static bool live_copy(struct live_look *look, uintptr_t at, struct jsp_ehframe_section *to)
{
    uint8_t *cie = look->live->records, *own = cie + JSP_LIVE_CIE;
    uint32_t head[2], common[2];
    uint32_t n_own = live_record(look, at, own, JSP_LIVE_FDE, head);
    if (n_own < LIVE_HEAD || !head[1])
        return false;
    uint32_t n = live_record(look, at + 4 - head[1], cie, JSP_LIVE_CIE, common);
    if (!n || n != common[0] + 4)
        return false;
    memmove(own - n, cie, n); /* to directly before the FDE */
    look->is_cut = n_own != head[0] + 4;
    live_put(own, n_own - 4);
    live_put(own + 4, n + 4);
    *to = (struct jsp_ehframe_section){ own - n, n + n_own, at - n };
    return true;
}

/* -- Running the record's program --------------------------------------------- */

/* Return false to end the run when the state that holds at pc is known. */
static bool live_row(void *arg, const struct jsp_ehframe_fde *fde, uint64_t at,
                     const struct jsp_cfa_state *state)
{
    struct live_look *look = arg;
    (void)fde;
    look->is_past = at > look->pc;
    if (!look->is_past)
        look->state = *state;
    return !look->is_past;
}

static bool live_keep_expr(struct live_look *look, const uint8_t *section,
                           struct jsp_unwind_cell *cell)
{
    struct jsp_unwind_object *o = &look->live->object;
    if (cell->is != JSP_CELL_AT_EXPR && cell->is != JSP_CELL_IS_EXPR)
        return true;
    if (cell->n > JSP_LIVE_EXPRS - o->n_exprs)
        return false;
    memcpy(look->live->exprs + o->n_exprs, section + cell->value, cell->n);
    cell->value = (int32_t)o->n_exprs;
    o->n_exprs += cell->n;
    return true;
}

static uint32_t live_rule(struct live_look *look, const uint8_t *section)
{
    struct jsp_live *live = look->live;
    struct jsp_unwind_rule rule;
    if (!jsp_cfa_rule(&live->cie, &look->state, &rule))
        return JSP_HOW_END;
    struct jsp_unwind_cell *cells[] = { &rule.cfa, &rule.ra, &rule.sp, &rule.fp, &rule.extra };
    for (uint32_t i = 0; i < sizeof cells / sizeof *cells; i++)
        if (!live_keep_expr(look, section, cells[i]))
            return JSP_HOW_NONE;
    live->rules[live->object.n_rules] = rule;
    return JSP_HOW_RULE | live->object.n_rules++ << JSP_HOW_KIND_BITS;
}

static uint32_t live_run(struct live_look *look, const struct jsp_ehframe_section *section)
{
    struct jsp_live *live = look->live;
    struct jsp_ehframe_fde fde;
    uint32_t how;
    if (!jsp_ehframe_pair(section, &live->cie, &fde) || look->pc - fde.start >= fde.length)
        return JSP_HOW_NONE;
    live->cfa.section = section;
    live->cfa.initial_of = 0;
    bool whole = jsp_cfa_run(&live->cfa, &fde, live_row, look);
    if (!look->is_past && (!whole || look->is_cut))
        return JSP_HOW_NONE;
    if (!live->cie.is_signal && jsp_cfa_plain(&look->state, &how))
        return how;
    return live_rule(look, section->bytes);
}

static uint32_t live_answer(struct live_look *look)
{
    struct jsp_ehframe_section section;
    uintptr_t at = live_header(look) ? live_search(look) : 0;
    return at && live_copy(look, at, &section) ? live_run(look, &section) : JSP_HOW_NONE;
}

uint32_t jsp_live_read(struct jsp_live *live, struct jsp_memread *mem, uintptr_t header,
                       uintptr_t pc)
{
    struct live_look look = { .live = live, .mem = mem, .pc = pc, .header = header };
    uint32_t others = mem->calls;
    mem->calls = live->calls;
    mem->may_vanish = true;
    uint32_t how = live_answer(&look);
    live->calls = mem->calls;
    mem->calls = others;
    mem->may_vanish = false;
    return live->calls ? how : JSP_HOW_NONE;
}

bool jsp_live_how(struct jsp_live *live, struct jsp_memread *mem, uintptr_t pc, uint32_t *how)
{
    struct jsp_live_found found;
    if (!live->calls || !jsp_live_has_room(live) || !live_find(live, pc, &found))
        return false;
    *how = JSP_HOW_NONE;
    if (found.header)
        *how = jsp_live_read(live, mem, (uintptr_t)found.header, pc);
    return live->calls > 0;
}
