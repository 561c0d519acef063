/* read/functions.c - functions, or groups of them, by the time in them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/functions.h"
#include "analyze/name_parts.h"

struct jsprof_read_functions {
    jsprof_reader *reader;
    struct jsp_functions rows;
    struct jsp_groups *groups; /* owned; NULL: rows are of functions */
};

/* Build what `by` asks for: 0 is functions, others are 1 + enum jsp_group_by. */
static int functions_build(jsprof_read_functions *f, int by, const char *label)
{
    jsprof_reader *r = f->reader;
    int err = 0;
    if (by && !r->choice.categories)
        err = jsp_categories_open(&r->choice.categories, (struct jsp_read_text){ NULL, 0 },
                                  &(struct jsp_categories_defect){ 0 });
    if (err == 0 && by)
        err = jsp_groups_open(&f->groups, (enum jsp_group_by)(by - 1), r->choice.categories);
    if (err == 0 && by - 1 == JSP_GROUP_LABEL)
        jsp_groups_by_key(f->groups, label);
    if (err == 0)
        err = jsp_functions_build_by(&f->rows, &r->profile, &r->choice.select, f->groups);
    return err;
}

size_t jsprof_read_own_name(const char *name)
{
    return jsp_name_split(name).name.len;
}

bool jsprof_read_has_function(const jsprof_reader *r, const char *name)
{
    bool is_met = false;
    for (uint32_t i = 0; i < r->profile.n_functions && !is_met; i++)
        is_met = jsp_filter_names(&r->profile.functions[i], name);
    return is_met;
}

int jsprof_read_vm_of(jsprof_reader *r, jsprof_read_vm *out)
{
    const bool *left_out = r->choice.select.left_out;
    struct jsp_profile_frame *frames = malloc(JSP_PROFILE_DEPTH * sizeof *frames);
    jsprof_read_vm vm = { .value = 0 };
    int n = frames ? 0 : -ENOMEM;
    for (uint32_t s = 0; n >= 0 && s < r->profile.n_stacks; s++) {
        if (left_out && left_out[s])
            continue;
        n = jsp_profile_frames(&r->profile, s, frames);
        bool has_vm = false;
        for (int i = 0; i < n && !has_vm; i++)
            has_vm = frames[i].kind == JSPROF_KIND_VM || frames[i].kind == JSPROF_KIND_JIT;
        vm.value += has_vm ? r->profile.stacks[s].value : 0;
        vm.all += r->profile.stacks[s].value;
    }
    free(frames);
    if (n >= 0)
        jsp_reader_give(out, 0, &vm, sizeof vm);
    return n < 0 ? n : 0;
}

int jsprof_read_functions_open(jsprof_read_functions **out, jsprof_reader *r,
                               const jsprof_read_order *order, jsprof_read_error *error)
{
    static const char *const bys[] = { "function", "category", "kind", "tier", "module", "file",
                                       "line", "thread", "state", "syscall", "task", "label",
                                       NULL };
    static const char *const sorts[] = { "self", "total", "samples", "name", NULL };
    jsprof_read_order o;
    jsp_reader_take(&o, sizeof o, order);
    int by = o.by ? jsp_reader_word(error, "by", o.by, bys) : 0;
    int sort = by >= 0 && o.sort ? jsp_reader_word(error, "sort", o.sort, sorts) : 0;
    if (by < 0 || sort < 0)
        return by < 0 ? by : sort;
    if (by - 1 == JSP_GROUP_TASK && !r->profile.chains)
        return jsp_reader_fail(error, (struct jsp_reader_fault){ .code = -EINVAL, .option = "by" },
                               "by task needs JSPROF_READ_TASKS");
    jsprof_read_functions *f = calloc(1, sizeof *f);
    if (!f)
        return jsp_reader_errno(error, -ENOMEM, NULL);
    f->reader = r;
    int err = functions_build(f, by, o.label);
    if (err) {
        jsprof_read_functions_close(f);
        return jsp_reader_errno(error, err, NULL);
    }
    jsp_functions_sort(&f->rows, &r->profile, (enum jsp_sort)sort);
    *out = f;
    return 0;
}

static int functions_row(const jsprof_read_functions *f, const struct jsp_function_row *from,
                         jsprof_read_function *out)
{
    jsprof_reader *r = f->reader;
    const struct jsp_profile *p = &r->profile;
    *out = (jsprof_read_function){
        .function = from->function, .line = from->line, .self = from->self,
        .total = from->total, .self_samples = from->self_samples,
        .total_samples = from->total_samples, .line_value = from->line_value,
        .jit_total = from->jit_total, .recorded = "", .kind = "", .module = "", .path = "",
        .file = from->file ? p->files[from->file] : "",
    };
    if (f->groups) { /* the table's own text, which ends before the reader does */
        const char *name = jsp_groups_name(f->groups, from->function);
        out->name = jsp_reader_text(r, (struct jsp_read_text){ name, (uint32_t)strlen(name) });
        return out->name ? 0 : -ENOMEM;
    }
    const struct jsp_function *function = &p->functions[from->function];
    out->name = function->name;
    out->recorded = function->recorded;
    out->kind = jsp_kind_name(from->kind);
    out->module = function->module;
    out->path = jsp_reader_text(r, function->path);
    return out->path ? 0 : -ENOMEM;
}

int64_t jsprof_read_function_rows(const jsprof_read_functions *f, uint64_t first,
                                  jsprof_read_function *out, uint64_t n)
{
    jsprof_read_function row;
    int64_t rows;
    if (!jsp_reader_range(f->rows.n, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        if (functions_row(f, &f->rows.rows[first + i], &row) < 0)
            return -ENOMEM;
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

int jsprof_read_functions_sum(const jsprof_read_functions *f, jsprof_read_sum *out)
{
    const jsprof_read_sum sum = { .value = f->rows.value, .samples = f->rows.samples,
                                  .weight = f->rows.weight };
    jsp_reader_give(out, 0, &sum, sizeof sum);
    return 0;
}

void jsprof_read_functions_close(jsprof_read_functions *f)
{
    if (!f)
        return;
    jsp_functions_free(&f->rows);
    jsp_groups_close(f->groups);
    free(f);
}
