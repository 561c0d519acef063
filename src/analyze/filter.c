/* analyze/filter.c - a filter of stacks, by the functions on them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "jsprof.h"
#include "work.h"

/* Flags of a function. */
enum {
    FILTER_ONLY = 1,
    FILTER_UNDER = 2,
    FILTER_CATEGORY = 4,
    FILTER_SYSTEM = 8,
    FILTER_JIT_CATEGORY = 16, /* its compiled frames are of the category */
    FILTER_WITHOUT = 32,
    FILTER_HIDE = 64,
    FILTER_FOCUS = 128,
};

enum { FILTER_PATTERNS = 4 };

struct filter_pattern {
    const char *name, *text; /* of the option; text NULL: it is not given */
    regex_t compiled;
    uint8_t flag; /* of a function whose name matches */
};

struct jsp_filter {
    struct jsp_filter_options options;
    struct filter_pattern patterns[FILTER_PATTERNS];
    int n_patterns; /* that are compiled */
    uint32_t category;
    uint8_t *known; /* by function */
    uint32_t *last; /* by function; zeros between two stacks; for is_collapsed */
    uint32_t n_known, room, last_room;
};

static int filter_compile(struct jsp_filter *f, char why[JSP_FILTER_WHY])
{
    for (; f->n_patterns < FILTER_PATTERNS; f->n_patterns++) {
        struct filter_pattern *p = &f->patterns[f->n_patterns];
        int err = p->text ? regcomp(&p->compiled, p->text, REG_EXTENDED | REG_NOSUB) : 0;
        if (err) {
            size_t n = (size_t)snprintf(why, JSP_FILTER_WHY, "%s: ", p->name);
            regerror(err, &p->compiled, why + n, JSP_FILTER_WHY - n);
            return err == REG_ESPACE ? -ENOMEM : -EINVAL;
        }
    }
    return 0;
}

int jsp_filter_open(struct jsp_filter **out, const struct jsp_filter_options *options,
                    char why[JSP_FILTER_WHY])
{
    const struct filter_pattern patterns[FILTER_PATTERNS] = {
        { .name = "only", .text = options->only, .flag = FILTER_ONLY },
        { .name = "not", .text = options->without, .flag = FILTER_WITHOUT },
        { .name = "hide", .text = options->hide, .flag = FILTER_HIDE },
        { .name = "focus", .text = options->focus, .flag = FILTER_FOCUS },
    };
    struct jsp_filter *f = calloc(1, sizeof *f);
    if (!f)
        return -ENOMEM;
    f->options = *options;
    memcpy(f->patterns, patterns, sizeof patterns);
    int err = 0;
    if (options->category &&
        !jsp_categories_find(options->categories, options->category, &f->category)) {
        snprintf(why, JSP_FILTER_WHY, "category: no category \"%s\"", options->category);
        err = -EINVAL;
    }
    if (!err)
        err = filter_compile(f, why);
    if (err) {
        jsp_filter_close(f);
        return err;
    }
    *out = f;
    return 0;
}

void jsp_filter_close(struct jsp_filter *f)
{
    if (!f)
        return;
    for (int i = 0; i < f->n_patterns; i++)
        if (f->patterns[i].text)
            regfree(&f->patterns[i].compiled);
    free(f->known);
    free(f->last);
    free(f);
}

static bool filter_begins(const char *whole, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(whole, name, n) != 0)
        return false;
    const char *rest = whole + n;
    return n > 0 && (!*rest || *rest == '(' || (*rest == ' ' && rest[1] == '('));
}

bool jsp_filter_names(const struct jsp_function *f, const char *name)
{
    return filter_begins(f->name, name) || filter_begins(f->recorded, name);
}

int jsp_filter_matches(const regex_t *pattern, const char *text)
{
    errno = 0; /* glibc also returns "no match" when it runs out of memory */
    int err = regexec(pattern, text, 0, NULL, 0);
    return err && errno == ENOMEM ? -ENOMEM : !err;
}

/* Return the flags of the patterns that match the function's name, or -ENOMEM. */
static int filter_patterns(const struct jsp_filter *f, const struct jsp_function *of)
{
    int known = 0;
    for (int i = 0; i < FILTER_PATTERNS; i++) {
        const struct filter_pattern *p = &f->patterns[i];
        int is = p->text ? jsp_filter_matches(&p->compiled, of->name) : 0;
        if (is == 0 && p->text && of->recorded != of->name)
            is = jsp_filter_matches(&p->compiled, of->recorded);
        if (is < 0)
            return is;
        known |= is ? p->flag : 0;
    }
    return known;
}

static int filter_reach(struct jsp_filter *f, const struct jsp_profile *p)
{
    const struct jsp_filter_options *o = &f->options;
    for (; f->n_known < p->n_functions; f->n_known++) {
        const struct jsp_function *of = &p->functions[f->n_known];
        if (jsp_grow(&f->known, &f->room, f->n_known, 1) < 0 ||
            (o->is_collapsed &&
             jsp_grow(&f->last, &f->last_room, f->n_known, sizeof *f->last) < 0))
            return -ENOMEM;
        int known = filter_patterns(f, of);
        if (known < 0)
            return known;
        if (o->under && jsp_filter_names(of, o->under))
            known |= FILTER_UNDER;
        if (o->category && jsp_categories_of(o->categories, of, of->kind) == f->category)
            known |= FILTER_CATEGORY;
        if (o->category && of->kind == JSPROF_KIND_VM &&
            jsp_categories_of(o->categories, of, JSPROF_KIND_JIT) == f->category)
            known |= FILTER_JIT_CATEGORY;
        if (o->hide_system && jsp_categories_is_system(of))
            known |= FILTER_SYSTEM;
        f->known[f->n_known] = (uint8_t)known;
        if (o->is_collapsed)
            f->last[f->n_known] = 0;
    }
    return 0;
}

static bool filter_is(const struct jsp_filter *f, uint32_t function, uint8_t what)
{
    return f->known[function] & what;
}

/* Drop the hidden frames. If no frame is left, put one in their place. */
static int filter_hide(struct jsp_filter *f, struct jsp_profile *p,
                       struct jsp_profile_frame *frames, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (!filter_is(f, frames[i].function, FILTER_SYSTEM | FILTER_HIDE))
            frames[kept++] = frames[i];
    if (kept)
        return kept;
    int err = jsp_resolve_fixed(p, f->options.hide ? "[hidden]" : "[system]", frames);
    return err < 0 ? err : 1;
}

/* Return true if a frame has the flag. */
static bool filter_has(const struct jsp_filter *f, const struct jsp_profile_frame *frames,
                       int n, uint8_t flag)
{
    for (int i = 0; i < n; i++)
        if (filter_is(f, frames[i].function, flag))
            return true;
    return false;
}

/* Cut off the callers of the outermost frame with the flag. Return how many frames are left. */
static int filter_cut(const struct jsp_filter *f, const struct jsp_profile_frame *frames, int n,
                      uint8_t flag)
{
    while (n > 0 && !filter_is(f, frames[n - 1].function, flag))
        n--;
    return n;
}

/* The same for the innermost frame of the kind. */
static int filter_top(const struct jsp_profile_frame *frames, int n, uint32_t kind)
{
    for (int i = 0; i < n; i++)
        if (frames[i].kind == kind ||
            (kind == JSPROF_KIND_VM && frames[i].kind == JSPROF_KIND_JIT))
            return i + 1;
    return 0;
}

/* From the root on, go back to a function's first frame when it occurs again. The innermost
 * frame of a function stays, with its line. */
static int filter_collapse(struct jsp_filter *f, struct jsp_profile_frame *frames, int n)
{
    int top = n; /* the result is frames[top..n), as it grows towards the leaf */
    for (int i = n - 1; i >= 0; i--) {
        uint32_t function = frames[i].function, before = f->last[function];
        for (; before && top < n && (uint32_t)(n - top) >= before; top++)
            f->last[frames[top].function] = 0;
        frames[--top] = frames[i];
        f->last[function] = (uint32_t)(n - top);
    }
    for (int i = top; i < n; i++)
        f->last[frames[i].function] = 0;
    memmove(frames, frames + top, (size_t)(n - top) * sizeof *frames);
    return n - top;
}

int jsp_filter_frames(struct jsp_filter *f, struct jsp_profile *p,
                      struct jsp_profile_frame *frames, int n)
{
    const struct jsp_filter_options *o = &f->options;
    int err = filter_reach(f, p);
    if (err == 0 && (o->hide_system || o->hide))
        n = filter_hide(f, p, frames, n);
    if (err == 0 && n > 0)
        err = filter_reach(f, p); /* [system] may be new */
    if (err < 0 || n < 0)
        return err < 0 ? err : n;
    if (o->under)
        n = filter_cut(f, frames, n, FILTER_UNDER);
    if (o->focus)
        n = filter_cut(f, frames, n, FILTER_FOCUS);
    if (o->top_of)
        n = filter_top(frames, n, o->top_of - 1);
    if (n > 0 && o->only && !filter_has(f, frames, n, FILTER_ONLY))
        return 0;
    if (o->without && filter_has(f, frames, n, FILTER_WITHOUT))
        return 0;
    int leaf = 0;
    while (leaf + 1 < n && ((o->skips_natives && frames[leaf].origin == JSP_ORIGIN_NATIVE) ||
                            (o->skips_loops && frames[leaf].origin == JSP_ORIGIN_LOOP)))
        leaf++;
    bool is_jit = n > 0 && frames[leaf].kind == JSPROF_KIND_JIT;
    if (n > 0 && o->category &&
        !filter_is(f, frames[leaf].function, is_jit ? FILTER_JIT_CATEGORY : FILTER_CATEGORY))
        return 0;
    return o->is_collapsed ? filter_collapse(f, frames, n) : n;
}
