/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SHMEM_SCALE_PMIX_MODEL_H
#define MEMSPAN_TESTS_SHMEM_SCALE_PMIX_MODEL_H

/* A model of PMIx with many processes, which run one after another, twice.
 *
 * A value can be got once its owner has committed it before a barrier that both have left. The
 * second run verifies that; in the first one a value that is not there yet is the caller's own. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum model_fault {
    MODEL_CORRECT,
    MODEL_UNCOMMITTED, /* values of the PE stay uncommitted */
    MODEL_OTHER,       /* its gets return another PE's value */
    MODEL_STALE,       /* its values are those of an earlier job */
    MODEL_LIST,        /* its list of the node lacks a PE */
    MODEL_FAULT_COUNT,
};

/* Of one process. */
struct model_counts {
    uint64_t puts;
    uint64_t put_bytes;
    uint64_t barriers;
    uint64_t node_barriers;
    uint64_t node_gets;
    uint64_t gets; /* from other nodes */
    uint64_t got_bytes;
};

void model_open(int processes, int of_node);
void model_close(void);
void model_fault(enum model_fault fault, int pe);
/* The process that calls from now on. */
void model_become(int pe, bool verifies);
const struct model_counts *model_counts(int pe);
/* What the schedule lacks; 0. */
int model_failures(void);

#endif /* MEMSPAN_TESTS_SHMEM_SCALE_PMIX_MODEL_H */
