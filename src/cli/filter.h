/* cli/filter.h - the options that select the samples and frames of a capture.
 *
 * A command puts CLI_FILTER_OPTIONS into its list of options and CLI_FILTER_HELP into
 * its help, calls cli_filter_open instead of cli_load, and passes capture.select to each
 * function that reads stacks. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_FILTER_H
#define JSP_CLI_FILTER_H

#include "native.h"
#include "open.h"
#include "options.h"

struct cli_filter { /* the words of the options; NULL: the option is not given */
    const char *thread, *process, *time, *only, *under, *category, *categories;
    const char *without, *hide, *focus, *during, *under_task, *top_of;
    const char *clock, *measure, *symbols;
    const char *state, *call;
    const char *maps[CLI_VALUES], *trims[CLI_VALUES], *labels[CLI_VALUES];
    uint32_t n_maps, n_trims, n_labels;
    const char *source_maps;
    bool has_no_source_maps;
    bool hide_system, is_collapsed;
    bool has_idle; /* idle stacks count, too */
    struct cli_native native;
    bool has_tasks;     /* the command needs the tasks of samples */
    const char *const *files; /* borrowed: of several captures, which are joined; NULL: one */
    size_t n_files;
    bool has_traces;    /* and their traces */
    bool keeps_samples; /* the command needs them one by one: reader->rows */
};

#define CLI_FILTER_OPTIONS(f) \
    { "thread", NULL, &(f)->thread, NULL }, \
    { "process", NULL, &(f)->process, NULL }, \
    { "time", NULL, &(f)->time, NULL }, \
    { "only", NULL, &(f)->only, NULL }, \
    { "under", NULL, &(f)->under, NULL }, \
    { "not", NULL, &(f)->without, NULL }, \
    { "hide", NULL, &(f)->hide, NULL }, \
    { "focus", NULL, &(f)->focus, NULL }, \
    { "during", NULL, &(f)->during, NULL }, \
    { "under-task", NULL, &(f)->under_task, NULL }, \
    { "top-of", NULL, &(f)->top_of, NULL }, \
    { "collapse-recursion", &(f)->is_collapsed, NULL, NULL }, \
    { "category", NULL, &(f)->category, NULL }, \
    { "categories", NULL, &(f)->categories, NULL }, \
    { "state", NULL, &(f)->state, NULL }, \
    { "syscall", NULL, &(f)->call, NULL }, \
    { "label", NULL, (f)->labels, &(f)->n_labels }, \
    { "clock", NULL, &(f)->clock, NULL }, \
    { "measure", NULL, &(f)->measure, NULL }, \
    { "symbols", NULL, &(f)->symbols, NULL }, \
    { "map", NULL, (f)->maps, &(f)->n_maps }, \
    { "source-maps", NULL, &(f)->source_maps, NULL }, \
    { "no-source-maps", &(f)->has_no_source_maps, NULL, NULL }, \
    { "trim-path", NULL, (f)->trims, &(f)->n_trims }, \
    { "hide-system", &(f)->hide_system, NULL, NULL }, \
    { "idle", &(f)->has_idle, NULL, NULL }, \
    { "native", &(f)->native.has_native, NULL, NULL }, \
    { "vm", &(f)->native.is_vm_only, NULL, NULL }

#define CLI_FILTER_HELP \
    "Filters (--idle  counts waits in event loops, too; --symbols DIR  has C names):\n" \
    "  --thread WHICH, --process WHICH  by name or number; --clock cpu|wall\n" \
    "  --time FROM..TO  as in 2s..5s, ..500ms; --during MARK, --under-task TASK\n" \
    "  --only REGEX     stacks with this function; --not REGEX  without it\n" \
    "  --under FUNCTION, --focus REGEX, --top-of KIND  cut its callers off\n" \
    "  --hide REGEX, --hide-system, --vm, --collapse-recursion  no frames; --native\n" \
    "  --category WORD, --categories FILE  with its rules; --measure alloc|live\n" \
    "  --state running|waiting|asleep|host, --syscall NAME, --label KEY[=VALUE]\n" \
    "  --map OLD=NEW, --trim-path DIR, --source-maps MAP, --no-source-maps  sources\n"

/* Check the words of --map. CLI_OK or CLI_USAGE. */
int cli_maps_check(const char *command, const char *const *maps, uint32_t n);

/* Check the words, load the capture and choose from it. CLI_OK; or CLI_USAGE or CLI_FAILED:
 * the error is reported and nothing is open. cli_close frees everything. A path that is NULL is
 * cli_one_file's error. */
int cli_filter_open(struct cli_capture *c, const char *path, const struct cli_filter *f,
                    const char *command);

/* Choose anew from an open capture. CLI_OK; or an error, which is reported. */
int cli_filter_choose(struct cli_capture *c, const struct cli_filter *f, const char *command);

/* Do the same with all captures of the command line, which are joined. */
int cli_filter_open_all(struct cli_capture *c, const struct cli_arguments *a, struct cli_filter *f);

/* Check the path of --source-maps; NULL is valid. CLI_FAILED where nothing is there, which is
 * reported. */
int cli_source_maps_check(const char *path);

#endif
