/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_IMPORTER_H
#define MEMQUERY_IMPORTER_H

/* The other process of a probe: it opens memory by a token, reads what was written there, and
 * writes something else.
 *
 * Drivers do not survive fork(), so it must begin before any is opened: a server without drivers
 * forks a process for each request, which opens them by itself, and may crash or hang alone. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IMPORTER_TOKEN_MAX = 1024, IMPORTER_BYTES = 65536 };

struct importer_request {
    char backend[16]; /* of the device; numbers are the same in both processes, but this is sure */
    int ordinal;
    uint32_t token_bytes;
    unsigned char token[IMPORTER_TOKEN_MAX];
};

struct importer_reply {
    int done; /* 1: it read our data and wrote its own */
    char problem[400];
    char native[200];
    char remedy[240];
};

/* Start the server; true when it runs. */
bool importer_start(double timeout_s);

/* Ask; false, with a reply that says why, when there is none in time. */
bool importer_ask(const struct importer_request *request, struct importer_reply *reply_p);

/* What @p who (1: the owner, 2: the importer) writes at byte @p i. */
static inline unsigned char importer_byte(unsigned who, size_t i)
{
    return (unsigned char)((i * 131u) ^ (i >> 8) ^ (who * 0x5au));
}

#endif /* MEMQUERY_IMPORTER_H */
