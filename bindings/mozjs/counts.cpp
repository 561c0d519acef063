/* counts.cpp - how often each function of a script was called, exactly.
 *
 * SPDX-License-Identifier: MIT
 */
#include "counts.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include <jsapi.h>
#include <js/experimental/CodeCoverage.h>

#include "coverage.h"
#include "recording.h"

namespace {

const char *counts_program;
const char *counts_path; /* nullptr: only into the capture */
bool counts_asked;
FILE *counts_file; /* nullptr: no table, or already written */

/* This thread's context, until its counts are written. */
thread_local JSContext *counts_context;

void counts_warn(const char *why)
{
    fprintf(stderr, "%s: --profile-calls%s%s: %s\n", counts_program, counts_path ? ": " : "",
            counts_path ? counts_path : "", why);
}

std::string counts_place(const coverage_row &row)
{
    return row.name + " (" + row.file + (row.line ? ":" + std::to_string(row.line) : "") + ")";
}

/* Escape a name, which can contain any character: the table has one line for each. */
void counts_print(const coverage_row &row)
{
    fprintf(counts_file, "%14" PRIu64 "  ", row.calls);
    for (const char at : counts_place(row)) {
        const auto c = static_cast<unsigned char>(at);
        fputc(c < ' ' || c == 0x7f ? '?' : c, counts_file);
    }
    fputc('\n', counts_file);
}

void counts_print_all(const std::vector<coverage_row> &rows)
{
    if (!counts_file)
        return;
    fprintf(counts_file, "%14s  %s\n", "CALLS", "FUNCTION");
    for (const auto &row : rows)
        counts_print(row);
    const bool bad = ferror(counts_file) != 0;
    if (fclose(counts_file) != 0 || bad)
        counts_warn(strerror(errno));
    counts_file = nullptr;
}

void counts_record(const std::vector<coverage_row> &rows)
{
    int err = recording_count_begin();

    for (const auto &row : rows) {
        const recording_calls one = { row.name.c_str(), row.file.c_str(), row.line, row.calls };
        if (err == 0)
            err = recording_count(&one);
    }
    if (err < 0)
        counts_warn(jsprof_strerror(err));
}

/* Use no descriptor below 3, because the script may run with these closed. */
FILE *counts_open_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int above = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    if (fd >= 0)
        close(fd);
    return above < 0 ? nullptr : fdopen(above, "w");
}

bool counts_open_table(const char *path)
{
    if (!request_is_apart(counts_program, "--profile-calls", path))
        return false;
    counts_path = path;
    counts_file = path[0] ? counts_open_file(path) : nullptr;
    if (!counts_file)
        counts_warn(path[0] ? strerror(errno) : "a file name is needed");
    return counts_file != nullptr;
}

} // namespace

bool counts_is_capture_alone(const char *value)
{
    return value && strcmp(value, "on") == 0;
}

bool counts_open(const char *value, const char *program)
{
    counts_program = program;
    if (!value)
        return true;
    if (!counts_is_capture_alone(value) && !counts_open_table(value))
        return false;
    counts_asked = true;
    js::EnableCodeCoverage();
    return true;
}

uint32_t counts_optimizing(uint32_t value)
{
    return counts_asked ? 0 : value;
}

void counts_begin(JSContext *cx)
{
    if (!counts_asked)
        return;
    JS_SetGlobalJitCompilerOption(cx, JSJITCOMPILER_ION_ENABLE, 0);
    counts_context = cx;
    atexit(counts_write);
}

void counts_write(void)
{
    size_t length = 0;

    if (!counts_context)
        return;
    const JS::UniqueChars report = js::GetCodeCoverageSummaryAll(counts_context, &length);
    counts_context = nullptr;
    if (!report) {
        counts_warn(strerror(ENOMEM));
        length = 0;
    }
    auto rows = coverage_read(report.get() ? report.get() : "", length);
    std::stable_sort(rows.begin(), rows.end(),
                     [](const coverage_row &a, const coverage_row &b) {
                         return a.calls > b.calls;
                     });
    for (auto &row : rows) {
        const recording_calls one = { row.name.c_str(), row.file.c_str(), row.line, row.calls };
        row.file = std::string(recording_shown_file(&one));
    }
    counts_record(rows);
    counts_print_all(rows);
}
