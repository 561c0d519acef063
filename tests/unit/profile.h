/* unit/profile.h - what the tests of src/analyze/ share: a capture in the making with three
 * named functions, and the profile that comes out of it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_PROFILE_H
#define JSP_TEST_PROFILE_H

#include "analyze/profile.h"

#include <errno.h>

#include "analyze/functions.h"
#include "capture_builder.h"
#include "jsprof.h"
#include "test.h"

static struct builder b;
static struct jsp_read r;
static struct jsp_profile p;
static struct jsp_functions fs;

static const uint64_t f1 = 0xE000000000000001u, f2 = 0xE000000000000002u,
                      f3 = 0xE000000000000003u;

static inline void begin(bool is_big)
{
    build_start(&b, is_big);
    build_process(&b, "host script");
    build_jit(&b, f1, "main");
    build_jit(&b, f2, "work");
    build_jit(&b, f3, "leaf");
}

static inline void sample(int n, uint64_t a0, uint64_t a1, uint64_t a2)
{
    const uint64_t addrs[3] = { a0, a1, a2 };
    build_sample(&b, addrs, n);
}

/* Read what was built. It and its profile stay until the next one is read. */
static inline bool read_built(void)
{
    static uint8_t *bytes;
    char why[JSP_READ_WHY];
    jsp_functions_free(&fs);
    jsp_profile_free(&p);
    jsp_read_close(&r);
    free(bytes);
    bytes = b.bytes;
    return CHECK_EQ(jsp_read_memory(&r, bytes, b.size, why), 0);
}

/* Load what was built, without its functions. */
static inline bool loaded_with(const struct jsp_profile_options *options)
{
    return read_built() && CHECK_EQ(jsp_profile_load(&p, &r, options), 0);
}

static inline bool loaded(void)
{
    return loaded_with(NULL) && CHECK_EQ(jsp_functions_build(&fs, &p, NULL), 0);
}

static inline struct jsp_function_row row(const char *name)
{
    for (uint32_t i = 0; i < fs.n; i++)
        if (strcmp(p.functions[fs.rows[i].function].name, name) == 0)
            return fs.rows[i];
    return (struct jsp_function_row){ .self = 999, .total = 999 };
}

#endif
