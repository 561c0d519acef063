/* read/select.c - chooses the stacks that count, and their frames.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/chains.h"

enum { SELECT_RULES_MOST = 1 << 20 };

/* The category that depends on the whole stack; see analyze/idle.h. */
#define SELECT_IDLE "idle"

#define SELECT_WRONG(why, name) (struct jsp_reader_fault){ .code = why, .option = name }

/* A choice in the making. */
struct select_make {
    jsprof_reader *reader;
    struct jsp_profile *profile;
    jsprof_read_filter filter; /* its words are kept in the choice */
    struct jsp_reader_choice choice;
    jsprof_read_error *error;
};

void jsp_reader_choice_free(struct jsp_reader_choice *c)
{
    jsp_filter_close(c->select.filter);
    jsp_categories_close(c->categories);
    free(c->threads);
    free(c->left_out);
    free(c->counts);
    jsp_store_free(&c->words);
    memset(c, 0, sizeof *c);
}

/* Copy what the filter borrows. Return 0 or -ENOMEM. */
static int select_keep(struct select_make *m)
{
    jsprof_read_filter *f = &m->filter;
    const char **const words[] = { &f->only, &f->without, &f->under, &f->focus, &f->hide,
                                   &f->category };
    int err = 0;
    for (size_t i = 0; err == 0 && i < sizeof words / sizeof *words; i++)
        err = jsp_reader_keep(&m->choice.words, words[i]);
    return err;
}

static int select_show(struct select_make *m)
{
    uint32_t both = JSPROF_READ_NATIVE | JSPROF_READ_VM, flags = m->filter.flags & both;
    if (flags == both)
        return jsp_reader_fail(m->error, SELECT_WRONG(-EINVAL, "native"),
                               "native and --vm exclude each other");
    m->choice.select.show = flags == JSPROF_READ_NATIVE ? JSP_SHOW_ALL
                            : flags == JSPROF_READ_VM   ? JSP_SHOW_VM
                                                        : JSP_SHOW_USUAL;
    return 0;
}

/* Refuse marks and a clock that the recording does not have: CPU time does not include the time
 * that threads waited. */
static int select_loaded(struct select_make *m)
{
    const struct jsp_profile *p = m->profile;
    const struct jsp_profile_options *o = jsp_profile_loaded(p);
    if (o->during && !p->during.n_marks)
        return jsp_reader_fail(m->error, SELECT_WRONG(-ENODATA, NULL),
                               "no mark \"%s\" (jsprof list shows the marks)", o->during);
    if (o->under_task && !p->chains->tasks.n_tasks)
        return jsp_reader_fail(m->error, SELECT_WRONG(-ENODATA, "under-task"),
                               "under-task: no tasks in this capture");
    if (o->under_task && !p->chains->n_under)
        return jsp_reader_fail(m->error, SELECT_WRONG(-ENODATA, NULL),
                               "no task \"%s\" (jsprof loop shows the tasks)", o->under_task);
    return 0;
}

static int select_clock(struct select_make *m)
{
    const struct jsp_profile *p = m->profile;
    const struct jsp_clock_row *clock = jsp_profile_loaded(p)->clock;
    if (!clock)
        return 0;
    if (p->unit == JSP_VALUE_COUNT) /* bytes were refused before */
        return jsp_reader_fail(m->error, SELECT_WRONG(-ENODATA, "clock"),
                               "clock %s: the capture %s", clock->key,
                               p->clock[0] ? "does not record how much time a sample represents"
                                           : "names no clock");
    if (p->unit != (enum jsp_value)clock->clock)
        return jsp_reader_fail(m->error, SELECT_WRONG(-ENODATA, "clock"),
                               "clock %s: this was recorded by %s, which does not see "
                               "threads wait", clock->key, jsp_unit_name(p->unit));
    return 0;
}

/* Read a whole file of at most SELECT_RULES_MOST - 1 bytes. */
static int select_read(const char *path, char **text, size_t *n)
{
    FILE *file = fopen(path, "re");
    int err = file ? 0 : -errno;
    *text = file ? malloc(SELECT_RULES_MOST) : NULL;
    if (file && !*text)
        err = -ENOMEM;
    if (err == 0) {
        *n = fread(*text, 1, SELECT_RULES_MOST, file);
        err = ferror(file) ? -errno : *n == SELECT_RULES_MOST ? -EFBIG : 0;
    }
    if (file)
        fclose(file);
    return err;
}

static int select_rules(struct select_make *m)
{
    const char *path = m->filter.categories;
    struct jsp_categories_defect defect = { 0, NULL };
    char *text = NULL;
    size_t n = 0;
    int err = path ? select_read(path, &text, &n) : 0;
    if (err == 0)
        err = jsp_categories_open(&m->choice.categories,
                                  (struct jsp_read_text){ text, (uint32_t)n }, &defect);
    free(text);
    if (err == -EBADMSG)
        return jsp_reader_fail(m->error, (struct jsp_reader_fault){ .code = err, .path = path },
                               "line %" PRIu32 ": %s", defect.line, defect.why);
    return jsp_reader_errno(m->error, err, path);
}

/* The user's rules may have a category of that name. */
static bool select_wants_idle(const struct select_make *m)
{
    uint32_t own;
    return m->filter.category && strcmp(m->filter.category, SELECT_IDLE) == 0 &&
           !jsp_categories_find(m->choice.categories, SELECT_IDLE, &own);
}

static int select_no_category(struct select_make *m, const char *category)
{
    const struct jsp_categories *all = m->choice.categories;
    char known[512] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < jsp_categories_n(all) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 jsp_categories_name(all, i));
    return jsp_reader_fail(m->error, SELECT_WRONG(-EINVAL, "category"),
                           "category: no category \"%s\" (there are: " SELECT_IDLE ", %s%s)",
                           category, known, used >= sizeof known ? " ..." : "");
}

/* Return the static name of the option with which the text begins. */
static const char *select_option(const char *why)
{
    static const char *const options[] = { "only", "not", "hide", "under", "focus", "category" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strncmp(options[i], why, strlen(options[i])) == 0)
            return options[i];
    return "only";
}

static int select_frames(struct select_make *m)
{
    const jsprof_read_filter *f = &m->filter;
    const char *kinds[JSP_N_KINDS + 1] = { NULL };
    char why[JSP_FILTER_WHY];
    struct jsp_filter_options o = { .only = f->only, .without = f->without, .hide = f->hide,
                                    .under = f->under, .focus = f->focus,
                                    .category = select_wants_idle(m) ? NULL : f->category,
                                    .categories = m->choice.categories,
                                    .hide_system = f->flags & JSPROF_READ_HIDE_SYSTEM,
                                    .is_collapsed = f->flags & JSPROF_READ_COLLAPSE_RECURSION,
                                    .skips_natives = m->choice.select.show == JSP_SHOW_VM,
                                    .skips_loops = m->choice.select.show != JSP_SHOW_ALL };
    if (f->top_of) {
        for (uint32_t i = 0; i < JSP_N_KINDS; i++)
            kinds[i] = jsp_kind_name(i);
        int kind = jsp_reader_word(m->error, "top-of", f->top_of, kinds);
        if (kind < 0)
            return kind;
        o.top_of = (uint32_t)kind + 1;
    }
    if (!o.only && !o.without && !o.hide && !o.under && !o.focus && !o.top_of && !o.category &&
        !o.hide_system && !o.is_collapsed)
        return 0;
    uint32_t category;
    if (o.category && !jsp_categories_find(o.categories, o.category, &category))
        return select_no_category(m, o.category);
    int err = jsp_filter_open(&m->choice.select.filter, &o, why);
    if (err == -EINVAL)
        return jsp_reader_fail(m->error, SELECT_WRONG(err, select_option(why)), "%s", why);
    return jsp_reader_errno(m->error, err, NULL);
}

/* Return true if a sleep is in this system call, on a descriptor of any kind: "read" is "read", and
 * also "read (pipe)". */
static bool select_is_call(const struct jsp_profile_state *is, const char *name)
{
    size_t n = strlen(name);
    const struct jsp_read_text *detail = &is->detail;
    return is->state == JSP_STATE_ASLEEP &&
           (jsp_read_is(*detail, name) || (detail->len > n + 2 && !memcmp(detail->at, name, n) &&
                                           !memcmp(detail->at + n, " (", 2)));
}

/* Choose by what the threads were doing. */
static int select_states(struct select_make *m)
{
    const jsprof_read_filter *f = &m->filter;
    const struct jsp_profile *p = m->profile;
    const char *keys[JSP_N_STATES + 1] = { NULL };
    for (int i = 0; i < JSP_N_STATES; i++)
        keys[i] = jsp_states[i].key;
    int state = f->state ? jsp_reader_word(m->error, "state", f->state, keys) : 0;
    if (state < 0)
        return state;
    if (!f->state && !f->syscall)
        return 0;
    if (!jsp_profile_has_states(p)) {
        const char *option = f->state ? "state" : "syscall";
        return jsp_reader_fail(m->error, SELECT_WRONG(-ENODATA, option),
                               "%s: the capture does not record what threads were doing", option);
    }
    for (uint32_t i = 0; i < p->n_stacks; i++) {
        const struct jsp_profile_state *is = jsp_profile_state(p, i);
        m->choice.left_out[i] = (f->state && is->state != (enum jsp_state)state) ||
                                (f->syscall && !select_is_call(is, f->syscall));
    }
    m->choice.select.left_out = m->choice.left_out;
    m->choice.is_part = true;
    return 0;
}

/* Return true if a set has the label "KEY=VALUE", or any of the key without "=". */
static bool select_has_label(const struct jsp_labels_read *l, uint32_t set, const char *word)
{
    size_t n = strcspn(word, "=");
    const struct jsp_labels_pair *pair =
        jsp_labels_value(l, set, (struct jsp_read_text){ word, (uint32_t)n });
    return pair && (!word[n] || jsp_read_is(pair->value, word + n + 1));
}

/* Choose by labels: every one must be there. */
static int select_labels(struct select_make *m)
{
    const jsprof_read_filter *f = &m->filter;
    const struct jsp_profile *p = m->profile;
    if (!f->n_labels)
        return 0;
    if (!jsp_profile_has_labels(p))
        return jsp_reader_fail(m->error, SELECT_WRONG(-ENODATA, "label"),
                               "label: no labels in this capture");
    for (uint32_t i = 0; i < p->n_stacks; i++)
        for (uint32_t k = 0; k < f->n_labels; k++)
            m->choice.left_out[i] |= !select_has_label(&p->labels, p->stacks[i].labels,
                                                       f->labels[k]);
    m->choice.select.left_out = m->choice.left_out;
    m->choice.is_part = true;
    return 0;
}

/* Choose by idle stacks: leave them out, or with category "idle" all others. If nothing else
 * was chosen, idle stacks count. Return 0 or -ENOMEM. */
static int select_idle(struct select_make *m)
{
    struct jsp_profile *p = m->profile;
    struct jsp_reader_choice *c = &m->choice;
    bool is_only = select_wants_idle(m);
    if (m->filter.flags & JSPROF_READ_IDLE && !is_only)
        return 0;
    bool *idle = malloc(p->n_stacks + 1);
    int n = idle ? jsp_idle_find(p, idle) : -ENOMEM;
    if (n > 0 && !is_only)
        n = jsp_idle_sum(&c->idle, p, &c->select, idle);
    if (c->idle.is_all)
        c->idle = (struct jsp_idle_sum){ 0 };
    bool is_chosen = is_only || c->idle.samples;
    for (uint32_t i = 0; n >= 0 && is_chosen && i < p->n_stacks; i++)
        c->left_out[i] |= idle[i] != is_only;
    if (is_chosen)
        c->select.left_out = c->left_out;
    free(idle);
    return n < 0 ? n : 0;
}

/* Choose stacks by what the threads were doing. */
static int select_doing(struct select_make *m)
{
    m->choice.left_out = calloc(m->profile->n_stacks + 1, 1);
    if (!m->choice.left_out)
        return jsp_reader_errno(m->error, -ENOMEM, NULL);
    int err = select_states(m);
    if (err == 0)
        err = select_labels(m);
    return err ? err : jsp_reader_errno(m->error, select_idle(m), NULL);
}

static int select_threads(struct select_make *m)
{
    int err = jsp_reader_threads(m->profile, &m->filter, &m->choice.threads, m->error);
    m->choice.select.threads = m->choice.threads;
    return err;
}

int jsprof_read_select(jsprof_reader *r, const jsprof_read_filter *filter,
                       jsprof_read_error *error)
{
    static int (*const steps[])(struct select_make *) = {
        select_show, select_loaded, select_rules, select_clock,
        select_threads, select_frames, select_doing,
    };
    struct select_make m = { .reader = r, .profile = &r->profile, .error = error };
    jsp_reader_take(&m.filter, sizeof m.filter, filter);
    int err = jsp_reader_errno(error, select_keep(&m), NULL);
    for (size_t i = 0; err == 0 && i < sizeof steps / sizeof *steps; i++)
        err = steps[i](&m);
    if (err) {
        jsp_reader_choice_free(&m.choice);
        return err;
    }
    jsp_reader_choice_free(&r->choice);
    r->choice = m.choice;
    r->stack = UINT32_MAX;
    return 0;
}
