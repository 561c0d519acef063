/* resumed.c - the coroutine that a C function resumed, by the C stack; see puc.h.
 *
 * An event loop in C keeps its coroutines in memory that only it knows. But to resume one
 * it calls lua_resume (or lua_pcall on it), so a return address into that function is on
 * the C stack, and the coroutine is in a saved register near it. One fact shows which of
 * the words near it is the coroutine: the outermost `errorJmp` of a running coroutine is
 * in the frame that this very call made. It also gives the order of several, and the
 * start of the search: a coroutine that C resumed in the middle of another one lies
 * further in than the innermost `errorJmp` of that one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "puc/puc.h"

enum {
    RESUMED_STACK = 65536, /* bytes of the C stack to search */
    RESUMED_CHUNK = 512,
    RESUMED_NEAR = 1024,   /* from the return address to the other data of its call */
    RESUMED_JUMPS = 256,
    RESUMED_NO_POINTER = 65536,
};

static const uintptr_t resumed_mask = 0xFFFFFFFFFFFF; /* above it: a signature of the address */

static bool resumed_is_in(const struct jsp_lua_bounds *b, uintptr_t word)
{
    uintptr_t at = word & resumed_mask;
    return at > b->start && at <= b->end;
}

static bool resumed_is_call(const struct jsp_lua_walker *w, uintptr_t word)
{
    return resumed_is_in(&w->resume, word) || resumed_is_in(&w->pcall, word);
}

/* Collect all return addresses of such calls up to the end of the searched part. If there
 * are too many, keep the outermost. */
static void resumed_collect(struct jsp_puc_chain *k)
{
    uint8_t words[RESUMED_CHUNK];
    uintptr_t at = k->sp & ~(uintptr_t)7, end = at + RESUMED_STACK;
    const struct jsp_lua_state *s = &k->w->states[k->n - 1];
    if (s->error_jmp > at && s->error_jmp < end)
        end = s->error_jmp;
    k->n_calls = 0;
    while (at < end) {
        size_t n = RESUMED_CHUNK - (at & (RESUMED_CHUNK - 1));
        if (!jsp_lua_read(&k->w->read, at, words, n))
            return;
        for (size_t i = 0; i < n; i += 8)
            if (resumed_is_call(k->w, jsp_lua_pointer(words, i)))
                k->calls[k->n_calls++ & (JSP_PUC_CALLS - 1)] = at + i;
        at += n;
    }
}

static bool resumed_is_near(uintptr_t a, uintptr_t b)
{
    return (a > b ? a - b : b - a) < RESUMED_NEAR;
}

/* Return whether the call whose return address lies at `call` made the first of the
 * coroutine's errorJmps. */
static bool resumed_is_of(const struct jsp_puc_chain *k, const struct jsp_lua_state *s,
                          uintptr_t call)
{
    uintptr_t jump = s->error_jmp, before;
    for (uint32_t i = 0; jump && i < RESUMED_JUMPS; i++) {
        if (!jsp_lua_read(&k->w->read, jump, &before, sizeof before))
            return false;
        if (!before)
            return jump > k->sp && resumed_is_near(jump, call);
        if (before <= jump)
            return false;
        jump = before;
    }
    return false;
}

/* If this word is a coroutine that the call at `call` runs, add it to the chain. */
static bool resumed_take(struct jsp_puc_chain *k, uintptr_t call, uintptr_t at)
{
    struct jsp_lua_state *next = &k->w->states[k->n];
    uintptr_t word;
    if (!jsp_lua_read(&k->w->read, at, &word, sizeof word) || word & 7 ||
        word < RESUMED_NO_POINTER || word & ~resumed_mask || word - k->sp < RESUMED_STACK ||
        !jsp_puc_state(&k->w->read, word, next) || !jsp_puc_is_resumed(k, next) ||
        !resumed_is_of(k, next, call))
        return false;
    k->n++;
    return true;
}

/* Search the words nearest to the return address first. */
static bool resumed_near(struct jsp_puc_chain *k, uintptr_t call)
{
    for (uintptr_t away = 8; away < RESUMED_NEAR; away += 8)
        if ((call - away >= k->sp && resumed_take(k, call, call - away)) ||
            resumed_take(k, call, call + away))
            return true;
    return false;
}

bool jsp_puc_resumed(struct jsp_puc_chain *k)
{
    const struct jsp_lua_state *s = &k->w->states[k->n - 1];
    uintptr_t limit = s->error_jmp > k->sp ? s->error_jmp : UINTPTR_MAX;
    if (k->n_calls == UINT32_MAX)
        resumed_collect(k);
    uint32_t n = k->n_calls < JSP_PUC_CALLS ? k->n_calls : JSP_PUC_CALLS;
    for (uint32_t i = 1; i <= n; i++) {
        uintptr_t call = k->calls[(k->n_calls - i) & (JSP_PUC_CALLS - 1)];
        if (call < limit && resumed_near(k, call))
            return true;
    }
    return false;
}
