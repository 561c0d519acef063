/* serve/top.h - `jsprof top`: what its loop and its pictures share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_TOP_H
#define JSP_SERVE_TOP_H

#include "cli/functions.h"
#include "cli/table.h"
#include "remote.h"

enum top_view { TOP_FUNCTIONS, TOP_LINES, TOP_THREADS, TOP_CATEGORIES, TOP_MODULES, TOP_N_VIEWS };
extern const char *const top_views[], *const top_sorts[];

/* What the user chose; keys change it. */
struct top_choice {
    enum top_view view;
    uint32_t sort;    /* in top_sorts */
    bool is_all;      /* since the recording began, not only the last seconds */
    bool has_native, is_vm_only;
    const char *thread;
    char only[128];   /* an expression; "": none */
};

/* A part of a recording that goes on. */
struct top_span {
    double from, to;  /* seconds since the recording began */
};

/* One picture. */
struct top_picture {
    const struct top_choice *choice;
    struct cli_capture capture;
    struct cli_functions rows;
    struct top_span span;
    uint64_t gc, expirations, lost;
    char error[160];  /* why it is empty; "": it is not */
};

/* Read what `path` has of the span, whose end becomes that of the file if this is later. `span`
 * may begin at 0: everything. The picture is empty if nothing can be read or chosen. */
void top_read(struct top_picture *p, const char *path, const struct top_choice *choice,
              struct top_span span);

/* Free what was read. */
void top_forget(struct top_picture *p);

/* Print the head of a picture: what is recorded, and how much of the time. */
void top_head(const struct top_picture *p, const struct remote_ask *ask);

/* Print at most `limit` rows; 0: all. Return the exit status. */
int top_rows(const struct top_picture *p, const struct cli_form *form, uint32_t limit);

extern const struct cli_document top_document;

#endif
