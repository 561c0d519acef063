/* export/firefox_shared.c - categories and times, which all parts of a Firefox profile have.
 *
 * SPDX-License-Identifier: MIT
 */
#include "firefox.h"
#include "jsprof.h"

/* Categories by kind of frame. One must be grey: it is for all other kinds. */
static const struct {
    const char *name, *color;
} firefox_categories[] = {
    { "Other", "grey" },      { "Interpreter", "yellow" }, { "JIT", "lightblue" },
    { "Native", "blue" },     { "Kernel", "orange" },      { "Label", "green" },
    { "GC / CC", "brown" },
};
enum { FIREFOX_N_CATEGORIES = sizeof firefox_categories / sizeof *firefox_categories };

uint32_t firefox_category(uint32_t kind)
{
    switch (kind) {
    case JSPROF_KIND_VM: return 1;
    case JSPROF_KIND_JIT: return 2;
    case JSPROF_KIND_NATIVE: return 3;
    case JSP_KIND_KERNEL: return 4;
    case JSPROF_KIND_LABEL: return 5;
    case JSPROF_KIND_GC: return 6;
    default: return 0;
    }
}

void firefox_time(struct firefox *x, int64_t time)
{
    jsp_json_ms(&x->json, time < x->p->start_time
                              ? 0
                              : (uint64_t)time - (uint64_t)x->p->start_time);
}

void firefox_category_list(struct firefox *x)
{
    struct jsp_json *j = &x->json;
    jsp_json_key_open(j, "categories", '[');
    for (uint32_t i = 0; i < FIREFOX_N_CATEGORIES; i++) {
        jsp_json_open(j, '{');
        jsp_json_key_text(j, "name", firefox_categories[i].name);
        jsp_json_key_text(j, "color", firefox_categories[i].color);
        jsp_json_key_open(j, "subcategories", '[');
        jsp_json_text(j, "Other");
        for (uint32_t k = 0; k < jsp_categories_n(x->e->categories); k++)
            jsp_json_text(j, jsp_categories_name(x->e->categories, k));
        jsp_json_close(j, ']');
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
}
