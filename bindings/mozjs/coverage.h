/* coverage.h - SpiderMonkey's coverage report, read as one row for each called function.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_MOZJS_COVERAGE_H
#define JSPROF_MOZJS_COVERAGE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct coverage_row {
    uint64_t calls;
    std::string name;
    std::string file;
    uint32_t line; /* line of its beginning; 0: not known */
};

/* Return the functions that were called, in the report's order. */
std::vector<coverage_row> coverage_read(const char *text, size_t length);

#endif
