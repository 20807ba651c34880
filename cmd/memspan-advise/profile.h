/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_ADVISE_PROFILE_H
#define CMD_ADVISE_PROFILE_H

/* What the processes of an advised program wrote: per call site its blocks and how they were used.
 * The file is "memspan-profile 1", then lines "program PATH", "seconds S", "source TEXT", "module
 * PATH" (for each file of code, the program too) and "site COUNT PEAK LIFETIME BYTE-SECONDS
 * ACCESSED EXPOSURE HITS EDGES FRAMES". */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As many characters of a module's name are in a frame. */
enum { MODULE_NAME_BYTES = 60 };

/* What a site's memory is used for. */
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

    double rate;       /* advice.h: accesses of a window a second */
    double stream;     /* share of streams; 0 where unknown */
    enum use use;      /* what it is for */
    const char *space; /* where it should be; NULL: anywhere */
    char *name;        /* name.h */
};

struct profile {
    char program[4096]; /* of the process with the most memory, used memory first */
    char source[96];
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

#endif /* CMD_ADVISE_PROFILE_H */
