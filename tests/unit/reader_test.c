/* reader_test.c - the reading library: inputs, sizes of structs, arrays, choices, errors.
 * The command asks it for its figures, so tests/cli says whether they are right.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jsprof-read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture_builder.h"
#include "test.h"

static struct builder b;
static jsprof_reader *r;
static jsprof_read_error error;

static void build(void)
{
    jsprof_read_close(r);
    r = NULL;
    free(b.bytes);
    build_start(&b, false);
    build_process(&b, "host script");
    build_metadata(&b, "jsprof.version", "0.1.0");
    build_jit(&b, build_tag(1), "main");
    build_jit(&b, build_tag(2), "work");
    for (int i = 0; i < 4; i++) {
        const uint64_t addrs[] = { build_tag(2), build_tag(1) };
        b.tid = i < 3 ? 100 : 200;
        build_sample(&b, addrs + (i == 0), i ? 2 : 1);
    }
    build_chunk(&b, "notes.txt", "first ", 6);
    build_chunk(&b, "other.txt", "x", 1);
    build_chunk(&b, "notes.txt", "second", 6);
}

static int open_it(jsprof_read_input in)
{
    jsprof_read_options o = { .size = sizeof o, .inputs = &in, .n_inputs = 1 };
    in.size = sizeof in;
    error.size = sizeof error;
    jsprof_read_close(r);
    r = NULL;
    return jsprof_read_open(&r, &o, &error);
}

static bool opened(void)
{
    build();
    return CHECK_EQ(open_it((jsprof_read_input){ .bytes = b.bytes, .n_bytes = b.size }), 0);
}

static uint64_t self_of(const char *name)
{
    jsprof_read_functions *f;
    jsprof_read_function row = { .size = sizeof row };
    uint64_t self = 0;
    if (jsprof_read_functions_open(&f, r, NULL, NULL) < 0)
        return 999;
    for (uint64_t i = 0; jsprof_read_function_rows(f, i, &row, 1) == 1; i++)
        if (strcmp(row.name, name) == 0)
            self = row.self;
    jsprof_read_functions_close(f);
    return self;
}

TEST(memory_a_descriptor_and_a_path_are_the_same_capture)
{
    char path[] = "/tmp/reader_test.XXXXXX";
    int fd = mkstemp(path), ends[2];
    build();
    CHECK(write(fd, b.bytes, b.size) == (ssize_t)b.size);
    CHECK_EQ(open_it((jsprof_read_input){ .path = path }), 0);
    CHECK_EQ(self_of("work"), 3);

    CHECK(pwrite(fd, b.bytes, b.size, 8) == (ssize_t)b.size);
    CHECK(lseek(fd, 8, SEEK_SET) == 8);
    CHECK_EQ(open_it((jsprof_read_input){ .fd = fd }), 0);
    close(fd);
    unlink(path);
    CHECK_EQ(self_of("work"), 3);

    CHECK_EQ(pipe(ends), 0);
    CHECK(write(ends[1], b.bytes, b.size) == (ssize_t)b.size);
    close(ends[1]);
    CHECK_EQ(open_it((jsprof_read_input){ .fd = ends[0] }), 0);
    close(ends[0]);
    CHECK_EQ(self_of("work"), 3);

    uint8_t *odd = malloc(b.size + 1);
    memcpy(odd + 1, b.bytes, b.size);
    CHECK_EQ(open_it((jsprof_read_input){ .bytes = odd + 1, .n_bytes = b.size }), 0);
    CHECK_EQ(self_of("work"), 3);
    free(odd); /* it was copied, because it is not aligned */
    CHECK_EQ(self_of("main"), 1);
}

/* A program that was built when the struct was shorter, and one when it was longer. */
TEST(a_struct_has_the_fields_that_both_sides_know)
{
    struct {
        jsprof_read_thread known;
        uint64_t later;
    } rows[3];
    struct {
        size_t size;
        int32_t pid, tid;
        uint64_t after;
    } old[3];
    if (!opened())
        return;
    memset(rows, 0xFF, sizeof rows);
    rows[0].known.size = sizeof rows[0];
    CHECK_EQ(jsprof_read_threads(r, 0, &rows[0].known, 3), 2);
    CHECK_EQ(rows[0].known.tid, 100);
    CHECK_EQ(rows[1].known.tid, 200);
    CHECK_EQ(rows[1].known.samples, 1);
    CHECK_EQ(rows[1].known.size, sizeof rows[0]);
    CHECK_EQ(rows[1].later, 0);
    CHECK(rows[2].later == UINT64_MAX);

    memset(old, 0xFF, sizeof old);
    old[0].size = 16;
    CHECK_EQ(jsprof_read_threads(r, 0, (jsprof_read_thread *)(void *)old, 1), 1);
    CHECK_EQ(old[0].tid, 100);
    CHECK(old[0].after == UINT64_MAX);
    old[0].size = 4; /* not even a size: nothing is written */
    old[0].tid = 7;
    CHECK_EQ(jsprof_read_threads(r, 0, (jsprof_read_thread *)(void *)old, 1), 1);
    CHECK_EQ(old[0].tid, 7);
}

TEST(an_array_says_how_many_and_ends)
{
    jsprof_read_thread t[2] = { { .size = sizeof *t }, { 0 } };
    if (!opened())
        return;
    CHECK_EQ(jsprof_read_threads(r, 0, NULL, 0), 2);
    CHECK_EQ(jsprof_read_threads(r, 1, NULL, 0), 1);
    CHECK_EQ(jsprof_read_threads(r, 1, t, 2), 1);
    CHECK_EQ(t[0].tid, 200);
    CHECK_EQ(jsprof_read_threads(r, 2, t, 2), 0);
    CHECK_EQ(jsprof_read_threads(r, UINT64_MAX, t, 2), 0);
    CHECK_EQ(jsprof_read_defects(r, 0, NULL, 0), 0);
    CHECK_EQ(jsprof_read_frames(r, 999, 0, NULL, 0), 0);
    CHECK_EQ(jsprof_read_losses(r, 999, 0, NULL, 0), 0);
    CHECK(jsprof_read_losses(r, JSPROF_READ_ALL, 0, NULL, 0) >= 7);
}

TEST(metadata_and_files_are_whole)
{
    jsprof_read_datum datum = { .size = sizeof datum };
    jsprof_read_file file = { .size = sizeof file };
    char bytes[32] = "";
    if (!opened())
        return;
    CHECK_EQ(jsprof_read_metadata(r, 0, &datum, 1), 1);
    CHECK_STR(datum.key, "jsprof.version");
    CHECK_STR(datum.value, "0.1.0");
    CHECK_EQ(jsprof_read_files(r, 0, NULL, 0), 2);
    CHECK_EQ(jsprof_read_files(r, 0, &file, 1), 1);
    CHECK_STR(file.path, "notes.txt");
    CHECK_EQ(file.n_bytes, 12);
    CHECK_EQ(jsprof_read_file_bytes(r, 0, 0, bytes, sizeof bytes), 12);
    CHECK_STR(bytes, "first second");
    memset(bytes, 0, sizeof bytes);
    CHECK_EQ(jsprof_read_file_bytes(r, 0, 4, bytes, 4), 4);
    CHECK_STR(bytes, "t se");
    CHECK_EQ(jsprof_read_file_bytes(r, 0, 12, bytes, 4), 0);
    CHECK_EQ(jsprof_read_file_bytes(r, 2, 0, bytes, 4), -EINVAL);
}

TEST(a_choice_that_fails_changes_nothing)
{
    jsprof_read_filter f = { .size = sizeof f, .thread = "200" };
    jsprof_read_error small = { .size = offsetof(jsprof_read_error, has_offset) };
    if (!opened())
        return;
    CHECK_EQ(jsprof_read_select(r, &f, NULL), 0);
    CHECK_EQ(self_of("work"), 1);
    f.only = "(";
    CHECK_EQ(jsprof_read_select(r, &f, &error), -EINVAL);
    CHECK_STR(error.option, "only");
    CHECK_EQ(self_of("work"), 1);
    f.only = NULL;
    f.thread = "7";
    CHECK_EQ(jsprof_read_select(r, &f, &small), -ENODATA);
    CHECK_EQ(small.code, -ENODATA);
    CHECK(!small.path && !*small.message);
    CHECK_EQ(self_of("work"), 1);
    CHECK_EQ(jsprof_read_select(r, NULL, &error), 0);
    CHECK_EQ(self_of("work"), 3);
}

TEST(samples_come_with_their_frames)
{
    jsprof_read_samples *s;
    jsprof_read_sample all[8] = { { .size = sizeof *all } };
    jsprof_read_frame frames[4] = { { .size = sizeof *frames } };
    if (!opened() || !CHECK_EQ(jsprof_read_samples_open(&s, r, NULL), 0))
        return;
    CHECK_EQ(jsprof_read_samples_next(s, all, 3), 3);
    CHECK_EQ(jsprof_read_samples_next(s, all + 3, 0), 0);
    CHECK_EQ(jsprof_read_frames(r, all[0].stack, 0, frames, 4), 1);
    CHECK_STR(frames[0].name, "main");
    CHECK_EQ(jsprof_read_frames(r, all[1].stack, 0, frames, 4), 2);
    CHECK_STR(frames[0].name, "work");
    CHECK_STR(frames[0].kind, "vm");
    CHECK_STR(frames[1].name, "main");
    CHECK(all[1].time > all[0].time);
    CHECK_EQ(jsprof_read_samples_next(s, all, 8), 1);
    CHECK_EQ(all[0].thread, 1);
    CHECK_EQ(jsprof_read_samples_next(s, all, 8), 0);
    jsprof_read_samples_close(s);
}

TEST(a_tree_has_parents_before_children)
{
    jsprof_read_tree *t;
    jsprof_read_node nodes[4] = { { .size = sizeof *nodes } };
    if (!opened() || !CHECK_EQ(jsprof_read_tree_open(&t, r, NULL, NULL), 0))
        return;
    CHECK_EQ(jsprof_read_nodes(t, 0, NULL, 0), 3);
    CHECK_EQ(jsprof_read_nodes(t, 0, nodes, 4), 3);
    CHECK_EQ(nodes[0].total, 4);
    CHECK_EQ(nodes[0].next, 3);
    CHECK_STR(nodes[0].name, "");
    CHECK_STR(nodes[1].name, "main");
    CHECK_EQ(nodes[1].self, 1);
    CHECK_EQ(nodes[1].n_children, 1);
    CHECK_STR(nodes[2].name, "work");
    CHECK_EQ(nodes[2].parent, 1);
    CHECK_EQ(nodes[2].depth, 2);
    CHECK_EQ(nodes[2].total, 3);
    jsprof_read_tree_close(t);
    const jsprof_read_shape up = { .size = sizeof up, .is_bottom_up = true };
    if (!CHECK_EQ(jsprof_read_tree_open(&t, r, &up, NULL), 0))
        return;
    CHECK_EQ(jsprof_read_nodes(t, 1, nodes, 1), 1);
    CHECK_STR(nodes[0].name, "work");
    jsprof_read_tree_close(t);
}

TEST(callers_of_a_function_that_is_not_there_are_refused)
{
    jsprof_read_neighbours *n;
    jsprof_read_calls *c;
    jsprof_read_listing *l;
    if (!opened())
        return;
    CHECK_EQ(jsprof_read_neighbours_open(&n, r, "nothing", &error), -ENOENT);
    CHECK_STR(error.message, "no function \"nothing\"");
    CHECK_EQ(jsprof_read_neighbours_open(&n, r, "work", &error), 0);
    CHECK_EQ(jsprof_read_callers(n, 0, NULL, 0), 1);
    CHECK_EQ(jsprof_read_callees(n, 0, NULL, 0), 0);
    jsprof_read_neighbours_close(n);
    CHECK_EQ(jsprof_read_calls_open(&c, r, &error), -ENODATA);
    CHECK_EQ(jsprof_read_listing_open(&l, r, 9, &error), -ENOENT);
    jsprof_read_neighbours_close(NULL);
    jsprof_read_calls_close(NULL);
    jsprof_read_listing_close(NULL);
    jsprof_read_tree_close(NULL);
    jsprof_read_events_close(NULL);
    jsprof_read_functions_close(NULL);
    jsprof_read_samples_close(NULL);
    jsprof_read_compare_close(NULL);
}

TEST(what_is_no_capture_is_refused_with_its_place)
{
    error.size = sizeof error;
    CHECK_EQ(open_it((jsprof_read_input){ .bytes = "not one", .n_bytes = 7 }), -EBADMSG);
    CHECK(error.has_offset && error.offset == 0 && !error.path);
    CHECK(strstr(error.message, "not a Sysprof capture"));
    CHECK_EQ(open_it((jsprof_read_input){ .path = "/nowhere" }), -ENOENT);
    CHECK_STR(error.path, "/nowhere");
    CHECK(!error.has_offset);
    CHECK_EQ(open_it((jsprof_read_input){ .fd = -1 }), -EBADF);
    CHECK_EQ(open_it((jsprof_read_input){ 0 }), -EINVAL);
    CHECK_EQ(jsprof_read_open(&r, NULL, &error), -EINVAL);
    CHECK_STR(error.option, "inputs");
    build();
    build_raw(&b, "\1\0\0\0\0\0\0\0", 8); /* a frame of one byte */
    CHECK_EQ(open_it((jsprof_read_input){ .bytes = b.bytes, .n_bytes = b.size }), 0);
    jsprof_read_defect defect = { .size = sizeof defect };
    CHECK_EQ(jsprof_read_defects(r, 0, &defect, 1), 1);
    CHECK_EQ(defect.count, 1);
    CHECK_EQ(defect.offset, b.size - 8);
    jsprof_read_close(NULL);
}

TEST_MAIN()
