/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PARTITION_OPTION_H
#define MEMSPAN_SHMEM_PARTITION_OPTION_H

/* Requests of the environment: one variable a partition.
 *
 *     SHMEM_SYMMETRIC_PARTITION<id>=<size>{:<trait>}, or <trait>{:<trait>} with a SIZE
 *     trait   SIZE=<size>  PGSIZE=<size>  KIND=<kind>[@<device>]  POLICY=<policy>
 *             PATH=<folder or DAX device>  NAME=<name>, of persistent memory
 *
 * Names and words in either case; words may be cut short where only one begins so. Reading changes
 * nothing but its arguments; errors name the variable, the position in it, and the words that may
 * stand there. */

#include "shmem/error.h"
#include <shmemx.h>
#include <stdbool.h>

enum {
    MSP_PARTITION_DEVICE_LOCAL   = -1, /* none named: by this PE's number on its host */
    MSP_PARTITION_VARIABLE_BYTES = 40,
    MSP_PARTITION_PATH_BYTES     = 192,
    MSP_PARTITION_NAME_BYTES     = 32,
};

/* The request for one partition. */
struct msp_partition_request {
    int id;
    char variable[MSP_PARTITION_VARIABLE_BYTES]; /* whose it is, for messages */
    uint64_t size_bytes;
    uint64_t page_size_bytes; /* 0: the kind's own */
    shmemx_kind_t kind;
    char backend[16]; /* of SHMEMX_KIND_DEVICE: whose devices are counted; "": Memspan's numbers */
    int device;
    char path[MSP_PARTITION_PATH_BYTES]; /* of persistent memory: a folder, or a DAX device */
    char name[MSP_PARTITION_NAME_BYTES]; /* ... and what it is called there; "": not persistent */
    shmemx_policy_t policy;
    bool has_policy;
    bool has_device;
    bool is_default_sized; /* made without a variable of its own */
    bool is_unasked;       /* and its size is a default, too */
};

struct msp_partition_requests {
    struct msp_partition_request request[SHMEM_MAX_PARTITIONS]; /* by ascending id */
    int count;
    int default_id;
    const char *default_why;
};

/* The settings outside of the partitions' own variables (option.h). */
struct msp_partition_rules {
    uint64_t symmetric_size_bytes;
    bool has_symmetric_size;
    const char *symmetric_size_name; /* the variable that set it */
    int max_count;
    int default_id; /* -1: not given */
    bool is_strict;
};

/* The value of one variable: defaults for the traits that it lacks. */
memspan_status_t msp_partition_request_parse(const char *variable, int id, const char *text,
                                             struct msp_partition_request *request_p);

/* Variables from @p next ("NAME=value" each, NULL after the last) that are partitions', the twins
 * of both prefixes brought together. @p next: msp_variable_next(). */
typedef const char *msp_partition_next_t(const char *prefix, size_t *cursor);
memspan_status_t msp_partition_requests_read(msp_partition_next_t *next, int max_count,
                                             struct msp_partition_requests *requests_p);

/* Partition 1, the default one, and combinations that are refused. */
memspan_status_t msp_partition_requests_complete(const struct msp_partition_rules *rules,
                                                 struct msp_partition_requests *requests);

/* What a heap has that was asked for with so many bytes: whole units. */
uint64_t msp_partition_size(uint64_t size_bytes);

/* Both, from the environment and the options that have been read. */
memspan_status_t msp_partition_requests_get(struct msp_partition_requests *requests_p);

/* A number that differs where requests do. */
uint64_t msp_partition_request_digest(const struct msp_partition_request *request);

/* "FASTMEM", "CUDA@2"; @p device < 0: without. Returns @p text. */
const char *msp_partition_kind_text(shmemx_kind_t kind, const char *backend, int device, char *text,
                                    size_t size);
const char *msp_partition_policy_text(shmemx_policy_t policy);

#endif /* MEMSPAN_SHMEM_PARTITION_OPTION_H */
