/* coverage.cpp - SpiderMonkey's coverage report, read as one row for each called function.
 *
 * SPDX-License-Identifier: MIT
 *
 * For each file, the report has FN:line,name for every function, then FNDA:calls,name for
 * every called one in the same order, and DA:line,hits for every line. Names repeat: all
 * arrow functions that are assigned to `f` are `f<`. If a name has as many FNDA as FN,
 * they pair in order. Otherwise some functions of that name were never called, and the
 * lines' hits exclude candidates: a function that was called n times has its first
 * instruction on its first line or on the next one with instructions, and that line has n
 * hits or more. If a function's candidates are still on different lines, its line is
 * unknown.
 */
#include "coverage.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

namespace {

struct coverage_name {
    std::vector<uint32_t> lines; /* FN */
    std::vector<size_t> rows;    /* FNDA: indices */
};

struct coverage_source {
    std::string file;
    std::map<std::string, coverage_name> names;
    std::map<uint32_t, uint64_t> hits; /* of a line */
};

/* Split "number,name" after the first colon. */
bool coverage_split(const std::string &line, uint64_t *number, std::string *name)
{
    const auto colon = line.find(':'), comma = line.find(',');

    if (colon == std::string::npos || comma == std::string::npos || comma < colon)
        return false;
    *number = strtoull(line.c_str() + colon + 1, nullptr, 10);
    *name = line.substr(comma + 1);
    return true;
}

/* Return whether the function that begins on this line can have been called so often. */
bool coverage_can(const coverage_source &source, uint32_t line, uint64_t calls)
{
    auto at = source.hits.lower_bound(line);

    for (int lines = 0; lines < 2 && at != source.hits.end(); lines++, at++)
        if (at->second >= calls)
            return true;
    return false;
}

/* Choose the first possible line for each row, both in order. Return false if there is
 * none. */
bool coverage_first(const coverage_source &source, const coverage_name &name,
                    const std::vector<coverage_row> &rows, std::vector<size_t> *chosen)
{
    size_t at = 0;

    for (const size_t row : name.rows) {
        while (at < name.lines.size() &&
               !coverage_can(source, name.lines[at], rows[row].calls))
            at++;
        if (at == name.lines.size())
            return false;
        chosen->push_back(at++);
    }
    return true;
}

/* The same from the end: `chosen` gets the last row first. */
bool coverage_last(const coverage_source &source, const coverage_name &name,
                   const std::vector<coverage_row> &rows, std::vector<size_t> *chosen)
{
    size_t end = name.lines.size();

    for (size_t i = name.rows.size(); i-- > 0;) {
        while (end > 0 &&
               !coverage_can(source, name.lines[end - 1], rows[name.rows[i]].calls))
            end--;
        if (end == 0)
            return false;
        chosen->push_back(--end);
    }
    return true;
}

void coverage_place(const coverage_source &source, const coverage_name &name,
                    std::vector<coverage_row> *rows)
{
    const size_t n = name.rows.size();
    std::vector<size_t> first, last;

    if (n == name.lines.size()) {
        for (size_t i = 0; i < n; i++)
            (*rows)[name.rows[i]].line = name.lines[i];
        return;
    }
    if (!coverage_first(source, name, *rows, &first) ||
        !coverage_last(source, name, *rows, &last))
        return;
    for (size_t i = 0; i < n; i++)
        if (name.lines[first[i]] == name.lines[last[n - 1 - i]])
            (*rows)[name.rows[i]].line = name.lines[first[i]];
}

} // namespace

std::vector<coverage_row> coverage_read(const char *text, size_t length)
{
    std::istringstream report(std::string(text, length));
    std::vector<coverage_row> rows;
    coverage_source source;
    std::string line, name;
    uint64_t number;
    auto is = [&line](const char *tag) { return line.compare(0, strlen(tag), tag) == 0; };

    while (std::getline(report, line)) {
        if (is("SF:")) {
            source = { line.substr(3), {}, {} };
        } else if (is("FN:") && coverage_split(line, &number, &name)) {
            source.names[name].lines.push_back(static_cast<uint32_t>(number));
        } else if (is("FNDA:") && coverage_split(line, &number, &name)) {
            source.names[name].rows.push_back(rows.size());
            rows.push_back({ number, name, source.file, 0 });
        } else if (is("DA:")) {
            const auto comma = line.find(',');
            if (comma != std::string::npos)
                source.hits[static_cast<uint32_t>(strtoul(line.c_str() + 3, nullptr, 10))] =
                    strtoull(line.c_str() + comma + 1, nullptr, 10);
        } else if (is("end_of_record")) {
            for (const auto &one : source.names)
                coverage_place(source, one.second, &rows);
        }
    }
    return rows;
}
