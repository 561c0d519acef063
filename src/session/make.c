/* session/make.c - the parts of a session: filled when it opens, freed at its end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/wire.h"
#include "image/descriptor.h"
#include "image/loaded.h"
#include "losses.h"
#include "process.h"

enum { MAKE_SLOT_PER_BYTES = 64 }; /* bytes of labels for each slot of their table */

static uint32_t make_pow2(uint32_t at_least)
{
    uint32_t n = 1;
    while (n < at_least)
        n *= 2;
    return n;
}

static void *make_map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

int jsp_session_new(struct jsprof **out, uint32_t label_bytes)
{
    struct jsprof *p = calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    uint32_t n_slots = make_pow2(label_bytes / MAKE_SLOT_PER_BYTES + JSP_ARENA_PROBES);
    p->label_bytes = label_bytes;
    p->slots_bytes = n_slots * sizeof(uint64_t);
    void *bytes = make_map(p->label_bytes), *slots = make_map(p->slots_bytes);
    if (!bytes || !slots) {
        if (bytes)
            munmap(bytes, p->label_bytes);
        free(p);
        return -ENOMEM;
    }
    struct jsp_arena_memory memory = { bytes, label_bytes, slots, n_slots };
    jsp_arena_init(&p->arena, &memory);
    *out = p;
    return 0;
}

static void make_read_text(const char *path, char *to, size_t size)
{
    int fd = jsp_descriptor_open(path, O_RDONLY, 0);
    ssize_t n = fd < 0 ? 0 : read(fd, to, size - 1);
    if (fd >= 0)
        close(fd);
    n = n < 0 ? 0 : n;
    to[n] = 0;
    for (ssize_t i = 0; i + 1 < n; i++) /* arguments are separated by NUL */
        if (!to[i] || to[i] == '\n')
            to[i] = ' ';
    if (n && to[n - 1] == '\n')
        to[n - 1] = 0;
}

/* PROCESS comes first. */
void jsp_session_describe(struct jsprof *p)
{
    static const char open_total[] = "total state=open\n";
    struct jsp_writer *w = &p->output.writer;
    char text[4096], number[16];

    make_read_text("/proc/self/cmdline", text, sizeof text);
    jsp_writer_process(w, *text ? text : program_invocation_name);
    jsp_file_writer(text);
    if (*text)
        jsp_writer_metadata(w, JSP_FILE_WRITER_ID, text);
    jsp_writer_metadata(w, "jsprof.version", JSPROF_VERSION_STRING);
    jsp_writer_metadata(w, "jsprof.clock", jsp_clocks[p->setup.clock].key);
    snprintf(number, sizeof number, "%u", (unsigned)p->hz);
    jsp_writer_metadata(w, "jsprof.hz", number);
    snprintf(number, sizeof number, "%u", (unsigned)p->setup.max_depth);
    jsp_writer_metadata(w, "jsprof.max_depth", number);
    if (p->setup.alloc) {
        snprintf(number, sizeof number, "%u", (unsigned)p->setup.alloc);
        jsp_writer_metadata(w, "jsprof.alloc", number);
    }
    if (jsp_tasks_stall(&p->tasks)) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)jsp_tasks_stall(&p->tasks));
        jsp_writer_metadata(w, "jsprof.stalls", text);
    }
    if (p->fold_ns) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)p->fold_ns);
        jsp_writer_metadata(w, "jsprof.fold", text);
    }
    make_read_text("/proc/self/comm", text, sizeof text);
    jsp_writer_metadata(w, "jsprof.host", *text ? text : program_invocation_short_name);
    if (p->native && access("/proc/self/maps", R_OK) < 0)
        jsp_writer_metadata(w, "jsprof.proc", "none");
    if (jsp_writer_reserve(w, JSP_WIRE_FILE_LOSSES, JSP_EMBEDDED_ACCOUNT) == 0)
        jsp_writer_fill(w, open_total, sizeof open_total - 1);
}

/* Sessions whose handles have a mark of their own; then marks repeat. */
static _Atomic uint64_t make_marks;

/* Give the tasks of this session their mark and numbers, or those after the parent's. */
static void make_tasks(struct jsprof *p, const struct jsp_session_setup *setup)
{
    if (!p->tasks.mark)
        /* ORDER: relaxed. Only uniqueness counts. */
        p->tasks.mark = atomic_fetch_add_explicit(&make_marks, 1, memory_order_relaxed) % 65535 + 1;
    jsp_tasks_set_stall(&p->tasks, setup->stall_ns);
    p->output.tasks.first = jsp_counted(&p->tasks.last_task) + 1;
}

static void make_set_up(struct jsprof *p, const struct jsp_session_setup *setup)
{
    uint32_t record = jsp_record_words(JSP_RECORD_FRAMES(setup->max_depth), setup->max_depth) +
                      JSP_TAGS_BYTES / 8;
    uint32_t words = setup->ring_bytes / (uint32_t)sizeof(uint64_t);
    p->pid = getpid();
    p->hz = setup->hz;
    p->chain = setup->chain;
    p->on_drain = setup->on_drain;
    p->on_drain_data = setup->on_drain_data;
    jsp_looker_open(&p->looker);
    jsp_codes_init(&p->codes);
    p->codes.announces = setup->gdb_jit;
    jsp_calls_open(&p->calls);
    jsp_perfmap_init(&p->perf);
    jsp_marks_init(&p->marks, p->pid);
    p->stray_before = jsp_tags_stray();
    p->tags_gone_before = jsp_counted(&p->tasks.n_tags_gone);
    make_tasks(p, setup);
    p->setup = (struct jsp_thread_setup){
        .session = p, .arena = &p->arena, .jit = &p->codes.handler,
        .map = setup->native ? &p->objects.map : NULL, .ask = &p->ask,
        .find_sigsafe = jsp_loaded_find(), .single = jsp_alone_flag(),
        .max_depth = setup->max_depth,
        .ring_words = make_pow2(words > 4 * record ? words : 4 * record),
        .period_ns = 1000000000u / setup->hz, .clock = setup->clock, .signo = setup->signo,
        .drain_sigsafe = jsp_alone_open(&p->alone, setup), .alloc = setup->alloc,
        .tasks = &p->tasks, .spares = &p->spares,
    };
}

static int make_allocs(struct jsprof *p)
{
    struct jsp_alloc_table *table =
        p->setup.alloc ? make_map(sizeof *p->setup.allocs) : NULL;
    if (p->setup.alloc && !table)
        return -ENOMEM;
    if (table)
        atomic_init(&table->holders, 1);
    p->setup.allocs = table;
    return 0;
}

/* A child goes on with the table of its parent. */
int jsp_session_slots(struct jsprof *p, uint64_t stall_ns)
{
    if (stall_ns && !p->tasks.table)
        p->tasks.table = make_map(sizeof *p->tasks.table);
    return stall_ns && !p->tasks.table ? -ENOMEM : 0;
}

int jsp_session_fill(struct jsprof *p, const struct jsp_session_setup *setup)
{
    make_set_up(p, setup);
    int err = make_allocs(p);
    if (!err)
        err = jsp_session_slots(p, setup->stall_ns);
    if (!err)
        err = setup->perf_map ? jsp_perfmap_open_map(&p->perf) : 0;
    if (!err && setup->dump)
        err = jsp_perfmap_open_dump(&p->perf, setup->file ? setup->file->name : "");
    if (!err && setup->native)
        err = jsp_objects_init(&p->objects);
    p->native = setup->native && !err;
    if (!err && setup->compact)
        err = jsp_output_pack(&p->output);
    if (!err)
        err = jsp_output_open(&p->output, setup->fd, &p->arena);
    if (!err && setup->file)
        err = jsp_output_empty(&p->output); /* the last step that can fail */
    if (err)
        return err;
    pthread_mutex_init(&p->change, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->served_cond, NULL);
    p->given = *setup;
    p->forks_before = jsp_process_forks();
    p->file = setup->file;
    p->output.writer.is_locked = setup->file != NULL;
    p->output.frames.codes = &p->codes;
    p->output.natives.objects = p->native ? &p->objects : NULL;
    p->output.allocs.every = setup->alloc;
    jsp_session_describe(p);
    jsp_marks_switch(&p->marks, !setup->dormant);
    return 0;
}

void jsp_session_free(struct jsprof *p)
{
    if (p->native)
        jsp_objects_free(&p->objects);
    jsp_perfmap_close(&p->perf);
    jsp_marks_free(&p->marks);
    jsp_codes_free(&p->codes);
    jsp_calls_close(&p->calls);
    jsp_thread_release_allocs(p->setup.allocs);
    jsp_spares_trim(&p->spares, 0);
    if (p->tasks.table)
        munmap(p->tasks.table, sizeof *p->tasks.table);
    munmap(p->arena.bytes, p->label_bytes);
    munmap(p->arena.slots, p->slots_bytes);
    free(p->file);
    jsp_keeper_free(p->given.keeper);
    free(p);
}
