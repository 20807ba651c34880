/* SPDX-License-Identifier: BSD-3-Clause */
/* nonblocking.c: a nonblocking put does not wait until the driver has read its data, which takes
 * LATE_SENDS milliseconds here (late_driver.c); a blocking one does. */

#include "tests/shmem/check.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 10000, TRIES = 3 };

static char target[BYTES];
static char source[BYTES];

static long ms_of(void (*put)(void *, const void *, size_t, int))
{
    struct timespec begin;
    struct timespec end;

    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    put(target, source, BYTES, 1);
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    return ((end.tv_sec - begin.tv_sec) * 1000) + ((end.tv_nsec - begin.tv_nsec) / 1000000);
}

int main(void)
{
    const char *text   = getenv("LATE_SENDS");
    const long late_ms = (text != NULL) ? atol(text) : 0;

    shmem_init();
    if (shmem_my_pe() == 0) {
        long least_ms = late_ms;
        long ms;

        for (int i = 0; i < TRIES; i++) { /* others may have this processor */
            ms       = ms_of(shmem_putmem_nbi);
            least_ms = (ms < least_ms) ? ms : least_ms;
        }
        CHECK(least_ms < late_ms / 2, "a nonblocking put took %ld ms", least_ms);
        shmem_quiet();
        ms = ms_of(shmem_putmem);
        CHECK(ms >= late_ms, "a blocking put took %ld ms: the test tests nothing", ms);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
