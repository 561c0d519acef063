/* engine.cpp - SpiderMonkey as a profiler switches it: with instrumented code, and nobody looks.
 *
 * SPDX-License-Identifier: MIT
 *
 * Preloaded into gjs. ENGINE=instrumented: every context has a ProfilingStack that is switched on
 * when a profiler would do so. ENGINE=no-ion: no optimizing compiler, as with exact counts.
 */
#include <js-config.h>

#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

#include <js/Initialization.h>
#include <js/ProfilingStack.h>
#include <jsapi.h>
#include <jsfriendapi.h>

static bool engine_is(const char *what)
{
    const char *value = getenv("ENGINE");

    return value && strcmp(value, what) == 0;
}

template <typename Function> static Function *engine_next(const char *symbol)
{
    return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, symbol));
}

void JS_SetGlobalJitCompilerOption(JSContext *cx, JSJitCompilerOption option, uint32_t value)
{
    static const auto next = engine_next<decltype(JS_SetGlobalJitCompilerOption)>(
        "_Z29JS_SetGlobalJitCompilerOptionP9JSContext19JSJitCompilerOptionj");

    next(cx, option,
         option == JSJITCOMPILER_ION_ENABLE && engine_is("no-ion") ? 0 : value);
}

bool JS::InitSelfHostedCode(JSContext *cx, SelfHostedCache cache, SelfHostedWriter writer)
{
    static ProfilingStack stack;
    static const auto next = engine_next<decltype(InitSelfHostedCode)>(
        "_ZN2JS18InitSelfHostedCodeEP9JSContextN7mozilla4SpanIKhLm18446744073709551615EEE"
        "PFbS1_S5_E");
    const bool good = next(cx, cache, writer);

    if (good && engine_is("instrumented")) {
        js::SetContextProfilingStack(cx, &stack);
        js::EnableContextProfilingStack(cx, true);
    }
    return good;
}
