/* host_throw.cpp - exceptions through frames that clean up, for host.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdexcept>
#include <string>

extern "C" void work_throw(void);

namespace {
volatile unsigned long caught;

struct guard {
    std::string name;
    ~guard() { caught = caught + name.size(); }
};

__attribute__((noinline)) void throw_from(int depth)
{
    guard g{ std::string(static_cast<size_t>(depth + 3), 'g') };
    if (depth == 0)
        throw std::runtime_error("thrown");
    throw_from(depth - 1);
}
}

void work_throw(void)
{
    for (int i = 0; i < 20; i++) {
        try {
            throw_from(8);
        } catch (const std::exception &e) {
            caught = caught + std::string(e.what()).size();
        }
    }
}
