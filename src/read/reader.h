/* read/reader.h - what the functions of the reading library share; for src/read, and for the
 * writers of src/export and src/page, and the recordings of src/serve.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_READ_READER_H
#define JSP_READ_READER_H

#include "jsprof-read.h"

#include "analyze/annotate.h"
#include "analyze/idle.h"
#include "export/sink.h"
#include "image/demangle.h"

/* What jsprof_read_select chose. All of it is replaced together. */
struct jsp_reader_choice {
    struct jsp_select select;
    struct jsp_categories *categories; /* owned; NULL: the built-in ones are not needed */
    bool *threads;                     /* owned; NULL: all */
    bool *left_out;                    /* owned; NULL: no stack */
    uint8_t *counts; /* owned, made when needed; by stack: 0 not known, 1 it does not count, 2 */
    struct jsp_idle_sum idle; /* what is left out because threads were idle */
    bool is_part;             /* it chooses by what threads were doing */
    struct jsp_store words;   /* what `select` borrows */
};

struct jsp_reader_text { /* a text that was given to the user */
    const char *at;
    uint32_t len;
};

struct jsp_reader_file { /* an embedded file and its parts, in file order */
    struct jsprof_read_file shown;
    struct jsp_read_text path;
    uint32_t first_part, last_part; /* positions in parts[] */
};

struct jsp_reader_part {
    const uint8_t *at;
    uint32_t len, next; /* next: the file's next part; 0: none */
};

struct jsprof_reader {
    struct jsp_read read;
    struct jsp_profile profile;
    struct jsp_naming_options naming;
    struct jsp_store words;  /* copies of the words of the options */
    struct jsp_bytes joined; /* several inputs as one capture */
    void *copy;              /* a capture in memory that was not aligned; owned */
    jsp_demangle_fn *demangle;
    int n_demanglers;        /* libraries in which it was looked for */
    bool is_part;            /* time or during chose a part */
    struct jsp_profile_samples rows; /* with JSPROF_READ_ROWS */
    bool has_rows;
    struct jsp_read_defects call_defects; /* of the last jsprof_read_calls_open */
    struct jsp_reader_choice choice;

    struct jsp_store store; /* of texts[] */
    struct jsp_hash by_text;
    struct jsp_reader_text *texts;
    uint32_t n_texts, texts_room;

    /* read in one pass, when one of them is asked for */
    bool is_scanned;
    struct jsprof_read_datum *data;
    struct jsp_reader_file *files;
    struct jsp_reader_part *parts; /* parts[0] is none */
    struct jsp_hash by_file;
    uint32_t n_data, data_room, n_files, files_room, n_parts, parts_room;

    struct jsp_profile_frame *frames; /* of `stack`; room for JSP_PROFILE_DEPTH */
    uint32_t n_frames, stack;         /* stack: UINT32_MAX: of none */
};

/* Describe a failure, and return its code. `e` may be NULL. */
struct jsp_reader_fault {
    int code; /* a negative errno */
    const char *path, *option;
    bool has_offset;
    uint64_t offset;
};
int jsp_reader_fail(jsprof_read_error *e, struct jsp_reader_fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Describe a failure that an errno says in full. Return the code; 0 is none. */
int jsp_reader_errno(jsprof_read_error *e, int code, const char *path);

/* Find a word among names, which end with NULL. Return its number, or -EINVAL, described. */
int jsp_reader_word(jsprof_read_error *e, const char *option, const char *word,
                    const char *const *names);

/* Copy a struct of the user, as large as `size`, which its first field has; what it lacks is 0.
 * NULL is a zeroed one. */
void jsp_reader_take(void *to, size_t size, const void *from);

/* Copy a row to element `i` of the user's array. */
void jsp_reader_give(void *out, uint64_t i, const void *row, size_t size);

/* Set *n_rows to how many of `all` rows from `first` on the user gets, or with n = 0 is told of.
 * Return true if there are rows to give. */
bool jsp_reader_range(uint64_t all, uint64_t first, uint64_t n, const void *out,
                      int64_t *n_rows);

/* Keep a text until the reader is closed; equal texts are kept once. NULL: no memory. */
const char *jsp_reader_text(jsprof_reader *r, struct jsp_read_text text);

/* Copy a word of the user into a store; NULL remains NULL. Return 0 or -ENOMEM. */
int jsp_reader_keep(struct jsp_store *s, const char **word);

/* Return 1 if the stack counts, 0, or -ENOMEM. */
int jsp_reader_counts(jsprof_reader *r, uint32_t stack);

/* Store the frames of a stack in r->frames. Return 0 or -ENOMEM. */
int jsp_reader_frames(jsprof_reader *r, uint32_t stack);

/* Store frames as rows of the user. */
void jsp_reader_frame_rows(const jsprof_reader *r, const struct jsp_profile_frame *from,
                           jsprof_read_frame *out, uint64_t n);

/* Give the frames on which tasks were made; `stack` is in stacks[] of the tasks, or none. */
struct jsp_reader_rows { /* as the user asked for them */
    uint64_t first;
    jsprof_read_frame *out;
    uint64_t n;
};
struct jsp_tasks;
int64_t jsp_reader_task_frames(jsprof_reader *r, const struct jsp_tasks *t, uint32_t stack,
                               const struct jsp_reader_rows *to);

/* Give the causes of which there are any. */
int64_t jsp_reader_defects(const struct jsp_read_defects *d, uint64_t first,
                           jsprof_read_defect *out, uint64_t n);

/* Add up the accounts of one thread. */
struct jsp_account_thread jsp_reader_sum(const struct jsp_thread_info *t);

/* Describe that the capture has no tasks. Return -ENODATA. */
int jsp_reader_no_tasks(jsprof_read_error *e);

/* Free what the words of the choice have become. */
void jsp_reader_choice_free(struct jsp_reader_choice *c);

/* Read a span of time, "2s..5s", as ns from the start; *to 0: the end. */
bool jsp_reader_time(const char *word, uint64_t *from, uint64_t *to);

/* Choose threads, as --thread and --process do. *flags is owned by the caller, NULL: all. */
int jsp_reader_threads(const struct jsp_profile *p, const jsprof_read_filter *f, bool **flags,
                       jsprof_read_error *e);

/* For jsp_profile_options: the demangler of this machine's C++ library, which is loaded when the
 * first name needs it. The context is the reader. */
char *jsp_reader_demangle(void *reader, const char *name);

#endif
