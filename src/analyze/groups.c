/* analyze/groups.c - functions in groups: by category, by kind, by tier, by module, by file, by
 * line, by thread, by state, by system call, by task, by label.
 *
 * SPDX-License-Identifier: MIT
 */
#include "groups.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "chains.h"
#include "jsprof.h"
#include "name_parts.h"

/* Everything that a group can depend on. Two keys can have one group. */
struct groups_key {
    uint32_t function, kind, tier, line, file, thread, state, chain, labels;
};

struct groups_known {
    struct groups_key key;
    uint32_t group;
};

struct jsp_groups {
    enum jsp_group_by by;
    const struct jsp_categories *categories;
    const char *label; /* NULL: all */
    char **names; /* owned, like each name */
    uint32_t n, room;
    struct groups_known *known;
    uint32_t n_known, known_room;
    struct jsp_hash by_key, by_name;
};

int jsp_groups_open(struct jsp_groups **out, enum jsp_group_by by,
                    const struct jsp_categories *categories)
{
    struct jsp_groups *g = calloc(1, sizeof *g);
    if (!g)
        return -ENOMEM;
    g->by = by;
    g->categories = categories;
    if (jsp_hash_init(&g->by_key, 0) < 0 || jsp_hash_init(&g->by_name, 0) < 0) {
        jsp_groups_close(g);
        return -ENOMEM;
    }
    *out = g;
    return 0;
}

void jsp_groups_close(struct jsp_groups *g)
{
    if (!g)
        return;
    for (uint32_t i = 0; i < g->n; i++)
        free(g->names[i]);
    free(g->names);
    free(g->known);
    jsp_hash_free(&g->by_key);
    jsp_hash_free(&g->by_name);
    free(g);
}

void jsp_groups_by_key(struct jsp_groups *g, const char *key)
{
    g->label = key;
}

const char *jsp_groups_no_module(uint32_t kind)
{
    return kind == JSPROF_KIND_VM || kind == JSPROF_KIND_JIT     ? "[vm]"
           : kind == JSPROF_KIND_LABEL || kind == JSPROF_KIND_GC ? "[host]"
           : kind == JSP_KIND_KERNEL                             ? "[kernel]"
           : kind == JSPROF_KIND_SYNTH                           ? "[jsprof]"
                                                                 : "[unknown]";
}

static char *groups_thread(const struct jsp_profile *p, const struct jsp_thread_info *t)
{
    const char *name = t->losses ? t->losses->name : "";
    char process[32] = "", *text;
    if (p->is_of_many)
        snprintf(process, sizeof process, " (process %" PRId32 ")", t->pid);
    int n = asprintf(&text, "%s%s%" PRId32 "%s", name, *name ? " " : "", t->tid, process);
    return n < 0 ? NULL : text;
}

static char *groups_place(const struct jsp_groups *g, const struct jsp_profile *p,
                          const struct groups_key *key)
{
    const struct jsp_function *f = &p->functions[key->function];
    struct jsp_read_text file = jsp_name_split(f->name).file;
    char *text;
    if (key->file)
        file = (struct jsp_read_text){ p->files[key->file],
                                       (uint32_t)strlen(p->files[key->file]) };
    if (g->by == JSP_GROUP_LINE && file.len && key->line)
        return asprintf(&text, "%.*s:%" PRIu32, (int)file.len, file.at, key->line) < 0 ? NULL
                                                                                       : text;
    if (g->by == JSP_GROUP_LINE && key->line) /* its host names no file, or puts no line after it */
        return asprintf(&text, "%s:%" PRIu32, f->name, key->line) < 0 ? NULL : text;
    if (g->by == JSP_GROUP_LINE)
        return strdup(f->name);
    return file.len ? strndup(file.at, file.len)
                    : strdup(*f->module ? f->module : jsp_groups_no_module(key->kind));
}

/* A thread that is asleep without a system call waits for a page of memory, for example. */
static char *groups_call(const struct jsp_profile_state *s)
{
    char *text;
    const char *name = s->state == JSP_STATE_ASLEEP ? "no system call" : jsp_states[s->state].name;
    int n = s->detail.len ? asprintf(&text, s->state == JSP_STATE_HOST ? "[%.*s]" : "%.*s",
                                     (int)s->detail.len, s->detail.at)
                          : asprintf(&text, "[%s]", name);
    return n < 0 ? NULL : text;
}

/* "route=/login, tenant=7", "/login", "[no label]" or "[no route]". */
static char *groups_label(const struct jsp_groups *g, const struct jsp_profile *p, uint32_t set)
{
    const struct jsp_label_set *s = &p->labels.sets[set];
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    if (g->label) {
        const struct jsp_read_text key = { g->label, (uint32_t)strlen(g->label) };
        const struct jsp_labels_pair *of = jsp_labels_value(&p->labels, set, key);
        if (of)
            fprintf(out, "%.*s", (int)of->value.len, of->value.at);
        else
            fprintf(out, "[no %s]", g->label);
    } else {
        for (uint32_t i = 0; i < s->n; i++)
            fprintf(out, "%s%.*s=%.*s", i ? ", " : "", (int)s->pairs[i].key.len,
                    s->pairs[i].key.at, (int)s->pairs[i].value.len, s->pairs[i].value.at);
        if (!s->n)
            fputs("[no label]", out);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Return the name of a key's group, which the caller frees, or NULL: no memory. */
static char *groups_describe(const struct jsp_groups *g, const struct jsp_profile *p,
                             const struct groups_key *key)
{
    const struct jsp_function *f = &p->functions[key->function];
    const char *name = *f->module ? f->module : jsp_groups_no_module(key->kind);
    switch (g->by) {
    case JSP_GROUP_CATEGORY:
        name = jsp_categories_name(g->categories,
                                   jsp_categories_of(g->categories, f, key->kind));
        break;
    case JSP_GROUP_KIND: name = jsp_kind_name(key->kind); break;
    case JSP_GROUP_TIER:
        name = jsp_tier_name(&(struct jsp_profile_frame){ .kind = key->kind,
                                                          .tier = key->tier });
        break;
    case JSP_GROUP_MODULE: break;
    case JSP_GROUP_FILE:
    case JSP_GROUP_LINE: return groups_place(g, p, key);
    case JSP_GROUP_STATE: name = jsp_states[p->states[key->state].state].key; break;
    case JSP_GROUP_CALL: return groups_call(&p->states[key->state]);
    case JSP_GROUP_TASK: return jsp_chains_name(p->chains, key->chain);
    case JSP_GROUP_LABEL: return groups_label(g, p, key->labels);
    case JSP_GROUP_THREAD: return groups_thread(p, &p->threads[key->thread]);
    }
    return strdup(name);
}

/* Find the group with this name, which is then owned. */
static int groups_number(struct jsp_groups *g, char *name, uint32_t *out)
{
    uint32_t hash = (uint32_t)jsp_hash_bytes(g->by_name.seed, name, strlen(name)), at;
    for (uint32_t probe = hash; (at = jsp_hash_next(&g->by_name, hash, &probe)) != 0;)
        if (strcmp(g->names[at - 1], name) == 0)
            break;
    if (at) {
        free(name);
        *out = at - 1;
        return 0;
    }
    if (jsp_grow(&g->names, &g->room, g->n, sizeof *g->names) < 0) {
        free(name);
        return -ENOMEM;
    }
    *out = g->n;
    g->names[g->n++] = name;
    return jsp_hash_add(&g->by_name, hash, *out);
}

static struct groups_key groups_key(const struct jsp_groups *g, const struct jsp_stack *stack,
                                    const struct jsp_profile_frame *frame)
{
    if (g->by == JSP_GROUP_THREAD)
        return (struct groups_key){ .thread = stack->thread };
    if (g->by == JSP_GROUP_STATE || g->by == JSP_GROUP_CALL)
        return (struct groups_key){ .state = stack->state };
    if (g->by == JSP_GROUP_TASK)
        return (struct groups_key){ .chain = stack->chain };
    if (g->by == JSP_GROUP_LABEL)
        return (struct groups_key){ .labels = stack->labels };
    struct groups_key key = { .function = frame->function, .kind = frame->kind };
    if (g->by == JSP_GROUP_TIER)
        key.tier = frame->tier;
    if (g->by == JSP_GROUP_FILE || g->by == JSP_GROUP_LINE)
        key.file = frame->file;
    if (g->by == JSP_GROUP_LINE)
        key.line = frame->line;
    return key;
}

int jsp_groups_of(struct jsp_groups *g, const struct jsp_profile *p, uint32_t stack,
                  const struct jsp_profile_frame *frame, uint32_t *out)
{
    const struct groups_key key = groups_key(g, &p->stacks[stack], frame);
    uint32_t hash = (uint32_t)jsp_hash_bytes(g->by_key.seed, &key, sizeof key), at;
    for (uint32_t probe = hash; (at = jsp_hash_next(&g->by_key, hash, &probe)) != 0;)
        if (memcmp(&g->known[at - 1].key, &key, sizeof key) == 0) {
            *out = g->known[at - 1].group;
            return 0;
        }
    if (jsp_grow(&g->known, &g->known_room, g->n_known, sizeof *g->known) < 0)
        return -ENOMEM;
    char *name = groups_describe(g, p, &key);
    if (!name || groups_number(g, name, out) < 0)
        return -ENOMEM;
    g->known[g->n_known] = (struct groups_known){ key, *out };
    return jsp_hash_add(&g->by_key, hash, g->n_known++);
}

uint32_t jsp_groups_n(const struct jsp_groups *g)
{
    return g->n;
}

const char *jsp_groups_name(const struct jsp_groups *g, uint32_t group)
{
    return g->names[group];
}
