/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_IMPORTER_H
#define MEMQUERY_IMPORTER_H

/* The second process of a probe: it opens memory by a token, reads the data there, and writes other
 * data.
 *
 * Drivers do not survive fork(): the server starts before any is opened, and forks a process for
 * each request, which opens the drivers itself and may crash or hang alone. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IMPORTER_TOKEN_MAX = 1024, IMPORTER_BYTES = 65536 };

struct importer_request {
    char backend[16]; /* of the device; device numbers might differ between processes */
    int ordinal;
    uint32_t token_bytes;
    unsigned char token[IMPORTER_TOKEN_MAX];
};

struct importer_reply {
    int done; /* 1: it read the owner's data and wrote its own */
    char problem[400];
    char native[200];
    char remedy[240];
};

/* Start the server; true when it runs. */
bool importer_start(double timeout_s);

/* Send a request; false, with the reason in the reply, where there is no answer in time. */
bool importer_ask(const struct importer_request *request, struct importer_reply *reply_p);

/* The byte at @p i that @p who (1: the owner, 2: the importer) writes. */
static inline unsigned char importer_byte(unsigned who, size_t i)
{
    return (unsigned char)((i * 131u) ^ (i >> 8) ^ (who * 0x5au));
}

#endif /* MEMQUERY_IMPORTER_H */
