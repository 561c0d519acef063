/* captures.c - writes a capture whose figures are known, for the tests of the page.
 *
 * SPDX-License-Identifier: MIT
 *
 *     captures before|after|evil|deep|stairs|marks|pulse|many|loop|listing|labels >FILE
 *
 * "before": thread 100 "main" runs 600 ms of main > parse (a third of it in scan, and
 * scan again in itself), then 400 ms of main > print; thread 200 "helper" runs 200 ms of
 * collect in the middle. 10 ms a sample, parse sampled in lines 11 and 12. Marks and a
 * counter. "after": parse has 200 ms. "evil": names that would harm. "deep": 3000 levels.
 * "stairs": 200 samples of 1 ms, sample s with 2001 + 37 s % 100 levels.
 * "pulse": 12 s of print, but scan from 300 to 400 ms of each second; no sample from 5 to 7 s.
 * "many": 4 processes of 50 threads each, thread 1001 to 4050; thread k has k / 10 + 1 samples.
 * "loop": 300 ms of main > parse: 100 ms in line 11; 100 ms in line 12, while a frame of the
 * interpreter's own code runs; 100 ms in line 12 itself. "listing": the same, and parse has three
 * operations; the first 100 ms are in the first one, the second 100 ms in the second one.
 * "labels": "before", and of four samples after each other the first has no route or tenant, the
 * second route /a, the third /b and a tenant that would harm, the fourth that tenant; each sample
 * has another request.
 * "marks": no samples; 12,000 marks, from 100 ns in 100 steps of 300 ns; 12,000 values.
 */
#include "unit/capture_builder.h"

static struct builder b;
static uint8_t records[32768];
static size_t n_records;
static int n_samples;

enum { MAIN = 1, PARSE, SCAN, PRINT, COLLECT, NATIVE_MAIN, EVIL };

static void captures_lines(const uint64_t *lines, uint64_t n)
{
    const uint64_t head[] = { 1, 10000000, 0, n };
    for (int i = 0; i < 4; i++)
        n_records += build_varint(records + n_records, head[i]);
    for (uint64_t i = 0; i < n; i++)
        n_records += build_varint(records + n_records, lines[i]);
    n_samples++;
}

static void captures_record(uint64_t line)
{
    captures_lines(&line, line != 0);
}

static void captures_at(int ms, int tid, const uint32_t *ids, int n, uint64_t line)
{
    uint64_t addrs[8];
    for (int i = 0; i < n; i++)
        addrs[i] = build_tag(ids[i]);
    b.time = 1000000000 + (ms - 1) * 1000000ll;
    b.tid = tid;
    build_sample(&b, addrs, n);
    captures_record(line);
}

static void captures_start(void)
{
    build_start(&b, false);
    build_process(&b, "host script.x");
    build_metadata(&b, "jsprof.clock", "cpu");
    build_metadata(&b, "jsprof.hz", "100");
    build_jit(&b, build_tag(MAIN), "main (/srv/app/start.js:1:1)");
    build_jit(&b, build_tag(PARSE), "parse (/srv/app/lib/parse.js:10:1)");
    build_jit(&b, build_tag(SCAN), "scan (/srv/app/lib/parse.js:40:1)");
    build_jit(&b, build_tag(PRINT), "print (/srv/app/print.js:7:1)");
    build_jit(&b, build_tag(COLLECT), "collect");
}

static void captures_values(void)
{
    static uint8_t block[sizeof records + 16];
    size_t n = 1;
    block[0] = 1;
    block[n++] = 0;
    n += build_varint(block + n, (uint64_t)n_samples);
    memcpy(block + n, records, n_records);
    build_chunk(&b, "jsprof/samples", block, n + n_records);
}

static void captures_end(void)
{
    const char losses[] = "thread id=1 tid=100 name=main expirations=100 kept=100\n"
                          "thread id=2 tid=200 name=helper expirations=20 kept=20\n";
    captures_values();
    build_chunk(&b, "jsprof/losses", losses, sizeof losses - 1);
}

static void captures_span(int64_t at, int64_t length, const char *name)
{
    b.time = 1000000000 + at;
    build_mark(&b, length, "phases", name, "a <b>message</b>");
}

static void captures_mark(int ms, int length_ms, const char *name)
{
    captures_span((ms - 1) * 1000000ll, length_ms * 1000000ll, name);
}

static void captures_define(void)
{
    build_counter(&b, 1, (const char *const[3]){ "memory", "heap", "bytes in use" }, false);
}

static void captures_value(int64_t at, int value)
{
    b.time = 1000000000 + at;
    build_value(&b, 1, (uint64_t)value);
}

static void captures_counter(void)
{
    captures_define();
    for (int i = 0; i < 50; i++)
        captures_value(20000000ll * i, 1000 + 40 * (i % 10));
}

static void captures_known(int parse_samples)
{
    static const uint32_t stack[] = { SCAN, SCAN, PARSE, MAIN }, print[] = { PRINT, MAIN },
                          collect[] = { COLLECT };
    int ms = 10;
    captures_start();
    for (int i = 0; i < parse_samples; i++, ms += 10) {
        if (i % 3 == 2)
            captures_at(ms, 100, stack, 4, 41);
        else
            captures_at(ms, 100, stack + 2, 2, i % 3 ? 12 : 11);
        if (i >= 20 && i < 40)
            captures_at(ms, 200, collect, 1, 0);
    }
    for (int i = 0; i < 40; i++, ms += 10)
        captures_at(ms, 100, print, 2, 8);
    captures_mark(10, 600, "parsing");
    captures_mark(610, 400, "printing");
    captures_counter();
    captures_end();
}

static void captures_evil(void)
{
    static const char *const names[] = {
        "</script><script>document.title='owned'</script>",
        "<img src=x onerror=\"document.title='owned'\">",
        "'\"`${document.title='owned'}\\",
        "\033[31mred\033[0m\r\n\ttabs",
        "bad \xff\xc3( utf8 \xc0\xaf",
        "rtl \xe2\x80\xae" "evil \xe2\x80\xa8 line",
        "<!--<script>", "]]>&lt;&amp;", "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac",
        "__proto__", "constructor",
    };
    captures_start();
    build_process(&b, "<script>document.title='owned'</script>");
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t stack[] = { EVIL + i, MAIN };
        build_jit(&b, build_tag(EVIL + i), names[i]);
        captures_at(10 + 10 * (int)i, 100, stack, 2, 0);
        captures_mark(10 + 10 * (int)i, 5, names[i]);
    }
    captures_end();
}

/* Every level another function, so that none folds into its caller. */
static void captures_deep(void)
{
    enum { LEVELS = 3000 };
    static uint64_t addrs[LEVELS];
    char name[32];
    captures_start();
    for (uint32_t i = 0; i < LEVELS; i++) {
        addrs[i] = build_tag(100 + i);
        snprintf(name, sizeof name, "level%u", (unsigned)(LEVELS - i));
        build_jit(&b, addrs[i], name);
    }
    for (int i = 0; i < 3; i++) {
        build_sample(&b, addrs, LEVELS);
        captures_record(0);
    }
    captures_end();
}

static void captures_stairs(void)
{
    enum { MOST = 2100 };
    static uint64_t addrs[MOST];
    char name[32];
    captures_start();
    for (uint32_t i = 1; i <= MOST; i++) {
        snprintf(name, sizeof name, "level%u", (unsigned)i);
        build_jit(&b, build_tag(100 + i), name);
    }
    for (uint32_t s = 0; s < 200; s++) {
        uint32_t depth = 2001 + s * 37 % 100;
        for (uint32_t i = 0; i < depth; i++)
            addrs[i] = build_tag(100 + depth - i);
        b.time = 1000000000 + s * 1000000ll;
        build_sample(&b, addrs, (int)depth);
    }
}

static void captures_pulse(void)
{
    static const uint32_t print[] = { PRINT, MAIN }, scan[] = { SCAN, MAIN };
    captures_start();
    for (int i = 0; i < 1200; i++)
        if (i < 500 || i >= 700)
            captures_at(1 + 10 * i, 100, i % 100 / 10 == 3 ? scan : print, 2, 0);
    captures_end();
}

static void captures_loop(void)
{
    const uint64_t addrs[] = { 0x400100, build_tag(PARSE), build_tag(MAIN) };
    uint8_t loop[20];
    size_t n = build_varint(loop, 0x400000);
    n += build_varint(loop + n, 0x500000);
    captures_start();
    build_map(&b, 0x400000, 0x500000, "/usr/bin/host");
    build_chunk(&b, "jsprof/loops", loop, n);
    b.tid = 100;
    for (uint32_t i = 0; i < 30; i++) {
        uint64_t lines[] = { 0, i < 10 ? 11 : 12 };
        int out = i / 10 != 1; /* without the interpreter's frame */
        build_sample(&b, addrs + out, 3 - out);
        captures_lines(lines + out, 2u - (unsigned)out);
    }
    captures_values();
}

static size_t captures_row(uint8_t *to, uint8_t pc, uint8_t line, const char *text)
{
    const uint8_t head[] = { pc, line, 0, 0, (uint8_t)strlen(text) };
    memcpy(to, head, sizeof head);
    memcpy(to + sizeof head, text, strlen(text));
    return sizeof head + strlen(text);
}

static void captures_listing(void)
{
    static const char name[] = "parse (/srv/app/lib/parse.js:10:1)";
    uint8_t data[256] = { 1, 7, 3, sizeof name - 1 };
    size_t n = 4;
    memcpy(data + n, name, sizeof name - 1);
    build_chunk(&b, "jsprof/listings", data, n + sizeof name - 1);
    memcpy(data, "\2\7\0\3", n);
    n += captures_row(data + n, 10, 11, "push 1");
    n += captures_row(data + n, 12, 12, "call <b>x</b>");
    n += captures_row(data + n, 16, 0, "return");
    build_chunk(&b, "jsprof/listings", data, n);
    memcpy(data, "\1\0\24", n = 3);
    for (int i = 0; i < 20; i++) {
        /* the row + 1 of each frame: in the second half it is the second frame that has one */
        const uint8_t first[] = { 0, 1, 1 }, second[] = { 0, 2, 0, 2 };
        memcpy(data + n, i < 10 ? first : second, i < 10 ? 3 : 4);
        n += i < 10 ? 3 : 4;
    }
    build_chunk(&b, "jsprof/pcs", data, n);
}

static void captures_many(void)
{
    static const uint32_t print[] = { PRINT, MAIN };
    captures_start();
    for (int k = 0; k < 200; k++) {
        b.pid = 1001 + k / 50 * 1000;
        if (k % 50 == 0)
            build_process(&b, "host script.x");
        for (int i = 0; i <= k / 10; i++)
            captures_at(1 + 10 * i, b.pid + k % 50, print, 2, 0);
    }
    captures_values();
}

static size_t captures_text(uint8_t *out, const char *text, uint64_t more)
{
    size_t length = strlen(text), n = build_varint(out, length + more);
    memcpy(out + n, text, length);
    return n + length;
}

static size_t captures_label(uint8_t *out, const char *key, const char *value)
{
    size_t n = captures_text(out, key, 0);
    return n + captures_text(out + n, value, 1);
}

static void captures_labels(void)
{
    static uint8_t data[32768];
    size_t n = 0;
    captures_known(60);
    for (int i = 0; i < n_samples; i++) {
        static const uint8_t pairs[] = { 1, 2, 3, 2 };
        char request[16];
        snprintf(request, sizeof request, "r%d", i);
        data[n++] = 2;
        n += build_varint(data + n, (uint64_t)i + 1);
        data[n++] = pairs[i % 4];
        n += captures_label(data + n, "request", request);
        if (i % 4 == 1 || i % 4 == 2)
            n += captures_label(data + n, "route", i % 4 == 1 ? "/a" : "/b");
        if (i % 4 >= 2)
            n += captures_label(data + n, "tenant", "<img src=x onerror=\"x()\">");
    }
    data[n++] = 1;
    data[n++] = 0;
    n += build_varint(data + n, (uint64_t)n_samples);
    for (int i = 0; i < n_samples; i++)
        data[n++] = 2; /* one more than the number before */
    build_chunk(&b, "jsprof/labels", data, n);
}

static void captures_marks(void)
{
    build_start(&b, false);
    build_process(&b, "host script.x");
    captures_define();
    for (int i = 0; i < 12000; i++) {
        captures_span(i * 100000ll, 100 + i % 100 * 300, "parsing");
        captures_value(i * 100000ll, i);
    }
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "before") == 0)
        captures_known(60);
    else if (strcmp(name, "after") == 0)
        captures_known(20);
    else if (strcmp(name, "evil") == 0)
        captures_evil();
    else if (strcmp(name, "deep") == 0)
        captures_deep();
    else if (strcmp(name, "stairs") == 0)
        captures_stairs();
    else if (strcmp(name, "pulse") == 0)
        captures_pulse();
    else if (strcmp(name, "many") == 0)
        captures_many();
    else if (strcmp(name, "loop") == 0)
        captures_loop();
    else if (strcmp(name, "listing") == 0) {
        captures_loop();
        captures_listing();
    }
    else if (strcmp(name, "labels") == 0)
        captures_labels();
    else if (strcmp(name, "marks") == 0)
        captures_marks();
    else
        return 2;
    size_t written = fwrite(b.bytes, 1, b.size, stdout);
    free(b.bytes);
    return written != b.size;
}
