/* coverage.cpp - SpiderMonkey's coverage report, read as one row for each called function.
 *
 * SPDX-License-Identifier: MIT
 *
 * For each file, the report has FN:line,name for every function, then FNDA:calls,name for
 * every called one in the same order, and DA:line,hits for every line. Names repeat: all
 * arrow functions that are assigned to `f` are `f<`, and all without a name are `top-level`,
 * as is the file's own code. So the called ones are looked for among all functions, in order:
 * each has a first place where it can be, for all called before it have a place, and a last
 * one. If one line has both, it is the function's; otherwise its line is unknown. Where some
 * functions of a name were never called, the lines' hits exclude places: a function that was
 * called n times has its first instruction on its first line or on the next one with
 * instructions, and that line has n hits or more.
 */
#include "coverage.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <sstream>

namespace {

struct coverage_function {
    uint32_t line;
    std::string name;
};

struct coverage_source {
    std::string file;
    size_t begin = 0; /* of its rows */
    std::vector<coverage_function> functions;
    std::map<std::string, int> never; /* how many of a name were never called */
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

/* Choose the first possible function for each row, both in the order of the iterators, and
 * append its line. Return false if there is none. */
template <class Function, class Row>
bool coverage_choose(const coverage_source &source, Function at, Function end, Row row,
                     Row rows_end, std::vector<uint32_t> *lines)
{
    for (; row != rows_end; row++, at++) {
        const bool is_any = source.never.at(row->name) == 0;

        while (at != end && (at->name != row->name ||
                             !(is_any || coverage_can(source, at->line, row->calls))))
            at++;
        if (at == end)
            return false;
        lines->push_back(at->line);
    }
    return true;
}

/* Return whether the first function is the file's own code, which runs before all others. */
bool coverage_is_file(const coverage_source &source)
{
    const auto is_first = [](const coverage_function &f) {
        return f.line == 1 && f.name == "top-level";
    };
    const auto &all = source.functions;

    return !all.empty() && is_first(all[0]) &&
           std::count_if(all.begin(), all.end(), is_first) == 1;
}

/* Give the rows of this source their lines. */
void coverage_place(const coverage_source &source, std::vector<coverage_row> *rows)
{
    auto begin = rows->begin() + static_cast<std::ptrdiff_t>(source.begin);
    auto at = source.functions.begin();
    std::vector<uint32_t> first, last;

    if (begin != rows->end() && coverage_is_file(source))
        (begin++)->line = (at++)->line;
    if (!coverage_choose(source, at, source.functions.end(), begin, rows->end(), &first) ||
        !coverage_choose(source, source.functions.rbegin(), std::make_reverse_iterator(at),
                         rows->rbegin(), std::make_reverse_iterator(begin), &last))
        return;
    for (size_t i = 0; i < first.size(); i++)
        if (first[i] == last[last.size() - 1 - i])
            begin[static_cast<std::ptrdiff_t>(i)].line = first[i];
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
            source = { line.substr(3), rows.size(), {}, {}, {} };
        } else if (is("FN:") && coverage_split(line, &number, &name)) {
            source.functions.push_back({ static_cast<uint32_t>(number), name });
            source.never[name]++;
        } else if (is("FNDA:") && coverage_split(line, &number, &name)) {
            source.never[name]--;
            rows.push_back({ number, name, source.file, 0 });
        } else if (is("DA:")) {
            const auto comma = line.find(',');
            if (comma != std::string::npos)
                source.hits[static_cast<uint32_t>(strtoul(line.c_str() + 3, nullptr, 10))] =
                    strtoull(line.c_str() + comma + 1, nullptr, 10);
        } else if (is("end_of_record")) {
            coverage_place(source, &rows);
        }
    }
    return rows;
}
