/* painting.cpp - the frames that GTK paints, as marks, a counter and tasks of the recording; and
 * those of gnome-shell as tasks.
 *
 * SPDX-License-Identifier: MIT
 *
 * A GdkFrameClock emits signals while a frame is painted. Emission hooks see those of all
 * clocks. Nothing here is linked with GTK or GLib: a program that does not use them has
 * neither. GTK 3 and 4 have the same signals. gnome-shell draws a stage, which emits signals where
 * the frame of a monitor begins and ends.
 */
#include "recording.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>

#include <glib-object.h>

#include "frames.h"

namespace {

constexpr size_t PAINTING_CLOCKS = 16; /* one for each window; further ones share them */
constexpr int64_t PAINTING_USUAL_US = 16667; /* between frames, where GDK does not know it */

/* One clock. Times of GDK are in microseconds, ours in nanoseconds, of the same clock. */
struct painting {
    void *clock;       /* only compared; nullptr: not used yet. A later one may be at its place */
    int64_t counter;   /* of its last frame */
    uint64_t begin_ns; /* of the frame that is painted; 0: none */
    uint64_t phase_ns; /* of its phase, which has this name */
    const char *phase;
    int64_t frame_us;  /* the last frame's time */
    bool goes_on;      /* after the last frame, somebody waited for the next */
};

/* GTK has one thread. */
painting painting_clocks[PAINTING_CLOCKS];
int64_t painting_missed;

GClassInitFunc painting_class_init; /* GDK's own */

/* What is called of GLib and GDK; nullptr: not found. */
struct {
    decltype(g_signal_lookup) *lookup;
    decltype(g_signal_add_emission_hook) *add_hook;
    decltype(g_signal_has_handler_pending) *is_awaited;
    int64_t (*frame_time)(void *clock);
    int64_t (*counter)(void *clock);
    void (*refresh)(void *clock, int64_t base_us, int64_t *interval_us, int64_t *shown_us);
} painting_calls;

guint painting_update; /* the signal that a tick callback waits for */

const char painting_group[] = "GTK";

/* A new clock gets the place of the one that has been quiet for the longest time. */
painting *painting_of(void *clock)
{
    painting *oldest = painting_clocks;

    for (painting &p : painting_clocks) {
        if (p.clock == clock)
            return &p;
        if (p.phase_ns < oldest->phase_ns)
            oldest = &p;
    }
    *oldest = {};
    oldest->clock = clock;
    return oldest;
}

/* Frames were missed if an animation was to go on, and this frame is later than the next one
 * was due. Each clock counts its frames from 0: another number is another clock's. */
void painting_count_missed(painting *p, int64_t now_us)
{
    const int64_t counter = painting_calls.counter(p->clock);
    const bool is_next = counter == p->counter + 1;
    int64_t interval_us = 0, shown_us = 0;
    char message[64];

    p->counter = counter;
    painting_calls.refresh(p->clock, now_us, &interval_us, &shown_us);
    if (interval_us <= 0)
        interval_us = PAINTING_USUAL_US;
    const int64_t missed = (now_us - p->frame_us + interval_us / 2) / interval_us - 1;
    if (!is_next || !p->frame_us || !p->goes_on || missed < 1)
        return;
    const auto due_us = static_cast<uint64_t>(p->frame_us + interval_us);
    snprintf(message, sizeof message, "%" PRId64 " before frame %" PRId64, missed, counter);
    recording_mark(painting_group, 1000 * due_us, "Missed", message);
    painting_missed += missed;
    recording_counter(painting_group, "Missed frames", static_cast<double>(painting_missed));
}

void painting_frame_begins(painting *p)
{
    const int64_t now_us = painting_calls.frame_time(p->clock);

    painting_count_missed(p, now_us);
    p->begin_ns = jsprof_now();
    p->frame_us = now_us;
}

void painting_frame_ends(painting *p)
{
    char message[64];

    snprintf(message, sizeof message, "frame %" PRId64, p->counter);
    recording_mark(painting_group, p->begin_ns, "Frame", message);
    p->begin_ns = 0;
    p->goes_on = painting_calls.is_awaited(p->clock, painting_update, 0, TRUE);
}

/* The signals of a frame, and the phases that begin with them. */
struct painting_step {
    const char *signal;
    const char *phase; /* nullptr: the frame ends */
};
const painting_step painting_steps[] = {
    { "before-paint", "Before paint" }, { "update", "Update" },   { "layout", "Layout" },
    { "paint", "Paint" },               { "after-paint", nullptr },
};

/* GLib calls it when an emission begins. Not every frame has every phase. */
gboolean painting_on_signal(GSignalInvocationHint *, guint, const GValue *values, void *data)
{
    const auto *step = static_cast<const painting_step *>(data);
    painting *p = painting_of(values[0].data[0].v_pointer);

    if (!recording_is_open())
        return TRUE;
    if (step == painting_steps)
        frames_begin(painting_group);
    if (step->phase)
        frames_phase(step->phase);
    else
        frames_end();
    if (step == painting_steps)
        painting_frame_begins(p);
    else if (p->begin_ns)
        recording_mark(painting_group, p->phase_ns, p->phase, nullptr);
    p->phase = step->phase;
    p->phase_ns = jsprof_now();
    if (p->begin_ns && !step->phase)
        painting_frame_ends(p);
    return TRUE;
}

template <class Function> bool painting_find(void *library, Function **out, const char *name)
{
    *out = reinterpret_cast<Function *>(dlsym(library, name));
    return *out;
}

/* `inside` is an address in GDK. A program may have loaded it for itself alone. */
bool painting_find_calls(const void *inside)
{
    Dl_info gdk;
    void *library = dladdr(inside, &gdk) ? dlopen(gdk.dli_fname, RTLD_NOLOAD | RTLD_LAZY) : nullptr;

    return library && painting_find(library, &painting_calls.lookup, "g_signal_lookup") &&
           painting_find(library, &painting_calls.add_hook, "g_signal_add_emission_hook") &&
           painting_find(library, &painting_calls.is_awaited, "g_signal_has_handler_pending") &&
           painting_find(library, &painting_calls.frame_time, "gdk_frame_clock_get_frame_time") &&
           painting_find(library, &painting_calls.counter, "gdk_frame_clock_get_frame_counter") &&
           painting_find(library, &painting_calls.refresh, "gdk_frame_clock_get_refresh_info");
}

/* The signals exist when the class is initialized, once a process. */
void painting_on_class(void *clock_class, void *data)
{
    painting_class_init(clock_class, data);
    if (!painting_find_calls(reinterpret_cast<void *>(painting_class_init)))
        return;
    const GType type = G_TYPE_FROM_CLASS(clock_class);
    painting_update = painting_calls.lookup("update", type);
    for (const painting_step &step : painting_steps)
        painting_calls.add_hook(painting_calls.lookup(step.signal, type), 0, painting_on_signal,
                                const_cast<painting_step *>(&step), nullptr);
}

/* -- gnome-shell's stage ------------------------------------------------------------------ */

GClassInitFunc painting_stage_init; /* Clutter's own */

gboolean painting_on_stage(GSignalInvocationHint *, guint, const GValue *, void *begins)
{
    if (!recording_is_open())
        return TRUE;
    if (begins)
        frames_begin("Clutter");
    else
        frames_end();
    return TRUE;
}

void painting_on_stage_class(void *stage_class, void *data)
{
    static const char *const signals[] = { "after-update", "before-update" };

    painting_stage_init(stage_class, data);
    auto *lookup = reinterpret_cast<decltype(g_signal_lookup) *>(dlsym(RTLD_DEFAULT,
                                                                       "g_signal_lookup"));
    auto *add_hook = reinterpret_cast<decltype(g_signal_add_emission_hook) *>(
        dlsym(RTLD_DEFAULT, "g_signal_add_emission_hook"));
    for (size_t i = 0; i < 2 && lookup && add_hook; i++) {
        const guint signal = lookup(signals[i], G_TYPE_FROM_CLASS(stage_class));

        if (signal)
            add_hook(signal, 0, painting_on_stage, reinterpret_cast<void *>(i), nullptr);
    }
}

const char painting_register[] = "g_type_register_static_simple";

using painting_registers = decltype(g_type_register_static_simple);

/* Find GLib's own function. If the program has loaded GLib for itself alone, only the library
 * that calls finds it. */
painting_registers *painting_next(const void *caller)
{
    static void *const next = dlsym(RTLD_NEXT, painting_register);
    Dl_info its;
    void *library, *found = next;

    if (!found && dladdr(caller, &its) &&
        (library = dlopen(its.dli_fname, RTLD_NOLOAD | RTLD_LAZY))) {
        found = dlsym(library, painting_register);
        dlclose(library);
    }
    return reinterpret_cast<painting_registers *>(found);
}

} // namespace

/* GDK registers the type of its clocks through it, Clutter that of its stage. */
extern "C" __attribute__((visibility("default"))) GType g_type_register_static_simple(
    GType parent, const gchar *name, guint class_size, GClassInitFunc class_init,
    guint instance_size, GInstanceInitFunc instance_init, GTypeFlags flags)
{
    painting_registers *next = painting_next(__builtin_return_address(0));

    if (!next)
        return G_TYPE_INVALID;
    if (name && strcmp(name, "GdkFrameClock") == 0 && !painting_class_init) {
        painting_class_init = class_init;
        class_init = painting_on_class;
    }
    if (name && strcmp(name, "ClutterStage") == 0 && !painting_stage_init) {
        painting_stage_init = class_init;
        class_init = painting_on_stage_class;
    }
    return next(parent, name, class_size, class_init, instance_size, instance_init, flags);
}
