/* SPDX-License-Identifier: BSD-3-Clause */
/* A target region, so that the program is one with offload devices. */

int conform_offload(int value);

int conform_offload(int value)
{
#pragma omp target map(tofrom : value)
    value++;
    return value;
}
