/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_ADVISE_ADVISE_H
#define CMD_ADVISE_ADVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* profile.c: the profiles of an advised program's processes: per call site its blocks and their
 * use. The file is "memspan-profile 1", then lines "program PATH", "seconds S", "source TEXT",
 * "module PATH" (for each file of code, the program too), "allocator PATH" (whose malloc() is not
 * seen), "memory RESIDENT WATCHED" (bytes at most) and "site COUNT PEAK LIFETIME BYTE-SECONDS
 * ACCESSED EXPOSURE HITS EDGES FRAMES". */

/* As many characters of a module's name are in a frame. */
enum { MODULE_NAME_BYTES = 60 };

/* The use of a site's memory. */
enum use {
    USE_UNKNOWN,   /* no access and no time without one was seen */
    USE_COLD,      /* seldom used */
    USE_LATENCY,   /* used in no order */
    USE_BANDWIDTH, /* used as streams */
    USE_HOT,       /* used; where is not known */
    USE_COUNT
};

struct site {
    char *frames;
    uint64_t count;      /* blocks */
    uint64_t peak_bytes; /* live at once */
    double lifetime_s;   /* of all blocks, added */
    double byte_seconds; /* of all blocks, bytes times lifetime, added */
    double accessed;     /* bytes, of all windows that were accessed, each time */
    double exposure_s;   /* time in which windows waited for an access */
    uint64_t hits;       /* windows that were accessed */
    uint64_t located;    /* of these, where it is known where */
    uint64_t edges;      /* of those, at an edge */

    double rate;       /* advice.c: accesses of a window a second */
    double stream;     /* share of streams; 0 where unknown */
    enum use use;      /* its purpose */
    const char *space; /* where it should be; NULL: anywhere */
    char *name;        /* name.c */
};

struct profile {
    char program[4096]; /* of the process with the most memory, used memory first */
    char source[96];
    char allocator[4096];    /* of its own; "": none */
    uint64_t resident_bytes; /* of all processes, each at most; 0: not known */
    uint64_t watched_bytes;
    double seconds;
    struct site *sites;
    size_t site_count;
    char **modules;
    size_t module_count;
    double weight; /* of that process */
};

/* Add a process's file; equal sites of several processes are one. False after a message that names
 * file and line. */
bool profile_read(struct profile *profile, const char *path);

void profile_free(struct profile *profile);

/* advice.c: from how memory is used to where it should be. */

/* Set rate, stream, use and space of every site, and sort the sites by their memory, the largest
 * first. At most @p fast_bytes are proposed for high_bw: those that are used most for their size.
 */
void advice_make(struct profile *profile, uint64_t fast_bytes);

/* "bandwidth", "latency", "cold", "hot", "unknown". */
const char *advice_use(enum use use);

/* Name every site by the line of source that tells it apart, where that is known; else by as few
 * frames as do, functions where they have names. */
void name_sites(struct profile *profile);

/* symbol.c: functions of a file of code that has no line of source, by the symbols of its dynamic
 * linkage, which also stripped files have. Unlike the nearest symbol, a symbol has a size. */
struct symbols;

/* NULL: there are none, or they cannot be read. */
struct symbols *symbols_read(const char *path);
void symbols_free(struct symbols *symbols);

/* The function that has that address of the file; NULL: none is known. */
const char *symbols_find(const struct symbols *symbols, uint64_t address);

/* report.c: the table of the @p most largest sites, a line for the others, and what was not seen.
 */
void report_print(const struct profile *profile, size_t most, FILE *out);

/* The proposal as a file for MEMSPAN_PLACEMENT. */
void report_write(const struct profile *profile, FILE *out);

/* run.c: the program as it is, with our libraries before its own. */

enum { RUN_NOT_STARTED = 127 };

/* Run @p arguments to its end; its status as a shell has it. @p folder: the profiles are written
 * there. Or NULL: @p placement is applied. RUN_NOT_STARTED after a message when it cannot be
 * started, or would not load our libraries. */
int run_program(char *const *arguments, const char *folder, const char *placement);

#endif /* CMD_ADVISE_ADVISE_H */
