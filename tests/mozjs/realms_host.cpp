/* realms_host.cpp - a program without us: THREADS contexts at a time, each with REALMS short
 * realms, and then contexts that end at once. It prints the sum of what its scripts return, one
 * for each realm, and ends with status 3.
 *
 * SPDX-License-Identifier: MIT
 */
#include <js-config.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "host.hpp"

namespace {

constexpr int SHORT_CONTEXTS = 20, SHORT_REALMS = 5;

const char script[] =
    "function spin(n) {\n"
    "    let x = 0;\n"
    "    for (let i = 0; i < n; i++)\n"
    "        x = x * 31 + i & 0xffff;\n"
    "    return x;\n"
    "}\n"
    "globalThis.jsprof?.mark('realm');\n"
    "spin(2000); eval('spin(10)'); 1\n";

std::atomic<int> sum;

int run_one(JSContext *cx)
{
    JS::RootedObject global(cx, new_global(cx));
    if (!global)
        return 0;
    JSAutoRealm realm(cx, global);
    return run(cx, script, "realm.js") == 1;
}

void run_context(int realms)
{
    JSContext *cx = new_context(64);

    if (!cx)
        return;
    for (int i = 0; i < realms; i++)
        sum += run_one(cx);
    JS_DestroyContext(cx);
}

} // namespace

int main(int, char **argv)
{
    const int threads = atoi(argv[1]), realms = atoi(argv[2]);
    std::vector<std::thread> others;

    JS_Init();
    for (int i = 1; i < threads; i++)
        others.emplace_back(run_context, realms);
    run_context(realms);
    for (auto &other : others)
        other.join();
    for (int i = 0; i < SHORT_CONTEXTS; i++)
        std::thread(run_context, SHORT_REALMS).join();
    JS_ShutDown();
    printf("%d\n", sum.load());
    fflush(stdout);
    return 3;
}
