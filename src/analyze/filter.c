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
};

struct jsp_filter {
    struct jsp_filter_options options;
    regex_t only;
    uint32_t category;
    uint8_t *known; /* by function */
    uint32_t n_known, room;
};

int jsp_filter_open(struct jsp_filter **out, const struct jsp_filter_options *options,
                    char why[JSP_FILTER_WHY])
{
    struct jsp_filter *f = calloc(1, sizeof *f);
    if (!f)
        return -ENOMEM;
    f->options = *options;
    if (options->category &&
        !jsp_categories_find(options->categories, options->category, &f->category)) {
        snprintf(why, JSP_FILTER_WHY, "no category \"%s\"", options->category);
        free(f);
        return -EINVAL;
    }
    int err = options->only
                  ? regcomp(&f->only, options->only, REG_EXTENDED | REG_NOSUB)
                  : 0;
    if (err) {
        regerror(err, &f->only, why, JSP_FILTER_WHY);
        free(f);
        return err == REG_ESPACE ? -ENOMEM : -EINVAL;
    }
    *out = f;
    return 0;
}

void jsp_filter_close(struct jsp_filter *f)
{
    if (!f)
        return;
    if (f->options.only)
        regfree(&f->only);
    free(f->known);
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

static int filter_reach(struct jsp_filter *f, const struct jsp_profile *p)
{
    const struct jsp_filter_options *o = &f->options;
    for (; f->n_known < p->n_functions; f->n_known++) {
        const struct jsp_function *of = &p->functions[f->n_known];
        if (jsp_grow(&f->known, &f->room, f->n_known, 1) < 0)
            return -ENOMEM;
        int is = o->only ? jsp_filter_matches(&f->only, of->name) : 0;
        if (is == 0 && o->only && of->recorded != of->name)
            is = jsp_filter_matches(&f->only, of->recorded);
        if (is < 0)
            return is;
        uint8_t known = is ? FILTER_ONLY : 0;
        if (o->under && jsp_filter_names(of, o->under))
            known |= FILTER_UNDER;
        if (o->category && jsp_categories_of(o->categories, of, of->kind) == f->category)
            known |= FILTER_CATEGORY;
        if (o->category && of->kind == JSPROF_KIND_VM &&
            jsp_categories_of(o->categories, of, JSPROF_KIND_JIT) == f->category)
            known |= FILTER_JIT_CATEGORY;
        if (o->hide_system && jsp_categories_is_system(of))
            known |= FILTER_SYSTEM;
        f->known[f->n_known] = known;
    }
    return 0;
}

static bool filter_is(const struct jsp_filter *f, uint32_t function, uint8_t what)
{
    return f->known[function] & what;
}

/* Drop the system's frames. If no frame is left, put one in their place. */
static int filter_hide(struct jsp_filter *f, struct jsp_profile *p,
                       struct jsp_profile_frame *frames, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (!filter_is(f, frames[i].function, FILTER_SYSTEM))
            frames[kept++] = frames[i];
    if (kept)
        return kept;
    int err = jsp_resolve_fixed(p, "[system]", frames);
    return err < 0 ? err : 1;
}

static bool filter_has(const struct jsp_filter *f, const struct jsp_profile_frame *frames,
                       int n)
{
    for (int i = 0; i < n; i++)
        if (filter_is(f, frames[i].function, FILTER_ONLY))
            return true;
    return false;
}

int jsp_filter_frames(struct jsp_filter *f, struct jsp_profile *p,
                      struct jsp_profile_frame *frames, int n)
{
    const struct jsp_filter_options *o = &f->options;
    int err = filter_reach(f, p);
    if (err == 0 && o->hide_system)
        n = filter_hide(f, p, frames, n);
    if (err == 0 && n > 0)
        err = filter_reach(f, p); /* [system] may be new */
    if (err < 0 || n < 0)
        return err < 0 ? err : n;
    while (o->under && n > 0 && !filter_is(f, frames[n - 1].function, FILTER_UNDER))
        n--;
    if (n > 0 && o->only && !filter_has(f, frames, n))
        return 0;
    int leaf = 0;
    while (leaf + 1 < n && ((o->skips_natives && frames[leaf].origin == JSP_ORIGIN_NATIVE) ||
                            (o->skips_loops && frames[leaf].origin == JSP_ORIGIN_LOOP)))
        leaf++;
    bool is_jit = n > 0 && frames[leaf].kind == JSPROF_KIND_JIT;
    if (n > 0 && o->category &&
        !filter_is(f, frames[leaf].function, is_jit ? FILTER_JIT_CATEGORY : FILTER_CATEGORY))
        return 0;
    return n;
}
