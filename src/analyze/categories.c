/* analyze/categories.c - what kind of work a function is: rules by kind, name, file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "categories.h"

#include "base/store.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

enum { CATEGORIES_TEXT = 1024, CATEGORIES_MOST = 1 << 16 };

struct categories_rule {
    uint32_t category;
    uint32_t kind;                    /* JSP_N_KINDS: any */
    const char *name, *file, *module; /* globs; NULL: any */
};

struct jsp_categories {
    struct categories_rule *rules;
    const char **names;
    uint32_t n_rules, rules_room, n_names, names_room;
    struct jsp_store store;
};

static const char categories_builtin[] =
    "gc       kind=gc\n"
    "gc       kind=native name=js::gc::*\n"
    "gc       kind=native name=*::GCRuntime::*\n"
    "gc       kind=native name=luaC_*\n"
    "gc       kind=native name=lj_gc_*\n"
    "compile  kind=label name=?JIT?compiler?\n"
    "compile  kind=native name=js::jit::*Compil*\n"
    "compile  kind=native name=js::jit::*Generator*\n"
    "compile  kind=native name=js::frontend::*\n"
    "compile  kind=native name=lua[YXK]_*\n"
    "compile  kind=native name=lj_asm_*\n"
    "compile  kind=native name=lj_opt_*\n"
    "memory   kind=native name=malloc\n"
    "memory   kind=native name=*_malloc\n"
    "memory   kind=native name=calloc\n"
    "memory   kind=native name=*_calloc\n"
    "memory   kind=native name=realloc\n"
    "memory   kind=native name=*_realloc\n"
    "memory   kind=native name=free\n"
    "memory   kind=native name=*_free\n"
    "memory   kind=native name=operator?new*\n"
    "memory   kind=native name=operator?delete*\n"
    "memory   kind=native name=mmap*\n"
    "memory   kind=native name=munmap\n"
    "memory   kind=native name=malloc_consolidate\n"
    "memory   kind=native name=unlink_chunk*\n"
    "wait     kind=native name=*futex*\n"
    "wait     kind=native name=*lll_lock*\n"
    "wait     kind=native name=pthread_*wait*\n"
    "wait     kind=native name=pthread_mutex_*\n"
    "wait     kind=native name=*___pthread_mutex_*\n"
    "wait     kind=native name=*poll\n"
    "wait     kind=native name=epoll_*\n"
    "wait     kind=native name=select\n"
    "wait     kind=native name=*nanosleep\n"
    "wait     kind=native name=sched_yield\n"
    "io       kind=native name=read\n"
    "io       kind=native name=write\n"
    "io       kind=native name=*_read\n"
    "io       kind=native name=*_write\n"
    "io       kind=native name=pread*\n"
    "io       kind=native name=pwrite*\n"
    "io       kind=native name=recv*\n"
    "io       kind=native name=send*\n"
    "io       kind=native name=open*  module=libc*\n"
    "script   kind=vm\n"
    "jit      kind=jit\n"
    "host     kind=label\n"
    "kernel   kind=kernel\n"
    "library  kind=native file=/lib*\n"
    "library  kind=native file=/usr/lib*\n"
    "library  kind=native file=/usr/local/lib*\n"
    "library  kind=native file=*.so\n"
    "library  kind=native file=*.so.*\n"
    "library  kind=native module=?vdso?\n"
    "native   kind=native\n"
    "other\n";

static int categories_number(struct jsp_categories *c, struct jsp_read_text name,
                             uint32_t *out)
{
    for (*out = 0; *out < c->n_names; ++*out)
        if (jsp_read_is(name, c->names[*out]))
            return 0;
    if (jsp_grow(&c->names, &c->names_room, c->n_names, sizeof *c->names) < 0)
        return -ENOMEM;
    c->names[c->n_names] = jsp_store_text(&c->store, name.at, name.len);
    return c->names[c->n_names++] ? 0 : -ENOMEM;
}

/* Put "key=value" into the rule. Return 0, -ENOMEM, or -EBADMSG with *why. */
static int categories_word(struct jsp_categories *c, struct categories_rule *r,
                           struct jsp_read_text word, const char **why)
{
    const char *text = jsp_store_text(&c->store, word.at, word.len);
    if (!text)
        return -ENOMEM;
    const char *equal = strchr(text, '=');
    size_t len = equal ? (size_t)(equal - text) : 0;
    if (len == 4 && memcmp(text, "name", 4) == 0)
        r->name = equal + 1;
    else if (len == 4 && memcmp(text, "file", 4) == 0)
        r->file = equal + 1;
    else if (len == 6 && memcmp(text, "module", 6) == 0)
        r->module = equal + 1;
    else if (len == 4 && memcmp(text, "kind", 4) == 0) {
        r->kind = 0;
        while (r->kind < JSP_N_KINDS && strcmp(jsp_kind_name(r->kind), equal + 1) != 0)
            r->kind++;
        if (r->kind == JSP_N_KINDS)
            *why = "kinds are vm, jit, label, gc, native, synth, kernel and other";
    } else
        *why = "a condition is name=, file=, module= or kind=";
    return *why ? -EBADMSG : 0;
}

static struct jsp_read_text categories_split(const char **at, const char *end)
{
    while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
        ++*at;
    const char *from = *at;
    while (*at < end && **at != ' ' && **at != '\t' && **at != '\r')
        ++*at;
    return (struct jsp_read_text){ from, (uint32_t)(*at - from) };
}

static int categories_line(struct jsp_categories *c, const char *at, const char *end,
                           const char **why)
{
    struct categories_rule r = { .kind = JSP_N_KINDS };
    struct jsp_read_text word = categories_split(&at, end);
    if (word.len == 0 || word.at[0] == '#')
        return 0;
    if (c->n_rules == CATEGORIES_MOST)
        *why = "too many rules";
    else if (memchr(word.at, '=', word.len))
        *why = "a line begins with the category's name";
    int err = *why ? -EBADMSG : categories_number(c, word, &r.category);
    while (err == 0) {
        word = categories_split(&at, end);
        if (word.len == 0 || word.at[0] == '#')
            break;
        err = categories_word(c, &r, word, why);
    }
    if (err < 0)
        return err;
    if (jsp_grow(&c->rules, &c->rules_room, c->n_rules, sizeof *c->rules) < 0)
        return -ENOMEM;
    c->rules[c->n_rules++] = r;
    return 0;
}

static int categories_text(struct jsp_categories *c, struct jsp_read_text text,
                           struct jsp_categories_defect *defect)
{
    const char *at = text.at, *end = at + text.len;
    int err = 0;
    *defect = (struct jsp_categories_defect){ 0, NULL };
    while (err == 0 && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        defect->line++;
        err = memchr(at, 0, (size_t)(stop - at)) ? -EBADMSG : 0;
        if (err)
            defect->why = "this is no text";
        else
            err = categories_line(c, at, stop, &defect->why);
        at = stop + 1;
    }
    return err;
}

int jsp_categories_open(struct jsp_categories **out, struct jsp_read_text rules,
                        struct jsp_categories_defect *defect)
{
    struct jsp_read_text builtin = { categories_builtin, sizeof categories_builtin - 1 };
    struct jsp_categories *c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    int err = rules.len ? categories_text(c, rules, defect) : 0;
    if (err == 0)
        err = categories_text(c, builtin, defect);
    if (err < 0)
        jsp_categories_close(c);
    else
        *out = c;
    return err;
}

void jsp_categories_close(struct jsp_categories *c)
{
    if (!c)
        return;
    jsp_store_free(&c->store);
    free(c->rules);
    free(c->names);
    free(c);
}

uint32_t jsp_categories_n(const struct jsp_categories *c)
{
    return c->n_names;
}

const char *jsp_categories_name(const struct jsp_categories *c, uint32_t category)
{
    return c->names[category];
}

bool jsp_categories_find(const struct jsp_categories *c, const char *name, uint32_t *out)
{
    for (*out = 0; *out < c->n_names; ++*out)
        if (strcmp(c->names[*out], name) == 0)
            return true;
    return false;
}

uint32_t jsp_categories_of(const struct jsp_categories *c, const struct jsp_function *f,
                           uint32_t kind)
{
    char path[CATEGORIES_TEXT];
    /* Copy the path, which may lack a NUL. A long path is judged by its beginning. */
    uint32_t n = f->path.len < CATEGORIES_TEXT ? f->path.len : CATEGORIES_TEXT - 1;
    if (n)
        memcpy(path, f->path.at, n);
    path[n] = 0;
    for (uint32_t i = 0; i < c->n_rules; i++) {
        const struct categories_rule *r = &c->rules[i];
        if ((r->kind == JSP_N_KINDS || r->kind == kind) &&
            (!r->name || fnmatch(r->name, f->name, 0) == 0 ||
             fnmatch(r->name, f->recorded, 0) == 0) &&
            (!r->file || fnmatch(r->file, path, 0) == 0) &&
            (!r->module || fnmatch(r->module, f->module, 0) == 0))
            return r->category;
    }
    return c->n_names - 1; /* the last rule matches every function */
}

bool jsp_categories_is_system(const struct jsp_function *f)
{
    static const char *const below[] = { "/lib", "/usr/lib", "/usr/libexec" };
    if (f->kind == JSP_KIND_KERNEL || strcmp(f->module, "[vdso]") == 0)
        return true;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        if (f->path.len > strlen(below[i]) &&
            memcmp(f->path.at, below[i], strlen(below[i])) == 0)
            return true;
    return false;
}
