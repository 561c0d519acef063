/* sigsafe/live.c - see live.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "live.h"

enum {
    LIVE_CHUNK = 64,  /* entries of the header that are copied at once */
    LIVE_GUESSES = 6, /* chunks whose place is guessed, before the search halves */
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
    const struct jsp_live_object *object;
    uintptr_t pc;
    bool is_cut;                /* the FDE is longer than what was copied */
    bool is_past;               /* the run has met a state that begins after pc */
    struct jsp_cfa_state state; /* the last state before that */
};

void jsp_live_init(struct jsp_live *live, jsp_live_find_sigsafe_fn find_sigsafe)
{
    live->find_sigsafe = find_sigsafe;
    live->calls = live->granted = 0;
    live->is_limited = false;
    live->object.rules = live->rules;
    live->object.exprs = live->exprs;
    jsp_live_forget(live);
}

void jsp_live_begin(struct jsp_live *live)
{
    for (uint32_t i = 0; i < JSP_LIVE_COMMON; i++)
        live->common[i].at = 0;
}

void jsp_live_forget(struct jsp_live *live)
{
    live->object.n_rules = live->object.n_exprs = 0;
    jsp_live_begin(live);
}

void jsp_live_limit(struct jsp_live *live)
{
    live->is_limited = true;
    live->left = JSP_LIVE_CALLS_UNREAD;
    live->calls = live->granted = 0;
}

void jsp_live_unlimit(struct jsp_live *live)
{
    live->is_limited = false;
}

uint32_t jsp_live_left(const struct jsp_live *live)
{
    return live->is_limited ? live->left - (live->granted - live->calls) : UINT32_MAX;
}

void jsp_live_grant(struct jsp_live *live, uint32_t calls)
{
    uint32_t left = jsp_live_left(live);
    live->left = left;
    live->calls = live->granted = calls < left ? calls : left;
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
    uintptr_t at = look->object->header + sizeof(struct jsp_live_header);
    return jsp_memread_bytes(look->mem, at + (uintptr_t)first * sizeof *to, to, n * sizeof *to);
}

static uintptr_t live_code(const struct live_look *look, const struct live_entry *entry)
{
    return look->object->header + (uintptr_t)(intptr_t)entry->code;
}

static bool live_is_after(const struct live_look *look, const struct live_entry *entry)
{
    return live_code(look, entry) > look->pc;
}

/* Return the address of the FDE of the last of n entries that starts at or before pc, or 0. */
static uintptr_t live_among(const struct live_look *look, const struct live_entry *entries,
                            uint32_t n)
{
    uint32_t i = 0;
    while (i < n && !live_is_after(look, &entries[i]))
        i++;
    return i ? look->object->header + (uintptr_t)(intptr_t)entries[i - 1].record : 0;
}

/* The entries that may be the last to start at or before pc; the code of the first begins
 * near `from`, and that of the one after the last near `to`. */
struct live_range {
    uint32_t low, high;
    uintptr_t from, to;
};

/* Return the first entry of the chunk to read next: around where pc would be if all
 * functions had one size; after some turns, around the middle. */
static uint32_t live_guess(const struct live_range *r, uintptr_t pc, uint32_t turn)
{
    uint32_t n = r->high - r->low, at = n / 2;
    if (turn < LIVE_GUESSES && pc >= r->from && pc < r->to && r->to - r->from < UINT32_MAX)
        at = (uint32_t)((uint64_t)(pc - r->from) * n / (r->to - r->from));
    at = at > LIVE_CHUNK / 2 ? at - LIVE_CHUNK / 2 : 0;
    return r->low + (at < n - LIVE_CHUNK ? at : n - LIVE_CHUNK);
}

/* Return the address of the FDE whose code is the last to start at or before pc, or 0 if
 * it cannot be found. */
static uintptr_t live_search(struct live_look *look)
{
    struct live_entry chunk[LIVE_CHUNK];
    struct live_range r = { 0, look->object->n, look->object->start, look->object->end };
    uint32_t last = LIVE_CHUNK - 1;
    for (uint32_t turn = 0; r.high - r.low > LIVE_CHUNK; turn++) { /* at most LIVE_GUESSES + 32 */
        uint32_t first = live_guess(&r, look->pc, turn);
        if (!live_entries(look, first, LIVE_CHUNK, chunk))
            return 0;
        if (live_is_after(look, &chunk[0])) {
            r.high = first;
            r.to = live_code(look, &chunk[0]);
        } else if (!live_is_after(look, &chunk[last])) {
            r.low = first + last;
            r.from = live_code(look, &chunk[last]);
        } else {
            return live_among(look, chunk, LIVE_CHUNK);
        }
    }
    if (!live_entries(look, r.low, r.high - r.low, chunk))
        return 0;
    return live_among(look, chunk, r.high - r.low);
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

/* Return the CIE at `at`, or NULL. Copy it unless it is one of those that were copied last. */
static const struct jsp_live_common *live_common(struct live_look *look, uintptr_t at)
{
    struct jsp_live *live = look->live;
    uint32_t head[2];
    for (uint32_t i = 0; i < JSP_LIVE_COMMON; i++)
        if (at && live->common[i].at == at)
            return &live->common[i];
    struct jsp_live_common *to = &live->common[live->n_copied++ % JSP_LIVE_COMMON];
    to->at = 0;
    to->n = live_record(look, at, to->bytes, JSP_LIVE_CIE, head);
    if (!to->n || to->n != head[0] + 4)
        return NULL;
    to->at = at;
    return to;
}

static void live_put(uint8_t *to, uint32_t value)
{
    memcpy(to, &value, sizeof value);
}

/* Copy the FDE's CIE and the FDE into a section of their own, and correct the FDE's
 * pointer to the CIE. */
static bool live_copy(struct live_look *look, uintptr_t at, struct jsp_ehframe_section *to)
{
    struct jsp_live *live = look->live;
    uint8_t *own = live->records + JSP_LIVE_CIE;
    uint32_t head[2];
    uint32_t n_own = live_record(look, at, own, JSP_LIVE_FDE, head);
    const struct jsp_live_common *common =
        n_own < LIVE_HEAD || !head[1] ? NULL : live_common(look, at + 4 - head[1]);
    if (!common)
        return false;
    uint32_t n = common->n;
    memcpy(own - n, common->bytes, n); /* directly before the FDE */
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
    uintptr_t at = live_search(look);
    return at && live_copy(look, at, &section) ? live_run(look, &section) : JSP_HOW_NONE;
}

/* Let the reader use this walk's calls for objects without rows. Return its own calls. */
static uint32_t live_begin_reading(struct jsp_live *live, struct jsp_memread *mem)
{
    uint32_t others = mem->calls;
    mem->calls = live->calls;
    mem->may_vanish = true;
    return others;
}

static void live_end_reading(struct jsp_live *live, struct jsp_memread *mem, uint32_t others)
{
    live->calls = mem->calls;
    mem->calls = others;
    mem->may_vanish = false;
}

uint32_t jsp_live_read(struct jsp_live *live, struct jsp_memread *mem,
                       const struct jsp_live_object *object, uintptr_t pc)
{
    struct live_look look = { .live = live, .mem = mem, .object = object, .pc = pc };
    uint32_t others = live_begin_reading(live, mem);
    uint32_t how = live_answer(&look);
    live_end_reading(live, mem, others);
    return live->calls ? how : JSP_HOW_NONE;
}

bool jsp_live_how(struct jsp_live *live, struct jsp_memread *mem, uintptr_t pc, uint32_t *how)
{
    struct jsp_live_found found;
    if (!live->calls || !jsp_live_has_room(live) || !live_find(live, pc, &found))
        return false;
    struct jsp_live_object object = { (uintptr_t)found.header, (uintptr_t)found.start,
                                      (uintptr_t)found.end, 0 };
    struct jsp_live_header header;
    uint32_t others = live_begin_reading(live, mem);
    if (found.header && jsp_memread_bytes(mem, object.header, &header, sizeof header) &&
        jsp_live_is_sorted(&header))
        object.n = header.n;
    live_end_reading(live, mem, others);
    *how = object.n ? jsp_live_read(live, mem, &object, pc) : JSP_HOW_NONE;
    return live->calls > 0;
}
