/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped_shared.c: where the device works in the host's memory, mapped variables stay there. */

#pragma omp requires unified_shared_memory

#include "check.h"

static int taken;

static void *take(size_t size_bytes)
{
    taken++;
    return omp_target_alloc(size_bytes, 0);
}

static void give(void *pointer)
{
    omp_target_free(pointer, 0);
}

int main(void)
{
    int value = 1;

    check_devices(1);
    CHECK(__tgt_set_device_allocator(0, take, give) == 0);
#pragma omp target data map(tofrom : value)
    {
        value = 2;
#pragma omp target map(tofrom : value)
        value += 1;
        CHECK(value == 3); /* each sees the other's stores */
    }
    CHECK(taken == 0);
    return 0;
}
