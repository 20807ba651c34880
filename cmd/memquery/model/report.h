/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_REPORT_H
#define MEMQUERY_REPORT_H

/* The answers, each a probe_job_t: it runs in a child and may open drivers. */

#include "cmd/memquery/model/snapshot.h"

/* The whole snapshot (memquery without a question). */
int report_show(const struct request *request, FILE *out);

/* --plan, --check, --why, --shmem, --config. */
int report_plan(const struct request *request, FILE *out);
int report_check(const struct request *request, FILE *out);
int report_why(const struct request *request, FILE *out);
int report_shmem(const struct request *request, FILE *out);
int report_config(const struct request *request, FILE *out);

/* The variable of OpenSHMEM at that index (shmemx_option_describe()). False: no more, or its
 * library is not here. */
bool shmem_variable(int index, memspan_option_info_t *info_p);

/* Forms of the snapshot. */
void table_print(const struct snapshot *snapshot, FILE *out);
void json_print(const struct snapshot *snapshot, FILE *out);

#endif /* MEMQUERY_REPORT_H */
