/* host.hpp - what the hosts of tests/mozjs share: checks in TAP, a context with a global, a script.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_MOZJS_HOST_HPP
#define TESTS_MOZJS_HOST_HPP

#include <cstdio>
#include <cstring>

#include <jsapi.h>
#include <js/CompilationAndEvaluation.h>
#include <js/Initialization.h>
#include <js/SourceText.h>

static int n_checks, n_failed;

[[maybe_unused]] static void check(bool good, const char *what)
{
    n_failed += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", ++n_checks, what);
}

/* The plan, and the status of the process. */
[[maybe_unused]] static int end_checks()
{
    printf("1..%d\n", n_checks);
    return n_failed != 0;
}

static inline JSObject *new_global(JSContext *cx)
{
    static const JSClass type = {
        "global", JSCLASS_GLOBAL_FLAGS, &JS::DefaultGlobalClassOps, nullptr, nullptr, nullptr
    };
    JS::RealmOptions options;

    return JS_NewGlobalObject(cx, &type, nullptr, JS::FireOnNewGlobalHook, options);
}

static inline JSContext *new_context(uint32_t mib)
{
    JSContext *cx = JS_NewContext(mib << 20);

    return cx && JS::InitSelfHostedCode(cx) ? cx : nullptr;
}

/* Return the number that the script ends with; -1 if it fails or ends with none. */
static inline double run(JSContext *cx, const char *text, const char *file)
{
    JS::SourceText<mozilla::Utf8Unit> source;
    JS::CompileOptions options(cx);
    JS::RootedValue value(cx);

    options.setFileAndLine(file, 1);
    if (!source.init(cx, text, strlen(text), JS::SourceOwnership::Borrowed) ||
        !JS::Evaluate(cx, options, source, &value) || !value.isNumber())
        return -1;
    return value.toNumber();
}

#endif
