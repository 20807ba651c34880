/* SPDX-License-Identifier: BSD-3-Clause */
/* offload.c: makes a program one that has an OpenMP offload runtime. */

int offload_runs(void);

int offload_runs(void)
{
    int seen = 0;

#pragma omp target map(tofrom : seen)
    seen = 1;
    return seen;
}
