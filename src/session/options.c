/* session/options.c - see options.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clocks.h"
#include "explain.h"
#include "sigsafe/record.h"

struct options_number {
    const char *name;
    const char *also; /* a second name, or NULL */
    size_t offset; /* of a uint32_t or an int */
    uint32_t low, high, usual;
};

#define NUMBER(field, also, low, high, usual) \
    { #field, also, offsetof(jsprof_options, field), low, high, usual }

static const struct options_number options_numbers[] = {
    NUMBER(hz, NULL, 1, 10000, 1000),
    NUMBER(max_depth, "depth", 1, JSP_RECORD_DEEPEST, 512),
    NUMBER(ring_bytes, NULL, 1 << 14, 1 << 30, 1 << 19),
    NUMBER(label_bytes, NULL, 4096, 8 << 20, 8 << 20),
    NUMBER(signo, NULL, 1, _NSIG - 1, SIGPROF),
    NUMBER(alloc, NULL, 0, 1 << 30, 0),
    NUMBER(segment_s, NULL, 1, 3600, 10),
    NUMBER(keep_s, NULL, 24, 100 * 86400, 86400),
    NUMBER(keep_mib, NULL, 1, 1 << 20, 64),
};

struct options_flag {
    const char *name;
    uint32_t flag;
};

static const struct options_flag options_flags[] = {
    { "chain", JSPROF_CHAIN },         { "nofollow", JSPROF_NOFOLLOW },
    { "no_native", JSPROF_NO_NATIVE }, { "perf_map", JSPROF_PERF_MAP },
    { "jitdump", JSPROF_JITDUMP },     { "compact", JSPROF_COMPACT },
    { "no_thread", JSPROF_NO_THREAD }, { "children", JSPROF_CHILDREN },
    { "sched", JSPROF_SCHED },         { "control", JSPROF_CONTROL },
    { "gdb_jit", JSPROF_GDB_JIT },
};

enum {
    OPTIONS_NUMBERS = sizeof options_numbers / sizeof *options_numbers,
    OPTIONS_FLAGS = sizeof options_flags / sizeof *options_flags,
    OPTIONS_ALLOC_RING = 1 << 22, /* programs allocate in bursts */
    OPTIONS_CONTINUOUS_RING = 1 << 18,
    OPTIONS_CONTINUOUS_HZ = 19, /* in step with nothing that has round numbers */
};

#define OPTIONS_SOURCES (JSPROF_LOOKER | JSPROF_TIMER | JSPROF_PERF)

static const uint64_t options_stalls_most = UINT64_C(3600000000000); /* ns */

/* -- Ranges ----------------------------------------------------------------- */

static int options_check_number(jsprof_options *o, const struct options_number *n)
{
    bool is_signed = n->offset == offsetof(jsprof_options, signo);
    uint32_t value;
    memcpy(&value, (char *)o + n->offset, sizeof value);
    if (!value)
        value = n->usual;
    if (value < n->low || value > n->high)
        return jsp_explain(-EINVAL, "%s is %lld: %u to %u is allowed", n->name,
                           is_signed ? (long long)(int)value : (long long)value,
                           (unsigned)n->low, (unsigned)n->high);
    memcpy((char *)o + n->offset, &value, sizeof value);
    return 0;
}

#define OPTIONS_OR_CLOCK(CLOCK, key, unit, name, meaning) " or JSPROF_CLOCK_" #CLOCK

static int options_check_rest(const jsprof_options *o)
{
    uint32_t known = JSPROF_USE_FD | OPTIONS_SOURCES | JSPROF_DESCRIBE;
    for (int i = 0; i < OPTIONS_FLAGS; i++)
        known |= options_flags[i].flag;
    if (o->clock < 0 || o->clock >= JSP_N_CLOCKS)
        return jsp_explain(-EINVAL, "clock is %d: %s is allowed", o->clock,
                           &(JSP_CLOCKS(OPTIONS_OR_CLOCK))[sizeof " or " - 1]);
    if (o->stalls > options_stalls_most)
        return jsp_explain(-EINVAL, "stalls is %llu ns: up to an hour is allowed",
                           (unsigned long long)o->stalls);
    if (o->flags & ~known)
        return jsp_explain(-EINVAL, "flags are %#x: this version does not know %#x",
                           (unsigned)o->flags, (unsigned)(o->flags & ~known));
    uint32_t sources = o->flags & OPTIONS_SOURCES;
    if (sources & (sources - 1))
        return jsp_explain(-EINVAL, "flags are %#x: one of JSPROF_LOOKER, JSPROF_TIMER and "
                           "JSPROF_PERF is allowed", (unsigned)o->flags);
    return 0;
}

/* What a continuous recording can not have. */
static int options_check_continuous(const jsprof_options *o)
{
    static const struct options_flag not[] = {
        { "use_fd", JSPROF_USE_FD }, { "describe", JSPROF_DESCRIBE }, { "sched", JSPROF_SCHED },
        { "children", JSPROF_CHILDREN }, { "perf_map", JSPROF_PERF_MAP },
        { "jitdump", JSPROF_JITDUMP },
    };
    const char *why = o->path ? "path" : o->alloc ? "alloc" : o->stalls ? "stalls" : NULL;
    for (size_t i = 0; !why && i < sizeof not / sizeof *not; i++)
        why = o->flags & not[i].flag ? not[i].name : NULL;
    return why ? jsp_explain(-EINVAL, "continuous: not together with %s", why) : 0;
}

int jsp_options_complete(jsprof_options *o)
{
    int err = o->continuous ? options_check_continuous(o) : 0;
    if (o->continuous && !o->hz)
        o->hz = OPTIONS_CONTINUOUS_HZ;
    if (o->continuous && !o->ring_bytes)
        o->ring_bytes = OPTIONS_CONTINUOUS_RING;
    if (o->alloc && !o->ring_bytes)
        o->ring_bytes = OPTIONS_ALLOC_RING;
    for (int i = 0; !err && i < OPTIONS_NUMBERS; i++)
        err = options_check_number(o, &options_numbers[i]);
    if (o->alloc == 1)
        o->alloc = JSPROF_ALLOC_USUAL;
    return err ? err : options_check_rest(o);
}

/* -- Text ------------------------------------------------------------------- */

/* Return the letter in lower case, and _ for -, by ASCII and not by the host's locale. */
static char options_letter(char c)
{
    return c == '-' ? '_' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Return the rest of `given` after `name`, or NULL if it does not begin with `name`. */
static const char *options_after(const char *given, const char *name)
{
    while (*name && options_letter(*given) == *name) {
        given++;
        name++;
    }
    return *name ? NULL : given;
}

static bool options_is(const char *given, const char *name)
{
    static const char *const prefixes[] = { "jsprof_", "__profile_" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const char *rest = options_after(given, prefixes[i]);
        given = rest ? rest : given;
    }
    const char *end = options_after(given, name);
    return end && !*end;
}

/* Read a number that has only digits. Values above UINT32_MAX become UINT32_MAX + 1. Return
 * false if the text is no whole number. */
static bool options_read(const char *text, uint64_t *out)
{
    *out = 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9')
            return false;
        *out = *out * 10 + (uint64_t)(*at - '0');
        *out = *out > UINT32_MAX ? (uint64_t)UINT32_MAX + 1 : *out;
    }
    return *text;
}

static int options_refuse(const char *name, const char *value, const char *allowed)
{
    return jsp_explain(-EINVAL, "%.100s=%.100s: %s is allowed", name, value, allowed);
}

static int options_set_number(jsprof_options *o, const struct options_number *n,
                              const char *name, const char *text)
{
    char allowed[80];
    uint64_t wide;
    if (!options_read(text, &wide) || wide < n->low || wide > n->high) {
        snprintf(allowed, sizeof allowed, "a whole number from %u to %u", (unsigned)n->low,
                 (unsigned)n->high);
        return options_refuse(name, text, allowed);
    }
    uint32_t value = (uint32_t)wide;
    memcpy((char *)o + n->offset, &value, sizeof value);
    return 0;
}

static int options_set_flag(jsprof_options *o, uint32_t flag, const char *name,
                            const char *text)
{
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return options_refuse(name, text, "0 or 1");
    o->flags = *text == '1' ? o->flags | flag : o->flags & ~flag;
    return 0;
}

static int options_set_source(jsprof_options *o, const char *name, const char *text)
{
    static const struct options_flag sources[] = {
        { "auto", 0 }, { "perf", JSPROF_PERF }, { "looker", JSPROF_LOOKER },
        { "timer", JSPROF_TIMER },
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (strcmp(text, sources[i].name) == 0) {
            o->flags = (o->flags & ~(uint32_t)OPTIONS_SOURCES) | sources[i].flag;
            return 0;
        }
    return options_refuse(name, text, "auto, perf, looker or timer");
}

static int options_set_clock(jsprof_options *o, const char *name, const char *text)
{
    /* On the wall clock, points that find a thread running are its CPU time, too; timers, which
     * do not say what they found, would not do. */
    if (strcmp(text, "cpu,wall") == 0) {
        o->clock = JSPROF_CLOCK_WALL;
        return options_set_source(o, "source", "perf");
    }
    const struct jsp_clock_row *clock = jsp_clock_find(text);
    if (!clock)
        return options_refuse(name, text, JSP_CLOCKS_KEYS);
    o->clock = (int)clock->clock;
    return 0;
}

/* Read a time with its unit, from 1 us to an hour. */
static int options_set_stalls(jsprof_options *o, const char *name, const char *text)
{
    static const struct {
        const char *word;
        uint64_t ns;
    } units[] = { { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
    char digits[16];
    size_t n = strspn(text, "0123456789");
    uint64_t value;
    snprintf(digits, sizeof digits, "%.*s", (int)(n < sizeof digits ? n : 0), text);
    for (size_t i = 0; options_read(digits, &value) && i < sizeof units / sizeof *units; i++)
        if (strcmp(text + n, units[i].word) == 0 && value &&
            value <= options_stalls_most / units[i].ns) {
            o->stalls = value * units[i].ns;
            return 0;
        }
    return options_refuse(name, text, "a time from 1us to 3600s, such as 16ms,");
}

/* Read a number of seconds with its unit. */
static int options_set_seconds(uint32_t *out, const char *name, const char *text)
{
    static const struct {
        char unit;
        uint32_t seconds;
    } units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
    char digits[12];
    size_t n = strspn(text, "0123456789");
    uint64_t value;
    snprintf(digits, sizeof digits, "%.*s", (int)(n < sizeof digits ? n : 0), text);
    for (size_t i = 0; options_read(digits, &value) && i < sizeof units / sizeof *units; i++)
        if (text[n] == units[i].unit && !text[n + 1] && value &&
            value * units[i].seconds <= UINT32_MAX) {
            *out = (uint32_t)value * units[i].seconds;
            return 0;
        }
    return options_refuse(name, text, "a time with a unit, such as 10s, 90m, 24h or 7d,");
}

static int options_set_path(const char **out, const char *name, const char *text)
{
    if (!*text)
        return jsp_explain(-EINVAL, "%.100s=: a file name is needed", name);
    *out = text;
    return 0;
}

static int options_no_such(const char *name)
{
    char names[384];
    int used = snprintf(names, sizeof names, "path, clock, source, stalls, "
                        "continuous, segment, keep");
    for (int i = 0; i < OPTIONS_NUMBERS; i++)
        used += snprintf(names + used, sizeof names - (size_t)used, ", %s",
                         options_numbers[i].name);
    for (int i = 0; i < OPTIONS_FLAGS; i++)
        used += snprintf(names + used, sizeof names - (size_t)used, ", %s",
                         options_flags[i].name);
    return jsp_explain(-EINVAL, "%.100s: no such option; there are %s", name, names);
}

int jsp_options_set(jsprof_options *o, const char *name, const char *value)
{
    if (options_is(name, "path"))
        return options_set_path(&o->path, name, value);
    if (options_is(name, "continuous"))
        return options_set_path(&o->continuous, name, value);
    if (options_is(name, "segment"))
        return options_set_seconds(&o->segment_s, name, value);
    if (options_is(name, "keep"))
        return options_set_seconds(&o->keep_s, name, value);
    if (options_is(name, "source"))
        return options_set_source(o, name, value);
    if (options_is(name, "clock"))
        return options_set_clock(o, name, value);
    if (options_is(name, "stalls"))
        return options_set_stalls(o, name, value);
    for (int i = 0; i < OPTIONS_NUMBERS; i++)
        if (options_is(name, options_numbers[i].name) ||
            (options_numbers[i].also && options_is(name, options_numbers[i].also)))
            return options_set_number(o, &options_numbers[i], name, value);
    for (int i = 0; i < OPTIONS_FLAGS; i++)
        if (options_is(name, options_flags[i].name))
            return options_set_flag(o, options_flags[i].flag, name, value);
    return options_no_such(name);
}
