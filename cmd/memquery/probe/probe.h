/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_PROBE_H
#define MEMQUERY_PROBE_H

#include "cmd/memquery/options.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* probe.c: query drivers in a child, which may crash or hang. */

/* A backend that failed while probed. */
struct failure {
    char backend[64]; /* or "MEMSPAN_BACKEND_PATH": loading the plug-ins failed */
    char what[320];   /* "crashed (signal 11, Segmentation fault) while probed" */
};

/* The questions, and those that have failed. */
struct request {
    const struct options *options;
    struct failure failures[32]; /* not used in this attempt */
    size_t failure_count;
    const char *user_backends; /* MEMSPAN_BACKENDS as the user set it, or NULL */
};

/* Answers a request in a child: prints to @p out, returns the exit code. */
typedef int (*probe_job_t)(const struct request *request, FILE *out);

/* The failure named @p backend, or NULL. */
const struct failure *probe_failure(const struct request *request, const char *backend);

/* Run @p job in a child, print its output, and return the exit code. This process calls nothing
 * of the library that could open a driver or load a plug-in. */
int probe_answer(const struct options *options, probe_job_t job);

/* importer.c: the second process of a probe: it opens memory by a token, reads the data there, and
 * writes other data.
 *
 * Drivers do not survive fork(): the server starts before any is opened, and forks a process for
 * each request, which opens the drivers itself and may crash or hang alone. */

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

/* verbs.c: does the driver of a network card accept memory behind a dma-buf? libibverbs is opened
 * on demand. */

enum verbs_end {
    VERBS_NO_CARD,   /* no card, or no libibverbs */
    VERBS_REFUSED,   /* text and native: which card, and the error */
    VERBS_REGISTERED /* text: which card */
};

struct verbs_answer {
    enum verbs_end end;
    char text[200];
    char native[200];
};

/* Register @p size_bytes from @p offset of the descriptor, which are at @p address here, with
 * the first card that accepts them, and deregister them. */
void verbs_try(int fd, uint64_t offset, size_t size_bytes, const void *address,
               struct verbs_answer *answer_p);

/* share.c: can device memory be shared with another process and with a network card? Found by
 * allocating one granule, sharing it, and moving data, not from a driver's claim. */

struct snapshot;
struct device_row;

/* State of a method to share a device's memory. */
enum share_state {
    SHARE_NO,      /* not supported by the driver or the machine */
    SHARE_CLAIMED, /* the driver reports it; not tried */
    SHARE_FAILED,  /* tried, failed */
    SHARE_PARTLY,  /* tried, not proved in full */
    SHARE_PROVED   /* data was moved */
};

struct sharing {
    enum share_state state;
    char detail[512];
    char native[200]; /* the driver's call, code and words */
    char remedy[240];
};

/* Start the second process; this one must not have opened a driver yet. */
void share_start_helper(double timeout_s);

/* Fill the sharing of all devices: by a test with --probe=full, otherwise without any
 * allocation. */
void share_take_all(struct snapshot *snapshot, const struct options *options);

/* "proved", "failed", "partly", "claimed", "no" */
const char *share_state_name(enum share_state state);

/* The results of the probe, a line for each method. */
void share_print(const struct device_row *row, FILE *out);

json_t *share_json(const struct device_row *row);

#endif /* MEMQUERY_PROBE_H */
