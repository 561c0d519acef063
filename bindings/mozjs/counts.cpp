/* counts.cpp - how often each function of a script was called, exactly.
 *
 * SPDX-License-Identifier: MIT
 */
#include "counts.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <glib.h>

#include <js/experimental/CodeCoverage.h>

namespace {

struct counts_function {
    unsigned long long calls;
    std::string name; /* with the place, where there is only one of that name */
};

const char *counts_path;
FILE *counts_file; /* nullptr: nobody asks, or the table is written */
JSContext *counts_context;
char *counts_no_jit_before;

/* -- SpiderMonkey's report: SF:file, then FN:line,name and FNDA:calls,name ------------- */

struct counts_source {
    std::string file;
    std::map<std::string, std::vector<std::string>> lines; /* of a name */
};

std::string counts_place(const counts_source &source, const std::string &name)
{
    const auto found = source.lines.find(name);

    if (found == source.lines.end() || found->second.size() != 1)
        return name + " (" + source.file + ")";
    return name + " (" + source.file + ":" + found->second[0] + ")";
}

/* "number,name" behind the first colon. */
bool counts_split(const std::string &line, std::string *number, std::string *name)
{
    const auto colon = line.find(':'), comma = line.find(',');

    if (colon == std::string::npos || comma == std::string::npos || comma < colon)
        return false;
    *number = line.substr(colon + 1, comma - colon - 1);
    *name = line.substr(comma + 1);
    return true;
}

std::vector<counts_function> counts_read(const char *text, size_t length)
{
    std::istringstream report(std::string(text, length));
    std::vector<counts_function> functions;
    counts_source source;
    std::string line, number, name;

    while (std::getline(report, line)) {
        if (line.compare(0, 3, "SF:") == 0)
            source = { line.substr(3), {} };
        else if (line.compare(0, 3, "FN:") == 0 && counts_split(line, &number, &name))
            source.lines[name].push_back(number);
        else if (line.compare(0, 5, "FNDA:") == 0 && counts_split(line, &number, &name))
            functions.push_back({ strtoull(number.c_str(), nullptr, 10),
                                  counts_place(source, name) });
    }
    std::stable_sort(functions.begin(), functions.end(),
                     [](const counts_function &a, const counts_function &b) {
                         return a.calls > b.calls;
                     });
    return functions;
}

void counts_say(const char *why)
{
    fprintf(stderr, "gjs-console: --profile-calls: %s: %s\n", counts_path, why);
}

/* Names can hold any character; a table has one line for each. */
void counts_print(const counts_function &function)
{
    fprintf(counts_file, "%14llu  ", function.calls);
    for (const char at : function.name) {
        const auto c = static_cast<unsigned char>(at);
        fputc(c < ' ' || c == 0x7f ? '?' : c, counts_file);
    }
    fputc('\n', counts_file);
}

/* Not on a number below 3, where the script may be run with these closed. */
FILE *counts_open_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int above = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    if (fd >= 0)
        close(fd);
    return above < 0 ? nullptr : fdopen(above, "w");
}

} // namespace

bool counts_open(const char *path)
{
    if (!path)
        return true;
    counts_path = path;
    counts_file = path[0] ? counts_open_file(path) : nullptr;
    if (!counts_file) {
        counts_say(path[0] ? strerror(errno) : "a file name is needed");
        return false;
    }
    js::EnableCodeCoverage();
    return true;
}

void counts_before_context(void)
{
    if (!counts_file)
        return;
    counts_no_jit_before = g_strdup(g_getenv("GJS_DISABLE_JIT"));
    g_setenv("GJS_DISABLE_JIT", "1", TRUE);
}

void counts_after_context(JSContext *cx)
{
    if (!counts_file)
        return;
    if (!counts_no_jit_before)
        g_unsetenv("GJS_DISABLE_JIT");
    counts_context = cx;
    atexit(counts_write);
}

void counts_write(void)
{
    size_t length = 0;

    if (!counts_file || !counts_context)
        return;
    const JS::UniqueChars report = js::GetCodeCoverageSummaryAll(counts_context, &length);
    if (!report) {
        counts_say(strerror(ENOMEM));
        length = 0;
    }
    fprintf(counts_file, "%14s  %s\n", "CALLS", "FUNCTION");
    for (const auto &function : counts_read(report.get() ? report.get() : "", length))
        counts_print(function);
    bool bad = ferror(counts_file) != 0;
    if (fclose(counts_file) != 0 || bad)
        counts_say(strerror(errno));
    counts_file = nullptr;
}
