/* plugin_test.c - a host that compiles plugins, opens each and calls into it at once, and
 * closes it for the next one, which the loader puts where the last one was: stacks through
 * them are whole from the first sample on.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stack.h"

#include <dlfcn.h>

enum { PLUGINS = 12, OPENS = 60, OPEN_MS = 12 };
/* Of a thousand samples in plugins, so many reach the program. A library in another's place is
 * noticed where a walk breaks. */
enum { WHOLE = 900, WHOLE_IN_PLACE = 300, WHOLE_LATE = 100 };

STACK_DECLARE(program);
static const struct stack_known known[] = { STACK_KNOWN(program) };

typedef int plugin_step(void);
typedef int plugin_run(plugin_step *step);

static struct host h;
static jsprof_thread *me;
static char folder[] = "/tmp/jsprof-plugin-XXXXXX";
static struct host_burn step_burn;
static uint64_t step_last, windows[OPENS][2];
static uint32_t n_windows;

/* Frames of other sizes at the same addresses: rows of one are wrong for another. */
static bool compile(int i)
{
    static const char text[] =
        "typedef int step(void);\n"
        "__attribute__((noinline)) int plugin_%d(step *on) {\n"
        "    volatile char room[%d]; int n = 0;\n"
        "    while (on()) room[n++ %% %d] = 1;\n"
        "    return room[0] + n; }\n"
        "int run(step *on) { volatile char room[%d]; room[3] = 1;\n"
        "    return plugin_%d(on) + room[3]; }\n";
    const char *cc = getenv("CC");
    char path[64], command[512];
    snprintf(path, sizeof path, "%s/%d.c", folder, i);
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    fprintf(f, text, i, 256 << i % 6, 256 << i % 6, 1024 << i % 4, i);
    fclose(f);
    snprintf(command, sizeof command, "%s -O2 -fPIC -shared -fomit-frame-pointer "
             "-o %s/%d.so %s >/dev/null 2>&1", cc && *cc ? cc : "cc", folder, i, path);
    return system(command) == 0;
}

static bool compile_all(void)
{
    bool good = mkdtemp(folder) != NULL;
    for (int i = 0; good && i < PLUGINS; i++)
        good = compile(i);
    return good;
}

static void remove_all(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        printf("# %s stays\n", folder);
}

static int step(void)
{
    static volatile uint64_t sink;
    for (int i = 0; i < 2000; i++)
        sink = sink + (uint64_t)i;
    bool on = host_burn_on(&step_burn);
    step_last = on ? host_ns(CLOCK_MONOTONIC) : step_last;
    return on;
}

static STACK_PLACED(program) int program(plugin_run *run)
{
    int n = run(step);
    return n + 1; /* no tail call */
}

/* Open and call; the time is noted. */
static void *one(int i, unsigned ms)
{
    char path[64];
    plugin_run *run;
    snprintf(path, sizeof path, "%s/%d.so", folder, i);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = object ? dlsym(object, "run") : NULL;
    memcpy(&run, &symbol, sizeof run);
    if (!CHECK(symbol != NULL))
        return NULL;
    uint64_t *window = windows[n_windows++];
    step_burn = host_burn_begin(ms);
    step_last = window[0] = host_ns(CLOCK_MONOTONIC);
    program(run);
    window[1] = step_last;
    return object;
}

static struct seen {
    uint64_t n, n_whole;
} seen;

static void look(const struct stack *stack, void *arg)
{
    bool inside = false, whole = false;
    (void)arg;
    for (uint32_t i = 0; i < n_windows; i++)
        inside = inside || (stack->time_ns >= windows[i][0] && stack->time_ns < windows[i][1]);
    for (uint32_t i = 0; i < stack->n; i++)
        whole = whole || strcmp(stack->names[i], "program") == 0;
    seen.n += inside;
    seen.n_whole += inside && whole;
}

static bool begin(uint32_t hz)
{
    n_windows = 0;
    seen = (struct seen){ 0, 0 };
    return host_begin_with(&h, host_options(hz, JSPROF_CLOCK_WALL), &me);
}

/* Of the stacks seen inside the plugins, per mille, how many reach the program. Without
 * _dl_find_object the drain has to look first. */
static void check_whole(unsigned least)
{
    bool finds = dlsym(RTLD_DEFAULT, "_dl_find_object");
    struct stack_reader reader = { known, sizeof known / sizeof *known, look, NULL };
    stack_each(&h, &reader);
    printf("# %llu of %llu samples whole\n", (unsigned long long)seen.n_whole,
           (unsigned long long)seen.n);
    if (HOST_LATE)
        return;
    CHECK(seen.n > 20);
    CHECK(seen.n_whole * 1000 >= seen.n * (finds ? least : WHOLE_LATE));
}

static void finish(void)
{
    CHECK_EQ(jsprof_thread_detach(me), 0);
}

TEST(stacks_through_plugins_that_were_just_opened_are_whole)
{
    void *objects[PLUGINS];
    if (!begin(4000))
        return;
    for (int i = 0; i < PLUGINS; i++)
        if ((objects[i] = one(i, OPEN_MS)) == NULL)
            return;
    if (host_close(&h)) {
        check_whole(WHOLE);
        CHECK(h.stats.stop_no_table * 1000 <= seen.n * (1000 - WHOLE) || HOST_LATE);
    }
    for (int i = 0; i < PLUGINS; i++)
        dlclose(objects[i]);
    finish();
}

TEST(plugin_in_the_place_of_another_one_is_walked_by_its_own_rows)
{
    if (!begin(4000))
        return;
    for (int i = 0; i < OPENS; i++) {
        void *object = one(i % PLUGINS, OPEN_MS);
        if (!object)
            return;
        dlclose(object);
    }
    if (host_close(&h))
        check_whole(WHOLE_IN_PLACE);
    finish();
}

int main(void)
{
    if (!compile_all()) {
        puts("1..0 # SKIP: needs a C compiler");
        remove_all();
        return 0;
    }
    RUN_ALL();
    remove_all();
    return DONE();
}
