/* SPDX-License-Identifier: BSD-3-Clause */
/* use_sample.c: the processor sets a page's accessed bit when it loads the page's entry into its
 * TLB, not again while the entry stays there; the kernel leaves it there when it clears the bits.
 * So all entries are flushed afterwards: memory that is unmapped over more than the kernel's
 * ceiling of single flushes (33 pages on x86-64) flushes the whole address space. */

#include "core/debug/use_sample.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FLUSH_PAGES = 512, READ_BYTES = 32 << 10 };

/* ---- the beginning of a window ---- */

/* Best effort: what stays in the TLB counts as unused. */
static void flush(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = FLUSH_PAGES * page;
    char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages != MAP_FAILED) {
        (void)madvise(pages, size, MADV_NOHUGEPAGE);
        ((volatile char *)pages)[0]           = 1;
        ((volatile char *)pages)[size - page] = 1;
        (void)munmap(pages, size);
    }
}

bool msp_use_begin(const char **problem_p)
{
    static const char anonymous[] = "2"; /* all, but pages of files */
    int fd                        = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    bool done                     = (fd >= 0) && (write(fd, anonymous, 1) == 1);

    if (!done) {
        *problem_p = strerror(errno);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (done) {
        flush();
    }
    return done;
}

/* ---- its end ---- */

struct reader {
    int fd;
    size_t begin; /* of what was read and not used */
    size_t end;
    char text[READ_BYTES + 1];
};

/* The next line, without its end; NULL at the end of the file. */
static char *next_line(struct reader *r)
{
    for (;;) {
        char *line = r->text + r->begin;
        char *stop = memchr(line, '\n', r->end - r->begin);
        ssize_t n;

        if (stop != NULL) {
            *stop    = '\0';
            r->begin = (size_t)(stop - r->text) + 1;
            return line;
        }
        memmove(r->text, line, r->end - r->begin);
        r->end -= r->begin;
        r->begin = 0;
        n        = (r->end < READ_BYTES) ? read(r->fd, r->text + r->end, READ_BYTES - r->end) : 0;
        if (n <= 0) {
            return NULL;
        }
        r->end += (size_t)n;
    }
}

static uintptr_t parse(const char **text_p, unsigned base)
{
    uintptr_t value = 0;

    for (;; (*text_p)++) {
        char c         = **text_p;
        unsigned digit = ((c >= '0') && (c <= '9'))   ? (unsigned)(c - '0')
                         : ((c >= 'a') && (c <= 'f')) ? (unsigned)(c - 'a') + 10
                                                      : base;

        if (digit >= base) {
            return value;
        }
        value = value * base + digit;
    }
}

/* "START-END ..." is the first line of a mapping; names of the others have capital letters. */
static bool parse_mapping(const char *line, struct msp_use_range *mapping_p)
{
    uintptr_t start = parse(&line, 16);

    if (*line++ != '-') {
        return false;
    }
    *mapping_p = (struct msp_use_range){.start = start, .end = parse(&line, 16)};
    return true;
}

static double parse_bytes(const char *text)
{
    text += strspn(text, " \t");
    return 1024.0 * (double)parse(&text, 10);
}

static void add(const struct msp_use_range *mapping, struct msp_use_range *ranges, size_t count,
                size_t *at)
{
    while ((*at < count) && (ranges[*at].end <= mapping->start)) {
        (*at)++;
    }
    for (size_t i = *at; (i < count) && (ranges[i].start < mapping->end); i++) {
        uintptr_t from = (ranges[i].start > mapping->start) ? ranges[i].start : mapping->start;
        uintptr_t to   = (ranges[i].end < mapping->end) ? ranges[i].end : mapping->end;
        double share   = (double)(to - from) / (double)(mapping->end - mapping->start);

        ranges[i].resident_bytes += share * mapping->resident_bytes;
        ranges[i].used_bytes += share * mapping->used_bytes;
    }
}

bool msp_use_end(struct msp_use_range *ranges, size_t count, const char **problem_p)
{
    static struct reader reader;
    struct msp_use_range mapping = {0};
    size_t at                    = 0;
    const char *line;

    reader = (struct reader){.fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC)};
    if (reader.fd < 0) {
        *problem_p = strerror(errno);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        ranges[i].resident_bytes = 0;
        ranges[i].used_bytes     = 0;
    }
    while ((at < count) && ((line = next_line(&reader)) != NULL)) {
        struct msp_use_range next;

        if (parse_mapping(line, &next)) {
            add(&mapping, ranges, count, &at);
            mapping = next;
        } else if (strncmp(line, "Rss:", 4) == 0) {
            mapping.resident_bytes = parse_bytes(line + 4);
        } else if (strncmp(line, "Referenced:", 11) == 0) {
            mapping.used_bytes = parse_bytes(line + 11);
        }
    }
    add(&mapping, ranges, count, &at);
    (void)close(reader.fd);
    return true;
}

/* ---- estimates ---- */

/* By a series for the inverse hyperbolic tangent, after x = m * 2^-n with 1/2 < m <= 1. */
double msp_use_minus_log(double x)
{
    static const double ln2 = 0.69314718055994531;
    double n                = 0;
    double y;
    double yy;

    while (x <= 0.5) {
        x *= 2;
        n++;
    }
    y  = (1 - x) / (1 + x);
    yy = y * y;
    return n * ln2 + 2 * y * (1 + yy * (1.0 / 3 + yy * (1.0 / 5 + yy * (1.0 / 7 + yy / 9))));
}

double msp_use_estimate(const struct msp_use_range *range)
{
    static const double least = 1.0 / 64; /* all pages seen: four accesses of each, or more */
    double unused;

    if (range->resident_bytes <= 0) {
        return 0;
    }
    unused = 1 - range->used_bytes / range->resident_bytes;
    return range->resident_bytes * msp_use_minus_log((unused > least) ? unused : least);
}
