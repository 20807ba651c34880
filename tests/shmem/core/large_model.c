/* SPDX-License-Identifier: BSD-3-Clause */
/* large_model.c: built for the medium code model, which puts large variables into pieces of their
 * own; small ones and large ones, with a value and without, are symmetric all the same. */

#include "tests/shmem/check.h"
#include <shmem.h>

enum { LARGE = 1 << 20 };

static int small        = 3;
static int zeros[10]    = {0};
static int large[LARGE] = {1, 2};
static int large_zeros[LARGE];

int main(void)
{
    int *const each[] = {&small, &zeros[9], &large[LARGE - 1], &large_zeros[LARGE - 1]};
    int me;
    int count;
    size_t i;

    shmem_init();
    me    = shmem_my_pe();
    count = shmem_n_pes();
    CHECK(large[1] == 2 && small == 3, "%d %d", large[1], small);
    shmem_barrier_all();
    for (i = 0; i < sizeof each / sizeof each[0]; i++) {
        shmem_int_p(each[i], me + 10, (me + 1) % count);
    }
    shmem_barrier_all();
    for (i = 0; i < sizeof each / sizeof each[0]; i++) {
        CHECK(*each[i] == ((me + count - 1) % count) + 10, "variable %zu is %d", i, *each[i]);
    }
    shmem_finalize();
    return (large[1] == 2) ? 0 : 1;
}
