/* cli/filter.c - the options by which every command chooses what of a capture counts.
 *
 * The library knows the words; here they are named.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int cli_maps_check(const char *command, const char *const *maps, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strchr(maps[i], '='))
            return cli_usage(command, "--map wants OLD=NEW, not \"%s\"", maps[i]);
    return CLI_OK;
}

int cli_source_maps_check(const char *path)
{
    struct stat is;
    return path && stat(path, &is) < 0 ? cli_fail(path, "%s", strerror(errno)) : CLI_OK;
}

static int filter_load(struct cli_capture *c, const char *path, const struct cli_filter *f,
                       const char *command)
{
    const jsprof_read_options o = {
        .size = sizeof o, .time = f->time, .during = f->during,
        .under_task = f->under_task, .clock = f->clock,
        .measure = f->measure, .symbols = f->symbols, .source_maps = f->source_maps,
        .maps = f->maps, .n_maps = f->n_maps, .trims = f->trims, .n_trims = f->n_trims,
        .flags = (f->has_no_source_maps ? JSPROF_READ_GENERATED : 0u) |
                 (f->keeps_samples ? JSPROF_READ_ROWS : 0u) |
                 (f->has_tasks ? JSPROF_READ_TASKS : 0u) |
                 (f->has_traces ? JSPROF_READ_TRACES : 0u),
    };
    return f->n_files > 1 ? cli_load_several(c, f->files, f->n_files, &o, command)
                          : cli_load_with(c, path, &o, command);
}

int cli_filter_choose(struct cli_capture *c, const struct cli_filter *f, const char *command)
{
    jsprof_read_error error = { .size = sizeof error };
    const jsprof_read_filter choice = {
        .size = sizeof choice, .process = f->process, .thread = f->thread, .only = f->only,
        .without = f->without, .under = f->under, .focus = f->focus, .top_of = f->top_of,
        .hide = f->hide, .category = f->category, .categories = f->categories,
        .state = f->state, .syscall = f->call,
        .labels = f->labels, .n_labels = f->n_labels,
        .flags = (f->has_idle ? JSPROF_READ_IDLE : 0u) |
                 (f->native.has_native ? JSPROF_READ_NATIVE : 0u) |
                 (f->native.is_vm_only ? JSPROF_READ_VM : 0u) |
                 (f->hide_system ? JSPROF_READ_HIDE_SYSTEM : 0u) |
                 (f->is_collapsed ? JSPROF_READ_COLLAPSE_RECURSION : 0u),
    };
    c->under = f->under;
    if (jsprof_read_select(c->reader, &choice, &error) < 0)
        return cli_refuse(c, &error, command);
    cli_about(c);
    if (f->native.has_lines && !f->native.is_vm_only)
        cli_native_lines(c);
    return CLI_OK;
}

int cli_filter_open(struct cli_capture *c, const char *path, const struct cli_filter *f,
                    const char *command)
{
    if (!path)
        return CLI_USAGE;
    if (f->native.has_native && f->native.is_vm_only)
        return cli_usage(command, "--native and --vm exclude each other");
    int status = filter_load(c, path, f, command);
    if (status)
        return status;
    status = cli_filter_choose(c, f, command);
    if (status)
        cli_close(c);
    return status;
}

int cli_filter_open_all(struct cli_capture *c, const struct cli_arguments *a, struct cli_filter *f)
{
    if (a->n_files < 2)
        return cli_filter_open(c, cli_one_file(a), f, a->command);
    f->files = a->files;
    f->n_files = (size_t)a->n_files;
    return cli_filter_open(c, a->files[0], f, a->command);
}
