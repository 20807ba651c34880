/* SPDX-License-Identifier: BSD-3-Clause */
/* places.c: the places of the OpenMP runtime, for the trait preferred_place. */

#include "core/base/omp_hook.h"
#include "core/omp/runtime.h"

int msp_omp_place_count(void)
{
    uintptr_t count = msp_omp_real(MSP_OMP_REAL_GET_NUM_PLACES);

    return (count == 0) ? 0 : ((int (*)(void))count)();
}

int msp_omp_place_processors(int place, int *numbers, int capacity)
{
    uintptr_t count = msp_omp_real(MSP_OMP_REAL_GET_PLACE_NUM_PROCS);
    uintptr_t fill  = msp_omp_real(MSP_OMP_REAL_GET_PLACE_PROC_IDS);
    int processors  = ((count == 0) || (fill == 0)) ? 0 : ((int (*)(int))count)(place);

    if ((processors > 0) && (processors <= capacity)) {
        ((void (*)(int, int *))fill)(place, numbers);
    }
    return processors;
}
