/* sysprof_reader.c - what the real libsysprof-4 says of a capture, as lines of text.
 *
 * SPDX-License-Identifier: MIT
 *
 *     sysprof_reader FILE [GROUP]
 *
 * "first TYPE" is the first frame that is a PROCESS or a SAMPLE, "samples N" their
 * count by the capture cursor, then for each function of the call graph
 * "self<TAB>total<TAB>name", both in samples. A total counts a sample once, however
 * often the function is on its stack. With GROUP, the marks of this group instead, as
 * "duration<TAB>name<TAB>message".
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sysprof.h>

/* The call graph's nodes have no public header; this is their layout in release
 * 3.46. A wrong one shows at once: the root's total would not be the sample count. */
struct reader_node {
    uint64_t name; /* a string, interned: equal names are equal pointers */
    unsigned total;
    unsigned size_and_toplevel;
    struct reader_node *parent, *siblings, *children, *next;
};

struct reader_stash {
    int references;
    struct reader_node *root;
};

struct reader_function {
    uint64_t name;
    unsigned self, total;
};

enum { READER_FUNCTIONS = 4096 };
static struct reader_function reader_functions[READER_FUNCTIONS];
static unsigned reader_samples;
static const char *reader_first;

static bool reader_count(const SysprofCaptureFrame *frame, void *data)
{
    (void)data;
    bool is_sample = frame->type == SYSPROF_CAPTURE_FRAME_SAMPLE;
    if (!reader_first)
        reader_first = is_sample ? "SAMPLE" : "PROCESS";
    reader_samples += is_sample;
    return true;
}

static void reader_scan(SysprofCaptureReader *reader)
{
    static const SysprofCaptureFrameType types[] = { SYSPROF_CAPTURE_FRAME_SAMPLE,
                                                     SYSPROF_CAPTURE_FRAME_PROCESS };
    SysprofCaptureCursor *cursor = sysprof_capture_cursor_new(reader);
    sysprof_capture_cursor_add_condition(
        cursor, sysprof_capture_condition_new_where_type_in(2, types));
    sysprof_capture_cursor_foreach(cursor, reader_count, NULL);
    sysprof_capture_cursor_unref(cursor);
    printf("first %s\nsamples %u\n", reader_first ? reader_first : "none",
           reader_samples);
}

static unsigned reader_self(const struct reader_node *n)
{
    unsigned self = n->total;
    for (const struct reader_node *c = n->children; c; c = c->siblings)
        self -= c->total;
    return self;
}

static struct reader_function *reader_find(uint64_t name)
{
    struct reader_function *f = reader_functions;
    while (f->name && f->name != name && f < reader_functions + READER_FUNCTIONS - 1)
        f++;
    f->name = name;
    return f;
}

/* Only the outermost node of a recursion counts towards its function's total. */
static void reader_walk(const struct reader_node *n)
{
    for (; n; n = n->siblings) {
        struct reader_function *f = reader_find(n->name);
        const struct reader_node *up = n->parent;
        while (up && up->name != n->name)
            up = up->parent;
        f->self += reader_self(n);
        f->total += up ? 0 : n->total;
        reader_walk(n->children);
    }
}

static void reader_done(GObject *profile, GAsyncResult *result, gpointer loop)
{
    GError *error = NULL;
    if (!sysprof_profile_generate_finish(SYSPROF_PROFILE(profile), result, &error))
        fprintf(stderr, "sysprof_reader: %s\n", error ? error->message : "no call graph");
    g_main_loop_quit(loop);
}

static void reader_graph(SysprofCaptureReader *reader)
{
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    SysprofProfile *profile = sysprof_callgraph_profile_new();
    sysprof_profile_set_reader(profile, reader);
    sysprof_profile_generate(profile, NULL, reader_done, loop);
    g_main_loop_run(loop);
    struct reader_stash *stash =
        sysprof_callgraph_profile_get_stash(SYSPROF_CALLGRAPH_PROFILE(profile));
    if (stash)
        reader_walk(stash->root->children);
    for (struct reader_function *f = reader_functions; f->name; f++)
        printf("%u\t%u\t%s\n", f->self, f->total, (const char *)(uintptr_t)f->name);
    g_object_unref(profile);
    g_main_loop_unref(loop);
}

static void reader_marks(SysprofCaptureReader *reader, const char *group)
{
    SysprofCaptureFrameType type;
    while (sysprof_capture_reader_peek_type(reader, &type)) {
        const SysprofCaptureMark *mark = NULL;
        if (type == SYSPROF_CAPTURE_FRAME_MARK)
            mark = sysprof_capture_reader_read_mark(reader);
        else if (!sysprof_capture_reader_skip(reader))
            break;
        if (mark && strcmp(mark->group, group) == 0)
            printf("%lld\t%s\t%s\n", (long long)mark->duration, mark->name, mark->message);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3)
        return fprintf(stderr, "usage: sysprof_reader FILE [GROUP]\n"), 2;
    SysprofCaptureReader *reader = sysprof_capture_reader_new(argv[1]);
    if (!reader)
        return perror(argv[1]), 1;
    if (argc == 3) {
        reader_marks(reader, argv[2]);
    } else {
        reader_scan(reader);
        sysprof_capture_reader_reset(reader);
        reader_graph(reader);
    }
    sysprof_capture_reader_unref(reader);
    return 0;
}
