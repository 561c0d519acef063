/* cli/filter.c - the options by which every command chooses what of a capture counts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "threads.h"

enum { FILTER_RULES_MOST = 1 << 20 };

/* The category that depends on the whole stack; see analyze/idle.h. */
#define FILTER_IDLE "idle"

/* Read one end of a span of time, up to `end`. An empty text is 0. */
static bool filter_moment(const char *at, const char *end, uint64_t *out)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = { { "", 1e9 },   { "s", 1e9 },  { "ms", 1e6 },
                  { "us", 1e3 }, { "ns", 1.0 }, { "m", 60e9 } };
    char *unit;
    *out = 0;
    if (at == end)
        return true;
    if (*at < '0' || *at > '9')
        return false;
    /* A number has digits, then perhaps a point and more digits. So neither "2..5" nor "2."
     * is one. */
    uint64_t whole = strtoull(at, &unit, 10);
    double value = (double)whole;
    if (unit < end && *unit == '.' && unit[1] >= '0' && unit[1] <= '9')
        value = strtod(at, &unit);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == (size_t)(end - unit) &&
            memcmp(units[i].name, unit, (size_t)(end - unit)) == 0 &&
            value * units[i].ns < 9e18) {
            *out = (uint64_t)(value * units[i].ns + 0.5);
            return true;
        }
    return false;
}

/* Read "2s..5s", "..500ms" or "1m.." as ns since the start; *to is 0 for the end. Return
 * false for any other text. */
static bool filter_time(const char *word, uint64_t *from, uint64_t *to)
{
    const char *dots = strstr(word, "..");
    if (!dots || strlen(word) == 2)
        return false;
    const char *second = dots + 2, *end = second + strlen(second);
    return filter_moment(word, dots, from) && filter_moment(second, end, to) &&
           (second == end || *to > *from);
}

int cli_maps_check(const char *command, const char *const *maps, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strchr(maps[i], '='))
            return cli_usage(command, "--map wants OLD=NEW, not \"%s\"", maps[i]);
    return CLI_OK;
}

static int filter_check(const struct cli_filter *f, const char *command,
                        struct jsp_profile_options *o, enum jsp_show *show,
                        const struct jsp_naming_options *naming)
{
    if (f->time && !filter_time(f->time, &o->from_ns, &o->to_ns))
        return cli_usage(command, "--time wants FROM..TO as in 2s..5s, not \"%s\"",
                         f->time);
    o->clock = f->clock ? jsp_clock_find(f->clock) : NULL;
    if (f->clock && !o->clock)
        return cli_usage(command, "--clock is %s, not \"%s\"", JSP_CLOCKS_KEYS, f->clock);
    if (cli_maps_check(command, f->maps, f->n_maps))
        return CLI_USAGE;
    o->symbols = f->symbols;
    o->during = f->during;
    o->naming = naming;
    static const char *const measures[] = { "time", "alloc", "live", NULL };
    static const enum jsp_value values[] = { JSP_VALUE_COUNT, JSP_VALUE_ALLOC, JSP_VALUE_LIVE };
    int measure = f->measure ? cli_choice(command, "measure", f->measure, measures) : 0;
    if (measure < 0)
        return CLI_USAGE;
    if (measure && f->clock)
        return cli_usage(command, "--clock is for time, not for --measure %s", f->measure);
    o->measure = values[measure];
    int status = cli_native_show(command, &f->native, show);
    if (status == CLI_OK)
        status = cli_source_maps_check(f->source_maps);
    return status ? status : cli_symbols_check(f->symbols);
}

int cli_source_maps_check(const char *path)
{
    struct stat is;
    return path && stat(path, &is) < 0 ? cli_fail(path, "%s", strerror(errno)) : CLI_OK;
}

int cli_symbols_check(const char *directory)
{
    struct stat is;
    if (directory && stat(directory, &is) < 0)
        return cli_fail(directory, "%s", strerror(errno));
    if (directory && !S_ISDIR(is.st_mode))
        return cli_fail(directory, "%s", strerror(ENOTDIR));
    return CLI_OK;
}

/* Refuse a clock that the recording does not have: CPU time does not include the time that
 * threads waited. */
static int filter_clock(const struct cli_capture *c, const struct cli_filter *f)
{
    enum jsp_value unit = c->profile.unit;
    if (!f->clock)
        return CLI_OK;
    if (unit == JSP_VALUE_COUNT) /* bytes were refused before */
        return cli_fail(c->label, "--clock %s: the capture %s", f->clock,
                        c->profile.clock[0] ? "does not record how much time a sample represents"
                                            : "names no clock");
    if (unit != (enum jsp_value)jsp_clock_find(f->clock)->clock)
        return cli_fail(c->label, "--clock %s: this was recorded by %s, which "
                                  "does not see threads wait",
                        f->clock, jsp_unit_name(unit));
    return CLI_OK;
}

static int filter_rules(struct cli_capture *c, const char *path)
{
    struct jsp_categories_defect defect = { 0, NULL };
    FILE *file = path ? fopen(path, "re") : NULL;
    char *text = file ? malloc(FILTER_RULES_MOST) : NULL;
    if (path && !text) {
        int err = errno;
        if (file)
            fclose(file);
        return cli_fail(path, "%s", strerror(err));
    }
    size_t n = file ? fread(text, 1, FILTER_RULES_MOST, file) : 0;
    bool is_bad = file && ferror(file), is_long = n == FILTER_RULES_MOST;
    int err = is_bad ? -errno : is_long ? -EFBIG : 0;
    if (file)
        fclose(file);
    if (!err)
        err = jsp_categories_open(&c->categories,
                                  (struct jsp_read_text){ text, (uint32_t)n }, &defect);
    free(text);
    if (!err)
        return CLI_OK;
    if (err == -EBADMSG)
        return cli_fail(path, "line %" PRIu32 ": %s", defect.line, defect.why);
    return cli_fail(path ? path : c->label, "%s", strerror(-err));
}

/* The user's rules may have a category of that name. */
static bool filter_wants_idle(const struct cli_capture *c, const struct cli_filter *f)
{
    uint32_t own;
    return f->category && strcmp(f->category, FILTER_IDLE) == 0 &&
           !jsp_categories_find(c->categories, FILTER_IDLE, &own);
}

/* Find the kind of --top-of. CLI_OK or CLI_USAGE. */
static int filter_kind(const struct cli_filter *f, const char *command, uint32_t *top_of)
{
    const char *kinds[JSP_N_KINDS + 1] = { NULL };
    for (uint32_t i = 0; i < JSP_N_KINDS; i++)
        kinds[i] = jsp_kind_name(i);
    int kind = cli_choice(command, "top-of", f->top_of, kinds);
    *top_of = (uint32_t)kind + 1;
    return kind < 0 ? CLI_USAGE : CLI_OK;
}

static int filter_frames(struct cli_capture *c, const struct cli_filter *f,
                         const char *command)
{
    char why[JSP_FILTER_WHY];
    struct jsp_filter_options o = { .only = f->only, .without = f->without, .hide = f->hide,
                                    .under = f->under, .focus = f->focus,
                                    .category = filter_wants_idle(c, f) ? NULL : f->category,
                                    .categories = c->categories,
                                    .hide_system = f->hide_system,
                                    .is_collapsed = f->is_collapsed,
                                    .skips_natives = c->select.show == JSP_SHOW_VM,
                                    .skips_loops = c->select.show != JSP_SHOW_ALL };
    c->under = f->under;
    if (f->top_of && filter_kind(f, command, &o.top_of))
        return CLI_USAGE;
    if (!o.only && !o.without && !o.hide && !o.under && !o.focus && !o.top_of && !o.category &&
        !o.hide_system && !o.is_collapsed)
        return CLI_OK;
    uint32_t category;
    if (o.category && !jsp_categories_find(o.categories, o.category, &category)) {
        char known[512] = "";
        size_t used = 0;
        for (uint32_t i = 0; i < jsp_categories_n(o.categories) && used < sizeof known; i++)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                     jsp_categories_name(o.categories, i));
        return cli_usage(command,
                         "--category: no category \"%s\" (there are: " FILTER_IDLE ", %s%s)",
                         o.category, known, used >= sizeof known ? " ..." : "");
    }
    int err = jsp_filter_open(&c->select.filter, &o, why);
    if (err == -EINVAL)
        return cli_usage(command, "--%s", why);
    return err ? cli_fail(c->label, "%s", strerror(-err)) : CLI_OK;
}

/* Choose by what the threads were doing. CLI_OK, CLI_USAGE or CLI_FAILED. */
static int filter_states(struct cli_capture *c, const struct cli_filter *f, const char *command)
{
    const struct jsp_profile *p = &c->profile;
    const char *keys[JSP_N_STATES + 1] = { NULL };
    for (int i = 0; i < JSP_N_STATES; i++)
        keys[i] = jsp_states[i].key;
    int state = f->state ? cli_choice(command, "state", f->state, keys) : 0;
    if (state < 0)
        return CLI_USAGE;
    if (!f->state && !f->call)
        return CLI_OK;
    if (!jsp_profile_has_states(p))
        return cli_fail(c->label, "--%s: the capture does not record what threads were doing",
                        f->state ? "state" : "syscall");
    for (uint32_t i = 0; i < p->n_stacks; i++) {
        const struct jsp_profile_state *is = jsp_profile_state(p, i);
        c->left_out[i] = (f->state && is->state != (enum jsp_state)state) ||
                         (f->call && (is->state != JSP_STATE_ASLEEP ||
                                      !jsp_read_is(is->detail, f->call)));
    }
    c->select.left_out = c->left_out;
    return CLI_OK;
}

/* Choose by idle stacks: leave them out, or with --category idle all others. If nothing else
 * was chosen, idle stacks count. Return 0 or -ENOMEM. */
static int filter_idle(struct cli_capture *c, const struct cli_filter *f)
{
    struct jsp_profile *p = &c->profile;
    bool is_only = filter_wants_idle(c, f);
    if (f->has_idle && !is_only)
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
static int filter_doing(struct cli_capture *c, const struct cli_filter *f, const char *command)
{
    c->left_out = calloc(c->profile.n_stacks + 1, 1);
    if (!c->left_out)
        return cli_fail(c->label, "%s", strerror(ENOMEM));
    int status = filter_states(c, f, command);
    int err = status ? 0 : filter_idle(c, f);
    c->is_part |= f->state || f->call;
    return err < 0 ? cli_fail(c->label, "%s", strerror(-err)) : status;
}

int cli_filter_open(struct cli_capture *c, const char *path, const struct cli_filter *f,
                    const char *command)
{
    struct jsp_profile_options o = { 0 };
    struct jsp_naming_options naming = { f->maps, f->trims, f->n_maps, f->n_trims,
                                         f->source_maps, f->has_no_source_maps };
    enum jsp_show show;
    if (!path)
        return CLI_USAGE;
    if (f->load)
        o = *f->load;
    int status = filter_check(f, command, &o, &show, &naming);
    if (status)
        return status;
    status = cli_load_with(c, path, &o);
    if (status)
        return status;
    c->select.show = show;
    if (f->during && !c->profile.during.n_marks)
        status = cli_fail(c->label, "no mark \"%s\" (jsprof list shows the marks)", f->during);
    if (!status)
        status = filter_rules(c, f->categories);
    if (!status)
        status = filter_clock(c, f);
    if (!status && !cli_threads_choose(c, f->process, f->thread, &c->threads))
        status = CLI_FAILED;
    c->select.threads = c->threads;
    if (!status)
        status = filter_frames(c, f, command);
    if (!status)
        status = filter_doing(c, f, command);
    if (status)
        cli_close(c);
    else
        cli_native_lines(c, &f->native, &c->select);
    return status;
}
